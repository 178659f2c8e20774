// SPDX-License-Identifier: Apache-2.0
//
// Part of omp.bind: an operation that a task starts in its body is MPI's when the call returns, if MPI can start it then. So the
// task may free what the operation uses, a reduction operation too, which nobody could keep otherwise. One that must wait for its
// turn keeps its datatypes and its communicator.
#include "bind_fixture.hpp"

#include <array>
#include <cstddef>

namespace {

void keep_larger(void* a, void* b, int* count, MPI_Datatype* /*type*/) {
    for (int i = 0; i < *count; ++i) {
        if (static_cast<int*>(a)[i] > static_cast<int*>(b)[i]) {
            static_cast<int*>(b)[i] = static_cast<int*>(a)[i];
        }
    }
}
void keep_nothing(void* /*a*/, void* b, int* count, MPI_Datatype* /*type*/) {
    for (int i = 0; i < *count; ++i) {
        static_cast<int*>(b)[i] = -99;
    }
}

TEST_F(Hold, ATaskMayFreeWhatItsOperationsUse) {
    for (int round = 0; round < 30; ++round) {
        std::array<int, 8> out{};
        std::array<int, 8> in{};
        out.fill(rank + 10);
        in.fill(-1);
        int largest = -1;
        MPI_Op other = MPI_OP_NULL;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        {
#pragma omp task shared(out, in, largest, other)
            {
                MPI_Comm mine = MPI_COMM_NULL;
                MPI_Datatype half = MPI_DATATYPE_NULL;
                MPI_Op larger = MPI_OP_NULL;
                MPI_Comm_dup(comm, &mine);
                MPI_Type_vector(4, 1, 2, MPI_INT, &half);
                MPI_Type_commit(&half);
                MPI_Op_create(&keep_larger, 1, &larger);
                EXPECT_EQ(commtask_omp_bind(commtask_op_recv(in.data(), 1, half, left, 1, mine)), COMMTASK_OK);
                EXPECT_EQ(commtask_omp_bind(commtask_op_send(out.data(), 1, half, right, 1, mine)), COMMTASK_OK);
                EXPECT_EQ(commtask_omp_bind(commtask_op_allreduce(&rank, &largest, 1, MPI_INT, larger, mine)),
                          COMMTASK_OK);
                MPI_Op_free(&larger);
                MPI_Type_free(&half);
                MPI_Comm_free(&mine);
                MPI_Op_create(&keep_nothing, 1, &other);
            }
        }
        for (std::size_t i = 0; i < in.size(); ++i) {
            ASSERT_EQ(in[i], i % 2 == 0 ? left + 10 : -1);
        }
        ASSERT_EQ(largest, n_ranks - 1);
        MPI_Op_free(&other);
    }
}

TEST_F(Hold, ATaskMayFreeWhatItsOperationsUseWhileTheyWaitForTheirTurn) {
    for (int round = 0; round < 30; ++round) {
        std::array<int, 9> out{};
        std::array<int, 9> in{};
        out.fill(rank + 10);
        in.fill(-1);
        int came_earlier = -1;
        int sum = -1;
        commtask_event_t gate = COMMTASK_EVENT_NULL;
        ASSERT_EQ(commtask_event_create(1, &gate), COMMTASK_OK);
        commtask_options after_gate = COMMTASK_OPTIONS_INIT;
        after_gate.events = &gate;
        after_gate.n_events = 1;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        {
#pragma omp task shared(out, in, came_earlier, sum)
            {
                MPI_Comm mine = MPI_COMM_NULL;
                MPI_Datatype third = MPI_DATATYPE_NULL;
                MPI_Comm_dup(comm, &mine);
                MPI_Type_vector(3, 1, 3, MPI_INT, &third);
                MPI_Type_commit(&third);
                for (const commtask_op& earlier :
                     {commtask_op_recv(&came_earlier, 1, MPI_INT, left, 1, mine),
                      commtask_op_send(&rank, 1, MPI_INT, right, 1, mine), commtask_op_barrier(mine)}) {
                    EXPECT_EQ(commtask_post(earlier, &after_gate, nullptr), COMMTASK_OK) << commtask_last_error();
                }
                EXPECT_EQ(commtask_omp_bind(commtask_op_recv(in.data(), 1, third, left, 1, mine)), COMMTASK_OK);
                EXPECT_EQ(commtask_omp_bind(commtask_op_send(out.data(), 1, third, right, 1, mine)), COMMTASK_OK);
                EXPECT_EQ(commtask_omp_bind(commtask_op_allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, mine)),
                          COMMTASK_OK);
                MPI_Type_free(&third);
                MPI_Comm_free(&mine);
                MPI_Type_contiguous(5, MPI_CHAR, &third); // with the handle of the other
                MPI_Type_commit(&third);
                MPI_Comm_dup(MPI_COMM_SELF, &mine);
                EXPECT_EQ(commtask_event_signal(gate), COMMTASK_OK);
                MPI_Type_free(&third);
                MPI_Comm_free(&mine);
            }
        }
        for (std::size_t i = 0; i < in.size(); ++i) {
            ASSERT_EQ(in[i], i % 3 == 0 ? left + 10 : -1);
        }
        ASSERT_EQ(came_earlier, left);
        ASSERT_EQ(sum, n_ranks * (n_ranks - 1) / 2);
        EXPECT_EQ(commtask_event_release(&gate), COMMTASK_OK);
    }
}

} // namespace
