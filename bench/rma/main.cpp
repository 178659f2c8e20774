// SPDX-License-Identifier: Apache-2.0
//
// One run of two ranks that answers one question about one-sided access and writes the samples as JSON; bench/rma.py alternates
// runs and sums up. The target's computing is a timed sleep: it leaves the core as if an accelerator computed, so what is seen is
// progress, not the fight for cores.
#include "harness/answers.h"
#include "harness/clock.h"
#include "harness/own_window.h"
#include "harness/report.h"
#include "rma/way.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace commtask::bench;
using namespace commtask::bench::rma;

/// A window of both ranks, of memory of the program's own or of MPI's.
class exposed {
public:
    exposed(bool is_own, int bytes) : own_(is_own ? static_cast<std::size_t>(bytes) : 0) {
        if (is_own) {
            window_ = make_own_window(own_.data(), bytes, 1, MPI_COMM_WORLD);
        } else {
            char* base = nullptr;
            MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&base), &window_);
            std::fill_n(base, bytes, '\0');
        }
    }
    exposed(const exposed&) = delete;
    exposed& operator=(const exposed&) = delete;
    ~exposed() {
        if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
    }
    [[nodiscard]] MPI_Win window() const { return window_; } ///< MPI_WIN_NULL: this MPI has none of own memory.

private:
    std::vector<char> own_;
    MPI_Win window_ = MPI_WIN_NULL;
};

/// Microseconds of one access whose target computes for so long, on the origin; 0 on the target, which waits in the library after that.
double access_us(way& by, kind what, std::vector<char>& buffer, int bytes, double computing_ns) {
    by.barrier();
    if (by.rank() == target) {
        sleep_for(computing_ns);
        return 0;
    }
    const std::uint64_t begin = ticks();
    by.start(what, buffer.data(), bytes);
    by.finish(what);
    return ns_between(begin, ticks()) * 1e-3;
}

/// Each access to a target that waits in the library, and to one that computes for much longer than the access takes.
void ask_accesses(way& by, int n_samples, answers& out) {
    constexpr int most_bytes = 64 << 10;
    constexpr int n_warm_up = 2;
    constexpr double long_ns = 3e6;
    std::vector<char> buffer(most_bytes);
    for (const bool is_own : {true, false}) {
        const exposed here{is_own, most_bytes};
        if (here.window() == MPI_WIN_NULL) continue;
        by.open(here.window());
        for (const kind what : operations) {
            for (const int bytes : {8, most_bytes}) {
                const std::string name = std::string(name_of(what)) + " of " + std::to_string(bytes) + " B, " +
                                         (is_own ? "Win_create" : "Win_allocate");
                for (const bool computes : {false, true}) {
                    std::vector<double> us;
                    for (int i = -n_warm_up; i < n_samples; ++i) {
                        const double took = access_us(by, what, buffer, bytes, computes ? long_ns : 0);
                        if (i >= 0) us.push_back(took);
                    }
                    out.add(name + (computes ? ": target computes" : ": alone"), "us", us);
                }
            }
        }
        by.close();
    }
}

} // namespace

int main(int argc, char** argv) {
    std::string question;
    std::string json_file;
    int n_samples = 20;
    CLI::App app{"One benchmark of one-sided access between two ranks."};
    app.add_option("--question", question, "operations; in the program with tasks also hops")
        ->required()
        ->check(CLI::IsMember({"operations", "hops"}));
    app.add_option("--json", json_file, "the file for the samples")->required();
    app.add_option("--samples", n_samples, "samples per access")->check(CLI::Range(1, 1'000'000));
    CLI11_PARSE(app, argc, argv);
    try {
        const auto by = make_way(question);
        if (ask_more(*by, question, n_samples, json_file)) return 0;
        if (question != "operations") throw std::runtime_error("only the program with tasks answers " + question);
        answers out;
        ask_accesses(*by, n_samples, out);
        if (by->rank() == origin) {
            const std::string why = write_document(out.document(), json_file);
            if (!why.empty()) throw std::runtime_error("cannot write " + json_file + ": " + why);
        }
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_rma: %s\n", error.what());
        return 1;
    }
}
