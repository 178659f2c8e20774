// SPDX-License-Identifier: Apache-2.0
//
// A function of the program's, run as a task, that never comes back. The program's end must not run it itself, waits for it as long
// as was asked for, and leaves it where it is; after that the program's calls of MPI, those of its other threads too, and
// MPI_Finalize go on as they do natively.
#include <commtask/commtask.h>
#include <mpi.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "probe.h"

namespace {

std::atomic<bool> has_begun{false};
std::atomic<bool> never{false};

int stay(void* /*argument*/) {
    has_begun = true;
    has_begun.notify_all();
    never.wait(false);
    return MPI_SUCCESS;
}

void post_what_stays() {
    commtask_config config = COMMTASK_CONFIG_INIT;
    config.finalize_timeout_s = 0.3;
    EXPECT(commtask_init(&config) == COMMTASK_OK);
    EXPECT(commtask_submit(commtask_op_call(stay, nullptr, MPI_COMM_WORLD), nullptr, nullptr) == COMMTASK_OK);
}

void exchange() {
    int from_left = -1;
    MPI_Sendrecv(&me, 1, MPI_INT, next_rank(), 2, &from_left, 1, MPI_INT, previous_rank(), 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    EXPECT(from_left == previous_rank());
}

void finalize() {
    const int code = commtask_finalize();
    say("code %d: %d", code, std::strstr(commtask_last_error(), "does not come back") != nullptr);
    EXPECT(code == COMMTASK_ERR_UNFINISHED && commtask_is_initialized() == 0);
}

/// Whoever takes it up: not the thread that ends the use.
void at_once() {
    post_what_stays();
    finalize();
    EXPECT(commtask_finalize() == COMMTASK_ERR_NOT_INITIALIZED);
}

/// Another thread wants MPI meanwhile, with calls that are no tasks, and gets it.
void beside_another_thread() {
    post_what_stays();
    has_begun.wait(false);
    std::atomic<int> n_calls{0};
    std::thread other{[&] {
        int has_come = 1;
        MPI_Comm copy = MPI_COMM_NULL;
        MPI_Iprobe(0, 1, MPI_COMM_SELF, &has_come, MPI_STATUS_IGNORE);
        EXPECT(has_come == 0);
        ++n_calls;
        MPI_Comm_dup(MPI_COMM_SELF, &copy);
        MPI_Comm_free(&copy);
        ++n_calls;
    }};
    finalize();
    other.join();
    say("%d calls", n_calls.load());
}

/// Nobody calls commtask_finalize.
void forgotten() {
    post_what_stays();
    has_begun.wait(false);
}

} // namespace

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    probe_start();
    const char* const which = argc > 1 ? argv[1] : "at_once";
    const bool is_forgotten = std::strcmp(which, "forgotten") == 0;
    if (is_forgotten) {
        forgotten();
    } else if (std::strcmp(which, "at_once") == 0) {
        at_once();
    } else {
        beside_another_thread();
    }
    if (!is_forgotten) {
        exchange();
        int sum = 0;
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        say("sum %d", sum);
    }
    MPI_Finalize();
    say("finalized");
    return probe_result();
}
