// SPDX-License-Identifier: Apache-2.0
//
// Each thread remembers the queues of the last communicators that it used; a program has few, and a miss costs a lock and
// a search. Queues are only freed with the whole object, so a remembered one can be looked at even after its communicator
// is gone.
#include "mpi_comms.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <functional>

namespace commtask::detail {
namespace {

struct remembered {
    std::uint64_t epoch = 0;
    MPI_Comm comm{};
    comm_queue* queue = nullptr;
};

thread_local std::array<remembered, 8> remembered_queues;

[[nodiscard]] remembered& place_of(MPI_Comm comm) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &comm, sizeof comm);
    return remembered_queues[((bits >> 6U) ^ bits) % remembered_queues.size()];
}

std::atomic<std::uint64_t> epochs{0};

/// The other two end in MPI_Finalize, which may call commtask_finalize while it deletes their attributes: MPICH does not
/// survive that another one is deleted then.
[[nodiscard]] bool can_be_freed(MPI_Comm comm) noexcept { return comm != MPI_COMM_WORLD && comm != MPI_COMM_SELF; }

#ifdef OMPI_MAJOR_VERSION
/// Open MPI's handles are addresses: asking MPI about a freed one reads memory that is no longer its own, and may crash.
/// The table behind the handles of Fortran has the living ones. Once per communicator.
[[nodiscard]] bool is_alive(MPI_Comm comm) noexcept {
    constexpr MPI_Fint more_than_there_are = 1 << 18;
    for (MPI_Fint index = 0; index < more_than_there_are; ++index) {
        if (MPI_Comm_f2c(index) == comm) return true;
    }
    return false;
}
#else
/// MPICH's handles are numbers, which it checks itself, but for the one kind whose number says that MPI made it: of those
/// the program can have two, and of another MPICH aborts.
[[nodiscard]] bool is_alive(MPI_Comm comm) noexcept {
    constexpr unsigned kind = 0xfc000000;
    const auto bits = static_cast<unsigned>(comm);
    return (bits & kind) != (static_cast<unsigned>(MPI_COMM_WORLD) & kind) || !can_be_freed(comm);
}
#endif

} // namespace

mpi_comms::mpi_comms(mpi_error_handling& errors, lane& served_by)
    : errors_(errors), lane_(served_by), epoch_(epochs.fetch_add(1) + 1) {
    const errors_come_back scope;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &mpi_comms::on_free, &keyval_, this);
    void* bound = nullptr;
    int is_set = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&bound), &is_set);
    if (is_set != 0) tag_upper_bound_ = *static_cast<int*>(bound);
    comm_queue* self = nullptr;
    is_ready_ = add(MPI_COMM_WORLD, world_) == MPI_SUCCESS && add(MPI_COMM_SELF, self) == MPI_SUCCESS;
}

mpi_comms::~mpi_comms() {
    const errors_come_back scope;
    for (const auto& queue : queues_) {
        if (queue->is_closed.load(std::memory_order_relaxed)) continue;
        queue->is_closed.store(true, std::memory_order_relaxed); // the handlers are given back elsewhere
        if (can_be_freed(queue->comm)) MPI_Comm_delete_attr(queue->comm, keyval_);
    }
    MPI_Comm_free_keyval(&keyval_);
}

comm_queue* mpi_comms::find(MPI_Comm comm) noexcept {
    remembered& mine = place_of(comm);
    // acquire: partner of the release in on_free().
    if (mine.epoch == epoch_ && mine.comm == comm && !mine.queue->is_closed.load(std::memory_order_acquire)) {
        return mine.queue;
    }
    const std::lock_guard guard{mutex_};
    // acquire: partner of the release in on_free().
    for (const auto& queue : queues_) {
        if (queue->comm == comm && !queue->is_closed.load(std::memory_order_acquire)) {
            mine = {epoch_, comm, queue.get()};
            return queue.get();
        }
    }
    return nullptr;
}

int mpi_comms::add(MPI_Comm comm, comm_queue*& queue) noexcept {
    queue = find(comm);
    if (queue != nullptr) return MPI_SUCCESS;
    if (!is_alive(comm)) return MPI_ERR_COMM;
    const errors_come_back scope;
    auto made = std::make_unique<comm_queue>(comm, lane_);
    int is_intercommunicator = 0;
    int code = scope.code_of(MPI_Comm_test_inter(comm, &is_intercommunicator));
    if (code != MPI_SUCCESS) return code;
    made->is_intercommunicator = is_intercommunicator != 0;
    code = scope.code_of(made->is_intercommunicator ? MPI_Comm_remote_size(comm, &made->n_peers)
                                                    : MPI_Comm_size(comm, &made->n_peers));
    if (code != MPI_SUCCESS) return code;
    if (made->n_peers <= 0) return MPI_ERR_COMM; // MPI said success to a handler of the program's
    std::array<char, MPI_MAX_OBJECT_NAME> name{};
    int length = 0;
    if (MPI_Comm_get_name(comm, name.data(), &length) == MPI_SUCCESS) made->name.assign(name.data());
    if (made->name.empty()) made->name = "a communicator of " + std::to_string(made->n_peers);
    if (const int taken = errors_.take_over(comm); taken != MPI_SUCCESS) return taken;
    if (can_be_freed(comm)) {
        code = scope.code_of(MPI_Comm_set_attr(comm, keyval_, made.get()));
        if (code != MPI_SUCCESS) return code;
    }
    const std::lock_guard guard{mutex_};
    queue = made.get();
    queues_.push_back(std::move(made));
    return MPI_SUCCESS;
}

int mpi_comms::on_free(MPI_Comm comm, int /*keyval*/, void* queue, void* /*self*/) noexcept {
    // release: partner of the acquires in find().
    const bool was_closed = static_cast<comm_queue*>(queue)->is_closed.exchange(true, std::memory_order_release);
    if (!was_closed) mpi_error_handling::forget(comm);
    return MPI_SUCCESS;
}

} // namespace commtask::detail
