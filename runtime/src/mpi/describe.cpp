// SPDX-License-Identifier: Apache-2.0
//
// Called on errors, so it may allocate memory, and query MPI for names if the calling thread may.
// The functions for a task are called with the progress lock only.
#include "mpi/describe.hpp"

#include "base/printable.hpp"
#include "core/operation_kind.hpp"
#include "core/operation_traits.hpp"
#include "core/plan.hpp"
#include "mpi/made_types.hpp"
#include "mpi/one_sided.hpp"
#include "mpi/transport.hpp"

#include <array>
#include <cstdio>
#include <cstring>

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

[[nodiscard]] std::string payload_text(MPI_Count count, MPI_Datatype type, bool may_ask_mpi) {
    std::array<char, MPI_MAX_OBJECT_NAME> name{};
    int length = 0;
    if (!may_ask_mpi || type == MPI_DATATYPE_NULL || MPI_Type_get_name(type, name.data(), &length) != MPI_SUCCESS ||
        length == 0) {
        return " of " + std::to_string(count) + (count == 1 ? " element" : " elements");
    }
    return " of " + std::to_string(count) + " " + printable(name.data());
}

[[nodiscard]] bool is_collective(const operation_traits& kind) noexcept {
    return kind.ordered_in == order_class::collectives && !kind.takes_window && !kind.takes_file;
}

/// The side whose count and datatype are significant on this rank; null if there is none, or if
/// each rank has its own.
[[nodiscard]] const commtask_side* one_side(const commtask_op& op, const operation_traits& kind) noexcept {
    // MPI_ROOT or MPI_PROC_NULL of an intercommunicator.
    if (kind.has_root && op.peer < 0) return nullptr;
    if (kind.counts == count_shape::shared || kind.counts == count_shape::each_block) return &op.recv;
    if (kind.counts != count_shape::one) return nullptr;
    const bool takes_recv =
        kind.family == operation_family::scatter ? op.recv.buffer != MPI_IN_PLACE : op.send.buffer == MPI_IN_PLACE;
    return takes_recv || !kind.has_send_side ? &op.recv : &op.send;
}

/// Empty for an operation without count and root, for example a barrier.
[[nodiscard]] std::string collective_text(const commtask_op& op, const operation_traits& kind, bool may_ask_mpi) {
    const commtask_side* const side = one_side(op, kind);
    const std::string text = side != nullptr ? payload_text(side->count, side->type, may_ask_mpi) : std::string{};
    return kind.has_root && op.peer >= 0 ? text + ", root " + std::to_string(op.peer) : text;
}

/// A file has no name in MPI. Its handle distinguishes it from others, and equals the program's
/// variable in a debugger.
[[nodiscard]] std::string file_text(MPI_File file) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), ", file %p", static_cast<void*>(file));
    return text.data();
}

} // namespace

std::string describe(const commtask_op& op, bool may_ask_mpi) {
    const operation_traits& kind = operation_of(kind_of(op));
    std::string text{kind.name};
    if (kind.family == operation_family::send) text += payload_text(op.send.count, op.send.type, may_ask_mpi);
    if (kind.family == operation_family::receive && kind.has_recv_side) {
        text += payload_text(op.recv.count, op.recv.type, may_ask_mpi);
    }
    if (is_collective(kind)) text += collective_text(op, kind, may_ask_mpi);
    if (kind.has_partitions) {
        text += " in " + std::to_string(kind.has_recv_side ? op.send.count : op.recv.count) + " partitions";
    }
    if (kind.has_dests) text += " to " + std::to_string(op.peer) + " ranks";
    if (kind.has_sources) text += ", from " + std::to_string(op.source);
    if (kind.has_dests) text += ", " + tag_text(op.send_tag);
    if (kind.has_target && kind.counts != count_shape::none) {
        const commtask_side& here = kind.has_recv_side ? op.recv : op.send;
        text += payload_text(here.count, here.type, may_ask_mpi) + (kind.has_recv_side ? " from " : " to ") +
                rank_text(op.peer) + ", displacement " +
                std::to_string(displacement_of(kind.has_recv_side ? op.send : op.recv));
    } else if (kind.has_target) {
        text += " of " + rank_text(op.peer);
    }
    if (kind.takes_window && kind.has_steps) {
        const bool awaits = !kind.has_target;
        text += (awaits ? " of " + std::to_string(op.recv.count) + " from " + rank_text(op.source) : std::string{}) +
                ", notification " + std::to_string(awaits ? op.recv_tag : op.send_tag);
    }
    if (kind.takes_file) {
        const commtask_side& here = kind.has_recv_side ? op.recv : op.send;
        text += payload_text(here.count, here.type, may_ask_mpi);
        if (kind.has_offset) {
            text += ", offset " + std::to_string(displacement_of(kind.has_recv_side ? op.send : op.recv));
        }
        text += file_text(file_of(op));
    }
    if (kind.has_dest) text += " to " + rank_text(op.peer) + ", " + tag_text(op.send_tag);
    if (kind.has_source) {
        text += (kind.has_dest ? ", from " : " from ") + rank_text(op.source) + ", " + tag_text(op.recv_tag);
    }
    return text;
}

std::string describe(source_location created_at) {
    if (created_at.file == nullptr) return {};
    const char* const slash = std::strrchr(created_at.file, '/');
    return std::string(", created at ") + (slash != nullptr ? slash + 1 : created_at.file) + ":" +
           std::to_string(created_at.line);
}

std::string mpi_transport::describe(const task& which) const {
    if (which.is_run()) {
        return "plan of " + std::to_string(which.op.send.count) + " members" + detail::describe(which.created_at());
    }
    if (!which.is_member()) return describe_posted(which);
    const plan_member& member = *which.member;
    const std::string of_plan = "member " + std::to_string(member.number) + " of a plan";
    if (!member.is_group) return describe_posted(which) + ", " + of_plan;
    const plan_member& whole = member.of->posted(member.number);
    const partition_set& parts = *whole.partitions;
    const std::uint32_t group = member.index - parts.first_group;
    return detail::describe(whole.op, true) + ", " + which.queue->name + ", " + of_plan + ": elements " +
           std::to_string(parts.groups.begin_of(group)) + " to " +
           std::to_string(parts.groups.begin_of(group + 1) - 1) + detail::describe(which.created_at());
}

std::string mpi_transport::describe_posted(const task& which) const {
    const bool is_held = operation_of(which.op.kind).has_recv_side && unmatched_.has(which);
    // The program may have freed a derived datatype that the task does not keep.
    const bool is_made = may_be_made(which.op.send.type) || may_be_made(which.op.recv.type);
    const bool may_ask = !is_made || (which.may_keep() && (which.kept & kept_types) != 0);
    return detail::describe(which.op, may_ask) + (is_held ? ", queued behind an mprobe" : "") + ", " +
           (which.queue->serves(which.op.comm) ? which.queue->name : "a freed communicator") +
           detail::describe(which.created_at());
}

} // namespace commtask::detail
