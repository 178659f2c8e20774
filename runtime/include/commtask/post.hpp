// SPDX-License-Identifier: Apache-2.0
//
// Posting, and what may be said with it: post(operation, after(a, b), ordered, then([] ...)). Options are values in any
// order; a wrong combination does not compile. Closures are owned by the task: up to the size of a pointer they travel in
// the task itself, larger ones cost one allocation, which the worker frees.
#pragma once

#include <commtask/closure.hpp>
#include <commtask/options.hpp>
#include <commtask/task.hpp>

#include <optional>
#include <utility>

namespace commtask {

/// @cond
namespace frontend {

template <typename What>
inline constexpr bool is_postable = std::same_as<std::remove_cvref_t<What>, operation>;
template <commtask_kind Kind, typename Function>
inline constexpr bool is_postable<door<Kind, Function>> = true;

/// Posts and, where that succeeds, leaves the closures to the task.
template <typename What, typename... Options>
[[nodiscard]] int submit(commtask_t* handle, std::uint32_t flags, What&& what, Options&&... options) {
    static_assert((0 + ... + int{is_after<Options>}) <= 1, "name all predecessors in one after(...)");
    static_assert((0 + ... + int{is_then<Options>}) <= 1, "a task has one then(...)");
    commtask_options raw = COMMTASK_OPTIONS_INIT;
    raw.flags = flags;
    (options.apply(raw), ...);
    int code = COMMTASK_OK;
    if constexpr (std::same_as<std::remove_cvref_t<What>, operation> && !(... || is_then<Options>)) {
        const bool has_options = flags != COMMTASK_NONE || sizeof...(Options) > 0;
        code = commtask_post(&what.native(), has_options ? &raw : nullptr, handle);
    } else {
        code =
            submit_with_closures(raw, handle, std::forward<What>(what), take_then(std::forward<Options>(options)...));
    }
    if (code == COMMTASK_OK) (options.was_posted(), ...);
    return code;
}

} // namespace frontend
/// @endcond

/// What can be posted: an operation, or a door() with a function of yours.
template <typename What>
concept postable = frontend::is_postable<std::remove_cvref_t<What>>;

/// Hands an operation to the worker.
/// @param what  the operation; its buffers are the task's until it has ended.
/// @param options  any of after(), then(), ordered, unordered, run_after_failure, report_to(), at().
/// @return its handle. Dropping it lets the task go on, as ~task() says; post_detached() says so where nobody will ask.
/// @throws error  if an argument is wrong; then nothing was posted.
/// @blocking Only while the queue is full, and for the first task of a communicator until the worker has seen it.
template <postable What, posting_option... Options>
[[nodiscard]] task post(What&& what, Options&&... options) {
    commtask_t handle = COMMTASK_NULL;
    frontend::check(
        frontend::submit(&handle, COMMTASK_NONE, std::forward<What>(what), std::forward<Options>(options)...));
    return task::adopt(handle);
}

/// Hands an operation to the worker without a handle; the scope or routine that the thread is in waits for it, and finalize.
/// @param what  the operation; its buffers are the task's until it has ended.
/// @param options  any of after(), then(), ordered, unordered, run_after_failure, report_to(), at().
/// @throws error  if an argument is wrong; then nothing was posted.
/// @blocking Only while the queue is full, and for the first task of a communicator until the worker has seen it.
template <postable What, posting_option... Options>
void post_detached(What&& what, Options&&... options) {
    frontend::owner* const mine = frontend::owner::innermost();
    commtask_t handle = COMMTASK_NULL;
    frontend::check(frontend::submit(mine == nullptr ? nullptr : &handle, COMMTASK_NONE, std::forward<What>(what),
                                     std::forward<Options>(options)...));
    if (mine != nullptr) mine->add(handle);
}

/// Hands an operation to the worker unless the queue is full, or the worker has not seen the communicator yet.
/// @param what  the operation; its buffers are the task's until it has ended.
/// @param options  any of after(), then(), ordered, unordered, run_after_failure, report_to(), at().
/// @return its handle; nothing if it cannot be posted now. Closures given as temporaries are gone then.
/// @throws error  if an argument is wrong; then nothing was posted.
template <postable What, posting_option... Options>
[[nodiscard]] std::optional<task> try_post(What&& what, Options&&... options) {
    commtask_t handle = COMMTASK_NULL;
    const int code =
        frontend::submit(&handle, COMMTASK_TRY, std::forward<What>(what), std::forward<Options>(options)...);
    if (code == COMMTASK_AGAIN) return std::nullopt;
    frontend::check(code);
    return task::adopt(handle);
}

} // namespace commtask
