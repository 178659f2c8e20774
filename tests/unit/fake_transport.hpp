// SPDX-License-Identifier: Apache-2.0
//
// A transport that does what the test says, when the test says it: every order of events can be played without MPI. It
// keeps what was started in order, so a test can look at that too.
#pragma once

#include "lane.hpp"
#include "task_pool.hpp"
#include "transport.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace commtask::detail::testing {

class fake_transport final : public transport {
public:
    /// Tasks whose operation has this tag complete as soon as they start.
    static constexpr int completes_at_once = -100;
    /// Tasks whose operation has this tag are refused when they start.
    static constexpr int is_refused = -101;

    [[nodiscard]] start_result start(task& which) noexcept override {
        started_.push_back(&which);
        if (which.op.send_tag == completes_at_once) return start_result::completed;
        if (which.op.send_tag == is_refused) {
            which.result.error = 1;
            return start_result::failed;
        }
        flying_.insert(&which);
        n_in_flight_ = flying_.size() + landed_.size();
        return start_result::started;
    }

    void poll(completion_sink& sink) noexcept override {
        if (only_poller != std::thread::id{} && only_poller != std::this_thread::get_id()) return;
        const auto landed = std::exchange(landed_, {});
        n_in_flight_ = flying_.size();
        for (const auto& [which, result] : landed) {
            which->result = result;
            sink.ended(*which);
        }
    }

    void withdraw(task& which) noexcept override {
        if (flying_.contains(&which)) land(which, {.is_canceled = true});
    }
    void abandon(task& which) noexcept override {
        flying_.erase(&which);
        n_in_flight_ = flying_.size() + landed_.size();
    }
    void clean_up(task& which) noexcept override { cleaned_.push_back(&which); }
    [[nodiscard]] std::string describe(const task& which) const override {
        return "task " + std::to_string(which.op.send_tag);
    }

    /// Polls of other threads find nothing; nobody: all do.
    std::thread::id only_poller;

    /// The next poll reports this task.
    void land(task& which, const outcome& result = {}) {
        flying_.erase(&which);
        landed_.emplace_back(&which, result);
        n_in_flight_ = flying_.size() + landed_.size();
    }

    /// What was started since the last call, in order.
    [[nodiscard]] std::vector<task*> take_started() { return std::exchange(started_, {}); }
    [[nodiscard]] const std::vector<task*>& cleaned() const { return cleaned_; }

private:
    std::vector<task*> started_;
    std::set<task*> flying_;
    std::vector<std::pair<task*, outcome>> landed_;
    std::vector<task*> cleaned_;
};

/// What a test says about a task that it posts.
struct task_plan {
    std::vector<task*> after{};
    std::uint64_t ticket = 0;
    order_class order = order_class::messages;
    std::uint32_t flags = 0;
    int tag = 0;
    commtask_callback callback = nullptr;
    void* argument = nullptr;
};

/// A lane over a fake transport, driven by the test's own thread. Holds a reference on every task that it posted.
class lane_bench {
public:
    explicit lane_bench(std::size_t capacity = 64) : lane_(carrier_, {.queue_capacity = capacity}) {}
    lane_bench(const lane_bench&) = delete;
    lane_bench& operator=(const lane_bench&) = delete;
    ~lane_bench() {
        for (task* held : held_) task_pool::drop(held);
    }

    task& make(const task_plan& plan = {}) {
        task& made = *task_pool::acquire();
        made.op = {};
        made.op.kind = COMMTASK_OP_SEND;
        made.op.send_tag = plan.tag;
        made.op.reserved = static_cast<int>(flag_has_extras | plan.flags);
        made.queue = &queue_;
        made.marks.store(0);
        made.life.begin(2);
        made.result = {};
        made.successors.store(nullptr);
        const auto count = static_cast<std::uint32_t>(plan.after.size());
        made.extras = {plan.callback, plan.argument, nullptr, plan.ticket, static_cast<std::uint32_t>(plan.order),
                       count};
        made.waiting_for.store(count == 0 ? 0 : count + 1);
        if (count > made.edge_capacity) {
            made.predecessors = std::make_unique<task*[]>(count);
            made.edges = std::make_unique<edge[]>(count);
            made.edge_capacity = count;
        }
        for (std::uint32_t i = 0; i < count; ++i) {
            plan.after[i]->life.take_reference();
            made.predecessors[i] = plan.after[i];
        }
        held_.push_back(&made);
        return made;
    }

    task& post(const task_plan& plan = {}) {
        task& made = make(plan);
        lane_.post(made);
        return made;
    }

    /// Lets go of a task or an event: its slot may be another's from then on.
    void drop(task& held) {
        std::erase(held_, &held);
        task_pool::drop(&held);
    }

    /// An event of one signal, as the public interface makes it.
    task& make_event() {
        task& event = *task_pool::acquire();
        event.op = {};
        event.op.reserved = static_cast<int>(flag_is_event);
        event.marks.store(0);
        event.life.begin(2);
        event.waiting_for.store(1);
        event.successors.store(nullptr);
        held_.push_back(&event);
        return event;
    }

    static void signal(task& event) {
        event.waiting_for.store(0);
        graph::finish(event, task_state::completed, 1,
                      [](task& successor) { successor.queue->owner->released(successor); });
    }

    /// Passes until nothing moves.
    void run() {
        while (lane_.progress()) {}
    }

    /// Ends a started task and runs.
    void complete(task& which, const outcome& result = {}) {
        carrier_.land(which, result);
        run();
    }

    [[nodiscard]] std::uint64_t take_ticket(order_class order = order_class::messages) {
        return queue_.orders[static_cast<std::size_t>(order)].take_ticket();
    }

    fake_transport& carrier() { return carrier_; }
    lane& the_lane() { return lane_; }

private:
    fake_transport carrier_;
    lane lane_;
    comm_queue queue_{lane_, 1};
    std::vector<task*> held_;
};

} // namespace commtask::detail::testing
