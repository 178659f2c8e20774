// SPDX-License-Identifier: Apache-2.0
//
// Placement through the public interface: what commtask_init does to the threads of real ranks, and what a worker
// without work costs. On a machine with few CPUs the ranks share, on a larger one they do not; both must hold.
#include <commtask/commtask.h>

#include <gtest/gtest.h>

#include <mpi.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace {

using cpu_list = std::vector<int>;

cpu_list cpus_of(int thread_id) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    cpu_list cpus;
    if (sched_getaffinity(thread_id, sizeof mask, &mask) != 0) return cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(static_cast<std::size_t>(cpu), &mask)) cpus.push_back(cpu);
    return cpus;
}

bool has(const cpu_list& cpus, int cpu) { return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end(); }

int threads_bound_to(int cpu) {
    int n_threads = 0;
    for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/task"}) {
        const std::string name = entry.path().filename().string();
        int id = 0;
        std::from_chars(name.data(), name.data() + name.size(), id);
        if (cpus_of(id) == cpu_list{cpu}) ++n_threads;
    }
    return n_threads;
}

commtask_info get_info() {
    commtask_info info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(commtask_get_info(&info), COMMTASK_OK) << commtask_last_error();
    return info;
}

std::vector<int> collective_all_of(int mine) {
    int n_ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    std::vector<int> all(static_cast<std::size_t>(n_ranks));
    MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
    return all;
}

double processor_seconds() {
    rusage usage{};
    EXPECT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Time that passes is what the test measures; no event is waited for.
void let_pass_ms(int time_ms) { poll(nullptr, 0, time_ms); }

TEST(PlacementOfRanks, KeepsTheProgramsThreadsOffEveryWorkerAndGivesTheMaskBack) {
    const cpu_list before = cpus_of(0);
    ASSERT_EQ(commtask_init(nullptr), COMMTASK_OK) << commtask_last_error();
    const commtask_info info = get_info();
    const std::vector<int> workers = collective_all_of(info.worker_cpu);
    for (const int worker : workers) {
        if (worker < 0) continue;
        EXPECT_FALSE(has(cpus_of(0), worker));
        std::thread{[&] { EXPECT_FALSE(has(cpus_of(0), worker)) << "a thread started later"; }}.join();
    }
    if (info.worker_cpu >= 0) {
        EXPECT_TRUE(has(before, info.worker_cpu)) << "the worker stays within what the rank was given";
        EXPECT_EQ(threads_bound_to(info.worker_cpu), 1) << "the worker and nobody else";
    } else {
        EXPECT_EQ(info.worker_is_reserved, 0);
    }
    ASSERT_EQ(commtask_finalize(), COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(cpus_of(0), before);
}

TEST(PlacementOfRanks, KeepsTheThreadOfAWindowWithEpochsOffEveryWorker) {
    ASSERT_EQ(commtask_init(nullptr), COMMTASK_OK) << commtask_last_error();
    const commtask_info info = get_info();
    double* part = nullptr; // allocated, since Open MPI 4.1 has windows over memory of one's own for some networks only
    MPI_Win window = MPI_WIN_NULL;
    ASSERT_EQ(MPI_Win_allocate(sizeof *part, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &window), MPI_SUCCESS);
    ASSERT_EQ(commtask_win_register_epochs(window, MPI_COMM_WORLD), COMMTASK_OK) << commtask_last_error();
    commtask_t fence = COMMTASK_NULL;
    ASSERT_EQ(commtask_post(commtask_op_win_fence(0, window), nullptr, &fence), COMMTASK_OK) << commtask_last_error();
    ASSERT_EQ(commtask_wait(&fence, nullptr), COMMTASK_OK) << "after it the thread has begun";
    if (info.worker_cpu >= 0) EXPECT_EQ(threads_bound_to(info.worker_cpu), 1) << "the worker's alone";
    EXPECT_EQ(commtask_win_unregister(window), COMMTASK_OK) << commtask_last_error();
    MPI_Win_free(&window);
    ASSERT_EQ(commtask_finalize(), COMMTASK_OK);
}

TEST(PlacementOfRanks, GivesNoCpuToTwoWorkers) {
    ASSERT_EQ(commtask_init(nullptr), COMMTASK_OK) << commtask_last_error();
    std::vector<int> workers = collective_all_of(get_info().worker_cpu);
    ASSERT_EQ(commtask_finalize(), COMMTASK_OK);
    std::erase(workers, -1);
    std::sort(workers.begin(), workers.end());
    EXPECT_EQ(std::adjacent_find(workers.begin(), workers.end()), workers.end());
}

TEST(PlacementOfRanks, TakesNoCoreWhenTheProgramSaysSo) {
    const cpu_list before = cpus_of(0);
    commtask_config config = COMMTASK_CONFIG_INIT;
    config.core = "none";
    ASSERT_EQ(commtask_init(&config), COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(get_info().worker_cpu, -1);
    EXPECT_EQ(cpus_of(0), before);
    ASSERT_EQ(commtask_finalize(), COMMTASK_OK);
}

TEST(PlacementOfRanks, RefusesACoreThatIsNotThereAndStartsWithAGoodOne) {
    commtask_config config = COMMTASK_CONFIG_INIT;
    config.core = "8191";
    EXPECT_EQ(commtask_init(&config), COMMTASK_ERR_CONFIG);
    EXPECT_NE(std::string{commtask_last_error()}.find("names CPU 8191, which no rank on this node may use"),
              std::string::npos)
        << commtask_last_error();
    config.core = "auto";
    ASSERT_EQ(commtask_init(&config), COMMTASK_OK) << commtask_last_error();
    ASSERT_EQ(commtask_finalize(), COMMTASK_OK);
}

TEST(PlacementOfRanks, CostsLessThanAHundredthOfACoreWhileIdle) {
    ASSERT_EQ(commtask_init(nullptr), COMMTASK_OK) << commtask_last_error();
    let_pass_ms(100); // the worker's last spinning is over
    const double before = processor_seconds();
    let_pass_ms(1000);
    const double used = processor_seconds() - before;
    EXPECT_LT(used, 0.01);
    ASSERT_EQ(commtask_finalize(), COMMTASK_OK);
}

} // namespace
