// SPDX-License-Identifier: Apache-2.0
//
// Hash tables of handles with linear probing over a few entries. If none of these is free, the new
// key replaces an old one, since forgetting a key only costs another query. A freed handle is
// removed, since MPI may reuse its value.
#include "known.hpp"

#include "core/operation_traits.hpp"
#include "mpi/errors.hpp"
#include "sections.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

namespace commtask::interposer::known {
namespace {

class handle_set {
public:
    [[nodiscard]] bool has(std::uint64_t key) const noexcept {
        for (std::size_t i = 0; i < neighbours; ++i) {
            if (keys_[place(key, i)].load(std::memory_order_relaxed) == key) return true;
        }
        return false;
    }

    void add(std::uint64_t key) noexcept {
        if (has(key)) return;
        for (std::size_t i = 0; i < neighbours; ++i) {
            std::uint64_t free = 0;
            if (keys_[place(key, i)].compare_exchange_strong(free, key, std::memory_order_relaxed)) return;
        }
        keys_[place(key, 0)].store(key, std::memory_order_relaxed);
    }

    void remove(std::uint64_t key) noexcept {
        for (std::size_t i = 0; i < neighbours; ++i) {
            std::uint64_t found = key;
            keys_[place(key, i)].compare_exchange_strong(found, 0, std::memory_order_relaxed);
        }
    }

    void clear() noexcept {
        for (auto& key : keys_) key.store(0, std::memory_order_relaxed);
    }

private:
    static constexpr std::size_t size = 4096;
    static constexpr std::size_t neighbours = 4;
    [[nodiscard]] static std::size_t place(std::uint64_t key, std::size_t i) noexcept {
        constexpr std::uint64_t golden = 0x9e3779b97f4a7c15ULL;
        constexpr unsigned kept_bits = 12;
        return (((key * golden) >> (64U - kept_bits)) + i) % size;
    }

    std::array<std::atomic<std::uint64_t>, size> keys_{};
};

handle_set good_types;
handle_set good_reductions; // pairs of reduction and datatype

template <typename Handle>
[[nodiscard]] std::uint64_t key_of(Handle handle) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &handle, sizeof handle);
    return bits;
}

/// Whether the type is predefined, and so always committed. Other types become known in
/// MPI_Type_commit.
[[nodiscard]] bool is_predefined(MPI_Datatype type) noexcept {
    const detail::errors_return scope;
    const progress_section section;
    int n_integers = 0;
    int n_addresses = 0;
    int n_types = 0;
    int combiner = MPI_UNDEFINED;
    const int code = scope.code_of(MPI_Type_get_envelope(type, &n_integers, &n_addresses, &n_types, &combiner));
    return code == MPI_SUCCESS && combiner == MPI_COMBINER_NAMED;
}

/// Whether the block that a rank sends to itself is at the address where the rank receives it: MPI
/// rejects that at the call.
/// @param blocks  the side with a block for each rank, of a known type
/// @param own  the buffer of the other side
[[nodiscard]] bool shares_own_block(const commtask_op& op, const commtask_side& blocks, const void* own,
                                    int rank) noexcept {
    int is_intercommunicator = 0; // no rank of an intercommunicator sends to itself
    if (MPI_Comm_test_inter(op.comm, &is_intercommunicator) != MPI_SUCCESS) return true;
    if (is_intercommunicator != 0 || own == MPI_IN_PLACE || blocks.buffer == MPI_IN_PLACE) return false;
    MPI_Aint place = static_cast<MPI_Aint>(blocks.count) * rank;
    if (detail::operation_of(op.kind).has_arrays()) {
        if (blocks.displs == nullptr) return true;
        place = op.array_form == COMMTASK_COUNTS_INT ? static_cast<const int*>(blocks.displs)[rank]
                                                     : static_cast<const MPI_Aint*>(blocks.displs)[rank];
    }
    int type_bytes = 0;
    MPI_Type_size(blocks.type, &type_bytes);
    // The comparison that MPI makes; the buffer may be MPI_BOTTOM.
    return reinterpret_cast<std::intptr_t>(blocks.buffer) + place * type_bytes == reinterpret_cast<std::intptr_t>(own);
}

} // namespace

bool is_type_good(MPI_Datatype type) noexcept {
    if (type == MPI_DATATYPE_NULL) return false;
#ifndef OMPI_MAJOR_VERSION
    if (type == MPI_BYTE || type == MPI_DOUBLE || type == MPI_INT || type == MPI_CHAR) return true;
#endif
    if (good_types.has(key_of(type))) return true;
    if (!is_predefined(type)) return false;
    good_types.add(key_of(type));
    return true;
}

bool is_reduction_good(MPI_Op reduction, MPI_Datatype type) noexcept {
    constexpr std::uint64_t odd = 0xc2b2ae3d27d4eb4fULL;
    const std::uint64_t key = (key_of(reduction) * odd) ^ key_of(type);
    if (good_reductions.has(key)) return true;
    if (reduction == MPI_OP_NULL || reduction == MPI_REPLACE || reduction == MPI_NO_OP) return false;
    const detail::errors_return scope;
    const progress_section section;
    std::array<long double, 8> nothing{};
    const int code = scope.code_of(MPI_Reduce_local(nothing.data(), &nothing[4], 0, type, reduction));
    if (code != MPI_SUCCESS) return false;
    good_reductions.add(key);
    return true;
}

bool are_arguments_good(const commtask_op& op) noexcept {
    // A reduction has one datatype, on its receive side. An unused datatype of the operation has
    // all bits zero.
    const detail::operation_traits& kind = detail::operation_of(op.kind);
    using family = detail::operation_family;
    if (!kind.has_send_side && !kind.has_recv_side) return true;
    if (!kind.has_recv_side) return is_type_good(op.send.type);
    if (!kind.has_send_side) return is_type_good(op.recv.type);
    if (op.send.buffer == op.recv.buffer && op.send.buffer != nullptr) return false;
    if (kind.family == family::reduction) {
        return is_type_good(op.recv.type) && is_reduction_good(op.reduction, op.recv.type);
    }
    if (kind.family == family::exchange) return is_type_good(op.send.type) && is_type_good(op.recv.type);
    if (kind.family != family::gather && kind.family != family::scatter) {
        return (op.send.buffer == MPI_IN_PLACE || is_type_good(op.send.type)) && is_type_good(op.recv.type);
    }
    int rank = MPI_PROC_NULL;
    const detail::errors_return scope;
    if (scope.code_of(MPI_Comm_rank(op.comm, &rank)) != MPI_SUCCESS) return false;
    // MPI ignores a side that is in place, or significant only at the root: its datatype may have
    // any value.
    const bool sends = kind.family == family::scatter;
    const bool is_root = !kind.has_root || op.peer == rank || op.peer == MPI_ROOT;
    const bool uses_send = (!sends || is_root) && op.send.buffer != MPI_IN_PLACE;
    const bool uses_recv = (sends || is_root) && op.recv.buffer != MPI_IN_PLACE;
    if ((uses_send && !is_type_good(op.send.type)) || (uses_recv && !is_type_good(op.recv.type))) return false;
    const commtask_side& blocks = sends ? op.send : op.recv;
    return !is_root || !shares_own_block(op, blocks, sends ? op.recv.buffer : op.send.buffer, rank);
}

void type_was_committed(MPI_Datatype type) noexcept { good_types.add(key_of(type)); }
void type_is_freed(MPI_Datatype type) noexcept { good_types.remove(key_of(type)); }
void operation_is_freed() noexcept { good_reductions.clear(); }

} // namespace commtask::interposer::known
