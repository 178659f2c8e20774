// SPDX-License-Identifier: Apache-2.0
//
// What the tests of held tasks share: messages around the ring, which a task starts in both directions at once, so that it may wait
// for them in place; and messages to the rank itself, which come when the test says so.
#pragma once

#include "omp_fixture.hpp"

class Hold : public omp_test::ring {
protected:
    /// A receive from this rank itself, whose message is sent by send_to_myself().
    [[nodiscard]] commtask_op recv_from_myself(int* where, int tag) const {
        return commtask_op_recv(where, 1, MPI_INT, rank, tag, comm);
    }
    /// A message from the left and one to the right, started by one task, so that where it waits in place it waits for both.
    void exchange(int* from_left, int* to_right, int tag) const {
        EXPECT_EQ(commtask_omp_bind(commtask_op_recv(from_left, 1, MPI_INT, left, tag, comm)), COMMTASK_OK);
        EXPECT_EQ(commtask_omp_bind(commtask_op_send(to_right, 1, MPI_INT, right, tag, comm)), COMMTASK_OK);
    }
    void send_to_myself(int* what, int tag) const {
        ASSERT_EQ(commtask_post(commtask_op_send(what, 1, MPI_INT, rank, tag, comm), nullptr, nullptr), COMMTASK_OK);
    }
};
