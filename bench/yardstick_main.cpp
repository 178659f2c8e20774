// SPDX-License-Identifier: Apache-2.0
//
// Question: what are the units of this machine? The round trip of one cache line between two cores, which the other
// benchmarks use as their yardstick, beside the cost of reading the clock and of waking a sleeping thread. With
// --machine it prints the machine's description alone, for drivers that have no access to it.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <thread>

#include "harness/alternate.h"
#include "harness/clock.h"
#include "harness/cores.h"
#include "harness/machine.h"
#include "harness/options.h"
#include "harness/report.h"
#include "harness/yardstick.h"

namespace {

using namespace commtask::bench;

/// From the call that wakes a thread sleeping on another core to its first instruction.
class sleeper {
public:
    explicit sleeper(int core) {
        thread_ = std::thread([this, core] {
            pin_this_thread(core);
            for (std::uint32_t seen = 0; !is_over_.load(); ++seen) {
                calls_.wait(seen);
                woken_at_.store(ticks());
            }
        });
    }
    ~sleeper() {
        is_over_.store(true);
        call();
        thread_.join();
    }
    sleeper(const sleeper&) = delete;
    sleeper& operator=(const sleeper&) = delete;

    void sample(round_samples& out) {
        for (int i = 0; i < 20; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1)); // so that it surely sleeps again
            woken_at_.store(0);
            const std::uint64_t begin = ticks();
            call();
            while (woken_at_.load() == 0) {}
            out.push_back(ns_between(begin, woken_at_.load()));
        }
    }

private:
    void call() {
        calls_.fetch_add(1);
        calls_.notify_one();
    }

    std::atomic<std::uint32_t> calls_{0};
    std::atomic<std::uint64_t> woken_at_{0};
    std::atomic<bool> is_over_{false};
    std::thread thread_;
};

std::string mpi_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    return text.data();
}

} // namespace

int main(int argc, char** argv) {
    options given;
    bool is_machine_only = false;
    CLI::App app{"Reference times of this machine: cache-line round trip, clock, wake-up of a thread."};
    given.declare(app);
    app.add_flag("--machine", is_machine_only, "only print the description of the machine");
    CLI11_PARSE(app, argc, argv);
    const nlohmann::ordered_json machine = describe_machine(mpi_version());
    if (is_machine_only) {
        std::cout << machine.dump(2) << "\n";
        return 0;
    }
    const std::vector<int> cores = allowed_cores();
    if (cores.size() < 2) {
        std::fprintf(stderr, "needs two cores\n");
        return 77;
    }
    pin_this_thread(cores.front());
    yardstick line(cores.back());
    sleeper other(cores.back());
    const std::array sides{
        side{.name = "ping-pong", .unit = "ns", .measure = [&](round_samples& out) { line.sample(500, out); }},
        side{.name = "clock", .unit = "ns", .measure = [](round_samples& out) { out.push_back(clock_cost_ns()); }},
        side{.name = "wake a sleeper", .unit = "ns", .measure = [&](round_samples& out) { other.sample(out); }}};
    const std::vector<series> all = alternate(sides, given.rounds(50));
    report out("yardstick", "two threads", machine);
    out.add(all[0]);
    out.add(all[1], all[0]);
    out.add(all[2], all[0]);
    out.publish(given.json_file);
    return 0;
}
