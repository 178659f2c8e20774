// SPDX-License-Identifier: Apache-2.0
//
// Narrowing the mask against a real OpenMP runtime. A runtime starts once per process, so every case runs in a child of
// its own that starts this program again.
#include "node/affinity.hpp"

#include <gtest/gtest.h>

#include <omp.h>
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace commtask::detail {
namespace {

/// Runs on `n_threads` OpenMP threads; true if each of them is kept off the CPU.
bool are_all_kept_off(int cpu, int n_threads) {
    bool is_kept_off = true;
#pragma omp parallel num_threads(n_threads) reduction(&& : is_kept_off)
    is_kept_off = !thread_cpus().value().contains(cpu);
    return is_kept_off;
}

int team_size() {
    int size = 0;
#pragma omp parallel
#pragma omp single
    size = omp_get_num_threads();
    return size;
}

rank_placement place_of(const cpu_set& all) {
    const int worker = all.members().back();
    return {.lane_cpus = {worker}, .all_cpus = all, .compute_cpus = all - cpu_set{worker}};
}

[[noreturn]] void leave(bool is_good, const char* what) {
    if (!is_good) std::fprintf(stderr, "not so: %s\n", what);
    std::_Exit(is_good ? 0 : 1);
}

void narrow_before_openmp() {
    const rank_placement place = place_of(process_cpus());
    const process_narrowing narrowing{place.all_cpus, place.compute_cpus};
    if (openmp_started_too_early(place)) leave(false, "no warning");
    if (team_size() != place.compute_cpus.size()) leave(false, "as many threads as compute CPUs");
    leave(are_all_kept_off(place.lane_cpus[0], 2 * place.all_cpus.size()), "threads keep off the worker's CPU");
}

void narrow_between_a_setting_and_the_first_region() {
    omp_set_dynamic(0); // wakes libomp, as entering a function with a parallel region does, but it reads no mask yet
    narrow_before_openmp();
}

void narrow_after_openmp() {
    team_size();
    const rank_placement place = place_of(process_cpus());
    const process_narrowing narrowing{place.all_cpus, place.compute_cpus};
    leave(openmp_started_too_early(place).has_value(), "a warning");
}

void find_all_cpus_from_a_bound_thread() {
    const cpu_set all = process_cpus();
    team_size();
    if (thread_cpus().value().size() != 1) leave(false, "OMP_PROC_BIND binds the main thread to one CPU");
    if (!(process_cpus() == all)) leave(false, "the CPUs of the process are still known");
    const rank_placement place = place_of(all);
    bool is_bound = false;
    std::thread{[&] { is_bound = !bind_worker(place, 0) && thread_cpus() == cpu_set{place.lane_cpus[0]}; }}.join();
    leave(is_bound, "a worker from a bound thread reaches its CPU");
}

class AffinityWithOpenMp : public testing::Test {
protected:
    void SetUp() override {
        testing::FLAGS_gtest_death_test_style = "threadsafe";
        if (process_cpus().size() < 2) GTEST_SKIP() << "needs two CPUs";
    }
};

TEST_F(AffinityWithOpenMp, KeepsComputeThreadsOffTheWorkersCpu) {
    EXPECT_EXIT(narrow_before_openmp(), testing::ExitedWithCode(0), "");
}

TEST_F(AffinityWithOpenMp, KeepsBoundComputeThreadsOffTheWorkersCpuToo) {
    ASSERT_EQ(setenv("OMP_PROC_BIND", "spread", 1), 0);
    EXPECT_EXIT(narrow_before_openmp(), testing::ExitedWithCode(0), "");
    ASSERT_EQ(unsetenv("OMP_PROC_BIND"), 0);
}

TEST_F(AffinityWithOpenMp, IsInTimeAsLongAsNoRegionHasRun) {
    EXPECT_EXIT(narrow_between_a_setting_and_the_first_region(), testing::ExitedWithCode(0), "");
}

TEST_F(AffinityWithOpenMp, WarnsWhenOpenMpHadStartedBefore) {
    EXPECT_EXIT(narrow_after_openmp(), testing::ExitedWithCode(0), "");
}

TEST_F(AffinityWithOpenMp, FindsTheProcessesCpusFromABoundThread) {
    ASSERT_EQ(setenv("OMP_PROC_BIND", "true", 1), 0);
    EXPECT_EXIT(find_all_cpus_from_a_bound_thread(), testing::ExitedWithCode(0), "");
    ASSERT_EQ(unsetenv("OMP_PROC_BIND"), 0);
}

} // namespace
} // namespace commtask::detail
