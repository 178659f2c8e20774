// SPDX-License-Identifier: Apache-2.0
//
// Posting with options, and what happens to closures: each runs once, is destroyed once, whether its task completed,
// failed, was canceled or was refused; no exception leaves it. A tracker counts the copies that are alive.
#include "cpp_front_end.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <tuple>

namespace commtask::test {
namespace {

class CppPosting : public CppFace {};

/// Too large for a pointer, and not to be copied as bytes.
struct tracked {
    explicit tracked(std::atomic<int>& counter) : alive(&counter) { ++*alive; }
    tracked(const tracked& other) : alive(other.alive) { ++*alive; }
    tracked& operator=(const tracked&) = delete;
    ~tracked() { --*alive; }
    std::atomic<int>* alive;
    std::array<long, 8> ballast{};
};

TEST_F(CppPosting, ATaskStartsAfterTasksEventsAndRangesOfThem) {
    event go;
    event also_go{2};
    std::vector<int> order;
    const auto note = [&](int number) { return call([&order, number] { order.push_back(number); }, comm_); };
    task first = post(note(1), after(go));
    std::vector<task> second;
    for (int i = 0; i < 20; ++i) second.push_back(post(note(2), after(first)));
    std::array<event, 2> events{event{}, event{}};
    task third = post(note(3), after(second, also_go, events, task{}));
    also_go.signal();
    events[0].signal();
    events[1].signal();
    EXPECT_FALSE(third.test());
    EXPECT_TRUE(also_go.try_signal());
    EXPECT_FALSE(also_go.try_signal());
    EXPECT_EQ(code_of([&] { also_go.signal(); }), COMMTASK_ERR_ARGUMENT);
    go.signal();
    EXPECT_TRUE(finish(third));
    EXPECT_EQ(order.size(), 22U);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_F(CppPosting, ThenIsCalledOnceHoweverTheTaskEnded) {
    std::atomic<int> n_completed{0};
    std::atomic<int> n_failed{0};
    std::atomic<int> n_canceled{0};
    const auto count = [&](const outcome& ended) noexcept {
        ++(ended.is_completed() ? n_completed : ended.is_failed() ? n_failed : n_canceled);
    };
    EXPECT_TRUE(finish(post(noop(comm_), then(count))));
    task failing = post(call([] { return MPI_ERR_OTHER; }, comm_), then(count));
    task successor = post(noop(comm_), after(failing), then(count));
    task survivor = post(noop(comm_), after(failing), run_after_failure, then([&]() noexcept { ++n_completed; }));
    EXPECT_TRUE(finish(successor).is_canceled());
    EXPECT_TRUE(finish(survivor));
    EXPECT_EQ(finish(failing).error_class(), MPI_ERR_OTHER);
    EXPECT_EQ(n_completed, 2);
    EXPECT_EQ(n_failed, 1);
    EXPECT_EQ(n_canceled, 1);
}

TEST_F(CppPosting, ClosuresAreDestroyedOnceTheirTaskHasEnded) {
    std::atomic<int> alive{0};
    std::atomic<int> calls{0};
    const auto ended_well = [mine = tracked{alive}, &calls](const outcome&) noexcept { ++calls; };
    const auto work = [mine = tracked{alive}, &calls] { ++calls; };
    const auto begin = [mine = tracked{alive}, &calls, this](MPI_Request* request) {
        ++calls;
        return MPI_Ibarrier(comm_, request);
    };
    EXPECT_EQ(alive, 3);
    run(noop(comm_), then(ended_well));
    EXPECT_EQ(alive, 3);
    run(call(work, comm_), then(ended_well));
    run(call(work, comm_));
    run(start(begin, comm_), then([&calls]() noexcept { ++calls; }));
    EXPECT_EQ(alive, 3);
    EXPECT_EQ(calls, 6);
}

TEST_F(CppPosting, ClosuresOfATaskThatNeverStartsAreDestroyedToo) {
    std::atomic<int> alive{0};
    event never;
    std::atomic<int> calls{0};
    task waiting = post(call([mine = tracked{alive}, &calls] { ++calls; }, comm_), after(never));
    EXPECT_EQ(alive, 1);
    waiting.cancel();
    EXPECT_TRUE(finish(waiting).is_canceled());
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(calls, 0);
    never.signal();
}

TEST_F(CppPosting, ClosuresOfARefusedPostAreDestroyedAtOnce) {
    std::atomic<int> alive{0};
    EXPECT_EQ(code_of([&] {
                  post_detached(call([mine = tracked{alive}] {}, MPI_COMM_NULL),
                                then([mine = tracked{alive}](const outcome&) noexcept {}));
              }),
              COMMTASK_ERR_COMM);
    EXPECT_EQ(alive, 0);
}

TEST_F(CppPosting, MoveOnlyClosuresAreMoved) {
    auto value = std::make_unique<int>(rank_);
    int seen = -1;
    run(call([value = std::move(value), &seen] { seen = *value; }, comm_));
    EXPECT_EQ(seen, rank_);
}

TEST_F(CppPosting, AnExceptionThatLeavesADoorFailsItsTaskAlone) {
    task thrower = post(call([]() -> void { throw std::runtime_error{"no"}; }, comm_));
    task other = post(start([](MPI_Request*) -> int { throw 1; }, comm_));
    task unrelated = post(noop(comm_));
    EXPECT_EQ(finish(thrower).error_class(), MPI_ERR_OTHER);
    EXPECT_EQ(finish(other).error_class(), MPI_ERR_OTHER);
    EXPECT_TRUE(finish(unrelated));
}

TEST_F(CppPosting, AWrongArgumentThrowsWithItsCodeAndASentenceAndPostsNothing) {
    std::array<int, 1> buffer{};
    const auto refused = [&](auto what) { return code_of([&] { post_detached(what); }); };
    EXPECT_EQ(refused(send(buffer, n_ranks_, 0, comm_)), COMMTASK_ERR_RANK);
    EXPECT_EQ(refused(send(buffer, 0, -5, comm_)), COMMTASK_ERR_TAG);
    EXPECT_EQ(refused(recv(elements(buffer.data(), -1, MPI_INT), 0, 0, comm_)), COMMTASK_ERR_COUNT);
    EXPECT_EQ(refused(recv(elements(nullptr, 1, MPI_INT), 0, 0, comm_)), COMMTASK_ERR_BUFFER);
    EXPECT_EQ(refused(barrier(MPI_COMM_NULL)), COMMTASK_ERR_COMM);
    EXPECT_EQ(code_of([] { event none{0}; }), COMMTASK_ERR_ARGUMENT);
    try {
        post_detached(send(buffer, n_ranks_, 0, comm_));
    } catch (const std::runtime_error& caught) {
        EXPECT_NE(std::string{caught.what()}.find("dest"), std::string::npos) << caught.what();
    }
}

TEST_F(CppPosting, AReportIsWrittenBeforeSuccessorsStart) {
    outcome report;
    bool was_failed = false;
    task failing = post(call([] { return MPI_ERR_OTHER; }, comm_), report_to(report));
    run(call([&] { was_failed = report.is_failed(); }, comm_), after(failing), run_after_failure);
    EXPECT_TRUE(was_failed);
}

TEST_F(CppPosting, OrderedTasksStartInTheOrderOfTheirTickets) {
    std::vector<int> started;
    const auto note = [&](int number) { return call([&started, number] { started.push_back(number); }, comm_); };
    event go;
    task first = post(note(1), ordered, after(go));
    ticket second{noop(comm_)};
    EXPECT_TRUE(second);
    ticket given_up{noop(comm_)};
    task third = post(note(3), ordered);
    task unordered_one = post(note(0));
    EXPECT_TRUE(finish(unordered_one));
    task last = post(note(2), at(second));
    EXPECT_FALSE(second);
    { const ticket dropped{std::move(given_up)}; }
    go.signal();
    EXPECT_TRUE(finish(third));
    EXPECT_TRUE(finish(last));
    EXPECT_TRUE(finish(first));
    EXPECT_EQ(started, (std::vector{0, 1, 2, 3}));
}

TEST_F(CppPosting, CollectivesAreInProgramOrderUnlessUnordered) {
    event go;
    int sum = 0;
    const int mine = 1;
    task first = post(allreduce(one(mine), one(sum), MPI_SUM, comm_), after(go));
    task second = post(barrier(comm_));
    EXPECT_FALSE(second.wait_for(std::chrono::milliseconds{5}));
    go.signal();
    EXPECT_TRUE(finish(first));
    EXPECT_TRUE(finish(second));
    EXPECT_EQ(sum, n_ranks_);

    event later;
    task behind = post(barrier(comm_), after(later), unordered);
    task ahead = post(bcast(one(sum), 0, comm_), unordered);
    EXPECT_TRUE(finish(ahead));
    later.signal();
    EXPECT_TRUE(finish(behind));
}

/// The smallest queue, so that it can be filled.
class CppBackpressure : public CppFace {
    [[nodiscard]] config settings() const override {
        config small;
        small.queue_capacity = 64;
        return small;
    }
};

TEST_F(CppBackpressure, TryPostRefusesWhenTheQueueIsFullAndNothingIsLost) {
    std::atomic<bool> is_blocked{false};
    std::atomic<bool> may_go{false};
    // lint says tests do not sleep; this holds the worker up until the queue is full.
    task blocker = post(call(
        [&] {
            is_blocked = true;
            is_blocked.notify_one();
            may_go.wait(false);
        },
        comm_));
    // Somebody must drive a worker that shares its core.
    std::thread waiter{[&] { EXPECT_TRUE(finish(blocker)); }};
    is_blocked.wait(false);
    std::atomic<int> calls{0};
    int accepted = 0;
    while (std::optional<task> posted = try_post(noop(comm_), then([&calls]() noexcept { ++calls; }))) ++accepted;
    EXPECT_GE(accepted, 32);
    may_go = true;
    may_go.notify_one();
    waiter.join();
    run(noop(comm_));
    EXPECT_EQ(calls, accepted);
}

} // namespace
} // namespace commtask::test
