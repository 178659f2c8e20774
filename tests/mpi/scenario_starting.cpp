// SPDX-License-Identifier: Apache-2.0
//
// Scenarios about ranks that do not start or end alike: one of them has a reason to be refused, or gives tasks up, or comes to
// its end earlier than the others. No rank must be left waiting for it.
#include "scenario.hpp"

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <new>

namespace commtask::test {
namespace {

constexpr long no_limit = -1;
thread_local long n_left = no_limit; ///< Allocations that this thread may still make.
std::atomic<std::size_t> n_new_bytes{0};

int launchers_rank() {
    for (const char* const name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK"}) {
        if (const char* const text = std::getenv(name)) return std::atoi(text);
    }
    return 0;
}

/// Whether all ranks have the same answer.
bool is_same_everywhere(int mine) {
    int lowest = 0;
    int highest = 0;
    MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return lowest == highest;
}

} // namespace

std::size_t bytes_of_new() { return n_new_bytes; }

void* allocate_if_allowed(std::size_t n_bytes, std::size_t alignment) {
    if (n_left == 0) throw std::bad_alloc{};
    if (n_left > 0) --n_left;
    void* made = nullptr;
    if (posix_memalign(&made, alignment, n_bytes == 0 ? 1 : n_bytes) != 0) throw std::bad_alloc{};
    n_new_bytes += malloc_usable_size(made);
    return made;
}

void give_back(void* memory) noexcept {
    n_new_bytes -= malloc_usable_size(memory);
    std::free(memory);
}

// MPI gives one rank less than the others.
void levels_differ() {
    const bool is_low = launchers_rank() == 0;
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(nullptr, nullptr, is_low ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
    const bool can_run = is_low == (provided < MPI_THREAD_SERIALIZED);
    if (can_run) {
        CHECK(commtask_init(nullptr) == COMMTASK_ERR_THREAD_LEVEL);
        CHECK(last_error_names(is_low ? "MPI_THREAD_SINGLE" : "rank 0 could not start"));
        // Whoever goes on all the same hears why, too.
        CHECK(commtask_post(commtask_op_noop(MPI_COMM_WORLD), nullptr, nullptr) == COMMTASK_ERR_NOT_INITIALIZED);
        CHECK(last_error_names(is_low ? "commtask_init was refused: MPI was initialised" : "rank 0 could not start"));
    }
    MPI_Finalize();
    if (!can_run) std::exit(77);
}

// One rank runs out of memory, at one place after the other.
void memory_differs() {
    const int rank = begin_mpi();
    int code = COMMTASK_ERR_NO_MEMORY;
    for (long n_allowed = 0; code != COMMTASK_OK; n_allowed += 1 + n_allowed / 8) {
        if (rank == 0) n_left = n_allowed;
        code = commtask_init(nullptr);
        n_left = no_limit;
        CHECK(code == COMMTASK_OK || code == COMMTASK_ERR_NO_MEMORY);
        if (!is_same_everywhere(code)) {
            std::fprintf(stderr, "CHECK FAILED: all ranks start, or none\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    CHECK(commtask_post(commtask_op_barrier(MPI_COMM_WORLD), nullptr, nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

// scenario_test.py asks for statistics.
void stats_give_up() {
    const int rank = begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    int never = 0;
    if (rank == 1) {
        CHECK(commtask_post(commtask_op_recv(&never, 1, MPI_INT, 0, 77, MPI_COMM_WORLD), nullptr, nullptr) ==
              COMMTASK_OK);
    }
    CHECK(commtask_finalize() == (rank == 1 ? COMMTASK_ERR_UNFINISHED : COMMTASK_OK));
    MPI_Finalize();
}

// The ranks come to commtask_finalize before and after a collective of the program's, which must not meet anything of ours.
void stats_in_any_order() {
    const int rank = begin_mpi();
    for (int first = 0; first < 2; ++first) {
        CHECK(commtask_init(nullptr) == COMMTASK_OK);
        if (rank == first) CHECK(commtask_finalize() == COMMTASK_OK);
        const long mine = 10 * first + rank;
        long all[2] = {-1, -1};
        MPI_Allgather(&mine, 1, MPI_LONG, all, 1, MPI_LONG, MPI_COMM_WORLD);
        CHECK(all[0] == 10 * first && all[1] == 10 * first + 1);
        if (rank != first) CHECK(commtask_finalize() == COMMTASK_OK);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
}

// Asked for with a signal, the list comes at once, and the program goes on.
void signalled() {
    const int rank = begin_mpi();
    std::signal(SIGUSR1, SIG_IGN);
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    if (rank == 0) {
        int received = 0;
        const int sent = 1;
        commtask_t receive = COMMTASK_NULL;
        CHECK(commtask_post(commtask_op_recv(&received, 1, MPI_INT, 0, 77, MPI_COMM_WORLD), nullptr, &receive) ==
              COMMTASK_OK);
        std::raise(SIGUSR1);
        wait_for_go_on();
        CHECK(commtask_post(commtask_op_send(&sent, 1, MPI_INT, 0, 77, MPI_COMM_WORLD), nullptr, nullptr) ==
              COMMTASK_OK);
        CHECK(commtask_wait(&receive, nullptr) == COMMTASK_OK);
    }
    CHECK(commtask_finalize() == COMMTASK_OK);
    std::raise(SIGUSR1); // what the program did on it holds again
    MPI_Finalize();
}

// A child has no worker; its end must not wait for one.
void forked_child() {
    begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    const pid_t child = fork();
    if (child == 0) {
        const bool is_over = commtask_is_initialized() == 0 && commtask_finalize() == COMMTASK_ERR_NOT_INITIALIZED;
        _exit(is_over ? 3 : 4);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    CHECK(commtask_post(commtask_op_barrier(MPI_COMM_WORLD), nullptr, nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

} // namespace commtask::test

// The whole program's, in the library too: how one rank comes to have no memory, and how much it has. The sanitizers have their own.
#ifndef COMMTASK_SANITIZED
void* operator new(std::size_t n_bytes) {
    return commtask::test::allocate_if_allowed(n_bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t n_bytes, std::align_val_t alignment) {
    return commtask::test::allocate_if_allowed(n_bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { commtask::test::give_back(memory); }
void operator delete(void* memory, std::size_t /*n_bytes*/) noexcept { commtask::test::give_back(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { commtask::test::give_back(memory); }
void operator delete(void* memory, std::size_t /*n_bytes*/, std::align_val_t /*alignment*/) noexcept {
    commtask::test::give_back(memory);
}
#endif
