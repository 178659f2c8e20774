// SPDX-License-Identifier: Apache-2.0
//
// mpi.lane_cores: who has the core of a lane that rests, and that a lane without a communicator has no thread. On a
// machine of four_cpus.hpp.
#include "four_cpus.hpp"
#include "lanes_fixture.hpp"
#include "patience.hpp"

#include <commtask/commtask.hpp>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace commtask::test {
namespace {

using detail::testing::all_cpus;
using detail::testing::comes_true;
using detail::testing::machine;
using detail::testing::mask;

/// Of this thread.
[[nodiscard]] mask own_mask() { return machine().mask_of(gettid()); }

/// Threads of workers, by their name.
[[nodiscard]] int n_workers() {
    int n = 0;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::getline(std::ifstream(each.path() / "comm"), name);
        if (name == "commtask") ++n;
    }
    return n;
}

/// A lane has core 3, the next one 2, and so on; the program has the rest.
class LaneCores : public Runtime {
protected:
    explicit LaneCores(int n_lanes = 2, const char* idle_s = "3600") : n_lanes_(n_lanes) {
        setenv("HWLOC_SYNTHETIC", "core:4 pu:1", 1);
        setenv("COMMTASK_LANE_IDLE_S", idle_s, 1);
    }
    ~LaneCores() override {
        unsetenv("COMMTASK_LANE_IDLE_S");
        unsetenv("HWLOC_SYNTHETIC");
    }
    [[nodiscard]] commtask_config configuration() const override {
        commtask_config settings = COMMTASK_CONFIG_INIT;
        settings.lanes = static_cast<unsigned>(n_lanes_);
        settings.verbose = COMMTASK_ZERO;
        return settings;
    }
    void SetUp() override {
        Runtime::SetUp();
        comms_ = split_lanes(comm_, n_lanes_);
    }
    void TearDown() override {
        for (MPI_Comm& each : comms_) free_on_worker(each, each);
        Runtime::TearDown();
        EXPECT_EQ(own_mask(), all_cpus);
        EXPECT_TRUE(machine().lent().empty());
    }

    std::vector<MPI_Comm> comms_;

private:
    const int n_lanes_;
};

TEST_F(LaneCores, GoToTheProgramAndToDlbWhenLanesAreSetAndComeBackForATask) {
    EXPECT_EQ(own_mask(), mask{0b0011});
    for (MPI_Comm each : comms_) run(commtask_op_noop(each));
    EXPECT_TRUE(machine().lent().empty());
    ASSERT_EQ(commtask_lanes_set(1), COMMTASK_OK);
    const auto is_lent = [] { return own_mask() == 0b0111 && machine().lent() == std::set{2}; };
    ASSERT_TRUE(comes_true(is_lent)) << "all but that of lane 0";
    const int n_before = machine().n_lent();
    run(commtask_op_noop(comms_[1]));
    ASSERT_TRUE(comes_true([&] { return machine().n_lent() > n_before && is_lent(); })) << "and again";
    ASSERT_EQ(commtask_lanes_set(2), COMMTASK_OK);
    run(commtask_op_noop(comms_[1]));
    EXPECT_EQ(own_mask(), mask{0b0011});
    EXPECT_TRUE(machine().lent().empty());
}

class IdleLaneCores : public LaneCores {
protected:
    IdleLaneCores() : LaneCores(2, "0.001") {}
};

TEST_F(IdleLaneCores, GoToTheProgramAndToDlbByThemselvesButForThatOfLane0) {
    for (int i = 0; i < 3; ++i) {
        const int n_before = machine().n_lent();
        for (MPI_Comm each : comms_) run(commtask_op_noop(each));
        ASSERT_TRUE(comes_true(
            [&] { return machine().n_lent() > n_before && own_mask() == 0b0111 && machine().lent() == std::set{2}; }));
    }
}

class LanesWithoutWork : public LaneCores {
protected:
    LanesWithoutWork() : LaneCores(3), n_before_(machine().n_lent()) {}
    void SetUp() override { Runtime::SetUp(); }

    const int n_before_; ///< Cores lent.
};

TEST_F(LanesWithoutWork, HaveNoThreadUntilTheyGetACommunicator) {
    run(commtask_op_noop(MPI_COMM_WORLD));
    EXPECT_TRUE(comes_true([] { return n_workers() == 1; }))
        << "one of another test may be listed a moment after its end";
    ASSERT_EQ(commtask_comm_set_lane(comm_, 2), COMMTASK_OK) << commtask_last_error();
    run(commtask_op_noop(comm_));
    EXPECT_EQ(n_workers(), 2) << "lane 1 has none";
}

TEST_F(LanesWithoutWork, LendTheirCoresWhenLanesAreSetUntilTheyGetACommunicator) {
    EXPECT_EQ(own_mask(), mask{0b0001});
    for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(commtask_lanes_set(1), COMMTASK_OK);
        EXPECT_EQ(own_mask(), mask{0b0111});
        EXPECT_EQ(machine().lent(), (std::set{1, 2}));
        EXPECT_EQ(machine().n_lent(), n_before_ + 2 * (i + 1)) << "said once";
        ASSERT_EQ(commtask_lanes_set(1), COMMTASK_OK);
        EXPECT_EQ(machine().n_lent(), n_before_ + 2 * (i + 1)) << "said once";
        ASSERT_EQ(commtask_lanes_set(3), COMMTASK_OK);
        EXPECT_EQ(own_mask(), mask{0b0001});
        EXPECT_TRUE(machine().lent().empty());
    }
    ASSERT_EQ(commtask_lanes_set(2), COMMTASK_OK);
    EXPECT_EQ(machine().lent(), std::set{1}) << "lane 2 has the CPU 1";
    const int n_before = machine().n_lent();
    ASSERT_EQ(commtask_comm_set_lane(comm_, 2), COMMTASK_OK) << commtask_last_error();
    run(commtask_op_noop(comm_));
    ASSERT_TRUE(comes_true([&] { return machine().n_lent() > n_before && own_mask() == 0b0011; }))
        << "by its worker now";
}

} // namespace
} // namespace commtask::test
