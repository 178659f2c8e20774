// SPDX-License-Identifier: Apache-2.0
//
// mpi.plan_calls: what a plan asks of MPI. This program has MPI's functions that send, receive and start, which count and hand on: the
// messages of a plan are made once, as persistent requests, and each run is one MPI_Startall.
#include "plan_fixture.hpp"

#include <array>
#include <atomic>
#include <cstddef>

namespace {

struct call_counts {
    std::atomic<int> made{0};     ///< Persistent requests.
    std::atomic<int> startall{0}; ///< Calls.
    std::atomic<int> started{0};  ///< Requests in them.
    std::atomic<int> singly{0};   ///< Any other message.
    std::atomic<int> types{0};    ///< Duplicates that were not freed.
} calls;

} // namespace

#define COUNTED_VISIBLE extern "C" [[gnu::visibility("default")]]

COUNTED_VISIBLE int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                                  MPI_Request* request) {
    ++calls.made;
    return PMPI_Send_init(buffer, count, type, dest, tag, comm, request);
}
COUNTED_VISIBLE int MPI_Recv_init(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                  MPI_Request* request) {
    ++calls.made;
    return PMPI_Recv_init(buffer, count, type, source, tag, comm, request);
}
COUNTED_VISIBLE int MPI_Type_dup(MPI_Datatype type, MPI_Datatype* made) {
    ++calls.types;
    return PMPI_Type_dup(type, made);
}
COUNTED_VISIBLE int MPI_Type_free(MPI_Datatype* type) {
    --calls.types;
    return PMPI_Type_free(type);
}
COUNTED_VISIBLE int MPI_Startall(int count, MPI_Request* requests) {
    ++calls.startall;
    calls.started += count;
    return PMPI_Startall(count, requests);
}
COUNTED_VISIBLE int MPI_Start(MPI_Request* request) {
    ++calls.singly;
    return PMPI_Start(request);
}
COUNTED_VISIBLE int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                              MPI_Request* request) {
    ++calls.singly;
    return PMPI_Isend(buffer, count, type, dest, tag, comm, request);
}
COUNTED_VISIBLE int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                              MPI_Request* request) {
    ++calls.singly;
    return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}

namespace commtask::test {
namespace {

class PlanCalls : public Runtime {};

TEST_F(PlanCalls, AreOneStartallForAllMessagesOfARun) {
    constexpr int n_messages = 8; // each way
    constexpr int n_runs = 25;
    std::array<int, n_messages> mine{};
    std::array<int, n_messages> theirs{};
    // The instrument sees messages that are posted singly.
    commtask_t received = post(commtask_op_recv(&theirs[0], 1, MPI_INT, left(), 0, comm_));
    run(commtask_op_send(&mine[0], 1, MPI_INT, right(), 0, comm_));
    EXPECT_EQ(finish(received), COMMTASK_OK);
    EXPECT_EQ(calls.singly.exchange(0), 2);
    calls.made = 0;
    plan exchange{[&] {
        for (std::size_t i = 0; i < mine.size(); ++i) {
            post_detached(commtask_op_recv(&theirs.at(i), 1, MPI_INT, left(), static_cast<int>(i), comm_));
        }
        for (std::size_t i = 0; i < mine.size(); ++i) {
            post_detached(commtask_op_send(&mine.at(i), 1, MPI_INT, right(), static_cast<int>(i), comm_));
        }
    }};
    const int n_made = calls.made;
    EXPECT_GE(n_made, 2 * n_messages);
    EXPECT_LE(n_made, 2 * n_messages + 1) << "one more, which is never started, keeps the communicator";
    EXPECT_EQ(calls.startall, 0) << "recording starts nothing";
    for (int i = 1; i <= n_runs; ++i) {
        for (std::size_t k = 0; k < mine.size(); ++k) mine.at(k) = value_of(rank_, i) + static_cast<int>(k);
        exchange.run();
        for (std::size_t k = 0; k < mine.size(); ++k) {
            EXPECT_EQ(theirs.at(k), value_of(left(), i) + static_cast<int>(k));
        }
        EXPECT_EQ(calls.startall, i);
    }
    EXPECT_EQ(calls.started, n_runs * 2 * n_messages);
    EXPECT_EQ(calls.made, n_made) << "they are made once";
    EXPECT_EQ(calls.singly, 0);
}

TEST_F(PlanCalls, AreOneStartallForAllMessagesOfAMulticastAndOfManyToMany) {
    constexpr int n_blocks = 4;
    constexpr int n_runs = 5;
    const std::array<int, n_blocks> to_right{right(), right(), right(), right()};
    const std::array<int, n_blocks> from_left{left(), left(), left(), left()};
    constexpr std::array<int, n_blocks> one_each{1, 1, 1, 1};
    constexpr std::array<int, n_blocks> places{0, 1, 2, 3};
    std::array<int, n_blocks> mine{};
    std::array<int, n_blocks> theirs{};
    std::array<int, n_blocks> heard{};
    int told = 0;
    calls.made = calls.startall = calls.started = calls.singly = 0;
    plan blocks{[&] {
        post_detached(commtask_op_many_to_many_int(mine.data(), one_each.data(), places.data(), MPI_INT,
                                                   to_right.data(), n_blocks, theirs.data(), one_each.data(),
                                                   places.data(), MPI_INT, from_left.data(), n_blocks, 1, comm_));
    }};
    EXPECT_EQ(calls.made, 2 * n_blocks);
    plan word{[&] {
        for (int& each : heard) post_detached(commtask_op_recv(&each, 1, MPI_INT, left(), 2, comm_));
        post_detached(commtask_op_multicast(&told, 1, MPI_INT, to_right.data(), n_blocks, 2, comm_));
    }};
    EXPECT_EQ(calls.made, 4 * n_blocks);
    for (int i = 1; i <= n_runs; ++i) {
        for (int k = 0; k < n_blocks; ++k) mine.at(static_cast<std::size_t>(k)) = value_of(rank_, i) + k;
        told = value_of(rank_, i);
        blocks.run();
        EXPECT_EQ(calls.startall, 2 * i - 1);
        word.run();
        EXPECT_EQ(calls.startall, 2 * i);
        for (int k = 0; k < n_blocks; ++k) EXPECT_EQ(theirs.at(static_cast<std::size_t>(k)), value_of(left(), i) + k);
        for (const int each : heard) EXPECT_EQ(each, value_of(left(), i));
    }
    EXPECT_EQ(calls.started, n_runs * 4 * n_blocks);
    EXPECT_EQ(calls.made, 4 * n_blocks) << "they are made once";
    EXPECT_EQ(calls.singly, 0);
}

TEST_F(PlanCalls, GiveBackEveryDatatypeThatTheyMake) {
    MPI_Datatype mine = MPI_DATATYPE_NULL;
    ASSERT_EQ(MPI_Type_contiguous(3, MPI_INT, &mine), MPI_SUCCESS);
    ASSERT_EQ(MPI_Type_commit(&mine), MPI_SUCCESS);
    MPI_Datatype uncommitted = MPI_DATATYPE_NULL;
    ASSERT_EQ(MPI_Type_contiguous(3, MPI_INT, &uncommitted), MPI_SUCCESS);
    std::array<int, 3> data{};
    calls.types = 0;
    const auto send = [&](MPI_Datatype type) {
        post_detached(commtask_op_send(data.data(), 1, type, MPI_PROC_NULL, 1, comm_));
    };
    {
        plan sends{[&] {
            send(mine);
            send(MPI_2INT);
            post_detached(commtask_op_allreduce(MPI_IN_PLACE, data.data(), 1, MPI_INT, MPI_SUM, comm_));
        }};
        EXPECT_EQ(calls.types, 1) << "MPI's own cannot be freed";
    }
    EXPECT_EQ(calls.types, 0) << "released";
    ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
    send(mine);
    EXPECT_EQ(calls.types, 1);
    EXPECT_EQ(commtask_record_end(nullptr), COMMTASK_OK);
    EXPECT_EQ(calls.types, 0) << "dropped";
    ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
    send(mine);
    post_detached(commtask_op_recv(data.data(), 1, uncommitted, left(), 1, comm_));
    commtask_plan_t none = COMMTASK_PLAN_NULL;
    EXPECT_EQ(commtask_record_end(&none), COMMTASK_ERR_TYPE);
    EXPECT_EQ(calls.types, 0) << "refused";
    commtask_plan_t abandoned = COMMTASK_PLAN_NULL;
    ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
    send(mine);
    ASSERT_EQ(commtask_record_end(&abandoned), COMMTASK_OK);
    ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
    send(mine); // and a recording that is open
    EXPECT_EQ(calls.types, 2);
    EXPECT_EQ(commtask_finalize(), COMMTASK_OK);
    EXPECT_EQ(calls.types, 0) << "left to commtask_finalize";
    EXPECT_EQ(commtask_plan_release(&abandoned), COMMTASK_OK);
    const commtask_config settings = configuration();
    ASSERT_EQ(commtask_init(&settings), COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(commtask_record_end(nullptr), COMMTASK_ERR_ARGUMENT) << "it is dropped";
    EXPECT_EQ(MPI_Type_free(&mine), MPI_SUCCESS);
    EXPECT_EQ(MPI_Type_free(&uncommitted), MPI_SUCCESS);
}

} // namespace
} // namespace commtask::test
