// SPDX-License-Identifier: Apache-2.0
//
// A transport that does what the test says, when the test says it: every order of events can be played without MPI. It
// keeps what was started in order, so a test can look at that too.
#pragma once

#include "core/graph.hpp"
#include "core/lane_set.hpp"
#include "core/operation_traits.hpp"
#include "core/task_pool.hpp"
#include "core/transport.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace commtask::detail::testing {

class fake_transport final : public transport {
public:
    fake_transport() { cleaned_.reserve(1024); } // an end must not ask for memory

    /// Tasks whose operation has this tag complete as soon as they start.
    static constexpr int completes_at_once = -100;
    /// Tasks whose operation has this tag are refused when they start.
    static constexpr int is_refused = -101;
    /// Tasks whose operation has this tag are reported by the next poll.
    static constexpr int ends_at_a_look = -103;
    /// Tasks whose operation has this tag run a function of the program's, so no submitter may start them.
    static constexpr int runs_a_function = -102;

    [[nodiscard]] start_result start(task& which) noexcept override {
        started_.push_back(&which);
        if (which.op.send_tag == completes_at_once) return start_result::completed;
        if (which.op.send_tag == is_refused) {
            which.result.error = 1;
            return start_result::failed;
        }
        which.run.open_parts = which.op.recv_tag > 1 ? static_cast<std::uint32_t>(which.op.recv_tag) : 1;
        for (std::uint32_t part = 0; part < which.run.open_parts; ++part) flying_.insert({&which, part});
        if (which.op.send_tag == ends_at_a_look) land(which);
        count_in_flight();
        return start_result::started;
    }

    [[nodiscard]] bool may_start_on_submitter(const task& which) const noexcept override {
        return which.op.send_tag != runs_a_function;
    }

    void poll(completion_sink& sink) noexcept override {
        if (only_poller != std::thread::id{} && only_poller != std::this_thread::get_id()) return;
        has_made_progress_ = polls_make_progress;
        const auto landed = std::exchange(landed_, {});
        count_in_flight();
        for (const auto& [which, part, result] : landed) {
            const int earlier_error = which->result.error;
            if (part == 0) which->result = result;
            if (which->result.error == 0) which->result.error = earlier_error != 0 ? earlier_error : result.error;
            sink.part_ended(*which, part);
        }
    }

    void withdraw(task& which) noexcept override {
        for (std::uint32_t part = 0; part < which.run.open_parts; ++part) {
            if (flying_.contains({&which, part})) land(which, {.is_canceled = true}, part);
        }
    }
    void abandon(task& which) noexcept override {
        std::erase_if(flying_, [&](const auto& each) { return each.first == &which; });
        std::erase_if(landed_, [&](const auto& each) { return each.which == &which; });
        count_in_flight();
    }
    void make_progress() noexcept override { n_progress.fetch_add(1); }
    void clean_up(task& which) noexcept override { cleaned_.push_back(&which); }
    [[nodiscard]] std::string describe(const task& which) const override {
        return "task " + std::to_string(which.op.send_tag);
    }

    void show_messages(const commtask_op& op, message_visitor& visitor) const noexcept override {
        const operation_traits& kind = operation_of(op.kind);
        if (kind.has_dest) visitor.visit({false, op.peer, op.send_tag, sizes.sent_bytes});
        if (kind.has_source) visitor.visit({true, op.source, op.recv_tag, sizes.room_bytes});
        for (int i = 0; kind.has_dests && i < op.peer; ++i)
            visitor.visit({false, op.dests[i], op.send_tag, sizes.sent_bytes});
        for (int i = 0; kind.has_sources && i < op.source; ++i)
            visitor.visit({true, op.sources[i], op.send_tag, sizes.room_bytes});
    }

    struct {
        std::int64_t sent_bytes = 0;
        std::int64_t room_bytes = 0;
    } sizes; ///< Of all messages.

    /// Passes that made progress for others, beside polls.
    std::atomic<int> n_progress{0};

    /// False: as if only probes were in flight.
    bool polls_make_progress = true;

    /// Polls of other threads find nothing; nobody: all do.
    std::thread::id only_poller;

    /// The next poll reports this part of the task.
    void land(task& which, const task_result& result = {}, std::uint32_t part = 0) {
        flying_.erase({&which, part});
        landed_.push_back({&which, part, result});
        count_in_flight();
    }

    /// What was started since the last call, in order.
    [[nodiscard]] std::vector<task*> take_started() { return std::exchange(started_, {}); }
    [[nodiscard]] const std::vector<task*>& cleaned() const { return cleaned_; }

private:
    struct report {
        task* which;
        std::uint32_t part;
        task_result result;
    };
    void count_in_flight() { n_in_flight_ = flying_.size() + landed_.size(); }

    std::vector<task*> started_;
    std::set<std::pair<task*, std::uint32_t>> flying_;
    std::vector<report> landed_;
    std::vector<task*> cleaned_;
};

/// What a test says about a task that it posts.
struct task_plan {
    std::vector<task*> after{};
    turn* its_turn = nullptr;
    std::uint32_t flags = 0;
    int tag = 0;
    int n_parts = 1;
    commtask_callback callback = nullptr;
    void* argument = nullptr;
};

/// Lanes over fake transports, driven by the test's own thread unless it starts workers. Holds a reference on every task
/// that it posted, and sees at its end that all their slots came back.
template <std::size_t NLanes>
class lanes_bench {
public:
    explicit lanes_bench(std::size_t capacity = 64, std::vector<task_observer*> observers = {})
        : lanes_bench(lane_settings{.queue_capacity = capacity, .observers = std::move(observers)}) {}
    explicit lanes_bench(const lane_settings& settings) : lanes_(below(), settings) {
        for (lane& each : lanes_) queues_.push_back(std::make_unique<comm_queue>(each, 1));
    }
    lanes_bench(const lanes_bench&) = delete;
    lanes_bench& operator=(const lanes_bench&) = delete;
    ~lanes_bench() {
        for (task* held : held_) let_go(*held);
    }

    task& make(std::size_t on, const task_plan& plan = {}, std::uint32_t n_references = 2) {
        task& made = *task_pool::acquire();
        commtask_op op{};
        op.kind = COMMTASK_OP_SEND;
        op.send_tag = plan.tag;
        op.recv_tag = plan.n_parts; // the fake has no other use for it
        made.begin_operation(op, *queues_[on], flag_has_extras | plan.flags, n_references);
        made.extras = {plan.callback, plan.argument, nullptr, plan.its_turn, 0};
        static_cast<void>(graph::make_room_for_edges(made, static_cast<std::uint32_t>(plan.after.size())));
        for (task* const predecessor : plan.after) graph::add_predecessor(made, *predecessor);
        made.posted_ns = now_ns();
        if (n_references > 1) held_.push_back(&made);
        return made;
    }

    task& post(std::size_t on, const task_plan& plan = {}) {
        task& made = make(on, plan);
        lanes_[on].post(made);
        return made;
    }

    /// Of any thread; nobody can ask for the task later.
    void post_unheld(std::size_t on, const task_plan& plan) { lanes_[on].post(make(on, plan, 1)); }

    /// Lets go of a task or an event: its slot may be another's from then on.
    void drop(task& held) {
        std::erase(held_, &held);
        let_go(held);
    }

    /// An event of one signal, as the public interface makes it.
    task& make_event() {
        task& event = *task_pool::acquire();
        event.begin_event(1);
        held_.push_back(&event);
        return event;
    }

    static void signal(task& event) { static_cast<void>(graph::signal(event, release_to_its_lane)); }

    /// Passes until nothing moves on any lane.
    void run() {
        for (bool moved = true; moved;) {
            moved = false;
            for (lane& each : lanes_) moved = each.engine.progress() || moved;
        }
    }

    /// Among the ordered tasks of a queue, or its collectives.
    [[nodiscard]] turn* take_turn(std::size_t on, std::uint16_t kind = COMMTASK_OP_NOOP) {
        commtask_op op{};
        op.kind = kind;
        turn* const made = queues_[on]->order.make(op, COMMTASK_ORDERED, {});
        queues_[on]->order.take(*made);
        return made;
    }

    comm_queue& queue(std::size_t of) { return *queues_[of]; }
    fake_transport& carrier(std::size_t of) { return carriers_[of]; }
    lane_set& lanes() { return lanes_; }

private:
    [[nodiscard]] std::vector<transport*> below() {
        std::vector<transport*> all;
        for (fake_transport& each : carriers_) all.push_back(&each);
        return all;
    }

    /// Of a task that has ended this is the last reference: its slot comes back. But for one that a predecessor, which never
    /// ended, still points to.
    static void let_go(task& held) {
        const task_state state = held.life.state();
        const bool is_kept = held.run.is_pointed_to && !held.is_event();
        const bool is_last = held.life.drop_references(1);
        EXPECT_TRUE(is_last || is_kept || state == task_state::open || state == task_state::abandoned)
            << "somebody keeps the slot";
        if (is_last) task_pool::release(&held);
    }

    std::array<fake_transport, NLanes> carriers_;
    lane_set lanes_;
    std::vector<std::unique_ptr<comm_queue>> queues_;
    std::vector<task*> held_;
};

/// The same for one lane.
class lane_bench : public lanes_bench<1> {
public:
    using lanes_bench::lanes_bench;

    task& make(const task_plan& plan = {}) { return lanes_bench::make(0, plan); }
    task& post(const task_plan& plan = {}) { return lanes_bench::post(0, plan); }
    [[nodiscard]] turn* take_turn(std::uint16_t kind = COMMTASK_OP_NOOP) { return lanes_bench::take_turn(0, kind); }
    fake_transport& carrier() { return lanes_bench::carrier(0); }
    lane& the_lane() { return lanes()[0]; }

    /// Ends a started task and runs.
    void complete(task& which, const task_result& result = {}) {
        carrier().land(which, result);
        run();
    }
};

} // namespace commtask::detail::testing
