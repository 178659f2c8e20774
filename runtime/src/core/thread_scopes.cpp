// SPDX-License-Identifier: Apache-2.0
#include "core/thread_scopes.hpp"

namespace commtask::detail {

bool in_progress_call() noexcept { return this_caller.engine != nullptr; }
bool may_wait() noexcept { return !in_progress_call() && !this_caller.waits_are_refused; }

refused_waits::refused_waits(bool are_refused) noexcept : before_(this_caller.waits_are_refused) {
    this_caller.waits_are_refused = this_caller.waits_are_refused || are_refused;
}
refused_waits::~refused_waits() { this_caller.waits_are_refused = before_; }

quiet_posts::quiet_posts(bool is_quiet) noexcept { this_caller.posts_quietly = is_quiet; }
quiet_posts::~quiet_posts() { this_caller.posts_quietly = false; }

} // namespace commtask::detail
