// SPDX-License-Identifier: Apache-2.0
//
// Question: what does a second lane bring, and what does it cost? Rates of small messages, in windows: as many threads as there
// are lanes, each with a communicator of its own, post 64 receives and 64 sends and wait for them. Beside it the same threads with
// one lane, and MPI alone with one thread and with all of them. With one rank the messages go to itself, with two to the other.
// --simulate and --gapped ask the same of networks that this machine has not. MPI's thread level is the process's: with --serialized one lane and MPI alone with one thread are measured where they are best.
#include "harness/alternate.h"
#include "harness/clock.h"
#include "harness/machine.h"
#include "harness/options.h"
#include "harness/report.h"
#include "lanes/questions.h"

#include <CLI/CLI.hpp>
#include <commtask/commtask.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace commtask::bench;

constexpr std::size_t n_outstanding = 64;
constexpr int n_windows = 16; ///< Behind one sample.

void require(int code, const char* what) {
    if (code < 0) throw std::runtime_error(std::string(what) + ": " + commtask_last_error());
}

struct place {
    int rank = 0;
    int n_ranks = 1;
    [[nodiscard]] int partner() const { return n_ranks == 1 ? 0 : 1 - rank; }
};

/// The messages of one thread.
class traffic {
public:
    traffic(place at, MPI_Comm comm, std::size_t n_bytes)
        : at_(at), comm_(comm), n_bytes_(n_bytes), sent_(n_outstanding * n_bytes), received_(n_outstanding * n_bytes) {}

    void by_tasks() {
        for (std::size_t i = 0; i < n_outstanding; ++i) {
            post(commtask_op_recv(&received_[i * n_bytes_], count(), MPI_BYTE, at_.partner(), 0, comm_), tasks_[2 * i]);
            post(commtask_op_send(&sent_[i * n_bytes_], count(), MPI_BYTE, at_.partner(), 0, comm_), tasks_[2 * i + 1]);
        }
        require(commtask_wait_all(tasks_.size(), tasks_.data(), -1, nullptr), "commtask_wait_all");
    }
    void by_mpi() {
        for (std::size_t i = 0; i < n_outstanding; ++i) {
            MPI_Irecv(&received_[i * n_bytes_], int_count(), MPI_BYTE, at_.partner(), 0, comm_, &requests_[2 * i]);
            MPI_Isend(&sent_[i * n_bytes_], int_count(), MPI_BYTE, at_.partner(), 0, comm_, &requests_[2 * i + 1]);
        }
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    }

private:
    static void post(const commtask_op& op, commtask_t& task) {
        require(commtask_post(&op, nullptr, &task), "commtask_post");
    }
    [[nodiscard]] MPI_Count count() const { return static_cast<MPI_Count>(n_bytes_); }
    [[nodiscard]] int int_count() const { return static_cast<int>(n_bytes_); }

    place at_;
    MPI_Comm comm_;
    std::size_t n_bytes_;
    std::vector<char> sent_;
    std::vector<char> received_;
    std::array<commtask_t, 2 * n_outstanding> tasks_{};
    std::array<MPI_Request, 2 * n_outstanding> requests_{};
};

/// Millions of messages that this rank sends per second, all threads together, from the first one's begin to the last one's end.
/// `window` runs one of a thread.
template <typename Window>
void sample(place at, const std::vector<MPI_Comm>& comms, std::size_t n_bytes, round_samples& out, Window window) {
    struct span {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
    };
    std::vector<span> spans(comms.size());
    std::barrier together{static_cast<std::ptrdiff_t>(comms.size())};
    std::vector<std::thread> threads;
    for (std::size_t k = 0; k < comms.size(); ++k) {
        threads.emplace_back([&, k] {
            traffic mine{at, comms[k], n_bytes};
            window(mine);
            together.arrive_and_wait();
            spans[k].begin = ticks();
            for (int i = 0; i < n_windows; ++i) window(mine);
            spans[k].end = ticks();
        });
    }
    for (std::thread& each : threads) each.join();
    const std::uint64_t first = std::ranges::min(spans, {}, &span::begin).begin;
    const std::uint64_t last = std::ranges::max(spans, {}, &span::end).end;
    const double n_messages = static_cast<double>(comms.size() * n_windows * n_outstanding);
    out.push_back(n_messages / ns_between(first, last) * 1e3);
}

struct task_side {
    unsigned n_lanes;
    std::size_t n_threads;
    std::size_t n_bytes;
};

/// A runtime of its own for each sample: the number of lanes is chosen when it starts.
void sample_tasks(place at, const task_side& what, round_samples& out) {
    commtask_config config = COMMTASK_CONFIG_INIT;
    config.lanes = what.n_lanes;
    config.verbose = COMMTASK_ZERO;
    std::vector<MPI_Comm> comms(what.n_threads, MPI_COMM_NULL);
    for (MPI_Comm& each : comms) MPI_Comm_dup(MPI_COMM_WORLD, &each);
    require(commtask_init(&config), "commtask_init");
    for (std::size_t i = 0; i < comms.size(); ++i) {
        require(commtask_comm_set_lane(comms[i], static_cast<int>(i % what.n_lanes)), "commtask_comm_set_lane");
    }
    sample(at, comms, what.n_bytes, out, [](traffic& mine) { mine.by_tasks(); });
    require(commtask_finalize(), "commtask_finalize");
    for (MPI_Comm& each : comms) MPI_Comm_free(&each);
}

void sample_mpi(place at, std::size_t n_threads, std::size_t n_bytes, round_samples& out) {
    std::vector<MPI_Comm> comms(n_threads, MPI_COMM_NULL);
    for (MPI_Comm& each : comms) MPI_Comm_dup(MPI_COMM_WORLD, &each);
    MPI_Barrier(MPI_COMM_WORLD);
    sample(at, comms, n_bytes, out, [](traffic& mine) { mine.by_mpi(); });
    for (MPI_Comm& each : comms) MPI_Comm_free(&each);
}

[[nodiscard]] std::string counted(std::size_t n, const std::string& noun) {
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

void ask(place at, const options& given, std::size_t most_lanes, bool is_serialized) {
    report out("lanes", at.n_ranks == 1 ? "one rank" : "two ranks", describe_machine());
    const std::string level = is_serialized ? ", SERIALIZED" : ", MULTIPLE";
    const std::size_t most = is_serialized ? 1 : most_lanes;
    for (const std::size_t n_bytes : {std::size_t{8}, std::size_t{4096}}) {
        std::vector<side> sides;
        std::vector<std::size_t> references; // of each side's ratio
        const auto add = [&](const std::string& what, std::size_t n_threads, std::size_t reference, auto measure) {
            references.push_back(reference);
            sides.push_back(
                {.name = what + counted(n_threads, "thread") + ", " + std::to_string(n_bytes) + " B" + level,
                 .unit = "M/s",
                 .measure = measure});
        };
        const auto add_tasks = [&](std::size_t n_lanes, std::size_t n_threads, std::size_t reference) {
            add(counted(n_lanes, "lane") + ", ", n_threads, reference,
                [=](round_samples& to) { sample_tasks(at, {static_cast<unsigned>(n_lanes), n_threads, n_bytes}, to); });
        };
        for (std::size_t n = 1; n <= most; ++n) {
            add("MPI alone, ", n, 0, [=](round_samples& to) { sample_mpi(at, n, n_bytes, to); });
        }
        for (std::size_t n = 1; n <= most; ++n) {
            add_tasks(1, n, 0);
            if (n > 1) add_tasks(n, n, sides.size() - 1);
        }
        const std::vector<series> all = alternate(sides, given.rounds(20));
        out.add(all[0]);
        for (std::size_t i = 1; i < all.size(); ++i) out.add(all[i], all[references[i]]);
    }
    if (at.rank == 0) out.publish(given.json_file);
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app{"What a second lane brings, and what it costs: rates of small messages."};
    options given;
    given.declare(app);
    std::size_t most_lanes = 2;
    bool is_serialized = false;
    bool is_simulated = false;
    bool is_gapped = false;
    app.add_option("--lanes", most_lanes, "at most so many")->check(CLI::Range(1, 16));
    app.add_flag("--serialized", is_serialized, "ask MPI for MPI_THREAD_SERIALIZED, and measure one lane");
    app.add_flag("--simulate", is_simulated,
                 "in virtual time instead: three networks, 1 to 24 lanes, and the policy on them");
    app.add_flag("--gapped", is_gapped, "two ranks over emulated links with gaps (bench/delayed)");
    CLI11_PARSE(app, argc, argv);
    try {
        if (is_simulated) {
            simulate(given);
            return 0;
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    int level = 0;
    MPI_Init_thread(&argc, &argv, is_serialized ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE, &level);
    place at;
    MPI_Comm_rank(MPI_COMM_WORLD, &at.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &at.n_ranks);
    int status = 0;
    try {
        if (at.n_ranks > 2) throw std::runtime_error("one rank or two");
        if (!is_serialized && level < MPI_THREAD_MULTIPLE)
            throw std::runtime_error("this MPI gives no MPI_THREAD_MULTIPLE");
        if (is_gapped) {
            ask_over_gaps(given);
        } else {
            ask(at, given, most_lanes, is_serialized);
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        status = 1;
    }
    MPI_Finalize();
    return status;
}
