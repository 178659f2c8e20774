// SPDX-License-Identifier: Apache-2.0
//
// The progress logic under real threads without MPI: a worker of each kind drives a lane whose transport ends, refuses
// and keeps operations at random, while threads post random graphs, cancel, signal events and wait. Without MPI the
// sanitizers see every access, and thousands of rounds take seconds.
#include "core/graph.hpp"
#include "core/task_pool.hpp"
#include "core/waiting.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace commtask::detail {
namespace {

/// Ends what was started after a random number of polls; one in sixteen fails, some end at once.
class random_transport final : public transport {
public:
    [[nodiscard]] start_result start(task& which) noexcept override {
        const auto draw = random_() % 16;
        if (draw == 0) {
            which.result.error = 7;
            return start_result::failed;
        }
        if (draw < 5) return start_result::completed;
        which.run.open_parts = 1 + draw % 2;
        for (std::uint32_t part = 0; part < which.run.open_parts; ++part) {
            flying_.push_back({&which, part, draw < 8 ? 100U : draw - 8 + part, false});
        }
        n_in_flight_ = flying_.size();
        return start_result::started;
    }
    [[nodiscard]] bool may_start_on_submitter(const task& which) const noexcept override {
        return which.run.number % 8 != 0;
    }
    void poll(completion_sink& sink) noexcept override {
        std::vector<flight> landed;
        for (std::size_t i = 0; i < flying_.size();) {
            if (flying_[i].polls_left-- > 0) {
                ++i;
                continue;
            }
            landed.push_back(flying_[i]);
            flying_[i] = flying_.back();
            flying_.pop_back();
        }
        n_in_flight_ = flying_.size();
        for (const flight& each : landed) {
            if (random_() % 16 == 0) each.which->result.error = 7;
            if (each.part == 0) each.which->result.is_canceled = each.is_withdrawn;
            sink.part_ended(*each.which, each.part);
        }
    }
    void withdraw(task& which) noexcept override {
        for (flight& each : flying_) {
            if (each.which != &which) continue;
            each.polls_left = 0;
            each.is_withdrawn = true;
        }
    }
    void abandon(task& which) noexcept override {
        std::erase_if(flying_, [&](const flight& each) { return each.which == &which; });
        n_in_flight_ = flying_.size();
    }
    void clean_up(task& /*which*/) noexcept override {}
    [[nodiscard]] std::string describe(const task& /*which*/) const override { return "a task"; }

private:
    struct flight {
        task* which;
        std::uint32_t part;
        std::size_t polls_left;
        bool is_withdrawn;
    };
    std::minstd_rand random_{12345};
    std::vector<flight> flying_;
};

/// What the C interface does around a lane, as far as this test needs it.
class submitter {
public:
    submitter(lane_set& lanes, std::vector<std::unique_ptr<comm_queue>>& queues, std::atomic<long>& n_called,
              unsigned seed)
        : lanes_(lanes), queues_(queues), n_called_(n_called), random_(seed) {}
    submitter(const submitter&) = delete;
    submitter& operator=(const submitter&) = delete;
    ~submitter() {
        for (task* each : held_) task_pool::drop(each);
    }

    void post_one() {
        std::vector<task*> after;
        for (auto i = random_() % 4; i > 0 && !held_.empty(); --i) after.push_back(held_[random_() % held_.size()]);
        if (random_() % 4 == 0) after.push_back(an_event());
        task& made = *task_pool::acquire();
        comm_queue& queue = *queues_[random_() % queues_.size()];
        commtask_op op{};
        op.kind = COMMTASK_OP_SEND;
        const std::uint32_t flags = random_() % 4 == 0 ? std::uint32_t{COMMTASK_RUN_AFTER_FAILURE} : 0U;
        made.begin_operation(op, queue, flag_has_extras | flags, 2);
        turn* its_turn = nullptr;
        if (random_() % 3 == 0) {
            its_turn = queue.order.make(op, COMMTASK_ORDERED, {});
            queue.order.take(*its_turn);
        }
        made.extras = {[](const commtask_status*, void* counter) {
                           static_cast<std::atomic<long>*>(counter)->fetch_add(1, std::memory_order_relaxed);
                       },
                       &n_called_, nullptr, its_turn, 0};
        static_cast<void>(graph::make_room_for_edges(made, static_cast<std::uint32_t>(after.size())));
        for (task* const predecessor : after) graph::add_predecessor(made, *predecessor);
        queue.served_by->post(made);
        ++n_posted;
        held_.push_back(&made);
        if (random_() % 8 == 0) {
            task& unwanted = *held_[random_() % held_.size()];
            unwanted.queue->served_by->cancel(unwanted);
        }
        if (random_() % 3 == 0) signal_one();
        if (held_.size() > 32) forget_one();
    }

    void signal_all() {
        while (!events_.empty()) signal_one();
    }

    /// Waits for all that is held.
    void settle(const waiting_policy& policy) {
        signal_all();
        for (task* each : held_) {
            static_cast<void>(
                wait_in_library(lanes_, policy, -1, [&] { return each->life.state() != task_state::open; }));
        }
    }

    long n_posted = 0;

private:
    task* an_event() {
        if (!events_.empty() && random_() % 2 == 0) return events_.back();
        task& event = *task_pool::acquire();
        event.begin_event(1);
        events_.push_back(&event);
        return &event;
    }
    void signal_one() {
        if (events_.empty()) return;
        task& event = *events_.front();
        events_.pop_front();
        static_cast<void>(graph::signal(event, release_to_its_lane));
        task_pool::drop(&event);
    }
    void forget_one() {
        std::swap(held_[random_() % held_.size()], held_.back());
        task_pool::drop(held_.back());
        held_.pop_back();
    }

    lane_set& lanes_;
    std::vector<std::unique_ptr<comm_queue>>& queues_;
    std::atomic<long>& n_called_;
    std::minstd_rand random_;
    std::vector<task*> held_;
    std::deque<task*> events_;
};

struct setting {
    const char* name;
    bool is_reserved;
    std::size_t capacity;
    bool has_heavy_barrier;
    bool takes_over = false;
    std::size_t n_lanes = 1;
    bool submitters_start = false;
};

class FakeSchedules : public testing::TestWithParam<setting> {};

TEST_P(FakeSchedules, EveryTaskEndsOnceWhateverItsPredecessorsDid) {
    constexpr int n_threads = 3;
    constexpr int n_rounds = 8;
    constexpr int n_tasks = 400;
    for (unsigned round = 0; round < n_rounds; ++round) {
        SCOPED_TRACE(testing::Message() << "round " << round);
        std::vector<random_transport> carriers(GetParam().n_lanes);
        std::vector<transport*> below;
        for (random_transport& each : carriers) below.push_back(&each);
        lane_settings of_lane;
        of_lane.queue_capacity = GetParam().capacity;
        of_lane.has_heavy_barrier = GetParam().has_heavy_barrier && register_heavy_barrier();
        of_lane.submitters_start = GetParam().submitters_start;
        lane_set lanes{below, of_lane};
        std::vector<std::unique_ptr<comm_queue>> queues;
        for (lane& each : lanes) queues.push_back(std::make_unique<comm_queue>(each, 1));
        worker_settings plan;
        plan.is_reserved = GetParam().is_reserved;
        plan.spin_ns = 2'000;
        plan.wait_max_ns = 50'000;
        const waiting_policy policy{plan.is_reserved, 1'000, GetParam().takes_over};
        std::atomic<long> n_called{0};
        std::atomic<long> n_posted{0};
        for (std::size_t i = 0; i < lanes.size(); ++i) lanes.start_worker(i, plan);
        std::array<std::thread, n_threads> threads;
        for (unsigned t = 0; t < n_threads; ++t) {
            threads[t] = std::thread{[&, t] {
                submitter mine{lanes, queues, n_called, 1 + 100 * round + t};
                for (int i = 0; i < n_tasks; ++i) mine.post_one();
                mine.settle(policy);
                n_posted += mine.n_posted;
            }};
        }
        for (std::thread& each : threads) each.join();
        lanes.watch_drain();
        static_cast<void>(wait_in_library(lanes, policy, -1, [&] { return lanes.is_quiet(); }));
        EXPECT_EQ(n_called, n_posted) << "quiet, though tasks were open";
        lanes.stop_workers();
        for (lane& each : lanes) EXPECT_EQ(each.incomplete.table("left over"), "");
    }
}

INSTANTIATE_TEST_SUITE_P(Workers, FakeSchedules,
                         testing::Values(setting{"reserved", true, 64, false}, setting{"shared", false, 64, false},
                                         setting{"reserved_heavy", true, 1024, true},
                                         setting{"shared_heavy", false, 8, true},
                                         setting{"waiters_drive", true, 64, false, true},
                                         setting{"waiters_drive_heavy", true, 8, true, true},
                                         setting{"submitters_start", false, 64, false, false, 1, true},
                                         setting{"submitters_start_heavy", false, 8, true, false, 1, true},
                                         setting{"three_whose_submitters_start", false, 8, true, false, 3, true},
                                         setting{"two_reserved", true, 16, false, false, 2},
                                         setting{"three_shared_heavy", false, 8, true, false, 3},
                                         setting{"three_with_waiters", true, 8, true, true, 3}),
                         [](const auto& parameter) { return std::string{parameter.param.name}; });

} // namespace
} // namespace commtask::detail
