// SPDX-License-Identifier: Apache-2.0
//
// Scenarios about the worker's core and what it costs to have one. CPU time is taken from getrusage over a time in which
// the program does nothing, so these do let time pass: in a poll with a limit, since nothing is waited for.
#include "scenario.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace commtask::test {
namespace {

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Share of a core that the whole process used while `seconds` passed.
double share_while_idle(int seconds) {
    const double cpu_before = cpu_seconds();
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double begin = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    timespec end = now;
    end.tv_sec += seconds;
    int interrupted = EINTR;
    // lint-allow(sleep): idleness is what is measured
    while (interrupted == EINTR) interrupted = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr);
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double finish = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    return (cpu_seconds() - cpu_before) / (finish - begin);
}

void run_one(const commtask_op& op) {
    commtask_t task = COMMTASK_NULL;
    CHECK(commtask_post_operation(&op, nullptr, &task) == COMMTASK_OK);
    CHECK(commtask_wait(&task, nullptr) == COMMTASK_OK);
}

/// Communicators of the lanes that the settings ask for.
std::vector<MPI_Comm> one_of_each_lane() {
    commtask_info info{};
    info.struct_size = sizeof info;
    CHECK(commtask_get_info(&info) == COMMTASK_OK);
    std::vector<MPI_Comm> made(info.lanes, MPI_COMM_NULL);
    CHECK(commtask_comm_split_lanes(MPI_COMM_WORLD, static_cast<int>(info.lanes), made.data()) == COMMTASK_OK);
    return made;
}

struct worker_facts {
    std::set<int> cpus;
    std::thread::id thread;
};

std::set<int> own_cpus() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    sched_getaffinity(0, sizeof mask, &mask);
    std::set<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &mask)) cpus.insert(cpu);
    }
    return cpus;
}

int look_at_worker(void* argument) {
    auto* const facts = static_cast<worker_facts*>(argument);
    facts->cpus = own_cpus();
    facts->thread = std::this_thread::get_id();
    return MPI_SUCCESS;
}

std::string text(const std::set<int>& cpus) {
    std::string all;
    for (const int cpu : cpus) all += (all.empty() ? "" : ",") + std::to_string(cpu);
    return all;
}

} // namespace

void idle() {
    const int rank = begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    const std::vector<MPI_Comm> of_lanes = one_of_each_lane();
    for (MPI_Comm each : of_lanes) run_one(commtask_op_barrier(each)); // its worker has worked before
    const double share = share_while_idle(2);
    std::fprintf(stderr, "rank %d used %.4f of a core\n", rank, share);
    CHECK(share < 0.01);
    for (MPI_Comm each : of_lanes) run_one(commtask_op_barrier(each)); // and works after
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

// Nobody else needs this process's progress.
void idle_with_a_window_of_one_rank() {
    begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    MPI_Win window = window_of_halos(MPI_COMM_SELF);
    CHECK(commtask_win_register(window, MPI_COMM_SELF) == COMMTASK_OK);
    const double value = 1;
    run_one(commtask_op_put(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window));
    const double share = share_while_idle(2);
    std::fprintf(stderr, "used %.4f of a core\n", share);
    CHECK(share < 0.01);
    run_one(commtask_op_flush_all(window));
    CHECK(commtask_win_unregister(window) == COMMTASK_OK);
    CHECK(MPI_Win_free(&window) == MPI_SUCCESS);
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

// With a receive in flight a worker without a core of its own naps, bounded: it costs something, but no core.
void idle_with_a_receive() {
    const int rank = begin_mpi();
    commtask_config config = COMMTASK_CONFIG_INIT;
    config.idle = "shared";
    CHECK(commtask_init(&config) == COMMTASK_OK);
    const std::vector<MPI_Comm> of_lanes = one_of_each_lane();
    std::vector<int> received(of_lanes.size(), 0);
    std::vector<commtask_t> receives(of_lanes.size(), COMMTASK_NULL);
    for (std::size_t i = 0; i < of_lanes.size(); ++i) {
        const commtask_op op = commtask_op_recv(&received[i], 1, MPI_INT, rank, 0, of_lanes[i]);
        CHECK(commtask_post_operation(&op, nullptr, &receives[i]) == COMMTASK_OK);
    }
    const double share = share_while_idle(2);
    std::fprintf(stderr, "rank %d used %.4f of a core\n", rank, share);
    CHECK(share < 0.3 * static_cast<double>(of_lanes.size()));
    const int sent = 3;
    for (MPI_Comm each : of_lanes) run_one(commtask_op_send(&sent, 1, MPI_INT, rank, 0, each));
    CHECK(commtask_wait_all(receives.size(), receives.data(), nullptr) == COMMTASK_OK);
    for (const int each : received) CHECK(each == 3);
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

// Prints where the worker is; scenario_test.py knows what the settings ask for. What must hold everywhere is here.
void placement() {
    const int rank = begin_mpi();
    int n_ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    const std::set<int> given = own_cpus();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    commtask_info info{};
    info.struct_size = sizeof info;
    CHECK(commtask_get_info(&info) == COMMTASK_OK);

    // Looked at by a task that this thread does not wait for inside the library, where it might drive itself.
    worker_facts facts;
    std::atomic<bool> has_ended{false};
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.callback = [](const commtask_status*, void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); };
    how.callback_argument = &has_ended;
    CHECK(commtask_post(commtask_op_call(look_at_worker, &facts, MPI_COMM_WORLD), &how, nullptr) == COMMTASK_OK);
    while (!has_ended) std::this_thread::yield();
    CHECK(facts.thread != std::this_thread::get_id());

    const std::set<int> compute = own_cpus();
    std::set<int> inherited;
    std::thread{[&] { inherited = own_cpus(); }}.join();
    CHECK(inherited == compute);
    for (const int cpu : facts.cpus) CHECK(given.contains(cpu));
    CHECK(!compute.empty());
    if (info.worker_cpu >= 0) {
        CHECK(facts.cpus == std::set<int>{info.worker_cpu});
        CHECK(!compute.contains(info.worker_cpu));
    } else {
        CHECK(compute == given);
        CHECK(info.worker_is_reserved == 0);
    }
    std::vector<int> all(static_cast<std::size_t>(n_ranks), -2);
    run_one(commtask_op_allgather(&info.worker_cpu, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD));
    std::set<int> used;
    for (const int cpu : all) CHECK(cpu == -1 || used.insert(cpu).second);
    std::fprintf(stderr, "rank %d worker %d reserved %d compute %s\n", rank, info.worker_cpu, info.worker_is_reserved,
                 text(compute).c_str());
    CHECK(commtask_finalize() == COMMTASK_OK);
    CHECK(own_cpus() == given);
    MPI_Finalize();
}

} // namespace commtask::test
