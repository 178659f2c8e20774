// SPDX-License-Identifier: Apache-2.0
//
// The queue of one communicator: its lane, the data for argument checks at a post, and the program
// order of its tasks. A communicator striped over several lanes has this queue for collectives and
// further queues for messages. A queue exists as long as its context, since tasks and threads point
// to it. When a communicator is freed, its queue is reused for another one, but only once no turn
// is open. So no ticket is valid for both communicators.
#pragma once

#include "core/node_observer.hpp"
#include "core/program_order.hpp"

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace commtask::detail {

class comm_striping;
class lane;
class mpi_comms;

/// The program order to which a task belongs.
enum class order_class : std::uint32_t { messages = 0, collectives = 1 };

class comm_queue {
public:
    comm_queue(lane& its_lane, std::uint32_t its_number) noexcept : served_by(&its_lane), number(its_number) {}

    lane* const served_by;
    const std::uint32_t number; ///< Unique in the process; tickets contain it.

private:
    std::atomic<std::uint64_t> life_{0}; ///< In this line, since submitters read it in every post.
    std::atomic<const comm_striping*> striping_{nullptr};
    /// Owns the striping. A shared pointer, since the type is incomplete here.
    std::shared_ptr<const comm_striping> kept_striping_;

public:
    // Written by the progress thread while the queue is closed.
    MPI_Comm comm{};
    /// The number of ranks to which a message can be sent; on an intercommunicator, the size of the
    /// remote group.
    int n_peers = 0;
    bool is_intercommunicator = false;
    /// Properties of the communicator that determine the lengths of an operation's arrays, and
    /// which arguments are significant on this rank.
    struct {
        int rank = 0;      ///< The rank of this process.
        int n_members = 0; ///< The size of the local group.
        /// The number of neighbors that send to this rank, in a process topology.
        int n_sources = 0;
        int n_dests = 0; ///< The number of neighbors to which this rank sends.
    } shape;
    /// The program may free the communicator while its tasks are incomplete.
    bool may_be_freed = false;
    std::string name;
    std::uint32_t trace_number = 0; ///< The communicator's number in a trace; 0 without a trace.
    /// The communicator's ranks on this node; null without doorbells.
    std::unique_ptr<const node_peers> node;
    /// As `node`, for the communicator that used the queue before: a receive of that communicator
    /// may still be in flight.
    std::unique_ptr<const node_peers> node_before;

    program_order order;

    /// The number of tasks that keep the communicator, even if the program frees it
    /// (mpi/kept_handles.hpp).
    std::atomic<std::uint32_t> n_users{0};
    /// Whether `reference` is set. Guarded by the lock of kept_handles, as the next two members.
    bool has_reference = false;
    MPI_Request reference{}; ///< A request that makes MPI keep the communicator alive.
    /// The program has freed the communicator; the last task that uses it closes the queue.
    bool is_freed = false;
    mpi_comms* owner = nullptr;

    comm_queue* next_closed = nullptr; ///< The link in the list of closed queues.

    /// Any thread. The striping that chooses a queue for each message; null: all messages use this
    /// queue. acquire: partner of set_striping().
    [[nodiscard]] const comm_striping* striping() const noexcept { return striping_.load(std::memory_order_acquire); }
    /// With the progress lock, while no thread posts a message of the communicator. The previous
    /// striping stays alive until another one replaces it.
    void set_striping(std::shared_ptr<const comm_striping> next) noexcept {
        striping_.store(next.get(), std::memory_order_release);
        if (next != nullptr) kept_striping_ = std::move(next);
    }

    /// A generation counter: odd while the queue is open, even while it is closed. acquire: partner
    /// of open() and close().
    [[nodiscard]] std::uint64_t life() const noexcept { return life_.load(std::memory_order_acquire); }
    [[nodiscard]] bool is_open() const noexcept { return life() % 2 == 1; }

    /// release: publishes the members that the progress thread has written.
    void open() noexcept { life_.fetch_add(1, std::memory_order_release); }
    void close() noexcept { life_.fetch_add(1, std::memory_order_release); }

    /// With the progress lock. Whether the queue belongs to this communicator, which was not freed.
    [[nodiscard]] bool serves(MPI_Comm whose) const noexcept { return is_open() && comm == whose; }

    /// With the progress lock. Whether no task can still wait here for its turn.
    [[nodiscard]] bool is_idle() const noexcept {
        return !order.has_open() && n_users.load(std::memory_order_acquire) == 0;
    }
};

} // namespace commtask::detail
