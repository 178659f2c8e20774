// SPDX-License-Identifier: Apache-2.0
//
// Order on a communicator that several lanes serve, without MPI: threads post streams of messages, some ordered and held back by
// events that are signalled in another order, while workers drive one to four lanes. The reference is the program: each
// stream must be issued by one lane, without a gap, in the order in which it was posted.
#include "core/comm_striping.hpp"
#include "core/graph.hpp"
#include "core/task_pool.hpp"
#include "core/waiting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace commtask::detail {
namespace {

constexpr int n_threads = 3;
constexpr int n_streams = 4; ///< Of each thread.
constexpr int n_messages = 100;

/// What is the next message of each stream, and which lane has seen it.
struct reference {
    struct stream {
        std::atomic<int> next{0};
        std::atomic<int> lane{-1};
    };
    std::array<stream, std::size_t{n_threads} * n_streams> streams;
    std::atomic<int> n_wrong{0};
};

/// Looks at each message as it is issued, and ends it a few polls later.
class watching_transport final : public transport {
public:
    watching_transport(reference& expected, int lane)
        : expected_(expected), lane_(lane), random_(17U + static_cast<unsigned>(lane)) {}

    [[nodiscard]] start_result start(task& which) noexcept override {
        reference::stream& its = expected_.streams[static_cast<std::size_t>(which.op.send_tag)];
        int nobody = -1;
        const bool is_first = its.lane.compare_exchange_strong(nobody, lane_);
        const bool is_here = is_first || nobody == lane_;
        if (its.next.fetch_add(1) != which.op.send.count || !is_here) ++expected_.n_wrong;
        if (random_() % 4 == 0) return start_result::completed;
        which.run.open_parts = 1;
        flying_.push_back({&which, random_() % 6});
        n_in_flight_ = flying_.size();
        return start_result::started;
    }
    [[nodiscard]] bool may_start_on_submitter(const task& /*which*/) const noexcept override { return true; }
    void poll(completion_sink& sink) noexcept override {
        std::vector<task*> landed;
        std::erase_if(flying_, [&](flight& each) {
            if (each.polls_left-- > 0) return false;
            landed.push_back(each.which);
            return true;
        });
        n_in_flight_ = flying_.size();
        for (task* each : landed) sink.part_ended(*each, 0);
    }
    void withdraw(task& /*which*/) noexcept override {}
    void abandon(task& /*which*/) noexcept override {}
    void clean_up(task& /*which*/) noexcept override {}
    [[nodiscard]] std::string describe(const task& /*which*/) const override { return "a message"; }

private:
    struct flight {
        task* which;
        std::minstd_rand::result_type polls_left;
    };
    reference& expected_;
    const int lane_;
    std::minstd_rand random_;
    std::vector<flight> flying_;
};

/// Posts the streams of one thread, in turns drawn at random.
class submitter {
public:
    submitter(const comm_striping& spread, int thread, unsigned seed)
        : spread_(spread), thread_(thread), random_(seed) {}

    void post_all() {
        std::array<int, n_streams> sent{};
        for (int left = n_streams * n_messages; left > 0; --left) {
            std::size_t stream = random_() % n_streams;
            while (sent[stream] == n_messages) stream = (stream + 1) % n_streams;
            post(static_cast<int>(stream), sent[stream]++);
            if (random_() % 3 == 0) signal_one();
        }
        while (!events_.empty()) signal_one();
    }

    void settle(lane_set& lanes, const waiting_policy& policy) {
        for (task* each : posted_) {
            static_cast<void>(
                wait_in_library(lanes, policy, -1, [&] { return each->life.state() != task_state::open; }));
            task_pool::drop(each);
        }
    }

private:
    void post(int stream, int number) {
        commtask_op op =
            commtask_op_send(nullptr, number, MPI_Datatype{}, stream, thread_ * n_streams + stream, MPI_Comm{});
        comm_queue* queue = nullptr;
        ASSERT_EQ(spread_.choose(op, queue), comm_striping::choice::ok);
        task& made = *task_pool::acquire();
        made.begin_operation(op, *queue, flag_has_extras, 2);
        made.extras = {};
        const bool is_ordered = stream % 2 == 0; // the others have no predecessors, and pass by
        if (is_ordered) {
            made.extras.its_turn = queue->order.make(op, COMMTASK_ORDERED, {});
            queue->order.take(*made.extras.its_turn);
        }
        if (is_ordered && random_() % 2 == 0) {
            task& event = *task_pool::acquire();
            event.begin_event(1);
            static_cast<void>(graph::make_room_for_edges(made, 1));
            graph::add_predecessor(made, event);
            events_.push_back(&event);
        }
        queue->served_by->post(made);
        posted_.push_back(&made);
    }
    void signal_one() {
        if (events_.empty()) return;
        std::swap(events_[random_() % events_.size()], events_.back());
        task& event = *events_.back();
        events_.pop_back();
        static_cast<void>(graph::signal(event, release_to_its_lane));
        task_pool::drop(&event);
    }

    const comm_striping& spread_;
    const int thread_;
    std::minstd_rand random_;
    std::vector<task*> posted_;
    std::vector<task*> events_;
};

struct setting {
    std::size_t n_lanes;
    bool by_thread;
    bool is_reserved;
};

class FakeLaneOrder : public testing::TestWithParam<setting> {};

TEST_P(FakeLaneOrder, EveryStreamIsIssuedByOneLaneAsItWasPosted) {
    for (unsigned round = 0; round < 2; ++round) {
        SCOPED_TRACE(testing::Message() << "round " << round);
        reference expected;
        std::vector<std::unique_ptr<watching_transport>> carriers;
        std::vector<transport*> below;
        for (std::size_t i = 0; i < GetParam().n_lanes; ++i) {
            carriers.push_back(std::make_unique<watching_transport>(expected, static_cast<int>(i)));
            below.push_back(carriers.back().get());
        }
        lane_settings of_lane;
        of_lane.queue_capacity = round % 2 == 0 ? 16 : 1024;
        of_lane.submitters_start = !GetParam().is_reserved && round % 2 == 1;
        lane_set lanes{below, of_lane};
        std::vector<std::unique_ptr<comm_queue>> queues;
        std::vector<comm_queue*> over;
        for (lane& each : lanes) {
            queues.push_back(std::make_unique<comm_queue>(each, static_cast<std::uint32_t>(queues.size())));
            over.push_back(queues.back().get());
        }
        const comm_striping spread =
            GetParam().by_thread ? comm_striping{over} : comm_striping{over, 1, {true, true, false}};
        worker_settings plan;
        plan.is_reserved = GetParam().is_reserved;
        plan.spin_ns = 2'000;
        plan.wait_max_ns = 50'000;
        const waiting_policy policy{plan.is_reserved, 1'000, false};
        for (std::size_t i = 0; i < lanes.size(); ++i) lanes.start_worker(i, plan);
        std::array<std::thread, n_threads> threads;
        for (int thread = 0; thread < n_threads; ++thread) {
            threads[static_cast<std::size_t>(thread)] = std::thread{[&, thread] {
                submitter mine{spread, thread, 100 * round + static_cast<unsigned>(thread) + 1};
                mine.post_all();
                mine.settle(lanes, policy);
            }};
        }
        for (std::thread& each : threads) each.join();
        lanes.stop_workers();
        EXPECT_EQ(expected.n_wrong, 0);
        for (const reference::stream& each : expected.streams) EXPECT_EQ(each.next, n_messages);
    }
}

std::vector<setting> all_settings() {
    std::vector<setting> all;
    for (const std::size_t n_lanes : {1U, 2U, 3U, 4U}) {
        for (const bool by_thread : {false, true}) all.push_back({n_lanes, by_thread, n_lanes == 1});
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(Lanes, FakeLaneOrder, testing::ValuesIn(all_settings()), [](const auto& parameter) {
    return std::to_string(parameter.param.n_lanes) + (parameter.param.by_thread ? "_by_thread" : "_by_message");
});

class CommSpread : public testing::Test {
protected:
    /// Where a message of this rank goes; -1: it has no way, -2: it stays on its communicator.
    [[nodiscard]] int way_of(const comm_striping& spread, const commtask_op& op) const {
        comm_queue* chosen = nullptr;
        if (spread.choose(op, chosen) != comm_striping::choice::ok) return -1;
        return chosen == nullptr ? -2 : static_cast<int>(std::ranges::find(over_, chosen) - over_.begin());
    }
    [[nodiscard]] comm_striping seen_by(int rank, bool no_any_source, bool no_any_tag) const {
        return {over_, rank, {no_any_source, no_any_tag, false}};
    }
    [[nodiscard]] static commtask_op send(int to, int tag) {
        return commtask_op_send(nullptr, 0, MPI_Datatype{}, to, tag, MPI_Comm{});
    }
    [[nodiscard]] static commtask_op recv(int from, int tag) {
        return commtask_op_recv(nullptr, 0, MPI_Datatype{}, from, tag, MPI_Comm{});
    }

    reference unused_;
    watching_transport below_{unused_, 0};
    lane_set lanes_{std::vector<transport*>(3, &below_), lane_settings{}};
    std::array<comm_queue, 3> queues_{comm_queue{lanes_[0], 0}, comm_queue{lanes_[1], 1}, comm_queue{lanes_[2], 2}};
    std::vector<comm_queue*> over_{&queues_[0], &queues_[1], &queues_[2]};
};

TEST_F(CommSpread, BothEndsOfAMessageChooseOneQueueFromWhatTheyKnow) {
    for (const auto& [no_any_source, no_any_tag] :
         {std::pair{true, true}, std::pair{true, false}, std::pair{false, true}}) {
        std::array<int, 3> n_ways{};
        for (int sender = 0; sender < 4; ++sender) {
            for (int receiver = 0; receiver < 4; ++receiver) {
                for (int tag = 0; tag < 6; ++tag) {
                    const int sent_by = way_of(seen_by(sender, no_any_source, no_any_tag), send(receiver, tag));
                    const comm_striping there = seen_by(receiver, no_any_source, no_any_tag);
                    EXPECT_EQ(way_of(there, recv(sender, tag)), sent_by);
                    EXPECT_EQ(way_of(there, recv(MPI_ANY_SOURCE, tag)), no_any_source ? -1 : sent_by);
                    EXPECT_EQ(way_of(there, recv(sender, MPI_ANY_TAG)), no_any_tag ? -1 : sent_by);
                    ++n_ways[static_cast<std::size_t>(sent_by)];
                }
            }
        }
        EXPECT_GT(*std::ranges::min_element(n_ways), 4 * 4 * 6 / 3 / 2) << "a lane has little to do";
    }
}

TEST_F(CommSpread, LeavesWhatIsNoMessageWhereItIs) {
    const comm_striping spread = seen_by(0, true, true);
    EXPECT_EQ(way_of(spread, commtask_op_barrier(MPI_Comm{})), -2);
    EXPECT_EQ(way_of(spread, commtask_op_noop(MPI_Comm{})), -2);
    EXPECT_EQ(way_of(spread, send(MPI_PROC_NULL, 1)), -2);
    EXPECT_EQ(way_of(comm_striping{over_}, commtask_op_barrier(MPI_Comm{})), -2);
}

} // namespace
} // namespace commtask::detail
