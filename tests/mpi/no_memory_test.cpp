// SPDX-License-Identifier: Apache-2.0
//
// mpi.no_memory: where operator new fails in the worker, the task fails and the process goes on; and what comes and goes
// leaves nothing behind. MPI allocates in C and notices nothing.
#include "failing_memory.hpp"
#include "patience.hpp"
#include "runtime_test.hpp"

#include <atomic>
#include <cstring>
#include <string>

namespace commtask::test {
namespace {

class NoMemory : public Runtime {
protected:
    /// Makes the pool large enough for as many tasks, and the queue's communicator known.
    void make_room_for(std::size_t n_tasks) {
        const event gate;
        std::vector<commtask_t> tasks;
        for (std::size_t i = 0; i < n_tasks; ++i) {
            options held;
            tasks.push_back(post(commtask_op_noop(comm_), held.on({gate.get()})));
        }
        EXPECT_EQ(commtask_event_signal(gate.get()), COMMTASK_OK);
        EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
    }
    /// Takes all the tasks that there is room for; they are there again when their handles are let go.
    [[nodiscard]] std::vector<commtask_t> take_all_tasks() {
        std::vector<commtask_t> taken;
        taken.reserve(1U << 17U);
        const commtask_op noop = commtask_op_noop(comm_);
        const no_memory scope;
        commtask_t next = COMMTASK_NULL;
        while (commtask_post_operation(&noop, nullptr, &next) == COMMTASK_OK) taken.push_back(next);
        return taken;
    }
};

TEST_F(NoMemory, OperationsThatTheWorkerCannotNoteFailAndTheOthersGoOn) {
    constexpr std::size_t n_tasks = 4000; // more than the worker has room for from the start
    make_room_for(n_tasks + 100);
    std::vector<int> in(n_tasks, -1);
    std::vector<commtask_t> tasks(n_tasks, COMMTASK_NULL);
    int n_refused = 0;
    {
        const no_memory scope;
        for (std::size_t i = 0; i < n_tasks; ++i) {
            const commtask_op receive = commtask_op_recv(&in[i], 1, MPI_INT, rank_, 0, comm_);
            n_refused += commtask_post_operation(&receive, nullptr, &tasks[i]) != COMMTASK_OK;
        }
        commtask_t last = COMMTASK_NULL;
        n_refused += commtask_post(commtask_op_noop(comm_), nullptr, &last) != COMMTASK_OK;
        n_refused += commtask_wait_for(&last, limit_ns, nullptr) != COMMTASK_OK;
    }
    EXPECT_EQ(n_refused, 0);
    std::size_t n_failed = 0;
    for (commtask_t& task : tasks) {
        int has_ended = 0;
        commtask_status status = COMMTASK_STATUS_INIT;
        const int code = commtask_test(&task, &has_ended, &status);
        if (has_ended == 0) continue;
        ++n_failed;
        EXPECT_EQ(code, COMMTASK_FAILED);
        EXPECT_EQ(status.error_class, MPI_ERR_NO_MEM);
    }
    EXPECT_GT(n_failed, 0U);
    EXPECT_LT(n_failed, n_tasks);
    for (std::size_t i = 0; i < n_tasks - n_failed; ++i) {
        const int value = static_cast<int>(i);
        run(commtask_op_send(&value, 1, MPI_INT, rank_, 0, comm_));
    }
    EXPECT_EQ(commtask_wait_all_for(n_tasks, tasks.data(), limit_ns, nullptr), COMMTASK_OK);
    int next = 0;
    for (const int value : in) {
        if (value != -1) EXPECT_EQ(value, next++); // NOLINT(readability-misleading-indentation)
    }
}

TEST_F(NoMemory, TheEndGivesUpWhatCannotEndAndSaysSoWithoutAListOrStatistics) {
    ASSERT_EQ(commtask_finalize(), COMMTASK_OK);
    commtask_config config = COMMTASK_CONFIG_INIT;
    config.finalize_timeout_s = 0.1;
    config.stats = 1;
    ASSERT_EQ(commtask_init(&config), COMMTASK_OK);
    int never = 0;
    int n_callbacks = 0;
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.callback = [](const commtask_status* /*status*/, void* count) { ++*static_cast<int*>(count); };
    how.callback_argument = &n_callbacks;
    ASSERT_EQ(commtask_post(commtask_op_recv(&never, 1, MPI_INT, rank_, 99, comm_), &how, nullptr), COMMTASK_OK);
    how.flags = COMMTASK_ORDERED;
    ASSERT_EQ(commtask_post(commtask_op_recv(&never, 1, MPI_INT, rank_, 99, comm_), &how, nullptr), COMMTASK_OK);
    int code = COMMTASK_OK;
    ::testing::internal::CaptureStderr();
    {
        const no_memory scope;
        code = commtask_finalize();
    }
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(code, COMMTASK_ERR_UNFINISHED);
    EXPECT_EQ(n_callbacks, 2);
    EXPECT_NE(said.find("2 tasks unfinished"), std::string::npos) << said;
    EXPECT_NE(said.find("abandoned by commtask_finalize; no memory"), std::string::npos) << said;
    EXPECT_NE(said.find("no memory to gather the statistics"), std::string::npos) << said;
    ASSERT_EQ(commtask_init(nullptr), COMMTASK_OK);
}

TEST_F(NoMemory, ANewCommunicatorIsRefusedAndKnownTheNextTime) {
    ASSERT_EQ(commtask_comm_register(comm_), COMMTASK_OK);
    MPI_Comm fresh = MPI_COMM_NULL;
    ASSERT_EQ(MPI_Comm_dup(comm_, &fresh), MPI_SUCCESS);
    int refused = COMMTASK_OK;
    {
        const no_memory scope;
        refused = commtask_comm_register(fresh);
    }
    EXPECT_EQ(refused, COMMTASK_ERR_NO_MEMORY);
    EXPECT_NE(std::strstr(commtask_last_error(), "memory"), nullptr) << commtask_last_error();
    EXPECT_EQ(commtask_comm_register(fresh), COMMTASK_OK);
    run(commtask_op_barrier(fresh));
    EXPECT_EQ(MPI_Comm_free(&fresh), MPI_SUCCESS);
}

TEST_F(NoMemory, AMessageThatIsGivenBackWithoutMemoryTakesPartAgainWithTheNextOne) {
    constexpr int tag = 9;
    struct kept_messages {
        commtask_event_t both;
        std::vector<commtask_message*> messages{};
    };
    const event both{2};
    const event third;
    kept_messages kept{both.get()};
    kept.messages.reserve(3);
    const auto keep = [](commtask_message* come, void* argument) -> int {
        auto& mine = *static_cast<kept_messages*>(argument);
        mine.messages.push_back(come);
        static_cast<void>(commtask_event_signal(mine.both));
        return COMMTASK_MESSAGE_KEPT;
    };
    const auto wait_for = [&](const event& all) {
        options after;
        run(commtask_op_noop(comm_), after.on({all.get()}).get());
    };
    commtask_listener_t listener = COMMTASK_LISTENER_NULL;
    ASSERT_EQ(commtask_listen(comm_, tag, sizeof(int), 2, +keep, &kept, &listener), COMMTASK_OK);
    for (const int number : {0, 1}) run(commtask_op_send(&number, 1, MPI_INT, rank_, tag, comm_));
    wait_for(both);
    kept.both = third.get();
    std::vector<commtask_t> taken = take_all_tasks();
    int refused = COMMTASK_OK;
    {
        const no_memory scope;
        refused = commtask_message_release(kept.messages[0]);
    }
    EXPECT_EQ(refused, COMMTASK_ERR_NO_MEMORY);
    EXPECT_EQ(commtask_wait_all_for(taken.size(), taken.data(), limit_ns, nullptr), COMMTASK_OK);
    EXPECT_EQ(commtask_message_release(kept.messages[1]), COMMTASK_OK);
    const int number = 2;
    run(commtask_op_ssend(&number, 1, MPI_INT, rank_, tag, comm_)); // somebody receives it
    wait_for(third);
    ASSERT_EQ(kept.messages.size(), 3U);
    EXPECT_EQ(*static_cast<int*>(kept.messages[2]->data), 2);
    EXPECT_EQ(commtask_message_release(kept.messages[2]), COMMTASK_OK);
    EXPECT_EQ(commtask_unlisten(&listener), COMMTASK_OK);
}

TEST_F(NoMemory, AMessageThatIsDoneWithWithoutMemoryLeavesItsSlotForTheNextOne) {
    constexpr int tag = 9;
    struct first_takes_all {
        MPI_Comm comm;
        commtask_event_t is_kept;
        std::vector<commtask_t> taken{};
        std::vector<commtask_message*> kept{};
        std::atomic<int> n_called{0};
    };
    const event both{2};
    first_takes_all mine{comm_, both.get()};
    mine.taken.reserve(1 << 17);
    mine.kept.reserve(2);
    const auto handle = [](commtask_message* come, void* argument) -> int {
        auto& all = *static_cast<first_takes_all*>(argument);
        if (all.n_called == 0) { // those of the driver
            const commtask_op nothing = commtask_op_noop(all.comm);
            commtask_t next = COMMTASK_NULL;
            while (commtask_post_operation(&nothing, nullptr, &next) == COMMTASK_OK) all.taken.push_back(next);
            ++all.n_called;
            return COMMTASK_MESSAGE_DONE;
        }
        all.kept.push_back(come);
        ++all.n_called;
        static_cast<void>(commtask_event_signal(all.is_kept));
        return COMMTASK_MESSAGE_KEPT;
    };
    commtask_listener_t listener = COMMTASK_LISTENER_NULL;
    ASSERT_EQ(commtask_listen(comm_, tag, sizeof(int), 2, +handle, &mine, &listener), COMMTASK_OK);
    const event no_memory_left;
    options after;
    const int number = 1;
    commtask_t sent =
        post(commtask_op_send(&number, 1, MPI_INT, rank_, tag, comm_), after.on({no_memory_left.get()}).get());
    std::vector<commtask_t> taken = take_all_tasks();
    {
        const no_memory scope;
        EXPECT_EQ(commtask_event_signal(no_memory_left.get()), COMMTASK_OK);
        EXPECT_TRUE(detail::testing::comes_true([&] {
            int moved = 0;
            static_cast<void>(commtask_progress(&moved));
            return mine.n_called == 1;
        }));
    }
    EXPECT_EQ(commtask_wait_all_for(mine.taken.size(), mine.taken.data(), limit_ns, nullptr), COMMTASK_OK);
    EXPECT_EQ(commtask_wait_all_for(taken.size(), taken.data(), limit_ns, nullptr), COMMTASK_OK);
    finish(sent);
    for (int i = 0; i < 2; ++i)
        run(commtask_op_ssend(&number, 1, MPI_INT, rank_, tag, comm_)); // somebody receives both
    run(commtask_op_noop(comm_), options{}.on({both.get()}).get());
    for (commtask_message* const each : mine.kept) EXPECT_EQ(commtask_message_release(each), COMMTASK_OK);
    EXPECT_EQ(commtask_unlisten(&listener), COMMTASK_OK);
}

/// Wherever memory ends, the plan is refused or has nothing of a member that was.
TEST_F(NoMemory, AMemberInPartitionsIsRecordedAsAWholeOrSpoilsThePlan) {
    constexpr MPI_Count per_partition = 30'000; // so that there are several groups
    std::vector<double> data(4 * per_partition);
    bool has_memory = false;
    int n_refused_plans = 0;
    for (int n_before = 0; !has_memory && n_before < 1000; ++n_before) {
        ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
        commtask_t first = post(commtask_op_noop(comm_));
        options how;
        how.after({first}); // who has a predecessor needs memory for that
        const commtask_options* const after_first = how.get();
        const commtask_op sent = commtask_op_psend(data.data(), 4, per_partition, MPI_DOUBLE, MPI_PROC_NULL, 3, comm_);
        int code = COMMTASK_OK;
        {
            const no_memory scope{n_before};
            code = commtask_post_operation(&sent, after_first, nullptr);
        }
        has_memory = code == COMMTASK_OK;
        EXPECT_EQ(commtask_release(&first), COMMTASK_OK);
        commtask_plan_t made = COMMTASK_PLAN_NULL;
        const int ended = commtask_record_end(&made);
        if (ended != COMMTASK_OK) {
            EXPECT_EQ(ended, COMMTASK_ERR_NO_MEMORY);
            EXPECT_FALSE(has_memory);
            ++n_refused_plans;
            continue;
        }
        ASSERT_EQ(commtask_plan_size(made), has_memory ? 2U : 1U);
        if (has_memory) EXPECT_EQ(commtask_plan_pready_range(made, 1, 0, 4), COMMTASK_OK);
        run(commtask_op_plan(made));
        ASSERT_EQ(commtask_plan_release(&made), COMMTASK_OK);
    }
    EXPECT_TRUE(has_memory);
    EXPECT_GT(n_refused_plans, 0);
}

/// Wherever memory ends: the recording is refused, or the post of which the plan would have the datatypes.
TEST_F(NoMemory, ARecordingAndItsDatatypesAreRefused) {
    const auto n_ranks = static_cast<std::size_t>(n_ranks_);
    const std::vector<int> counts(n_ranks, 1);
    const std::vector<int> displs(n_ranks, 0);
    std::vector<int> data(2 * n_ranks);
    std::vector<int> into(2 * n_ranks);
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    ASSERT_EQ(MPI_Type_contiguous(2, MPI_INT, &pair), MPI_SUCCESS);
    ASSERT_EQ(MPI_Type_commit(&pair), MPI_SUCCESS);
    std::vector<MPI_Datatype> types(n_ranks, pair);
    const commtask_op exchange =
        commtask_op_alltoallw_int(data.data(), counts.data(), displs.data(), types.data(), into.data(), counts.data(),
                                  displs.data(), types.data(), comm_);
    int n_refused = 0;
    int code = COMMTASK_ERR_NO_MEMORY;
    for (int n_before = 0; code != COMMTASK_OK && n_before < 1000; ++n_before) {
        int begun = COMMTASK_OK;
        {
            const no_memory scope{n_before};
            begun = commtask_record_begin();
            code = begun == COMMTASK_OK ? commtask_post_operation(&exchange, nullptr, nullptr) : begun;
        }
        EXPECT_EQ(begun == COMMTASK_OK, commtask_record_end(nullptr) == COMMTASK_OK);
        if (code == COMMTASK_OK) continue;
        EXPECT_EQ(code, COMMTASK_ERR_NO_MEMORY);
        ++n_refused;
    }
    EXPECT_EQ(code, COMMTASK_OK);
    EXPECT_GT(n_refused, 5);
    EXPECT_EQ(MPI_Type_free(&pair), MPI_SUCCESS);
}

TEST_F(NoMemory, CommunicatorsThatComeAndGoLeaveNothingBehind) {
    const auto come_and_go = [&](int n_times) {
        for (int i = 0; i < n_times; ++i) {
            MPI_Comm passing = MPI_COMM_NULL;
            ASSERT_EQ(MPI_Comm_dup(MPI_COMM_SELF, &passing), MPI_SUCCESS);
            run(commtask_op_barrier(passing));
            ASSERT_EQ(MPI_Comm_free(&passing), MPI_SUCCESS);
        }
    };
    come_and_go(50);
    const std::int64_t before = live_allocations();
    come_and_go(300);
    EXPECT_LT(live_allocations(), before + 30) << "less than one for ten communicators";
}

TEST_F(NoMemory, AThousandCommunicatorsAreKnownAtOnce) {
    std::vector<MPI_Comm> comms(1000, MPI_COMM_NULL);
    for (MPI_Comm& each : comms) {
        ASSERT_EQ(MPI_Comm_dup(MPI_COMM_SELF, &each), MPI_SUCCESS);
        run(commtask_op_barrier(each));
    }
    for (std::size_t i = 0; i < comms.size(); i += 7) run(commtask_op_barrier(comms[comms.size() - 1 - i]));
    for (MPI_Comm& each : comms) ASSERT_EQ(MPI_Comm_free(&each), MPI_SUCCESS);
}

} // namespace
} // namespace commtask::test
