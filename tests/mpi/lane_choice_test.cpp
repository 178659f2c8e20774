// SPDX-License-Identifier: Apache-2.0
//
// mpi.lane_choice: what commtask_lanes_choose answers in a runtime, with a table and without, and how many lanes commtask_lanes_set
// leaves at work. The table says that four lanes are four times as fast as one, for puts not more than two, and for collectives three;
// each rank writes it for itself.
#include "lanes_fixture.hpp"

#include <commtask/commtask.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

namespace commtask::test {
namespace {

constexpr int n_lanes = 4;

class LaneChoice : public Runtime {
protected:
    [[nodiscard]] commtask_config configuration() const override {
        commtask_config settings = COMMTASK_CONFIG_INIT;
        settings.lanes = n_lanes;
        settings.verbose = COMMTASK_ZERO;
        return settings;
    }

    [[nodiscard]] static commtask_lane_choice choose(std::size_t size_bytes, std::size_t n_messages,
                                                     unsigned most_lanes = 0,
                                                     commtask_burst_kind kind = COMMTASK_BURST_MESSAGES) {
        commtask_burst burst = COMMTASK_BURST_INIT;
        commtask_lane_choice choice = COMMTASK_LANE_CHOICE_INIT;
        burst.size_bytes = size_bytes;
        burst.n_messages = n_messages;
        burst.most_lanes = most_lanes;
        burst.kind = kind;
        EXPECT_EQ(commtask_lanes_choose(&burst, &choice), COMMTASK_OK) << commtask_last_error();
        return choice;
    }
};

/// @param n_independent  more lanes than these bring nothing
[[nodiscard]] std::string costs_text(double each_ns_of_one, int n_independent) {
    std::string lanes;
    for (int n = 1; n <= n_lanes; ++n) {
        lanes += (n == 1 ? "" : ", ") + std::string{R"({"n_lanes": )"} + std::to_string(n) +
                 R"(, "first_ns": 1000, "each_ns": )" + std::to_string(each_ns_of_one / std::min(n, n_independent)) +
                 "}";
    }
    return R"("post_ns": 50, "switch_ns": 100, "round_trip_ns": 3000, "rows": [{"size_bytes": 4096, "lanes": [)" +
           lanes + "]}]";
}

[[nodiscard]] std::string table_text(double each_ns_of_one) {
    return R"({"machine": "a test", )" + costs_text(each_ns_of_one, n_lanes) + R"(, "puts": {)" +
           costs_text(each_ns_of_one, 2) + R"(}, "collectives": {)" + costs_text(each_ns_of_one, 3) + "}}";
}

/// COMMTASK_LANE_TABLE names a file with this text while one of these lives.
class table_file {
public:
    explicit table_file(const std::string& text)
        : name_(testing::TempDir() + "commtask_lane_table_" + std::to_string(getpid()) + ".json") {
        std::ofstream{name_} << text;
        setenv("COMMTASK_LANE_TABLE", name_.c_str(), 1);
    }
    table_file(const table_file&) = delete;
    table_file& operator=(const table_file&) = delete;
    ~table_file() {
        unsetenv("COMMTASK_LANE_TABLE");
        unlink(name_.c_str());
    }

private:
    std::string name_;
};

class LaneChoiceByTable : public LaneChoice {
    const table_file table_{table_text(1000)};
};

TEST_F(LaneChoiceByTable, SpreadsABurstOverAsManyLanesAsTheProgramAllows) {
    for (unsigned most = 1; most <= n_lanes + 2; ++most) {
        EXPECT_EQ(choose(8, 128, most).n_lanes, std::min<unsigned>(most, n_lanes));
    }
    EXPECT_EQ(choose(8, 1, n_lanes).n_lanes, 1U);
    EXPECT_EQ(choose(65536, 128, n_lanes).n_lanes, 1U) << "larger than the table's last row";
}

TEST_F(LaneChoiceByTable, JudgesPutsAndCollectivesByTheirOwnRows) {
    EXPECT_EQ(choose(8, 128, n_lanes, COMMTASK_BURST_PUTS).n_lanes, 2U);
    EXPECT_EQ(choose(8, 128, n_lanes, COMMTASK_BURST_COLLECTIVES).n_lanes, 3U);
}

TEST_F(LaneChoice, LeavesCollectivesThatNobodyHasMeasuredOnOneLane) {
    EXPECT_EQ(choose(4096, 128, n_lanes, COMMTASK_BURST_COLLECTIVES).n_lanes, 1U);
}

TEST_F(LaneChoiceByTable, TakesOnlyLanesWithCoresUnlessTheProgramAllowsMore) {
    commtask_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(commtask_get_info(&info), COMMTASK_OK);
    const int have_cores = info.worker_is_reserved != 0 && info.worker_cpu >= 0 ? 1 : 0;
    int all_have = 0;
    run(commtask_op_allreduce(&have_cores, &all_have, 1, MPI_INT, MPI_MIN, comm_));
    EXPECT_EQ(choose(8, 128).n_lanes, all_have != 0 ? n_lanes : 1U);
}

TEST_F(LaneChoiceByTable, SendsEachMessageToOneOfTheLanesInRows) {
    const commtask_lane_choice choice = choose(8, 64, n_lanes);
    ASSERT_EQ(choice.n_lanes, static_cast<unsigned>(n_lanes));
    ASSERT_GE(choice.in_row, 1U);
    std::array<std::size_t, n_lanes> n_messages{};
    for (std::size_t i = 0; i < 64; ++i) {
        const unsigned lane = commtask_lane_of_message(&choice, i);
        ASSERT_LT(lane, choice.n_lanes);
        EXPECT_EQ(lane, i / choice.in_row % choice.n_lanes);
        ++n_messages[lane];
    }
    for (const std::size_t n : n_messages) EXPECT_EQ(n, 64U / n_lanes);
    EXPECT_GE(choice.in_flight, 4U);
}

TEST_F(LaneChoiceByTable, CarriesABurstOverTheChosenLanes) {
    std::vector<MPI_Comm> comms = split_lanes(comm_, n_lanes);
    constexpr std::size_t n_messages = 50;
    const commtask_lane_choice choice = choose(sizeof(int), n_messages, n_lanes);
    std::vector<int> sent = values_of(rank_, n_messages);
    std::vector<int> received(n_messages, -1);
    std::vector<commtask_t> tasks;
    for (std::size_t i = 0; i < n_messages; ++i) {
        MPI_Comm on = comms[commtask_lane_of_message(&choice, i)];
        tasks.push_back(post(commtask_op_recv(&received[i], 1, MPI_INT, left(), 0, on)));
        tasks.push_back(post(commtask_op_send(&sent[i], 1, MPI_INT, right(), 0, on)));
    }
    EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
    EXPECT_EQ(received, values_of(left(), n_messages));
    for (MPI_Comm& each : comms) free_on_worker(each, each);
}

TEST_F(LaneChoiceByTable, AnswersNoMoreLanesThanAreAtWork) {
    ASSERT_EQ(commtask_lanes_set(2), COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(choose(8, 128, n_lanes).n_lanes, 2U);
    ASSERT_EQ(commtask_lanes_set(n_lanes), COMMTASK_OK);
    EXPECT_EQ(choose(8, 128, n_lanes).n_lanes, static_cast<unsigned>(n_lanes));
    for (const int wrong : {0, -1, n_lanes + 1}) {
        EXPECT_EQ(commtask_lanes_set(wrong), COMMTASK_ERR_ARGUMENT);
        EXPECT_NE(std::string{commtask_last_error()}.find("COMMTASK_LANES"), std::string::npos);
    }
}

TEST_F(LaneChoice, KeepsNewCommunicatorsOnTheLanesAtWorkAndServesTheOthersAllTheSame) {
    std::vector<MPI_Comm> comms = split_lanes(comm_, n_lanes);
    ASSERT_EQ(commtask_lanes_set(1), COMMTASK_OK);
    for (int i = 0; i < 3; ++i) {
        MPI_Comm next = MPI_COMM_NULL;
        run(commtask_op_comm_dup(&next, comm_));
        EXPECT_EQ(lane_of(next), 0);
        comms.push_back(next);
    }
    for (MPI_Comm each : comms) { // of lanes that are not at work, too
        const int sent = rank_;
        int received = -1;
        run(commtask_op_sendrecv(&sent, 1, MPI_INT, right(), 3, &received, 1, MPI_INT, left(), 3, each));
        EXPECT_EQ(received, left());
    }
    ASSERT_EQ(commtask_lanes_set(n_lanes), COMMTASK_OK);
    for (MPI_Comm& each : comms) free_on_worker(each, each);
}

TEST_F(LaneChoice, IsOneLaneWithoutATableWhereTheMpiLetsLanesTakeTurns) {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    const std::string mpi{text.data()};
    if (mpi.find("4.0") == std::string::npos && mpi.find("Open MPI") == std::string::npos) GTEST_SKIP() << mpi;
    EXPECT_EQ(choose(8, 128, n_lanes).n_lanes, 1U);
}

TEST_F(LaneChoice, RefusesWhatIsNoBurst) {
    commtask_burst burst = COMMTASK_BURST_INIT;
    commtask_lane_choice choice = COMMTASK_LANE_CHOICE_INIT;
    EXPECT_EQ(commtask_lanes_choose(&burst, &choice), COMMTASK_ERR_ARGUMENT);
    EXPECT_NE(std::string{commtask_last_error()}.find("n_messages"), std::string::npos);
    burst.n_messages = 1;
    EXPECT_EQ(commtask_lanes_choose(&burst, nullptr), COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(commtask_lanes_choose(nullptr, &choice), COMMTASK_ERR_ARGUMENT);
    burst.kind = 7;
    EXPECT_EQ(commtask_lanes_choose(&burst, &choice), COMMTASK_ERR_ARGUMENT);
    EXPECT_NE(std::string{commtask_last_error()}.find("kind"), std::string::npos);
    burst.kind = COMMTASK_BURST_PUTS;
    choice.struct_size = 0;
    EXPECT_EQ(commtask_lanes_choose(&burst, &choice), COMMTASK_ERR_ARGUMENT);
    choice = COMMTASK_LANE_CHOICE_INIT;
    EXPECT_EQ(choice.n_lanes, 0U);
    EXPECT_EQ(commtask_lanes_choose(&burst, &choice), COMMTASK_OK);
    EXPECT_EQ(choice.n_lanes, 1U);
}

/// A table of another MPI. What rank 0 says of it once, the others do not.
TEST(LaneTable, OfAnotherMpiIsWarnedOfAndUsed) {
    const table_file other{std::string{R"({"mpi": "MPICH 3.2", )"} + table_text(1000).substr(1)};
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    testing::internal::CaptureStderr();
    ASSERT_EQ(commtask_init(nullptr), COMMTASK_OK) << commtask_last_error();
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("measured with MPICH 3.2") != std::string::npos, rank == 0) << said;
    EXPECT_EQ(commtask_finalize(), COMMTASK_OK);
}

/// commtask_init with a table that is wrong here. @return what it said
[[nodiscard]] std::string refusal() {
    EXPECT_EQ(commtask_init(nullptr), COMMTASK_ERR_CONFIG);
    return commtask_last_error();
}

TEST(LaneTable, ThatCannotBeReadIsRefusedByNameOnAllRanks) {
    setenv("COMMTASK_VERBOSE", "0", 1);
    setenv("COMMTASK_LANE_TABLE", "/no/such/table.json", 1);
    EXPECT_NE(refusal().find("COMMTASK_LANE_TABLE=/no/such/table.json cannot be used: No such file"), std::string::npos)
        << commtask_last_error();
    {
        const table_file broken{"{\"machine\": 1}"};
        EXPECT_NE(refusal().find("commtask-info --calibrate"), std::string::npos) << commtask_last_error();
    }
    int rank = 0;
    int n_ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (n_ranks > 1) {
        const table_file other{table_text(rank == 0 ? 1000 : 2000)};
        EXPECT_NE(refusal().find("COMMTASK_LANE_TABLE is not set, or its file has other contents"), std::string::npos)
            << commtask_last_error();
    }
    unsetenv("COMMTASK_VERBOSE");
}

} // namespace
} // namespace commtask::test
