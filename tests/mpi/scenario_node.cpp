// SPDX-License-Identifier: Apache-2.0
//
// Scenarios about the ranks of a node: bells that are heard or not, and settings that differ. Whether a bell was heard is known
// when the statistics are printed, so what is printed is judged.
#include "scenario.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include <sched.h>
#include <semaphore.h>
#include <sys/resource.h>

namespace commtask::test {
namespace {

[[nodiscard]] double seconds() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void tell(const commtask_status* /*status*/, void* has_come) { sem_post(static_cast<sem_t*>(has_come)); }

/// Elsewhere, as with an accelerator, until the callback says that the message has come. @return whether it does
[[nodiscard]] bool compute_until(sem_t& has_come) {
    timespec give_up{};
    clock_gettime(CLOCK_REALTIME, &give_up);
    give_up.tv_sec += 30;
    return sem_timedwait(&has_come, &give_up) == 0;
}

} // namespace

// scenario_test.py says whether there are bells, and reads in the statistics whether they rang. The sender lets the receiver's
// worker fall asleep; the receiver computes elsewhere, and knows nothing of the library meanwhile.
void node_late_sender() {
    constexpr int n_messages = 12;
    constexpr double until_asleep_s = 0.03;
    const int rank = begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    for (int i = 0; i < n_messages; ++i) {
        int number = i;
        if (rank == 0) {
            sem_t has_come;
            CHECK(sem_init(&has_come, 0, 0) == 0);
            number = -1;
            commtask_options options = COMMTASK_OPTIONS_INIT;
            options.callback = &tell;
            options.callback_argument = &has_come;
            CHECK(commtask_post(commtask_op_recv(&number, 1, MPI_INT, 1, i, MPI_COMM_WORLD), &options, nullptr) ==
                  COMMTASK_OK);
            CHECK(compute_until(has_come) && number == i);
            sem_destroy(&has_come);
        } else if (rank == 1) {
            for (const double begin = seconds(); seconds() - begin < until_asleep_s;) sched_yield();
            commtask_t sent = COMMTASK_NULL;
            CHECK(commtask_post(commtask_op_send(&number, 1, MPI_INT, 0, i, MPI_COMM_WORLD), nullptr, &sent) ==
                  COMMTASK_OK);
            CHECK(commtask_wait(&sent, nullptr) == COMMTASK_OK);
        }
    }
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

// The target computes on the core of its worker, which naps: the origin's access rings it. Of no such bell is known whether it was for
// nothing.
void node_access() {
    constexpr int n_accesses = 24;
    constexpr double until_asleep_s = 0.03;
    constexpr int n_elements = 64;
    const int rank = begin_mpi();
    cpu_set_t core; // of its own, which its worker shares
    CHECK(sched_getaffinity(0, sizeof core, &core) == 0);
    if (CPU_COUNT(&core) < 2) std::exit(77);
    for (int cpu = 0, at = 0, n = CPU_COUNT(&core); cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &core) && at++ != rank % n) CPU_CLR(cpu, &core);
    }
    CHECK(sched_setaffinity(0, sizeof core, &core) == 0);
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    int* exposed = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    CHECK(MPI_Win_allocate(n_elements * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &exposed, &window) ==
          MPI_SUCCESS);
    exposed[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(commtask_win_register(window, MPI_COMM_WORLD) == COMMTASK_OK);
    for (int i = 1; i <= n_accesses; ++i) {
        const double begin = seconds();
        if (rank == 1) {
            const std::atomic_ref<int> seen{exposed[0]};
            while (seen.load() < i) CHECK(seconds() - begin < 30);
        } else {
            while (seconds() - begin < until_asleep_s) {}
            commtask_t put = COMMTASK_NULL;
            commtask_t flush = COMMTASK_NULL;
            CHECK(commtask_post(commtask_op_put(&i, 1, MPI_INT, 1, 0, 1, MPI_INT, window), nullptr, &put) ==
                  COMMTASK_OK);
            CHECK(commtask_wait(&put, nullptr) == COMMTASK_OK);
            CHECK(commtask_post(commtask_op_flush(1, window), nullptr, &flush) == COMMTASK_OK);
            CHECK(commtask_wait(&flush, nullptr) == COMMTASK_OK);
        }
    }
    CHECK(commtask_win_unregister(window) == COMMTASK_OK);
    MPI_Win_free(&window);
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

// Ranks of a node with different settings of doorbells.
void node_differs() {
    const int rank = begin_mpi();
    setenv("COMMTASK_NODE_DOORBELLS", rank == 0 ? "off" : "on", 1);
    CHECK(commtask_init(nullptr) == COMMTASK_ERR_CONFIG);
    CHECK(last_error_names("COMMTASK_NODE_DOORBELLS"));
    CHECK(last_error_names(rank == 0 ? "off on this rank" : "on on this rank"));
    setenv("COMMTASK_NODE_DOORBELLS", "on", 1);
    setenv("COMMTASK_NODE_RANKS", rank == 0 ? "1" : "2", 1);
    CHECK(commtask_init(nullptr) == COMMTASK_ERR_CONFIG);
    CHECK(last_error_names(rank == 0 ? "COMMTASK_NODE_RANKS (1)" : "COMMTASK_NODE_RANKS (2)"));
    setenv("COMMTASK_NODE_RANKS", "0", 1);
    setenv("COMMTASK_NODE_ANNOUNCE_BYTES", rank == 0 ? "1000" : "2000", 1);
    CHECK(commtask_init(nullptr) == COMMTASK_ERR_CONFIG);
    CHECK(last_error_names(rank == 0 ? "COMMTASK_NODE_ANNOUNCE_BYTES (1000)" : "COMMTASK_NODE_ANNOUNCE_BYTES (2000)"));
    setenv("COMMTASK_NODE_ANNOUNCE_BYTES", "1000", 1);
    setenv("COMMTASK_NODE_DOORBELLS", "off", 1);
    CHECK(commtask_init(nullptr) == COMMTASK_ERR_CONFIG);
    CHECK(last_error_names("COMMTASK_NODE_ANNOUNCE_BYTES=1000 needs doorbells"));
    setenv("COMMTASK_NODE_DOORBELLS", "on", 1);
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

// The second rank stands in for one with another version of the library: it says what that would say first, in every version.
void node_versions_differ() {
    const int rank = begin_mpi();
    if (rank == 0) {
        CHECK(commtask_init(nullptr) == COMMTASK_ERR_CONFIG);
        CHECK(last_error_names("another rank runs another version"));
        CHECK(commtask_is_initialized() == 0);
    } else {
        std::array<std::int64_t, 2> version{1, -1};
        MPI_Allreduce(MPI_IN_PLACE, version.data(), 2, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
        CHECK(version[0] == 1 && version[1] < -1);
    }
    MPI_Finalize();
}

// The system gives the first rank no memory to share: the node goes on without bells, and says so once.
void node_without_memory() {
    const int rank = begin_mpi();
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    if (rank == 0) {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit none{0, before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &none);
    }
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(commtask_post(commtask_op_barrier(MPI_COMM_WORLD), nullptr, nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

} // namespace commtask::test
