// SPDX-License-Identifier: Apache-2.0
//
// From the moment at which any test would find a receive complete to the first instruction of what follows it: a node's
// successor, a task after wait(), and the same by hand in the two usual ways. One thread of oneTBB sits in
// wait_for_all() on its core, the worker (or the hand-written thread) on another.
#include <commtask/tbb.hpp>
#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <random>
#include <thread>

#include "harness/clock.h"
#include "harness/cores.h"
#include "tbb/sides.h"
#include "unblock/completion_trigger.h"

namespace commtask::bench {
namespace {

namespace ct = commtask::tbb;
namespace flow = ::tbb::flow;

constexpr int tag = 5;

/// A moment that no loop is in step with.
std::uint64_t next_delay_ns() {
    static std::mt19937 random(1);
    return std::uniform_int_distribution<std::uint64_t>(30'000, 80'000)(random);
}

/// Runs `turn()`, which gives the first instruction, in an arena of this one thread; two turns warm up.
template <typename Turn>
void sample(int n_samples, round_samples& out, Turn turn) {
    for (int i = -2; i < n_samples; ++i) {
        const std::uint64_t first_instruction = turn();
        if (i >= 0) out.push_back(ns_between(message_came_at(), first_instruction) * 1e-3);
    }
}

/// A thread that receives one int at a time and spins in MPI until it is there, as MPI_Wait does in MPICH; one per program.
class thread_in_mpi_wait {
public:
    explicit thread_in_mpi_wait(int core)
        : thread_([this, core] {
              pin_this_thread(core);
              for (std::uint32_t seen = 0;; ++seen) {
                  n_receives_.wait(seen);
                  if (gateway_ == nullptr) return;
                  int received = 0;
                  int is_complete = 0;
                  MPI_Request request = MPI_REQUEST_NULL;
                  MPI_Irecv(&received, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &request);
                  // Not MPI_Wait itself: the message is sent from within a test, so that no third thread is needed.
                  while (is_complete == 0) MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE);
                  gateway_->try_put({});
                  gateway_->release_wait();
              }
          }) {}
    thread_in_mpi_wait(const thread_in_mpi_wait&) = delete;
    thread_in_mpi_wait& operator=(const thread_in_mpi_wait&) = delete;
    ~thread_in_mpi_wait() {
        give(nullptr);
        thread_.join();
    }
    using node = flow::async_node<flow::continue_msg, flow::continue_msg>;
    void give(node::gateway_type* gateway) {
        gateway_ = gateway;
        n_receives_.fetch_add(1);
        n_receives_.notify_one();
    }

private:
    node::gateway_type* gateway_ = nullptr;
    std::atomic<std::uint32_t> n_receives_{0};
    std::thread thread_;
};

} // namespace

void sample_node(int n_samples, round_samples& out) {
    ct::arena arena(1);
    arena.execute([&] {
        flow::graph graph;
        int received = 0;
        std::uint64_t first_instruction = 0;
        ct::recv_node<std::span<int>> receive(graph, 0, tag, MPI_COMM_SELF);
        flow::function_node<std::span<int>, flow::continue_msg> next(
            graph, flow::unlimited, [&](std::span<int>) { first_instruction = ticks(); });
        flow::make_edge(receive, next);
        sample(n_samples, out, [&] {
            receive.try_put(one(received));
            send_before_a_test(next_delay_ns(), tag);
            graph.wait_for_all();
            return first_instruction;
        });
    });
}

void sample_wait(int n_samples, round_samples& out) {
    ct::arena arena(1);
    arena.execute([&] {
        ::tbb::task_group group;
        sample(n_samples, out, [&] {
            int received = 0;
            std::uint64_t first_instruction = 0;
            group.run([&] {
                task receive = post(recv(one(received), 0, tag, MPI_COMM_SELF));
                send_before_a_test(next_delay_ns(), tag);
                static_cast<void>(ct::wait(receive));
                first_instruction = ticks();
            });
            group.wait();
            return first_instruction;
        });
    });
}

void sample_thread_in_wait(int core, int n_samples, round_samples& out) {
    let_the_other_core_rest();
    thread_in_mpi_wait waiter(core);
    ::tbb::task_arena arena(1);
    arena.execute([&] {
        flow::graph graph;
        std::uint64_t first_instruction = 0;
        thread_in_mpi_wait::node receive(graph, flow::unlimited, [&](flow::continue_msg, auto& gateway) {
            gateway.reserve_wait();
            send_before_a_test(next_delay_ns(), tag);
            waiter.give(&gateway);
        });
        flow::function_node<flow::continue_msg, flow::continue_msg> next(
            graph, flow::unlimited, [&](flow::continue_msg) { first_instruction = ticks(); });
        flow::make_edge(receive, next);
        sample(n_samples, out, [&] {
            receive.try_put({});
            graph.wait_for_all();
            return first_instruction;
        });
    });
}

void sample_polling_task(int n_samples, round_samples& out) {
    let_the_other_core_rest();
    ::tbb::task_arena arena(1);
    arena.execute([&] {
        flow::graph graph;
        int received = 0;
        MPI_Request request = MPI_REQUEST_NULL;
        std::uint64_t first_instruction = 0;
        using polling =
            flow::multifunction_node<flow::continue_msg, std::tuple<flow::continue_msg, flow::continue_msg>>;
        polling poll(graph, flow::unlimited, [&](flow::continue_msg, polling::output_ports_type& ports) {
            int is_complete = 0;
            MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE);
            if (is_complete == 0) {
                std::get<0>(ports).try_put({});
            } else {
                std::get<1>(ports).try_put({});
            }
        });
        flow::function_node<flow::continue_msg, flow::continue_msg> next(
            graph, flow::unlimited, [&](flow::continue_msg) { first_instruction = ticks(); });
        flow::make_edge(flow::output_port<0>(poll), poll);
        flow::make_edge(flow::output_port<1>(poll), next);
        sample(n_samples, out, [&] {
            MPI_Irecv(&received, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &request);
            send_before_a_test(next_delay_ns(), tag);
            poll.try_put({});
            graph.wait_for_all();
            return first_instruction;
        });
    });
}

} // namespace commtask::bench
