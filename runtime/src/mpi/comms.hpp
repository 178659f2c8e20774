// SPDX-License-Identifier: Apache-2.0
//
// Which queue belongs to a communicator. Submitters look it up without a lock; the first task of a communicator makes the
// worker look at it once. A communicator that the program frees tells us through an attribute whose delete function closes
// the queue, so that its handle, used again by MPI for another communicator, is not taken for the old one. Closed queues are
// used again: what communicators that come and go cost does not grow. A communicator's lane is chosen here, or its lanes.
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

    /// Calls MPI: on the thread that initialises. Registers MPI_COMM_WORLD and MPI_COMM_SELF.
    /// @param start_lane  called before a lane gets its first communicator: gives it a worker. May throw std::system_error.
    /// @param find_peers  by the progress thread: a communicator's ranks on this node; empty: they have no doorbells
    mpi_comms(mpi_error_handling& errors, lane_set& lanes, std::function<void(std::size_t lane)> start_lane,
              find_peers_function find_peers);
    mpi_comms(const mpi_comms&) = delete;
    mpi_comms& operator=(const mpi_comms&) = delete;
    ~mpi_comms();

    /// Any thread. Null if the communicator is not registered, or freed.
    [[nodiscard]] comm_queue* find(MPI_Comm comm) noexcept;

    /// Any thread. By its own number; null if no communicator has it now.
    [[nodiscard]] comm_queue* find_by_number(std::uint32_t number) noexcept;

    /// Who says nothing about the lane of a communicator.
    static constexpr int any_lane = comm_hints::any_lane;

    /// A driver, or the thread that initialises. One that is known already stays on its lane.
    /// @param lane  which one is to serve it; or comm_hints::by_thread
    /// @return an MPI error code; MPI_ERR_INFO_VALUE: the communicator's own COMMTASK_LANE_KEY names no lane
    [[nodiscard]] int add(MPI_Comm comm, comm_queue*& queue, int lane = any_lane) noexcept;

    /// A driver. From now on the lanes at work serve the communicator's messages, each those of some threads.
    /// @return an MPI error code: there is no memory, or no thread for a lane's worker
    [[nodiscard]] int stripe_by_thread(comm_queue& home) noexcept;
    /// A driver. The same, each the messages of some ranks and tags, by a duplicate of its own.
    /// @param duplicates  registered already, each on its lane; they are the library's from now on. None: its own queue serves all
    [[nodiscard]] int stripe_by_message(comm_queue& home, const std::vector<MPI_Comm>& duplicates,
                                        message_promises promised) noexcept;

    /// What a submitter that must not wait has asked about a communicator.
    struct question {
        mpi_comms* asked;
        MPI_Comm comm;
        int answer = MPI_ERR_PENDING; ///< An MPI error code, once the worker has found that it is none.
        bool is_second = false;       ///< The first answer may be as old as the question: MPI gives handles out again.
    };

    /// Any thread. Asks whether a communicator can be added.
    /// @param mine  the question, if it is new: the caller has a driver answer() it, or takes it back
    /// @return MPI_ERR_PENDING; or why it cannot be added, told to one who asks; MPI_ERR_NO_MEM
    [[nodiscard]] int ask(MPI_Comm comm, question*& mine) noexcept;
    /// A driver. Adds the communicator; the question is gone if that succeeds.
    static void answer(question& asked) noexcept;
    void take_back(const question& asked) noexcept;

    /// A driver: another rank could not spread it by message. The duplicates are MPI's to free, since not all ranks have them.
    void forget_striping(comm_queue& home) noexcept;

    /// A driver, or the thread that frees it: no task needs a communicator that the program has freed.
    void close_freed(comm_queue& freed) noexcept;

    /// The queue that tasks without a communicator of their own use.
    [[nodiscard]] comm_queue& world() noexcept { return *world_; }

    /// Whether MPI let the constructor do its work.
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
    const std::uint64_t epoch_; ///< Tells the threads' remembered queues of this object from those of an earlier one.
    int keyval_ = MPI_KEYVAL_INVALID;
    int tag_upper_bound_ = 32767;
    MPI_Fint last_index_ = 0; ///< Where Open MPI's table had the last communicator that was added.
    std::uint32_t n_traced_ = 0;
    bool is_ready_ = false;
    bool is_ending_ = false;
    const std::function<void(std::size_t)> start_lane_;
    const find_peers_function find_peers_;
    /// Drivers of several lanes add communicators. MPI is called with it held; nothing that MPI calls takes it, but a callback of
    /// the program's inside MPI that posts on a communicator of its own making.
    std::mutex adding_;
    std::mutex mutex_; ///< Guards what follows; MPI is never called with it held, since MPI calls on_free().
    std::vector<std::unique_ptr<comm_queue>> queues_;
    std::unordered_map<MPI_Comm, comm_queue*> open_; ///< Null: about to be added.
    /// Those of a lane that no communicator has. First in, first out: an early one is more likely to be idle.
    struct closed_queues {
        comm_queue* first = nullptr;
        comm_queue* last = nullptr;
    };
    std::vector<closed_queues> closed_; ///< By lane.
    std::size_t n_chosen_ = 0;          ///< Communicators whose lane nobody has named.
    std::vector<MPI_Comm> duplicates_;  ///< The library's own, in the order in which all ranks made them.
    std::unordered_map<MPI_Comm, question> questions_;
    comm_queue* world_ = nullptr;
};

} // namespace commtask::detail
