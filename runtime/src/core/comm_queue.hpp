// SPDX-License-Identifier: Apache-2.0
//
// The queue of one communicator: which lane serves it, what submitters need to know to check their arguments, and the
// program order of its ordered tasks. A communicator that is striped over lanes has one here, where its collectives go, and
// more for its messages. A queue lives as long as its context, since tasks and threads point to it. One whose
// communicator was freed serves another later, once no turn of the first is open, so that no ticket is good for both.
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

/// Which program order a task belongs to.
enum class order_class : std::uint32_t { messages = 0, collectives = 1 };

class comm_queue {
public:
    comm_queue(lane& its_lane, std::uint32_t its_number) noexcept : served_by(&its_lane), number(its_number) {}

    lane* const served_by;
    const std::uint32_t number; ///< Its own in the process; tickets have it.

private:
    std::atomic<std::uint64_t> life_{0}; ///< Here, where a submitter looks anyway.
    std::atomic<const comm_striping*> striping_{nullptr};
    /// Shared for the sake of its deleter alone: the type is declared later.
    std::shared_ptr<const comm_striping> kept_striping_;

public:
    // Written by the driver while no communicator has the queue.
    MPI_Comm comm{};
    int n_peers = 0; ///< Ranks that a message can go to: the remote group's on an intercommunicator.
    bool is_intercommunicator = false;
    /// Of the communicator: what tells how long the arrays of an operation are, and which of its arguments count here.
    struct {
        int rank = 0;      ///< This process's.
        int n_members = 0; ///< Ranks of its own group.
        int n_sources = 0; ///< Neighbors in its topology that it receives from.
        int n_dests = 0;   ///< Neighbors that it sends to.
    } shape;
    bool may_be_freed = false; ///< By the program, also while tasks of it have not ended.
    std::string name;
    std::uint32_t trace_number = 0;         ///< Its communicator's in a trace; 0 without one.
    std::unique_ptr<const node_peers> node; ///< Its ranks on this node; null if they have no doorbells.
    /// Those of the communicator that had the queue before: a receive of it may be in flight, and its driver look at them.
    std::unique_ptr<const node_peers> node_before;

    program_order order;

    /// Tasks that need the communicator until they have ended, whatever the program frees (mpi/kept_handles.hpp).
    std::atomic<std::uint32_t> n_users{0};
    bool has_reference = false; ///< This and the next two under the lock of kept_handles.
    MPI_Request reference{};    ///< By which MPI keeps the communicator.
    bool is_freed = false;      ///< The program has freed it: the last user closes the queue.
    mpi_comms* owner = nullptr;

    comm_queue* next_closed = nullptr; ///< In the list of those that no communicator has.

    /// Any thread. Which queue each message of the communicator goes to; null: all come here. acquire: partner of set_striping().
    [[nodiscard]] const comm_striping* striping() const noexcept { return striping_.load(std::memory_order_acquire); }
    /// A driver. No thread posts a message of the communicator now. What was there stays until the next one comes.
    void set_striping(std::shared_ptr<const comm_striping> next) noexcept {
        striping_.store(next.get(), std::memory_order_release);
        if (next != nullptr) kept_striping_ = std::move(next);
    }

    /// Which of its lives the queue is in: odd while a communicator has it, even before and between.
    /// acquire: partner of open() and close().
    [[nodiscard]] std::uint64_t life() const noexcept { return life_.load(std::memory_order_acquire); }
    [[nodiscard]] bool is_open() const noexcept { return life() % 2 == 1; }

    /// release: whoever sees the life sees what the driver wrote.
    void open() noexcept { life_.fetch_add(1, std::memory_order_release); }
    void close() noexcept { life_.fetch_add(1, std::memory_order_release); }

    /// A driver. Whether it is this communicator's, and was not freed.
    [[nodiscard]] bool serves(MPI_Comm whose) const noexcept { return is_open() && comm == whose; }

    /// A driver. Whether no task of the last communicator can wait for its turn in here any more.
    [[nodiscard]] bool is_idle() const noexcept {
        return !order.has_open() && n_users.load(std::memory_order_acquire) == 0;
    }
};

} // namespace commtask::detail
