// SPDX-License-Identifier: Apache-2.0
//
// What the thread has that posts, the thread that calls MPI has too: functions of the program find a stack of 16 MiB, the rounding of the
// post and masked signals; arithmetic of MPI rounds as the submitter did, and its flags come back to the thread that waits.
#include "runtime_test.hpp"

#include <algorithm>
#include <cfenv>
#include <csignal>
#include <cstring>
#include <limits>
#include <string>

#include <alloca.h>
#include <dirent.h>
#include <unistd.h>

namespace commtask::test {
namespace {

/// Whether each of two ranks adds in a reduction: with Open MPI one may add, and the other gets the sum.
#ifdef OPEN_MPI
constexpr bool each_adds = false;
#else
constexpr bool each_adds = true;
#endif

std::atomic<int> rounding_seen{-1}; ///< By the last function of the program that has run.

/// Needs what a recursive function or a Fortran array may need, where the limit is the library's.
[[gnu::noinline]] void see() {
    const bool is_main = getpid() == gettid();
    const std::size_t n_bytes = std::size_t{is_main ? 1U : 12U} << 20U;
    auto* const room = static_cast<volatile char*>(alloca(n_bytes));
    for (std::size_t i = 0; i < n_bytes; i += 1024) room[i] = 1;
    rounding_seen = std::fegetround();
}

class rounding {
public:
    explicit rounding(int mode) : before_(std::fegetround()) { std::fesetround(mode); }
    rounding(const rounding&) = delete;
    rounding& operator=(const rounding&) = delete;
    ~rounding() { std::fesetround(before_); }

private:
    int before_;
};

class CallersThread : public Runtime {
protected:
    /// Posts in one mode, and lets the task start in another, which the other side of the post has by then.
    template <typename Operation>
    void expect_modes_of_post(const char* name, Operation&& operation) {
        for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TONEAREST}) {
            commtask_event_t go = COMMTASK_EVENT_NULL;
            ASSERT_EQ(commtask_event_create(1, &go), COMMTASK_OK);
            commtask_t task = COMMTASK_NULL;
            rounding_seen = -1;
            {
                const rounding of_post{mode};
                task = post(operation(), options{}.on({go}));
            }
            const rounding of_wait{FE_TOWARDZERO};
            ASSERT_EQ(commtask_event_signal(go), COMMTASK_OK);
            EXPECT_EQ(finish(task), COMMTASK_OK) << name;
            EXPECT_EQ(std::fegetround(), FE_TOWARDZERO);
            EXPECT_EQ(commtask_event_release(&go), COMMTASK_OK);
            const bool is_called_here =
                std::strcmp(name, "reduction") != 0 || (each_adds && n_ranks_ > 1) || rounding_seen != -1;
            if (is_called_here) {
                EXPECT_EQ(rounding_seen, mode) << name;
            }
        }
    }
};

TEST_F(CallersThread, FunctionsOfTheProgramFindTheModesOfTheirPostAndRoomOnTheStack) {
    const MPI_Comm comm = comm_;
    expect_modes_of_post("call", [comm] {
        return commtask_op_call(
            [](void*) {
                see();
                return MPI_SUCCESS;
            },
            nullptr, comm);
    });
    static int mine = 1;
    static int sum = 0;
    static MPI_Comm used = MPI_COMM_NULL;
    used = comm;
    expect_modes_of_post("start", [comm] {
        return commtask_op_start(
            [](MPI_Request* request, void*) {
                see();
                return MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, used, request);
            },
            nullptr, comm);
    });
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(
        [](void* left, void* right, int* n, MPI_Datatype*) {
            see();
            for (int i = 0; i < *n; ++i) static_cast<int*>(right)[i] += static_cast<int*>(left)[i];
        },
        1, &op);
    expect_modes_of_post("reduction", [comm, op] { return commtask_op_allreduce(&mine, &sum, 1, MPI_INT, op, comm); });
    EXPECT_EQ(sum, n_ranks_);
    MPI_Op_free(&op);
}

TEST_F(CallersThread, FunctionsThatCopyAttributesFindThemToo) {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(
        [](MPI_Comm, int, void*, void*, void*, int* is_copied) -> int {
            see();
            *is_copied = 0;
            return MPI_SUCCESS;
        },
        MPI_COMM_NULL_DELETE_FN, &key, nullptr);
    MPI_Comm_set_attr(comm_, key, nullptr);
    static MPI_Comm copy = MPI_COMM_NULL;
    const MPI_Comm comm = comm_;
    expect_modes_of_post("attribute", [comm] {
        if (copy != MPI_COMM_NULL) MPI_Comm_free(&copy);
        return commtask_op_comm_dup(&copy, comm);
    });
    MPI_Comm_free(&copy);
    MPI_Comm_delete_attr(comm_, key);
    MPI_Comm_free_keyval(&key);
}

TEST_F(CallersThread, SumsRoundAsTheirPosterDid) {
    constexpr int n = 1000;
    std::vector<double> in(n, rank_ == 0 ? 1.0 : 1e-30);
    std::vector<double> out(n);
    const auto n_above = [&] { return std::ranges::count_if(out, [](double each) { return each > 1.0; }); };
    const auto op = [&] { return commtask_op_allreduce(in.data(), out.data(), n, MPI_DOUBLE, MPI_SUM, comm_); };
    for (int turn = 0; turn < 20; ++turn) {
        const bool is_up = turn % 2 == 0;
        commtask_t task = COMMTASK_NULL;
        {
            const rounding of_post{is_up ? FE_UPWARD : FE_TONEAREST};
            task = post(op());
        }
        EXPECT_EQ(finish(task), COMMTASK_OK);
        EXPECT_EQ(n_above(), is_up && n_ranks_ > 1 ? n : 0);
    }
    // A plan's members have the modes of its start.
    ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
    const commtask_op recorded = op();
    ASSERT_EQ(commtask_post_operation(&recorded, nullptr, nullptr), COMMTASK_OK);
    commtask_plan_t plan = COMMTASK_PLAN_NULL;
    ASSERT_EQ(commtask_record_end(&plan), COMMTASK_OK);
    for (const bool is_up : {true, false, true}) {
        commtask_t run = COMMTASK_NULL;
        {
            const rounding of_post{is_up ? FE_UPWARD : FE_TONEAREST};
            run = post(commtask_op_plan(plan));
        }
        EXPECT_EQ(finish(run), COMMTASK_OK);
        EXPECT_EQ(n_above(), is_up && n_ranks_ > 1 ? n : 0);
    }
    EXPECT_EQ(commtask_plan_release(&plan), COMMTASK_OK);
}

TEST_F(CallersThread, FlagsOfASumComeBackToWhoWaits) {
    const double large = std::numeric_limits<double>::max();
    double sum = 0;
    for (int turn = 0; turn < 10; ++turn) {
        std::feclearexcept(FE_ALL_EXCEPT);
        commtask_t task = post(commtask_op_allreduce(&large, &sum, 1, MPI_DOUBLE, MPI_SUM, comm_));
        EXPECT_EQ(finish(task), COMMTASK_OK);
        if (each_adds) {
            EXPECT_EQ(std::fetestexcept(FE_OVERFLOW) != 0, n_ranks_ > 1);
        }
        EXPECT_EQ(std::fetestexcept(FE_DIVBYZERO | FE_INVALID), 0);
        std::feclearexcept(FE_ALL_EXCEPT);
        const double small = 1;
        task = post(commtask_op_allreduce(&small, &sum, 1, MPI_DOUBLE, MPI_SUM, comm_));
        EXPECT_EQ(finish(task), COMMTASK_OK);
        EXPECT_EQ(std::fetestexcept(FE_OVERFLOW), 0);
    }
}

/// @return how many threads of the library are there by name, each with the program's signals blocked
int n_threads_with_signals_blocked() {
    int n_found = 0;
    DIR* const threads = opendir("/proc/self/task");
    EXPECT_NE(threads, nullptr);
    while (const dirent* const each = threads != nullptr ? readdir(threads) : nullptr) {
        const std::string folder = std::string{"/proc/self/task/"} + each->d_name;
        std::FILE* const status = std::fopen((folder + "/status").c_str(), "r");
        if (status == nullptr) continue;
        std::array<char, 256> line{};
        bool is_ours = false;
        while (std::fgets(line.data(), line.size(), status) != nullptr) {
            const std::string text{line.data()};
            if (text.starts_with("Name:")) is_ours = text.find("\tcommtask") != std::string::npos;
            if (!is_ours || !text.starts_with("SigBlk:")) continue;
            ++n_found;
            const unsigned long long blocked = std::stoull(text.substr(7), nullptr, 16);
            for (const int number : {SIGUSR1, SIGUSR2, SIGINT, SIGTERM, SIGALRM, SIGPROF, SIGCHLD}) {
                EXPECT_NE(blocked & (1ULL << static_cast<unsigned>(number - 1)), 0U) << text << number;
            }
        }
        std::fclose(status);
    }
    if (threads != nullptr) closedir(threads);
    return n_found;
}

TEST_F(CallersThread, ThreadsOfTheLibraryBlockTheProgramsSignalsAndHaveNames) {
    // The worker, and the thread that looks for stalls: each gives itself its name when it runs first.
    while (n_threads_with_signals_blocked() < 2) sched_yield();
}

} // namespace
} // namespace commtask::test
