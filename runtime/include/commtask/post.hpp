// SPDX-License-Identifier: Apache-2.0
//
// Posts, with their options: post(operation, after(a, b), ordered, then([] ...)). Options are
// values in any order; a wrong combination does not compile. The task owns its closures. A closure
// up to the size of a pointer is stored in the task; a larger one costs one allocation, which the
// worker frees.
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
inline constexpr bool is_postable<custom<Kind, Function>> = true;

/// Posts; on success the task owns the closures.
template <typename What, typename... Options>
[[nodiscard]] int post_raw(commtask_t* handle, std::uint32_t flags, What&& what, Options&&... options) {
    static_assert((0 + ... + int{is_after<Options>}) <= 1, "name all predecessors in one after(...)");
    static_assert((0 + ... + int{is_then<Options>}) <= 1, "a task has one then(...)");
    commtask_options raw = COMMTASK_OPTIONS_INIT;
    raw.flags = flags;
    (options.apply(raw), ...);
    int code = COMMTASK_OK;
    if constexpr (std::same_as<std::remove_cvref_t<What>, operation> && !(... || is_then<Options>)) {
        const bool has_options = flags != COMMTASK_NONE || sizeof...(Options) > 0;
        code = commtask_post_operation(&what.native(), has_options ? &raw : nullptr, handle);
    } else {
        code = post_with_closures(raw, handle, std::forward<What>(what), take_then(std::forward<Options>(options)...));
    }
    if (code == COMMTASK_OK) (options.was_posted(), ...);
    return code;
}

} // namespace frontend
/// @endcond

/// An argument of post(): an operation, or the result of start() or call().
template <typename What>
concept postable = frontend::is_postable<std::remove_cvref_t<What>>;

/// Posts an operation as a task.
/// @param what  the operation; its buffers belong to the task until it has ended.
/// @param options  any of after(), then(), ordered, unordered, run_after_failure, report_to(),
///                 at().
/// @return the task's handle, which ~task() describes. Without a handle use post_detached().
/// @throws error  if an argument is wrong; then nothing was posted.
/// @blocking While the queue is full, and for the first task of a communicator until the worker has
///           registered it.
template <postable What, posting_option... Options>
[[nodiscard]] task post(What&& what, Options&&... options) {
    commtask_t handle = COMMTASK_NULL;
    frontend::check(
        frontend::post_raw(&handle, COMMTASK_NONE, std::forward<What>(what), std::forward<Options>(options)...));
    return task::adopt(handle);
}

/// Posts an operation as a task without a handle. The thread's scope or routine waits for the task;
/// so does finalize().
/// @param what  the operation; its buffers belong to the task until it has ended.
/// @param options  any of after(), then(), ordered, unordered, run_after_failure, report_to(),
///                 at().
/// @throws error  if an argument is wrong; then nothing was posted.
/// @blocking While the queue is full, and for the first task of a communicator until the worker has
///           registered it.
template <postable What, posting_option... Options>
void post_detached(What&& what, Options&&... options) {
    frontend::owner* const mine = frontend::owner::innermost();
    commtask_t handle = COMMTASK_NULL;
    frontend::check(frontend::post_raw(mine == nullptr ? nullptr : &handle, COMMTASK_NONE, std::forward<What>(what),
                                       std::forward<Options>(options)...));
    if (mine != nullptr) mine->add(handle);
}

/// Posts an operation as a task, unless the queue is full or the worker has not registered the
/// communicator yet.
/// @param what  the operation; its buffers belong to the task until it has ended.
/// @param options  any of after(), then(), ordered, unordered, run_after_failure, report_to(),
///                 at().
/// @return the task's handle; nothing if the operation cannot be posted now. Closures given as
///         temporaries are destroyed in that case.
/// @throws error  if an argument is wrong; then nothing was posted.
template <postable What, posting_option... Options>
[[nodiscard]] std::optional<task> try_post(What&& what, Options&&... options) {
    commtask_t handle = COMMTASK_NULL;
    const int code =
        frontend::post_raw(&handle, COMMTASK_TRY, std::forward<What>(what), std::forward<Options>(options)...);
    if (code == COMMTASK_AGAIN) return std::nullopt;
    frontend::check(code);
    return task::adopt(handle);
}

} // namespace commtask
