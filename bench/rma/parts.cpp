// SPDX-License-Identifier: Apache-2.0
//
// Where the time of a small accumulate with its flush goes: from the post to MPI's call, in that call, until the target has the data,
// until the flush has its answer, until the thread that waits knows. Both ranks read one clock, so they must be on one node. The
// first access of a row is told from those right after it: before a row "after a pause" both ranks have slept, before one without only
// a target that slept in the row before. What is cold then is so by MPI alone, too.
#include "harness/clock.h"
#include "rma/way.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace commtask::bench;
using namespace commtask::bench::rma;

/// When the two calls of an access began and ended, in whatever thread made them; one access at a time.
struct calls {
    std::uint64_t accumulate_begin = 0;
    std::uint64_t accumulate_end = 0;
    std::uint64_t flush_begin = 0;
    std::uint64_t flush_end = 0;
};
calls last_calls; // written before the access ends, and its end is waited for

} // namespace

// The program's and the library's calls both come here.
extern "C" [[gnu::visibility("default")]] int MPI_Raccumulate(const void* from, int n, MPI_Datatype type, int rank,
                                                              MPI_Aint at, int n_there, MPI_Datatype type_there,
                                                              MPI_Op op, MPI_Win window, MPI_Request* request) {
    last_calls.accumulate_begin = ticks();
    const int code = PMPI_Raccumulate(from, n, type, rank, at, n_there, type_there, op, window, request);
    last_calls.accumulate_end = ticks();
    return code;
}
extern "C" [[gnu::visibility("default")]] int MPI_Win_flush(int rank, MPI_Win window) {
    last_calls.flush_begin = ticks();
    const int code = PMPI_Win_flush(rank, window);
    last_calls.flush_end = ticks();
    return code;
}

namespace {

enum class target_does : std::uint8_t { waits, sleeps, watches };
[[nodiscard]] const char* name_of(target_does what) {
    constexpr std::array names{"waits", "sleeps", "watches"};
    return names[static_cast<std::size_t>(what)];
}

constexpr int n_in_a_row = 8;

struct stamps {
    std::uint64_t begin = 0;
    calls of;
    std::uint64_t end = 0;
    std::uint64_t seen = 0; ///< At the target; 0: nobody has seen it.
};

/// Sees the accesses of a row arrive in its own memory, as a thread that computes on a core of its own. It gives up in time: where no
/// worker is, they come once it is in MPI.
void watch(volatile std::int64_t* word, std::int64_t before, std::span<std::uint64_t> seen, double longest_ns) {
    const std::uint64_t begin = ticks();
    for (std::size_t n_seen = 0; n_seen < seen.size() && ns_between(begin, ticks()) < longest_ns;) {
        const auto n = static_cast<std::size_t>(*word - before);
        if (n == n_seen) continue;
        std::fill(seen.begin() + static_cast<std::ptrdiff_t>(n_seen), seen.begin() + static_cast<std::ptrdiff_t>(n),
                  ticks());
        n_seen = n;
    }
}

class measurement {
public:
    measurement(way& by, MPI_Win window, std::int64_t* exposed) : by_(by), window_(window), exposed_(exposed) {}

    [[nodiscard]] std::vector<std::array<stamps, n_in_a_row>> take(target_does what, double pause_ns, int n_rounds) {
        constexpr double busy_ns = 3e6;
        constexpr int n_warm_up = 3;
        std::vector<std::array<stamps, n_in_a_row>> rounds;
        std::vector<std::uint64_t> seen;
        by_.open(window_, kind::accumulate);
        for (int i = -n_warm_up; i < n_rounds; ++i) {
            std::array<stamps, n_in_a_row> row{};
            std::array<std::uint64_t, n_in_a_row> when{};
            sleep_for(pause_ns);
            const std::int64_t before = *exposed_; // nobody accesses it until the barrier
            by_.barrier();
            if (by_.rank() == origin) {
                for (stamps& each : row) access(each);
            } else if (what == target_does::sleeps) {
                sleep_for(busy_ns);
            } else if (what == target_does::watches) {
                watch(exposed_, before, when, busy_ns);
            }
            by_.barrier();
            if (i < 0) continue;
            rounds.push_back(row);
            seen.insert(seen.end(), when.begin(), when.end());
        }
        by_.close();
        tell_origin(seen);
        for (std::size_t at = 0; at < seen.size(); ++at) rounds[at / n_in_a_row][at % n_in_a_row].seen = seen[at];
        return rounds;
    }

private:
    void access(stamps& each) {
        std::int64_t one = 1;
        each.begin = ticks();
        by_.start(kind::accumulate, reinterpret_cast<char*>(&one), sizeof one);
        by_.finish(kind::accumulate);
        each.end = ticks();
        each.of = last_calls;
    }
    /// The window is closed, so MPI is this thread's.
    void tell_origin(std::vector<std::uint64_t>& seen) const {
        const auto n = static_cast<int>(seen.size());
        if (by_.rank() == target) MPI_Send(seen.data(), n, MPI_UINT64_T, origin, 0, MPI_COMM_WORLD);
        if (by_.rank() == origin) MPI_Recv(seen.data(), n, MPI_UINT64_T, target, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }

    way& by_;
    MPI_Win window_;
    std::int64_t* exposed_;
};

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

struct part {
    const char* name;
    double (*ns_of)(const stamps&);
};
constexpr std::array parts{
    part{"whole", [](const stamps& each) { return ns_between(each.begin, each.end); }},
    part{"to the call", [](const stamps& each) { return ns_between(each.begin, each.of.accumulate_begin); }},
    part{"in the call",
         [](const stamps& each) { return ns_between(each.of.accumulate_begin, each.of.accumulate_end); }},
    part{"to the flush", [](const stamps& each) { return ns_between(each.of.accumulate_end, each.of.flush_begin); }},
    part{"in the flush", [](const stamps& each) { return ns_between(each.of.flush_begin, each.of.flush_end); }},
    part{"to the waiter", [](const stamps& each) { return ns_between(each.of.flush_end, each.end); }},
    part{"call to target",
         [](const stamps& each) {
             return each.seen == 0 ? not_known : ns_between(each.of.accumulate_begin, each.seen);
         }},
    part{"target to answer",
         [](const stamps& each) { return each.seen == 0 ? not_known : ns_between(each.seen, each.of.flush_end); }},
};

void print_medians(const std::string& name, const std::vector<stamps>& accesses) {
    std::printf("%-42s", name.c_str());
    for (const part& one : parts) {
        std::vector<double> us;
        for (const stamps& each : accesses) {
            if (const double ns = one.ns_of(each); !std::isnan(ns)) us.push_back(ns * 1e-3);
        }
        const auto width = static_cast<int>(std::string(one.name).size());
        if (us.empty()) {
            std::printf(" %*s", width, "-");
            continue;
        }
        const auto middle = us.begin() + static_cast<std::ptrdiff_t>(us.size() / 2);
        std::ranges::nth_element(us, middle);
        std::printf(" %*.2f", width, *middle);
    }
    std::printf("\n");
}

void ask(way& by, int n_rounds, bool may_watch) {
    constexpr double pause_ns = 3e6;
    std::int64_t* exposed = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    constexpr MPI_Aint line_bytes = 64; // of fewer than 16 MPICH 4.0 has the wrong ones
    MPI_Win_allocate(line_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&exposed), &window);
    *exposed = 0;
    measurement taken{by, window, exposed};
    if (by.rank() == origin) {
        std::printf("%-42s", "medians, us");
        for (const part& one : parts) std::printf(" %s", one.name);
        std::printf("\n");
    }
    struct question {
        target_does what;
        double pause_ns;
    };
    for (const question each : {question{target_does::waits, 0}, question{target_does::waits, pause_ns},
                                question{target_does::sleeps, 0}, question{target_does::watches, pause_ns}}) {
        if (each.what == target_does::watches && !may_watch) continue;
        const auto rounds = taken.take(each.what, each.pause_ns, n_rounds);
        if (by.rank() != origin) continue;
        std::vector<stamps> first;
        std::vector<stamps> others;
        for (const auto& row : rounds) {
            first.push_back(row.front());
            others.insert(others.end(), row.begin() + 1, row.end());
        }
        const std::string name =
            std::string("target ") + name_of(each.what) + (each.pause_ns > 0 ? ", after a pause" : "");
        print_medians(name + ": first", first);
        print_medians(name + ": others", others);
    }
    MPI_Win_free(&window);
}

} // namespace

int main(int argc, char** argv) {
    int n_rounds = 200;
    bool may_watch = false;
    CLI::App app{"Where the time of a small accumulate with its flush goes. Two ranks of one node."};
    app.add_option("--rounds", n_rounds, "of eight accesses each")->check(CLI::Range(1, 1'000'000));
    app.add_flag(
        "--watch", may_watch,
        "also with a target that looks into its memory for 3 ms: sees what comes where a worker has a core of its own");
    CLI11_PARSE(app, argc, argv);
    try {
        ask(*make_way("parts"), n_rounds, may_watch);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_rma_parts: %s\n", error.what());
        return 1;
    }
}
