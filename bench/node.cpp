// SPDX-License-Identifier: Apache-2.0
//
// Question: what does an exchange expose of a program whose computing leaves the core, where ranks share cores? One side starts a
// message and computes, the other comes in the middle of that; and collectives that all start together. By MPI alone, or with
// --tasks by communication tasks. Exposed is what a step takes beyond the computing, on the slowest rank. Partners are half of the
// ranks apart, so that the halves can be taken for two nodes. Rank 0 prints a line of JSON for bench/node.py, with every sample and
// the processor time of all ranks.
#include <commtask/commtask.h>

#include <mpi.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr long computing_us = 6000;

/// No more than what is measured: a single step is not for its figure.
constexpr int warm_up_steps(int n_steps) { return std::min(n_steps, 2); }

bool uses_tasks = false;

void compute_elsewhere(long us) {
    timespec left{0, us * 1000L};
    while (nanosleep(&left, &left) != 0) {}
}

/// A nonblocking call of MPI, or the task in its place.
class started {
public:
    template <typename Native>
    started(const commtask_op& op, Native&& native) {
        const int code = uses_tasks ? commtask_post(&op, nullptr, &task_) : native(&request_);
        is_well_ = code == (uses_tasks ? int{COMMTASK_OK} : MPI_SUCCESS);
    }
    started(const started&) = delete;
    started& operator=(const started&) = delete;
    ~started() {
        if (uses_tasks) is_well_ = commtask_wait(&task_, nullptr) == COMMTASK_OK && is_well_;
        if (!uses_tasks) MPI_Wait(&request_, MPI_STATUS_IGNORE);
        if (!is_well_) MPI_Abort(MPI_COMM_WORLD, 1);
    }

private:
    commtask_t task_ = COMMTASK_NULL;
    MPI_Request request_ = MPI_REQUEST_NULL;
    bool is_well_ = false;
};

struct place {
    int rank = 0;
    int n_ranks = 1;
    [[nodiscard]] int partner() const { return (rank + n_ranks / 2) % n_ranks; }
    [[nodiscard]] bool receives() const { return rank < n_ranks / 2; }
};

struct buffers {
    std::vector<char> sent;
    std::vector<char> received;
    [[nodiscard]] int size() const { return static_cast<int>(sent.size()); }
};

/// Who comes first computes all the time after that; the other one a half before.
void message(const place& here, buffers& of, bool is_first, bool computes) {
    if (computes && !is_first) compute_elsewhere(computing_us / 2);
    const commtask_op op =
        here.receives() ? commtask_op_recv(of.received.data(), of.size(), MPI_CHAR, here.partner(), 1, MPI_COMM_WORLD)
                        : commtask_op_send(of.sent.data(), of.size(), MPI_CHAR, here.partner(), 1, MPI_COMM_WORLD);
    const started running{
        op, [&](MPI_Request* request) {
            if (here.receives()) {
                return MPI_Irecv(of.received.data(), of.size(), MPI_CHAR, here.partner(), 1, MPI_COMM_WORLD, request);
            }
            return MPI_Isend(of.sent.data(), of.size(), MPI_CHAR, here.partner(), 1, MPI_COMM_WORLD, request);
        }};
    if (computes) compute_elsewhere(is_first ? computing_us : computing_us / 2);
}

void alltoall(const place& here, buffers& of, bool computes) {
    const int block = of.size() / here.n_ranks;
    const started running{
        commtask_op_alltoall(of.sent.data(), block, MPI_CHAR, of.received.data(), block, MPI_CHAR, MPI_COMM_WORLD),
        [&](MPI_Request* request) {
            return MPI_Ialltoall(of.sent.data(), block, MPI_CHAR, of.received.data(), block, MPI_CHAR, MPI_COMM_WORLD,
                                 request);
        }};
    if (computes) compute_elsewhere(computing_us);
}

void broadcast(const place& here, buffers& of, bool computes) {
    char* const buffer = here.rank == 0 ? of.sent.data() : of.received.data();
    const started running{commtask_op_bcast(buffer, of.size(), MPI_CHAR, 0, MPI_COMM_WORLD), [&](MPI_Request* request) {
                              return MPI_Ibcast(buffer, of.size(), MPI_CHAR, 0, MPI_COMM_WORLD, request);
                          }};
    if (computes) compute_elsewhere(computing_us);
}

void gather(const place& here, buffers& of, bool computes) {
    const int block = of.size() / here.n_ranks;
    const started running{
        commtask_op_gather(of.sent.data(), block, MPI_CHAR, of.received.data(), block, MPI_CHAR, 0, MPI_COMM_WORLD),
        [&](MPI_Request* request) {
            return MPI_Igather(of.sent.data(), block, MPI_CHAR, of.received.data(), block, MPI_CHAR, 0, MPI_COMM_WORLD,
                               request);
        }};
    if (computes) compute_elsewhere(computing_us);
}

struct question {
    std::string name;
    std::function<void(const place&, buffers&, bool computes)> step;
    bool is_checked; ///< What the receivers have is what their partners sent.
};

const std::vector<question>& questions() {
    static const std::vector<question> all{
        {"receiver early",
         [](const place& here, buffers& of, bool computes) { message(here, of, here.receives(), computes); }, true},
        {"sender early",
         [](const place& here, buffers& of, bool computes) { message(here, of, !here.receives(), computes); }, true},
        {"ialltoall", alltoall, false},
        {"igather", gather, false},
        {"ibcast", broadcast, false},
    };
    return all;
}

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
    for (int step = -warm_up_steps(n_steps); step < n_steps; ++step) {
        std::memset(of.sent.data(), static_cast<char>(1 + here.rank + 7 * step), of.sent.size());
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        asked.step(here, of, computes);
        double exposed = (MPI_Wtime() - begin) * 1e6 - (computes ? static_cast<double>(computing_us) : 0);
        const auto expected = static_cast<char>(1 + here.partner() + 7 * step);
        if (asked.is_checked && here.receives()) {
            n_wrong += of.received.front() != expected || of.received.back() != expected ? 1 : 0;
        }
        MPI_Allreduce(MPI_IN_PLACE, &exposed, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (step >= 0) samples.push_back(exposed);
    }
    MPI_Allreduce(MPI_IN_PLACE, &n_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (n_wrong > 0) samples.clear();
    return samples;
}

std::string json_of(const std::vector<double>& samples) {
    std::string text;
    for (const double us : samples) text += (text.empty() ? "" : ", ") + std::to_string(us);
    return "[" + text + "]";
}

} // namespace

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    const int n_steps = argc > 1 ? std::clamp(std::atoi(argv[1]), 1, 10000) : 31;
    uses_tasks = argc > 2 && std::strcmp(argv[2], "--tasks") == 0;
    prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL); // the kernel may else sleep 50 us longer
    place here;
    MPI_Comm_rank(MPI_COMM_WORLD, &here.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &here.n_ranks);
    const bool can_start = here.n_ranks % 2 == 0 && (!uses_tasks || commtask_init(nullptr) == COMMTASK_OK);
    if (!can_start) {
        if (here.rank == 0)
            std::fprintf(stderr, "bench_node: needs an even number of ranks. %s\n", commtask_last_error());
        MPI_Finalize();
        return 2;
    }
    bool is_right = true;
    const double used_before_ms = processor_ms();
    std::string text;
    for (const question& asked : questions()) {
        for (const int n_bytes : {16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}) {
            for (const bool computes : {true, false}) {
                const std::vector<double> samples = exposed_us(here, asked, n_bytes, n_steps, computes);
                is_right = is_right && !samples.empty();
                if (!text.empty()) text += ", ";
                text += R"({"name": ")" + asked.name + R"(", "bytes": )" + std::to_string(n_bytes) +
                        R"(, "computes": )" + (computes ? "true" : "false") + R"(, "us": )" + json_of(samples) + "}";
            }
        }
    }
    const double used_ms = processor_ms() - used_before_ms;
    if (here.rank == 0) {
        std::printf("{\"ranks\": %d, \"steps\": %d, \"processor_ms\": %.1f, \"cases\": [%s]}\n", here.n_ranks,
                    n_steps + warm_up_steps(n_steps), used_ms, text.c_str());
        if (!is_right) std::fprintf(stderr, "bench_node: a message was not what its sender wrote\n");
    }
    if (uses_tasks) commtask_finalize();
    MPI_Finalize();
    return is_right ? 0 : 1;
}
