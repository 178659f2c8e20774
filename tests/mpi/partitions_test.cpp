// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.plans: buffers in partitions. They go as they are filled, whoever fills them and in whatever order; the sides may
// have different numbers of them; and what comes early is seen early.
#include "mpi_facts.hpp"
#include "plan_fixture.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace commtask::test {
namespace {

class Partitions : public Runtime {
protected:
    /// Receive from the left and send to the right: members 0 and 1.
    [[nodiscard]] auto ring(std::vector<double>& in, int n_in, const std::vector<double>& out, int n_out) {
        return [this, &in, n_in, &out, n_out] {
            const auto n = static_cast<MPI_Count>(out.size());
            post_detached(commtask_op_precv(in.data(), n_in, n / n_in, MPI_DOUBLE, left(), 3, comm_));
            post_detached(commtask_op_psend(out.data(), n_out, n / n_out, MPI_DOUBLE, right(), 3, comm_));
        };
    }
    static void fill(std::vector<double>& out, int n_partitions, int partition, double value) {
        const std::size_t each = out.size() / static_cast<std::size_t>(n_partitions);
        const auto begin = out.begin() + static_cast<std::ptrdiff_t>(each * static_cast<std::size_t>(partition));
        std::iota(begin, begin + static_cast<std::ptrdiff_t>(each), value + static_cast<double>(begin - out.begin()));
    }
    static void expect(const std::vector<double>& in, double value) {
        for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(in[i], value + static_cast<double>(i)) << "at " << i;
    }
    static void refuse(int code, const char* word, int answer) {
        EXPECT_EQ(answer, code);
        EXPECT_NE(std::string(commtask_last_error()).find(word), std::string::npos) << commtask_last_error();
    }
};

TEST_F(Partitions, OfAnyNumberOnEitherSideCarryTheWholeBuffer) {
    std::mt19937 dice{17U};
    constexpr std::array<std::pair<int, int>, 6> numbers{{{1, 1}, {1, 12}, {12, 1}, {4, 6}, {120, 8}, {5, 240}}};
    for (const std::size_t size : {std::size_t{240}, std::size_t{240 * 1500}}) { // one message; 32 messages
        for (const auto& [n_in, n_out] : numbers) {
            std::vector<double> in(size, -1);
            std::vector<double> out(size, -1);
            plan exchange{ring(in, n_in, out, n_out)};
            EXPECT_EQ(commtask_plan_size(exchange.get()), 2U);
            std::vector<int> order(static_cast<std::size_t>(n_out));
            std::iota(order.begin(), order.end(), 0);
            for (int turn = 0; turn < 3; ++turn) {
                std::shuffle(order.begin(), order.end(), dice);
                const auto fill_some = [&](std::size_t first) {
                    for (std::size_t i = first; i < order.size(); i += 2) {
                        fill(out, n_out, order[i], 1e7 * (turn + 1) * (rank_ + 1));
                        EXPECT_EQ(commtask_plan_pready_range(exchange.get(), 1, order[i], 1), COMMTASK_OK)
                            << commtask_last_error();
                    }
                };
                commtask_t run = COMMTASK_NULL;
                if (turn == 1) { // before the start, too
                    fill_some(0);
                    run = exchange.start();
                    fill_some(1);
                } else {
                    run = exchange.start();
                    std::thread other{[&] { fill_some(0); }};
                    fill_some(1);
                    other.join();
                }
                commtask_status status = COMMTASK_STATUS_INIT;
                commtask_t received = exchange.member(0);
                EXPECT_EQ(finish(received, &status), COMMTASK_OK);
                EXPECT_EQ(status.bytes, static_cast<MPI_Count>(size * sizeof(double)));
                EXPECT_EQ(status.source, left());
                EXPECT_EQ(status.tag, 3);
                for (int i = 0; i < n_in; ++i) EXPECT_EQ(commtask_plan_parrived(exchange.get(), 0, i), 1);
                expect(in, 1e7 * (turn + 1) * (left() + 1));
                EXPECT_EQ(finish(run), COMMTASK_OK);
            }
        }
    }
}

TEST_F(Partitions, ThatAreFilledEarlyComeEarly) {
    // 32 partitions of a message each; none is filled before the one before it has come.
    constexpr int n = 32;
    std::vector<double> in(n * 10'000, -1);
    std::vector<double> out(n * 10'000, -1);
    plan exchange{ring(in, n, out, n)};
    for (int turn = 0; turn < 2; ++turn) {
        commtask_t run_of_plan = exchange.start();
        for (int i = 0; i < n; ++i) {
            const int partition = 11 * i % n;
            EXPECT_EQ(commtask_plan_parrived(exchange.get(), 1, partition), 0);
            fill(out, n, partition, rank_ + turn);
            EXPECT_EQ(commtask_plan_pready_range(exchange.get(), 1, partition, 1), COMMTASK_OK);
            while (commtask_plan_parrived(exchange.get(), 0, partition) != 1) std::this_thread::yield();
            EXPECT_EQ(in[static_cast<std::size_t>(partition) * 10'000], left() + turn + partition * 10'000.0);
        }
        EXPECT_EQ(finish(run_of_plan), COMMTASK_OK);
        expect(in, left() + turn);
    }
}

TEST_F(Partitions, TellOfTheirMemberOnce) {
    std::vector<double> in(100'000);
    std::vector<double> out(100'000);
    std::array<int, 4> n_ends{};
    bool waited = false;
    plan exchange{[&] {
        commtask_t before = post(commtask_op_noop(comm_));
        options later;
        later.after({before});
        post_detached(commtask_op_precv(in.data(), 10, 10'000, MPI_DOUBLE, left(), 3, comm_), later.get());
        commtask_t sent = post(commtask_op_psend(out.data(), 10, 10'000, MPI_DOUBLE, right(), 3, comm_), later);
        options last;
        last.after({sent}).call([](const commtask_status*, void* flag) { *static_cast<bool*>(flag) = true; }, &waited);
        post_detached(commtask_op_noop(comm_), last.get());
        EXPECT_EQ(commtask_release(&before), COMMTASK_OK);
        EXPECT_EQ(commtask_release(&sent), COMMTASK_OK);
    }};
    const auto count = [](std::size_t member, const commtask_status*, void* ends) {
        ++(*static_cast<std::array<int, 4>*>(ends))[member];
    };
    EXPECT_EQ(commtask_plan_on_member(exchange.get(), +count, &n_ends), COMMTASK_OK);
    for (int turn = 1; turn <= 3; ++turn) {
        waited = false;
        EXPECT_EQ(commtask_plan_pready_range(exchange.get(), 2, 0, 10), COMMTASK_OK);
        exchange.run();
        EXPECT_TRUE(waited);
        EXPECT_EQ(n_ends, (std::array{turn, turn, turn, turn}));
    }
}

TEST_F(Partitions, TakeOtherBuffersAndTypesWithGaps) {
    constexpr int n = 60;
    MPI_Datatype pairs = MPI_DATATYPE_NULL; // the first of each two
    MPI_Type_create_resized(MPI_DOUBLE, 0, 2 * static_cast<MPI_Aint>(sizeof(double)), &pairs);
    MPI_Type_commit(&pairs);
    std::array<std::vector<double>, 2> out;
    std::array<std::vector<double>, 2> in;
    for (std::size_t i = 0; i < 2; ++i) {
        out[i].assign(std::size_t{2} * n * 1000, -5);
        in[i].assign(std::size_t{2} * n * 1000, -1);
    }
    {
        plan exchange{[&] {
            post_detached(commtask_op_precv(in[0].data(), 20, 3 * 1000, pairs, left(), 3, comm_));
            post_detached(commtask_op_psend(out[0].data(), 12, 5 * 1000, pairs, right(), 3, comm_));
        }};
        for (std::size_t turn = 0; turn < 4; ++turn) {
            std::vector<double>& from = out[turn % 2];
            std::vector<double>& into = in[turn % 2];
            EXPECT_EQ(commtask_plan_rebind(exchange.get(), 0, nullptr, into.data()), COMMTASK_OK);
            EXPECT_EQ(commtask_plan_rebind(exchange.get(), 1, from.data(), nullptr), COMMTASK_OK);
            for (std::size_t i = 0; i < from.size(); i += 2) from[i] = static_cast<double>(i + turn) + rank_;
            EXPECT_EQ(commtask_plan_pready_range(exchange.get(), 1, 0, 12), COMMTASK_OK);
            exchange.run();
            for (std::size_t i = 0; i < into.size(); i += 2) {
                ASSERT_EQ(into[i], static_cast<double>(i + turn) + left());
                ASSERT_EQ(into[i + 1], -1.0);
            }
        }
    }
    MPI_Type_free(&pairs);
}

TEST_F(Partitions, OfACanceledRunAreForgottenByTheNext) {
    std::vector<double> in(80'000, -1);
    std::vector<double> out(80'000, -1);
    plan exchange{[&] { // to itself, so that the ranks need not cancel together
        post_detached(commtask_op_precv(in.data(), 8, 10'000, MPI_DOUBLE, rank_, 3, comm_));
        post_detached(commtask_op_psend(out.data(), 8, 10'000, MPI_DOUBLE, rank_, 3, comm_));
    }};
    commtask_t first = exchange.start();
    run(commtask_op_noop(comm_));
    EXPECT_EQ(commtask_cancel(first), COMMTASK_OK);
    EXPECT_EQ(finish(first), COMMTASK_CANCELED);
    for (int turn = 0; turn < 2; ++turn) {
        commtask_t next = exchange.start();
        for (int i = 0; i < 8; ++i) {
            fill(out, 8, i, turn);
            EXPECT_EQ(commtask_plan_pready_range(exchange.get(), 1, i, 1), COMMTASK_OK) << commtask_last_error();
        }
        EXPECT_EQ(finish(next), COMMTASK_OK);
        expect(in, turn);
    }
}

TEST_F(Partitions, OfDifferentSizesFailAndLeaveNothingBehind) {
    if (!sees_truncation(1))
        GTEST_SKIP() << "Open MPI 4.1 does not survive MPI_Cancel behind a message to oneself that was too long";
    std::vector<double> in(80'000, -1);
    std::vector<double> out(40'000, 1);
    commtask_status status = COMMTASK_STATUS_INIT;
    {
        plan wrong{[&] {
            post_detached(commtask_op_precv(in.data(), 8, 10'000, MPI_DOUBLE, rank_, 3, comm_));
            post_detached(commtask_op_psend(out.data(), 8, 5'000, MPI_DOUBLE, rank_, 3, comm_));
        }};
        EXPECT_EQ(commtask_plan_pready_range(wrong.get(), 1, 0, 8), COMMTASK_OK);
        commtask_t run_of_plan = wrong.start();
        commtask_t received = COMMTASK_NULL;
        EXPECT_EQ(commtask_plan_member(wrong.get(), 0, &received), COMMTASK_OK);
        EXPECT_EQ(finish(received, &status), COMMTASK_FAILED) << "the sides have cut differently";
        EXPECT_NE(status.error_class, MPI_SUCCESS);
        EXPECT_EQ(finish(run_of_plan), COMMTASK_FAILED);
    }
}

TEST_F(Partitions, OfDifferentSizesFailBetweenRanksToo) {
    // One message each, so that nothing has to be withdrawn: first less is sent than there is room for, then more.
    std::vector<double> in(80, -1);
    const std::vector<double> out(120, 1);
    for (const int per_partition : {5, 15}) {
        if (per_partition == 15 && !sees_truncation(n_ranks_)) continue;
        plan wrong{[&] {
            post_detached(commtask_op_precv(in.data(), 8, 10, MPI_DOUBLE, left(), 3, comm_));
            post_detached(commtask_op_psend(out.data(), 8, per_partition, MPI_DOUBLE, right(), 3, comm_));
        }};
        EXPECT_EQ(commtask_plan_pready_range(wrong.get(), 1, 0, 8), COMMTASK_OK);
        commtask_t run_of_plan = wrong.start();
        commtask_t received = wrong.member(0);
        commtask_status status = COMMTASK_STATUS_INIT;
        EXPECT_EQ(finish(received, &status), COMMTASK_FAILED);
        EXPECT_EQ(status.error_class, per_partition == 5 ? MPI_ERR_COUNT : MPI_ERR_TRUNCATE);
        EXPECT_EQ(finish(run_of_plan), COMMTASK_FAILED);
    }
}

TEST_F(Partitions, AreRefusedWithTheReason) {
    double value[8] = {};
    const auto post_fails = [&](const commtask_op& op, const commtask_options* how, int code, const char* word) {
        refuse(code, word, commtask_post_operation(&op, how, nullptr));
    };
    int upper = 0;
    commtask_info info = COMMTASK_INIT_(commtask_info);
    EXPECT_EQ(commtask_get_info(&info), COMMTASK_OK);
    upper = info.tag_upper_bound;
    options ordered;
    ordered.flags(COMMTASK_ORDERED);
    plan exchange{[&] {
        post_fails(commtask_op_psend(value, 0, 1, MPI_DOUBLE, rank_, 1, comm_), nullptr, COMMTASK_ERR_COUNT,
                   "n_partitions");
        post_fails(commtask_op_precv(value, 2, -1, MPI_DOUBLE, rank_, 1, comm_), nullptr, COMMTASK_ERR_COUNT,
                   "recv count");
        post_fails(commtask_op_precv(value, 2, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 1, comm_), nullptr, COMMTASK_ERR_RANK,
                   "source");
        post_fails(commtask_op_psend(value, 4, (1LL << 62) + 1, MPI_DOUBLE, rank_, 1, comm_), nullptr,
                   COMMTASK_ERR_COUNT, "4611686018427387905");
        post_fails(commtask_op_psend(value, 2, 1, MPI_DOUBLE, rank_, upper, comm_), nullptr, COMMTASK_ERR_TAG, "tag");
        post_fails(commtask_op_psend(value, 2, 1, MPI_DOUBLE, rank_, 1, comm_), ordered.get(), COMMTASK_ERR_ARGUMENT,
                   "COMMTASK_ORDERED");
        post_detached(commtask_op_precv(value, 2, 1, MPI_DOUBLE, rank_, 1, comm_));
        post_detached(commtask_op_psend(value + 4, 4, 1, MPI_DOUBLE, MPI_PROC_NULL, 1, comm_));
        post_fails(commtask_op_precv(value, 4, 1, MPI_DOUBLE, rank_, 1, comm_), nullptr, COMMTASK_ERR_TAG,
                   "another tag");
        post_detached(commtask_op_noop(comm_));
    }};
    commtask_plan_t raw = exchange.get();
    refuse(COMMTASK_ERR_ARGUMENT, "has 4", commtask_plan_pready_range(raw, 1, 4, 1));
    refuse(COMMTASK_ERR_ARGUMENT, "has 4", commtask_plan_pready_range(raw, 1, 2, 3));
    refuse(COMMTASK_ERR_ARGUMENT, "has 4", commtask_plan_pready_range(raw, 1, -1, 1));
    refuse(COMMTASK_ERR_ARGUMENT, "precv", commtask_plan_pready_range(raw, 0, 0, 1));
    refuse(COMMTASK_ERR_ARGUMENT, "not partitioned", commtask_plan_pready_range(raw, 2, 0, 1));
    refuse(COMMTASK_ERR_ARGUMENT, "member is 3", commtask_plan_pready_range(raw, 3, 0, 1));
    refuse(COMMTASK_ERR_ARGUMENT, "has 2", commtask_plan_parrived(raw, 0, 2));
    refuse(COMMTASK_ERR_ARGUMENT, "is partitioned", commtask_plan_defer(raw, 1));
    refuse(COMMTASK_ERR_ARGUMENT, "is partitioned", commtask_plan_defer(raw, 0));
    refuse(COMMTASK_ERR_ARGUMENT, "not deferred", commtask_plan_pready(raw, 1));
    EXPECT_EQ(commtask_plan_pready_range(raw, 1, 1, 2), COMMTASK_OK);
    refuse(COMMTASK_ERR_ARGUMENT, "before in this run", commtask_plan_pready_range(raw, 1, 0, 4));
    EXPECT_EQ(commtask_plan_parrived(raw, 0, 0), 0) << "it was never started";
    commtask_t run_of_plan = exchange.start();
    EXPECT_EQ(commtask_cancel(run_of_plan), COMMTASK_OK); // its receives have nobody who sends
    static_cast<void>(finish(run_of_plan));
}

} // namespace
} // namespace commtask::test
