// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.operations: user-defined operations. `start` takes any function that makes a request (persistent requests,
// one-sided ones, files), `attach` takes a request that exists, `call` runs a function on the worker, `noop` joins.
// When all tests are over, every kind of operation was posted by some test of this program.
#include "runtime_test.hpp"
#include "scratch_file.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <thread>

namespace commtask::test {
namespace {

class Doors : public Runtime {};

int start_persistent(MPI_Request* request, void* argument) {
    auto* persistent = static_cast<MPI_Request*>(argument);
    const int error = MPI_Start(persistent);
    *request = *persistent;
    return error;
}

TEST_F(Doors, APersistentRequestIsStartedAgainAndAgain) {
    int sent = 0;
    int received = -1;
    MPI_Request send = MPI_REQUEST_NULL;
    MPI_Request receive = MPI_REQUEST_NULL;
    MPI_Send_init(&sent, 1, MPI_INT, right(), 0, comm_, &send);
    MPI_Recv_init(&received, 1, MPI_INT, left(), 0, comm_, &receive);
    for (int round = 0; round < 5; ++round) {
        sent = value_of(rank_, round);
        commtask_t receiving = post(commtask_op_start(start_persistent, &receive, comm_));
        commtask_t sending = post(commtask_op_start(start_persistent, &send, comm_));
        commtask_status status = COMMTASK_STATUS_INIT;
        EXPECT_EQ(finish(receiving, &status), COMMTASK_OK);
        EXPECT_EQ(status.source, left());
        EXPECT_EQ(status.bytes, static_cast<MPI_Count>(sizeof(int)));
        EXPECT_EQ(finish(sending), COMMTASK_OK);
        EXPECT_EQ(received, value_of(left(), round));
    }
    EXPECT_EQ(MPI_Request_free(&send), MPI_SUCCESS);
    EXPECT_EQ(MPI_Request_free(&receive), MPI_SUCCESS);
}

struct put {
    const int* value;
    int target;
    MPI_Win window;
};

int start_put(MPI_Request* request, void* argument) {
    const auto* what = static_cast<const put*>(argument);
    return MPI_Rput(what->value, 1, MPI_INT, what->target, 3, 1, MPI_INT, what->window, request);
}

int flush_all(void* argument) { return MPI_Win_flush_all(*static_cast<MPI_Win*>(argument)); }

TEST_F(Doors, AnRputGoesThroughTheDoorOfStarts) {
    // Allocated, since Open MPI has windows over memory of one's own for some networks only; and a multiple of
    // 16 bytes, since MPICH 4.0 puts beside others.
    constexpr std::size_t n_exposed = 64;
    int* exposed = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    ASSERT_EQ(MPI_Win_allocate(n_exposed * sizeof(int), sizeof(int), MPI_INFO_NULL, comm_, static_cast<void*>(&exposed),
                               &window),
              MPI_SUCCESS);
    exposed[3] = -1;
    MPI_Barrier(comm_);
    MPI_Win_lock_all(0, window);
    const int value = value_of(rank_, 0);
    put what{&value, right(), window};
    commtask_t putting = post(commtask_op_start(start_put, &what, comm_));
    options how;
    commtask_t flushing = post(commtask_op_call(flush_all, &window, comm_), how.after({putting}));
    EXPECT_EQ(finish(flushing), COMMTASK_OK);
    EXPECT_EQ(finish(putting), COMMTASK_OK);
    run(commtask_op_barrier(comm_));
    MPI_Win_sync(window);
    EXPECT_EQ(exposed[3], value_of(left(), 0));
    MPI_Win_unlock_all(window);
    EXPECT_EQ(MPI_Win_free(&window), MPI_SUCCESS);
}

struct file_block {
    MPI_File file;
    int* values;
    int count;
};

int start_write(MPI_Request* request, void* argument) {
    const auto* block = static_cast<const file_block*>(argument);
    return MPI_File_iwrite_at(block->file, 0, block->values, block->count, MPI_INT, request);
}

int start_read(MPI_Request* request, void* argument) {
    const auto* block = static_cast<const file_block*>(argument);
    return MPI_File_iread_at(block->file, 0, block->values, block->count, MPI_INT, request);
}

TEST_F(Doors, AFileIsWrittenAndReadBackInAnotherTask) {
    const std::string name = scratch_file();
    ASSERT_FALSE(name.empty());
    MPI_File file = MPI_FILE_NULL;
    ASSERT_EQ(
        MPI_File_open(MPI_COMM_SELF, name.c_str(), MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file),
        MPI_SUCCESS);
    std::vector<int> written = values_of(rank_, 1000);
    std::vector<int> read(1000, -1);
    file_block out{file, written.data(), 1000};
    file_block in{file, read.data(), 1000};
    commtask_t writing = post(commtask_op_start(start_write, &out, comm_));
    options how;
    commtask_t reading = post(commtask_op_start(start_read, &in, comm_), how.after({writing}));
    EXPECT_EQ(finish(reading), COMMTASK_OK);
    EXPECT_EQ(finish(writing), COMMTASK_OK);
    EXPECT_EQ(read, written);
    EXPECT_EQ(MPI_File_close(&file), MPI_SUCCESS);
}

int start_nothing(MPI_Request* request, void* /*argument*/) {
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

TEST_F(Doors, AStartThatNeedsNoRequestIsComplete) { run(commtask_op_start(start_nothing, nullptr, comm_)); }

int no_status(void* /*state*/, MPI_Status* status) {
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
int no_free(void* /*state*/) { return MPI_SUCCESS; }
int no_cancel(void* /*state*/, int /*is_complete*/) { return MPI_SUCCESS; }

TEST_F(Doors, AnAttachedRequestEndsItsTask) {
    int received = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&received, 1, MPI_INT, left(), 2, comm_, &request);
    commtask_t task = post(commtask_op_attach(&request, comm_));
    EXPECT_EQ(request, MPI_REQUEST_NULL) << "the library completes it from here on";
    const int sent = value_of(rank_, 0);
    run(commtask_op_send(&sent, 1, MPI_INT, right(), 2, comm_));
    commtask_status status = COMMTASK_STATUS_INIT;
    EXPECT_EQ(finish(task, &status), COMMTASK_OK);
    EXPECT_EQ(status.source, left());
    EXPECT_EQ(status.tag, 2);
    EXPECT_EQ(received, value_of(left(), 0));
}

TEST_F(Doors, AGeneralisedRequestMayBeAttached) {
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_EQ(MPI_Grequest_start(no_status, no_free, no_cancel, nullptr, &request), MPI_SUCCESS);
    MPI_Request mine = request;
    commtask_t task = post(commtask_op_attach(&request, comm_));
    EXPECT_EQ(commtask_wait_for(&task, second_ns / 100, nullptr), COMMTASK_TIMEOUT);
    // The worker is in MPI meanwhile, where one thread at a time may be.
    const auto complete = [](void* what) -> int { return MPI_Grequest_complete(*static_cast<MPI_Request*>(what)); };
    run(commtask_op_call(+complete, &mine, comm_));
    EXPECT_EQ(finish(task), COMMTASK_OK);
}

int remember_thread(void* argument) {
    *static_cast<std::thread::id*>(argument) = std::this_thread::get_id();
    return MPI_SUCCESS;
}

TEST_F(Doors, ACallRunsOnAThreadThatDrivesMpi) {
    // Nobody waits in the library, so it must be the worker.
    std::thread::id where{};
    std::atomic<bool> has_ended{false};
    options how;
    how.call([](const commtask_status* /*status*/, void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); },
             &has_ended);
    commtask_t task = post(commtask_op_call(remember_thread, &where, comm_), how);
    while (!has_ended) std::this_thread::yield();
    EXPECT_NE(where, std::thread::id{});
    EXPECT_NE(where, std::this_thread::get_id());
    EXPECT_EQ(finish(task), COMMTASK_OK);
}

TEST_F(Doors, ANoopJoinsItsPredecessors) {
    std::vector<event> events(4);
    options how;
    how.on({events[0].get(), events[1].get(), events[2].get(), events[3].get()});
    commtask_t join = post(commtask_op_noop(comm_), how);
    for (event& one : events) {
        EXPECT_EQ(commtask_wait_for(&join, 0, nullptr), COMMTASK_TIMEOUT);
        one.signal();
    }
    EXPECT_EQ(finish(join), COMMTASK_OK);
}

TEST_F(Doors, PlanStartsWhatWasRecorded) {
    commtask_plan_t plan = COMMTASK_PLAN_NULL;
    int n_runs = 0;
    const auto count = [](void* runs) -> int {
        ++*static_cast<int*>(runs);
        return MPI_SUCCESS;
    };
    ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
    EXPECT_EQ(commtask_post(commtask_op_call(+count, &n_runs, comm_), nullptr, nullptr), COMMTASK_OK);
    ASSERT_EQ(commtask_record_end(&plan), COMMTASK_OK) << commtask_last_error();
    for (int i = 1; i <= 3; ++i) {
        run(commtask_op_plan(plan));
        EXPECT_EQ(n_runs, i);
    }
    EXPECT_EQ(commtask_plan_release(&plan), COMMTASK_OK);
}

/// Looks back when all tests are over.
class EveryKindOfOperation : public testing::Environment {
public:
    void TearDown() override {
        if (testing::GTEST_FLAG(filter) != "*") return; // not all tests ran
        for (int kind = COMMTASK_OP_SEND; kind < COMMTASK_OP_END; ++kind) {
            EXPECT_TRUE(kinds_posted.at(static_cast<std::size_t>(kind)))
                << "no test posted kind " << kind << " of commtask_kind";
        }
    }
};

// GoogleTest owns it.
[[maybe_unused]] testing::Environment* const every_kind = testing::AddGlobalTestEnvironment(new EveryKindOfOperation);

} // namespace
} // namespace commtask::test
