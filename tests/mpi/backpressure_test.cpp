// SPDX-License-Identifier: Apache-2.0
//
// mpi.backpressure: a full queue makes the submitter wait, or says so where asked, and drops nothing. The queue here holds
// 64 tasks, the least there is. How many tasks are in flight is another matter: 100 000 receives are outstanding before
// the first of their sends, and memory follows the tasks, not the queue.
#include "mpi_facts.hpp"
#include "plan_fixture.hpp"
#include "resident_memory.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <string>
#include <thread>
#include <vector>

namespace commtask::test {
namespace {

constexpr std::size_t capacity = 64;
#ifdef COMMTASK_SANITIZED
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

class Backpressure : public Runtime {
protected:
    [[nodiscard]] commtask_config configuration() const override {
        commtask_config config = COMMTASK_CONFIG_INIT;
        config.queue_capacity = capacity;
        return config;
    }
};

/// Keeps the worker inside one call until it is let go.
struct stopper {
    std::atomic<bool> has_started{false};
    std::atomic<bool> may_end{false};
};
int stop_the_worker(void* argument) {
    auto* const state = static_cast<stopper*>(argument);
    state->has_started = true;
    while (!state->may_end) std::this_thread::yield();
    return MPI_SUCCESS;
}

std::uint64_t task_bytes() {
    commtask_info info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(commtask_get_info(&info), COMMTASK_OK);
    return info.task_bytes;
}

TEST_F(Backpressure, AHundredThousandReceivesWaitForTheirSends) {
    constexpr std::size_t n_messages = 100'000;
    std::vector<int> sent(n_messages);
    std::vector<int> received(n_messages);
    std::vector<commtask_t> tasks(2 * n_messages, COMMTASK_NULL);
    std::size_t resident_after_first = 0;
    std::uint64_t task_bytes_after_first = 0;
    for (int round = 0; round < 2; ++round) {
        std::fill(received.begin(), received.end(), -1);
        for (std::size_t i = 0; i < n_messages; ++i) {
            const commtask_op op = commtask_op_recv(&received[i], 1, MPI_INT, left(), 0, comm_);
            ASSERT_EQ(commtask_post_operation(&op, nullptr, &tasks[i]), COMMTASK_OK) << commtask_last_error();
        }
        run(commtask_op_barrier(comm_)); // or early messages would pile up inside MPI, which never gives memory back
        for (std::size_t i = 0; i < n_messages; ++i) {
            sent[i] = value_of(rank_, static_cast<int>(i));
            const commtask_op op = commtask_op_send(&sent[i], 1, MPI_INT, right(), 0, comm_);
            ASSERT_EQ(commtask_post_operation(&op, nullptr, &tasks[n_messages + i]), COMMTASK_OK)
                << commtask_last_error();
        }
        EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), 4 * limit_ns, nullptr), COMMTASK_OK);
        for (std::size_t i = 0; i < n_messages; ++i) ASSERT_EQ(received[i], value_of(left(), static_cast<int>(i)));
        if (round > 0) continue;
        resident_after_first = resident_bytes();
        task_bytes_after_first = task_bytes();
    }
    // What the first round's tasks needed serves the second: 200 000 tasks were open at once, and a few more of the room.
    EXPECT_GE(task_bytes_after_first, 2 * n_messages * 256);
    EXPECT_LT(task_bytes(), task_bytes_after_first + task_bytes_after_first / 20);
    if (is_sanitized) return; // the sanitizers keep memory that was freed
    // The rest of the process. Between ranks MPI keeps memory for every send that found the peer's queue full (to itself,
    // 100 000 sends at once take MPICH 138 MB, and no more ever after; Intel MPI treats itself like a peer); how many do so
    // at once is a matter of timing.
    const std::size_t for_waiting_sends = n_ranks_ > 1 || !keeps_own_sends_apart() ? n_messages * 1000 : 0;
    EXPECT_LT(resident_bytes(), resident_after_first + n_messages * 100 + for_waiting_sends);
}

TEST_F(Backpressure, TryIsAnsweredWithAgainAndNothingIsLost) {
    stopper state;
    commtask_t stop = post(commtask_op_call(stop_the_worker, &state, comm_));
    while (!state.has_started) std::this_thread::yield();
    std::atomic<int> n_ended{0};
    const auto count_ended = [](const commtask_status* /*status*/, void* argument) {
        static_cast<std::atomic<int>*>(argument)->fetch_add(1);
    };
    options how;
    how.flags(COMMTASK_TRY).call(count_ended, &n_ended);
    const commtask_op noop = commtask_op_noop(comm_);
    int n_accepted = 0;
    int code = COMMTASK_OK;
    commtask_t none = COMMTASK_NULL;
    while ((code = commtask_post_operation(&noop, how.get(), nullptr)) == COMMTASK_OK && n_accepted <= 1000)
        ++n_accepted;
    EXPECT_EQ(code, COMMTASK_AGAIN);
    EXPECT_GT(n_accepted, 0);
    EXPECT_LE(n_accepted, static_cast<int>(capacity));
    EXPECT_EQ(commtask_post_operation(&noop, how.get(), &none), COMMTASK_AGAIN) << "it stays full";
    EXPECT_EQ(none, COMMTASK_NULL);
    // An ordered task that was not taken has not taken a place either.
    const commtask_op barrier = commtask_op_barrier(comm_);
    EXPECT_EQ(commtask_post_operation(&barrier, how.get(), nullptr), COMMTASK_AGAIN);
    state.may_end = true;
    EXPECT_EQ(finish(stop), COMMTASK_OK);
    run(commtask_op_barrier(comm_));
    run(commtask_op_noop(comm_));
    EXPECT_EQ(n_ended, n_accepted);
}

/// Posts without waiting until the answer is another than AGAIN.
int post_in_the_end(const commtask_op& op) {
    options how;
    how.flags(COMMTASK_TRY);
    int code = COMMTASK_AGAIN;
    while ((code = commtask_post_operation(&op, how.get(), nullptr)) == COMMTASK_AGAIN) std::this_thread::yield();
    return code;
}

TEST_F(Backpressure, TryIsAnsweredWithAgainWhileTheWorkerHasNotSeenTheCommunicator) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets it meanwhile
    if (const char* const lanes = std::getenv("COMMTASK_LANES"); lanes != nullptr && std::string{lanes} != "1") {
        GTEST_SKIP() << "another lane's worker sees it";
    }
    MPI_Comm fresh = MPI_COMM_NULL;
    ASSERT_EQ(MPI_Comm_dup(comm_, &fresh), MPI_SUCCESS);
    stopper state;
    commtask_t stop = post(commtask_op_call(stop_the_worker, &state, comm_));
    while (!state.has_started) std::this_thread::yield();
    options how;
    how.flags(COMMTASK_TRY);
    const commtask_op noop = commtask_op_noop(fresh);
    // More often than the queue has room: the worker is asked once.
    for (std::size_t i = 0; i < 2 * capacity; ++i)
        EXPECT_EQ(commtask_post_operation(&noop, how.get(), nullptr), COMMTASK_AGAIN);
    const commtask_op known = commtask_op_noop(comm_);
    EXPECT_EQ(commtask_post_operation(&known, how.get(), nullptr), COMMTASK_OK);
    state.may_end = true;
    EXPECT_EQ(finish(stop), COMMTASK_OK);
    EXPECT_EQ(post_in_the_end(noop), COMMTASK_OK);
    run(commtask_op_barrier(fresh));
    [[maybe_unused]] MPI_Comm freed = fresh;
    EXPECT_EQ(MPI_Comm_free(&fresh), MPI_SUCCESS);
#ifndef OPEN_MPI // whose handles are pointers: it reads the freed memory itself
    // A communicator that is none: in the end that is the answer, and each time anew.
    for (int i = 0; i < 2; ++i) EXPECT_EQ(post_in_the_end(commtask_op_noop(freed)), COMMTASK_ERR_COMM);
#endif
    MPI_Comm next = MPI_COMM_NULL;
    ASSERT_EQ(MPI_Comm_dup(comm_, &next), MPI_SUCCESS);
    EXPECT_EQ(post_in_the_end(commtask_op_noop(next)), COMMTASK_OK);
    EXPECT_EQ(MPI_Comm_free(&next), MPI_SUCCESS);
}

TEST_F(Backpressure, ATicketIsStillGoodAfterAgain) {
    const commtask_op barrier = commtask_op_barrier(comm_);
    commtask_ticket ticket{};
    ASSERT_EQ(commtask_ticket_take(&barrier, &ticket), COMMTASK_OK);
    stopper state;
    commtask_t stop = post(commtask_op_call(stop_the_worker, &state, comm_));
    while (!state.has_started) std::this_thread::yield();
    options how;
    how.flags(COMMTASK_TRY);
    const commtask_op noop = commtask_op_noop(comm_);
    while (commtask_post_operation(&noop, how.get(), nullptr) == COMMTASK_OK) {}
    EXPECT_EQ(commtask_post_operation(&barrier, how.at(ticket).get(), nullptr), COMMTASK_AGAIN);
    state.may_end = true;
    EXPECT_EQ(finish(stop), COMMTASK_OK);
    options at_last;
    run(barrier, at_last.at(ticket).get());
    run(commtask_op_barrier(comm_));
}

TEST_F(Backpressure, APlanOfManyMembersTakesOnePlaceAndIsStartedAgainAfterAgain) {
    // The members of all plans would fill the queue many times.
    constexpr std::size_t n_members = 16;
    constexpr std::size_t n_plans = capacity / 4;
    std::deque<plan> plans;
    const auto record = [&] {
        for (std::size_t i = 0; i < n_members; ++i) post_detached(commtask_op_noop(comm_));
        post_detached(commtask_op_barrier(comm_)); // takes its place by the start
    };
    for (std::size_t i = 0; i <= n_plans; ++i) plans.emplace_back(record);
    plan& refused = plans.back();
    stopper state;
    commtask_t stop = post(commtask_op_call(stop_the_worker, &state, comm_));
    while (!state.has_started) std::this_thread::yield();
    options how;
    how.flags(COMMTASK_TRY);
    std::vector<commtask_t> runs;
    for (std::size_t i = 0; i < n_plans; ++i) runs.push_back(plans[i].start(how.get()));
    const commtask_op noop = commtask_op_noop(comm_);
    while (commtask_post_operation(&noop, how.get(), nullptr) == COMMTASK_OK) {}
    commtask_t none = COMMTASK_NULL;
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(commtask_plan_start(refused.get(), how.get(), &none), COMMTASK_AGAIN);
        EXPECT_EQ(none, COMMTASK_NULL);
    }
    state.may_end = true;
    EXPECT_EQ(finish(stop), COMMTASK_OK);
    for (commtask_t& each : runs) EXPECT_EQ(finish(each), COMMTASK_OK);
    refused.run(); // it took no place for its barrier before
    refused.run();
}

TEST_F(Backpressure, APosterWaitsUntilThereIsRoomAgain) {
    stopper state;
    commtask_t stop = post(commtask_op_call(stop_the_worker, &state, comm_));
    while (!state.has_started) std::this_thread::yield();
    constexpr int n_tasks = 1000;
    std::atomic<int> n_posted{0};
    std::atomic<int> n_ended{0};
    std::thread submitter{[&] {
        for (int i = 0; i < n_tasks; ++i) {
            options how;
            how.call(
                [](const commtask_status* /*status*/, void* n) { static_cast<std::atomic<int>*>(n)->fetch_add(1); },
                &n_ended);
            const commtask_op noop = commtask_op_noop(comm_);
            EXPECT_EQ(commtask_post_operation(&noop, how.get(), nullptr), COMMTASK_OK);
            ++n_posted;
        }
    }};
    // The queue is full when one that may not wait is refused.
    options try_it;
    const commtask_op noop = commtask_op_noop(comm_);
    while (commtask_post_operation(&noop, try_it.flags(COMMTASK_TRY).get(), nullptr) != COMMTASK_AGAIN)
        std::this_thread::yield();
    EXPECT_LT(n_posted, n_tasks);
    EXPECT_EQ(n_ended, 0);
    state.may_end = true;
    submitter.join();
    EXPECT_EQ(n_posted, n_tasks);
    EXPECT_EQ(finish(stop), COMMTASK_OK);
    run(commtask_op_noop(comm_));
    EXPECT_EQ(n_ended, n_tasks);
}

struct burst {
    MPI_Comm comm;
    std::atomic<int> n_refused{0};
    std::atomic<int> n_ended{0};
};
constexpr int burst_size = 1000;
void post_a_burst(const commtask_status* /*status*/, void* argument) {
    auto* const state = static_cast<burst*>(argument);
    for (int i = 0; i < burst_size; ++i) {
        commtask_options how = COMMTASK_OPTIONS_INIT;
        how.callback = [](const commtask_status*, void* counter) {
            static_cast<burst*>(counter)->n_ended.fetch_add(1);
        };
        how.callback_argument = state;
        const commtask_op noop = commtask_op_noop(state->comm);
        if (commtask_post_operation(&noop, &how, nullptr) != COMMTASK_OK) ++state->n_refused;
    }
}

TEST_F(Backpressure, ACallbackMayPostMoreThanTheQueueHolds) {
    burst state;
    state.comm = comm_;
    options how;
    commtask_t first = post(commtask_op_noop(comm_), how.call(post_a_burst, &state));
    EXPECT_EQ(finish(first), COMMTASK_OK);
    while (state.n_ended + state.n_refused < burst_size) std::this_thread::yield();
    EXPECT_EQ(state.n_refused, 0);
}

TEST_F(Backpressure, ManyPostersThroughASmallQueueLoseNothing) {
    constexpr int n_threads = 4;
    constexpr int n_each = 20'000;
    std::atomic<int> n_ended{0};
    std::vector<std::thread> threads;
    for (int which = 0; which < n_threads; ++which) {
        threads.emplace_back([&] {
            for (int i = 0; i < n_each; ++i) {
                commtask_options how = COMMTASK_OPTIONS_INIT;
                how.callback = [](const commtask_status*, void* n) { static_cast<std::atomic<int>*>(n)->fetch_add(1); };
                how.callback_argument = &n_ended;
                const commtask_op noop = commtask_op_noop(comm_);
                EXPECT_EQ(commtask_post_operation(&noop, &how, nullptr), COMMTASK_OK);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    run(commtask_op_noop(comm_));
    EXPECT_EQ(n_ended, n_threads * n_each);
}

} // namespace
} // namespace commtask::test
