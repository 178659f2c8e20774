// SPDX-License-Identifier: Apache-2.0
//
// Checks the arguments of an operation on a window before it is posted. The registration has
// exchanged every rank's size and displacement unit. An access outside of the window is therefore
// refused at the post, before MPI writes to memory beyond the window. An operation whose sizes at
// origin and target differ is refused too. Only MPI knows the extent of a datatype other than C's
// basic ones, and not every submitter may call MPI.
#include "base/last_error.hpp"
#include "core/operation_traits.hpp"
#include "mpi/arguments.hpp"
#include "mpi/errors.hpp"
#include "mpi/one_sided.hpp"

#include <algorithm>
#include <climits>
#include <limits>

namespace commtask::detail {
namespace {

/// Whether the access has a byte outside of the window's part. False if the datatype is invalid:
/// MPI reports that at the start.
[[nodiscard]] bool reaches_outside(const commtask_side& there, const window_part& part) noexcept {
    const errors_return scope;
    MPI_Count bound = 0;
    MPI_Count extent = 0;
    MPI_Count true_bound = 0;
    MPI_Count true_extent = 0;
    if (scope.code_of(MPI_Type_get_extent_x(there.type, &bound, &extent)) != MPI_SUCCESS ||
        scope.code_of(MPI_Type_get_true_extent_x(there.type, &true_bound, &true_extent)) != MPI_SUCCESS) {
        return false;
    }
    if (there.count == 0 || true_extent <= 0) return false;
    MPI_Count last = 0; // offset of the last element
    if (__builtin_mul_overflow(there.count - 1, extent, &last) || last > part.bytes || last < -part.bytes) return true;
    const MPI_Count begin = displacement_of(there) * part.unit_bytes + true_bound;
    return begin + std::min(last, MPI_Count{0}) < 0 || begin + std::max(last, MPI_Count{0}) > part.bytes - true_extent;
}

/// @param there  the side in the target's window
[[nodiscard]] int check_target_side(const commtask_op& op, const commtask_side& there, const served_window& window,
                                    bool may_ask_mpi) noexcept {
    commtask_side without_buffer = there;
    without_buffer.buffer = &op; // the window is the buffer
    if (const int code = check_side(without_buffer, "target"); code != COMMTASK_OK) return code;
    if (op.peer == MPI_PROC_NULL || window.is_dynamic) return COMMTASK_OK;
    const window_part& part = window.parts[static_cast<std::size_t>(op.peer)];
    const MPI_Aint begin = displacement_of(there);
    const MPI_Count element = basic_bytes(there.type);
    const MPI_Count most =
        begin >= 0 && begin <= part.bytes / part.unit_bytes ? part.bytes - begin * part.unit_bytes : -1;
    const bool is_inside =
        most >= 0 && (element > 0 ? there.count <= most / element : !may_ask_mpi || !reaches_outside(there, part));
    if (is_inside) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_DISPLACEMENT,
                  "target_disp is %lld in units of %lld bytes, with %lld elements, and the window of rank %d (%s) has "
                  "only %lld bytes",
                  static_cast<long long>(begin), static_cast<long long>(part.unit_bytes),
                  static_cast<long long>(there.count), op.peer, window.name.c_str(),
                  static_cast<long long>(part.bytes));
}

/// The size of the data of a side; -1: only MPI knows it, or the datatype is invalid.
[[nodiscard]] MPI_Count data_bytes(const commtask_side& side, bool may_ask_mpi) noexcept {
    MPI_Count element = basic_bytes(side.type);
    if (element == 0) {
        const errors_return scope;
        if (!may_ask_mpi || scope.code_of(MPI_Type_size_x(side.type, &element)) != MPI_SUCCESS || element < 0)
            return -1;
    }
    MPI_Count all = 0;
    return __builtin_mul_overflow(side.count, element, &all) ? std::numeric_limits<MPI_Count>::max() : all;
}

/// MPIs use the size of one side for both, and write past the end of the other.
[[nodiscard]] int check_both_sides(const commtask_op& op, const commtask_side& here, const commtask_side& there,
                                   bool may_ask_mpi) noexcept {
    if (op.peer == MPI_PROC_NULL) return COMMTASK_OK;
    const MPI_Count bytes_here = data_bytes(here, may_ask_mpi);
    const MPI_Count bytes_there = data_bytes(there, may_ask_mpi);
    if (bytes_here >= 0 && bytes_there >= 0 && bytes_here != bytes_there) {
        return refuse(COMMTASK_ERR_COUNT,
                      "origin has %lld bytes, target %lld: count and type of both must describe the same data",
                      static_cast<long long>(bytes_here), static_cast<long long>(bytes_there));
    }
    const bool are_basic = basic_bytes(here.type) > 0 && basic_bytes(there.type) > 0;
    if (operation_of(op.kind).takes_reduction && are_basic && here.type != there.type) {
        return refuse(COMMTASK_ERR_TYPE, "origin and target datatype differ, and a reduction has one element type");
    }
    return COMMTASK_OK;
}

[[nodiscard]] int check_awaited(const commtask_op& op, const comm_queue& queue, int tag_upper_bound) noexcept {
    if (op.recv.count < 1 || op.recv.count > INT_MAX) {
        return refuse(COMMTASK_ERR_COUNT, "count of notifications is %lld, and must be from 1 to INT_MAX",
                      static_cast<long long>(op.recv.count));
    }
    if (op.source == MPI_PROC_NULL)
        return refuse(COMMTASK_ERR_RANK, "source is MPI_PROC_NULL, which sends no notifications");
    return first_failure([&] { return check_rank(op.source, true, "source", queue); },
                         [&] { return check_tag(op.recv_tag, false, "notification", tag_upper_bound); });
}

[[nodiscard]] int check_buffer(const void* buffer, const commtask_op& op, const char* name) noexcept {
    if (buffer != nullptr || op.recv.count == 0 || op.reduction == MPI_NO_OP) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_BUFFER, "%s is null", name);
}

} // namespace

int check_window_arguments(const commtask_op& op, const served_window& window, const comm_queue& queue,
                           int tag_upper_bound, bool may_ask_mpi) noexcept {
    const operation_traits& kind = operation_of(op.kind);
    if (const int code = check_synchronisation(op, window.epochs != nullptr, window.name); code != COMMTASK_OK)
        return code;
    if (!kind.has_target)
        return kind.has_steps ? check_awaited(op, queue, tag_upper_bound) : static_cast<int>(COMMTASK_OK);
    const auto rank = [&] { return check_rank(op.peer, false, "target", queue); };
    if (kind.counts == count_shape::none) return rank();
    const bool reads = kind.has_recv_side;
    const commtask_side& there = reads ? op.send : op.recv;
    const auto reduction = [&] {
        return kind.takes_reduction && op.reduction == MPI_OP_NULL ? refuse(COMMTASK_ERR_OP, "reduction is MPI_OP_NULL")
                                                                   : static_cast<int>(COMMTASK_OK);
    };
    const commtask_side& here = reads ? op.recv : op.send;
    const auto side_here = [&] { return check_side(here, "the"); };
    const auto contribution = [&] {
        return reads && kind.has_send_side ? check_buffer(op.send.buffer, op, "origin_buffer")
                                           : static_cast<int>(COMMTASK_OK);
    };
    const auto compared = [&] {
        return kind.has_compared ? check_buffer(op.recv.displs, op, "compare_buffer") : static_cast<int>(COMMTASK_OK);
    };
    const auto notification = [&] {
        return kind.has_steps ? check_tag(op.send_tag, false, "notification", tag_upper_bound)
                              : static_cast<int>(COMMTASK_OK);
    };
    return first_failure(
        rank, side_here, contribution, compared, reduction, notification,
        [&] { return check_target_side(op, there, window, may_ask_mpi); },
        [&] { return check_both_sides(op, here, there, may_ask_mpi); });
}

} // namespace commtask::detail
