// SPDX-License-Identifier: Apache-2.0
//
// Where OpenMP's threads may run: a thread that spins in a taskwait on the worker's CPU would stop the very completion
// that it waits for. Run with several OMP_PROC_BIND, since a binding runtime sets masks of its own.
#include "omp_fixture.hpp"

#include <algorithm>

#include <sched.h>

namespace {

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library);

class Affinity : public omp_test::ring {
protected:
    void SetUp() override {
        ring::SetUp();
        info.struct_size = sizeof info;
        ASSERT_EQ(commtask_get_info(&info), COMMTASK_OK);
    }
    commtask_info info{};
};

int n_threads_on(int cpu, int n_threads) {
    int n = 0;
#pragma omp parallel num_threads(n_threads) reduction(+ : n)
    {
        cpu_set_t mask;
        CPU_ZERO(&mask);
        if (sched_getaffinity(0, sizeof mask, &mask) != 0 || CPU_ISSET(cpu, &mask)) n += 1;
    }
    return n;
}

TEST_F(Affinity, KeepsEveryTeamOffTheWorkersCpu) {
    if (info.worker_is_reserved == 0) GTEST_SKIP() << "the worker has no CPU of its own here";
    for (const int n_threads : {1, 2, 4, 7}) {
        EXPECT_EQ(n_threads_on(info.worker_cpu, n_threads), 0) << "in a team of " << n_threads;
    }
}

TEST_F(Affinity, LetsTheWorkerAnswerWhileAllThreadsSpin) {
    int sum = 0;
    int one = 1;
    // Without a core of its own the worker shares with a team that fits the CPUs. Where libomp's own spinning threads
    // outnumber them, those in sched_yield can be kept off the CPU by one that spins without: with 2 ranks of 4 threads
    // on 2 CPUs (Linux 6.18) a rank's main thread got 0.1 s of 25 s. No worker can mend that.
    const int n_threads = info.worker_is_reserved != 0 ? 4 : std::max(1, omp_get_num_procs() / n_ranks);
#pragma omp parallel num_threads(n_threads)
#pragma omp single
    for (int i = 0; i < 100; ++i) {
        COMM_TASK(allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), in(&one), out(&sum));
#pragma omp taskwait
    }
    EXPECT_EQ(sum, n_ranks);
}

} // namespace
