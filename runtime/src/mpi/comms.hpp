// SPDX-License-Identifier: Apache-2.0
//
// The queue of each communicator. Submitters find it without a lock; for the first task of a
// communicator, a progress thread queries the communicator once. An attribute's delete function
// closes the queue when the program frees the communicator. If MPI reuses the handle for another
// communicator, it is not taken for the old one. Closed queues are reused, so creating and freeing
// many communicators does not cost memory. This class also chooses the lane of a communicator, or
// its lanes.
#pragma once

#include "core/comm_queue.hpp"
#include "core/comm_striping.hpp"
#include "core/lane_set.hpp"
#include "mpi/comm_hints.hpp"
#include "mpi/errors.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace commtask::detail {

class mpi_comms {
public:
    using find_peers_function = std::function<std::unique_ptr<const node_peers>(MPI_Comm, bool is_intercommunicator)>;

    /// Calls MPI, on the thread that initialises. Registers MPI_COMM_WORLD and MPI_COMM_SELF.
    /// @param start_lane  called before a lane gets its first communicator; starts its worker. May
    /// throw std::system_error.
    /// @param find_peers  called by the progress thread: a communicator's ranks on this node;
    /// empty: the ranks have no doorbells
    mpi_comms(mpi_error_handling& errors, lane_set& lanes, std::function<void(std::size_t lane)> start_lane,
              find_peers_function find_peers);
    mpi_comms(const mpi_comms&) = delete;
    mpi_comms& operator=(const mpi_comms&) = delete;
    ~mpi_comms();

    /// Any thread. Null if the communicator is not registered, or freed.
    [[nodiscard]] comm_queue* find(MPI_Comm comm) noexcept;

    /// Any thread. By the number of the queue; null if no communicator has that queue now.
    [[nodiscard]] comm_queue* find_by_number(std::uint32_t number) noexcept;

    /// The caller does not choose a lane.
    static constexpr int any_lane = comm_hints::any_lane;

    /// A thread with a progress lock, or the thread that initialises. A registered communicator
    /// stays on its lane.
    /// @param lane  the lane for a new communicator, or comm_hints::by_thread
    /// @return an MPI error code; MPI_ERR_INFO_VALUE: the communicator's own COMMTASK_LANE_KEY
    /// names no lane
    [[nodiscard]] int add(MPI_Comm comm, comm_queue*& queue, int lane = any_lane) noexcept;

    /// With a progress lock. From here on each of the lanes at work serves the communicator's
    /// messages of some threads.
    /// @return an MPI error code: there is no memory, or no thread for a lane's worker
    [[nodiscard]] int stripe_by_thread(comm_queue& home) noexcept;
    /// With a progress lock. From here on each lane serves the messages of some ranks and tags,
    /// through a duplicate of its own.
    /// @param duplicates  registered already, each on its lane; owned by the library from here on.
    /// Empty: the communicator's own queue serves all messages
    [[nodiscard]] int stripe_by_message(comm_queue& home, const std::vector<MPI_Comm>& duplicates,
                                        message_promises promised) noexcept;

    /// A request to register a communicator, by a submitter that must not wait.
    struct registration_request {
        mpi_comms* asked;
        MPI_Comm comm;
        /// An MPI error code, once a progress thread has found that the communicator cannot be
        /// added.
        int result = MPI_ERR_PENDING;
        /// The request is repeated once: the first result may be outdated, since MPI reuses
        /// handles.
        bool is_second = false;
    };

    /// Any thread. Requests that a communicator is added.
    /// @param mine  the request, if it is new: the caller has a progress thread call serve() with
    /// it, or withdraws it
    /// @return MPI_ERR_PENDING; the reason why it cannot be added, returned to one caller;
    /// MPI_ERR_NO_MEM
    [[nodiscard]] int request_registration(MPI_Comm comm, registration_request*& mine) noexcept;
    /// With a progress lock. Adds the communicator, and removes the request if that succeeds.
    static void serve(registration_request& asked) noexcept;
    void take_back(const registration_request& asked) noexcept;

    /// With a progress lock. Undoes stripe_by_message() after a failure on another rank. The
    /// library does not free the duplicates then, since not all ranks have them.
    void forget_striping(comm_queue& home) noexcept;

    /// A thread with a progress lock, or the thread that frees the communicator. Closes the queue
    /// of a freed communicator that no task needs.
    void close_freed(comm_queue& freed) noexcept;

    /// The queue of tasks without a communicator.
    [[nodiscard]] comm_queue& world() noexcept { return *world_; }

    /// Whether the MPI calls of the constructor succeeded.
    [[nodiscard]] bool is_ready() const noexcept { return is_ready_; }

    [[nodiscard]] int tag_upper_bound() const noexcept { return tag_upper_bound_; }

private:
    static int on_free(MPI_Comm comm, int keyval, void* queue, void* self) noexcept;
    [[nodiscard]] int add_new(MPI_Comm comm, comm_queue*& queue, int lane);
    [[nodiscard]] std::size_t next_lane(MPI_Comm comm) noexcept;
    [[nodiscard]] comm_queue& closed_queue(std::size_t lane);
    void give_comm(comm_queue& made, MPI_Comm comm, int n_peers, bool is_intercommunicator, std::string name) noexcept;
    void put_away(comm_queue& closed) noexcept;
    void close(comm_queue& freed) noexcept;
    void retire(comm_queue& freed) noexcept;
    void end_striping(comm_queue& home) noexcept;

    mpi_error_handling& errors_;
    lane_set& lanes_;
    /// Distinguishes queues of this object in the threads' caches from queues of an earlier object.
    const std::uint64_t epoch_;
    int keyval_ = MPI_KEYVAL_INVALID;
    int tag_upper_bound_ = 32767;
    /// The index, in Open MPI's table, of the communicator that was added last.
    MPI_Fint last_index_ = 0;
    std::uint32_t n_traced_ = 0;
    bool is_ready_ = false;
    bool is_ending_ = false;
    const std::function<void(std::size_t)> start_lane_;
    const find_peers_function find_peers_;
    /// The progress threads of several lanes may add communicators. MPI is called with this mutex
    /// locked. No function that MPI calls locks it, except a user callback inside MPI that posts on
    /// a communicator that it has created.
    std::mutex adding_;
    /// Guards the members below. Never locked during an MPI call, since MPI calls on_free().
    std::mutex mutex_;
    std::vector<std::unique_ptr<comm_queue>> queues_;
    std::unordered_map<MPI_Comm, comm_queue*> open_; ///< Null: the communicator is being added.
    /// The queues of a lane that no communicator has, in FIFO order: the oldest is the most likely
    /// to be idle.
    struct closed_queues {
        comm_queue* first = nullptr;
        comm_queue* last = nullptr;
    };
    std::vector<closed_queues> closed_; ///< By lane.
    /// Communicators whose lane the program has not chosen.
    std::size_t n_chosen_ = 0;
    /// The library's own duplicates, in the order of their creation, which is the same on all
    /// ranks.
    std::vector<MPI_Comm> duplicates_;
    std::unordered_map<MPI_Comm, registration_request> requests_;
    comm_queue* world_ = nullptr;
};

} // namespace commtask::detail
