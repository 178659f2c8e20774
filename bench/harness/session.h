// SPDX-License-Identifier: Apache-2.0
//
// What every benchmark of the runtime does around its question: starts MPI and the runtime, finds out which core the
// worker took, pins the compute thread to another, and ends both. The only part of the harness that knows the runtime;
// header-only, so that the harness itself stays free of MPI.
#pragma once

#include <commtask/commtask.h>
#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "harness/alternate.h"
#include "harness/cores.h"
#include "harness/machine.h"
#include "harness/options.h"
#include "harness/yardstick.h"

namespace commtask::bench {

/// Throws what the runtime says when `code` is negative: a benchmark that goes on after an error measures nothing.
inline void require(int code, const char* what) {
    if (code < 0) {
        throw std::runtime_error(std::string(what) + ": " + commtask_last_error());
    }
}

class session {
public:
    session() {
        int level = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        const std::vector<int> before = allowed_cores();
        n_cores_ = before.size();
        require(commtask_init(nullptr), "commtask_init");
        cores_ = find_core_pair(before, allowed_cores());
        pin_this_thread(cores_.compute);
    }
    ~session() {
        if (const int code = commtask_finalize(); code < 0) {
            std::fprintf(stderr, "commtask_finalize: %s\n", commtask_last_error());
        }
        MPI_Finalize();
    }
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] const core_pair& cores() const { return cores_; }

    [[nodiscard]] nlohmann::ordered_json machine() const {
        std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
        int length = 0;
        MPI_Get_library_version(text.data(), &length);
        nlohmann::ordered_json out = describe_machine(text.data());
        out["cores"] = n_cores_; // of the process; this thread has been pinned to one of them
        out["worker_on_own_core"] = cores_.distinct;
        return out;
    }

private:
    int rank_ = 0;
    std::size_t n_cores_ = 0;
    core_pair cores_;
};

/// Gives a worker without work the time to fall asleep, so that the yardstick's partner has the core to itself.
inline void let_the_worker_sleep() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

/// The yardstick as a side of a comparison.
/// @param unit  of the comparison, "ns" or "us".
inline side ping_pong_side(yardstick& line, const std::string& unit, std::size_t n_samples) {
    const double units_per_ns = unit == "us" ? 1e-3 : 1;
    return {.name = "ping-pong", .unit = unit, .measure = [&line, units_per_ns, n_samples](round_samples& out) {
                let_the_worker_sleep();
                line.sample(n_samples, out);
                for (double& value : out) {
                    value *= units_per_ns;
                }
            }};
}

/// The main function of a benchmark: the shared command line, then `ask(session, options)`.
template <typename Ask>
int run_benchmark(int argc, char** argv, const char* question, Ask ask) {
    options given;
    if (const auto status = given.parse(argc, argv, question)) return *status;
    try {
        session here;
        if (!here.cores().distinct) {
            std::fprintf(stderr, "the worker has no core of its own here: the figures do not mean what they say\n");
        }
        ask(here, given);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

} // namespace commtask::bench
