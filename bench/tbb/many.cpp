// SPDX-License-Identifier: Apache-2.0
//
// A graph of as many nodes as there are receives, all outstanding at once, and what one that waits costs. The messages are
// sent in the order in which the receives were posted: how MPI searches a long list is not the question.
#include <commtask/tbb.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "harness/clock.h"
#include "tbb/sides.h"

namespace commtask::bench {
namespace {

namespace ct = commtask::tbb;
namespace flow = ::tbb::flow;

double us_per(std::uint64_t from, std::size_t n) { return ns_between(from, ticks()) * 1e-3 / static_cast<double>(n); }

/// Memory of this process that is in use, in bytes.
double resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t total = 0;
    std::size_t resident = 0;
    file >> total >> resident;
    return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Processor time in seconds of all threads of this process but the worker.
double processor_time_beside_worker() {
    double ticks_used = 0;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream file(thread.path() / "stat");
        std::string text;
        std::getline(file, text);
        const std::size_t end_of_name = text.rfind(')');
        if (end_of_name == std::string::npos || text.substr(0, end_of_name).ends_with("(commtask")) continue;
        std::ifstream precise(thread.path() / "schedstat"); // nanoseconds on a processor
        double ns = 0;
        precise >> ns;
        ticks_used += ns * 1e-9;
    }
    return ticks_used;
}

} // namespace

many_receives measure_many_receives(std::size_t n_receives) {
    many_receives measured;
    ct::arena arena(1);
    arena.execute([&] {
        flow::graph graph;
        using receiver = ct::recv_node<std::span<int>>;
        using successor = flow::function_node<std::span<int>, flow::continue_msg>;
        std::vector<int> buffers(n_receives, -1);
        const std::vector<int> values(n_receives, 7);
        std::vector<std::unique_ptr<receiver>> receivers;
        std::vector<std::unique_ptr<successor>> successors;
        std::atomic<std::size_t> n_arrived{0};

        const double before = resident_bytes();
        std::uint64_t begin = ticks();
        for (std::size_t i = 0; i < n_receives; ++i) {
            receivers.push_back(std::make_unique<receiver>(graph, 0, static_cast<int>(i), MPI_COMM_SELF));
            successors.push_back(
                std::make_unique<successor>(graph, flow::unlimited, [&](std::span<int>) { ++n_arrived; }));
            flow::make_edge(*receivers.back(), *successors.back());
        }
        measured.build_us = us_per(begin, n_receives);

        begin = ticks();
        std::uint64_t all_posted = 0;
        // A task of the graph that ends when all receives have started, then sends.
        ct::request_node<int> started(graph, flow::serial, [](int&) { return noop(MPI_COMM_SELF); });
        flow::function_node<int, flow::continue_msg> send_all(graph, flow::serial, [&](int) {
            if (all_posted != 0) return;
            all_posted = ticks();
            measured.node_bytes = (resident_bytes() - before) / static_cast<double>(n_receives);
            // oneTBB runs what one thread put last in first out.
            for (std::size_t i = n_receives; i-- > 0;) {
                post_detached(send(one(values[i]), 0, static_cast<int>(i), MPI_COMM_SELF));
            }
        });
        flow::make_edge(started, send_all);
        for (std::size_t i = 0; i < n_receives; ++i) receivers[i]->try_put(one(buffers[i]));
        // Put last into the thread's own list of tasks it would run first: another thread's order keeps it last.
        std::thread([&] { started.try_put(0); }).join();
        graph.wait_for_all();
        measured.start_us = ns_between(begin, all_posted) * 1e-3 / static_cast<double>(n_receives);
        measured.complete_us = us_per(all_posted, n_receives);
        if (n_arrived != n_receives || buffers.back() != 7) throw std::runtime_error("a message is missing");
    });
    return measured;
}

double measure_cancel(std::size_t n_receives) {
    double per_receive_us = 0;
    ct::arena arena(1);
    arena.execute([&] {
        flow::graph graph;
        std::vector<int> buffers(n_receives, -1);
        std::uint64_t begin = 0;
        ct::recv_node<std::size_t> receive(graph, flow::unlimited, [&](std::size_t& i) {
            return recv(one(buffers[i]), 0, static_cast<int>(i), MPI_COMM_SELF);
        });
        // Runs when all receives have started: what one thread puts is started in one order or the other.
        std::atomic<std::size_t> n_put{0};
        ct::request_node<std::size_t> started(graph, flow::unlimited, [&](std::size_t&) {
            return call(
                [&] {
                    if (++n_put < 2) return;
                    begin = ticks();
                    graph.cancel();
                },
                MPI_COMM_SELF);
        });
        started.try_put(0);
        for (std::size_t i = 0; i < n_receives; ++i) receive.try_put(i);
        started.try_put(0);
        graph.wait_for_all();
        per_receive_us = us_per(begin, n_receives);
    });
    return per_receive_us;
}

double measure_many_receives_of_mpi(std::size_t n_receives) {
    let_the_other_core_rest(); // the worker makes no call to MPI while it has no work
    std::vector<int> buffers(n_receives, -1);
    const std::vector<int> values(n_receives, 7);
    std::vector<MPI_Request> requests(2 * n_receives, MPI_REQUEST_NULL);
    const std::uint64_t begin = ticks();
    for (std::size_t i = 0; i < n_receives; ++i) {
        MPI_Irecv(&buffers[i], 1, MPI_INT, 0, static_cast<int>(i), MPI_COMM_SELF, &requests[2 * i]);
    }
    for (std::size_t i = 0; i < n_receives; ++i) {
        MPI_Isend(&values[i], 1, MPI_INT, 0, static_cast<int>(i), MPI_COMM_SELF, &requests[2 * i + 1]);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    return us_per(begin, n_receives);
}

double measure_idle_graph(std::chrono::milliseconds duration) {
    double fraction = 0;
    ct::arena arena(1);
    arena.execute([&] {
        flow::graph graph;
        int received = 0;
        ct::recv_node<std::span<int>> receive(graph, 0, 1, MPI_COMM_SELF);
        receive.try_put(one(received));
        std::thread sender([&] {
            const int value = 1;
            std::this_thread::sleep_for(duration / 10); // whoever spins before it sleeps does so now
            const double before = processor_time_beside_worker();
            const std::uint64_t begin = ticks();
            std::this_thread::sleep_for(duration);
            fraction = (processor_time_beside_worker() - before) / (ns_between(begin, ticks()) * 1e-9);
            static_cast<void>(post(send(one(value), 0, 1, MPI_COMM_SELF)).wait());
        });
        graph.wait_for_all();
        sender.join();
    });
    return fraction;
}

} // namespace commtask::bench
