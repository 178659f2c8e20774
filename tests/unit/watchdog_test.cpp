// SPDX-License-Identifier: Apache-2.0
//
// The watchdog's remark on a silence, which a user sees after a minute and a test after a moment. What it says is read through
// a pipe, so nothing here waits for time.
#include "fake_transport.hpp"
#include "patience.hpp"
#include "report/watchdog.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>

#include <unistd.h>

namespace commtask::detail::testing {
namespace {

/// What is written to stderr while one lives can be waited for.
class read_stderr {
public:
    read_stderr() : before_(dup(STDERR_FILENO)) {
        EXPECT_EQ(pipe(ends_), 0);
        dup2(ends_[1], STDERR_FILENO);
        close(ends_[1]);
    }
    read_stderr(const read_stderr&) = delete;
    read_stderr& operator=(const read_stderr&) = delete;
    ~read_stderr() {
        dup2(before_, STDERR_FILENO);
        close(before_);
        close(ends_[0]);
    }
    [[nodiscard]] std::string line() {
        std::string text;
        char next = 0;
        while (read(ends_[0], &next, 1) == 1 && next != '\n') text += next;
        return text;
    }

private:
    int before_;
    int ends_[2] = {-1, -1};
};

TEST(Watchdog, RemarksOnASilenceOnceAndSaysHowToKnowMore) {
    lane_bench bench;
    task& silent = bench.post();
    bench.run();
    std::string first;
    std::string second;
    {
        read_stderr seen;
        watchdog watching{bench.lanes(), {.stall_ns = 0, .hint_ns = 1'000'000}};
        first = seen.line();
        bench.complete(silent);
        task& other = bench.post();
        bench.run();
        watching.stop();
        const watchdog another{bench.lanes(), {.stall_ns = 0, .hint_ns = 1'000'000}};
        second = seen.line(); // by the other one
        bench.complete(other);
    }
    EXPECT_NE(first.find("1 are incomplete"), std::string::npos) << first;
    EXPECT_NE(first.find("COMMTASK_STALL_S=10"), std::string::npos) << first;
    EXPECT_NE(second.find("COMMTASK_STALL_S=10"), std::string::npos) << second;
}

TEST(Watchdog, CountsWhatOnlyAFaceKnowsOf) {
    fake_transport carrier;
    lane_settings settings{.queue_capacity = 64};
    settings.elsewhere.count = [] { return std::size_t{2}; };
    settings.elsewhere.list = [] {
        return std::vector<incomplete_line>{{now_ns(), "recv; for its dependences"}, {0, "send; for its dependences"}};
    };
    lane_set lanes{{&carrier}, settings};
    lane& watched = lanes[0];
    EXPECT_EQ(watched.incomplete.approx_count(), 2U);
    std::string heading;
    {
        read_stderr seen;
        const watchdog watching{lanes, {.stall_ns = 1'000'000}};
        while (!watched.requests.is_list_due()) std::this_thread::yield();
        watched.engine.progress();
        // On a busy machine the watchdog may say in between that the worker does not answer.
        do heading = seen.line();
        while (heading.find("unfinished") == std::string::npos);
    }
    EXPECT_NE(heading.find("2 tasks unfinished, no task has ended for a while"), std::string::npos) << heading;
}

TEST(Watchdog, PausesTheWorkersAsLongAsAFileIsThere) {
    lane_bench bench;
    std::string path = "pause_XXXXXX";
    const int file = mkstemp(path.data());
    ASSERT_GE(file, 0);
    close(file);
    const watchdog watching{bench.lanes(), {.hint_ns = 0, .pause_file = path}};
    EXPECT_TRUE(comes_true([&] { return bench.lanes().are_paused(); })) << "it was there at the start";
    ASSERT_EQ(unlink(path.c_str()), 0);
    EXPECT_TRUE(comes_true([&] { return !bench.lanes().are_paused(); }));
}

} // namespace
} // namespace commtask::detail::testing
