// SPDX-License-Identifier: Apache-2.0
//
// Which of several lanes stays inside one pass for too long: the one that somebody drives and that begins none, whatever the others
// do. The times are the test's.
#include "core/progress_watch.hpp"
#include "fake_transport.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace commtask::detail {
namespace {

using testing::lanes_bench;

constexpr std::uint64_t limit_ns = 5'000'000'000;

TEST(PassWatch, IsOverForTheOneLaneWhoseDriverDoesNotComeBack) {
    lanes_bench<3> bench;
    progress_watch watch{limit_ns};
    lane& stuck = bench.lanes()[1];
    ASSERT_TRUE(stuck.engine.lock.try_acquire());
    EXPECT_FALSE(watch.is_over(bench.lanes(), 1));
    EXPECT_FALSE(watch.is_over(bench.lanes(), limit_ns));
    EXPECT_TRUE(watch.is_over(bench.lanes(), 1 + limit_ns));
    stuck.engine.lock.release();
    EXPECT_FALSE(watch.is_over(bench.lanes(), 2 + limit_ns)) << "nobody is inside any more";
}

TEST(PassWatch, BeginsAnewWithEachPassOfThatLaneAndOfNoOther) {
    lanes_bench<2> bench;
    progress_watch watch{limit_ns};
    lane& driven = bench.lanes()[1];
    ASSERT_TRUE(driven.engine.lock.try_acquire());
    EXPECT_FALSE(watch.is_over(bench.lanes(), 1));
    static_cast<void>(driven.engine.progress());
    EXPECT_FALSE(watch.is_over(bench.lanes(), 1 + limit_ns)) << "it has begun a pass";
    EXPECT_FALSE(watch.is_over(bench.lanes(), 2 * limit_ns));
    ASSERT_TRUE(bench.lanes()[0].engine.lock.try_acquire());
    static_cast<void>(bench.lanes()[0].engine.progress()); // the other lane goes on
    bench.lanes()[0].engine.lock.release();
    EXPECT_TRUE(watch.is_over(bench.lanes(), 1 + 2 * limit_ns));
    driven.engine.lock.release();
}

TEST(PassWatch, NeverEndsWithoutALimit) {
    lanes_bench<2> bench;
    progress_watch watch{0};
    ASSERT_TRUE(bench.lanes()[0].engine.lock.try_acquire());
    for (const std::uint64_t now : {std::uint64_t{1}, limit_ns, 1000 * limit_ns})
        EXPECT_FALSE(watch.is_over(bench.lanes(), now));
    bench.lanes()[0].engine.lock.release();
}

} // namespace
} // namespace commtask::detail
