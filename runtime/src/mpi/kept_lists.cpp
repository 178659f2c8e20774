// SPDX-License-Identifier: Apache-2.0
//
// The memory of a task for handles and lists: the kept datatypes, then the descriptors of long
// lists, then the copies. It is allocated once for each slot and size. With COMMTASK_CHECK=1 MPI
// uses the copies of long lists too, so that a wrong program completes and gets an error message.
#include "mpi/kept_lists.hpp"

#include "base/log.hpp"
#include "core/operation_traits.hpp"
#include "mpi/many.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <new>

namespace commtask::detail {
namespace {

/// A list argument of an operation.
struct argument_list {
    const char* name;
    const void* first;
    void* field; ///< The member of the operation that points to the list.
    std::size_t entry_bytes;
    int count;
    bool has_numbers; ///< Otherwise the list has datatypes.
    bool is_long;     ///< The program keeps the list until the operation has ended.
};

/// A note about a long list.
struct list_copy {
    const char* name;
    const void* programs;
    const std::byte* copy;
    std::size_t entry_bytes;
    std::size_t count;
    bool has_numbers;
};

constexpr std::size_t alignment = alignof(std::max_align_t);
[[nodiscard]] constexpr std::size_t aligned(std::size_t bytes) noexcept {
    return (bytes + alignment - 1) / alignment * alignment;
}

/// Calls `visit(argument_list)` for each non-empty list.
template <typename Visit>
void visit_lists(commtask_op& op, const comm_queue& queue, Visit&& visit) noexcept {
    const operation_traits& kind = operation_of(op.kind);
    const auto add = [&](const char* name, auto& field, std::size_t entry_bytes, int count, bool has_numbers = true) {
        if (count > 0 && field != nullptr) {
            const bool is_long = count > longest_copied_list && !kind.has_dests;
            visit(argument_list{name, field, &field, entry_bytes, count, has_numbers, is_long});
        }
    };
    if (kind.has_dests) add("dests", op.dests, sizeof(int), op.peer);
    if (kind.has_sources) add("sources", op.sources, sizeof(int), op.source);
    if (!kind.has_arrays()) return;
    const array_lengths n = list_lengths(op, queue);
    const bool are_ints = op.array_form == COMMTASK_COUNTS_INT;
    const bool has_types = kind.counts == count_shape::typed_arrays;
    const bool are_int_displs = are_ints && !(has_types && kind.family == operation_family::neighborhood);
    const auto add_side = [&](commtask_side& side, int count, std::array<const char*, 3> names) {
        add(names[0], side.counts, are_ints ? sizeof(int) : sizeof(MPI_Count), count);
        add(names[1], side.displs, are_int_displs ? sizeof(int) : sizeof(MPI_Aint), count);
        if (has_types) add(names[2], side.types, sizeof(MPI_Datatype), count, false);
    };
    if (kind.has_send_arrays()) add_side(op.send, n.send, {"send_counts", "send_displs", "send_types"});
    if (kind.has_recv_arrays()) add_side(op.recv, n.recv, {"recv_counts", "recv_displs", "recv_types"});
}

[[nodiscard]] long long number_at(const std::byte* entry, std::size_t entry_bytes) noexcept {
    if (entry_bytes == sizeof(int)) {
        int number = 0;
        std::memcpy(&number, entry, sizeof number);
        return number;
    }
    static_assert(sizeof(MPI_Count) == sizeof(long long) && sizeof(MPI_Aint) == sizeof(long long));
    long long number = 0;
    std::memcpy(&number, entry, sizeof number);
    return number;
}

} // namespace

array_lengths list_lengths(const commtask_op& op, const comm_queue& queue) noexcept {
    const operation_traits& kind = operation_of(op.kind);
    if (kind.has_dests) return {op.peer, op.source};
    array_lengths n{queue.n_peers, queue.n_peers};
    if (kind.family == operation_family::neighborhood) {
        n = {queue.shape.n_dests, queue.shape.n_sources};
    } else if (kind.family == operation_family::reduction) {
        n = {queue.shape.n_members, queue.shape.n_members};
    } else if (kind.has_root && op.peer != (queue.is_intercommunicator ? MPI_ROOT : queue.shape.rank)) {
        n = {};
    }
    if (op.send.buffer == MPI_IN_PLACE || !kind.has_send_arrays()) n.send = 0;
    if (!kind.has_recv_arrays()) n.recv = 0;
    return n;
}

bool keep_lists(task& made, std::size_t n_types, bool copies_long) noexcept {
    std::size_t bytes = aligned(n_types * sizeof(void*));
    std::size_t n_snapshots = 0;
    visit_lists(made.op, *made.queue, [&](const argument_list& each) {
        if (each.is_long && !copies_long) return;
        n_snapshots += each.is_long ? 1U : 0U;
        bytes += aligned(static_cast<std::size_t>(each.count) * each.entry_bytes);
    });
    const std::size_t snapshots_at = aligned(n_types * sizeof(void*));
    bytes += aligned(n_snapshots * sizeof(list_copy));
    if (bytes == 0) return true;
    if (bytes > made.room_bytes) {
        bytes = std::bit_ceil(bytes); // for lists of other lengths to come
        if (bytes > UINT32_MAX) return false;
        made.room.reset(new (std::nothrow) std::byte[bytes]);
        made.room_bytes = made.room != nullptr ? static_cast<std::uint32_t>(bytes) : 0;
        if (made.room == nullptr) return false;
    }
    std::byte* place = made.room.get() + snapshots_at + aligned(n_snapshots * sizeof(list_copy));
    std::byte* note = made.room.get() + snapshots_at;
    visit_lists(made.op, *made.queue, [&](const argument_list& each) {
        if (each.is_long && !copies_long) return;
        const auto count = static_cast<std::size_t>(each.count);
        std::memcpy(place, each.first, count * each.entry_bytes);
        if (each.is_long) {
            ::new (note) list_copy{each.name, each.first, place, each.entry_bytes, count, each.has_numbers};
            note += sizeof(list_copy);
        }
        std::memcpy(each.field, &place, sizeof place); // a pointer to any element type
        place += aligned(count * each.entry_bytes);
    });
    made.snapshots_at = static_cast<std::uint32_t>(snapshots_at);
    made.n_snapshots = static_cast<std::uint32_t>(n_snapshots);
    if (n_snapshots > 0) made.op.reserved |= static_cast<int>(flag_has_snapshots);
    return true;
}

bool has_changed_lists(const task& ended) noexcept {
    const auto* const lists = reinterpret_cast<const list_copy*>(ended.room.get() + ended.snapshots_at);
    for (std::uint32_t i = 0; i < ended.n_snapshots; ++i) {
        const list_copy& each = lists[i];
        const auto* const now = static_cast<const std::byte*>(each.programs);
        for (std::size_t entry = 0; entry < each.count; ++entry) {
            const std::size_t at = entry * each.entry_bytes;
            if (std::memcmp(now + at, each.copy + at, each.entry_bytes) == 0) continue;
            const char* const kind = operation_of(ended.op.kind).name;
            if (each.has_numbers) {
                say("%s on %s: the program changed %s[%zu] from %lld to %lld before the operation had ended; lists of "
                    "more than %d entries must not change until then",
                    kind, ended.queue->name.c_str(), each.name, entry, number_at(each.copy + at, each.entry_bytes),
                    number_at(now + at, each.entry_bytes), longest_copied_list);
            } else {
                say("%s on %s: the program changed %s[%zu] before the operation had ended; lists of more than %d "
                    "entries must not change until then",
                    kind, ended.queue->name.c_str(), each.name, entry, longest_copied_list);
            }
            return true;
        }
    }
    return false;
}

} // namespace commtask::detail
