// SPDX-License-Identifier: Apache-2.0
//
// What a lane needs of a message-passing library: start, poll, withdraw. MPI stands behind it in the product, a fake in
// the unit tests, which can thereby play every order of events. One thread at a time calls a transport: whoever holds the
// lane's progress lock.
#pragma once

#include "core/task.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace commtask::detail {

/// How starting an operation ended.
enum class start_result : std::uint8_t {
    started,   ///< In flight: task::run.open_parts says how many parts poll() will report.
    completed, ///< Done already; task::result is set.
    failed,    ///< Refused; task::result says why. Nothing is in flight.
};

/// Where a transport reports parts of tasks that are no longer in flight. Part 0 is the one whose status is the task's; with
/// the last part task::result is set.
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
    std::int64_t bytes; ///< That are sent, or that there is room for.
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

    /// May leave members of plans for start_gathered(), which comes before anything else is started or polled.
    [[nodiscard]] virtual start_result start(task& which) noexcept = 0;

    /// Starts together what start() has gathered.
    virtual void start_gathered() noexcept {}
    [[nodiscard]] bool has_gathered() const noexcept { return n_gathered_ > 0; }

    /// A member of a plan was recorded: makes what its runs need. @return an error code of the transport, 0 is success
    [[nodiscard]] virtual int prepare(plan_member& /*recorded*/) noexcept { return 0; }
    /// It will not run again.
    virtual void forget(plan_member& /*recorded*/) noexcept {}

    /// Keeps what an operation that cannot start yet needs of the program's handles, until let_go().
    virtual void keep(task& /*which*/) noexcept {}
    /// The task is about to be final, and may keep something.
    virtual void let_go(task& /*which*/) noexcept {}
    /// The task has ended, and has noted lists: one that the program has changed makes it fail.
    virtual void compare_lists(task& /*which*/) noexcept {}

    /// Whether to start it is MPI's work alone, so that a submitter may: no function of the program's runs.
    [[nodiscard]] virtual bool may_start_on_submitter(const task& which) const noexcept = 0;

    /// Lets operations progress and reports some of the parts that ended. Bounded work.
    virtual void poll(completion_sink& sink) noexcept = 0;

    /// Whether the last poll() has looked at every operation, or at some only.
    [[nodiscard]] virtual bool has_polled_all() const noexcept { return true; }

    /// Looks at part 0 of one started operation, and reports it if it has ended. For transports whose poll() may leave some out.
    virtual void poll_one(task& /*which*/, completion_sink& /*sink*/) noexcept {}

    /// Whether the last poll() has also moved on what other processes ask of this one: to look for a message need not do that.
    [[nodiscard]] bool has_made_progress() const noexcept { return has_made_progress_; }

    /// Lets what other processes ask of this one move on, whatever is in flight here. Bounded work.
    virtual void make_progress() noexcept {}

    /// Withdraws a started operation if that is still possible; poll() reports it in any case.
    virtual void withdraw(task& which) noexcept = 0;

    /// Lets go of a started operation that will never end. Its buffers may still be written to.
    virtual void abandon(task& which) noexcept = 0;

    /// Frees what starting needed, once the task is final.
    virtual void clean_up(task& which) noexcept = 0;

    /// Started and not reported. Read in every pass, so it is a number and not a question.
    [[nodiscard]] std::size_t in_flight() const noexcept { return n_in_flight_; }

    /// Shows the messages of an operation that was just started: the program may free its types and lists soon after.
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
    /// What this rank gives by an operation that is about to be started; 0 where no count says it.
    [[nodiscard]] virtual std::int64_t given_bytes(const commtask_op& /*op*/) const noexcept { return 0; }

    /// 0 if it has none.
    [[nodiscard]] std::int64_t largest_message_bytes(const commtask_op& op) const noexcept {
        std::int64_t largest = 0;
        each_message(op, [&](const message_shape& each) { largest = std::max(largest, each.bytes); });
        return largest;
    }

    /// "recv of 800 bytes from 1, tag 7, MPI_COMM_WORLD": for the list of unfinished tasks.
    [[nodiscard]] virtual std::string describe(const task& which) const = 0;

protected:
    std::size_t n_in_flight_ = 0;
    bool has_made_progress_ = false;
    std::size_t n_gathered_ = 0; ///< By start(), and left for start_gathered().
};

} // namespace commtask::detail
