// SPDX-License-Identifier: Apache-2.0
//
// What a lane's functions know of the calling thread: whether it drives a lane, and what its posts may do. Each thread's own,
// so there is nothing to agree on.
#pragma once

#include "base/assert.hpp"

namespace commtask::detail {

class lane;

inline constinit thread_local const lane* driven_by_me = nullptr;
inline constinit thread_local bool posts_quietly = false;
inline constinit thread_local bool waits_are_refused = false;

/// The calling thread drives a lane. A pass inside a pass would take from under the outer one what it is about to report.
class driving_scope {
public:
    explicit driving_scope(const lane& driven) noexcept : before_(driven_by_me) {
        COMMTASK_ASSERT(before_ != &driven);
        driven_by_me = &driven;
    }
    driving_scope(const driving_scope&) = delete;
    driving_scope& operator=(const driving_scope&) = delete;
    ~driving_scope() { driven_by_me = before_; }

private:
    const lane* before_;
};

} // namespace commtask::detail
