// SPDX-License-Identifier: Apache-2.0
//
// Copies of arrays of counts. An MPI without large counts costs one allocation per task with large
// arrays, made by the progress thread. A program that must avoid it uses the _int forms, whose
// arrays are used as they are.
#include "mpi/counts.hpp"

#include "core/operation_kind.hpp"
#include "mpi/many.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace commtask::detail {

namespace {

/// The side whose single count gives the number of bytes that an operation sends; null if there is
/// none.
[[nodiscard]] const commtask_side* given_side(const commtask_op& op) noexcept {
    const operation_traits& kind = operation_of(kind_of(op));
    switch (kind.counts) {
    case count_shape::one:
        if (kind.takes_file) return nullptr; // the status has the length
        if (kind.family == operation_family::receive) return nullptr;
        if (kind.family == operation_family::scatter) { // every rank has the receive side
            return op.recv.buffer == MPI_IN_PLACE ? &op.send : &op.recv;
        }
        return kind.has_send_side && op.send.buffer != MPI_IN_PLACE ? &op.send : &op.recv;
    case count_shape::shared:
    case count_shape::single:
    case count_shape::each_block: return &op.recv;
    default: return nullptr;
    }
}

} // namespace

namespace {

/// The bytes sent to all ranks of a list.
[[nodiscard]] std::int64_t bytes_to_many(const commtask_op& op) noexcept {
    MPI_Count element = 0;
    MPI_Count n_elements = 0;
    static_cast<void>(visit_messages(op, false, [&](const one_message& each) {
        n_elements += each.count.value;
        return MPI_SUCCESS;
    }));
    return MPI_Type_size_x(op.send.type, &element) == MPI_SUCCESS ? element * n_elements : 0;
}

} // namespace

std::int64_t payload_bytes(const commtask_op& op) noexcept {
    const operation_traits& kind = operation_of(kind_of(op));
    if (kind.has_dests) return bytes_to_many(op);
    if (kind.has_partitions) return 0; // its groups count the bytes
    const commtask_side* const side = op.peer == MPI_PROC_NULL ? nullptr : given_side(op);
    MPI_Count element = 0;
    if (side == nullptr || side->count <= 0 || MPI_Type_size_x(side->type, &element) != MPI_SUCCESS) return 0;
    return element * side->count;
}

namespace {

/// Copies `count` numbers of type From as int. @return false if one does not fit.
template <typename From>
[[nodiscard]] bool copy_as_int(const void* from, int count, int* to) noexcept {
    const From* const numbers = static_cast<const From*>(from);
    for (int i = 0; i < count; ++i) {
        if (numbers[i] > INT_MAX || numbers[i] < INT_MIN) return false;
        to[i] = static_cast<int>(numbers[i]);
    }
    return true;
}

} // namespace

int find_neighbors(MPI_Comm comm, array_lengths& lengths) noexcept {
    int topology = MPI_UNDEFINED;
    if (const int code = MPI_Topo_test(comm, &topology); code != MPI_SUCCESS) return code;
    if (topology == MPI_CART) {
        int n_dimensions = 0;
        const int code = MPI_Cartdim_get(comm, &n_dimensions);
        lengths = {2 * n_dimensions, 2 * n_dimensions};
        return code;
    }
    if (topology == MPI_GRAPH) {
        int rank = 0;
        int n_neighbors = 0;
        MPI_Comm_rank(comm, &rank);
        const int code = MPI_Graph_neighbors_count(comm, rank, &n_neighbors);
        lengths = {n_neighbors, n_neighbors};
        return code;
    }
    if (topology == MPI_DIST_GRAPH) {
        int is_weighted = 0;
        return MPI_Dist_graph_neighbors_count(comm, &lengths.recv, &lengths.send, &is_weighted);
    }
    return MPI_ERR_TOPOLOGY;
}

int find_array_lengths(const commtask_op& op, array_lengths& lengths) noexcept {
    const operation_traits& kind = operation_of(op.kind);
    if (kind.family == operation_family::neighborhood) return find_neighbors(op.comm, lengths);
    int is_intercommunicator = 0;
    if (const int code = MPI_Comm_test_inter(op.comm, &is_intercommunicator); code != MPI_SUCCESS) return code;
    int size = 0;
    const bool counts_locals = is_intercommunicator == 0 || kind.family == operation_family::reduction;
    const int code = counts_locals ? MPI_Comm_size(op.comm, &size) : MPI_Comm_remote_size(op.comm, &size);
    int rank = 0;
    MPI_Comm_rank(op.comm, &rank);
    const bool is_root = is_intercommunicator != 0 ? op.peer == MPI_ROOT : op.peer == rank;
    lengths = {size, size};
    if (kind.has_root && !is_root) lengths = {};
    return code;
}

int find_used_lengths(const commtask_op& op, array_lengths& lengths) noexcept {
    if (const int code = find_array_lengths(op, lengths); code != MPI_SUCCESS) return code;
    const operation_traits& kind = operation_of(op.kind);
    const bool is_in_place = op.send.buffer == MPI_IN_PLACE;
    if (!kind.has_send_arrays() || op.send.counts == nullptr || is_in_place) lengths.send = 0;
    if (!kind.has_recv_arrays() || op.recv.counts == nullptr) lengths.recv = 0;
    return MPI_SUCCESS;
}

int narrow_arrays(commtask_op& op, void*& scratch) noexcept {
    array_lengths lengths;
    if (const int code = find_used_lengths(op, lengths); code != MPI_SUCCESS) return code;
    const operation_traits& kind = operation_of(op.kind);
    const bool keeps_displs = // MPI_Aint in both forms
        kind.family == operation_family::neighborhood && kind.counts == count_shape::typed_arrays;
    const int n_entries = lengths.send + lengths.recv;
    if (n_entries == 0) return MPI_SUCCESS;
    int* numbers = static_cast<int*>(std::malloc(2 * sizeof(int) * static_cast<std::size_t>(n_entries)));
    if (numbers == nullptr) return MPI_ERR_NO_MEM;
    scratch = numbers;
    bool fits = true;
    const auto narrow = [&](commtask_side& side, int count) {
        fits = fits && copy_as_int<MPI_Count>(side.counts, count, numbers);
        side.counts = numbers;
        numbers += count;
        if (side.displs == nullptr || keeps_displs) return;
        fits = fits && copy_as_int<MPI_Aint>(side.displs, count, numbers);
        side.displs = numbers;
        numbers += count;
    };
    if (lengths.send > 0) narrow(op.send, lengths.send);
    if (lengths.recv > 0) narrow(op.recv, lengths.recv);
    return fits ? MPI_SUCCESS : MPI_ERR_COUNT;
}

int copy_arrays(commtask_op& op, void*& copies) noexcept {
    array_lengths lengths;
    if (const int code = find_used_lengths(op, lengths); code != MPI_SUCCESS) return code;
    const bool are_ints = op.array_form == COMMTASK_COUNTS_INT;
    const std::size_t count_bytes = are_ints ? sizeof(int) : sizeof(MPI_Count);
    const std::size_t displ_bytes = are_ints ? sizeof(int) : sizeof(MPI_Aint);
    const std::size_t n_entries = static_cast<std::size_t>(lengths.send) + static_cast<std::size_t>(lengths.recv);
    if (n_entries == 0) return MPI_SUCCESS;
    auto* place = static_cast<std::byte*>(std::malloc(n_entries * (count_bytes + displ_bytes)));
    if (place == nullptr) return MPI_ERR_NO_MEM;
    copies = place;
    const auto copy = [&](const void*& array, int count, std::size_t entry_bytes) {
        if (array == nullptr || count == 0) return;
        const std::size_t bytes = static_cast<std::size_t>(count) * entry_bytes;
        std::memcpy(place, array, bytes);
        array = place;
        place += bytes;
    };
    // Counts first, for alignment: displacements may be narrower.
    copy(op.send.counts, lengths.send, count_bytes);
    copy(op.recv.counts, lengths.recv, count_bytes);
    copy(op.send.displs, lengths.send, displ_bytes);
    copy(op.recv.displs, lengths.recv, displ_bytes);
    return MPI_SUCCESS;
}

} // namespace commtask::detail
