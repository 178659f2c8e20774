// SPDX-License-Identifier: Apache-2.0
//
// Copies lists and arrays as numbers, whatever their element type. An absent list is stored as an
// empty one, so that two operations of a kind have the same lists.
#include "api/list_snapshots.hpp"

#include "core/operation_traits.hpp"
#include "mpi/counts.hpp"
#include "mpi/errors.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

namespace commtask::detail {
namespace {

using lists = std::vector<list_snapshot>;

template <typename Entry>
void add(lists& to, const char* name, const void* entries, int count) {
    list_snapshot& made = to.emplace_back();
    made.name = name;
    if (entries == nullptr || count <= 0) return;
    const Entry* const first = static_cast<const Entry*>(entries);
    made.entries.assign(first, first + count);
}

void add_types(lists& to, const char* name, const MPI_Datatype* types, int count) {
    list_snapshot& made = to.emplace_back();
    made.name = name;
    made.are_handles = true;
    if (types == nullptr || count <= 0) return;
    made.entries.assign(static_cast<std::size_t>(count), 0);
    static_assert(sizeof *types <= sizeof made.entries[0]);
    for (std::size_t i = 0; i < made.entries.size(); ++i) std::memcpy(&made.entries[i], &types[i], sizeof types[i]);
}

struct names_of_arrays {
    const char* counts;
    const char* displacements;
    const char* types;
};

void add_arrays(lists& to, const names_of_arrays& names, const commtask_op& op, const commtask_side& side, int count) {
    const operation_traits& kind = operation_of(op.kind);
    const bool has_types = kind.counts == count_shape::typed_arrays;
    const bool are_ints = op.array_form == COMMTASK_COUNTS_INT;
    if (are_ints) {
        add<int>(to, names.counts, side.counts, count);
    } else {
        add<MPI_Count>(to, names.counts, side.counts, count);
    }
    // Displacements of typed neighborhood collectives are MPI_Aint in both forms.
    if (are_ints && !(has_types && kind.family == operation_family::neighborhood)) {
        add<int>(to, names.displacements, side.displs, count);
    } else {
        add<MPI_Aint>(to, names.displacements, side.displs, count);
    }
    if (has_types) add_types(to, names.types, side.types, count);
}

[[nodiscard]] lists lists_of(const commtask_op& op) {
    const operation_traits& kind = operation_of(op.kind);
    lists all;
    array_lengths n;
    if (kind.has_dests) add<int>(all, "dests", op.dests, n.send = op.peer);
    if (kind.has_sources) add<int>(all, "sources", op.sources, n.recv = op.source);
    if (!kind.has_arrays()) return all;
    const errors_return scope;
    // The run reports the error.
    if (!kind.has_dests && find_used_lengths(op, n) != MPI_SUCCESS) n = {};
    if (kind.has_send_arrays()) {
        add_arrays(all, {"send counts", "send displacements", "send datatypes"}, op, op.send, n.send);
    }
    if (kind.has_recv_arrays()) {
        add_arrays(all, {"receive counts", "receive displacements", "receive datatypes"}, op, op.recv, n.recv);
    }
    return all;
}

} // namespace

void snapshot_lists(commtask_plan_s& recorded) noexcept {
    try {
        recorded.lists.clear();
        for (std::size_t i = 0; i < recorded.n_posted(); ++i) {
            recorded.lists.push_back(lists_of(recorded.posted(i).op));
        }
    } catch (const std::bad_alloc&) {
        recorded.lists.clear();
    }
}

} // namespace commtask::detail
