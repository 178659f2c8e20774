// SPDX-License-Identifier: Apache-2.0
//
// A scenario is a whole program in a function: it starts and ends MPI as its story wants, so it cannot share a process
// with others. scenario_test.py starts it, reads what it prints and judges how it ended; what can be judged inside is
// CHECKed here, and a rank with a failed check exits with 1.
#pragma once

#include <commtask/commtask.h>

#include <cstdio>
#include <cstring>

namespace commtask::test {

inline int n_failed_checks = 0;

inline void check(bool is_true, const char* text, const char* file, int line) {
    if (is_true) return;
    ++n_failed_checks;
    std::fprintf(stderr, "CHECK FAILED: %s:%d: %s (last error: \"%s\")\n", file, line, text, commtask_last_error());
}

#define CHECK(condition) ::commtask::test::check((condition), #condition, __FILE__, __LINE__)

inline bool last_error_names(const char* word) { return std::strstr(commtask_last_error(), word) != nullptr; }

/// A window with memory of MPI's for 128 doubles on each rank, named "halos".
inline MPI_Win window_of_halos(MPI_Comm comm) {
    void* exposed = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    CHECK(MPI_Win_allocate(1024, 8, MPI_INFO_NULL, comm, static_cast<void*>(&exposed), &window) == MPI_SUCCESS);
    CHECK(MPI_Win_set_name(window, "halos") == MPI_SUCCESS);
    return window;
}

/// MPI with the level that most scenarios want. @return the rank.
inline int begin_mpi() {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided >= MPI_THREAD_SERIALIZED);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/// The launcher passes stdin to rank 0: scenario_test.py says "go on" there once it has seen what it waits for.
inline void wait_for_go_on() {
    char line[64];
    CHECK(std::fgets(line, sizeof line, stdin) != nullptr);
}

// scenario_lifecycle.cpp
void before_mpi();
void thread_level();
void init_twice();
void after_finalize();
void bad_field();
void bad_variable();
void misspelt_variable();
void good_variable();
void stats();

// scenario_lanes.cpp
void serialized();
void lanes_differ();
void lanes_unfinished();
void lanes_stats();
void lanes_watchdog();

// scenario_node.cpp
void node_late_sender();
void node_access();
void node_differs();
void node_without_memory();
void node_versions_differ();

// scenario_node_far.cpp
void node_far_sender();
void node_far_sender_with_a_core();
void node_leader_stopped();
void node_forked();
void node_sleeper_killed();
void node_auto();
void node_memory();

// scenario_unfinished.cpp
void finalize_lists();
void finalize_unsignalled();
void watchdog();
void forgotten_finalize();
void forgotten_finalize_with_tasks();
void leaves_early();
void killed();
void unseen_failure();
void unseen_call();
void unseen_plan();
void unseen_failures_return();
void seen_failures();
void fatal_handler();

// scenario_ending.cpp
void finalize_waits_for_a_call();
int wait_for_leave(void* argument);
void await_its_begin();
void give_leave();
void finalize_leaves_a_call();
void finalize_leaves_a_submitter();
void finalize_retries();
void finalize_late_signal();

// scenario_plans.cpp
void finalize_half_ready();
void stale_plans();
void finalize_leaves_plans();
void peer_leaves_in_a_run();

// scenario_starting.cpp
void levels_differ();
void memory_differs();
/// What operator new has given and not got back; of C++, so not MPI's. Not with sanitizers.
std::size_t bytes_of_new();
void stats_give_up();
void stats_in_any_order();
void forked_child();
void signalled();

// scenario_windows.cpp
void finalize_window();
void finalize_epoch();
void watchdog_window();

// scenario_worker.cpp
void idle();
void idle_with_a_receive();
void idle_with_a_window_of_one_rank();
void placement();

} // namespace commtask::test
