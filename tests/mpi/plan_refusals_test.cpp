// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.plans: what cannot be recorded, and what cannot be done to a plan while it runs, is refused with a code and a
// sentence that names it; whatever was refused, the plan goes on.
#include "plan_fixture.hpp"

#include <algorithm>
#include <array>
#include <barrier>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

namespace commtask::test {
namespace {

class PlanRefusals : public Runtime {
protected:
    static void expect(int code, int expected, const char* word) {
        EXPECT_EQ(code, expected);
        EXPECT_NE(std::strstr(commtask_last_error(), word), nullptr) << commtask_last_error();
    }
    static void refuse_post(const commtask_op& op, const commtask_options* how, int expected, const char* word) {
        commtask_t task = COMMTASK_NULL;
        expect(commtask_post_operation(&op, how, &task), expected, word);
        EXPECT_EQ(task, COMMTASK_NULL);
    }
};

TEST_F(PlanRefusals, OfWhatCannotBeDoneAgain) {
    event once;
    commtask_t outside = post(commtask_op_noop(comm_));
    const commtask_op barrier = commtask_op_barrier(comm_);
    commtask_ticket ticket{};
    ASSERT_EQ(commtask_ticket_take(&barrier, &ticket), COMMTASK_OK);
    plan other{[] {}};
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int nothing = 0;
    ASSERT_EQ(MPI_Isend(&nothing, 1, MPI_INT, MPI_PROC_NULL, 0, comm_, &request), MPI_SUCCESS);
    const commtask_op noop = commtask_op_noop(comm_);
    plan recorded{[&] {
        options on_event;
        refuse_post(noop, on_event.on({once.get()}).get(), COMMTASK_ERR_ARGUMENT, "events[0]");
        options on_task;
        refuse_post(noop, on_task.after({COMMTASK_NULL, outside}).get(), COMMTASK_ERR_ARGUMENT, "after[1]");
        options with_ticket;
        refuse_post(barrier, with_ticket.at(ticket).get(), COMMTASK_ERR_ARGUMENT, "ticket");
        options of_a_face;
        refuse_post(noop, of_a_face.flags(COMMTASK_CALLBACK_RELAYS).get(), COMMTASK_ERR_ARGUMENT, "OpenMP");
        refuse_post(commtask_op_attach(&request, comm_), nullptr, COMMTASK_ERR_ARGUMENT, "attach");
        refuse_post(commtask_op_comm_dup(&made, comm_), nullptr, COMMTASK_ERR_ARGUMENT, "comm_dup");
        refuse_post(commtask_op_plan(other.get()), nullptr, COMMTASK_ERR_ARGUMENT, "plan");
        refuse_post(commtask_op_send(nullptr, 1, MPI_INT, 0, 0, comm_), nullptr, COMMTASK_ERR_BUFFER, "buffer");
        refuse_post(commtask_op_send(&nothing, 1, MPI_INT, n_ranks_, 0, comm_), nullptr, COMMTASK_ERR_RANK, "dest");
        refuse_post(commtask_op_send(&nothing, 1, MPI_DATATYPE_NULL, 0, 0, comm_), nullptr, COMMTASK_ERR_TYPE, "type");
        commtask_t member = post(noop);
        expect(commtask_wait_for(&member, limit_ns, nullptr), COMMTASK_ERR_ARGUMENT, "record");
        EXPECT_EQ(commtask_release(&member), COMMTASK_OK);
        expect(commtask_record_begin(), COMMTASK_ERR_ARGUMENT, "recording already");
    }};
    EXPECT_EQ(commtask_plan_size(recorded.get()), 1U);
    recorded.run();
    expect(commtask_record_end(nullptr), COMMTASK_ERR_ARGUMENT, "record_begin");
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(commtask_ticket_drop(comm_, ticket), COMMTASK_OK);
    EXPECT_EQ(finish(outside), COMMTASK_OK);
}

TEST_F(PlanRefusals, OfAnUncommittedDatatypeButNotOfOneThatIsFreedAfterwards) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    ASSERT_EQ(MPI_Type_contiguous(3, MPI_INT, &type), MPI_SUCCESS);
    ASSERT_EQ(MPI_Type_commit(&type), MPI_SUCCESS);
    MPI_Datatype uncommitted = MPI_DATATYPE_NULL;
    ASSERT_EQ(MPI_Type_contiguous(3, MPI_INT, &uncommitted), MPI_SUCCESS);
    std::vector<int> data(3);
    ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
    post_detached(commtask_op_noop(comm_));
    post_detached(commtask_op_send(data.data(), 1, uncommitted, rank_, 1, comm_));
    commtask_plan_t plan_handle = COMMTASK_PLAN_NULL;
    expect(commtask_record_end(&plan_handle), COMMTASK_ERR_TYPE, "member 1 (send)");
    EXPECT_EQ(plan_handle, COMMTASK_PLAN_NULL);
    {
        // What MPI has taken may be freed, as after MPI_Send_init.
        plan exchange{[&] {
            post_detached(commtask_op_recv(data.data(), 3, MPI_INT, rank_, 1, comm_));
            post_detached(commtask_op_send(data.data(), 0, type, rank_, 1, comm_));
        }};
        EXPECT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
        exchange.run();
    }
    EXPECT_EQ(MPI_Type_free(&uncommitted), MPI_SUCCESS);
}

TEST_F(PlanRefusals, OfADroppedRecording) {
    ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
    commtask_t member = post(commtask_op_noop(comm_));
    EXPECT_EQ(commtask_record_end(nullptr), COMMTASK_OK);
    EXPECT_EQ(finish(member), COMMTASK_CANCELED) << "its run will never be";
    std::thread{[&] {
        EXPECT_EQ(commtask_record_begin(), COMMTASK_OK);
        post_detached(commtask_op_noop(comm_));
    }}.join();
    run(commtask_op_noop(comm_));
}

TEST_F(PlanRefusals, WhileItRuns) {
    plan held{[&] {
        post_detached(commtask_op_noop(comm_));
        post_detached(commtask_op_noop(comm_));
    }};
    EXPECT_EQ(commtask_plan_defer(held.get(), 0), COMMTASK_OK);
    int buffer = 0;
    for (int i = 0; i < 3; ++i) {
        commtask_t run_task = held.start();
        commtask_t second = COMMTASK_NULL;
        expect(commtask_plan_start(held.get(), nullptr, &second), COMMTASK_ERR_RUNNING, "run");
        EXPECT_EQ(second, COMMTASK_NULL);
        expect(commtask_plan_rebind(held.get(), 0, &buffer, nullptr), COMMTASK_ERR_RUNNING, "run");
        expect(commtask_plan_defer(held.get(), 1), COMMTASK_ERR_RUNNING, "run");
        commtask_plan_t handle = held.get();
        expect(commtask_plan_release(&handle), COMMTASK_ERR_RUNNING, "run");
        EXPECT_NE(handle, COMMTASK_PLAN_NULL);
        EXPECT_EQ(commtask_plan_pready(held.get(), 0), COMMTASK_OK);
        EXPECT_EQ(finish(run_task), COMMTASK_OK);
    }
}

TEST_F(PlanRefusals, OfAllButOneOfTheThreadsThatStartItAtOnce) {
    plan held{[&] { post_detached(commtask_op_noop(comm_)); }};
    EXPECT_EQ(commtask_plan_defer(held.get(), 0), COMMTASK_OK); // so that no run ends before all have tried
    constexpr std::size_t n_threads = 3;
    for (int i = 0; i < 50; ++i) {
        std::array<commtask_t, n_threads> runs{};
        std::array<int, n_threads> codes{};
        std::barrier together{static_cast<std::ptrdiff_t>(n_threads)};
        std::vector<std::thread> threads;
        for (std::size_t t = 0; t < n_threads; ++t) {
            threads.emplace_back([&, t] {
                together.arrive_and_wait();
                codes[t] = commtask_plan_start(held.get(), nullptr, &runs[t]);
            });
        }
        for (std::thread& each : threads) each.join();
        EXPECT_EQ(std::ranges::count(codes, COMMTASK_OK), 1);
        EXPECT_EQ(std::ranges::count(codes, COMMTASK_ERR_RUNNING), static_cast<std::ptrdiff_t>(n_threads) - 1);
        EXPECT_EQ(std::ranges::count(runs, COMMTASK_NULL), static_cast<std::ptrdiff_t>(n_threads) - 1);
        EXPECT_EQ(commtask_plan_pready(held.get(), 0), COMMTASK_OK);
        for (std::size_t t = 0; t < n_threads; ++t) {
            if (codes[t] == COMMTASK_OK) {
                EXPECT_EQ(finish(runs[t]), COMMTASK_OK);
            }
        }
    }
}

TEST_F(PlanRefusals, OfMembersThatAreNotHeldOrReadyTwice) {
    plan held{[&] {
        post_detached(commtask_op_noop(comm_));
        post_detached(commtask_op_noop(comm_));
    }};
    EXPECT_EQ(commtask_plan_defer(held.get(), 0), COMMTASK_OK);
    EXPECT_EQ(commtask_plan_defer(held.get(), 0), COMMTASK_OK) << "it stays so";
    expect(commtask_plan_pready(held.get(), 1), COMMTASK_ERR_ARGUMENT, "member 1 is not deferred");
    expect(commtask_plan_pready(held.get(), 2), COMMTASK_ERR_ARGUMENT, "member is 2");
    expect(commtask_plan_pready(COMMTASK_PLAN_NULL, 0), COMMTASK_ERR_ARGUMENT, "plan");
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(commtask_plan_pready(held.get(), 0), COMMTASK_OK);
        expect(commtask_plan_pready(held.get(), 0), COMMTASK_ERR_ARGUMENT, "marked as ready before");
        held.run();
    }
}

TEST_F(PlanRefusals, OfWrongArguments) {
    int buffer = 0;
    plan exchange{[&] {
        post_detached(commtask_op_send(&buffer, 1, MPI_INT, MPI_PROC_NULL, 1, comm_));
        post_detached(commtask_op_barrier(comm_));
    }};
    expect(commtask_plan_rebind(exchange.get(), 0, nullptr, &buffer), COMMTASK_ERR_ARGUMENT, "recv");
    expect(commtask_plan_rebind(exchange.get(), 1, &buffer, nullptr), COMMTASK_ERR_ARGUMENT, "send");
    expect(commtask_plan_rebind(exchange.get(), 2, &buffer, nullptr), COMMTASK_ERR_ARGUMENT, "member is 2");
    expect(commtask_plan_start(COMMTASK_PLAN_NULL, nullptr, nullptr), COMMTASK_ERR_ARGUMENT, "plan");
    expect(commtask_plan_member(exchange.get(), 0, nullptr), COMMTASK_ERR_ARGUMENT, "task");
    expect(commtask_plan_parrived(exchange.get(), 5, COMMTASK_ALL_PARTITIONS), COMMTASK_ERR_ARGUMENT, "member is 5");
    expect(commtask_plan_release(nullptr), COMMTASK_ERR_ARGUMENT, "plan");
    commtask_plan_t none = COMMTASK_PLAN_NULL;
    EXPECT_EQ(commtask_plan_release(&none), COMMTASK_OK);
    EXPECT_EQ(commtask_plan_size(none), 0U);
    options ordered;
    expect(commtask_plan_start(exchange.get(), ordered.flags(COMMTASK_ORDERED).get(), nullptr), COMMTASK_ERR_ARGUMENT,
           "order");
    const commtask_op start = commtask_op_plan(exchange.get());
    commtask_ticket ticket{};
    expect(commtask_ticket_take(&start, &ticket), COMMTASK_ERR_ARGUMENT, "plan");
    exchange.run();
}

TEST_F(PlanRefusals, OnceACommunicatorIsGone) {
    MPI_Comm mine = MPI_COMM_NULL;
    ASSERT_EQ(MPI_Comm_dup(comm_, &mine), MPI_SUCCESS);
    plan meeting{[&] { post_detached(commtask_op_barrier(mine)); }};
    meeting.run();
    ASSERT_EQ(MPI_Comm_free(&mine), MPI_SUCCESS);
    for (int i = 0; i < 2; ++i) {
        expect(commtask_plan_start(meeting.get(), nullptr, nullptr), COMMTASK_ERR_COMM, "freed");
    }
    MPI_Comm again = MPI_COMM_NULL; // which may have the same handle
    ASSERT_EQ(MPI_Comm_dup(comm_, &again), MPI_SUCCESS);
    run(commtask_op_barrier(again));
    expect(commtask_plan_start(meeting.get(), nullptr, nullptr), COMMTASK_ERR_COMM, "freed");
    ASSERT_EQ(MPI_Comm_free(&again), MPI_SUCCESS);
}

TEST_F(PlanRefusals, LeaveAPlanWhoseCommunicatorMpiKeepsForItsRequests) {
    MPI_Comm mine = MPI_COMM_NULL;
    ASSERT_EQ(MPI_Comm_dup(comm_, &mine), MPI_SUCCESS);
    int sent = 3;
    int got = 0;
    plan exchange{[&] {
        post_detached(commtask_op_recv(&got, 1, MPI_INT, left(), 1, mine));
        post_detached(commtask_op_send(&sent, 1, MPI_INT, right(), 1, mine));
    }};
    exchange.run();
    ASSERT_EQ(MPI_Comm_free(&mine), MPI_SUCCESS);
    got = 0;
    commtask_t run_task = COMMTASK_NULL;
    const int code = commtask_plan_start(exchange.get(), nullptr, &run_task);
    if (code == COMMTASK_OK) {
        EXPECT_EQ(finish(run_task), COMMTASK_OK);
        EXPECT_EQ(got, 3);
    } else {
        expect(code, COMMTASK_ERR_COMM, "freed");
    }
}

TEST_F(PlanRefusals, InCallbacksOnlyWhereTheyMustWait) {
    // A callback starts a plan, records one and gives one back: it is the driver.
    plan started{[&] { post_detached(commtask_op_noop(comm_)); }};
    struct work {
        commtask_plan_t plan;
        MPI_Comm comm;
        static void go(const commtask_status* /*status*/, void* argument) {
            const auto& mine = *static_cast<work*>(argument);
            EXPECT_EQ(commtask_plan_start(mine.plan, nullptr, nullptr), COMMTASK_OK) << commtask_last_error();
            commtask_plan_t made = COMMTASK_PLAN_NULL;
            EXPECT_EQ(commtask_record_begin(), COMMTASK_OK);
            post_detached(commtask_op_noop(mine.comm));
            EXPECT_EQ(commtask_record_end(&made), COMMTASK_OK) << commtask_last_error();
            EXPECT_EQ(commtask_plan_release(&made), COMMTASK_OK) << commtask_last_error();
        }
    } mine{started.get(), comm_};
    options how;
    run(commtask_op_noop(comm_), how.call(&work::go, &mine).get());
    while (commtask_plan_parrived(started.get(), 0, COMMTASK_ALL_PARTITIONS) == 0) std::this_thread::yield();
    commtask_t member = started.member(0);
    EXPECT_EQ(finish(member), COMMTASK_OK);
    run(commtask_op_noop(comm_)); // so that the run has ended too
}

} // namespace
} // namespace commtask::test
