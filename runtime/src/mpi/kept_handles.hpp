// SPDX-License-Identifier: Apache-2.0
//
// MPI lets a program free a datatype or a communicator while an operation with it is pending. Here MPI may see the operation
// later, so until a task has ended the library has something of its own that refers to the handle: a datatype derived from a
// datatype, a persistent request of a communicator. As long as it exists, MPI keeps the original, whose handle the
// operation then goes to MPI with: a user's reduction is called with the datatype that the program gave, and functions of
// attributes run once. The price is two calls of MPI for each handle that no other open task has. MPI has nothing that refers to a
// reduction operation.
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

/// A datatype that open tasks have.
struct kept_type {
    MPI_Datatype type;
    MPI_Datatype reference; ///< Made of it.
    std::uint32_t n_users;
    kept_type* next; ///< In its bucket, or among those that are not used.
};

class kept_handles {
public:
    kept_handles() noexcept = default;
    kept_handles(const kept_handles&) = delete;
    kept_handles& operator=(const kept_handles&) = delete;
    /// Tasks that were left behind may still have some: these stay.
    ~kept_handles();

    /// How many datatypes of an operation the program may free; at most.
    [[nodiscard]] static std::size_t count_types(const commtask_op& op, const comm_queue& queue) noexcept;

    // A thread that may call MPI.

    /// Keeps the datatypes of an operation. One that MPI does not know is left out: MPI says so when the operation starts.
    /// @param into  as many as count_types() said
    /// @return how many there are
    [[nodiscard]] std::uint32_t keep_types(const commtask_op& op, const comm_queue& queue,
                                           std::span<kept_type*> into) noexcept;
    void drop_types(std::span<kept_type* const> kept) noexcept;

    /// Keeps the communicator of a queue, for one more task.
    static void keep_comm(comm_queue& queue) noexcept;
    static void drop_comm(comm_queue& queue) noexcept;
    /// The program has freed the communicator, and MPI tells so though it keeps it, as Open MPI does.
    /// @return whether the last user closes its queue: else nobody needs it
    [[nodiscard]] static bool closes_later(comm_queue& queue) noexcept;

    /// Both, of a task whose room is for `n_kept_types` datatypes.
    void keep(task& which) noexcept;
    void let_go(task& which) noexcept;

private:
    [[nodiscard]] kept_type* keep_type(MPI_Datatype type) noexcept;
    void drop_type(kept_type& kept) noexcept;
    [[nodiscard]] kept_type*& bucket_of(MPI_Datatype type) noexcept;
    [[nodiscard]] kept_type* take_known(MPI_Datatype type) noexcept;

    std::mutex lock_; ///< MPI is never called with it held: functions of the program's that MPI calls may post.
    std::array<kept_type*, 64> buckets_{};
    kept_type* unused_ = nullptr;
};

/// The kept datatypes of a task, in its room.
[[nodiscard]] inline std::span<kept_type*> kept_types_of(task& which) noexcept {
    return {reinterpret_cast<kept_type**>(which.room.get()), which.n_kept_types};
}

/// Whether the program may free the communicator of an operation. That of a window is the library's.
[[nodiscard]] inline bool needs_comm(const commtask_op& op, const comm_queue& queue) noexcept {
    return queue.may_be_freed && !operation_of(op.kind).takes_window;
}

/// Whether MPI reads the one datatype of a side on this rank: not in place, and of an operation with a root there alone.
[[nodiscard]] bool has_type_here(const commtask_op& op, const comm_queue& queue, const commtask_side& side) noexcept;

} // namespace commtask::detail
