// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.plans: a datatype may be freed when the post that has it is recorded, as after a post that starts, whatever the
// operation; what does not count on a rank need not be a datatype.
#include "plan_fixture.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace commtask::test {
namespace {

constexpr int n_turns = 3;
constexpr std::size_t n = 6;
using numbers = std::array<int, n>;

class PlanTypes : public Runtime {
protected:
    void TearDown() override {
        Runtime::TearDown();
        for (MPI_Datatype& each : others_) EXPECT_EQ(MPI_Type_free(&each), MPI_SUCCESS);
    }
    /// Three numbers, each followed by one that stays.
    [[nodiscard]] static MPI_Datatype column() {
        MPI_Datatype made = MPI_DATATYPE_NULL;
        MPI_Type_create_resized(MPI_INT, 0, 2 * static_cast<MPI_Aint>(sizeof(int)), &made);
        MPI_Datatype all = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(3, made, &all);
        EXPECT_EQ(MPI_Type_commit(&all), MPI_SUCCESS);
        EXPECT_EQ(MPI_Type_free(&made), MPI_SUCCESS);
        return all;
    }
    /// And MPI gives handle and memory to other datatypes.
    void free(MPI_Datatype& type) {
        EXPECT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
        for (int i = 0; i < 4; ++i) {
            MPI_Type_contiguous(1, MPI_CHAR, &others_.emplace_back(MPI_DATATYPE_NULL));
            EXPECT_EQ(MPI_Type_commit(&others_.back()), MPI_SUCCESS);
        }
    }
    static void fill(numbers& buffer, int rank, int turn) {
        for (std::size_t i = 0; i < n; ++i) buffer[i] = value_of(rank, 100 * turn + static_cast<int>(i));
    }
    /// Empties what has come.
    static void expect_column(numbers& received, int rank, int turn) {
        for (std::size_t i = 0; i < n; i += 2) {
            EXPECT_EQ(received[i], value_of(rank, 100 * turn + static_cast<int>(i)));
            EXPECT_EQ(received[i + 1], -1);
        }
        received.fill(-1);
    }
    [[nodiscard]] static numbers empty() {
        numbers made{};
        made.fill(-1);
        return made;
    }

private:
    std::vector<MPI_Datatype> others_;
};

TEST_F(PlanTypes, MayBeFreedWhenAMessageOrACollectiveIsRecorded) {
    numbers mine{};
    numbers theirs = empty();
    numbers word = empty();
    std::vector<int> all(3 * static_cast<std::size_t>(n_ranks_));
    plan exchange{[&] {
        MPI_Datatype type = column();
        post_detached(commtask_op_recv(theirs.data(), 1, type, left(), 1, comm_));
        post_detached(commtask_op_send(mine.data(), 1, type, right(), 1, comm_));
        post_detached(commtask_op_bcast(rank_ == last() ? mine.data() : word.data(), 1, type, last(), comm_));
        post_detached(commtask_op_gather(mine.data(), 1, type, all.data(), 3, rank_ == 0 ? MPI_INT : MPI_DATATYPE_NULL,
                                         0, comm_));
        free(type);
    }};
    for (int turn = 0; turn < n_turns; ++turn) {
        fill(mine, rank_, turn);
        exchange.run();
        expect_column(theirs, left(), turn);
        if (rank_ != last()) expect_column(word, last(), turn);
        for (std::size_t i = 0; rank_ == 0 && i < all.size(); ++i) {
            EXPECT_EQ(all[i], value_of(static_cast<int>(i / 3), 100 * turn + 2 * static_cast<int>(i % 3)));
        }
    }
}

TEST_F(PlanTypes, CannotBeRecordedWhereACopyFunctionOfTheirAttributesRefuses) {
    const auto refuse = [](MPI_Datatype, int, void*, void*, void*, int*) -> int { return MPI_ERR_OTHER; };
    int keyval = MPI_KEYVAL_INVALID;
    ASSERT_EQ(MPI_Type_create_keyval(+refuse, MPI_TYPE_NULL_DELETE_FN, &keyval, nullptr), MPI_SUCCESS);
    MPI_Datatype type = column();
    ASSERT_EQ(MPI_Type_set_attr(type, keyval, nullptr), MPI_SUCCESS);
    numbers data = empty();
    ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
    const commtask_op send = commtask_op_send(data.data(), 1, type, MPI_PROC_NULL, 1, comm_);
    EXPECT_EQ(commtask_post_operation(&send, nullptr, nullptr), COMMTASK_ERR_TYPE);
    EXPECT_NE(std::string(commtask_last_error()).find("copy function"), std::string::npos) << commtask_last_error();
    EXPECT_EQ(commtask_record_end(nullptr), COMMTASK_OK);
    EXPECT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
    EXPECT_EQ(MPI_Type_free_keyval(&keyval), MPI_SUCCESS);
}

TEST_F(PlanTypes, MayBeFreedWithTheArraysOfACollectiveThatHasManyOfThem) {
    const auto n_ranks = static_cast<std::size_t>(n_ranks_);
    numbers mine{};
    numbers theirs = empty();
    std::vector<int> send_counts(n_ranks);
    std::vector<int> recv_counts(n_ranks);
    const std::vector<int> displs(n_ranks);
    send_counts[static_cast<std::size_t>(right())] = recv_counts[static_cast<std::size_t>(left())] = 1;
    plan exchange{[&] {
        MPI_Datatype type = column();
        std::vector<MPI_Datatype> send_types(n_ranks, MPI_DATATYPE_NULL); // nothing goes there
        std::vector<MPI_Datatype> recv_types(n_ranks, MPI_DATATYPE_NULL);
        send_types[static_cast<std::size_t>(right())] = recv_types[static_cast<std::size_t>(left())] = type;
        post_detached(commtask_op_alltoallw_int(mine.data(), send_counts.data(), displs.data(), send_types.data(),
                                                theirs.data(), recv_counts.data(), displs.data(), recv_types.data(),
                                                comm_));
        send_types.assign(n_ranks, MPI_CHAR);
        recv_types.assign(n_ranks, MPI_CHAR);
        free(type);
    }};
    for (int turn = 0; turn < n_turns; ++turn) {
        fill(mine, rank_, turn);
        exchange.run();
        expect_column(theirs, left(), turn);
    }
}

TEST_F(PlanTypes, MayBeFreedWhenManyMessagesAreRecordedAsOne) {
    constexpr std::array<int, 1> one_each{1};
    constexpr std::array<int, 1> places{0};
    const std::array<int, 1> to{right()};
    const std::array<int, 1> from{left()};
    numbers mine{};
    numbers theirs = empty();
    numbers heard = empty();
    plan exchange{[&] {
        MPI_Datatype type = column();
        post_detached(commtask_op_many_to_many_int(mine.data(), one_each.data(), places.data(), type, to.data(), 1,
                                                   theirs.data(), one_each.data(), places.data(), type, from.data(), 1,
                                                   1, comm_));
        post_detached(commtask_op_recv(heard.data(), 1, type, left(), 2, comm_));
        post_detached(commtask_op_multicast(mine.data(), 1, type, to.data(), 1, 2, comm_));
        free(type);
    }};
    for (int turn = 0; turn < n_turns; ++turn) {
        fill(mine, rank_, turn);
        exchange.run();
        expect_column(theirs, left(), turn);
        expect_column(heard, left(), turn);
    }
}

TEST_F(PlanTypes, MayBeFreedBeforeMembersAndPartitionsGetOtherBuffers) {
    std::array<numbers, 2> mine{};
    std::array<numbers, 2> theirs{empty(), empty()};
    std::array<numbers, 2> parts{empty(), empty()};
    plan exchange{[&] {
        MPI_Datatype type = column();
        post_detached(commtask_op_recv(theirs[0].data(), 1, type, left(), 1, comm_));
        post_detached(commtask_op_send(mine[0].data(), 1, type, right(), 1, comm_));
        post_detached(commtask_op_precv(parts[0].data(), 1, 1, type, left(), 2, comm_));
        post_detached(commtask_op_psend(mine[0].data(), 1, 1, type, right(), 2, comm_));
        free(type);
    }};
    for (int turn = 0; turn < n_turns; ++turn) {
        const auto which = static_cast<std::size_t>(turn % 2);
        for (const std::size_t member : {1U, 3U}) {
            EXPECT_EQ(commtask_plan_rebind(exchange.get(), member, mine[which].data(), nullptr), COMMTASK_OK);
        }
        EXPECT_EQ(commtask_plan_rebind(exchange.get(), 0, nullptr, theirs[which].data()), COMMTASK_OK);
        EXPECT_EQ(commtask_plan_rebind(exchange.get(), 2, nullptr, parts[which].data()), COMMTASK_OK);
        fill(mine[which], rank_, turn);
        EXPECT_EQ(commtask_plan_pready_range(exchange.get(), 3, 0, 1), COMMTASK_OK);
        exchange.run();
        expect_column(theirs[which], left(), turn);
        expect_column(parts[which], left(), turn);
    }
}

} // namespace
} // namespace commtask::test
