// SPDX-License-Identifier: Apache-2.0
//
// Chooses the function that starts an operation by the table of operations, and gives users the
// table's facts. The functions that are called here, and no others, replace a blocking MPI function
// by its nonblocking counterpart.
#include "mpi/operations.hpp"

#include "core/operation_traits.hpp"

#include <commtask/commtask.h>

#include <cstddef>

namespace commtask::detail {

// The layout is frozen, as its documentation says: a program that was compiled with another layout
// would hand over garbage.
static_assert(sizeof(commtask_ticket) == 16);
static_assert(sizeof(void*) != 8 || (sizeof(commtask_op) == 112 && sizeof(commtask_side) == 32));
static_assert(sizeof(void*) != 8 || (offsetof(commtask_op, kind) == 0 && offsetof(commtask_op, array_form) == 2 &&
                                     offsetof(commtask_op, peer) == 4 && offsetof(commtask_op, comm) == 8 &&
                                     offsetof(commtask_op, send) == 16 && offsetof(commtask_op, recv) == 48 &&
                                     offsetof(commtask_op, source) == 80 && offsetof(commtask_op, send_tag) == 84 &&
                                     offsetof(commtask_op, recv_tag) == 88 && offsetof(commtask_op, reserved) == 92 &&
                                     offsetof(commtask_op, result) == 96 && offsetof(commtask_op, reduction) == 104));
static_assert(sizeof(void*) != 8 || (offsetof(commtask_side, buffer) == 0 && offsetof(commtask_side, counts) == 8 &&
                                     offsetof(commtask_side, displs) == 16 && offsetof(commtask_side, types) == 24));

int start_operation(task& which, started_requests& started) noexcept {
    const operation_traits& kind = operation_of(which.op.kind);
    if (kind.takes_window) return start_one_sided(which.op, started);
    if (kind.takes_file) return start_file(which.op, started);
    if (kind.ordered_in == order_class::collectives) return start_collective(which, started);
    return kind.family == operation_family::custom ? start_custom(which, started) : start_message(which, started);
}

namespace {

constexpr auto infos = [] {
    std::array<commtask_kind_info, operation_table.size()> made{};
    for (std::size_t i = 0; i < made.size(); ++i) {
        const operation_traits& kind = operation_table[i];
        const bool is_send = kind.family == operation_family::send;
        made[i] = {kind.name, kind.is_ordered_by_default(), is_send || kind.family == operation_family::exchange,
                   kind.receives};
    }
    return made;
}();

} // namespace
} // namespace commtask::detail

const commtask_kind_info* commtask_kind_describe(int kind) noexcept {
    using namespace commtask::detail;
    return operation_of(kind).family == operation_family::unknown ? nullptr : &infos[static_cast<std::size_t>(kind)];
}
