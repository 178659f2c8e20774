// SPDX-License-Identifier: Apache-2.0
//
// A program that must not wait asks about a communicator that it has freed, and does not come back for the answer. MPI gives
// the handle out again: whoever has the next communicator must not hear what was said of the last one.
#include "runtime_test.hpp"

#include <thread>

namespace commtask::test {
namespace {

class ReusedHandle : public Runtime {
protected:
    /// Posts without waiting until the answer is more than "not now".
    [[nodiscard]] static int try_until_answered(MPI_Comm comm) {
        int code = COMMTASK_AGAIN;
        for (int i = 0; i < 1'000'000 && code == COMMTASK_AGAIN; ++i) {
            code = try_once(comm);
            std::this_thread::yield();
        }
        return code;
    }
    [[nodiscard]] static int try_once(MPI_Comm comm) {
        options without_waiting;
        return commtask_post(commtask_op_noop(comm), without_waiting.flags(COMMTASK_TRY).get(), nullptr);
    }
};

TEST_F(ReusedHandle, IsNotTakenForTheOneThatWasFreed) {
#ifdef OPEN_MPI
    GTEST_SKIP() << "Open MPI's handles are pointers: it would read the freed memory itself";
#endif
    MPI_Comm freed = MPI_COMM_NULL;
    MPI_Comm made = MPI_COMM_NULL;
    ASSERT_EQ(MPI_Comm_dup(MPI_COMM_SELF, &made), MPI_SUCCESS);
    freed = made;
    ASSERT_EQ(MPI_Comm_free(&made), MPI_SUCCESS);
    EXPECT_EQ(try_once(freed), COMMTASK_AGAIN);
    run(commtask_op_noop(comm_)); // the answer is there
    ASSERT_EQ(MPI_Comm_dup(MPI_COMM_SELF, &made), MPI_SUCCESS);
    if (made == freed) EXPECT_EQ(try_until_answered(made), COMMTASK_OK) << commtask_last_error();
    const bool was_reused = made == freed;
    EXPECT_EQ(MPI_Comm_free(&made), MPI_SUCCESS);
    if (!was_reused) GTEST_SKIP() << "this MPI gives other handles out";
}

} // namespace
} // namespace commtask::test
