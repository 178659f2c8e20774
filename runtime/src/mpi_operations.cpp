// SPDX-License-Identifier: Apache-2.0
//
// The table of operations. Collectives are ordered by default, since MPI asks every rank to start a communicator's
// collectives in one order; messages are ordered when asked. Doors have the order of messages: they may be either.
#include "mpi_start.hpp"

namespace commtask::detail {
namespace {

using table = std::array<operation_entry, COMMTASK_OP_END>;

[[nodiscard]] constexpr table make_table() {
    table entries{};
    const auto message = [&](int kind, std::string_view name, bool receives) {
        entries[static_cast<std::size_t>(kind)] = {name, order_class::messages, false, receives, &start_message};
    };
    const auto collective = [&](int kind, std::string_view name) {
        entries[static_cast<std::size_t>(kind)] = {name, order_class::collectives, true, false, &start_collective};
    };
    const auto door = [&](int kind, std::string_view name) {
        entries[static_cast<std::size_t>(kind)] = {name, order_class::messages, false, false, &start_door};
    };
    message(COMMTASK_OP_SEND, "send", false);
    message(COMMTASK_OP_SSEND, "ssend", false);
    message(COMMTASK_OP_BSEND, "bsend", false);
    message(COMMTASK_OP_RSEND, "rsend", false);
    message(COMMTASK_OP_RECV, "recv", true);
    message(COMMTASK_OP_SENDRECV, "sendrecv", true);
    message(COMMTASK_OP_SENDRECV_REPLACE, "sendrecv_replace", true);
    message(COMMTASK_OP_MPROBE, "mprobe", true);
    message(COMMTASK_OP_MRECV, "mrecv", true);
    collective(COMMTASK_OP_BARRIER, "barrier");
    collective(COMMTASK_OP_BCAST, "bcast");
    collective(COMMTASK_OP_GATHER, "gather");
    collective(COMMTASK_OP_GATHERV, "gatherv");
    collective(COMMTASK_OP_SCATTER, "scatter");
    collective(COMMTASK_OP_SCATTERV, "scatterv");
    collective(COMMTASK_OP_ALLGATHER, "allgather");
    collective(COMMTASK_OP_ALLGATHERV, "allgatherv");
    collective(COMMTASK_OP_ALLTOALL, "alltoall");
    collective(COMMTASK_OP_ALLTOALLV, "alltoallv");
    collective(COMMTASK_OP_ALLTOALLW, "alltoallw");
    collective(COMMTASK_OP_REDUCE, "reduce");
    collective(COMMTASK_OP_ALLREDUCE, "allreduce");
    collective(COMMTASK_OP_REDUCE_SCATTER, "reduce_scatter");
    collective(COMMTASK_OP_REDUCE_SCATTER_BLOCK, "reduce_scatter_block");
    collective(COMMTASK_OP_SCAN, "scan");
    collective(COMMTASK_OP_EXSCAN, "exscan");
    collective(COMMTASK_OP_NEIGHBOR_ALLGATHER, "neighbor_allgather");
    collective(COMMTASK_OP_NEIGHBOR_ALLGATHERV, "neighbor_allgatherv");
    collective(COMMTASK_OP_NEIGHBOR_ALLTOALL, "neighbor_alltoall");
    collective(COMMTASK_OP_NEIGHBOR_ALLTOALLV, "neighbor_alltoallv");
    collective(COMMTASK_OP_NEIGHBOR_ALLTOALLW, "neighbor_alltoallw");
    collective(COMMTASK_OP_COMM_DUP, "comm_dup");
    door(COMMTASK_OP_START, "start");
    door(COMMTASK_OP_CALL, "call");
    door(COMMTASK_OP_ATTACH, "attach");
    door(COMMTASK_OP_NOOP, "noop");
    return entries;
}

constexpr table operations = make_table();

} // namespace

const operation_entry& operation_of(int kind) noexcept {
    return operations[kind > 0 && kind < COMMTASK_OP_END ? static_cast<std::size_t>(kind) : 0];
}

} // namespace commtask::detail
