// SPDX-License-Identifier: Apache-2.0
//
// Many messages by one call in the C++ face: lists of ranks as ranges, partitions of a buffer, and standing receives whose messages are
// looked at or moved away.
#include "cpp_front_end.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <numeric>
#include <vector>

namespace commtask::test {
namespace {

class CppMany : public CppFace {};

TEST_F(CppMany, GoToAListOfRanks) {
    std::vector<int> everyone(static_cast<std::size_t>(n_ranks_));
    std::iota(everyone.begin(), everyone.end(), 0);
    const std::array<int, 2> mine{rank_, 5};
    std::vector<std::array<int, 2>> theirs(everyone.size());
    std::vector<task> receives;
    for (const int source : everyone) {
        receives.push_back(post(recv(theirs[static_cast<std::size_t>(source)], source, 1, comm_)));
    }
    run(multicast(mine, everyone, 1, comm_));
    for (task& each : receives) EXPECT_TRUE(finish(each).is_completed());
    for (const int source : everyone) EXPECT_EQ(theirs[static_cast<std::size_t>(source)], (std::array{source, 5}));
}

TEST_F(CppMany, AreBlocksToAndFromLists) {
    const std::array<int, 2> dests{right(), left()};
    const std::array<int, 2> sources{left(), right()};
    const std::array<double, 3> mine{1.0 * rank_, 2, 3};
    std::array<double, 3> theirs{};
    const std::array<int, 2> counts{2, 1};
    const std::array<int, 2> displs{0, 2};
    const outcome ended =
        carry_out(many_to_many(mine, counts, displs, dests, theirs, counts, displs, sources, 1, comm_));
    EXPECT_EQ(ended.status().size_bytes(), static_cast<MPI_Count>(3 * sizeof(double)));
    EXPECT_EQ(theirs, (std::array{1.0 * left(), 2.0, 3.0}));
    theirs = {};
    const std::array<MPI_Count, 2> large_counts{2, 1};
    const std::array<MPI_Aint, 2> large_displs{0, 2};
    run(many_to_many(mine, large_counts, large_displs, dests, theirs, large_counts, large_displs, sources, 2, comm_));
    EXPECT_EQ(theirs, (std::array{1.0 * left(), 2.0, 3.0}));
}

TEST_F(CppMany, LeaveInPartitions) {
    std::vector<double> mine(60'000);
    std::vector<double> theirs(60'000);
    plan ring{[&] {
        post_detached(precv(theirs, 3, left(), 1, comm_));
        post_detached(psend(mine, 5, right(), 1, comm_));
    }};
    for (int turn = 0; turn < 3; ++turn) {
        std::fill(mine.begin(), mine.end(), rank_ + turn);
        task whole = ring.start();
        ring.pready_range(1, 2, 3);
        ring.pready_range(1, 0);
        EXPECT_FALSE(ring.parrived(1, 1));
        ring.pready_range(1, 1);
        EXPECT_TRUE(finish(whole).is_completed());
        for (int i = 0; i < 3; ++i) EXPECT_TRUE(ring.parrived(0, i));
        EXPECT_EQ(theirs, std::vector<double>(60'000, left() + turn));
    }
    EXPECT_EQ(code_of([&] { ring.pready_range(1, 5); }), COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(code_of([&] { static_cast<void>(ring.parrived(1, -2)); }), COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(code_of([&] { static_cast<void>(psend(mine, 7, right(), 1, comm_)); }), COMMTASK_ERR_COUNT);
}

TEST_F(CppMany, ComeToAStandingReceiveThatLooksOrKeeps) {
    constexpr int n_messages = 30;
    std::mutex mutex;
    std::vector<message> kept;
    std::atomic<int> n_seen{0};
    int n_wrong = 0;
    {
        listener all;
        EXPECT_FALSE(all);
        // One in three is kept: ten of each rank at the end.
        all = listener{comm_, 1, 2 * sizeof(int), static_cast<std::size_t>(10 * n_ranks_ + 2), [&](message& come) {
                           if (!come.is_good() || come.bytes().size() != 2 * sizeof(int) || come.tag() != 1 ||
                               come.as<int>()[0] != come.source()) {
                               ++n_wrong;
                           }
                           if (come.as<int>()[1] % 3 == 0) {
                               const std::lock_guard guard{mutex};
                               kept.push_back(std::move(come));
                           }
                           ++n_seen;
                       }};
        EXPECT_TRUE(all);
        std::vector<int> everyone(static_cast<std::size_t>(n_ranks_));
        std::iota(everyone.begin(), everyone.end(), 0);
        std::array<std::array<int, 2>, n_messages> sent{};
        for (int i = 0; i < n_messages; ++i) {
            sent[static_cast<std::size_t>(i)] = {rank_, i};
            run(multicast(sent[static_cast<std::size_t>(i)], everyone, 1, comm_));
        }
        run(barrier(comm_)); // all were sent; they may still be on their way
        while (n_seen < n_messages * n_ranks_) run(noop(comm_));
        all.stop();
        EXPECT_FALSE(all);
    }
    EXPECT_EQ(n_wrong, 0);
    ASSERT_EQ(kept.size(), static_cast<std::size_t>(10 * n_ranks_));
    for (const message& each : kept) EXPECT_EQ(each.as<int>()[0], each.source()) << "kept beyond the listener";
    kept.clear();
    EXPECT_EQ(code_of([&] { const listener none{comm_, 1, 4, 0, [](message&) {}}; }), COMMTASK_ERR_ARGUMENT);
}

} // namespace
} // namespace commtask::test
