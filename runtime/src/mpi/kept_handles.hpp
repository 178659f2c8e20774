// SPDX-License-Identifier: Apache-2.0
//
// MPI lets a program free a datatype or a communicator while an operation that uses it is pending.
// MPI may see a task's operation later, so the library keeps a reference to the handle until the
// task has ended: a datatype derived from the datatype, a persistent request on the communicator.
//
// While the reference exists, MPI keeps the original object, and the operation uses the original
// handle: a user-defined reduction is called with the datatype that the program gave, and attribute
// functions run once. The cost is two MPI calls for each handle that no other open task uses. MPI
// has no object that refers to a reduction operation.
#pragma once

#include "core/comm_queue.hpp"
#include "core/operation_traits.hpp"
#include "core/task.hpp"

#include <commtask/operation.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

namespace commtask::detail {

/// A datatype of open tasks.
struct kept_type {
    MPI_Datatype type;
    MPI_Datatype reference; ///< A datatype that is derived from `type`.
    std::uint32_t n_users;
    kept_type* next; ///< In its bucket, or in the list of unused objects.
};

class kept_handles {
public:
    kept_handles() noexcept = default;
    kept_handles(const kept_handles&) = delete;
    kept_handles& operator=(const kept_handles&) = delete;
    /// References of abandoned tasks may remain; they are not freed.
    ~kept_handles();

    /// The maximum number of an operation's datatypes that the program may free.
    [[nodiscard]] static std::size_t count_types(const commtask_op& op, const comm_queue& queue) noexcept;

    // For threads that may call MPI:

    /// Keeps the datatypes of an operation. An invalid datatype is skipped: MPI reports the error
    /// when the operation starts.
    /// @param into  has the number of entries that count_types() returned
    /// @return the number of kept datatypes
    [[nodiscard]] std::uint32_t keep_types(const commtask_op& op, const comm_queue& queue,
                                           std::span<kept_type*> into) noexcept;
    void drop_types(std::span<kept_type* const> kept) noexcept;

    /// Keeps the communicator of a queue, for one more task.
    static void keep_comm(comm_queue& queue) noexcept;
    static void drop_comm(comm_queue& queue) noexcept;
    /// Called from the attribute's delete function. Open MPI calls that function when the program
    /// frees the communicator, although a reference keeps it.
    /// @return whether drop_comm() of the last task closes the queue; otherwise no task needs the
    /// communicator
    [[nodiscard]] static bool closes_later(comm_queue& queue) noexcept;

    /// Keeps datatypes and communicator of a task that has memory for `n_kept_types` datatypes.
    void keep(task& which) noexcept;
    void let_go(task& which) noexcept;

private:
    [[nodiscard]] kept_type* keep_type(MPI_Datatype type) noexcept;
    void drop_type(kept_type& kept) noexcept;
    [[nodiscard]] kept_type*& bucket_of(MPI_Datatype type) noexcept;
    [[nodiscard]] kept_type* take_known(MPI_Datatype type) noexcept;

    /// Never locked during an MPI call: functions of the program that MPI calls may post.
    std::mutex lock_;
    std::array<kept_type*, 64> buckets_{};
    kept_type* unused_ = nullptr;
};

/// The kept datatypes of a task, in the task's own memory.
[[nodiscard]] inline std::span<kept_type*> kept_types_of(task& which) noexcept {
    return {reinterpret_cast<kept_type**>(which.room.get()), which.n_kept_types};
}

/// Whether the program may free the communicator of an operation. The communicator of a window is
/// the library's.
[[nodiscard]] inline bool needs_comm(const commtask_op& op, const comm_queue& queue) noexcept {
    return queue.may_be_freed && !operation_of(op.kind).takes_window;
}

/// Whether MPI reads the datatype of a side on this rank: not with MPI_IN_PLACE, and for a side of
/// the root only at the root.
[[nodiscard]] bool has_type_here(const commtask_op& op, const comm_queue& queue, const commtask_side& side) noexcept;

} // namespace commtask::detail
