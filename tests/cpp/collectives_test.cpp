// SPDX-License-Identifier: Apache-2.0
//
// The collectives through the C++ face: each arrives as the one that it is named after, with counts from its ranges. Both
// forms of count arrays are posted. Neighbour collectives run on a ring, where each rank has two neighbours.
#include "cpp_front_end.hpp"

#include <array>
#include <numeric>
#include <span>

namespace commtask::test {
namespace {

class CppCollectives : public CppFace {
protected:
    void SetUp() override {
        CppFace::SetUp();
        const int periodic = 1;
        ASSERT_EQ(MPI_Cart_create(comm_, 1, &n_ranks_, &periodic, 0, &ring_), MPI_SUCCESS);
    }
    void TearDown() override {
        run(call([this] { return MPI_Comm_free(&ring_); }, ring_));
        CppFace::TearDown();
    }
    /// How many ranks came before rank `r` in a triangle of blocks of 1, 2, 3, ... elements.
    template <typename Count>
    [[nodiscard]] std::vector<Count> block_counts() const {
        std::vector<Count> counts(size());
        std::iota(counts.begin(), counts.end(), Count{1});
        return counts;
    }
    template <typename Displ, typename Count>
    [[nodiscard]] static std::vector<Displ> displs_of(const std::vector<Count>& counts) {
        std::vector<Displ> displs(counts.size());
        Displ next = 0;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            displs[i] = next;
            next += static_cast<Displ>(counts[i]);
        }
        return displs;
    }
    /// Block r holds r + 1 times the value r.
    [[nodiscard]] std::vector<int> all_blocks() const {
        std::vector<int> all;
        for (int r = 0; r < n_ranks_; ++r) all.insert(all.end(), static_cast<std::size_t>(r) + 1, r);
        return all;
    }
    [[nodiscard]] std::vector<int> my_block() const {
        return std::vector<int>(static_cast<std::size_t>(rank_) + 1, rank_);
    }

    MPI_Comm ring_ = MPI_COMM_NULL;
};

TEST_F(CppCollectives, BcastGatherAndScatterTakeTheirCountsFromTheRanges) {
    std::array<int, 2> word{rank_ == 0 ? 5 : -1, rank_ == 0 ? 6 : -1};
    run(bcast(word, 0, comm_));
    EXPECT_EQ(word, (std::array{5, 6}));

    const std::array<int, 2> mine{rank_, 10 * rank_};
    std::vector<int> all(rank_ == 0 ? 2 * size() : 0);
    run(gather(mine, all, 0, comm_));
    if (rank_ == 0) {
        EXPECT_EQ(all[2 * size() - 1], 10 * (n_ranks_ - 1));
    }
    std::array<int, 2> back{-1, -1};
    run(scatter(all, back, 0, comm_));
    EXPECT_EQ(back, mine);
}

TEST_F(CppCollectives, EverybodyGathersAndExchangesBlocks) {
    const std::array<long, 2> mine{rank_, -rank_};
    std::vector<long> all(2 * size());
    run(allgather(mine, all, comm_));
    for (int r = 0; r < n_ranks_; ++r) EXPECT_EQ(all[2 * static_cast<std::size_t>(r) + 1], -r);

    std::vector<int> out(size());
    for (int r = 0; r < n_ranks_; ++r) out[static_cast<std::size_t>(r)] = 100 * rank_ + r;
    std::vector<int> in(size());
    run(alltoall(out, in, 1, comm_));
    for (int r = 0; r < n_ranks_; ++r) EXPECT_EQ(in[static_cast<std::size_t>(r)], 100 * r + rank_);
}

TEST_F(CppCollectives, NeighboursOnARing) {
    const int mine = rank_;
    std::array<int, 2> from{-1, -1};
    run(neighbor_allgather(one(mine), from, ring_));
    EXPECT_EQ(from, (std::array{left(), right()}));

    const std::array<int, 2> to{10 * rank_, 10 * rank_ + 1};
    run(neighbor_alltoall(to, from, 1, ring_));
    // With one or two ranks both neighbours are the same, and MPI-3.1 leaves open which block meets which.
    if (n_ranks_ > 2) {
        EXPECT_EQ(from, (std::array{10 * left() + 1, 10 * right()}));
    }
}

TEST_F(CppCollectives, ReductionsWithTwoBuffersAndInPlace) {
    const std::array<double, 2> mine{1.0, static_cast<double>(rank_)};
    const double sum_of_ranks = 0.5 * n_ranks_ * (n_ranks_ - 1);
    std::array<double, 2> result{};
    run(allreduce(mine, result, MPI_SUM, comm_));
    EXPECT_EQ(result[1], sum_of_ranks);
    std::array<double, 2> both = mine;
    run(allreduce(in_place, both, MPI_SUM, comm_));
    EXPECT_EQ(both, result);

    std::vector<double> at_root(rank_ == 0 ? 2 : 0);
    run(reduce(mine, at_root, MPI_SUM, 0, comm_));
    if (rank_ == 0) {
        EXPECT_EQ(at_root[1], sum_of_ranks);
    }
    std::vector<double> nothing;
    both = mine;
    run(rank_ == 0 ? reduce(in_place, both, MPI_SUM, 0, comm_) : reduce(mine, nothing, MPI_SUM, 0, comm_));
    if (rank_ == 0) {
        EXPECT_EQ(both[1], sum_of_ranks);
    }

    int prefix = -1;
    const int one_each = 1;
    run(scan(one(one_each), one(prefix), MPI_SUM, comm_));
    EXPECT_EQ(prefix, rank_ + 1);
    prefix = 1;
    run(scan(in_place, one(prefix), MPI_SUM, comm_));
    EXPECT_EQ(prefix, rank_ + 1);
    prefix = 0;
    run(exscan(one(one_each), one(prefix), MPI_SUM, comm_));
    EXPECT_EQ(prefix, rank_);
    prefix = 1;
    run(exscan(in_place, one(prefix), MPI_SUM, comm_));
    EXPECT_EQ(prefix, rank_ == 0 ? 1 : rank_);
}

TEST_F(CppCollectives, ReduceScatterInEqualAndUnequalBlocks) {
    const std::vector<int> ones(2 * size(), 1);
    std::array<int, 2> block{};
    run(reduce_scatter_block(ones, block, MPI_SUM, comm_));
    EXPECT_EQ(block, (std::array{n_ranks_, n_ranks_}));

    const auto counts = block_counts<int>();
    const auto large = block_counts<MPI_Count>();
    const std::vector<int> all = all_blocks();
    std::vector<int> mine(my_block().size());
    run(reduce_scatter(all, mine, counts, MPI_SUM, comm_));
    EXPECT_EQ(mine.back(), n_ranks_ * rank_);
    run(reduce_scatter(all, mine, large, MPI_MAX, comm_));
    EXPECT_EQ(mine.back(), rank_);
}

template <typename Forms>
class CppCountArrays : public CppCollectives {};
struct int_form {
    using count = int;
    using displ = int;
};
struct large_form {
    using count = MPI_Count;
    using displ = MPI_Aint;
};
using forms = testing::Types<int_form, large_form>;
TYPED_TEST_SUITE(CppCountArrays, forms);

TYPED_TEST(CppCountArrays, GathervScattervAndAllgatherv) {
    const auto counts = this->template block_counts<typename TypeParam::count>();
    const auto displs = this->template displs_of<typename TypeParam::displ>(counts);
    const std::vector<int> mine = this->my_block();
    std::vector<int> all(this->all_blocks().size(), -1);
    run(gatherv(mine, all, counts, displs, 0, this->comm_));
    if (this->rank_ == 0) {
        EXPECT_EQ(all, this->all_blocks());
    }
    std::vector<int> back(mine.size(), -1);
    run(scatterv(all, counts, displs, back, 0, this->comm_));
    EXPECT_EQ(back, mine);
    std::vector<int> everything(all.size(), -1);
    run(allgatherv(mine, everything, counts, displs, this->comm_));
    EXPECT_EQ(everything, this->all_blocks());
}

TYPED_TEST(CppCountArrays, AlltoallvAndAlltoallw) {
    using count = typename TypeParam::count;
    using displ = typename TypeParam::displ;
    // Rank r sends every rank a block of r + 1 elements.
    const std::vector<int> sent(this->size() * this->my_block().size(), this->rank_);
    const std::vector<count> send_counts(this->size(), static_cast<count>(this->rank_ + 1));
    const auto send_displs = this->template displs_of<displ>(send_counts);
    const auto recv_counts = this->template block_counts<count>();
    const auto recv_displs = this->template displs_of<displ>(recv_counts);
    std::vector<int> received(this->all_blocks().size(), -1);
    run(alltoallv(sent, send_counts, send_displs, received, recv_counts, recv_displs, this->comm_));
    EXPECT_EQ(received, this->all_blocks());

    const auto in_bytes = [](std::vector<displ> displs) {
        for (displ& each : displs) each *= static_cast<displ>(sizeof(int));
        return displs;
    };
    const auto send_bytes = in_bytes(send_displs);
    const auto recv_bytes = in_bytes(recv_displs);
    const std::vector<MPI_Datatype> types(this->size(), MPI_INT);
    std::fill(received.begin(), received.end(), -1);
    run(alltoallw(sent.data(), send_counts, send_bytes, types, received.data(), recv_counts, recv_bytes, types,
                  this->comm_));
    EXPECT_EQ(received, this->all_blocks());
}

TYPED_TEST(CppCountArrays, NeighboursWithCounts) {
    using count = typename TypeParam::count;
    using displ = typename TypeParam::displ;
    const std::array<count, 2> counts{1, 1};
    const std::array<displ, 2> displs{1, 0}; // the right neighbour's block comes first
    const int mine = this->rank_;
    std::array<int, 2> from{-1, -1};
    run(neighbor_allgatherv(one(mine), from, counts, displs, this->ring_));
    EXPECT_EQ(from, (std::array{this->right(), this->left()}));

    const std::array<int, 2> to{this->rank_, this->rank_};
    from = {-1, -1};
    run(neighbor_alltoallv(to, counts, displs, from, counts, displs, this->ring_));
    EXPECT_EQ(from, (std::array{this->right(), this->left()}));

    const std::array<MPI_Aint, 2> bytes{static_cast<MPI_Aint>(sizeof(int)), 0};
    const std::array<MPI_Datatype, 2> types{MPI_INT, MPI_INT};
    from = {-1, -1};
    run(neighbor_alltoallw(to.data(), counts, bytes, types, from.data(), counts, bytes, types, this->ring_));
    EXPECT_EQ(from, (std::array{this->right(), this->left()}));
}

TEST_F(CppCollectives, RangesOfTheWrongLengthAreRefusedWhenTheOperationIsMade) {
    const std::array<int, 3> three{};
    std::array<int, 4> four{};
    const auto refused = [](auto&& make) { return code_of([&] { static_cast<void>(make()); }); };
    EXPECT_EQ(refused([&] { return allreduce(three, four, MPI_SUM, comm_); }), COMMTASK_ERR_COUNT);
    EXPECT_EQ(refused([&] { return allgather(three, four, comm_); }), COMMTASK_ERR_COUNT);
    EXPECT_EQ(refused([&] { return alltoall(four, four, 3, comm_); }), COMMTASK_ERR_COUNT);
    EXPECT_EQ(refused([&] { return reduce_scatter_block(three, four, MPI_SUM, comm_); }), COMMTASK_ERR_COUNT);
    EXPECT_EQ(refused([&] { return allreduce(elements(four.data(), 4, MPI_FLOAT), four, MPI_SUM, comm_); }),
              COMMTASK_ERR_TYPE);
}

} // namespace
} // namespace commtask::test
