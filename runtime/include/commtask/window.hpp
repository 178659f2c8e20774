// SPDX-License-Identifier: Apache-2.0
//
// Windows in C++: one that is registered, and knows what its elements are, so that a put of floats into a window of doubles
// does not compile. Its functions are operations for post() and co_await, as those of operation.hpp are. What they leave
// out (another layout at the target) is operation{commtask_op_put(...)}.
#pragma once

#include <commtask/collectives.hpp>
#include <commtask/one_sided.h>
#include <commtask/window.h>

#include <concepts>
#include <type_traits>
#include <utility>

namespace commtask {

/// A buffer of such elements; a block fits any.
template <typename Buffer, typename Element>
concept elements_are =
    std::is_void_v<frontend::element_t<Buffer>> || std::same_as<frontend::element_t<Buffer>, Element>;

/// Who opens the epochs of a window.
enum class epochs : bool {
    of_library, ///< One from the registration on: commtask_win_register.
    of_program, ///< Tasks of fence, start and locks: commtask_win_register_epochs.
};

/// A window of MPI between commtask_win_register and commtask_win_unregister. The MPI_Win stays the program's. Displacements
/// count in the target's displacement unit, which is sizeof(Element) where the window was made for it.
template <element Element>
class window {
public:
    /// Registers the window. Collective.
    /// @param handle  in no epoch.
    /// @param comm  with the ranks of the window in the same order.
    /// @param whose  who opens its epochs.
    /// @throws error  if it is refused: commtask_win_register and commtask_win_register_epochs say when.
    window(MPI_Win handle, MPI_Comm comm, epochs whose = epochs::of_library) : handle_(handle) {
        frontend::check(whose == epochs::of_library ? commtask_win_register(handle, comm)
                                                    : commtask_win_register_epochs(handle, comm));
    }

    window(const window&) = delete;
    window& operator=(const window&) = delete;
    /// @param other  has none afterwards.
    window(window&& other) noexcept : handle_(std::exchange(other.handle_, MPI_WIN_NULL)) {}
    window& operator=(window&&) = delete;
    /// Leaves the window registered if unregister() was not called: it waits for other ranks, which no destructor does.
    ~window() = default;

    /// Completes everything at its target and ends the registration. Collective.
    /// @throws error  if tasks of the window have not ended, or MPI cannot end its epoch.
    void unregister() {
        frontend::check(commtask_win_unregister(handle_));
        handle_ = MPI_WIN_NULL;
    }

    /// The MPI handle.
    /// @return MPI_WIN_NULL after unregister().
    [[nodiscard]] MPI_Win native() const noexcept { return handle_; }

    /// Writes. The task's end says that the buffer is free; flush(), that the data are there.
    /// @param buffer  what to write.
    /// @param target  whose window it is.
    /// @param displacement  where in it.
    /// @return the operation, for post().
    template <outgoing Buffer>
        requires elements_are<Buffer, Element>
    [[nodiscard]] operation put(Buffer&& buffer, int target, MPI_Aint displacement) const noexcept {
        const const_block from = frontend::to_send(std::forward<Buffer>(buffer));
        return operation{
            commtask_op_put(from.buffer, from.count, from.type, target, displacement, from.count, from.type, handle_)};
    }

    /// Reads.
    /// @param buffer  where to read to.
    /// @param target  whose window it is.
    /// @param displacement  where in it.
    /// @return the operation, for post().
    template <incoming Buffer>
        requires elements_are<Buffer, Element>
    [[nodiscard]] operation get(Buffer&& buffer, int target, MPI_Aint displacement) const noexcept {
        const block into = frontend::to_recv(std::forward<Buffer>(buffer));
        return operation{
            commtask_op_get(into.buffer, into.count, into.type, target, displacement, into.count, into.type, handle_)};
    }

    /// Combines elements, each atomically. The task's end says that the buffer is free.
    /// @param buffer  the contribution.
    /// @param target  whose window it is.
    /// @param displacement  where in it.
    /// @param reduction  how to combine; one of MPI's own.
    /// @return the operation, for post().
    template <outgoing Buffer>
        requires elements_are<Buffer, Element>
    [[nodiscard]] operation accumulate(Buffer&& buffer, int target, MPI_Aint displacement,
                                       MPI_Op reduction) const noexcept {
        const const_block from = frontend::to_send(std::forward<Buffer>(buffer));
        return operation{commtask_op_accumulate(from.buffer, from.count, from.type, target, displacement, from.count,
                                                from.type, reduction, handle_)};
    }

    /// Combines elements, each atomically, and reads what was there before.
    /// @param contribution  what to combine with.
    /// @param result  what was there; as long as the contribution.
    /// @param target  whose window it is.
    /// @param displacement  where in it.
    /// @param reduction  how to combine; one of MPI's own, or MPI_NO_OP to read only.
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

    /// Combines one element, atomically, and reads what was there before.
    /// @param contribution  what to combine with; must live until the task has ended, as the result must.
    /// @param result  what was there.
    /// @param target  whose window it is.
    /// @param displacement  where in it.
    /// @param reduction  how to combine; one of MPI's own, or MPI_NO_OP to read only.
    /// @return the operation, for post().
    [[nodiscard]] operation fetch_and_op(const Element& contribution, Element& result, int target,
                                         MPI_Aint displacement, MPI_Op reduction) const noexcept {
        return operation{commtask_op_fetch_and_op(&contribution, &result, datatype_of<Element>::get(), target,
                                                  displacement, reduction, handle_)};
    }
    operation fetch_and_op(const Element&& contribution, Element& result, int target, MPI_Aint displacement,
                           MPI_Op reduction) const = delete;

    /// Writes one element if another is there, atomically, and reads what was there before.
    /// @param contribution  what to write; must live until the task has ended, as the other two must.
    /// @param wanted  what must be there.
    /// @param result  what was there.
    /// @param target  whose window it is.
    /// @param displacement  where in it.
    /// @return the operation, for post().
    [[nodiscard]] operation compare_and_swap(const Element& contribution, const Element& wanted, Element& result,
                                             int target, MPI_Aint displacement) const noexcept
        requires std::integral<Element>
    {
        return operation{commtask_op_compare_and_swap(&contribution, &wanted, &result, datatype_of<Element>::get(),
                                                      target, displacement, handle_)};
    }

    /// Ends when all that was started towards a rank before is complete there.
    /// @param target  the rank.
    /// @return the operation, for post().
    [[nodiscard]] operation flush(int target) const noexcept { return operation{commtask_op_flush(target, handle_)}; }

    /// Ends when all that was started towards any rank before is complete there.
    /// @return the operation, for post().
    [[nodiscard]] operation flush_all() const noexcept { return operation{commtask_op_flush_all(handle_)}; }

    /// Lets this rank's loads see what others have written, and others its stores. Local.
    /// @return the operation, for post().
    [[nodiscard]] operation sync() const noexcept { return operation{commtask_op_win_sync(handle_)}; }

    /// Writes, and then notifies the target, which sees the data when its await_notify() has ended.
    /// @param buffer  what to write.
    /// @param target  whose window it is.
    /// @param displacement  where in it.
    /// @param notification  which: 0 to MPI_TAG_UB.
    /// @return the operation, for post().
    template <outgoing Buffer>
        requires elements_are<Buffer, Element>
    [[nodiscard]] operation put_notify(Buffer&& buffer, int target, MPI_Aint displacement,
                                       int notification) const noexcept {
        const const_block from = frontend::to_send(std::forward<Buffer>(buffer));
        return operation{commtask_op_put_notify(from.buffer, from.count, from.type, target, displacement, from.count,
                                                from.type, notification, handle_)};
    }

    /// Reads, and then notifies the target, which may write there again.
    /// @param buffer  where to read to.
    /// @param target  whose window it is.
    /// @param displacement  where in it.
    /// @param notification  which: 0 to MPI_TAG_UB.
    /// @return the operation, for post().
    template <incoming Buffer>
        requires elements_are<Buffer, Element>
    [[nodiscard]] operation get_notify(Buffer&& buffer, int target, MPI_Aint displacement,
                                       int notification) const noexcept {
        const block into = frontend::to_recv(std::forward<Buffer>(buffer));
        return operation{commtask_op_get_notify(into.buffer, into.count, into.type, target, displacement, into.count,
                                                into.type, notification, handle_)};
    }

    /// Ends when so many notifications have come, and what they announce can be read.
    /// @param notification  which: 0 to MPI_TAG_UB.
    /// @param count  how many, at least 1.
    /// @param source  the rank that notifies, or MPI_ANY_SOURCE.
    /// @return the operation, for post().
    [[nodiscard]] operation await_notify(int notification, int count = 1, int source = MPI_ANY_SOURCE) const noexcept {
        return operation{commtask_op_await_notify(notification, count, source, handle_)};
    }

    /// The epochs of the program: as MPI's functions of these names.
    /// @param assertion  0, or what MPI's function takes.
    /// @return the operation, for post().
    [[nodiscard]] operation fence(int assertion = 0) const noexcept {
        return operation{commtask_op_win_fence(assertion, handle_)};
    }
    /// @param group  who may access this rank's window; must live until the task has ended.
    /// @param assertion  as above.
    /// @return the operation, for post().
    [[nodiscard]] operation post(MPI_Group group, int assertion = 0) const noexcept {
        return operation{commtask_op_win_post(group, assertion, handle_)};
    }
    /// @param group  whose windows to access; must live until the task has ended.
    /// @param assertion  as above.
    /// @return the operation, for post().
    [[nodiscard]] operation start(MPI_Group group, int assertion = 0) const noexcept {
        return operation{commtask_op_win_start(group, assertion, handle_)};
    }
    /// Ends what start() began.
    /// @return the operation, for post().
    [[nodiscard]] operation complete() const noexcept { return operation{commtask_op_win_complete(handle_)}; }
    /// Ends what post() began.
    /// @return the operation, for post().
    [[nodiscard]] operation wait() const noexcept { return operation{commtask_op_win_wait(handle_)}; }
    /// @param target  whose window it is.
    /// @param lock_type  MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE.
    /// @param assertion  as above.
    /// @return the operation, for post().
    [[nodiscard]] operation lock(int target, int lock_type = MPI_LOCK_EXCLUSIVE, int assertion = 0) const noexcept {
        return operation{commtask_op_win_lock(lock_type, target, assertion, handle_)};
    }
    /// @param target  whose window it is.
    /// @return the operation, for post().
    [[nodiscard]] operation unlock(int target) const noexcept {
        return operation{commtask_op_win_unlock(target, handle_)};
    }
    /// @param assertion  as above.
    /// @return the operation, for post().
    [[nodiscard]] operation lock_all(int assertion = 0) const noexcept {
        return operation{commtask_op_win_lock_all(assertion, handle_)};
    }
    /// Ends what lock_all() began.
    /// @return the operation, for post().
    [[nodiscard]] operation unlock_all() const noexcept { return operation{commtask_op_win_unlock_all(handle_)}; }

private:
    MPI_Win handle_;
};

} // namespace commtask
