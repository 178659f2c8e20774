// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.operations: neighbourhood collectives. The topology is a line of ranks (open ends are MPI_PROC_NULL, whose
// blocks stay untouched) made by MPI_Cart_create, and a ring with one neighbour in and one out made by
// MPI_Dist_graph_create_adjacent. A periodic line would be ambiguous on one and two ranks.
#include "runtime_test.hpp"

#include <array>
#include <cstddef>

namespace commtask::test {
namespace {

struct large_arrays {
    using count_type = MPI_Count;
    using displ_type = MPI_Aint;
    static constexpr auto allgatherv = commtask_op_neighbor_allgatherv;
    static constexpr auto alltoallv = commtask_op_neighbor_alltoallv;
    static constexpr auto alltoallw = commtask_op_neighbor_alltoallw;
};
struct int_arrays {
    using count_type = int;
    using displ_type = int;
    static constexpr auto allgatherv = commtask_op_neighbor_allgatherv_int;
    static constexpr auto alltoallv = commtask_op_neighbor_alltoallv_int;
    static constexpr auto alltoallw = commtask_op_neighbor_alltoallw_int;
};

template <typename Form>
class Line : public Runtime {
protected:
    void SetUp() override {
        Runtime::SetUp();
        const std::array<int, 1> extents{n_ranks_};
        const std::array<int, 1> is_periodic{0};
        ASSERT_EQ(MPI_Cart_create(comm_, 1, extents.data(), is_periodic.data(), 0, &line_), MPI_SUCCESS);
    }
    void TearDown() override {
        EXPECT_EQ(MPI_Comm_free(&line_), MPI_SUCCESS);
        Runtime::TearDown();
    }
    /// `from_left` and `from_right` where there is such a neighbour, else -1.
    [[nodiscard]] std::array<int, 2> where_there_is_one(int from_left, int from_right) const {
        return {rank_ == 0 ? -1 : from_left, rank_ == last() ? -1 : from_right};
    }
    MPI_Comm line_ = MPI_COMM_NULL;
};

using forms = testing::Types<large_arrays, int_arrays>;
TYPED_TEST_SUITE(Line, forms);

TYPED_TEST(Line, NeighborAllgatherBringsTheBlocksOfBothSides) {
    const int mine = value_of(this->rank_, 0);
    std::array<int, 2> received{-1, -1};
    run(commtask_op_neighbor_allgather(&mine, 1, MPI_INT, received.data(), 1, MPI_INT, this->line_));
    EXPECT_EQ(received, this->where_there_is_one(value_of(this->rank_ - 1, 0), value_of(this->rank_ + 1, 0)));
}

TYPED_TEST(Line, NeighborAlltoallBringsADifferentBlockToEachSide) {
    const std::array<int, 2> sent{value_of(this->rank_, 0), value_of(this->rank_, 1)};
    std::array<int, 2> received{-1, -1};
    run(commtask_op_neighbor_alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, this->line_));
    EXPECT_EQ(received, this->where_there_is_one(value_of(this->rank_ - 1, 1), value_of(this->rank_ + 1, 0)));
}

TYPED_TEST(Line, NeighborAllgathervPutsBlocksWhereTheDisplacementsSay) {
    const int mine = value_of(this->rank_, 0);
    const std::array<typename TypeParam::count_type, 2> counts{1, 1};
    const std::array<typename TypeParam::displ_type, 2> displs{1, 0}; // crossed
    std::array<int, 2> received{-1, -1};
    run(TypeParam::allgatherv(&mine, 1, MPI_INT, received.data(), counts.data(), displs.data(), MPI_INT, this->line_));
    EXPECT_EQ((std::array{received[1], received[0]}),
              this->where_there_is_one(value_of(this->rank_ - 1, 0), value_of(this->rank_ + 1, 0)));
}

TYPED_TEST(Line, NeighborAlltoallvSendsDifferentLengths) {
    // One entry to the left, two to the right.
    const std::array<int, 3> sent{value_of(this->rank_, 0), value_of(this->rank_, 1), value_of(this->rank_, 2)};
    const std::array<typename TypeParam::count_type, 2> send_counts{1, 2};
    const std::array<typename TypeParam::displ_type, 2> send_displs{0, 1};
    const std::array<typename TypeParam::count_type, 2> recv_counts{2, 1};
    const std::array<typename TypeParam::displ_type, 2> recv_displs{0, 2};
    std::array<int, 3> received{-1, -1, -1};
    run(TypeParam::alltoallv(sent.data(), send_counts.data(), send_displs.data(), MPI_INT, received.data(),
                             recv_counts.data(), recv_displs.data(), MPI_INT, this->line_));
    const auto expected = this->where_there_is_one(value_of(this->rank_ - 1, 1), value_of(this->rank_ + 1, 0));
    EXPECT_EQ(received[0], expected[0]);
    EXPECT_EQ(received[1], expected[0] == -1 ? -1 : value_of(this->rank_ - 1, 2));
    EXPECT_EQ(received[2], expected[1]);
}

TYPED_TEST(Line, NeighborAlltoallwGivesEachSideATypeOfItsOwn) {
    MPI_Datatype every_other = MPI_DATATYPE_NULL;
    MPI_Type_vector(2, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    // To the left a gapped pair, to the right a plain pair; received the other way round.
    const std::array<int, 5> sent{value_of(this->rank_, 0), -2, value_of(this->rank_, 1), value_of(this->rank_, 2),
                                  value_of(this->rank_, 3)};
    const std::array<typename TypeParam::count_type, 2> send_counts{1, 2};
    const std::array<MPI_Aint, 2> send_displs{0, 3 * static_cast<MPI_Aint>(sizeof(int))};
    const std::array<MPI_Datatype, 2> send_types{every_other, MPI_INT};
    std::array<int, 5> received{-1, -1, -1, -1, -1};
    const std::array<typename TypeParam::count_type, 2> recv_counts{1, 2};
    const std::array<MPI_Aint, 2> recv_displs{0, 3 * static_cast<MPI_Aint>(sizeof(int))};
    run(TypeParam::alltoallw(sent.data(), send_counts.data(), send_displs.data(), send_types.data(), received.data(),
                             recv_counts.data(), recv_displs.data(), send_types.data(), this->line_));
    const int before = this->rank_ - 1;
    const int after = this->rank_ + 1;
    std::array<int, 5> expected{-1, -1, -1, -1, -1};
    if (this->rank_ > 0) expected = {value_of(before, 2), -1, value_of(before, 3), -1, -1};
    if (this->rank_ < this->last()) {
        expected[3] = value_of(after, 0);
        expected[4] = value_of(after, 1);
    }
    EXPECT_EQ(received, expected);
    MPI_Type_free(&every_other);
}

class Ring : public Runtime {
protected:
    void SetUp() override {
        Runtime::SetUp();
        const int from = left();
        const int to = right();
        ASSERT_EQ(MPI_Dist_graph_create_adjacent(comm_, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                                 0, &ring_),
                  MPI_SUCCESS);
    }
    void TearDown() override {
        EXPECT_EQ(MPI_Comm_free(&ring_), MPI_SUCCESS);
        Runtime::TearDown();
    }
    MPI_Comm ring_ = MPI_COMM_NULL;
};

TEST_F(Ring, AGraphMayHaveOtherNeighboursInThanOut) {
    const int mine = value_of(rank_, 0);
    int received = -1;
    run(commtask_op_neighbor_allgather(&mine, 1, MPI_INT, &received, 1, MPI_INT, ring_));
    EXPECT_EQ(received, value_of(left(), 0));
    received = -1;
    run(commtask_op_neighbor_alltoall(&mine, 1, MPI_INT, &received, 1, MPI_INT, ring_));
    EXPECT_EQ(received, value_of(left(), 0));
}

} // namespace
} // namespace commtask::test
