// SPDX-License-Identifier: Apache-2.0
//
// A contiguous datatype of one element refers to its element as long as it exists, since
// MPI_Type_get_contents must return it. Unlike a duplicate it copies no attributes, and need not be
// committed. A persistent receive that is never started refers to its communicator.
#include "mpi/kept_handles.hpp"

#include "core/operation_traits.hpp"
#include "mpi/comms.hpp"
#include "mpi/errors.hpp"
#include "mpi/kept_lists.hpp"
#include "mpi/made_types.hpp"
#include "mpi/many.hpp"

#include <cstring>
#include <new>
#include <utility>

namespace commtask::detail {
namespace {

/// Guards the references of all queues. Locked when the first task of a communicator arrives, and
/// when the last has ended.
std::mutex lock_of_references;

[[nodiscard]] bool has_types(const operation_traits& kind) noexcept { return kind.counts != count_shape::none; }

/// Calls `visit(type)` for each datatype that MPI reads on this rank and that the program may free.
template <typename Visit>
void visit_types(const commtask_op& op, const comm_queue& queue, Visit&& visit) noexcept {
    const operation_traits& kind = operation_of(op.kind);
    if (!has_types(kind)) return;
    if (kind.counts == count_shape::typed_arrays) {
        const array_lengths n = list_lengths(op, queue);
        const auto visit_all = [&](const commtask_side& side, int count) {
            for (int i = 0; i < count; ++i) {
                const auto at = static_cast<std::size_t>(i);
                if (count_at(op, side.counts, at) != 0 && may_be_made(side.types[at])) visit(side.types[at]);
            }
        };
        if (op.send.types != nullptr && op.send.counts != nullptr) visit_all(op.send, n.send);
        if (op.recv.types != nullptr && op.recv.counts != nullptr) visit_all(op.recv, n.recv);
        return;
    }
    for (const commtask_side* const side : {&op.send, &op.recv}) {
        if (may_be_made(side->type) && has_type_here(op, queue, *side)) visit(side->type);
    }
}

} // namespace

bool has_type_here(const commtask_op& op, const comm_queue& queue, const commtask_side& side) noexcept {
    const operation_traits& kind = operation_of(op.kind);
    if (side.buffer == MPI_IN_PLACE) return false;
    if (!kind.has_root) return true;
    const bool gathers = kind.family == operation_family::gather;
    const bool scatters = kind.family == operation_family::scatter;
    const bool is_roots = (gathers && &side == &op.recv) || (scatters && &side == &op.send);
    if (queue.is_intercommunicator) {
        return op.peer != MPI_PROC_NULL && ((!gathers && !scatters) || is_roots == (op.peer == MPI_ROOT));
    }
    return !is_roots || op.peer == queue.shape.rank;
}

kept_handles::~kept_handles() {
    while (unused_ != nullptr) delete std::exchange(unused_, unused_->next);
}

std::size_t kept_handles::count_types(const commtask_op& op, const comm_queue& queue) noexcept {
    std::size_t count = 0;
    visit_types(op, queue, [&](MPI_Datatype /*type*/) { ++count; });
    return count;
}

std::uint32_t kept_handles::keep_types(const commtask_op& op, const comm_queue& queue,
                                       std::span<kept_type*> into) noexcept {
    std::uint32_t count = 0;
    visit_types(op, queue, [&](MPI_Datatype type) {
        if (count == into.size()) return; // the program has changed a long list of datatypes
        if (kept_type* const kept = keep_type(type)) into[count++] = kept;
    });
    return count;
}

void kept_handles::drop_types(std::span<kept_type* const> kept) noexcept {
    for (kept_type* const each : kept) drop_type(*each);
}

kept_type*& kept_handles::bucket_of(MPI_Datatype type) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &type, sizeof type);
    return buckets_[((bits >> 6U) ^ bits) % buckets_.size()];
}

/// With `lock_` locked. @return null: no open task uses the datatype
kept_type* kept_handles::take_known(MPI_Datatype type) noexcept {
    for (kept_type* each = bucket_of(type); each != nullptr; each = each->next) {
        if (each->type != type) continue;
        ++each->n_users;
        return each;
    }
    return nullptr;
}

kept_type* kept_handles::keep_type(MPI_Datatype type) noexcept {
    {
        const std::lock_guard guard{lock_};
        if (kept_type* const known = take_known(type)) return known;
    }
    const errors_return errors;
    MPI_Datatype reference = MPI_DATATYPE_NULL;
    if (errors.code_of(MPI_Type_contiguous(1, type, &reference)) != MPI_SUCCESS) return nullptr;
    kept_type* made = nullptr;
    {
        const std::lock_guard guard{lock_};
        made = take_known(type); // another thread may have added it
        if (made == nullptr) {
            made = unused_ != nullptr ? std::exchange(unused_, unused_->next) : new (std::nothrow) kept_type;
            if (made != nullptr) {
                kept_type*& first = bucket_of(type);
                *made = {type, std::exchange(reference, MPI_DATATYPE_NULL), 1, first};
                first = made;
            }
        }
    }
    if (reference != MPI_DATATYPE_NULL) MPI_Type_free(&reference);
    return made;
}

void kept_handles::drop_type(kept_type& kept) noexcept {
    MPI_Datatype reference = MPI_DATATYPE_NULL;
    {
        const std::lock_guard guard{lock_};
        if (--kept.n_users > 0) return;
        kept_type** at = &bucket_of(kept.type);
        while (*at != nullptr && *at != &kept) at = &(*at)->next;
        if (*at == nullptr) return; // it belongs to an earlier context, which has abandoned it
        *at = kept.next;
        reference = kept.reference;
        kept.next = std::exchange(unused_, &kept);
    }
    const errors_return errors;
    MPI_Type_free(&reference);
}

void kept_handles::keep_comm(comm_queue& queue) noexcept {
    // acq_rel: partner of the decrement in drop_comm(). Only the first thread creates the
    // reference; others rely on it: the program does not free a communicator while another thread
    // posts on it.
    if (queue.n_users.fetch_add(1, std::memory_order_acq_rel) > 0) return;
    {
        const std::lock_guard guard{lock_of_references};
        if (queue.has_reference) return;
    }
    const errors_return errors;
    MPI_Request made = MPI_REQUEST_NULL;
    if (errors.code_of(MPI_Recv_init(nullptr, 0, MPI_BYTE, 0, 0, queue.comm, &made)) != MPI_SUCCESS) return;
    {
        const std::lock_guard guard{lock_of_references};
        if (!queue.has_reference) {
            queue.has_reference = true;
            std::swap(queue.reference, made);
            return;
        }
    }
    MPI_Request_free(&made);
}

void kept_handles::drop_comm(comm_queue& queue) noexcept {
    // acq_rel: partner of the increment in keep_comm().
    if (queue.n_users.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    MPI_Request reference{};
    bool is_freed = false;
    {
        const std::lock_guard guard{lock_of_references};
        // acquire: partner of keep_comm(). A thread that has posted in the meantime relies on the
        // reference.
        if (!queue.has_reference || queue.n_users.load(std::memory_order_acquire) > 0) return;
        queue.has_reference = false;
        std::swap(queue.reference, reference);
        is_freed = std::exchange(queue.is_freed, false);
    }
    const errors_return errors;
    // If the program has freed the communicator, MPICH frees it now, and closes its queue.
    MPI_Request_free(&reference);
    if (is_freed) queue.owner->close_freed(queue);
}

bool kept_handles::closes_later(comm_queue& queue) noexcept {
    const std::lock_guard guard{lock_of_references};
    queue.is_freed = queue.has_reference;
    return queue.is_freed;
}

void kept_handles::keep(task& which) noexcept {
    const comm_queue& queue = *which.queue;
    which.kept = 0;
    if (const std::size_t most = which.n_kept_types; most > 0) {
        kept_type** const first = ::new (static_cast<void*>(which.room.get())) kept_type*[most]();
        which.n_kept_types = keep_types(which.op, queue, {first, most});
        if (which.n_kept_types > 0) which.kept |= kept_types;
    }
    if (needs_comm(which.op, queue)) {
        keep_comm(*which.queue);
        which.kept |= kept_comm;
    }
}

void kept_handles::let_go(task& which) noexcept {
    if (which.kept == 0) return; // avoids a write to the submitter's cache line
    if ((which.kept & kept_types) != 0) drop_types(kept_types_of(which));
    if ((which.kept & kept_comm) != 0) drop_comm(*which.queue);
    which.kept = 0;
}

} // namespace commtask::detail
