// SPDX-License-Identifier: Apache-2.0
//
// Plans of the C++ face: recorded by a function, started with options, owned; a body that throws leaves nothing behind, and a closure
// that can run only once is refused.
#include "cpp_front_end.hpp"

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

namespace commtask::test {
namespace {

class CppPlans : public CppFace {};

TEST_F(CppPlans, RepeatWhatABodyPosts) {
    int mine = 0;
    int theirs = -1;
    int n_ends = 0;
    plan exchange;
    EXPECT_FALSE(exchange);
    for (int i = 0; i < 10; ++i) {
        int n_bodies = 0;
        exchange.record([&] {
            ++n_bodies;
            task arrived = post(recv(one(theirs), left(), 1, comm_), then([&n_ends]() noexcept { ++n_ends; }));
            post_detached(send(one(mine), right(), 1, comm_));
            post_detached(commtask::call([&n_ends]() noexcept { ++n_ends; }, comm_), after(arrived));
        });
        EXPECT_EQ(n_bodies, i == 0 ? 1 : 0);
        mine = 100 * i + rank_;
        outcome seen;
        EXPECT_TRUE(finish(exchange.start(report_to(seen))).is_completed());
        EXPECT_TRUE(seen.is_completed());
        EXPECT_EQ(theirs, 100 * i + left());
        EXPECT_EQ(n_ends, 2 * (i + 1));
    }
    EXPECT_EQ(exchange.size(), 3U);
    const plan moved{std::move(exchange)};
    EXPECT_FALSE(exchange); // NOLINT(bugprone-use-after-move): that is what is tested
    run(moved.run());
}

TEST_F(CppPlans, HoldTellAndTakeOtherBuffers) {
    std::array<int, 2> mine{1, 2};
    std::array<int, 2> theirs{};
    plan exchange{[&] {
        post_detached(recv(one(theirs[0]), left(), 1, comm_));
        post_detached(send(one(mine[0]), right(), 1, comm_));
    }};
    exchange.defer(1);
    for (std::size_t i = 0; i < 6; ++i) {
        exchange.rebind_recv(0, &theirs[i % 2]);
        exchange.rebind_send(1, &mine[i % 2]);
        task whole = exchange.start();
        EXPECT_EQ(code_of([&] { static_cast<void>(exchange.start()); }), COMMTASK_ERR_RUNNING);
        std::thread{[&] { exchange.pready(1); }}.join();
        EXPECT_TRUE(finish(exchange.member(0)).is_completed());
        EXPECT_TRUE(exchange.parrived(0));
        EXPECT_EQ(theirs[i % 2], mine[i % 2]);
        EXPECT_TRUE(finish(whole).is_completed());
    }
    EXPECT_TRUE(exchange.try_pready(1)); // for a run that will not be
    EXPECT_FALSE(exchange.try_pready(1));
    EXPECT_EQ(code_of([&] { exchange.pready(0); }), COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(code_of([&] { static_cast<void>(exchange.parrived(7)); }), COMMTASK_ERR_ARGUMENT);
}

TEST_F(CppPlans, TellOfEachMemberThatEnds) {
    int mine = 0;
    int theirs = -1;
    std::array<int, 2> n_told{};
    int n_later = 0;
    {
        plan exchange{[&] {
            post_detached(recv(one(theirs), left(), 1, comm_));
            post_detached(send(one(mine), right(), 1, comm_));
        }};
        const std::string longer_than_a_pointer(100, 'x');
        exchange.on_member([&n_told, longer_than_a_pointer](std::size_t member, const outcome& ended) noexcept {
            if (ended.is_completed() && longer_than_a_pointer.size() == 100) ++n_told[member];
        });
        for (int i = 1; i <= 3; ++i) {
            run(exchange.run());
            EXPECT_EQ(n_told, (std::array{i, i}));
        }
        exchange.defer(1);
        plan moved{std::move(exchange)};
        task whole = moved.start();
        EXPECT_EQ(code_of([&] { moved.on_member([](std::size_t, const outcome&) noexcept {}); }), COMMTASK_ERR_RUNNING);
        moved.pready(1);
        EXPECT_TRUE(finish(whole).is_completed());
        EXPECT_EQ(n_told, (std::array{4, 4})) << "the handler came along";
        moved.on_member([&n_later](std::size_t, const outcome&) noexcept { ++n_later; });
        task held = moved.start();
        { const plan given_back{std::move(moved)}; } // it runs: commtask_finalize gets it, and its handler is called
        held.cancel();
        static_cast<void>(finish(held));
    }
    EXPECT_EQ(n_told, (std::array{4, 4}));
    EXPECT_EQ(n_later, 2);
    EXPECT_EQ(code_of([&] { plan{}.on_member([](std::size_t, const outcome&) noexcept {}); }), COMMTASK_ERR_ARGUMENT);
}

/// With COMMTASK_PLAN_CHECK=1.
class CheckedCppPlans : public CppFace {
protected:
    void SetUp() override {
        setenv("COMMTASK_PLAN_CHECK", "1", 1);
        CppFace::SetUp();
    }
    void TearDown() override {
        CppFace::TearDown();
        unsetenv("COMMTASK_PLAN_CHECK");
    }
};

TEST_F(CheckedCppPlans, RunTheBodyInEveryIterationAndThrowTheFirstDifference) {
    int mine = 0;
    int theirs = -1;
    int n_bodies = 0;
    plan exchange;
    const auto record = [&](int tag) {
        exchange.record([&] {
            ++n_bodies;
            post_detached(recv(one(theirs), left(), 1, comm_));
            post_detached(send(one(mine), right(), tag, comm_));
        });
    };
    for (int i = 0; i < 3; ++i) {
        record(1);
        mine = 10 * i + rank_;
        run(exchange.run());
        EXPECT_EQ(theirs, 10 * i + left());
    }
    EXPECT_EQ(n_bodies, 3);
    std::string said;
    try {
        record(2);
    } catch (const error& caught) {
        EXPECT_EQ(caught.code(), COMMTASK_ERR_ARGUMENT);
        said = caught.what();
    }
    EXPECT_NE(said.find("member 1 (send): send tag 2 where the plan has 1"), std::string::npos) << said;
    run(exchange.run()); // it is as it was, and this thread does not record
}

TEST_F(CheckedCppPlans, RefuseToCompareWithOneOfBeforeFinalize) {
    int number = 0;
    int n_bodies = 0;
    plan exchange;
    const auto record = [&] {
        exchange.record([&] {
            ++n_bodies;
            post_detached(send(one(number), MPI_PROC_NULL, 1, comm_));
        });
    };
    record();
    ASSERT_TRUE(runtime_->finalize());
    runtime_.emplace(settings());
    for (int i = 0; i < 2; ++i) EXPECT_EQ(code_of(record), COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(n_bodies, 3);
    EXPECT_EQ(code_of([&] { static_cast<void>(exchange.start()); }), COMMTASK_ERR_ARGUMENT);
    run(barrier(comm_)); // this thread does not record
    exchange = plan{};
    record();
    run(exchange.run());
}

TEST_F(CppPlans, KeepNothingOfABodyThatThrows) {
    int number = 0;
    EXPECT_THROW(plan([&] {
                     post_detached(send(one(number), right(), 1, comm_));
                     throw std::runtime_error("no more");
                 }),
                 std::runtime_error);
    const std::string long_text(100, 'x');
    EXPECT_EQ(code_of([&] {
                  const plan refused{[&] {
                      post_detached(send(one(number), MPI_PROC_NULL, 1, comm_), then([long_text]() noexcept {}));
                  }};
              }),
              COMMTASK_ERR_ARGUMENT);
    run(barrier(comm_)); // this thread does not record
}

} // namespace
} // namespace commtask::test
