// SPDX-License-Identifier: Apache-2.0
//
// Each thread caches the queues of the communicators that it used last. A program has few
// communicators, and a miss costs a lock and a hash lookup. Queues are freed only with the whole
// object, so a thread may read a cached queue even after its communicator was freed: the queue's
// life says whether the entry is still valid.
#include "mpi/comms.hpp"

#include "base/printable.hpp"
#include "mpi/counts.hpp"
#include "mpi/kept_handles.hpp"
#include "mpi/trace_comm.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <utility>

namespace commtask::detail {
namespace {

struct remembered {
    std::uint64_t epoch = 0;
    MPI_Comm comm{};
    comm_queue* queue = nullptr;
    std::uint64_t life = 0;
};

thread_local std::array<remembered, 8> remembered_queues;

[[nodiscard]] remembered& place_of(MPI_Comm comm) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &comm, sizeof comm);
    return remembered_queues[((bits >> 6U) ^ bits) % remembered_queues.size()];
}

std::atomic<std::uint64_t> epochs{0};
std::atomic<std::uint32_t> queue_numbers{0};

/// MPI_COMM_WORLD and MPI_COMM_SELF end in MPI_Finalize, which may call commtask_finalize while it
/// deletes their attributes. MPICH crashes if another attribute is deleted then.
[[nodiscard]] bool can_be_freed(MPI_Comm comm) noexcept { return comm != MPI_COMM_WORLD && comm != MPI_COMM_SELF; }

#ifdef OMPI_MAJOR_VERSION
/// Open MPI's handles are addresses: a call with a freed handle reads memory that MPI no longer
/// owns, and may crash. The table of Fortran handles contains the valid communicators. Called once
/// per communicator.
/// @param near  the index of the last communicator found: the next one is close to it
[[nodiscard]] bool is_alive(MPI_Comm comm, MPI_Fint& near) noexcept {
    constexpr MPI_Fint more_than_there_are = 1 << 18;
    if (comm == nullptr) return false;
    for (MPI_Fint distance = 0; distance < more_than_there_are; ++distance) {
        for (const MPI_Fint index : {near + distance, near - distance}) {
            if (index < 0 || MPI_Comm_f2c(index) != comm) continue;
            near = index;
            return true;
        }
    }
    return false;
}
#else
/// MPICH's handles are integers, which MPICH checks itself. The exception is the kind of handle
/// that MPI creates in MPI_Init: a program can have two of these, and MPICH aborts for any other.
[[nodiscard]] bool is_alive(MPI_Comm comm, MPI_Fint& /*near*/) noexcept {
    constexpr unsigned kind = 0xfc000000;
    const auto bits = static_cast<unsigned>(comm);
    return (bits & kind) != (static_cast<unsigned>(MPI_COMM_WORLD) & kind) || !can_be_freed(comm);
}
#endif

} // namespace

mpi_comms::mpi_comms(mpi_error_handling& errors, lane_set& lanes, std::function<void(std::size_t lane)> start_lane,
                     find_peers_function find_peers)
    : errors_(errors), lanes_(lanes), epoch_(epochs.fetch_add(1) + 1), start_lane_(std::move(start_lane)),
      find_peers_(std::move(find_peers)), closed_(lanes.size()) {
    const errors_return scope;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &mpi_comms::on_free, &keyval_, this);
    void* bound = nullptr;
    int is_set = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&bound), &is_set);
    if (is_set != 0) tag_upper_bound_ = *static_cast<int*>(bound);
    comm_queue* self = nullptr;
    is_ready_ = add(MPI_COMM_WORLD, world_) == MPI_SUCCESS && add(MPI_COMM_SELF, self) == MPI_SUCCESS;
}

mpi_comms::~mpi_comms() {
    const errors_return scope;
    is_ending_ = true; // ~mpi_error_handling() restores the error handlers
    for (const auto& [comm, queue] : open_) {
        if (can_be_freed(comm)) MPI_Comm_delete_attr(comm, keyval_);
    }
    MPI_Comm_free_keyval(&keyval_);
    for (MPI_Comm& each : duplicates_) {
        mpi_error_handling::forget(each);
        MPI_Comm_free(&each);
    }
}

comm_queue* mpi_comms::find(MPI_Comm comm) noexcept {
    remembered& mine = place_of(comm);
    if (mine.epoch == epoch_ && mine.comm == comm && mine.queue->life() == mine.life) return mine.queue;
    const std::lock_guard guard{mutex_};
    const auto found = open_.find(comm);
    if (found == open_.end() || found->second == nullptr) return nullptr;
    mine = {epoch_, comm, found->second, found->second->life()};
    return found->second;
}

comm_queue* mpi_comms::find_by_number(std::uint32_t number) noexcept {
    const std::lock_guard guard{mutex_};
    // queues_ is in the order of the numbers.
    const auto found = std::ranges::lower_bound(queues_, number, {}, [](const auto& each) { return each->number; });
    return found == queues_.end() || (*found)->number != number || !(*found)->is_open() ? nullptr : found->get();
}

int mpi_comms::add(MPI_Comm comm, comm_queue*& queue, int lane) noexcept {
    queue = find(comm);
    if (queue != nullptr) return MPI_SUCCESS;
    const std::lock_guard one_at_a_time{adding_};
    queue = find(comm); // the progress thread of another lane may have added it
    if (queue != nullptr) return MPI_SUCCESS;
    if (!is_alive(comm, last_index_)) return MPI_ERR_COMM;
    try {
        return add_new(comm, queue, lane);
    } catch (const std::exception&) { // no memory, or no thread for the lane's worker
        const std::lock_guard guard{mutex_};
        open_.erase(comm);
        return MPI_ERR_NO_MEM;
    }
}

/// MPI_COMM_WORLD and MPI_COMM_SELF are on the first lane: most programs use them for few
/// operations.
std::size_t mpi_comms::next_lane(MPI_Comm comm) noexcept {
    return can_be_freed(comm) ? ++n_chosen_ % lanes_.n_at_work() : 0;
}

int mpi_comms::add_new(MPI_Comm comm, comm_queue*& queue, int lane) {
    const errors_return scope;
    int is_intercommunicator = 0;
    int n_peers = 0;
    int code = scope.code_of(MPI_Comm_test_inter(comm, &is_intercommunicator));
    if (code != MPI_SUCCESS) return code;
    code =
        scope.code_of(is_intercommunicator != 0 ? MPI_Comm_remote_size(comm, &n_peers) : MPI_Comm_size(comm, &n_peers));
    if (code != MPI_SUCCESS) return code;
    // MPI returned success after it called an error handler of the program.
    if (n_peers <= 0) return MPI_ERR_COMM;
    std::array<char, MPI_MAX_OBJECT_NAME> chars{};
    int length = 0;
    std::string name;
    if (MPI_Comm_get_name(comm, chars.data(), &length) == MPI_SUCCESS) name = printable(chars.data());
    if (name.empty()) name = "a communicator of " + std::to_string(n_peers) + (n_peers == 1 ? " rank" : " ranks");

    if (lane == any_lane && lanes_.size() > 1 && can_be_freed(comm)) lane = lane_asked_for(comm);
    const bool is_by_thread = lane == comm_hints::by_thread;
    if (is_by_thread) lane = any_lane;
    if (lane != any_lane && !lanes_.has(lane)) return MPI_ERR_INFO_VALUE;
    const std::size_t number = lane == any_lane ? next_lane(comm) : static_cast<std::size_t>(lane);
    start_lane_(number);
    comm_queue* made = nullptr;
    {
        const std::lock_guard guard{mutex_};
        // The entry is made now, so that filling it below needs no memory.
        open_.try_emplace(comm, nullptr);
        made = &closed_queue(number);
    }
    give_comm(*made, comm, n_peers, is_intercommunicator != 0, std::move(name));
    made->may_be_freed = can_be_freed(comm);
    made->owner = this;
    MPI_Comm_rank(comm, &made->shape.rank);
    MPI_Comm_size(comm, &made->shape.n_members);
    array_lengths neighbors;
    // A communicator without a topology has no neighbors.
    static_cast<void>(scope.code_of(find_neighbors(comm, neighbors)));
    made->shape.n_sources = neighbors.recv;
    made->shape.n_dests = neighbors.send;
    if (tracer* const records = tracer::current()) {
        made->trace_number = ++n_traced_;
        record_communicator(*records, comm, made->trace_number, made->name, made->is_intercommunicator);
    }
    int error = can_be_freed(comm) ? scope.code_of(MPI_Comm_set_attr(comm, keyval_, made)) : MPI_SUCCESS;
    if (error == MPI_SUCCESS) {
        error = errors_.take_over(comm);
        if (error != MPI_SUCCESS && can_be_freed(comm)) {
            MPI_Comm_delete_attr(comm, keyval_); // closes the queue
            return error;
        }
    }
    if (error != MPI_SUCCESS) {
        close(*made);
        return error;
    }
    made->open();
    // If memory for striping is exhausted, one lane serves all messages.
    if (is_by_thread) static_cast<void>(stripe_by_thread(*made));
    const std::lock_guard guard{mutex_};
    open_.find(comm)->second = queue = made;
    const auto asked = requests_.find(comm);
    // The result of that request is outdated.
    if (asked != requests_.end() && asked->second.result != MPI_ERR_PENDING) requests_.erase(asked);
    return MPI_SUCCESS;
}

/// Writes the communicator into a queue that is not open yet.
void mpi_comms::give_comm(comm_queue& made, MPI_Comm comm, int n_peers, bool is_intercommunicator,
                          std::string name) noexcept {
    made.comm = comm;
    made.n_peers = n_peers;
    made.is_intercommunicator = is_intercommunicator;
    made.name = std::move(name);
    made.node_before = std::move(made.node);
    made.node = find_peers_ ? find_peers_(comm, is_intercommunicator) : nullptr;
}

/// A queue without a communicator. With mutex_ locked.
comm_queue& mpi_comms::closed_queue(std::size_t lane) {
    closed_queues& closed = closed_[lane];
    // A queue with a ticket that was never used stays busy, and goes to the end of the list; the
    // next queue is tried.
    for (int n_tries = 0; n_tries < 2 && closed.first != nullptr; ++n_tries) {
        comm_queue& first = *closed.first;
        closed.first = first.next_closed;
        if (first.is_idle()) return first;
        put_away(first);
    }
    queues_.push_back(std::make_unique<comm_queue>(lanes_[lane], queue_numbers.fetch_add(1) + 1));
    return *queues_.back();
}

void mpi_comms::put_away(comm_queue& closed) noexcept {
    closed_queues& of_lane = closed_[closed.served_by->number()];
    closed.next_closed = nullptr;
    (of_lane.first == nullptr ? of_lane.first : of_lane.last->next_closed) = &closed;
    of_lane.last = &closed;
}

void mpi_comms::close(comm_queue& freed) noexcept {
    {
        const std::lock_guard guard{mutex_};
        open_.erase(freed.comm);
    }
    retire(freed);
}

/// Closes a queue that is not in the table of communicators.
void mpi_comms::retire(comm_queue& freed) noexcept {
    const std::lock_guard guard{mutex_};
    if (freed.is_open()) freed.close();
    put_away(freed);
}

int mpi_comms::on_free(MPI_Comm comm, int /*keyval*/, void* queue, void* self) noexcept {
    auto& mine = *static_cast<mpi_comms*>(self);
    if (mine.is_ending_) return MPI_SUCCESS;
    mpi_error_handling::forget(comm);
    auto& freed = *static_cast<comm_queue*>(queue);
    if (!kept_handles::closes_later(freed)) mine.close_freed(freed);
    return MPI_SUCCESS;
}

void mpi_comms::close_freed(comm_queue& freed) noexcept {
    end_striping(freed);
    close(freed);
}

int mpi_comms::request_registration(MPI_Comm comm, registration_request*& mine) noexcept {
    try {
        const std::lock_guard guard{mutex_};
        const auto [entry, is_new] = requests_.try_emplace(comm, registration_request{this, comm});
        registration_request& asked = entry->second;
        if (is_new) mine = &asked;
        const int result = asked.result;
        if (result == MPI_ERR_PENDING) return result;
        if (asked.is_second) {
            requests_.erase(entry);
            return result;
        }
        asked.result = MPI_ERR_PENDING;
        asked.is_second = true;
        mine = &asked;
        return MPI_ERR_PENDING;
    } catch (const std::bad_alloc&) {
        return MPI_ERR_NO_MEM;
    }
}

void mpi_comms::serve(registration_request& asked) noexcept {
    comm_queue* queue = nullptr;
    const int code = asked.asked->add(asked.comm, queue);
    if (code == MPI_SUCCESS) return asked.asked->take_back(asked);
    const std::lock_guard guard{asked.asked->mutex_};
    asked.result = code;
}

void mpi_comms::take_back(const registration_request& asked) noexcept {
    const std::lock_guard guard{mutex_};
    requests_.erase(asked.comm);
}

} // namespace commtask::detail
