// SPDX-License-Identifier: Apache-2.0
//
// A function of the program's, run as a task, that never comes back. The program's end must not run it itself, waits for it as long
// as was asked for, and leaves it where it is; after that the program's calls of MPI, those of its other threads too, and
// MPI_Finalize go on as they do natively, and meet those of ranks that have left nothing behind.
#include <commtask/commtask.h>
#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

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

void start() {
    commtask_config config = COMMTASK_CONFIG_INIT;
    config.finalize_timeout_s = 0.3;
    EXPECT(commtask_init(&config) == COMMTASK_OK);
}

void post_what_stays(MPI_Comm comm = MPI_COMM_WORLD) {
    EXPECT(commtask_post(commtask_op_call(stay, nullptr, comm), nullptr, nullptr) == COMMTASK_OK);
}

/// Messages, collectives, and where the ranks meet.
void exchange() {
    int from_left = -1;
    MPI_Sendrecv(&me, 1, MPI_INT, next_rank(), 2, &from_left, 1, MPI_INT, previous_rank(), 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    EXPECT(from_left == previous_rank());
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (MPI_Comm comm : {MPI_COMM_WORLD, copy}) {
        int sum = 0;
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
        say("sum %d", sum);
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Ibarrier(comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&copy);
}

void finalize(bool is_abandoned = true) {
    const int code = commtask_finalize();
    if (is_abandoned) say("code %d: %d", code, std::strstr(commtask_last_error(), "does not return") != nullptr);
    EXPECT(code == (is_abandoned ? COMMTASK_ERR_UNFINISHED : COMMTASK_OK) && commtask_is_initialized() == 0);
}

/// Whoever takes it up: not the thread that ends the use.
void at_once() {
    start();
    post_what_stays();
    finalize();
    EXPECT(commtask_finalize() == COMMTASK_ERR_NOT_INITIALIZED);
}

/// The other ranks' workers go on, and so their blocking collectives are nonblocking ones.
void on_one_rank() {
    start();
    if (me == 0) post_what_stays();
    finalize(me == 0);
}

/// Another thread wants MPI meanwhile, with calls that are no tasks, and gets it.
void beside_another_thread_on(MPI_Comm comm) {
    post_what_stays(comm);
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

void beside_another_thread() {
    start();
    beside_another_thread_on(MPI_COMM_WORLD);
}

/// A communicator of this rank alone, on lane 1.
[[nodiscard]] MPI_Comm make_on_another_lane() {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &made);
    EXPECT(commtask_comm_set_lane(made, 1) == COMMTASK_OK);
    return made;
}

/// A thread that wants MPI has the progress lock of lane 0 then, and is not what keeps it.
void on_another_lane() {
    start();
    beside_another_thread_on(make_on_another_lane());
}

std::atomic<bool> is_inside{false};

int take_a_while(void* /*argument*/) {
    is_inside = true;
    const double begin = MPI_Wtime();
    while (MPI_Wtime() - begin < 0.05) std::this_thread::yield();
    is_inside = false;
    return MPI_SUCCESS;
}

/// Another one, on the driver; while the end is near it is refused.
void post_again(const commtask_status* /*status*/, void* comm) {
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.callback = post_again;
    how.callback_argument = comm;
    commtask_post(commtask_op_call(take_a_while, nullptr, *static_cast<MPI_Comm*>(comm)), &how, nullptr);
}

/// The worker of another lane is inside MPI, or a function, again and again: it is out of it when commtask_finalize returns, since
/// the program may end MPI then.
void beside_another_lane() {
    start();
    static MPI_Comm comm = make_on_another_lane();
    post_again(nullptr, &comm);
    post_what_stays();
    finalize();
    EXPECT(!is_inside);
}

/// Other threads make blocking calls while the end is waited for: these are no tasks, though there are threads that wait for MPI, as
/// nobody would complete them.
void beside_blocking_calls() {
    constexpr int n_pauses = 4'000'000; // as many resumes take longer than it takes to come to the end
    std::array<MPI_Comm, 4> own{};
    for (MPI_Comm& each : own) MPI_Comm_dup(MPI_COMM_SELF, &each);
    start();
    post_what_stays();
    has_begun.wait(false);
    for (int i = 0; i < n_pauses; ++i) commtask_pause();
    std::atomic<bool> has_come{false};
    std::atomic<int> n_calls{0};
    std::vector<std::thread> others;
    for (std::size_t i = 0; i < own.size(); ++i) {
        others.emplace_back([&, i] {
            if (i == 0) {
                // The end undoes the pauses: nothing else tells that it has begun.
                for (int n = 0; n < n_pauses && commtask_resume() == COMMTASK_OK; ++n) std::this_thread::yield();
                has_come = true;
                has_come.notify_all();
            }
            has_come.wait(false);
            const int out = static_cast<int>(i);
            int in = -1;
            if (i % 2 == 0) {
                MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, own[i], MPI_STATUS_IGNORE);
            } else {
                MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, own[i]);
            }
            EXPECT(in == out);
            ++n_calls;
        });
    }
    finalize();
    for (std::thread& each : others) each.join();
    for (MPI_Comm& each : own) MPI_Comm_free(&each);
    say("%d calls", n_calls.load());
}

/// Nobody calls commtask_finalize.
void forgotten() {
    start();
    post_what_stays();
    has_begun.wait(false);
}

} // namespace

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    probe_start();
    constexpr std::array<probe_case, 7> cases{{{"at_once", at_once, 1},
                                               {"on_one_rank", on_one_rank, 1},
                                               {"beside_another_thread", beside_another_thread, 1},
                                               {"beside_blocking_calls", beside_blocking_calls, 1},
                                               {"on_another_lane", on_another_lane, 1},
                                               {"beside_another_lane", beside_another_lane, 1},
                                               {"forgotten", forgotten, 1}}};
    const char* const which = argc > 1 ? argv[1] : "";
    for (const probe_case& each : cases) {
        if (std::strcmp(which, each.name) == 0) each.run();
    }
    if (std::strcmp(which, "forgotten") != 0) exchange();
    MPI_Finalize();
    say("finalized");
    return probe_result();
}
