// SPDX-License-Identifier: Apache-2.0
//
// A task in the user's words, for the list of unfinished tasks and for warnings. Written when something is wrong, so it
// may ask MPI for names; it is called by a driver only.
#include "mpi_transport.hpp"

#include "mpi_counts.hpp"

namespace commtask::detail {
namespace {

[[nodiscard]] std::string rank_text(int rank) {
    if (rank == MPI_ANY_SOURCE) return "any source";
    if (rank == MPI_PROC_NULL) return "MPI_PROC_NULL";
    return "rank " + std::to_string(rank);
}

[[nodiscard]] std::string tag_text(int tag) {
    return tag == MPI_ANY_TAG ? std::string("any tag") : "tag " + std::to_string(tag);
}

[[nodiscard]] std::string payload_text(MPI_Count count, MPI_Datatype type) {
    std::array<char, MPI_MAX_OBJECT_NAME> name{};
    int length = 0;
    if (type == MPI_DATATYPE_NULL || MPI_Type_get_name(type, name.data(), &length) != MPI_SUCCESS || length == 0) {
        return " of " + std::to_string(count) + " elements";
    }
    return " of " + std::to_string(count) + " " + name.data();
}

} // namespace

std::string mpi_transport::describe(const commtask_op& op) const {
    // The interposer says what it hands over.
    const int kind = op.kind == COMMTASK_OP_ATTACH && op.array_form != 0 ? op.array_form : op.kind;
    std::string text{operation_of(kind).name};
    switch (kind) {
    case COMMTASK_OP_SEND:
    case COMMTASK_OP_SSEND:
    case COMMTASK_OP_BSEND:
    case COMMTASK_OP_RSEND:
        text += payload_text(op.send.count, op.send.type) + " to " + rank_text(op.peer) + ", " + tag_text(op.send_tag);
        break;
    case COMMTASK_OP_RECV:
        text +=
            payload_text(op.recv.count, op.recv.type) + " from " + rank_text(op.source) + ", " + tag_text(op.recv_tag);
        break;
    case COMMTASK_OP_MPROBE: text += " from " + rank_text(op.source) + ", " + tag_text(op.recv_tag); break;
    case COMMTASK_OP_SENDRECV:
    case COMMTASK_OP_SENDRECV_REPLACE:
        text += " to " + rank_text(op.peer) + ", " + tag_text(op.send_tag) + ", from " + rank_text(op.source) + ", " +
                tag_text(op.recv_tag);
        break;
    default: break;
    }
    return text;
}

std::string mpi_transport::describe(const task& which) const {
    return describe(which.op) + ", " + (which.queue->is_closed.load() ? "a freed communicator" : which.queue->name);
}

} // namespace commtask::detail
