// SPDX-License-Identifier: Apache-2.0
//
// mpi.waiting: how a program learns that a task has ended: poll, wait with and without limit, wait for one or all,
// callbacks; and how it takes a task back. User events hold tasks where a test needs them, so nothing depends on time
// but what is about time.
#include "runtime_test.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>

namespace commtask::test {
namespace {

class Waiting : public Runtime {
protected:
    commtask_t held_noop(event& gate) {
        options how;
        return post(commtask_op_noop(comm_), how.on({gate.get()}));
    }
};

int fail(void* /*argument*/) { return MPI_ERR_OTHER; }

TEST_F(Waiting, TestLooksOnceAndGivesTheHandleBackAtTheEnd) {
    event gate;
    commtask_t task = held_noop(gate);
    const commtask_t handle = task;
    int ended = -1;
    EXPECT_EQ(commtask_test(&task, &ended, nullptr), COMMTASK_OK);
    EXPECT_EQ(ended, 0);
    EXPECT_EQ(task, handle);
    gate.signal();
    commtask_status status = COMMTASK_STATUS_INIT;
    while (ended == 0) ASSERT_EQ(commtask_test(&task, &ended, &status), COMMTASK_OK);
    EXPECT_EQ(ended, 1);
    EXPECT_EQ(task, COMMTASK_NULL);
    EXPECT_EQ(status.state, COMMTASK_STATE_COMPLETED);
    ended = -1;
    EXPECT_EQ(commtask_test(&task, &ended, nullptr), COMMTASK_OK);
    EXPECT_EQ(ended, 1) << "no task counts as ended";
}

TEST_F(Waiting, TestTellsHowATaskFailed) {
    commtask_t task = post(commtask_op_call(fail, nullptr, comm_));
    commtask_status status = COMMTASK_STATUS_INIT;
    int ended = 0;
    int code = COMMTASK_OK;
    while (ended == 0) code = commtask_test(&task, &ended, &status);
    EXPECT_EQ(code, COMMTASK_FAILED);
    EXPECT_EQ(status.error_class, MPI_ERR_OTHER);
    EXPECT_EQ(task, COMMTASK_NULL);
}

TEST_F(Waiting, ProgressMovesTasksOnlyWhereTheWorkerSharesItsCore) {
    commtask_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(commtask_get_info(&info), COMMTASK_OK);
    commtask_t task = post(commtask_op_noop(comm_));
    int ended = 0;
    int n_moved = 0;
    while (ended == 0) {
        int moved = -1;
        ASSERT_EQ(commtask_progress(&moved), COMMTASK_OK);
        n_moved += moved;
        ASSERT_EQ(commtask_test(&task, &ended, nullptr), COMMTASK_OK);
    }
    if (info.worker_is_reserved != 0) {
        EXPECT_EQ(n_moved, 0);
    }
}

TEST_F(Waiting, ProgressIsRefusedInCallbacksAndWithoutAPlaceForItsAnswer) {
    EXPECT_EQ(commtask_progress(nullptr), COMMTASK_ERR_ARGUMENT);
    std::atomic<int> code{COMMTASK_OK};
    options how;
    how.call(
        [](const commtask_status*, void* argument) {
            int moved = 0;
            static_cast<std::atomic<int>*>(argument)->store(commtask_progress(&moved));
        },
        &code);
    commtask_t task = post(commtask_op_noop(comm_), how);
    EXPECT_EQ(commtask_wait(&task, nullptr), COMMTASK_OK);
    EXPECT_EQ(code, COMMTASK_ERR_WORKER_THREAD);
}

TEST_F(Waiting, WaitForKeepsTheHandleWhenTheTimeIsOver) {
    event gate;
    commtask_t task = held_noop(gate);
    const commtask_t handle = task;
    const auto before = std::chrono::steady_clock::now();
    EXPECT_EQ(commtask_wait_for(&task, second_ns / 20, nullptr), COMMTASK_TIMEOUT);
    const auto took = std::chrono::steady_clock::now() - before;
    EXPECT_GE(took, std::chrono::milliseconds{49});
    EXPECT_LT(took, std::chrono::seconds{5});
    EXPECT_EQ(task, handle);
    EXPECT_EQ(commtask_wait_for(&task, 0, nullptr), COMMTASK_TIMEOUT);
    EXPECT_EQ(commtask_wait_for(&task, -1, nullptr), COMMTASK_TIMEOUT);
    gate.signal();
    EXPECT_EQ(commtask_wait(&task, nullptr), COMMTASK_OK);
    EXPECT_EQ(task, COMMTASK_NULL);
    EXPECT_EQ(commtask_wait(&task, nullptr), COMMTASK_OK) << "no task has ended";
}

TEST_F(Waiting, WaitAnyTellsWhichOneEnded) {
    std::array<event, 3> gates;
    std::array<commtask_t, 4> tasks{held_noop(gates[0]), COMMTASK_NULL, held_noop(gates[1]), held_noop(gates[2])};
    std::size_t index = 99;
    EXPECT_EQ(commtask_wait_any_for(tasks.size(), tasks.data(), 0, &index, nullptr), COMMTASK_TIMEOUT);
    EXPECT_EQ(commtask_wait_any_for(tasks.size(), tasks.data(), -1, &index, nullptr), COMMTASK_TIMEOUT);
    gates[1].signal();
    commtask_status status = COMMTASK_STATUS_INIT;
    EXPECT_EQ(commtask_wait_any_for(tasks.size(), tasks.data(), limit_ns, &index, &status), COMMTASK_OK);
    EXPECT_EQ(index, 2U);
    EXPECT_EQ(tasks[2], COMMTASK_NULL);
    EXPECT_EQ(status.state, COMMTASK_STATE_COMPLETED);
    std::thread signaller{[&] {
        gates[0].signal();
        gates[2].signal();
    }};
    std::array<bool, 4> seen{};
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(commtask_wait_any_for(tasks.size(), tasks.data(), limit_ns, &index, nullptr), COMMTASK_OK);
        ASSERT_LT(index, tasks.size());
        seen[index] = true;
    }
    signaller.join();
    EXPECT_TRUE(seen[0]);
    EXPECT_TRUE(seen[3]);
    EXPECT_EQ(commtask_wait_any(tasks.size(), tasks.data(), &index, nullptr), COMMTASK_OK);
    EXPECT_EQ(index, tasks.size()) << "nothing left to wait for";
    EXPECT_EQ(commtask_wait_any_for(0, nullptr, limit_ns, &index, nullptr), COMMTASK_OK);
    EXPECT_EQ(index, 0U);
}

TEST_F(Waiting, WaitAllKeepsTheHandlesOfThoseThatHaveNotEnded) {
    event gate;
    std::array<commtask_t, 3> tasks{post(commtask_op_noop(comm_)), held_noop(gate), COMMTASK_NULL};
    EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), -1, nullptr), COMMTASK_TIMEOUT);
    EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), second_ns / 4, nullptr), COMMTASK_TIMEOUT);
    EXPECT_EQ(tasks[0], COMMTASK_NULL);
    EXPECT_NE(tasks[1], COMMTASK_NULL);
    gate.signal();
    std::array<commtask_status, 3> statuses{COMMTASK_STATUS_INIT, COMMTASK_STATUS_INIT, COMMTASK_STATUS_INIT};
    EXPECT_EQ(commtask_wait_all(tasks.size(), tasks.data(), statuses.data()), COMMTASK_OK);
    EXPECT_EQ(tasks[1], COMMTASK_NULL);
    EXPECT_EQ(statuses[1].state, COMMTASK_STATE_COMPLETED);
    EXPECT_EQ(commtask_wait_all_for(0, nullptr, limit_ns, nullptr), COMMTASK_OK);
}

TEST_F(Waiting, WaitAllSaysFailedBeforeCanceled) {
    std::array<commtask_t, 3> tasks{};
    tasks[0] = post(commtask_op_call(fail, nullptr, comm_));
    options how;
    tasks[1] = post(commtask_op_noop(comm_), how.after({tasks[0]}));
    tasks[2] = post(commtask_op_noop(comm_));
    std::array<commtask_status, 3> statuses{COMMTASK_STATUS_INIT, COMMTASK_STATUS_INIT, COMMTASK_STATUS_INIT};
    EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, statuses.data()), COMMTASK_FAILED);
    EXPECT_EQ(statuses[0].state, COMMTASK_STATE_FAILED);
    EXPECT_EQ(statuses[0].error_class, MPI_ERR_OTHER);
    EXPECT_EQ(statuses[1].state, COMMTASK_STATE_CANCELED);
    EXPECT_EQ(statuses[2].state, COMMTASK_STATE_COMPLETED);

    event gate;
    commtask_t taken_back = held_noop(gate);
    EXPECT_EQ(commtask_cancel(taken_back), COMMTASK_OK);
    EXPECT_EQ(commtask_wait_all_for(1, &taken_back, limit_ns, nullptr), COMMTASK_CANCELED);
}

TEST_F(Waiting, WaitAllTakesManyInWhateverOrderTheyEnd) {
    constexpr std::size_t n = 100; // several times what it looks ahead
    std::array<event, n> gates;
    std::array<commtask_t, n> tasks{};
    std::vector<commtask_status> statuses(n, COMMTASK_STATUS_INIT);
    const auto is_failing = [](std::size_t i) { return i % 10 == 3; };
    const auto is_none = [](std::size_t i) { return i % 10 == 7; };
    for (std::size_t i = 0; i < n; ++i) {
        if (is_none(i)) continue;
        options how;
        const commtask_op op = is_failing(i) ? commtask_op_call(fail, nullptr, comm_) : commtask_op_noop(comm_);
        tasks[i] = post(op, how.on({gates[i].get()}));
    }
    gates[n - 1].signal(); // the last ones first
    EXPECT_EQ(commtask_wait_all_for(n, tasks.data(), second_ns / 20, statuses.data()), COMMTASK_TIMEOUT);
    EXPECT_NE(tasks[0], COMMTASK_NULL);
    std::thread signaller([&] {
        for (std::size_t i = 0; i + 1 < n; ++i) gates[i * 37 % (n - 1)].signal(); // 37 and 99 have no divisor in common
    });
    EXPECT_EQ(commtask_wait_all_for(n, tasks.data(), limit_ns, statuses.data()), COMMTASK_FAILED);
    signaller.join();
    for (std::size_t i = 0; i < n; ++i) {
        EXPECT_EQ(tasks[i], COMMTASK_NULL) << i;
        if (is_none(i)) continue;
        EXPECT_EQ(statuses[i].state, is_failing(i) ? COMMTASK_STATE_FAILED : COMMTASK_STATE_COMPLETED) << i;
    }
}

TEST_F(Waiting, SeveralThreadsWaitForTasksOfTheirOwn) {
    constexpr int n_threads = 4;
    std::vector<std::thread> threads;
    for (int which = 0; which < n_threads; ++which) {
        threads.emplace_back([&, which] {
            for (int i = 0; i < 200; ++i) {
                int received = -1;
                const int sent = value_of(rank_, i);
                const commtask_op in = commtask_op_recv(&received, 1, MPI_INT, left(), which, comm_);
                const commtask_op out = commtask_op_send(&sent, 1, MPI_INT, right(), which, comm_);
                commtask_t receive = COMMTASK_NULL;
                commtask_t send = COMMTASK_NULL;
                ASSERT_EQ(commtask_post_operation(&in, nullptr, &receive), COMMTASK_OK);
                ASSERT_EQ(commtask_post_operation(&out, nullptr, &send), COMMTASK_OK);
                EXPECT_EQ(finish(receive), COMMTASK_OK);
                EXPECT_EQ(received, value_of(left(), i));
                EXPECT_EQ(finish(send), COMMTASK_OK);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

TEST_F(Waiting, AReleasedTaskGoesOn) {
    std::atomic<bool> has_ended{false};
    event gate;
    options how;
    how.on({gate.get()})
        .call([](const commtask_status* /*status*/, void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); },
              &has_ended);
    commtask_t task = post(commtask_op_noop(comm_), how);
    EXPECT_EQ(commtask_release(&task), COMMTASK_OK);
    EXPECT_EQ(task, COMMTASK_NULL);
    gate.signal();
    while (!has_ended) std::this_thread::yield();
}

// Callbacks -----------------------------------------------------------------------------------------------------------

struct relay {
    MPI_Comm comm;
    int n_left;
    std::atomic<bool> is_done{false};
    std::atomic<int> n_refused{0};
};
void post_the_next(const commtask_status* /*status*/, void* argument) {
    auto* const state = static_cast<relay*>(argument);
    if (state->n_left-- == 0) {
        state->is_done = true;
        return;
    }
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.callback = post_the_next;
    how.callback_argument = state;
    const commtask_op noop = commtask_op_noop(state->comm);
    if (commtask_post_operation(&noop, &how, nullptr) != COMMTASK_OK) {
        ++state->n_refused;
        state->is_done = true;
    }
}

TEST_F(Waiting, ACallbackMayPostTheNextTask) {
    relay state;
    state.comm = comm_;
    state.n_left = 1000;
    post_the_next(nullptr, &state);
    while (!state.is_done) std::this_thread::yield();
    EXPECT_EQ(state.n_refused, 0);
}

TEST_F(Waiting, ACallbackMaySignalAnEvent) {
    event gate;
    commtask_t waiting = held_noop(gate);
    options how;
    how.call([](const commtask_status* /*status*/,
                void* which) { EXPECT_EQ(commtask_event_signal(static_cast<commtask_event_t>(which)), COMMTASK_OK); },
             gate.get());
    run(commtask_op_noop(comm_), how.get());
    EXPECT_EQ(finish(waiting), COMMTASK_OK);
}

struct blocking_calls {
    MPI_Comm comm;
    commtask_t other = COMMTASK_NULL;
    std::array<int, 5> codes{};
    std::atomic<bool> is_done{false};
};
void call_what_blocks(const commtask_status* /*status*/, void* argument) {
    auto* const state = static_cast<blocking_calls*>(argument);
    std::size_t index = 0;
    state->codes[0] = commtask_wait(&state->other, nullptr);
    state->codes[1] = commtask_wait_for(&state->other, second_ns, nullptr);
    state->codes[2] = commtask_wait_any(1, &state->other, &index, nullptr);
    state->codes[3] = commtask_wait_all(1, &state->other, nullptr);
    state->codes[4] = commtask_finalize();
    state->is_done = true;
}

TEST_F(Waiting, ABlockingCallInACallbackIsRefusedInsteadOfHanging) {
    event gate;
    blocking_calls state;
    state.comm = comm_;
    state.other = held_noop(gate);
    options how;
    commtask_t task = post(commtask_op_noop(comm_), how.call(call_what_blocks, &state));
    EXPECT_EQ(finish(task), COMMTASK_OK);
    while (!state.is_done) std::this_thread::yield();
    for (const int code : state.codes) EXPECT_EQ(code, COMMTASK_ERR_WORKER_THREAD);
    EXPECT_NE(state.other, COMMTASK_NULL);
    EXPECT_EQ(commtask_is_initialized(), 1);
    gate.signal();
    EXPECT_EQ(finish(state.other), COMMTASK_OK);
}

TEST_F(Waiting, TheStatusIsWrittenBeforeTheCallbackAndTheSuccessors) {
    commtask_status written = COMMTASK_STATUS_INIT;
    struct seen {
        const commtask_status* written;
        std::atomic<int> state{-1};
        std::atomic<int> source{-1};
    } at_callback{&written};
    int received = -1;
    const int sent = rank_;
    options how;
    how.report_to(written).call(
        [](const commtask_status* status, void* argument) {
            auto* const noted = static_cast<seen*>(argument);
            EXPECT_EQ(status->source, noted->written->source);
            noted->source = noted->written->source;
            noted->state = noted->written->state;
        },
        &at_callback);
    commtask_t receive = post(commtask_op_recv(&received, 1, MPI_INT, left(), 0, comm_), how);
    struct check {
        const commtask_status* written;
        int state = -1;
    } at_successor{&written};
    options then;
    commtask_t successor = post(commtask_op_call(
                                    [](void* argument) {
                                        auto* const noted = static_cast<check*>(argument);
                                        noted->state = noted->written->state;
                                        return MPI_SUCCESS;
                                    },
                                    &at_successor, comm_),
                                then.after({receive}));
    run(commtask_op_send(&sent, 1, MPI_INT, right(), 0, comm_));
    EXPECT_EQ(finish(successor), COMMTASK_OK);
    EXPECT_EQ(finish(receive), COMMTASK_OK);
    EXPECT_EQ(at_callback.state, COMMTASK_STATE_COMPLETED);
    EXPECT_EQ(at_callback.source, left());
    EXPECT_EQ(at_successor.state, COMMTASK_STATE_COMPLETED);
}

// Cancel --------------------------------------------------------------------------------------------------------------

TEST_F(Waiting, ATaskThatHasNotStartedNeverWill) {
    event gate;
    std::atomic<int> n_started{0};
    options how;
    commtask_t task = post(commtask_op_call(
                               [](void* argument) {
                                   ++*static_cast<std::atomic<int>*>(argument);
                                   return MPI_SUCCESS;
                               },
                               &n_started, comm_),
                           how.on({gate.get()}));
    options after;
    commtask_t successor = post(commtask_op_noop(comm_), after.after({task}));
    EXPECT_EQ(commtask_cancel(task), COMMTASK_OK);
    commtask_status status = COMMTASK_STATUS_INIT;
    EXPECT_EQ(finish(task, &status), COMMTASK_CANCELED);
    EXPECT_EQ(status.state, COMMTASK_STATE_CANCELED);
    EXPECT_EQ(finish(successor), COMMTASK_CANCELED);
    gate.signal();
    run(commtask_op_noop(comm_));
    EXPECT_EQ(n_started, 0);
}

TEST_F(Waiting, AReceiveThatNothingMatchedIsWithdrawn) {
    int untouched = 5;
    commtask_t receive = post(commtask_op_recv(&untouched, 1, MPI_INT, left(), 33, comm_));
    run(commtask_op_noop(comm_)); // the receive has been issued: it was posted before
    EXPECT_EQ(commtask_cancel(receive), COMMTASK_OK);
    EXPECT_EQ(finish(receive), COMMTASK_CANCELED);
    // A message sent later goes to the next receive.
    run(commtask_op_barrier(comm_));
    int received = -1;
    const int sent = rank_;
    commtask_t next = post(commtask_op_recv(&received, 1, MPI_INT, left(), 33, comm_));
    run(commtask_op_send(&sent, 1, MPI_INT, right(), 33, comm_));
    EXPECT_EQ(finish(next), COMMTASK_OK);
    EXPECT_EQ(received, left());
    EXPECT_EQ(untouched, 5);
}

TEST_F(Waiting, AnMprobeThatFoundNothingIsWithdrawn) {
    MPI_Message message = MPI_MESSAGE_NULL;
    commtask_t probe = post(commtask_op_mprobe(&message, left(), 34, comm_));
    run(commtask_op_noop(comm_));
    EXPECT_EQ(commtask_cancel(probe), COMMTASK_OK);
    EXPECT_EQ(finish(probe), COMMTASK_CANCELED);
    EXPECT_EQ(message, MPI_MESSAGE_NULL);
}

TEST_F(Waiting, CancelComesTooLateForWhatHasEnded) {
    commtask_t task = post(commtask_op_noop(comm_));
    run(commtask_op_noop(comm_));
    EXPECT_EQ(commtask_cancel(task), COMMTASK_OK);
    EXPECT_EQ(finish(task), COMMTASK_OK);
}

TEST_F(Waiting, ACollectiveThatHasStartedCompletesAllTheSame) {
    commtask_t barrier = post(commtask_op_barrier(comm_));
    run(commtask_op_noop(comm_));
    EXPECT_EQ(commtask_cancel(barrier), COMMTASK_OK);
    EXPECT_EQ(finish(barrier), COMMTASK_OK);
}

// Events --------------------------------------------------------------------------------------------------------------

TEST_F(Waiting, AnEventIsCompleteAfterItsLastSignalFromAnyThread) {
    constexpr unsigned n_signals = 8;
    event gate{n_signals};
    commtask_t task = held_noop(gate);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i + 1 < n_signals; ++i) threads.emplace_back([&] { gate.signal(); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(commtask_wait_for(&task, 0, nullptr), COMMTASK_TIMEOUT);
    gate.signal();
    EXPECT_EQ(finish(task), COMMTASK_OK);
}

TEST_F(Waiting, AnEventMayBeGivenBackWhileTasksWaitForIt) {
    commtask_event_t gate = COMMTASK_EVENT_NULL;
    ASSERT_EQ(commtask_event_create(1, &gate), COMMTASK_OK);
    options how;
    commtask_t task = post(commtask_op_noop(comm_), how.on({gate}));
    EXPECT_EQ(commtask_event_signal(gate), COMMTASK_OK);
    EXPECT_EQ(commtask_event_release(&gate), COMMTASK_OK);
    EXPECT_EQ(gate, COMMTASK_EVENT_NULL);
    EXPECT_EQ(finish(task), COMMTASK_OK);
}

TEST_F(Waiting, ATaskMayHaveManyPredecessorsAndManySuccessors) {
    constexpr std::size_t n = 300;
    event gate;
    std::vector<commtask_t> first;
    for (std::size_t i = 0; i < n; ++i) first.push_back(held_noop(gate));
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.after = first.data();
    how.n_after = first.size();
    commtask_t join = post(commtask_op_noop(comm_), &how);
    std::vector<commtask_t> second;
    for (std::size_t i = 0; i < n; ++i) {
        options after_join;
        second.push_back(post(commtask_op_noop(comm_), after_join.after({join})));
    }
    gate.signal();
    EXPECT_EQ(commtask_wait_all_for(second.size(), second.data(), limit_ns, nullptr), COMMTASK_OK);
    EXPECT_EQ(finish(join), COMMTASK_OK);
    EXPECT_EQ(commtask_wait_all_for(first.size(), first.data(), 0, nullptr), COMMTASK_OK);
}

TEST_F(Waiting, TheLibraryMayBeStartedAgain) {
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(commtask_finalize(), COMMTASK_OK);
        EXPECT_EQ(commtask_is_initialized(), 0);
        ASSERT_EQ(commtask_init(nullptr), COMMTASK_OK) << commtask_last_error();
        EXPECT_EQ(commtask_is_initialized(), 1);
        int sum = -1;
        const int one = 1;
        run(commtask_op_allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm_));
        EXPECT_EQ(sum, n_ranks_);
    }
}

} // namespace
} // namespace commtask::test
