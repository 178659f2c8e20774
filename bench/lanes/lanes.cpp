// SPDX-License-Identifier: Apache-2.0
//
// Question: what do more lanes bring, and what do they cost? Rates of messages, in windows: as many threads as there are lanes,
// each with a communicator of its own, post 64 receives and 64 sends and wait for them. Beside it the same threads with one lane,
// and MPI alone with one thread and with all of them. With one rank the messages go to itself, with two to the other. MPI's
// thread level is the process's: with --serialized one lane and MPI alone with one thread are measured where they are best.
// --one-submitter asks it of one thread over emulated links.
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
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

std::string commtask::bench::mpi_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    return {text.data(), static_cast<std::size_t>(length)};
}

namespace {

using namespace commtask::bench;

constexpr std::size_t n_outstanding = 64;
constexpr std::size_t large_bytes = 4096; ///< From here on bytes are told, not messages.

constexpr int n_windows = 16; ///< Behind one sample.

void require(int code, const char* what) {
    if (code < 0) throw std::runtime_error(std::string(what) + ": " + commtask_last_error());
}

struct place {
    int rank = 0;
    int n_ranks = 1;
    bool is_alone = true; ///< Its messages go to itself.
    [[nodiscard]] int partner() const { return is_alone ? rank : 1 - rank; }
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
        require(commtask_wait_all(tasks_.size(), tasks_.data(), nullptr), "commtask_wait_all");
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
        require(commtask_post_operation(&op, nullptr, &task), "commtask_post");
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

/// Millions of messages that a rank sends per second, or its megabytes: all threads together, from the
/// first one's begin to the last one's end. `window` runs one of a thread.
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
    const double n_messages = static_cast<double>(comms.size() * n_outstanding) * n_windows;
    const double per_us = n_messages / ns_between(first, last) * 1e3;
    out.push_back(n_bytes < large_bytes ? per_us : per_us * static_cast<double>(n_bytes));
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

/// Rows of one size, and what each is compared with.
class comparison {
public:
    comparison(place at, std::size_t n_bytes, bool is_serialized)
        : at_(at), n_bytes_(n_bytes),
          end_(", " + std::to_string(n_bytes) + " B, " + (is_serialized ? "SERIALIZED" : "MULTIPLE")) {}

    /// @param reference  the place of another row; none: it is compared with nothing
    std::size_t add_mpi(std::size_t n_threads, std::size_t reference = none) {
        return add("MPI alone, " + counted(n_threads, "thread"), reference,
                   [=, this](round_samples& to) { sample_mpi(at_, n_threads, n_bytes_, to); });
    }
    std::size_t add_tasks(std::size_t n_lanes, std::size_t n_threads, std::size_t reference = none) {
        return add(counted(n_lanes, "lane") + ", " + counted(n_threads, "thread"), reference,
                   [=, this](round_samples& to) {
                       sample_tasks(at_, {static_cast<unsigned>(n_lanes), n_threads, n_bytes_}, to);
                   });
    }
    void measure(std::size_t n_rounds, report& out) const {
        const std::vector<series> all = alternate(sides_, n_rounds);
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (references_[i] == none) {
                out.add(all[i]);
            } else {
                out.add(all[i], all[references_[i]]);
            }
        }
    }

private:
    static constexpr std::size_t none = ~std::size_t{0};

    template <typename Measure>
    std::size_t add(const std::string& what, std::size_t reference, Measure measure) {
        references_.push_back(reference);
        sides_.push_back({.name = what + end_, .unit = n_bytes_ < large_bytes ? "M/s" : "MB/s", .measure = measure});
        return sides_.size() - 1;
    }

    place at_;
    std::size_t n_bytes_;
    std::string end_;
    std::vector<side> sides_;
    std::vector<std::size_t> references_;
};

struct asked {
    bool is_serialized = false;
    bool is_of_posters = false;
};

/// Before MPI_Init: a network context for each lane or thread, where MPI has them. A program that chooses its lanes itself must
/// say so itself. An MPICH before 4.1 would abort.
void ask_for_contexts(asked what) {
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40100000
    if (!what.is_serialized) setenv("MPIR_CVAR_CH4_NUM_VCIS", what.is_of_posters ? "8" : "2", 0);
#else
    static_cast<void>(what);
#endif
}

void ask(place at, const options& given, asked what) {
    report out("lanes", at.is_alone ? "one rank" : "two ranks", describe_machine(mpi_version()));
    for (const std::size_t n_bytes : {std::size_t{8}, std::size_t{4096}}) {
        comparison rows{at, n_bytes, what.is_serialized};
        if (what.is_of_posters) {
            for (const std::size_t n_threads : {1U, 2U, 8U}) {
                if (what.is_serialized) rows.add_tasks(1, n_threads);
                if (!what.is_serialized) rows.add_mpi(n_threads);
            }
        } else {
            const std::size_t alone = rows.add_mpi(1);
            rows.add_tasks(1, 1, alone);
            if (!what.is_serialized) {
                rows.add_mpi(2, alone);
                rows.add_tasks(2, 2, rows.add_tasks(1, 2, alone));
            }
        }
        rows.measure(given.rounds(what.is_of_posters ? 4 : 10), out);
    }
    if (at.rank == 0) out.publish(given.json_file);
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app{"Gain and cost of further lanes: message rates."};
    options given;
    given.declare(app);
    asked what;
    bool is_one_poster = false;
    app.add_flag("--serialized", what.is_serialized, "request MPI_THREAD_SERIALIZED, and measure one lane");
    app.add_flag("--submitters", what.is_of_posters,
                 "1 to 8 threads that post to one lane (with --serialized) or call MPI (without)");
    app.add_flag("--one-submitter", is_one_poster,
                 "two ranks over emulated links (bench/delayed); one thread of each rank posts");
    CLI11_PARSE(app, argc, argv);
    int level = 0;
    ask_for_contexts(what);
    MPI_Init_thread(&argc, &argv, what.is_serialized ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE, &level);
    place at;
    MPI_Comm_rank(MPI_COMM_WORLD, &at.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &at.n_ranks);
    at.is_alone = at.n_ranks == 1;
    int status = 0;
    try {
        if (at.n_ranks > 2) throw std::runtime_error("one rank, or two");
        if (!what.is_serialized && level < MPI_THREAD_MULTIPLE)
            throw std::runtime_error("this MPI does not provide MPI_THREAD_MULTIPLE");
        if (is_one_poster) {
            if (at.n_ranks != 2) throw std::runtime_error("--one-submitter: two ranks");
            ask_one_poster(given);
        } else {
            ask(at, given, what);
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        status = 1;
    }
    MPI_Finalize();
    return status;
}
