// SPDX-License-Identifier: Apache-2.0
//
// One run of two ranks that answers one question about one-sided access and writes the samples as JSON; bench/rma.py alternates
// runs and sums up. Computing that is to be overlapped is a timed sleep: it leaves the core as if an accelerator computed, so
// what is seen is progress, not the fight for cores. What an access costs a target that computes on its core, and how long it
// then takes, is asked apart.
#include "harness/answers.h"
#include "harness/clock.h"
#include "harness/own_window.h"
#include "harness/report.h"
#include "rma/way.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <vector>

namespace {

using namespace commtask::bench;
using namespace commtask::bench::rma;

enum class memory : std::uint8_t { created, allocated };
[[nodiscard]] std::vector<memory> find_memories() {
    std::array<char, 64> own{};
    MPI_Win window = make_own_window(own.data(), own.size(), 1, MPI_COMM_WORLD);
    if (window == MPI_WIN_NULL) return {memory::allocated};
    MPI_Win_free(&window);
    return {memory::created, memory::allocated};
}

struct setting {
    int n_samples = 0; ///< Of a small access.
    int most_bytes = 0;
    bool only_ends = false; ///< The smallest and the largest.
};

/// A window of both ranks.
class exposed {
public:
    exposed(memory whose, int bytes) : own_(whose == memory::created ? static_cast<std::size_t>(bytes) : 0) {
        if (whose == memory::created) {
            MPI_Win_create(own_.data(), bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_);
        } else {
            char* base = nullptr;
            MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&base), &window_);
            std::fill_n(base, bytes, '\0');
        }
    }
    exposed(const exposed&) = delete;
    exposed& operator=(const exposed&) = delete;
    ~exposed() { MPI_Win_free(&window_); }
    [[nodiscard]] MPI_Win window() const { return window_; }

private:
    std::vector<char> own_;
    MPI_Win window_ = MPI_WIN_NULL;
};

struct times {
    double start_ns = 0;
    double finish_ns = 0;
};

/// How long each of the two computes between start and end, and the target before: then it waits until the access has ended. Meanwhile
/// the origin waits in the library, as it does while a target computes that it has accessed.
struct computing {
    double origin_ns = 0;
    double target_ns = 0;
    double before_ns = 0;
};

times access_once(way& by, kind what, std::vector<char>& buffer, int bytes, computing lengths) {
    if (by.rank() == target) sleep_for(lengths.before_ns);
    by.barrier();
    const std::uint64_t begin = ticks();
    times took;
    if (by.rank() == target) {
        by.expose(what);
        sleep_for(lengths.target_ns);
        by.unexpose(what);
    } else {
        by.start(what, buffer.data(), bytes);
        const std::uint64_t started = ticks();
        sleep_for(lengths.origin_ns);
        const std::uint64_t computed = ticks();
        by.finish(what);
        took = {ns_between(begin, started), ns_between(computed, ticks())};
    }
    if (lengths.before_ns > 0) by.barrier();
    return took;
}

/// The computing is to take as long; no figure of a report.
double middle(std::vector<double> samples) {
    const auto at = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
    std::ranges::nth_element(samples, at);
    return *at;
}

/// The time of an access whose target waits in the library; then how much of it hides behind computing of the same length on both
/// ranks; and of an operation how long it takes towards a target that computes for much longer. That target has computed as long before,
/// too, and finds cold what MPI needs, so an accumulate, which has a goal, is also asked of one that waits, but has computed before.
void ask_of_size(way& by, kind what, const std::string& name, std::vector<char>& buffer, int bytes, int n_samples,
                 answers& out) {
    constexpr int n_warm_up = 2;
    const auto sample = [&](computing lengths, const auto& take) {
        for (int i = -n_warm_up; i < n_samples; ++i) {
            const times took = access_once(by, what, buffer, bytes, lengths);
            if (i >= 0) take(took);
        }
    };
    std::vector<double> alone_ns;
    sample({}, [&](const times& took) { alone_ns.push_back(took.start_ns + took.finish_ns); });
    double length_ns = by.rank() == origin ? middle(alone_ns) : 0;
    by.share(length_ns);
    std::vector<double> percent;
    sample({length_ns, length_ns}, [&](const times& took) {
        percent.push_back(100 * std::max(0.0, 1 - (took.start_ns + took.finish_ns) / length_ns));
    });
    for (double& value : alone_ns) value *= 1e-3;
    out.add(name + ": alone", "us", alone_ns);
    out.add(name + ": overlap", "%", percent);
    if (has_own_epoch(what)) return;
    const double long_ns = std::max(3e6, 4 * length_ns);
    const auto ask = [&](const char* how, computing lengths) {
        std::vector<double> us;
        sample(lengths, [&](const times& took) { us.push_back((took.start_ns + took.finish_ns) * 1e-3); });
        out.add(name + ": " + how, "us", us);
    };
    if (what == kind::accumulate) ask("alone, after a pause", {.before_ns = long_ns});
    ask("target computes", {.target_ns = long_ns});
}

[[nodiscard]] std::string window_name(memory whose) { return whose == memory::created ? "Win_create" : "Win_allocate"; }

void ask_accesses(way& by, std::span<const kind> accesses, const setting& how, answers& out) {
    constexpr int factor = 8;
    const auto next = [&how](int bytes) {
        return how.only_ends ? how.most_bytes : std::min(std::max(bytes * factor, 1 << 10), how.most_bytes);
    };
    std::vector<char> buffer(static_cast<std::size_t>(how.most_bytes));
    for (const memory whose : find_memories()) {
        const exposed here{whose, how.most_bytes};
        for (const kind what : accesses) {
            by.open(here.window(), what);
            for (int bytes = 8;; bytes = next(bytes)) {
                const std::string name =
                    std::string(name_of(what)) + " of " + std::to_string(bytes) + " B, " + window_name(whose);
                const int n_samples = bytes > (256 << 10) ? std::max(2, how.n_samples / 3) : how.n_samples;
                ask_of_size(by, what, name, buffer, bytes, n_samples, out);
                if (bytes == how.most_bytes) break;
            }
            by.close();
        }
    }
}

/// Milliseconds of a fixed amount of work, or of one of its slices.
[[nodiscard]] double work_ms(int n_slices = 1) {
    constexpr int n_steps = 1'500'000;
    const std::uint64_t begin = ticks();
    volatile double value = 1;
    for (int i = 0; i < n_steps / n_slices; ++i) value = value * 0.999999 + 1e-6;
    return ns_between(begin, ticks()) * 1e-6;
}

/// How long an access takes that comes when the target has been working on its core for a while. Both know the times.
void ask_of_working_target(way& by, kind what, memory whose, std::vector<char>& buffer, int n_samples, answers& out) {
    constexpr double while_ns = 1e6; // of several ms of work
    const auto bytes = static_cast<int>(buffer.size());
    std::vector<double> us;
    for (int i = -1; i < n_samples; ++i) {
        by.barrier();
        double took_us = 0;
        if (by.rank() == target) {
            static_cast<void>(work_ms());
        } else {
            sleep_for(while_ns);
            const std::uint64_t begin = ticks();
            by.start(what, buffer.data(), bytes);
            by.finish(what);
            took_us = ns_between(begin, ticks()) * 1e-3;
        }
        by.share(took_us);
        if (i >= 0) us.push_back(took_us);
    }
    out.add(std::string(name_of(what)) + " of " + std::to_string(bytes) + " B, " + window_name(whose) +
                ": target works on its core",
            "us", us);
}

/// What work on the target's core takes without a window, beside one that nobody accesses, and beside accesses without a pause.
void ask_slowdown(way& by, const setting& how, answers& out) {
    constexpr int bytes = 64 << 10;
    std::vector<char> buffer(bytes);
    const auto work = [&](const std::string& name, const std::function<void(int)>& beside) {
        std::vector<double> ms;
        for (int i = -1; i < how.n_samples; ++i) {
            by.barrier();
            if (by.rank() == target) {
                const double took = work_ms();
                if (i >= 0) ms.push_back(took);
            } else {
                beside(i);
            }
        }
        by.barrier();
        out.add(name, "ms", ms);
    };
    const auto nothing = [](int) {};
    work("work: no window", nothing);
    for (const memory whose : find_memories()) {
        const exposed here{whose, bytes};
        by.open(here.window(), kind::accumulate);
        work("work: " + window_name(whose) + ", nobody accesses it", nothing);
        for (const kind what : operations) {
            constexpr int n_accesses = 16;
            work("work: " + window_name(whose) + ", beside " + name_of(what) + "s of " + std::to_string(bytes) + " B",
                 [&](int) {
                     for (int k = 0; k < n_accesses; ++k) {
                         by.start(what, buffer.data(), bytes);
                         by.finish(what);
                     }
                 });
        }
        for (const kind what : operations) ask_of_working_target(by, what, whose, buffer, how.n_samples, out);
        by.close();
    }
}

/// The same beside epochs. The target has its part of a fence or a post around each slice of its work, and only the slices are timed. A
/// lock has no such part, so a barrier keeps the origin from having all its locks in one slice.
void ask_slowdown_by_epochs(way& by, const setting& how, answers& out) {
    constexpr int bytes = 64 << 10;
    constexpr int n_slices = 8;
    std::vector<char> buffer(bytes);
    const auto work = [&](const std::string& name, const kind* beside) {
        std::vector<double> ms;
        for (int i = -1; i < how.n_samples; ++i) {
            double took = 0;
            by.barrier();
            for (int k = 0; k < n_slices; ++k) {
                if (beside != nullptr && *beside == kind::lock) by.barrier();
                if (by.rank() == origin) {
                    if (beside == nullptr) continue;
                    by.start(*beside, buffer.data(), bytes);
                    by.finish(*beside);
                } else {
                    if (beside != nullptr) by.expose(*beside);
                    took += work_ms(n_slices);
                    if (beside != nullptr) by.unexpose(*beside);
                }
            }
            if (i >= 0) ms.push_back(took);
        }
        by.barrier();
        out.add(name, "ms", ms);
    };
    work("work in slices: no window", nullptr);
    for (const memory whose : find_memories()) {
        const exposed here{whose, bytes};
        for (const kind what : epochs) {
            by.open(here.window(), what);
            work("work in slices: " + window_name(whose) + ", beside a " + name_of(what) + " of " +
                     std::to_string(bytes) + " B in each",
                 &what);
            by.close();
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    std::string question;
    std::string json_file;
    setting how{.n_samples = 20, .most_bytes = 4 << 20};
    CLI::App app{"One question about one-sided access, answered by one run of two ranks."};
    app.add_option("--question", question, "operations, epochs, slowdown or epochs-slowdown; of tasks also hops")
        ->required()
        ->check(CLI::IsMember({"operations", "epochs", "slowdown", "epochs-slowdown", "hops"}));
    app.add_option("--json", json_file, "where the samples are written")->required();
    app.add_option("--samples", how.n_samples, "of a small access; large ones get fewer")
        ->check(CLI::Range(1, 1'000'000));
    app.add_option("--largest", how.most_bytes, "access in bytes, a multiple of 8")->check(CLI::Range(8, 1 << 28));
    app.add_flag("--only-ends", how.only_ends, "the smallest and the largest access");
    CLI11_PARSE(app, argc, argv);
    try {
        const auto by = make_way(question);
        if (ask_more(*by, question, how.n_samples, json_file)) return 0;
        answers out;
        int who_knows = origin;
        if (question == "operations") {
            ask_accesses(*by, operations, how, out);
        } else if (question == "epochs") {
            ask_accesses(*by, epochs, how, out);
        } else if (question == "slowdown") {
            ask_slowdown(*by, how, out);
            who_knows = target;
        } else if (question == "epochs-slowdown") {
            ask_slowdown_by_epochs(*by, how, out);
            who_knows = target;
        } else {
            throw std::runtime_error("only the program with tasks answers " + question);
        }
        if (by->rank() == who_knows) {
            const std::string why = write_document(out.document(), json_file);
            if (!why.empty()) throw std::runtime_error("cannot write " + json_file + ": " + why);
        }
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_rma: %s\n", error.what());
        return 1;
    }
}
