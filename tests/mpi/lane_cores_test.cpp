// SPDX-License-Identifier: Apache-2.0
//
// mpi.lane_cores: who has the core of a lane that rests, and that a lane without a communicator has no thread. This program stands
// in for the kernel's CPU masks and for hwloc's machine, which has four cores here whatever there is, and for the library DLB.
#include "lanes_fixture.hpp"
#include "patience.hpp"

#include <commtask/commtask.hpp>

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace {

using mask = unsigned long; ///< Of the CPUs 0 to 3, the lowest bit first.
constexpr mask all_cpus = 0b1111;

/// What the library asks of the kernel and of DLB, from any thread.
class fake_machine {
public:
    [[nodiscard]] mask mask_of(int thread) {
        const std::lock_guard guard{mutex_};
        const auto found = masks_.find(thread);
        return found == masks_.end() ? all_cpus : found->second;
    }
    void set_mask(int thread, mask cpus) {
        const std::lock_guard guard{mutex_};
        masks_[thread] = cpus;
    }
    int lend(int cpu, bool is_lent) {
        const std::lock_guard guard{mutex_};
        if (is_lent) {
            lent_.insert(cpu);
            ++n_lent_;
        } else {
            lent_.erase(cpu);
        }
        return 0;
    }
    [[nodiscard]] std::set<int> lent() {
        const std::lock_guard guard{mutex_};
        return lent_;
    }
    [[nodiscard]] int n_lent() {
        const std::lock_guard guard{mutex_};
        return n_lent_;
    }

private:
    std::mutex mutex_;
    std::map<int, mask> masks_; ///< By the kernel's number of a thread.
    std::set<int> lent_;        ///< What DLB may give to other processes.
    int n_lent_ = 0;
};

fake_machine& machine() {
    static fake_machine one;
    return one;
}

using system_call = long (*)(long, ...);

/// The C library's.
[[nodiscard]] system_call real_system_call() {
    static std::atomic<system_call> found{nullptr}; // by its initialiser a constant: a guard would make a system call
    if (found.load() == nullptr) found = reinterpret_cast<system_call>(dlsym(RTLD_NEXT, "syscall"));
    return found;
}

} // namespace

extern "C" {
[[gnu::visibility("default")]] long syscall(long number, ...) noexcept;
[[gnu::visibility("default")]] int DLB_LendCpu(int cpu);
[[gnu::visibility("default")]] int DLB_ReclaimCpu(int cpu);
}

int DLB_LendCpu(int cpu) { return machine().lend(cpu, true); }
int DLB_ReclaimCpu(int cpu) { return machine().lend(cpu, false); }

long syscall(long number, ...) noexcept {
    long words[6];
    std::va_list list;
    va_start(list, number);
    for (long& each : words) each = va_arg(list, long);
    va_end(list);
    const long thread = words[0] == 0 ? gettid() : words[0];
    auto* const bytes = reinterpret_cast<char*>(words[2]);
    if (number == SYS_sched_setaffinity) {
        mask cpus = 0;
        std::memcpy(&cpus, bytes, sizeof cpus);
        machine().set_mask(static_cast<int>(thread), cpus);
        return 0;
    }
    const long answer =
        real_system_call()(number, words[0], words[1], words[2], words[3], words[4], words[5]); // also for who is gone
    if (number == SYS_sched_getaffinity && answer > 0) {
        const mask cpus = machine().mask_of(static_cast<int>(thread));
        std::memset(bytes, 0, static_cast<std::size_t>(words[1]));
        std::memcpy(bytes, &cpus, sizeof cpus);
    }
    return answer;
}

namespace commtask::test {
namespace {

using detail::testing::comes_true;

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
    LanesWithoutWork() : LaneCores(3) {}
    void SetUp() override { Runtime::SetUp(); }
};

TEST_F(LanesWithoutWork, HaveNoThreadUntilTheyGetACommunicator) {
    run(commtask_op_noop(MPI_COMM_WORLD));
    EXPECT_TRUE(comes_true([] { return n_workers() == 1; }))
        << "one of another test may be listed a moment after its end";
    ASSERT_EQ(commtask_comm_set_lane(comm_, 2), COMMTASK_OK) << commtask_last_error();
    run(commtask_op_noop(comm_));
    EXPECT_EQ(n_workers(), 2) << "lane 1 has none";
}

} // namespace
} // namespace commtask::test
