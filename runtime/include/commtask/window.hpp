// SPDX-License-Identifier: Apache-2.0
//
// Windows in C++: a registered window with its element type, so that a put of floats into a window
// of doubles does not compile. Its functions make operations for post() and co_await, like the
// functions of operation.hpp. Another layout at the target needs operation{commtask_op_put(...)}.
#pragma once

#include <commtask/collectives.hpp>
#include <commtask/one_sided.h>
#include <commtask/window.h>

#include <concepts>
#include <type_traits>
#include <utility>

namespace commtask {

/// A buffer whose elements have this type; a block fits any type.
template <typename Buffer, typename Element>
concept elements_are =
    std::is_void_v<frontend::element_t<Buffer>> || std::same_as<frontend::element_t<Buffer>, Element>;

/// The owner of a window's epochs.
enum class epochs : bool {
    of_library, ///< The library, one epoch from the registration on: commtask_win_register.
    of_program, ///< The program, by tasks (fence, start, lock): commtask_win_register_epochs.
};

/// An MPI window between commtask_win_register and commtask_win_unregister. The program still owns
/// the MPI_Win. Displacements count in the target's displacement unit; they count elements if the
/// unit is sizeof(Element).
template <element Element>
class window {
public:
    /// Registers the window. Collective.
    /// @param handle  a window in no epoch.
    /// @param comm  a communicator with the ranks of the window in the same order.
    /// @param whose  the owner of its epochs.
    /// @throws error  if commtask_win_register or commtask_win_register_epochs returns an error.
    window(MPI_Win handle, MPI_Comm comm, epochs whose = epochs::of_library) : handle_(handle) {
        frontend::check(whose == epochs::of_library ? commtask_win_register(handle, comm)
                                                    : commtask_win_register_epochs(handle, comm));
    }

    window(const window&) = delete;
    window& operator=(const window&) = delete;
    /// @param other  is empty afterwards.
    window(window&& other) noexcept : handle_(std::exchange(other.handle_, MPI_WIN_NULL)) {}
    window& operator=(window&&) = delete;
    /// Does nothing: without unregister() the window stays registered, since unregistering waits
    /// for other ranks.
    ~window() = default;

    /// Completes all operations at their targets and ends the registration. Collective.
    /// @throws error  if tasks of the window have not ended, or MPI cannot end its epoch.
    void unregister() {
        frontend::check(commtask_win_unregister(handle_));
        handle_ = MPI_WIN_NULL;
    }

    /// Returns the MPI handle.
    /// @return MPI_WIN_NULL after unregister().
    [[nodiscard]] MPI_Win native() const noexcept { return handle_; }

    /// Writes to the window of a target. The task ends when the buffer may be reused; when a later
    /// flush() has ended, the data are at the target.
    /// @param buffer  the data to write.
    /// @param target  rank of the target.
    /// @param displacement  displacement in its window.
    /// @return the operation, for post().
    template <outgoing Buffer>
        requires elements_are<Buffer, Element>
    [[nodiscard]] operation put(Buffer&& buffer, int target, MPI_Aint displacement) const noexcept {
        const const_block from = frontend::to_send(std::forward<Buffer>(buffer));
        return operation{
            commtask_op_put(from.buffer, from.count, from.type, target, displacement, from.count, from.type, handle_)};
    }

    /// Reads from the window of a target.
    /// @param buffer  receives the data.
    /// @param target  rank of the target.
    /// @param displacement  displacement in its window.
    /// @return the operation, for post().
    template <incoming Buffer>
        requires elements_are<Buffer, Element>
    [[nodiscard]] operation get(Buffer&& buffer, int target, MPI_Aint displacement) const noexcept {
        const block into = frontend::to_recv(std::forward<Buffer>(buffer));
        return operation{
            commtask_op_get(into.buffer, into.count, into.type, target, displacement, into.count, into.type, handle_)};
    }

    /// Combines elements into a window, each atomically. The task ends when the buffer may be
    /// reused.
    /// @param buffer  the contribution.
    /// @param target  rank of the target.
    /// @param displacement  displacement in its window.
    /// @param reduction  a predefined reduction operation of MPI.
    /// @return the operation, for post().
    template <outgoing Buffer>
        requires elements_are<Buffer, Element>
    [[nodiscard]] operation accumulate(Buffer&& buffer, int target, MPI_Aint displacement,
                                       MPI_Op reduction) const noexcept {
        const const_block from = frontend::to_send(std::forward<Buffer>(buffer));
        return operation{commtask_op_accumulate(from.buffer, from.count, from.type, target, displacement, from.count,
                                                from.type, reduction, handle_)};
    }

    /// Combines elements into a window, each atomically, and returns the old elements.
    /// @param contribution  the contribution.
    /// @param result  receives the old elements; as long as the contribution.
    /// @param target  rank of the target.
    /// @param displacement  displacement in its window.
    /// @param reduction  a predefined reduction operation of MPI; MPI_NO_OP reads only.
    /// @return the operation, for post().
    /// @throws error  if the buffers differ in length or datatype.
    template <outgoing Contribution, incoming Result>
        requires elements_are<Contribution, Element> && elements_are<Result, Element>
    [[nodiscard]] operation get_accumulate(Contribution&& contribution, Result&& result, int target,
                                           MPI_Aint displacement, MPI_Op reduction) const {
        const const_block from = frontend::to_send(std::forward<Contribution>(contribution));
        const block into = frontend::to_recv(std::forward<Result>(result));
        frontend::same_count(from, into, "get_accumulate");
        return operation{commtask_op_get_accumulate(from.buffer, into.buffer, into.count, into.type, target,
                                                    displacement, into.count, into.type, reduction, handle_)};
    }

    /// Combines one element into a window, atomically, and returns the old element.
    /// @param contribution  the contribution; it and `result` must live until the task has ended.
    /// @param result  receives the old element.
    /// @param target  rank of the target.
    /// @param displacement  displacement in its window.
    /// @param reduction  a predefined reduction operation of MPI; MPI_NO_OP reads only.
    /// @return the operation, for post().
    [[nodiscard]] operation fetch_and_op(const Element& contribution, Element& result, int target,
                                         MPI_Aint displacement, MPI_Op reduction) const noexcept {
        return operation{commtask_op_fetch_and_op(&contribution, &result, datatype_of<Element>::get(), target,
                                                  displacement, reduction, handle_)};
    }
    operation fetch_and_op(const Element&& contribution, Element& result, int target, MPI_Aint displacement,
                           MPI_Op reduction) const = delete;

    /// Compares one element of a window, replaces it if it is equal, and returns the old element,
    /// atomically.
    /// @param contribution  the new element; it, `wanted` and `result` must live until the task has
    ///                      ended.
    /// @param wanted  the value to compare with.
    /// @param result  receives the old element.
    /// @param target  rank of the target.
    /// @param displacement  displacement in its window.
    /// @return the operation, for post().
    [[nodiscard]] operation compare_and_swap(const Element& contribution, const Element& wanted, Element& result,
                                             int target, MPI_Aint displacement) const noexcept
        requires std::integral<Element>
    {
        return operation{commtask_op_compare_and_swap(&contribution, &wanted, &result, datatype_of<Element>::get(),
                                                      target, displacement, handle_)};
    }

    /// Ends when all operations to one target that were started before are complete there.
    /// @param target  rank of the target.
    /// @return the operation, for post().
    [[nodiscard]] operation flush(int target) const noexcept { return operation{commtask_op_flush(target, handle_)}; }

    /// Ends when all operations that were started before are complete at their targets.
    /// @return the operation, for post().
    [[nodiscard]] operation flush_all() const noexcept { return operation{commtask_op_flush_all(handle_)}; }

    /// Makes writes of other ranks visible to loads of this rank, and its stores visible to other
    /// ranks, as MPI_Win_sync. Local.
    /// @return the operation, for post().
    [[nodiscard]] operation sync() const noexcept { return operation{commtask_op_win_sync(handle_)}; }

    /// Writes to a window and then notifies the target. When the target's await_notify() has ended,
    /// the data can be read there.
    /// @param buffer  the data to write.
    /// @param target  rank of the target.
    /// @param displacement  displacement in its window.
    /// @param notification  notification number, 0 to MPI_TAG_UB.
    /// @return the operation, for post().
    template <outgoing Buffer>
        requires elements_are<Buffer, Element>
    [[nodiscard]] operation put_notify(Buffer&& buffer, int target, MPI_Aint displacement,
                                       int notification) const noexcept {
        const const_block from = frontend::to_send(std::forward<Buffer>(buffer));
        return operation{commtask_op_put_notify(from.buffer, from.count, from.type, target, displacement, from.count,
                                                from.type, notification, handle_)};
    }

    /// Reads from a window and then notifies the target, which may then overwrite the data.
    /// @param buffer  receives the data.
    /// @param target  rank of the target.
    /// @param displacement  displacement in its window.
    /// @param notification  notification number, 0 to MPI_TAG_UB.
    /// @return the operation, for post().
    template <incoming Buffer>
        requires elements_are<Buffer, Element>
    [[nodiscard]] operation get_notify(Buffer&& buffer, int target, MPI_Aint displacement,
                                       int notification) const noexcept {
        const block into = frontend::to_recv(std::forward<Buffer>(buffer));
        return operation{commtask_op_get_notify(into.buffer, into.count, into.type, target, displacement, into.count,
                                                into.type, notification, handle_)};
    }

    /// Ends when a number of notifications have come and their data can be read.
    /// @param notification  notification number, 0 to MPI_TAG_UB.
    /// @param count  number of notifications, at least 1.
    /// @param source  the rank that notifies, or MPI_ANY_SOURCE.
    /// @return the operation, for post().
    [[nodiscard]] operation await_notify(int notification, int count = 1, int source = MPI_ANY_SOURCE) const noexcept {
        return operation{commtask_op_await_notify(notification, count, source, handle_)};
    }

    /// Ends the epoch since the last fence and begins the next epoch, as MPI_Win_fence. Collective.
    /// This and the following functions are for epochs of the program.
    /// @param assertion  0, or MPI_MODE_... as for MPI's function.
    /// @return the operation, for post().
    [[nodiscard]] operation fence(int assertion = 0) const noexcept {
        return operation{commtask_op_win_fence(assertion, handle_)};
    }
    /// Exposes this rank's window to a group, as MPI_Win_post.
    /// @param group  must live until the task has ended.
    /// @param assertion  0, or MPI_MODE_... as for MPI's function.
    /// @return the operation, for post().
    [[nodiscard]] operation post(MPI_Group group, int assertion = 0) const noexcept {
        return operation{commtask_op_win_post(group, assertion, handle_)};
    }
    /// Begins an access epoch to the windows of a group, as MPI_Win_start.
    /// @param group  must live until the task has ended.
    /// @param assertion  0, or MPI_MODE_... as for MPI's function.
    /// @return the operation, for post().
    [[nodiscard]] operation start(MPI_Group group, int assertion = 0) const noexcept {
        return operation{commtask_op_win_start(group, assertion, handle_)};
    }
    /// Ends the access epoch of start(), as MPI_Win_complete.
    /// @return the operation, for post().
    [[nodiscard]] operation complete() const noexcept { return operation{commtask_op_win_complete(handle_)}; }
    /// Ends the exposure epoch of post(), as MPI_Win_wait.
    /// @return the operation, for post().
    [[nodiscard]] operation wait() const noexcept { return operation{commtask_op_win_wait(handle_)}; }
    /// Begins an access epoch to the window of one target, as MPI_Win_lock.
    /// @param target  rank of the target.
    /// @param lock_type  MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE.
    /// @param assertion  0, or MPI_MODE_... as for MPI's function.
    /// @return the operation, for post().
    [[nodiscard]] operation lock(int target, int lock_type = MPI_LOCK_EXCLUSIVE, int assertion = 0) const noexcept {
        return operation{commtask_op_win_lock(lock_type, target, assertion, handle_)};
    }
    /// Ends the access epoch of lock(), as MPI_Win_unlock.
    /// @param target  rank of the target.
    /// @return the operation, for post().
    [[nodiscard]] operation unlock(int target) const noexcept {
        return operation{commtask_op_win_unlock(target, handle_)};
    }
    /// Begins a shared access epoch to the windows of all ranks, as MPI_Win_lock_all.
    /// @param assertion  0, or MPI_MODE_... as for MPI's function.
    /// @return the operation, for post().
    [[nodiscard]] operation lock_all(int assertion = 0) const noexcept {
        return operation{commtask_op_win_lock_all(assertion, handle_)};
    }
    /// Ends the access epoch of lock_all(), as MPI_Win_unlock_all.
    /// @return the operation, for post().
    [[nodiscard]] operation unlock_all() const noexcept { return operation{commtask_op_win_unlock_all(handle_)}; }

private:
    MPI_Win handle_;
};

} // namespace commtask
