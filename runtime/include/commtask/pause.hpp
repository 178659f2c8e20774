// SPDX-License-Identifier: Apache-2.0
//
// A pause of the workers as a scope: a thin layer over pause.h, whose contracts apply. The
// destructor ignores the code of commtask_resume: that call fails only after commtask_finalize,
// which has resumed the workers.
#pragma once

#include <commtask/cpp20.hpp>

#if __cplusplus >= 202002L
#include <commtask/commtask.h>
#include <commtask/error.hpp>

namespace commtask {

/// Lets the workers leave their cores to the program for the lifetime of the object.
class pause_scope {
public:
    /// @throws error  before commtask_init and after commtask_finalize.
    pause_scope() { frontend::check(commtask_pause()); }
    pause_scope(const pause_scope&) = delete;
    pause_scope& operator=(const pause_scope&) = delete;
    ~pause_scope() { static_cast<void>(commtask_resume()); }
};

} // namespace commtask

#endif
