// SPDX-License-Identifier: Apache-2.0
//
// A worker that shares its core, in each of its pauses: asleep with nothing to do, napping beside a receive that nobody waits for,
// and leaving the lane to a thread that waits for that. Each lasts until the kernel says that the worker has slept in it, so no time is
// guessed, and a run on a busy machine only takes longer.
#include <commtask/commtask.h>

#include <mpi.h>
#include <sched.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

void check(int code) {
    if (code == COMMTASK_OK) return;
    std::fprintf(stderr, "states: %s\n", commtask_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

commtask_t post(const commtask_op& op) {
    commtask_t task = COMMTASK_NULL;
    check(commtask_post_operation(&op, nullptr, &task));
    return task;
}

/// How often the worker has slept so far, and whether it does now.
struct sleeps {
    long count = 0;
    bool is_asleep = false;
};

sleeps sleeps_of_the_worker() {
    for (const auto& thread : std::filesystem::directory_iterator{"/proc/self/task"}) {
        std::ifstream status{thread.path() / "status"};
        sleeps found;
        std::string word;
        std::string name;
        while (status >> word) {
            if (word == "Name:") status >> name;
            if (word == "State:") found.is_asleep = status >> word && word == "S";
            if (word == "voluntary_ctxt_switches:") status >> found.count;
        }
        if (name == "commtask") return found;
    }
    return {};
}

/// Does `meanwhile` until the worker has slept often.
template <typename Meanwhile>
void until_it_has_slept(Meanwhile&& meanwhile) {
    constexpr long often = 20; // the first few may still be of what was before
    const long before = sleeps_of_the_worker().count;
    while (sleeps_of_the_worker().count < before + often) meanwhile();
}

/// With nothing to do it sleeps on: nobody rings.
void until_it_sleeps_on() {
    constexpr int n_looks = 1000;
    long before = 0;
    for (int unchanged = 0; unchanged < n_looks; ++unchanged) {
        const sleeps now = sleeps_of_the_worker();
        if (!now.is_asleep || now.count != before) unchanged = 0;
        before = now.count;
        sched_yield();
    }
}

} // namespace

int main(int argc, char** argv) {
    int given = 0;
    int rank = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check(commtask_init(nullptr));
    const int sent = 7;
    int got = 0;
    commtask_t receive = post(commtask_op_recv(&got, 1, MPI_INT, rank, 1, MPI_COMM_WORLD));
    until_it_has_slept([] { sched_yield(); });
    until_it_has_slept([&] {
        constexpr std::int64_t a_moment_ns = 1'000'000;
        if (commtask_wait_for(&receive, a_moment_ns, nullptr) != COMMTASK_TIMEOUT) MPI_Abort(MPI_COMM_WORLD, 2);
    });
    commtask_t send = post(commtask_op_send(&sent, 1, MPI_INT, rank, 1, MPI_COMM_WORLD));
    check(commtask_wait(&receive, nullptr));
    check(commtask_wait(&send, nullptr));
    until_it_sleeps_on();
    commtask_finalize();
    MPI_Finalize();
    return got == sent ? 0 : 1;
}
