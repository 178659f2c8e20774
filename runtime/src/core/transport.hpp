// SPDX-License-Identifier: Apache-2.0
//
// The interface between a lane and a message-passing library: start, poll, cancel. The library uses
// MPI; the unit tests use a fake transport, which can produce every order of events. One thread at
// a time calls a transport: the thread with the lane's progress lock.
#pragma once

#include "core/task.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace commtask::detail {

/// The result of starting an operation.
enum class start_result : std::uint8_t {
    started,   ///< In flight; task::run.open_parts is the number of parts that poll() will report.
    completed, ///< Complete; task::result is set.
    failed,    ///< Refused; task::result has the error. Nothing is in flight.
};

/// Receives the transport's reports of parts that are no longer in flight. The status of part 0 is
/// the task's status. task::result is set before the last part is reported.
class completion_sink {
public:
    virtual void part_ended(task& which, std::uint32_t part) noexcept = 0;

protected:
    ~completion_sink() = default;
};

/// A message of an operation.
struct message_shape {
    bool is_received;
    int peer;
    int tag;
    std::int64_t bytes; ///< The size of the message that is sent, or of the receive buffer.
};
class message_visitor {
public:
    virtual void visit(const message_shape& each) noexcept = 0;

protected:
    ~message_visitor() = default;
};

class transport {
public:
    virtual ~transport() = default;

    /// Starts an operation. May only gather a member of a plan; start_gathered() is called before
    /// anything else is started or polled.
    [[nodiscard]] virtual start_result start(task& which) noexcept = 0;

    /// Starts all gathered operations, by one call.
    virtual void start_gathered() noexcept {}
    [[nodiscard]] bool has_gathered() const noexcept { return n_gathered_ > 0; }

    /// Called when a member of a plan is recorded: creates the objects that its runs need.
    /// @return an error code of the transport; 0: success
    [[nodiscard]] virtual int prepare(plan_member& /*recorded*/) noexcept { return 0; }
    /// Called when the member will not run again.
    virtual void forget(plan_member& /*recorded*/) noexcept {}

    /// Called if the operation cannot start yet: keeps the program's handles that the operation
    /// needs, until release_kept().
    virtual void keep(task& /*which*/) noexcept {}
    /// Called before the task is final: releases the handles that it keeps.
    virtual void release_kept(task& /*which*/) noexcept {}
    /// Called for an ended task with flag_has_noted_lists: the task fails if the program has
    /// changed a list.
    virtual void compare_lists(task& /*which*/) noexcept {}

    /// Whether a submitter may start the operation: the start calls no function of the program.
    [[nodiscard]] virtual bool may_start_on_submitter(const task& which) const noexcept = 0;

    /// Makes progress, and reports parts that have completed. Bounded work.
    virtual void poll(completion_sink& sink) noexcept = 0;

    /// Whether the last poll() has tested every operation.
    [[nodiscard]] virtual bool has_polled_all() const noexcept { return true; }

    /// Tests part 0 of one operation, and reports it if it has completed. For transports whose
    /// poll() may leave out operations.
    virtual void poll_one(task& /*which*/, completion_sink& /*sink*/) noexcept {}

    /// Whether the last poll() has also made progress for other processes. A probe need not do so.
    [[nodiscard]] bool has_made_progress() const noexcept { return has_made_progress_; }

    /// Makes progress for other processes, even with nothing in flight here. Bounded work.
    virtual void make_progress() noexcept {}

    /// Cancels a started operation if that is still possible; poll() reports it in any case.
    virtual void withdraw(task& which) noexcept = 0;

    /// Abandons a started operation that will not complete. MPI may still write to its buffers.
    virtual void abandon(task& which) noexcept = 0;

    /// Called for a final task: frees the memory that the start needed.
    virtual void clean_up(task& which) noexcept = 0;

    /// The number of parts that were started and not reported. Not virtual, since every progress
    /// call reads it.
    [[nodiscard]] std::size_t in_flight() const noexcept { return n_in_flight_; }

    /// Calls the visitor for each message of an operation that was just started. Later the program
    /// may have freed the operation's datatypes and lists.
    virtual void show_messages(const commtask_op& /*op*/, message_visitor& /*visitor*/) const noexcept {}
    template <typename Visit>
    void each_message(const commtask_op& op, Visit&& visit) const noexcept {
        struct caller final : message_visitor {
            Visit& call;
            explicit caller(Visit& its) noexcept : call(its) {}
            void visit(const message_shape& each) noexcept override { call(each); }
        } shown{visit};
        show_messages(op, shown);
    }
    /// The number of bytes that this rank sends by an operation, before its start; 0 if no count
    /// determines it.
    [[nodiscard]] virtual std::int64_t given_bytes(const commtask_op& /*op*/) const noexcept { return 0; }

    /// The size of the operation's largest message; 0 without messages.
    [[nodiscard]] std::int64_t largest_message_bytes(const commtask_op& op) const noexcept {
        std::int64_t largest = 0;
        each_message(op, [&](const message_shape& each) { largest = std::max(largest, each.bytes); });
        return largest;
    }

    /// For lists of incomplete tasks. For example "recv of 800 bytes from 1, tag 7,
    /// MPI_COMM_WORLD".
    [[nodiscard]] virtual std::string describe(const task& which) const = 0;

protected:
    std::size_t n_in_flight_ = 0;
    bool has_made_progress_ = false;
    std::size_t n_gathered_ = 0; ///< The number of operations that start() has gathered.
};

} // namespace commtask::detail
