// SPDX-License-Identifier: Apache-2.0
//
// Who gets the file of a rank's trace where several processes want it at one moment: one of them or none, and whoever got it has
// the file that its name leads to, so that no job writes a trace that nobody can find.
#include "report/trace_file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace commtask::detail {
namespace {

constexpr int n_processes = 2;
constexpr int n_rounds = 200;

/// What the processes of a round tell each other.
struct board {
    std::atomic<int> n_here{0};
    std::atomic<int> n_tried{0};
};

[[nodiscard]] trace_plan plan_in(const std::filesystem::path& folder, std::uint64_t run) {
    trace_plan plan;
    plan.folder = folder.string();
    plan.most_mib = 1;
    plan.run = run;
    return plan;
}

/// The number in the header of the file that is there; 0: none is.
[[nodiscard]] std::uint64_t run_in(const std::filesystem::path& file) {
    trace::file_header header{};
    std::FILE* const opened = std::fopen(file.c_str(), "rb");
    if (opened == nullptr) return 0;
    const bool is_whole = std::fread(&header, sizeof header, 1, opened) == 1;
    std::fclose(opened);
    return is_whole ? header.run : 0;
}

void meet(std::atomic<int>& count) {
    count.fetch_add(1);
    while (count.load() < n_processes) sched_yield();
}

/// In a process of its own. Its exit status: 0 refused with a sentence, 1 has the file, 2 has one that nobody finds.
[[noreturn]] void want_the_file(board& shared, const std::filesystem::path& folder, std::uint64_t run) {
    std::string why;
    meet(shared.n_here);
    trace_file* const got = trace_file::open(plan_in(folder, run), why);
    meet(shared.n_tried); // a file is one's own as long as its process runs
    if (got == nullptr) _exit(why.find("running process") != std::string::npos ? 0 : 3);
    _exit(run_in(folder / "rank-0.cttrace") == run ? 1 : 2);
}

/// In a process of its own, that modes bind as they do not bind root. Its exit status: 0 has the file, 1 refused with a sentence.
[[noreturn]] void want_it_as_nobody(const std::filesystem::path& folder, std::uint64_t run) {
    constexpr uid_t nobody = 65534;
    constexpr rlimit soon{5, 5}; // seconds of computing: who would try for ever is ended
    if (setrlimit(RLIMIT_CPU, &soon) != 0 || (getuid() == 0 && setuid(nobody) != 0)) _exit(3);
    std::string why;
    if (trace_file::open(plan_in(folder, run), why) == nullptr) {
        _exit(why.find("cannot be written (Permission denied)") != std::string::npos ? 1 : 3);
    }
    _exit(run_in(folder / "rank-0.cttrace") == run ? 0 : 2);
}

class TraceFile : public testing::Test {
protected:
    void SetUp() override {
        std::string name = (std::filesystem::temp_directory_path() / "commtask-trace-file-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
        void* const memory = mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(memory, MAP_FAILED);
        memory_ = memory;
    }
    void TearDown() override {
        std::filesystem::remove_all(folder_);
        munmap(memory_, sizeof(board));
    }

    /// How many of the processes have the file; -1 and a failed test: one has a file that nobody finds, or says nothing of use.
    int contend(std::uint64_t first_run) {
        auto& shared = *new (memory_) board;
        std::array<pid_t, n_processes> processes{};
        for (pid_t& each : processes) {
            each = fork();
            if (each == 0) want_the_file(shared, folder_, first_run);
            ++first_run;
        }
        int n_owners = 0;
        for (const pid_t each : processes) {
            int status = 0;
            waitpid(each, &status, 0);
            if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) {
                ADD_FAILURE() << "status " << status;
                return -1;
            }
            n_owners += WEXITSTATUS(status);
        }
        return n_owners;
    }

    /// Where a trace of run 7 with this mode is in a folder with that one: the exit status of who wants its place for run 8.
    int replaced_by_nobody(mode_t of_file, mode_t of_folder) {
        std::string why;
        trace_file* const first = trace_file::open(plan_in(folder_, 7), why);
        EXPECT_NE(first, nullptr) << why;
        if (first == nullptr) return -1;
        first->close(trace::file_state::ended);
        EXPECT_EQ(chmod(first->path().c_str(), of_file), 0);
        EXPECT_EQ(chmod(folder_.c_str(), of_folder), 0);
        const pid_t process = fork();
        if (process == 0) want_it_as_nobody(folder_, 8);
        int status = 0;
        waitpid(process, &status, 0);
        EXPECT_EQ(chmod(folder_.c_str(), 0700), 0);
        EXPECT_TRUE(WIFEXITED(status)) << "status " << status;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    std::filesystem::path folder_;
    void* memory_ = nullptr;
};

TEST_F(TraceFile, OfTwoJobsThatStartAtOnceOneAtMostHasTheFileAndItIsTheOneThatIsFound) {
    int n_had = 0;
    for (std::uint64_t round = 1; round <= n_rounds; ++round) {
        if (round % 2 == 0)
            std::filesystem::remove(folder_ / "rank-0.cttrace"); // with and without one of an earlier run
        const int n_owners = contend(round * n_processes);
        ASSERT_TRUE(n_owners == 0 || n_owners == 1) << "round " << round;
        n_had += n_owners;
    }
    EXPECT_GT(n_had, 0);
}

TEST_F(TraceFile, OfAnEarlierRunIsReplacedAndWhoReadsItGoesOnReadingIt) {
    std::string why;
    trace_file* const first = trace_file::open(plan_in(folder_, 7), why);
    ASSERT_NE(first, nullptr) << why;
    first->close(trace::file_state::ended);
    std::FILE* const reader = std::fopen(first->path().c_str(), "rb");
    ASSERT_NE(reader, nullptr);
    trace_file* const second = trace_file::open(plan_in(folder_, 8), why);
    ASSERT_NE(second, nullptr) << why;
    EXPECT_EQ(run_in(second->path()), 8U);
    trace::file_header header{};
    EXPECT_EQ(std::fread(&header, sizeof header, 1, reader), 1U);
    EXPECT_EQ(header.run, 7U);
    std::fclose(reader);
    second->remove(false);
    EXPECT_FALSE(std::filesystem::exists(second->path()));
}

TEST_F(TraceFile, OfAnEarlierRunThatMayOnlyBeReadIsReplaced) {
    EXPECT_EQ(replaced_by_nobody(0444, 0777), 0);
    EXPECT_EQ(run_in(folder_ / "rank-0.cttrace"), 8U);
}

TEST_F(TraceFile, OfAnEarlierRunWhoseFolderKeepsItIsRefused) {
    EXPECT_EQ(replaced_by_nobody(0666, 0555), 1);
    EXPECT_EQ(replaced_by_nobody(0444, 0555), 1);
    EXPECT_EQ(run_in(folder_ / "rank-0.cttrace"), 7U);
}

} // namespace
} // namespace commtask::detail
