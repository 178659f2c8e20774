// SPDX-License-Identifier: Apache-2.0
//
// Question: what does an exchange expose of a program whose computing leaves the core, where ranks share cores? Parts: messages, small
// ones, collectives, puts, and a sweep of stages (bench/node). By MPI alone, or with --tasks by communication tasks. Exposed is what a
// step takes beyond the computing, on the slowest rank. Rank 0 writes a file of JSON for bench/node.py, with every sample and the
// processor time of all ranks.
#include "node/exchange.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace commtask::bench {
namespace {

/// No more than what is measured: a single step is not for its figure.
constexpr int warm_up_steps(int n_steps) { return std::min(n_steps, 2); }

double processor_ms() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto ms = [](const timeval& time) {
        return 1e3 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_usec);
    };
    double mine = ms(used.ru_utime) + ms(used.ru_stime);
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return mine;
}

/// Microseconds of the slowest rank's step, beyond the computing, step by step; none: a message was wrong. Between steps the program
/// calls MPI itself: nothing is in flight then, and it asked for MPI_THREAD_MULTIPLE.
std::vector<double> exposed_us(const place& here, const question& asked, int n_bytes, int n_steps, bool computes) {
    const std::vector<char> nothing(static_cast<std::size_t>(n_bytes));
    buffers of{nothing, nothing};
    std::vector<double> samples;
    int n_wrong = 0;
    asked.open(of);
    for (int step = -warm_up_steps(n_steps); step < n_steps; ++step) {
        std::memset(of.sent.data(), static_cast<char>(1 + here.rank + 7 * step), of.sent.size());
        meet();
        const double begin = MPI_Wtime();
        asked.step(here, of, computes);
        double exposed = (MPI_Wtime() - begin) * 1e6 - (computes ? static_cast<double>(asked.computing_us) : 0);
        const auto expected = static_cast<char>(1 + here.partner() + 7 * step);
        if (asked.is_checked && here.receives()) {
            n_wrong += of.received.front() != expected || of.received.back() != expected ? 1 : 0;
        }
        MPI_Request summing = MPI_REQUEST_NULL;
        MPI_Iallreduce(MPI_IN_PLACE, &exposed, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &summing);
        wait_aside(summing);
        if (step >= 0) samples.push_back(exposed);
    }
    asked.close();
    MPI_Allreduce(MPI_IN_PLACE, &n_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (n_wrong > 0) samples.clear();
    return samples;
}

std::vector<question> part_named(const std::string& name, const place& here) {
    if (name == "messages") return messages(false);
    if (name == "large") return messages(true);
    if (name == "small") return small_messages();
    if (name == "ialltoall" || name == "igather" || name == "ibcast") return {collective(name, here.n_ranks)};
    if (name == "puts") return puts(here);
    if (name == "sweep") return sweep();
    return {};
}

std::string json_of(const std::vector<double>& samples) {
    std::string text;
    for (const double us : samples) text += (text.empty() ? "" : ", ") + std::to_string(us);
    return "[" + text + "]";
}

/// @return whether all messages were right
bool ask(const std::vector<question>& part, const place& here, int n_steps, const char* json_file) {
    bool is_right = true;
    const double used_before_ms = processor_ms();
    std::string text;
    for (const question& asked : part) {
        for (const int n_bytes : asked.sizes_bytes) {
            for (const bool computes : {true, false}) {
                if (computes && asked.computing_us == 0) continue;
                const std::vector<double> samples = exposed_us(here, asked, n_bytes, n_steps, computes);
                is_right = is_right && !samples.empty();
                if (!text.empty()) text += ", ";
                text += R"({"name": ")" + asked.name + R"(", "bytes": )" + std::to_string(n_bytes) +
                        R"(, "computing_us": )" + std::to_string(asked.computing_us) + R"(, "computes": )" +
                        (computes ? "true" : "false") + R"(, "us": )" + json_of(samples) + "}";
            }
        }
    }
    const double used_ms = processor_ms() - used_before_ms;
    if (here.rank != 0) return is_right;
    if (!is_right) std::fprintf(stderr, "bench_node: a message was not what its sender wrote\n");
    std::FILE* const file = std::fopen(json_file, "w");
    if (file == nullptr) return false;
    std::fprintf(file, "{\"ranks\": %d, \"steps\": %d, \"processor_ms\": %.1f, \"cases\": [%s]}\n", here.n_ranks,
                 n_steps + warm_up_steps(n_steps), used_ms, text.c_str());
    return std::fclose(file) == 0 && is_right;
}

} // namespace
} // namespace commtask::bench

using namespace commtask::bench;

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    uses_tasks = argc > 4 && std::strcmp(argv[4], "--tasks") == 0;
    prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL); // the kernel may else sleep 50 us longer
    place here;
    MPI_Comm_rank(MPI_COMM_WORLD, &here.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &here.n_ranks);
    const bool can_start = argc > 3 && here.n_ranks % 2 == 0 && (!uses_tasks || commtask_init(nullptr) == COMMTASK_OK);
    bool is_right = false;
    if (can_start) {
        const std::vector<question> part = part_named(argv[1], here);
        is_right = !part.empty() && ask(part, here, std::clamp(std::atoi(argv[2]), 1, 10000), argv[3]);
    } else if (here.rank == 0) {
        std::fprintf(stderr, "bench_node: PART STEPS FILE [--tasks], with an even number of ranks. %s\n",
                     commtask_last_error());
    }
    if (can_start && uses_tasks) commtask_finalize();
    MPI_Finalize();
    return is_right ? 0 : 1;
}
