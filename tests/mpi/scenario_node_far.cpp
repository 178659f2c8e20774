// SPDX-License-Identifier: Apache-2.0
//
// Scenarios of ranks that take themselves for several nodes, and of what may befall the ranks of one: a fork, other jobs beside,
// and the memory that doorbells and announcements take.
#include "patience.hpp"
#include "scenario.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include <sched.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

namespace commtask::test {
namespace {

void tell(const commtask_status* /*status*/, void* has_come) { sem_post(static_cast<sem_t*>(has_come)); }

/// Receives, and computes elsewhere until it has: nobody waits in the library.
[[nodiscard]] bool receive_elsewhere(std::vector<int>& into, int source, int tag) {
    sem_t has_come;
    timespec give_up{};
    if (sem_init(&has_come, 0, 0) != 0) return false;
    commtask_options options = COMMTASK_OPTIONS_INIT;
    options.callback = &tell;
    options.callback_argument = &has_come;
    const commtask_op op =
        commtask_op_recv(into.data(), static_cast<MPI_Count>(into.size()), MPI_INT, source, tag, MPI_COMM_WORLD);
    clock_gettime(CLOCK_REALTIME, &give_up);
    give_up.tv_sec += 30;
    const bool is_posted = commtask_post(op, &options, nullptr) == COMMTASK_OK;
    const bool has_ended = is_posted && sem_timedwait(&has_come, &give_up) == 0;
    sem_destroy(&has_come);
    return has_ended;
}

[[nodiscard]] bool send(const std::vector<int>& from, int dest, int tag) {
    commtask_t sent = COMMTASK_NULL;
    const commtask_op op =
        commtask_op_send(from.data(), static_cast<MPI_Count>(from.size()), MPI_INT, dest, tag, MPI_COMM_WORLD);
    return commtask_post(op, nullptr, &sent) == COMMTASK_OK && commtask_wait(&sent, nullptr) == COMMTASK_OK;
}

[[nodiscard]] double seconds() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// As long as another rank's worker takes at most.
void wait_until_asleep() {
    constexpr double until_asleep_s = 0.03;
    for (const double begin = seconds(); seconds() - begin < until_asleep_s;) sched_yield();
}

/// The sum of a field of the process's mappings whose name has `part`, in KiB. @return negative: there is no such mapping
[[nodiscard]] long mapped_kib(const char* part, const std::string& field) {
    std::ifstream file{"/proc/self/smaps"};
    long sum = -1;
    bool is_it = false;
    for (std::string line; std::getline(file, line);) {
        const bool is_heading = line.find(':') > line.find('-');
        if (is_heading) {
            is_it = line.find(part) != std::string::npos;
            if (is_it && sum < 0) sum = 0;
        } else if (is_it && line.starts_with(field + ":")) {
            sum += std::strtol(line.c_str() + field.size() + 1, nullptr, 10);
        }
    }
    return sum;
}

} // namespace

// Ranks that take themselves for two nodes, of three the last one is alone on its. Only large messages go, and only from the second
// node to the first: a rank that is rung was rung by its leader. The sender lets the receiver's worker fall asleep first.
void node_far_sender() {
    constexpr int n_messages = 12;
    constexpr std::size_t n_numbers = 1 << 15;
    const int rank = begin_mpi();
    int n_ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    const int per_node = (n_ranks + 1) / 2;
    setenv("COMMTASK_NODE_RANKS", std::to_string(per_node).c_str(), 1);
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    const bool receives = rank > 0 && rank < per_node;
    const int partner = receives ? std::min(rank + per_node, n_ranks - 1) : std::max(rank - per_node, 1);
    const bool sends = rank > per_node || (rank == per_node && n_ranks == 3);
    std::vector<int> numbers(n_numbers);
    for (int i = 0; i < n_messages; ++i) {
        if (receives) {
            CHECK(receive_elsewhere(numbers, partner, i) && numbers.front() == i && numbers.back() == i);
        } else if (sends) {
            wait_until_asleep();
            numbers.assign(n_numbers, i);
            CHECK(send(numbers, partner, i));
        }
    }
    // The leaders' own program is elsewhere all the while.
    std::vector<int> end(1);
    if (rank == 0) CHECK(receive_elsewhere(end, 1, n_messages));
    if (rank == 1) CHECK(send(end, 0, n_messages));
    if (rank == per_node && !sends) CHECK(receive_elsewhere(end, per_node + 1, n_messages));
    if (rank == per_node + 1) CHECK(send(end, per_node, n_messages));
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

// The second node's workers say that they have cores, the first one's share: only the first has doorbells, and hears of the other's messages.
void node_far_sender_with_a_core() {
    // Which rank it is MPI has not said yet; the launcher does.
    const char* const rank =
        std::getenv("PMI_RANK") != nullptr ? std::getenv("PMI_RANK") : std::getenv("OMPI_COMM_WORLD_RANK");
    CHECK(rank != nullptr);
    setenv("COMMTASK_IDLE", rank != nullptr && std::atoi(rank) >= 2 ? "reserved" : "shared", 1);
    node_far_sender();
}

// The first node's leader is stopped, as one that was killed would be but that MPI does not notice it: messages of the other node come
// all the same, after its receiver's longest wait.
void node_leader_stopped() {
    constexpr int n_messages = 6;
    const int rank = begin_mpi();
    setenv("COMMTASK_NODE_RANKS", "2", 1);
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    int leader = static_cast<int>(getpid());
    MPI_Bcast(&leader, 1, MPI_INT, 0, MPI_COMM_WORLD);
    std::vector<int> numbers(1 << 15);
    if (rank == 1) {
        CHECK(kill(leader, SIGSTOP) == 0);
        for (int i = 0; i < n_messages; ++i) CHECK(receive_elsewhere(numbers, 3, i) && numbers.back() == i);
        CHECK(kill(leader, SIGCONT) == 0);
    } else if (rank == 3) {
        for (int i = 0; i < n_messages; ++i) {
            wait_until_asleep();
            numbers.assign(numbers.size(), i);
            CHECK(send(numbers, 1, i));
        }
    }
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

// The receiver is killed while it waits for its doorbell: the leader, which stays up for it, comes to its end.
void node_sleeper_killed() {
    using detail::testing::comes_true;
    const int rank = begin_mpi();
    setenv("COMMTASK_NODE_RANKS", "2", 1);
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    std::array<int, 3> processes{};
    processes.at(static_cast<std::size_t>(rank)) = static_cast<int>(getpid());
    MPI_Allreduce(MPI_IN_PLACE, processes.data(), 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    std::vector<int> numbers(1 << 15);
    if (rank == 1) CHECK(receive_elsewhere(numbers, 2, 0));
    if (rank == 0) {
        wait_until_asleep();
        CHECK(kill(processes[1], SIGKILL) == 0);
        CHECK(commtask_finalize() == COMMTASK_OK);
        if (n_failed_checks == 0) std::fprintf(stderr, "the survivor came to its end\n");
    }
    if (rank == 2) CHECK(comes_true([&] { return kill(processes[0], 0) != 0; }));
    std::_Exit(n_failed_checks == 0 ? 0 : 1); // MPI_Finalize would wait for the dead
}

// Where each worker has a core there is nothing to share, and one that has none suffices for all of the node. What has a core is each
// rank's own to say.
void node_auto() {
    const int rank = begin_mpi();
    for (const int n_shared : {0, 1, 2}) {
        setenv("COMMTASK_IDLE", rank < n_shared ? "shared" : "reserved", 1);
        CHECK(commtask_init(nullptr) == COMMTASK_OK);
        CHECK((mapped_kib("commtask-node", "Size") > 0) == (n_shared > 0));
        CHECK(commtask_finalize() == COMMTASK_OK);
    }
    MPI_Finalize();
}

// A child of a rank has none of the memory that the ranks share, and the rank goes on with its doorbells.
void node_forked() {
    const int rank = begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    CHECK(mapped_kib("commtask-node", "Size") > 0);
    const pid_t child = fork();
    if (child == 0) _exit(mapped_kib("commtask-node", "Size") < 0 && commtask_is_initialized() == 0 ? 3 : 4);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    std::vector<int> number(1, 7);
    if (rank == 1) CHECK(send(number, 0, 1));
    if (rank == 0) {
        number[0] = 0;
        CHECK(receive_elsewhere(number, 1, 1) && number[0] == 7);
    }
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

// What the library has of its own with doorbells and announcements on, after some use: by operator new, which an MPI in C has no use for, and
// in the shared pages; less the pool of tasks.
void node_memory() {
    constexpr std::size_t most_kib = 300;
    const int rank = begin_mpi();
    std::vector<int> numbers(1 << 15);
    const std::size_t before = bytes_of_new();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    for (int tag = 0; tag < 3; ++tag) {
        if (rank == 1) CHECK(send(numbers, 0, tag));
        if (rank == 0) CHECK(receive_elsewhere(numbers, 1, tag));
    }
    commtask_info facts = COMMTASK_INIT_(commtask_info);
    CHECK(commtask_get_info(&facts) == COMMTASK_OK);
    const std::size_t own_kib = (bytes_of_new() - before) / 1024;
    const std::size_t pool_kib = facts.task_bytes / 1024;
    const long shared_kib = mapped_kib("commtask-node", "Pss"); // this rank's part
    std::fprintf(stderr, "rank %d: %zu KiB, %zu KiB of it tasks, and %ld KiB shared\n", rank, own_kib, pool_kib,
                 shared_kib);
    CHECK(shared_kib > 0);
    CHECK(own_kib > pool_kib); // it is counted
    CHECK(own_kib - pool_kib + static_cast<std::size_t>(shared_kib) <= most_kib);
    // Who left earlier would leave its part of the shared pages to the other.
    commtask_t all_have_looked = COMMTASK_NULL;
    CHECK(commtask_post(commtask_op_barrier(MPI_COMM_WORLD), nullptr, &all_have_looked) == COMMTASK_OK);
    CHECK(commtask_wait(&all_have_looked, nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

} // namespace commtask::test
