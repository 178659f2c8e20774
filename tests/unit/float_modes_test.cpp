// SPDX-License-Identifier: Apache-2.0
//
// MPI is called in the floating-point modes of the reductions in flight: rounding, flushing of denormals and traps are those of the thread that
// posted, flags come back to the one that waits, and the calling thread has its own again afterwards.
#include "base/float_modes.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <limits>
#include <thread>

namespace commtask::detail {
namespace {

/// The compiler must not do it.
[[nodiscard]] double sum(double left, double right) {
    const volatile double at_run_time = left;
    const volatile double here = at_run_time + right; // and not later
    return here;
}
[[nodiscard]] bool rounds_up() { return sum(1.0, 1e-30) > 1.0; }

[[nodiscard]] float_modes modes_with(int rounding) {
    const int before = std::fegetround();
    std::fesetround(rounding);
    const float_modes found = modes_of_this_thread();
    std::fesetround(before);
    return found;
}

class FloatModes : public testing::Test {
protected:
    void SetUp() override {
        if (modes_of_this_thread() == 0) GTEST_SKIP() << "this processor's modes are not known";
        std::feclearexcept(FE_ALL_EXCEPT);
    }
    const float_modes nearest_ = modes_with(FE_TONEAREST);
    const float_modes upward_ = modes_with(FE_UPWARD);
};

TEST_F(FloatModes, AreThoseOfTheReductionInFlightWhileMpiIsCalled) {
    EXPECT_NE(nearest_, upward_);
    {
        const float_scope call;
        EXPECT_FALSE(rounds_up());
    }
    reductions_in_flight::begin(upward_);
    {
        const float_scope call;
        EXPECT_TRUE(rounds_up());
        const float_scope inner;
        EXPECT_TRUE(rounds_up());
    }
    EXPECT_FALSE(rounds_up());
    static_cast<void>(reductions_in_flight::end(upward_));
    const float_scope call;
    EXPECT_FALSE(rounds_up());
}

TEST_F(FloatModes, TheLastReductionsAreInForceUntilItEnds) {
    reductions_in_flight::begin(upward_);
    reductions_in_flight::begin(nearest_);
    reductions_in_flight::begin(nearest_);
    const auto rounds_up_in_call = [] {
        const float_scope call;
        return rounds_up();
    };
    EXPECT_FALSE(rounds_up_in_call());
    static_cast<void>(reductions_in_flight::end(nearest_));
    EXPECT_FALSE(rounds_up_in_call());
    static_cast<void>(reductions_in_flight::end(nearest_));
    EXPECT_TRUE(rounds_up_in_call());
    reductions_in_flight::begin(nearest_);
    static_cast<void>(reductions_in_flight::end(upward_));
    EXPECT_FALSE(rounds_up_in_call());
    static_cast<void>(reductions_in_flight::end(nearest_));
}

TEST_F(FloatModes, FlagsComeBackToTheThreadThatWaits) {
    constexpr double largest = std::numeric_limits<double>::max();
    float_flags raised = 0;
    reductions_in_flight::begin(nearest_);
    std::thread{[&] {
        const float_scope call;
        EXPECT_GT(sum(largest, largest), largest);
    }}.join();
    EXPECT_EQ(std::fetestexcept(FE_OVERFLOW), 0);
    raised = reductions_in_flight::end(nearest_);
    EXPECT_NE(raised, 0);
    raise_flags(raised);
    EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0);
    EXPECT_EQ(std::fetestexcept(FE_DIVBYZERO | FE_INVALID), 0);
    // The next reduction has none of them.
    reductions_in_flight::begin(nearest_);
    EXPECT_EQ(reductions_in_flight::end(nearest_), 0);
}

TEST_F(FloatModes, FlagsThatTheCallerHadStay) {
    std::feraiseexcept(FE_DIVBYZERO);
    reductions_in_flight::begin(upward_);
    {
        const float_scope call;
        EXPECT_EQ(std::fetestexcept(FE_DIVBYZERO), 0);
        EXPECT_TRUE(rounds_up());
    }
    EXPECT_NE(std::fetestexcept(FE_DIVBYZERO), 0);
    EXPECT_NE(std::fetestexcept(FE_INEXACT), 0); // this thread has made the call
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    static_cast<void>(reductions_in_flight::end(upward_));
}

TEST_F(FloatModes, LongDoubleRoundsAlike) {
    const auto rounds = [] {
        const volatile long double one = 1;
        const volatile long double little = 1e-30L;
        return one + little > one;
    };
    reductions_in_flight::begin(upward_);
    {
        const float_scope call;
        EXPECT_TRUE(rounds());
    }
    static_cast<void>(reductions_in_flight::end(upward_));
    EXPECT_FALSE(rounds());
}

TEST_F(FloatModes, AThreadOfTheLibraryCallsMpiInTheModesOfTheProgramsLastCall) {
    const auto rounds_up_on = [](auto&& start) {
        bool found = false;
        start([&found] {
            const float_scope call;
            found = rounds_up();
        });
        return found;
    };
    const auto on_librarys = [](auto&& function) {
        library_thread thread;
        thread.start({.name = "commtask-test"}, function);
        thread.join();
    };
    const auto on_programs = [](auto&& function) { std::thread{function}.join(); };
    reductions_in_flight::caller_has(upward_);
    EXPECT_TRUE(rounds_up_on(on_librarys));
    EXPECT_FALSE(rounds_up_on(on_programs));
    reductions_in_flight::begin(nearest_);
    EXPECT_FALSE(rounds_up_on(on_librarys));
    static_cast<void>(reductions_in_flight::end(nearest_));
    reductions_in_flight::caller_has(nearest_);
    EXPECT_FALSE(rounds_up_on(on_librarys));
}

} // namespace
} // namespace commtask::detail
