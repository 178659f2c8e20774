// SPDX-License-Identifier: Apache-2.0
//
// Communication nodes among oneTBB's own: messages arrive where they should, at every kind of neighbour, and
// wait_for_all() waits for them.
#include "scratch_file.hpp"
#include "tbb_fixture.hpp"

#include <oneapi/tbb/concurrent_vector.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <thread>

using namespace commtask::test;
using commtask::allreduce;
using commtask::in_place;
using commtask::one;
using testing::Each;
using testing::ElementsAre;

namespace {

/// A message that carries its buffer with it.
struct parcel {
    std::size_t number = 0;
    std::array<int, 3> data{};
    int source = -1;
    void received(const commtask::status& status) { source = status.source(); }
};

TEST_F(TbbFace, AMessageGoesOnWhenItsBufferIsFull) {
    std::vector<int> seen;
    in_arena([&] {
        flow::graph graph;
        std::vector<int> halo(4, -1);
        const std::vector<int> edge(4, rank_);
        ct::recv_node<std::span<int>> receive(graph, left(), 5, comm_);
        ct::send_node<std::span<const int>> send(graph, right(), 5, comm_);
        flow::function_node<std::span<int>> look(graph, flow::serial,
                                                 [&](std::span<int> full) { seen.assign(full.begin(), full.end()); });
        flow::make_edge(receive, look);
        receive.try_put(halo);
        send.try_put(edge);
        ct::wait_for_all(graph);
    });
    EXPECT_THAT(seen, testing::SizeIs(4));
    EXPECT_THAT(seen, Each(left()));
}

TEST_F(TbbFace, AGraphWhoseEdgesWereClearedCommunicatesAgain) {
    int n_seen = 0;
    in_arena([&] {
        flow::graph graph;
        std::vector<int> halo(1, -1);
        const std::vector<int> edge(1, rank_);
        ct::recv_node<std::span<int>> receive(graph, left(), 6, comm_);
        ct::send_node<std::span<const int>> send(graph, right(), 6, comm_);
        flow::function_node<std::span<int>> look(graph, flow::serial, [&](std::span<int>) { ++n_seen; });
        for (int round = 0; round < 2; ++round) {
            flow::make_edge(receive, look);
            receive.try_put(halo);
            send.try_put(edge);
            ct::wait_for_all(graph);
            graph.reset(flow::rf_clear_edges);
        }
    });
    EXPECT_EQ(n_seen, 2);
}

TEST_F(TbbFace, ManyMessagesPassOneNodeEachInItsOwnBuffer) {
    constexpr std::size_t n_messages = 200;
    ::tbb::concurrent_vector<parcel> arrived;
    in_arena([&] {
        flow::graph graph;
        ct::recv_node<parcel> receive(graph, flow::unlimited, [&](parcel& into) {
            return commtask::recv(into.data, left(), static_cast<int>(into.number), comm_);
        });
        ct::send_node<parcel> send(graph, flow::unlimited, [&](parcel& from) {
            return commtask::send(from.data, right(), static_cast<int>(from.number), comm_);
        });
        flow::function_node<parcel, flow::continue_msg> keep(graph, flow::unlimited,
                                                             [&](const parcel& full) { arrived.push_back(full); });
        flow::make_edge(flow::output_port<0>(receive), keep);
        for (std::size_t i = 0; i < n_messages; ++i) {
            receive.try_put({.number = n_messages - 1 - i}); // tags match them, whatever the order
            send.try_put({.number = i, .data{rank_, static_cast<int>(i), 7}});
        }
        ct::wait_for_all(graph);
    });
    ASSERT_EQ(arrived.size(), n_messages);
    for (const parcel& each : arrived) {
        EXPECT_EQ(each.data, (std::array{left(), static_cast<int>(each.number), 7}));
        EXPECT_EQ(each.source, left());
    }
}

TEST_F(TbbFace, SerialNodesKeepTheOrderOfArrivalForEqualTags) {
    constexpr int n_messages = 100;
    std::vector<int> buffers(n_messages, -1);
    in_arena([&] {
        flow::graph graph;
        ct::recv_node<int> receive(graph, flow::serial, [&](int& i) {
            return commtask::recv(one(buffers[static_cast<std::size_t>(i)]), left(), 0, comm_);
        });
        std::vector<int> sent(n_messages);
        std::iota(sent.begin(), sent.end(), 0);
        ct::send_node<int> send(graph, flow::serial, [&](int& i) {
            return commtask::send(one(sent[static_cast<std::size_t>(i)]), right(), 0, comm_);
        });
        for (int i = 0; i < n_messages; ++i) {
            send.try_put(i);
            receive.try_put(i);
        }
        ct::wait_for_all(graph);
    });
    for (int i = 0; i < n_messages; ++i) EXPECT_EQ(buffers[static_cast<std::size_t>(i)], i);
}

TEST_F(TbbFace, WorksBetweenJoinLimiterBufferAndPriorityNodes) {
    constexpr int n_messages = 40;
    std::vector<int> halos(n_messages, -1);
    std::vector<int> edges(n_messages);
    std::iota(edges.begin(), edges.end(), 1000 * rank_);
    std::atomic<int> pending{0};
    std::atomic<int> most_pending{0};
    int sum = 0;
    in_arena([&] {
        flow::graph graph;
        int next = 0;
        flow::input_node<int> source(graph, [&](::tbb::flow_control& control) {
            if (next == n_messages) control.stop();
            return next++;
        });
        flow::limiter_node<int> limit(graph, 4);
        ct::recv_node<int> receive(
            graph, flow::unlimited,
            [&](int& i) {
                int now = ++pending;
                for (int most = most_pending; now > most && !most_pending.compare_exchange_weak(most, now);) {}
                return commtask::recv(one(halos[static_cast<std::size_t>(i)]), left(), i, comm_);
            },
            flow::node_priority_t{2});
        ct::send_node<int> send(graph, flow::unlimited, [&](int& i) {
            return commtask::send(one(edges[static_cast<std::size_t>(i)]), right(), i, comm_);
        });
        flow::priority_queue_node<int, std::greater<>> queue(graph);
        flow::buffer_node<int> sent(graph);
        flow::join_node<std::tuple<int, int>, flow::reserving> both(graph);
        flow::function_node<std::tuple<int, int>, flow::continue_msg> use(
            graph, flow::serial, [&](const std::tuple<int, int>& pair) {
                --pending;
                sum += halos[static_cast<std::size_t>(std::get<0>(pair))];
            });
        flow::make_edge(source, limit);
        flow::make_edge(limit, receive);
        flow::make_edge(limit, send);
        flow::make_edge(receive, queue);
        flow::make_edge(send, sent);
        flow::make_edge(queue, flow::input_port<0>(both));
        flow::make_edge(sent, flow::input_port<1>(both));
        flow::make_edge(both, use);
        flow::make_edge(use, limit.decrementer());
        source.activate();
        ct::wait_for_all(graph);
    });
    EXPECT_EQ(sum, n_messages * 1000 * left() + n_messages * (n_messages - 1) / 2);
    EXPECT_LE(most_pending.load(), 4);
}

TEST_F(TbbFace, CollectivesAreOneTemplate) {
    std::vector<int> gathered(size(), -1);
    std::vector<int> turned(size(), -1);
    int root_says = rank_ == 0 ? 77 : -1;
    int sum = rank_;
    int largest = rank_;
    std::vector<int> to_all(size());
    for (std::size_t i = 0; i < size(); ++i) to_all[i] = 100 * rank_ + static_cast<int>(i);
    bool has_passed = false;
    in_arena([&] {
        flow::graph graph;
        using node = ct::collective_node<flow::continue_msg>;
        const auto fixed = [&](const commtask::operation& what) { return node(graph, flow::serial, what); };
        node reduce{fixed(allreduce(in_place, one(sum), MPI_SUM, comm_))};
        node gather{fixed(commtask::allgather(one(rank_), gathered, comm_))};
        node turn{fixed(commtask::alltoall(to_all, turned, 1, comm_))};
        node tell{fixed(commtask::bcast(one(root_says), 0, comm_))};
        node most{fixed(allreduce(in_place, one(largest), MPI_MAX, comm_))};
        node meet{fixed(commtask::barrier(comm_))};
        flow::continue_node<flow::continue_msg> end(graph, [&](flow::continue_msg) { has_passed = true; });
        flow::make_edge(reduce, gather);
        flow::make_edge(gather, turn);
        flow::make_edge(turn, tell);
        flow::make_edge(tell, most);
        flow::make_edge(most, meet);
        flow::make_edge(meet, end);
        reduce.try_put({});
        ct::wait_for_all(graph);
    });
    EXPECT_TRUE(has_passed);
    EXPECT_EQ(sum, n_ranks_ * (n_ranks_ - 1) / 2);
    EXPECT_EQ(largest, n_ranks_ - 1);
    EXPECT_EQ(root_says, 77);
    for (std::size_t i = 0; i < size(); ++i) {
        EXPECT_EQ(gathered[i], static_cast<int>(i));
        EXPECT_EQ(turned[i], 100 * static_cast<int>(i) + rank_);
    }
}

TEST_F(TbbFace, ARequestNodeStartsWhatGivesARequest) {
    int received = -1;
    int called = 0;
    in_arena([&] {
        flow::graph graph;
        ct::request_node<int> receive(graph, flow::serial, comm_, [this, &received](int& tag, MPI_Request* request) {
            return MPI_Irecv(&received, 1, MPI_INT, left(), tag, comm_, request);
        });
        ct::request_node<int> send(graph, flow::serial,
                                   [this](int& tag) { return commtask::send(one(rank_), right(), tag, comm_); });
        ct::request_node<int> call(graph, flow::serial,
                                   [this, &called](int&) { return commtask::call([&called] { ++called; }, comm_); });
        ct::request_node<int> nothing(graph, flow::serial, commtask::noop(comm_));
        flow::make_edge(receive, nothing);
        flow::make_edge(nothing, call);
        receive.try_put(9);
        send.try_put(9);
        ct::wait_for_all(graph);
    });
    EXPECT_EQ(received, left());
    EXPECT_EQ(called, 1);
}

TEST_F(TbbFace, ARequestNodeAccessesAWindow) {
    constexpr int n_elements = 64;
    double* exposed = nullptr;
    MPI_Win handle = MPI_WIN_NULL;
    ASSERT_EQ(MPI_Win_allocate(n_elements * sizeof(double), sizeof(double), MPI_INFO_NULL, comm_,
                               static_cast<void*>(&exposed), &handle),
              MPI_SUCCESS);
    std::fill_n(exposed, n_elements, -1.0);
    commtask::window<double> shared{handle, comm_}; // collective: nobody writes before
    std::array<double, 3> values{};
    double seen = -1;
    in_arena([&] {
        flow::graph graph;
        flow::function_node<int, int> compute(graph, flow::serial, [&](int at) {
            values.fill(0.5 + rank_);
            return at;
        });
        ct::request_node<int> put(graph, flow::serial,
                                  [&](int& at) { return shared.put_notify(values, right(), at, 1); });
        ct::request_node<int> come(graph, flow::serial, [&](int&) { return shared.await_notify(1, 1, left()); });
        flow::function_node<int> look(graph, flow::serial, [&](int at) { seen = exposed[at + 2]; });
        flow::make_edge(compute, put);
        flow::make_edge(come, look);
        come.try_put(5);
        compute.try_put(5);
        graph.wait_for_all();
    });
    EXPECT_EQ(seen, 0.5 + left());
    shared.unregister();
    EXPECT_EQ(MPI_Win_free(&handle), MPI_SUCCESS);
}

TEST_F(TbbFace, ARequestNodeWritesAFileAndReadsIt) {
    const std::string name = scratch_file();
    ASSERT_FALSE(name.empty());
    MPI_File file = MPI_FILE_NULL;
    ASSERT_EQ(
        MPI_File_open(MPI_COMM_SELF, name.c_str(), MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file),
        MPI_SUCCESS);
    int read = -1;
    in_arena([&] {
        flow::graph graph;
        ct::request_node<int> write(graph, flow::serial, [&](int& value) {
            return commtask::operation{commtask_op_file_write_at(16, &value, 1, MPI_INT, file, comm_)};
        });
        ct::request_node<int> read_again(graph, flow::serial, [&](int&) {
            return commtask::operation{commtask_op_file_read_at(16, &read, 1, MPI_INT, file, comm_)};
        });
        flow::make_edge(write, read_again);
        write.try_put(77 + rank_);
        graph.wait_for_all();
    });
    EXPECT_EQ(read, 77 + rank_);
    commtask::close_file(file, MPI_COMM_SELF);
}

TEST_F(TbbFace, WaitForAllWaitsForACommunicationThatNobodyElseWaitsFor) {
    int received = -1;
    bool was_there = false;
    in_arena([&] {
        flow::graph graph;
        ct::recv_node<std::span<int>> receive(graph, rank_, 3, comm_);
        flow::function_node<std::span<int>, flow::continue_msg> note(graph, flow::serial,
                                                                     [&](std::span<int>) { was_there = true; });
        flow::make_edge(receive, note);
        receive.try_put(one(received));
        // Nothing of the graph runs when this thread sends: only the reservation keeps wait_for_all() waiting.
        commtask::event may_send;
        commtask::post_detached(commtask::send(one(rank_), rank_, 3, comm_), commtask::after(may_send));
        std::thread sender([&] { may_send.signal(); });
        ct::wait_for_all(graph);
        sender.join();
    });
    EXPECT_TRUE(was_there);
    EXPECT_EQ(received, rank_);
}

TEST_F(TbbFace, ThreadsOutsideEveryArenaMayPutMessages) {
    constexpr int n_threads = 3;
    std::array<int, n_threads> received{};
    in_arena([&] {
        flow::graph graph;
        ct::recv_node<int> receive(graph, flow::unlimited, [&](int& i) {
            return commtask::recv(one(received[static_cast<std::size_t>(i)]), left(), i, comm_);
        });
        ct::send_node<int> send(graph, flow::unlimited,
                                [&](int& i) { return commtask::send(one(rank_), right(), i, comm_); });
        std::vector<std::thread> outside;
        for (int i = 0; i < n_threads; ++i) {
            outside.emplace_back([&, i] {
                receive.try_put(i);
                send.try_put(i);
            });
        }
        for (std::thread& each : outside) each.join();
        ct::wait_for_all(graph);
    });
    EXPECT_THAT(received, Each(left()));
}

TEST_F(TbbFace, AGraphInsideAnIsolatedTaskEnds) {
    std::atomic<int> n_ended{0};
    in_arena([&] {
        ::tbb::parallel_for(0, 8, [&](int i) {
            ::tbb::this_task_arena::isolate([&] {
                int received = -1;
                const int sent = 10 * rank_ + i;
                flow::graph graph;
                ct::recv_node<std::span<int>> receive(graph, left(), i, comm_);
                ct::send_node<std::span<const int>> send(graph, right(), i, comm_);
                receive.try_put(one(received));
                send.try_put(one(sent));
                ct::wait_for_all(graph);
                if (received == 10 * left() + i) ++n_ended;
            });
        });
    });
    EXPECT_EQ(n_ended.load(), 8);
}

TEST_F(TbbFace, AGraphIsUsedAgainAndAgain) {
    std::vector<int> sums;
    in_arena([&] {
        flow::graph graph;
        int value = 0;
        ct::collective_node<flow::continue_msg> reduce(graph, flow::serial,
                                                       allreduce(in_place, one(value), MPI_SUM, comm_));
        for (int turn = 0; turn < 20; ++turn) {
            value = turn;
            reduce.try_put({});
            ct::wait_for_all(graph);
            sums.push_back(value);
        }
    });
    for (int turn = 0; turn < 20; ++turn) EXPECT_EQ(sums[static_cast<std::size_t>(turn)], turn * n_ranks_);
}

} // namespace
