// SPDX-License-Identifier: Apache-2.0
//
// A hybrid program as most are written: commtask_init, then OpenMP. None of its threads may be able to run on a worker's
// CPU, however many it starts and however they are bound (the test runs with and without OMP_PROC_BIND).
#include <commtask/commtask.h>

#include <gtest/gtest.h>

#include <omp.h>
#include <sched.h>

namespace {

bool may_run_on(int cpu) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    return sched_getaffinity(0, sizeof mask, &mask) == 0 && CPU_ISSET(static_cast<std::size_t>(cpu), &mask);
}

TEST(PlacementWithOpenMp, KeepsEveryOpenMpThreadOffTheWorkersCpu) {
    ASSERT_EQ(commtask_init(nullptr), COMMTASK_OK) << commtask_last_error();
    commtask_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(commtask_get_info(&info), COMMTASK_OK);
    int n_default = 0;
    int n_on_worker = 0;
#pragma omp parallel reduction(+ : n_on_worker)
    {
#pragma omp single
        n_default = omp_get_num_threads();
        if (info.worker_cpu >= 0 && may_run_on(info.worker_cpu)) ++n_on_worker;
    }
#pragma omp parallel num_threads(8) reduction(+ : n_on_worker)
    if (info.worker_cpu >= 0 && may_run_on(info.worker_cpu)) ++n_on_worker;
    EXPECT_EQ(n_on_worker, 0);
    EXPECT_EQ(n_default, omp_get_num_procs()) << "as many threads as CPUs to compute on";
    ASSERT_EQ(commtask_finalize(), COMMTASK_OK);
}

} // namespace
