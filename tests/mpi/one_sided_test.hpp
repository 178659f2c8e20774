// SPDX-License-Identifier: Apache-2.0
//
// A registered window for each test. It is allocated, since Open MPI 4.1 has windows over memory of one's own for some
// networks only, and a multiple of 16 bytes, since MPICH 4.0 puts beside others that it allocates.
#pragma once

#include "runtime_test.hpp"

#include <algorithm>
#include <cstddef>

namespace commtask::test {

class OneSided : public Runtime {
protected:
    static constexpr int n_elements = 256;

    void SetUp() override {
        Runtime::SetUp();
        ASSERT_EQ(MPI_Win_allocate(n_elements * sizeof(int), sizeof(int), MPI_INFO_NULL, comm_,
                                   static_cast<void*>(&exposed_), &window_),
                  MPI_SUCCESS);
        std::fill_n(exposed_, n_elements, -1);
        MPI_Barrier(comm_); // nobody writes before
        ASSERT_EQ(commtask_win_register(window_, comm_), COMMTASK_OK) << commtask_last_error();
    }
    void TearDown() override {
        if (is_registered_) {
            EXPECT_EQ(commtask_win_unregister(window_), COMMTASK_OK) << commtask_last_error();
        }
        if (window_ != MPI_WIN_NULL) {
            EXPECT_EQ(MPI_Win_free(&window_), MPI_SUCCESS);
        }
        Runtime::TearDown();
    }

    /// What others have written can be read, on all ranks.
    void everybody_has_written() {
        run(commtask_op_flush_all(window_));
        run(commtask_op_barrier(comm_));
        run(commtask_op_win_sync(window_));
    }

    MPI_Win window_ = MPI_WIN_NULL;
    int* exposed_ = nullptr;
    bool is_registered_ = true;
};

} // namespace commtask::test
