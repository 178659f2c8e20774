// SPDX-License-Identifier: Apache-2.0
//
// Question: how much of an exchange does a program wait for whose computing leaves the core, as with an accelerator? Plain
// MPI as anyone writes it, knowing nothing of commtask, so that it runs natively and under commtask-run: MPI_Irecv,
// MPI_Isend, a timed sleep as the computing, MPI_Waitall, each rank with its neighbours on a ring. Exposed is what a step
// takes beyond the sleep. Rank 0 prints one line of JSON. The arguments: how many steps, then the sizes in bytes.
#include <mpi.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int computing_ms = 5;
constexpr int warm_up_steps = 5;
constexpr int largest_bytes = 1 << 30;

void compute_elsewhere() {
    timespec left{0, computing_ms * 1'000'000L};
    while (nanosleep(&left, &left) != 0) {}
}

/// What follows the number of steps; without it small messages and large ones.
std::vector<int> sizes_asked_for(int n_words, char** words) {
    std::vector<int> sizes;
    for (int i = 2; i < n_words; ++i) sizes.push_back(std::clamp(std::atoi(words[i]), 1, largest_bytes));
    return sizes.empty() ? std::vector{8, 1 << 10, 8 << 10, 64 << 10, 512 << 10, 4 << 20} : sizes;
}

/// What the sender of a step fills its message with.
char pattern(int rank, int step) { return static_cast<char>(1 + rank + 7 * step); }

/// By functions of the C library: where assertions are on, this program is compiled in a hurry.
bool is_all(const std::vector<char>& bytes, char expected) {
    return bytes.front() == expected && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

struct ring {
    int rank = 0;
    int n_ranks = 1;
    int left = 0;
    int right = 0;
};

/// Exposed microseconds of the slowest rank per step, on every rank; none when a message was wrong.
std::vector<double> exposed_us(const ring& here, int bytes, int n_steps) {
    std::vector<char> sent(static_cast<std::size_t>(bytes));
    std::vector<char> received(sent.size());
    std::vector<double> samples;
    int n_wrong = 0;
    for (int step = -warm_up_steps; step < n_steps; ++step) {
        std::memset(sent.data(), pattern(here.rank, step), sent.size());
        MPI_Request requests[2];
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        MPI_Irecv(received.data(), bytes, MPI_CHAR, here.left, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent.data(), bytes, MPI_CHAR, here.right, 1, MPI_COMM_WORLD, &requests[1]);
        compute_elsewhere();
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        double exposed = (MPI_Wtime() - begin) * 1e6 - computing_ms * 1e3;
        n_wrong += is_all(received, pattern(here.left, step)) ? 0 : 1;
        MPI_Allreduce(MPI_IN_PLACE, &exposed, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (step >= 0) {
            samples.push_back(exposed);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &n_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return n_wrong == 0 ? samples : std::vector<double>{};
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int n_steps = argc > 1 ? std::clamp(std::atoi(argv[1]), 1, 10000) : 51;
    prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL); // the kernel may else sleep 50 us longer
    ring here;
    MPI_Comm_rank(MPI_COMM_WORLD, &here.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &here.n_ranks);
    here.left = (here.rank + here.n_ranks - 1) % here.n_ranks;
    here.right = (here.rank + 1) % here.n_ranks;
    bool is_right = true;
    if (here.rank == 0) {
        std::printf("{\"ranks\": %d, \"computing_us\": %d, \"steps\": %d, \"exposed_us\": [", here.n_ranks,
                    computing_ms * 1000, n_steps);
    }
    const char* comma = "";
    for (const int bytes : sizes_asked_for(argc, argv)) {
        const std::vector<double> samples = exposed_us(here, bytes, n_steps);
        is_right = is_right && !samples.empty();
        if (here.rank == 0 && !samples.empty()) {
            std::printf("%s{\"bytes\": %d, \"samples\": [", comma, bytes);
            for (std::size_t i = 0; i < samples.size(); ++i) std::printf("%s%.1f", i == 0 ? "" : ", ", samples[i]);
            std::printf("]}");
            comma = ", ";
        }
    }
    if (here.rank == 0) {
        std::printf("]}\n");
        if (!is_right) {
            std::fprintf(stderr, "bench_exposed: a message was not what its sender wrote\n");
        }
    }
    MPI_Finalize();
    return is_right ? 0 : 1;
}
