// SPDX-License-Identifier: Apache-2.0
//
// The queue of one communicator: the lane that serves it, what submitters need to check arguments,
// and the program order of its ordered tasks. A communicator that is striped over several lanes has
// this queue for its collectives and further queues for its messages. A queue lives as long as its
// context, since tasks and threads point to it. After its communicator is freed, a queue serves
// another communicator, but only once no turn of the old communicator is open: so no ticket is
// valid for both.
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
    std::atomic<std::uint64_t> life_{0}; ///< In a line that submitters read anyway.
    std::atomic<const comm_striping*> striping_{nullptr};
    /// A shared pointer only for its deleter: the type is declared later.
    std::shared_ptr<const comm_striping> kept_striping_;

public:
    // Written by the progress thread while no communicator has the queue.
    MPI_Comm comm{};
    /// Ranks that a message can go to: on an intercommunicator, ranks of the remote group.
    int n_peers = 0;
    bool is_intercommunicator = false;
    /// Of the communicator: numbers that give the lengths of an operation's arrays, and tell which
    /// of its arguments are significant on this rank.
    struct {
        int rank = 0;      ///< This process's.
        int n_members = 0; ///< Ranks of the local group.
        int n_sources = 0; ///< Neighbours in its topology from which it receives.
        int n_dests = 0;   ///< Neighbours in its topology to which it sends.
    } shape;
    bool may_be_freed = false; ///< The program may free it while tasks of it have not ended.
    std::string name;
    std::uint32_t trace_number = 0; ///< The communicator's number in a trace; 0 without a trace.
    /// The communicator's ranks on this node; null if they have no doorbells.
    std::unique_ptr<const node_peers> node;
    /// The ranks of the communicator that had the queue before: a receive of it may be in flight,
    /// and the progress thread reads them for it.
    std::unique_ptr<const node_peers> node_before;

    program_order order;

    /// Tasks that need the communicator until they have ended, even if the program frees it
    /// (mpi/kept_handles.hpp).
    std::atomic<std::uint32_t> n_users{0};
    bool has_reference = false; ///< This and the next two: with the lock of kept_handles.
    MPI_Request reference{};    ///< A request that makes MPI keep the communicator.
    /// The program has freed the communicator: the last user closes the queue.
    bool is_freed = false;
    mpi_comms* owner = nullptr;

    comm_queue* next_closed = nullptr; ///< In the list of queues that no communicator has.

    /// Any thread. The striping that chooses a queue for each message of the communicator; null:
    /// all messages use this queue. acquire: partner of set_striping().
    [[nodiscard]] const comm_striping* striping() const noexcept { return striping_.load(std::memory_order_acquire); }
    /// With the progress lock, while no thread posts a message of the communicator. The old
    /// striping stays alive until the next one replaces it.
    void set_striping(std::shared_ptr<const comm_striping> next) noexcept {
        striping_.store(next.get(), std::memory_order_release);
        if (next != nullptr) kept_striping_ = std::move(next);
    }

    /// Counts opens and closes: odd while a communicator has the queue, even otherwise. acquire:
    /// partner of open() and close().
    [[nodiscard]] std::uint64_t life() const noexcept { return life_.load(std::memory_order_acquire); }
    [[nodiscard]] bool is_open() const noexcept { return life() % 2 == 1; }

    /// release: a thread that sees the new value sees what the progress thread wrote before.
    void open() noexcept { life_.fetch_add(1, std::memory_order_release); }
    void close() noexcept { life_.fetch_add(1, std::memory_order_release); }

    /// With the progress lock. Whether the queue serves this communicator, which was not freed.
    [[nodiscard]] bool serves(MPI_Comm whose) const noexcept { return is_open() && comm == whose; }

    /// With the progress lock. Whether no task of the last communicator can still wait for its turn
    /// here.
    [[nodiscard]] bool is_idle() const noexcept {
        return !order.has_open() && n_users.load(std::memory_order_acquire) == 0;
    }
};

} // namespace commtask::detail
