// SPDX-License-Identifier: Apache-2.0
//
// Where operator new fails while a thread of the team drives the lane, operations end and release their dependents all the
// same. libomp and MPI allocate in C and notice nothing.
#include "failing_memory.hpp"
#include "omp_fixture.hpp"

#include <commtask/omp_listen.h>

#include <atomic>
#include <cstddef>
#include <numeric>
#include <vector>

namespace {

const auto* const environment = testing::AddGlobalTestEnvironment(new omp_test::library);

class NoMemory : public omp_test::ring {
protected:
    /// Makes the pool large enough for as many tasks, and the communicator known: posts ask for no memory then.
    void make_room_for(std::size_t n_tasks) const {
        commtask_event_t gate = COMMTASK_EVENT_NULL;
        ASSERT_EQ(commtask_event_create(1, &gate), COMMTASK_OK);
        commtask_options held = COMMTASK_OPTIONS_INIT;
        held.n_events = 1;
        held.events = &gate;
        std::vector<commtask_t> tasks(n_tasks, COMMTASK_NULL);
        const commtask_op noop = commtask_op_noop(comm);
        for (commtask_t& each : tasks) ASSERT_EQ(commtask_post_operation(&noop, &held, &each), COMMTASK_OK);
        EXPECT_EQ(commtask_event_signal(gate), COMMTASK_OK);
        EXPECT_EQ(commtask_wait_all(tasks.size(), tasks.data(), nullptr), COMMTASK_OK);
        EXPECT_EQ(commtask_event_release(&gate), COMMTASK_OK);
    }
};

TEST_F(NoMemory, OperationsThatEndWhileTheTeamDrivesReleaseTheirDependents) {
    constexpr int n_messages = 100;
    make_room_for(2000);
    std::vector<int> in(n_messages, -1);
    std::vector<int> out(n_messages);
    std::vector<int> seen(n_messages, -1);
    std::iota(out.begin(), out.end(), 0);
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        for (int i = 0; i < n_messages; ++i) {
            int* const here = &in[static_cast<std::size_t>(i)];
            int* const copy = &seen[static_cast<std::size_t>(i)];
            COMM_TASK(recv(here, 1, MPI_INT, left, i, comm), out(here));
#pragma omp task depend(in : *here)
            *copy = *here;
        }
        for (int i = 0; i < n_messages; ++i) {
            COMM_TASK(send(&out[static_cast<std::size_t>(i)], 1, MPI_INT, right, i, comm));
        }
        const commtask::test::no_memory scope;
        EXPECT_EQ(commtask_omp_wait_all(), COMMTASK_OK);
    }
    EXPECT_EQ(in, out);
    EXPECT_EQ(seen, out);
}

/// Wherever memory ends: a message comes to its task, also where there was none for the receives behind its own.
TEST_F(NoMemory, AMessageThatARefusedListenerHadTakenIsNotLost) {
    constexpr std::size_t n_slots = 3000; // more tasks than there is room for
    int word = 0;
    int n_sent = 0;
    int code = COMMTASK_ERR_NO_MEMORY;
    std::atomic<int> n_seen{0};
    commtask_omp_listener listener{};
    const auto count = [](commtask_message* message, void* seen) {
        if (message->error == MPI_SUCCESS) static_cast<std::atomic<int>*>(seen)->fetch_add(1);
    };
    ASSERT_EQ(commtask_omp_check(), COMMTASK_OK); // it looks once
    for (int n_before = 0; code != COMMTASK_OK; ++n_before) {
        // It ends when somebody takes it.
        ASSERT_EQ(commtask_post(commtask_op_send(&word, 1, MPI_INT, rank, 1, comm), nullptr, nullptr), COMMTASK_OK);
        ++n_sent;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
        {
            COMM_TASK(noop(comm)); // a thread's first one asks for memory that it then has
            {
                const commtask::test::no_memory scope{n_before};
                code = commtask_omp_listen(comm, 1, sizeof word, n_slots, count, &n_seen, &listener);
            }
            while (code == COMMTASK_OK && n_seen.load() < n_sent) static_cast<void>(commtask_omp_progress());
            EXPECT_EQ(commtask_omp_unlisten(&listener), COMMTASK_OK);
        }
        ASSERT_TRUE(code == COMMTASK_OK || code == COMMTASK_ERR_NO_MEMORY) << commtask_last_error();
        EXPECT_EQ(listener.messages, nullptr);
    }
    EXPECT_GT(n_sent, 1);
    EXPECT_EQ(n_seen.load(), n_sent);
    commtask_omp_clear_errors();
}

} // namespace
