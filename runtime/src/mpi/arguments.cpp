// SPDX-License-Identifier: Apache-2.0
//
// The checks run in every post, so they call no MPI function and only compare numbers. A null
// buffer, which in MPICH is also MPI_BOTTOM, is valid only if the datatype can have absolute
// addresses.
#include "mpi/arguments.hpp"

#include "base/last_error.hpp"
#include "core/operation_traits.hpp"
#include "core/partitions.hpp"
#include "mpi/counts.hpp"
#include "mpi/many.hpp"
#include "mpi/one_sided.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>

namespace commtask::detail {
namespace {

struct basic_type {
    MPI_Datatype type;
    int bytes;
};

} // namespace

/// Predefined datatypes have no absolute addresses, so a null buffer is an error with them.
int basic_bytes(MPI_Datatype type) noexcept {
    const std::array<basic_type, 26> basic{{{MPI_BYTE, 1},
                                            {MPI_CHAR, 1},
                                            {MPI_SIGNED_CHAR, 1},
                                            {MPI_UNSIGNED_CHAR, 1},
                                            {MPI_SHORT, sizeof(short)},
                                            {MPI_INT, sizeof(int)},
                                            {MPI_UNSIGNED, sizeof(unsigned)},
                                            {MPI_LONG, sizeof(long)},
                                            {MPI_UNSIGNED_LONG, sizeof(unsigned long)},
                                            {MPI_LONG_LONG, sizeof(long long)},
                                            {MPI_FLOAT, sizeof(float)},
                                            {MPI_DOUBLE, sizeof(double)},
                                            {MPI_LONG_DOUBLE, sizeof(long double)},
                                            {MPI_UNSIGNED_SHORT, sizeof(unsigned short)},
                                            {MPI_UNSIGNED_LONG_LONG, sizeof(unsigned long long)},
                                            {MPI_INT8_T, 1},
                                            {MPI_INT16_T, 2},
                                            {MPI_INT32_T, 4},
                                            {MPI_INT64_T, 8},
                                            {MPI_UINT8_T, 1},
                                            {MPI_UINT16_T, 2},
                                            {MPI_UINT32_T, 4},
                                            {MPI_UINT64_T, 8},
                                            {MPI_C_DOUBLE_COMPLEX, 2 * sizeof(double)},
                                            {MPI_C_FLOAT_COMPLEX, 2 * sizeof(float)},
                                            {MPI_PACKED, 1}}};
    const auto* const found = std::ranges::find(basic, type, &basic_type::type);
    return found == basic.end() ? 0 : found->bytes;
}

int check_side(const commtask_side& side, const char* name) noexcept {
    if (side.count < 0) {
        return refuse(COMMTASK_ERR_COUNT, "%s count is %lld, and must not be negative", name,
                      static_cast<long long>(side.count));
    }
    if (!has_large_counts && !fits_int(side.count)) {
        return refuse(COMMTASK_ERR_COUNT,
                      "%s count is %lld, and this MPI transfers at most %d elements: use a larger datatype", name,
                      static_cast<long long>(side.count), INT_MAX);
    }
    if (side.type == MPI_DATATYPE_NULL) return refuse(COMMTASK_ERR_TYPE, "%s type is MPI_DATATYPE_NULL", name);
    if (side.buffer == nullptr && side.count > 0 && basic_bytes(side.type) > 0) {
        return refuse(COMMTASK_ERR_BUFFER, "%s buffer is null and its count is %lld", name,
                      static_cast<long long>(side.count));
    }
    return COMMTASK_OK;
}

int check_rank(int rank, bool may_be_any, const char* name, const comm_queue& queue) noexcept {
    if ((rank >= 0 && rank < queue.n_peers) || rank == MPI_PROC_NULL) return COMMTASK_OK;
    if (may_be_any && rank == MPI_ANY_SOURCE) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_RANK, "%s is %d, and %s has ranks 0 to %d", name, rank, queue.name.c_str(),
                  queue.n_peers - 1);
}

int check_tag(int tag, bool may_be_any, const char* name, int tag_upper_bound) noexcept {
    if ((tag >= 0 && tag <= tag_upper_bound) || (may_be_any && tag == MPI_ANY_TAG)) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_TAG, "%s is %d, and tags go from 0 to %d%s", name, tag, tag_upper_bound,
                  may_be_any ? ", or are MPI_ANY_TAG" : "");
}

namespace {

[[nodiscard]] int check_root(const commtask_op& op, const comm_queue& queue) noexcept {
    if (queue.is_intercommunicator && (op.peer == MPI_ROOT || op.peer == MPI_PROC_NULL)) return COMMTASK_OK;
    if (op.peer >= 0 && op.peer < queue.n_peers) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_RANK, "root is %d, and %s has ranks 0 to %d", op.peer, queue.name.c_str(),
                  queue.n_peers - 1);
}

/// Refuses an entry of an array of counts that is invalid in MPI, or too large for this MPI.
template <typename Count>
[[nodiscard]] int check_counts(const void* counts, int n_counts, const char* name) noexcept {
    const auto* const numbers = static_cast<const Count*>(counts);
    for (int i = 0; i < n_counts; ++i) {
        if (numbers[i] >= 0 && (has_large_counts || fits_int(numbers[i]))) continue;
        return refuse(COMMTASK_ERR_COUNT, "%s[%d] is %lld, and must be from 0 to %s", name, i,
                      static_cast<long long>(numbers[i]), has_large_counts ? "the largest MPI_Count" : "INT_MAX");
    }
    return COMMTASK_OK;
}

/// Checks the array of counts of one side.
[[nodiscard]] int check_count_array(const commtask_op& op, const void* counts, int n_counts,
                                    const char* name) noexcept {
    if (counts == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "%s is null", name);
    return op.array_form == COMMTASK_COUNTS_INT ? check_counts<int>(counts, n_counts, name)
                                                : check_counts<MPI_Count>(counts, n_counts, name);
}

[[nodiscard]] int check_reduction(const commtask_op& op) noexcept {
    return op.reduction == MPI_OP_NULL ? refuse(COMMTASK_ERR_OP, "reduction is MPI_OP_NULL") : COMMTASK_OK;
}

[[nodiscard]] int check_pointer(const void* pointer, const char* name) noexcept {
    return pointer == nullptr ? refuse(COMMTASK_ERR_ARGUMENT, "%s is null", name) : COMMTASK_OK;
}

/// Arrays have one entry per rank, except in neighborhood collectives, whose degrees only MPI
/// knows.
[[nodiscard]] int check_arrays(const commtask_op& op, const comm_queue& queue) noexcept {
    const auto check = [&](const void* counts, const char* name) {
        return check_count_array(op, counts, queue.n_peers, name);
    };
    switch (op.kind) {
    case COMMTASK_OP_ALLGATHERV:
        return first_failure([&] { return check(op.recv.counts, "recv_counts"); },
                             [&] { return check_pointer(op.recv.displs, "recv_displs"); });
    case COMMTASK_OP_ALLTOALLV:
    case COMMTASK_OP_ALLTOALLW: {
        const bool in_place = op.send.buffer == MPI_IN_PLACE;
        return first_failure([&] { return in_place ? COMMTASK_OK : check(op.send.counts, "send_counts"); },
                             [&] { return in_place ? COMMTASK_OK : check_pointer(op.send.displs, "send_displs"); },
                             [&] { return check(op.recv.counts, "recv_counts"); },
                             [&] { return check_pointer(op.recv.displs, "recv_displs"); });
    }
    case COMMTASK_OP_REDUCE_SCATTER:
        return first_failure(
            [&] { return check_reduction(op); },
            [&] { return queue.is_intercommunicator ? COMMTASK_OK : check(op.recv.counts, "recv_counts"); });
    case COMMTASK_OP_GATHERV:
    case COMMTASK_OP_SCATTERV: return check_root(op, queue);
    default: return COMMTASK_OK;
    }
}

[[nodiscard]] int check_collective(const commtask_op& op, const comm_queue& queue) noexcept {
    if (operation_of(op.kind).has_arrays()) return check_arrays(op, queue);
    const auto recv_side = [&] { return check_side(op.recv, "the"); };
    // Reductions have one count and one datatype for both buffers.
    commtask_side contribution = op.recv;
    contribution.buffer = op.send.buffer;
    const auto send_side = [&] { return check_side(contribution, "the send"); };
    switch (op.kind) {
    case COMMTASK_OP_BARRIER: return COMMTASK_OK;
    case COMMTASK_OP_COMM_DUP: return check_pointer(op.result, "new_comm");
    case COMMTASK_OP_BCAST: return first_failure([&] { return check_root(op, queue); }, recv_side);
    case COMMTASK_OP_REDUCE: {
        // The receive buffer is significant only at the root, and only MPI knows whether this rank
        // is the root.
        const bool is_elsewhere = op.send.buffer == MPI_IN_PLACE || queue.is_intercommunicator;
        return first_failure([&] { return check_root(op, queue); }, [&] { return check_reduction(op); },
                             [&] { return is_elsewhere ? COMMTASK_OK : send_side(); });
    }
    case COMMTASK_OP_ALLREDUCE:
    case COMMTASK_OP_SCAN:
    case COMMTASK_OP_EXSCAN:
    case COMMTASK_OP_REDUCE_SCATTER_BLOCK:
        return first_failure([&] { return check_reduction(op); }, recv_side, send_side);
    case COMMTASK_OP_GATHER:
    case COMMTASK_OP_SCATTER: {
        const bool is_gather = op.kind == COMMTASK_OP_GATHER;
        const commtask_side& everyones = is_gather ? op.send : op.recv;
        const bool is_elsewhere = everyones.buffer == MPI_IN_PLACE || queue.is_intercommunicator;
        return first_failure(
            [&] { return check_root(op, queue); },
            [&] { return is_elsewhere ? COMMTASK_OK : check_side(everyones, is_gather ? "send" : "recv"); });
    }
    default: // allgather, alltoall and the neighborhood collectives
        return first_failure([&] { return op.send.buffer == MPI_IN_PLACE ? COMMTASK_OK : check_side(op.send, "send"); },
                             [&] { return check_side(op.recv, "recv"); });
    }
}

/// Whether messages can be sent to all ranks of a list. The loop has no branch, so that the
/// compiler can vectorize it: the cost of a multicast for its submitter should not depend on the
/// number of ranks.
[[nodiscard]] bool are_peers(std::span<const int> ranks, int n_peers) noexcept {
    const auto limit = static_cast<unsigned>(n_peers);
    unsigned n_wrong = 0;
    for (const int rank : ranks) {
        n_wrong |=
            static_cast<unsigned>(static_cast<unsigned>(rank) >= limit) & static_cast<unsigned>(rank != MPI_PROC_NULL);
    }
    return n_wrong == 0;
}

/// Checks a list of destinations or sources, which must not contain wildcards.
[[nodiscard]] int check_ranks(const int* ranks, int n_ranks, const char* name, const comm_queue& queue) noexcept {
    if (n_ranks < 0) {
        return refuse(COMMTASK_ERR_COUNT, "n_%s is %d, and must not be negative", name, n_ranks);
    }
    if (ranks == nullptr && n_ranks > 0) return refuse(COMMTASK_ERR_ARGUMENT, "%s is null", name);
    if (are_peers({ranks, static_cast<std::size_t>(n_ranks)}, queue.n_peers)) return COMMTASK_OK;
    for (int i = 0; i < n_ranks; ++i) {
        if (are_peers({&ranks[i], 1}, queue.n_peers)) continue;
        return refuse(COMMTASK_ERR_RANK, "%s[%d] is %d, and %s has ranks 0 to %d", name, i, ranks[i],
                      queue.name.c_str(), queue.n_peers - 1);
    }
    return COMMTASK_OK;
}

/// Partitioned operations have no wildcards, and their groups use the highest tags.
[[nodiscard]] int check_partitions(const commtask_op& op, bool receives, const comm_queue& queue,
                                   int tag_upper_bound) noexcept {
    const commtask_side& side = receives ? op.recv : op.send;
    const MPI_Count n_partitions = receives ? op.send.count : op.recv.count;
    const int most_tag = highest_partitioned_tag(tag_upper_bound);
    return first_failure(
        [&] {
            if (n_partitions > 0) return static_cast<int>(COMMTASK_OK);
            return refuse(COMMTASK_ERR_COUNT, "n_partitions is %lld, and must be at least 1",
                          static_cast<long long>(n_partitions));
        },
        [&] { return check_side(side, receives ? "recv" : "send"); },
        [&] {
            if (side.count <= std::numeric_limits<MPI_Count>::max() / n_partitions)
                return static_cast<int>(COMMTASK_OK);
            return refuse(COMMTASK_ERR_COUNT, "n_partitions is %lld, with %lld elements each: their product overflows",
                          static_cast<long long>(n_partitions), static_cast<long long>(side.count));
        },
        [&] { return check_rank(receives ? op.source : op.peer, false, receives ? "source" : "dest", queue); },
        [&] { return check_tag(receives ? op.recv_tag : op.send_tag, false, "the tag of partitions", most_tag); });
}

/// Checks one side of a many_to_many: one block per rank of its list.
[[nodiscard]] int check_blocks(const commtask_op& op, bool receives, const comm_queue& queue) noexcept {
    const commtask_side& side = receives ? op.recv : op.send;
    const int n_ranks = receives ? op.source : op.peer;
    const auto ranks = [&] {
        return check_ranks(receives ? op.sources : op.dests, n_ranks, receives ? "sources" : "dests", queue);
    };
    if (n_ranks == 0) return COMMTASK_OK;
    const auto counts = [&] {
        return check_count_array(op, side.counts, n_ranks, receives ? "recv_counts" : "send_counts");
    };
    const auto displs = [&] { return check_pointer(side.displs, receives ? "recv_displs" : "send_displs"); };
    const auto memory = [&] {
        commtask_side largest = side;
        largest.count = 0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(n_ranks); ++i) {
            largest.count = std::max(largest.count, count_at(op, side.counts, i));
        }
        return check_side(largest, receives ? "recv" : "send");
    };
    return first_failure(ranks, counts, displs, memory);
}

[[nodiscard]] int check_file(const commtask_op& op) noexcept {
    const operation_traits& kind = operation_of(op.kind);
    if (file_of(op) == MPI_FILE_NULL) return refuse(COMMTASK_ERR_FILE, "file is MPI_FILE_NULL");
    const MPI_Aint offset = displacement_of(kind.has_recv_side ? op.send : op.recv);
    if (kind.has_offset && offset < 0) {
        return refuse(COMMTASK_ERR_DISPLACEMENT, "offset is %lld, and must not be negative",
                      static_cast<long long>(offset));
    }
    return check_side(kind.has_recv_side ? op.recv : op.send, "the");
}

} // namespace

int check_arguments(const commtask_op& op, const comm_queue& queue, int tag_upper_bound) noexcept {
    const auto send_side = [&] { return check_side(op.send, "send"); };
    const auto recv_side = [&] { return check_side(op.recv, "recv"); };
    const auto dest = [&] { return check_rank(op.peer, false, "dest", queue); };
    const auto source = [&] { return check_rank(op.source, true, "source", queue); };
    const auto send_tag = [&] { return check_tag(op.send_tag, false, "the send's tag", tag_upper_bound); };
    const auto recv_tag = [&] { return check_tag(op.recv_tag, true, "the receive's tag", tag_upper_bound); };
    switch (op.kind) {
    case COMMTASK_OP_SEND:
    case COMMTASK_OP_SSEND:
    case COMMTASK_OP_BSEND:
    case COMMTASK_OP_RSEND: return first_failure(send_side, dest, send_tag);
    case COMMTASK_OP_RECV: return first_failure(recv_side, source, recv_tag);
    case COMMTASK_OP_SENDRECV: return first_failure(send_side, recv_side, dest, source, send_tag, recv_tag);
    case COMMTASK_OP_SENDRECV_REPLACE: return first_failure(recv_side, dest, source, send_tag, recv_tag);
    case COMMTASK_OP_MPROBE:
        return first_failure([&] { return check_pointer(op.result, "message"); }, source, recv_tag);
    case COMMTASK_OP_MRECV: return first_failure([&] { return check_pointer(op.result, "message"); }, recv_side);
    case COMMTASK_OP_MULTICAST:
        return first_failure(send_side, [&] { return check_ranks(op.dests, op.peer, "dests", queue); }, send_tag);
    case COMMTASK_OP_MANY_TO_MANY:
        return first_failure([&] { return check_blocks(op, false, queue); },
                             [&] { return check_blocks(op, true, queue); }, send_tag);
    case COMMTASK_OP_PSEND: return check_partitions(op, false, queue, tag_upper_bound);
    case COMMTASK_OP_PRECV: return check_partitions(op, true, queue, tag_upper_bound);
    case COMMTASK_OP_START:
    case COMMTASK_OP_CALL: return op.call == nullptr ? refuse(COMMTASK_ERR_ARGUMENT, "function is null") : COMMTASK_OK;
    case COMMTASK_OP_ATTACH:
        if (op.result != nullptr && *static_cast<const MPI_Request*>(op.result) != MPI_REQUEST_NULL) return COMMTASK_OK;
        return refuse(COMMTASK_ERR_ARGUMENT, "request is null or MPI_REQUEST_NULL: it must be an active request");
    case COMMTASK_OP_NOOP: return COMMTASK_OK;
    default: break;
    }
    if (operation_of(op.kind).takes_file) return check_file(op);
    if (operation_of(op.kind).family == operation_family::unknown) {
        return refuse(COMMTASK_ERR_ARGUMENT, "operation has kind %d: make it with a commtask_op_ function", op.kind);
    }
    return check_collective(op, queue);
}

} // namespace commtask::detail
