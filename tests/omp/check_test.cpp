// SPDX-License-Identifier: Apache-2.0
//
// Communication tasks that libomp does not wait for are named, and right programs are not. What is
// wrong here is brought to its end by hand before the region ends, since libomp would not do it. The other programs of
// this folder run with the check as well, and none of them may register_callback of it.
#include "omp_fixture.hpp"

#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library_of_failures);

struct heard {
    int code;
    int kind;
    std::string sentence;
};

class Check : public omp_test::ring {
protected:
    void SetUp() override {
        ring::SetUp();
        commtask_omp_set_error_handler(&Check::register_callback, this);
    }
    void TearDown() override {
        commtask_omp_set_error_handler(nullptr, nullptr);
        commtask_omp_clear_errors();
    }
    static void register_callback(const commtask_omp_error* error, void* self) {
        auto& fixture = *static_cast<Check*>(self);
        const std::scoped_lock guard(fixture.lock);
        fixture.errors.push_back({error->code, error->kind, error->message});
    }
    [[nodiscard]] std::size_t n_heard() {
        const std::scoped_lock guard(lock);
        return errors.size();
    }
    void send_to_myself() { COMM_TASK(send(&sent, 1, MPI_INT, rank, 0, comm), in(&sent)); }
    /// A receive and a task that depends on it.
    void receive() {
        COMM_TASK(recv(&received, 1, MPI_INT, rank, 0, comm), out(&received));
        const int* const data = &received; // gcc takes no member here
#pragma omp task depend(in : *data)
        n_run.fetch_add(1);
    }
    /// Until the dependents have run: then libomp has nothing left that it does not count.
    void run_until(int n) {
        while (n_run.load() < n) {
            EXPECT_EQ(commtask_omp_wait_all(), COMMTASK_OK);
#pragma omp taskyield
            std::this_thread::yield(); // to a worker that shares this core and is about to fulfil
        }
    }
    void expect_right() {
        EXPECT_EQ(received, sent);
        EXPECT_EQ(n_run.load(), 1);
        for (const heard& error : errors) ADD_FAILURE() << error.sentence;
    }
    /// One sentence, for one receive whose parent ended first.
    void expect_parent_ended_first() {
        ASSERT_EQ(errors.size(), 1U);
        EXPECT_EQ(errors[0].code, COMMTASK_ERR_UNFINISHED);
        EXPECT_EQ(errors[0].kind, COMMTASK_OP_RECV);
        EXPECT_NE(errors[0].sentence.find("taskgroup"), std::string::npos) << errors[0].sentence;
    }

    std::mutex lock;
    std::vector<heard> errors;
    int sent = 42;
    int received = 0;
    std::atomic<int> n_run{0};
};

TEST_F(Check, NamesACommunicationWhoseParentEndsFirst) {
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        receive();
#pragma omp taskwait
        EXPECT_EQ(n_heard(), 1U) << "and says so when the parent ends";
        send_to_myself();
        run_until(1);
    }
    EXPECT_EQ(received, sent);
    expect_parent_ended_first();
}

TEST_F(Check, NamesAParentOnceHoweverManyItLeaves) {
    constexpr int n = 3;
    int in[n] = {};
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(in)
        for (int i = 0; i < n; ++i) {
            COMM_TASK(recv(&in[i], 1, MPI_INT, rank, i, comm), out(&in[i]));
#pragma omp task depend(in : in[i]) shared(in)
            n_run.fetch_add(1);
        }
#pragma omp taskwait
        for (int i = 0; i < n; ++i) COMM_TASK(send(&sent, 1, MPI_INT, rank, i, comm), in(&sent));
        run_until(n);
    }
    expect_parent_ended_first();
}

TEST_F(Check, PrintsTheAdviceWhereNobodyLooks) {
    commtask_omp_set_error_handler(nullptr, nullptr);
    testing::internal::CaptureStderr();
    for (int round = 1; round <= 3; ++round) {
#pragma omp parallel
#pragma omp single
        {
#pragma omp task
            receive();
#pragma omp taskwait
            send_to_myself();
            run_until(round);
        }
    }
    const std::string printed = testing::internal::GetCapturedStderr();
    EXPECT_NE(printed.find("taskwait at the end"), std::string::npos) << printed;
    EXPECT_EQ(commtask_omp_error_count(), 3U);
}

TEST_F(Check, IsContentWithATaskgroupAround) {
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task
        {
#pragma omp task
            receive();
        }
        send_to_myself();
    }
    expect_right();
}

TEST_F(Check, IsContentWithATaskgroupInTheParent) {
#pragma omp parallel
#pragma omp single
    {
        send_to_myself();
#pragma omp task
        {
#pragma omp taskgroup
            receive();
        }
    }
    expect_right();
}

TEST_F(Check, IsContentWithATaskwaitInTheParent) {
    bool is_run_at_once = rank < 0;
#pragma omp parallel
#pragma omp single
    {
        send_to_myself();
#pragma omp task if (is_run_at_once)
        {
            receive();
#pragma omp taskwait
        }
    }
    expect_right();
}

TEST_F(Check, IsContentWithTasksOfTheRegionItself) {
#pragma omp parallel
#pragma omp single
    {
        receive();
        send_to_myself();
    }
    expect_right();
}

TEST_F(Check, IsContentWithTasksOfAnInnerRegion) {
    if (omp_get_max_threads() == 1)
        GTEST_SKIP() << "libomp 19 ends on an inner region in a task of a team of one thread";
#pragma omp parallel
#pragma omp single
#pragma omp task
    {
#pragma omp parallel
#pragma omp single
        {
            receive();
            send_to_myself();
        }
    }
    expect_right();
}

TEST_F(Check, IsContentWithATaskgroupThatHasEndedIfNothingIsLeft) {
#pragma omp parallel
#pragma omp single
#pragma omp task
    {
#pragma omp taskgroup
        receive(), send_to_myself();
#pragma omp task
        omp_test::compute(10);
    }
    expect_right();
}

#ifdef __clang__
// What follows writes detach itself, which only clang's code can.

TEST_F(Check, NamesACommunicationThatBeginsAfterItsParentEnded) {
    omp_event_handle_t gate_event{};
    int gate = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(gate, gate_event)
        {
            const commtask_omp_task prepared =
                commtask_omp_prepare(commtask_op_recv(&received, 1, MPI_INT, rank, 0, comm), COMMTASK_NONE, nullptr);
            omp_event_handle_t event{};
#pragma omp task detach(event) depend(out : gate)
            {}
            gate_event = event;
#pragma omp task untied detach(event) depend(in : gate) depend(out : received) firstprivate(prepared)
            commtask_omp_start_prepared(&prepared, event);
#pragma omp task depend(in : received)
            n_run.fetch_add(1);
        }
#pragma omp taskwait
        EXPECT_EQ(n_heard(), 0U) << "nothing has begun";
        omp_fulfill_event(gate_event);
        send_to_myself();
        run_until(1);
    }
    EXPECT_EQ(received, sent);
    expect_parent_ended_first();
}

class Undeferred : public Check {
protected:
    /// An allreduce in a task of its own, which the clause makes deferred or not. What became of it.
    commtask_status allreduce(bool is_deferred) {
        commtask_status status = COMMTASK_STATUS_INIT;
        int sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        {
            const commtask_omp_task prepared = commtask_omp_prepare(
                commtask_op_allreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, comm), COMMTASK_NONE, &status);
            omp_event_handle_t event{};
            // Not untied: libomp 19 itself ends the program on an untied task whose if clause is false.
#pragma omp task detach(event) if (is_deferred) firstprivate(prepared)
            commtask_omp_start_prepared(&prepared, event);
            EXPECT_EQ(commtask_omp_wait_all(), COMMTASK_OK);
        }
        return status;
    }
};

TEST_F(Undeferred, CommunicationsAreRefusedWithAdvice) {
    const commtask_status status = allreduce(false);
    EXPECT_EQ(status.state, COMMTASK_STATE_FAILED);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].code, COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(errors[0].kind, COMMTASK_OP_ALLREDUCE);
    EXPECT_NE(errors[0].sentence.find("if clause"), std::string::npos) << errors[0].sentence;
    EXPECT_EQ(allreduce(true).state, COMMTASK_STATE_COMPLETED) << "its place does not hold up the next one";
}

TEST_F(Undeferred, IsNotSaidOfATaskThatRunsAtOnceForWantOfThreads) {
    EXPECT_EQ(allreduce(true).state, COMMTASK_STATE_COMPLETED);
    for (const heard& error : errors) ADD_FAILURE() << error.sentence;
}
#endif

} // namespace
