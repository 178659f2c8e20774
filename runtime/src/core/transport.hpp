// SPDX-License-Identifier: Apache-2.0
//
// The interface between a lane and a message-passing library: start, poll, withdraw. The product
// uses MPI; the unit tests use a fake, which can play every order of events. One thread at a time
// calls a transport: the thread with the lane's progress lock.
#pragma once

#include "core/task.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace commtask::detail {

/// The result of starting an operation.
enum class start_result : std::uint8_t {
    started,   ///< In flight: task::run.open_parts says how many parts poll() will report.
    completed, ///< Complete already; task::result is set.
    failed,    ///< Refused; task::result says why. Nothing is in flight.
};

/// Receives a transport's reports of parts of tasks that are no longer in flight. The status of
/// part 0 is the task's status. With the last part, task::result is set.
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
    std::int64_t bytes; ///< The bytes that are sent, or the size of the receive buffer.
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

    /// Starts an operation. Members of plans may be gathered for start_gathered(), which comes
    /// before anything else is started or polled.
    [[nodiscard]] virtual start_result start(task& which) noexcept = 0;

    /// Starts together the operations that start() has gathered.
    virtual void start_gathered() noexcept {}
    [[nodiscard]] bool has_gathered() const noexcept { return n_gathered_ > 0; }

    /// A member of a plan was recorded: makes the objects that its runs need.
    /// @return an error code of the transport; 0: success
    [[nodiscard]] virtual int prepare(plan_member& /*recorded*/) noexcept { return 0; }
    /// The member will not run again.
    virtual void forget(plan_member& /*recorded*/) noexcept {}

    /// The operation cannot start yet: keeps the program's handles that the operation needs, until
    /// let_go().
    virtual void keep(task& /*which*/) noexcept {}
    /// The task is about to be final: releases the handles that it keeps.
    virtual void release_kept(task& /*which*/) noexcept {}
    /// The task has ended, and has noted lists: the task fails if the program has changed a list.
    virtual void compare_lists(task& /*which*/) noexcept {}

    /// Whether a submitter may start the operation: MPI alone works then, and no function of the
    /// program runs.
    [[nodiscard]] virtual bool may_start_on_submitter(const task& which) const noexcept = 0;

    /// Lets operations make progress, and reports some of the parts that have ended. Bounded work.
    virtual void poll(completion_sink& sink) noexcept = 0;

    /// Whether the last poll() has tested every operation, and not only some.
    [[nodiscard]] virtual bool has_polled_all() const noexcept { return true; }

    /// Tests part 0 of one started operation, and reports the part if it has ended. For transports
    /// whose poll() may leave some operations out.
    virtual void poll_one(task& /*which*/, completion_sink& /*sink*/) noexcept {}

    /// Whether the last poll() has also made the progress that other processes need from this one:
    /// a probe need not do that.
    [[nodiscard]] bool has_made_progress() const noexcept { return has_made_progress_; }

    /// Makes the progress that other processes need from this one, whatever is in flight here.
    /// Bounded work.
    virtual void make_progress() noexcept {}

    /// Withdraws a started operation if that is still possible; poll() reports it in any case.
    virtual void withdraw(task& which) noexcept = 0;

    /// Gives up a started operation that will never end. MPI may still write to its buffers.
    virtual void abandon(task& which) noexcept = 0;

    /// Frees the memory that the start needed, once the task is final.
    virtual void clean_up(task& which) noexcept = 0;

    /// The number of parts that were started and not reported. Every progress call reads it, so it
    /// is a plain number and not a virtual function.
    [[nodiscard]] std::size_t in_flight() const noexcept { return n_in_flight_; }

    /// Shows the messages of an operation that was just started. The program may free the
    /// operation's types and lists soon after.
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
    /// The bytes that this rank sends by an operation which is about to be started; 0 if no count
    /// tells it.
    [[nodiscard]] virtual std::int64_t given_bytes(const commtask_op& /*op*/) const noexcept { return 0; }

    /// The size of the operation's largest message; 0 if it has none.
    [[nodiscard]] std::int64_t largest_message_bytes(const commtask_op& op) const noexcept {
        std::int64_t largest = 0;
        each_message(op, [&](const message_shape& each) { largest = std::max(largest, each.bytes); });
        return largest;
    }

    /// For example "recv of 800 bytes from 1, tag 7, MPI_COMM_WORLD": for the list of incomplete
    /// tasks.
    [[nodiscard]] virtual std::string describe(const task& which) const = 0;

protected:
    std::size_t n_in_flight_ = 0;
    bool has_made_progress_ = false;
    std::size_t n_gathered_ = 0; ///< Operations gathered by start() for start_gathered().
};

} // namespace commtask::detail
