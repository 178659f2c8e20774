// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.operations: collectives with a count for each rank, each in both forms (MPI_Count and MPI_Aint, or int).
// Rank r contributes r + 1 entries (rank 1 none, so that a null buffer occurs), and blocks have gaps and lie in reverse
// order, so that a mixed-up count or displacement shows.
#include "runtime_test.hpp"

#include <cstddef>

namespace commtask::test {
namespace {

struct large_arrays {
    using count_type = MPI_Count;
    using displ_type = MPI_Aint;
    static constexpr auto gatherv = commtask_op_gatherv;
    static constexpr auto scatterv = commtask_op_scatterv;
    static constexpr auto allgatherv = commtask_op_allgatherv;
    static constexpr auto alltoallv = commtask_op_alltoallv;
    static constexpr auto alltoallw = commtask_op_alltoallw;
    static constexpr auto reduce_scatter = commtask_op_reduce_scatter;
};
struct int_arrays {
    using count_type = int;
    using displ_type = int;
    static constexpr auto gatherv = commtask_op_gatherv_int;
    static constexpr auto scatterv = commtask_op_scatterv_int;
    static constexpr auto allgatherv = commtask_op_allgatherv_int;
    static constexpr auto alltoallv = commtask_op_alltoallv_int;
    static constexpr auto alltoallw = commtask_op_alltoallw_int;
    static constexpr auto reduce_scatter = commtask_op_reduce_scatter_int;
};

constexpr int stride = 8; ///< Room for a block; the rest of it is the gap.

template <typename Form>
class CollectivesV : public Runtime {
protected:
    using count_type = typename Form::count_type;
    using displ_type = typename Form::displ_type;

    void SetUp() override {
        Runtime::SetUp();
        for (int rank = 0; rank < n_ranks_; ++rank) {
            counts_.push_back(count_of(rank));
            displs_.push_back(stride * (n_ranks_ - 1 - rank));
        }
    }
    [[nodiscard]] static int count_of(int rank) { return rank == 1 ? 0 : rank + 1; }
    [[nodiscard]] std::size_t n_slots() const { return static_cast<std::size_t>(n_ranks_ * stride); }

    /// The blocks of all ranks at their places, -1 in the gaps.
    [[nodiscard]] std::vector<int> all_blocks() const {
        std::vector<int> all(n_slots(), -1);
        for (int rank = 0; rank < n_ranks_; ++rank) {
            for (int i = 0; i < count_of(rank); ++i) {
                all[static_cast<std::size_t>(stride * (n_ranks_ - 1 - rank) + i)] = value_of(rank, i);
            }
        }
        return all;
    }
    [[nodiscard]] std::vector<int> own_block() const { return values_of(rank_, count_of(rank_)); }

    std::vector<count_type> counts_;
    std::vector<displ_type> displs_;
};

using forms = testing::Types<large_arrays, int_arrays>;
class form_names {
public:
    template <typename Form>
    static std::string GetName(int) {
        return std::is_same_v<Form, int_arrays> ? "int" : "large";
    }
};
TYPED_TEST_SUITE(CollectivesV, forms, form_names);

TYPED_TEST(CollectivesV, GathervCollectsAtTheRootAndInPlace) {
    const std::vector<int> mine = this->own_block();
    const bool is_root = this->rank_ == 0;
    std::vector<int> all(is_root ? this->n_slots() : 0, -1);
    const auto counts = is_root ? this->counts_.data() : nullptr;
    const auto displs = is_root ? this->displs_.data() : nullptr;
    run(TypeParam::gatherv(mine.data(), static_cast<MPI_Count>(mine.size()), MPI_INT, is_root ? all.data() : nullptr,
                           counts, displs, MPI_INT, 0, this->comm_));
    if (is_root) {
        EXPECT_EQ(all, this->all_blocks());
    }

    std::vector<int> again(is_root ? this->n_slots() : 0, -1);
    if (is_root) {
        std::copy(mine.begin(), mine.end(), again.begin() + stride * this->last());
        run(TypeParam::gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, again.data(), counts, displs, MPI_INT, 0,
                               this->comm_));
        EXPECT_EQ(again, this->all_blocks());
    } else {
        run(TypeParam::gatherv(mine.data(), static_cast<MPI_Count>(mine.size()), MPI_INT, nullptr, nullptr, nullptr,
                               MPI_DATATYPE_NULL, 0, this->comm_));
    }
}

TYPED_TEST(CollectivesV, ScattervHandsOutFromTheRootAndInPlace) {
    const bool is_root = this->rank_ == 0;
    const std::vector<int> all = is_root ? this->all_blocks() : std::vector<int>{};
    std::vector<int> mine(this->own_block().size(), -1);
    run(TypeParam::scatterv(is_root ? all.data() : nullptr, is_root ? this->counts_.data() : nullptr,
                            is_root ? this->displs_.data() : nullptr, MPI_INT, mine.data(),
                            static_cast<MPI_Count>(mine.size()), MPI_INT, 0, this->comm_));
    EXPECT_EQ(mine, this->own_block());
    if (is_root) {
        run(TypeParam::scatterv(all.data(), this->counts_.data(), this->displs_.data(), MPI_INT, MPI_IN_PLACE, 0,
                                MPI_DATATYPE_NULL, 0, this->comm_));
    } else {
        std::vector<int> again(mine.size(), -1);
        run(TypeParam::scatterv(nullptr, nullptr, nullptr, MPI_DATATYPE_NULL, again.data(),
                                static_cast<MPI_Count>(again.size()), MPI_INT, 0, this->comm_));
        EXPECT_EQ(again, this->own_block());
    }
}

TYPED_TEST(CollectivesV, AllgathervCollectsEverywhereAndInPlace) {
    const std::vector<int> mine = this->own_block();
    std::vector<int> all(this->n_slots(), -1);
    run(TypeParam::allgatherv(mine.data(), static_cast<MPI_Count>(mine.size()), MPI_INT, all.data(),
                              this->counts_.data(), this->displs_.data(), MPI_INT, this->comm_));
    EXPECT_EQ(all, this->all_blocks());
    std::fill(all.begin(), all.end(), -1);
    std::copy(mine.begin(), mine.end(), all.begin() + stride * (this->last() - this->rank_));
    run(TypeParam::allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), this->counts_.data(),
                              this->displs_.data(), MPI_INT, this->comm_));
    EXPECT_EQ(all, this->all_blocks());
}

// Rank r sends count_of(r) entries to each; entry i of what r sends to s is value_of(r, 100 s + i).
TYPED_TEST(CollectivesV, AlltoallvTransposesBlocksOfDifferentLengths) {
    const int mine = this->count_of(this->rank_);
    const auto slots = this->n_slots();
    std::vector<int> sent(slots, -2);
    std::vector<int> received(slots, -1);
    std::vector<int> expected(slots, -1);
    std::vector<typename TypeParam::count_type> send_counts(static_cast<std::size_t>(this->n_ranks_), mine);
    std::vector<typename TypeParam::displ_type> send_displs;
    for (int rank = 0; rank < this->n_ranks_; ++rank) {
        send_displs.push_back(stride * rank);
        for (int i = 0; i < mine; ++i) {
            sent[static_cast<std::size_t>(stride * rank + i)] = value_of(this->rank_, 100 * rank + i);
        }
        for (int i = 0; i < this->count_of(rank); ++i) {
            expected[static_cast<std::size_t>(stride * (this->last() - rank) + i)] =
                value_of(rank, 100 * this->rank_ + i);
        }
    }
    run(TypeParam::alltoallv(sent.data(), send_counts.data(), send_displs.data(), MPI_INT, received.data(),
                             this->counts_.data(), this->displs_.data(), MPI_INT, this->comm_));
    EXPECT_EQ(received, expected);
}

TYPED_TEST(CollectivesV, AlltoallvReplacesInPlace) {
    const auto size = static_cast<std::size_t>(this->n_ranks_);
    std::vector<typename TypeParam::count_type> counts(size, 1);
    std::vector<typename TypeParam::displ_type> displs;
    std::vector<int> buffer;
    for (int rank = 0; rank < this->n_ranks_; ++rank) {
        displs.push_back(this->last() - rank);
        buffer.push_back(value_of(this->rank_, this->last() - rank));
    }
    run(TypeParam::alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, buffer.data(), counts.data(),
                             displs.data(), MPI_INT, this->comm_));
    for (int rank = 0; rank < this->n_ranks_; ++rank) {
        EXPECT_EQ(buffer[static_cast<std::size_t>(this->last() - rank)], value_of(rank, this->rank_));
    }
}

// Sent as every other entry of six, received as three in a row; displacements are in bytes.
TYPED_TEST(CollectivesV, AlltoallwGivesEachPartnerATypeOfItsOwn) {
    MPI_Datatype every_other = MPI_DATATYPE_NULL;
    MPI_Datatype in_a_row = MPI_DATATYPE_NULL;
    MPI_Type_vector(3, 1, 2, MPI_INT, &every_other);
    MPI_Type_contiguous(3, MPI_INT, &in_a_row);
    MPI_Type_commit(&every_other);
    MPI_Type_commit(&in_a_row);
    const auto size = static_cast<std::size_t>(this->n_ranks_);
    std::vector<int> sent(6 * size, -2);
    std::vector<int> received(3 * size, -1);
    std::vector<int> expected(3 * size);
    std::vector<typename TypeParam::count_type> counts(size, 1);
    std::vector<typename TypeParam::displ_type> send_displs;
    std::vector<typename TypeParam::displ_type> recv_displs;
    for (int rank = 0; rank < this->n_ranks_; ++rank) {
        send_displs.push_back(static_cast<typename TypeParam::displ_type>(sizeof(int)) * 6 * rank);
        recv_displs.push_back(static_cast<typename TypeParam::displ_type>(sizeof(int)) * 3 * (this->last() - rank));
        for (int i = 0; i < 3; ++i) {
            sent[static_cast<std::size_t>(6 * rank + 2 * i)] = value_of(this->rank_, 100 * rank + i);
            expected[static_cast<std::size_t>(3 * (this->last() - rank) + i)] = value_of(rank, 100 * this->rank_ + i);
        }
    }
    const std::vector<MPI_Datatype> send_types(size, every_other);
    const std::vector<MPI_Datatype> recv_types(size, in_a_row);
    run(TypeParam::alltoallw(sent.data(), counts.data(), send_displs.data(), send_types.data(), received.data(),
                             counts.data(), recv_displs.data(), recv_types.data(), this->comm_));
    EXPECT_EQ(received, expected);
    MPI_Type_free(&every_other);
    MPI_Type_free(&in_a_row);
}

TYPED_TEST(CollectivesV, ReduceScatterGivesEachRankAsMuchAsItsCount) {
    std::vector<int> mine;
    std::vector<int> expected;
    for (int owner = 0; owner < this->n_ranks_; ++owner) {
        for (int i = 0; i < this->count_of(owner); ++i) {
            mine.push_back(value_of(this->rank_, 100 * owner + i));
            if (owner != this->rank_) continue;
            int sum = 0;
            for (int rank = 0; rank < this->n_ranks_; ++rank) sum += value_of(rank, 100 * owner + i);
            expected.push_back(sum);
        }
    }
    std::vector<int> received(expected.size(), -1);
    run(TypeParam::reduce_scatter(mine.data(), received.data(), this->counts_.data(), MPI_INT, MPI_SUM, this->comm_));
    EXPECT_EQ(received, expected);
    run(TypeParam::reduce_scatter(MPI_IN_PLACE, mine.data(), this->counts_.data(), MPI_INT, MPI_SUM, this->comm_));
    mine.resize(expected.size());
    EXPECT_EQ(mine, expected);
}

TYPED_TEST(CollectivesV, ManyAtOnceKeepTheirArraysApart) {
    constexpr std::size_t n_tasks = 16;
    const std::vector<int> mine = this->own_block();
    std::vector<std::vector<int>> all(n_tasks, std::vector<int>(this->n_slots(), -1));
    std::vector<commtask_t> tasks;
    for (std::vector<int>& into : all) {
        tasks.push_back(
            post(TypeParam::allgatherv(mine.data(), static_cast<MPI_Count>(mine.size()), MPI_INT, into.data(),
                                       this->counts_.data(), this->displs_.data(), MPI_INT, this->comm_)));
    }
    for (commtask_t& task : tasks) EXPECT_EQ(finish(task), COMMTASK_OK);
    for (const std::vector<int>& got : all) EXPECT_EQ(got, this->all_blocks());
}

} // namespace
} // namespace commtask::test
