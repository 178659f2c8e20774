// SPDX-License-Identifier: Apache-2.0
//
// Tasks come into a lane in the order of their posts, by whichever way: through the ring, without a cell, or taken out early. A real
// lane needs all three at once; the order is easier to see here.
#include "core/submission_queue.hpp"
#include "core/task_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace commtask::detail {
namespace {

constexpr std::size_t capacity = 64;

class SubmissionQueue : public ::testing::Test {
protected:
    ~SubmissionQueue() override {
        for (task* const each : tasks_) task_pool::release(each);
    }
    [[nodiscard]] task& make() { return *tasks_.emplace_back(task_pool::acquire()); }
    [[nodiscard]] std::vector<task*> make(std::size_t n) {
        std::vector<task*> made;
        for (std::size_t i = 0; i < n; ++i) made.push_back(&make());
        return made;
    }
    /// Of all that take() gives before it finds nothing.
    [[nodiscard]] std::vector<task*> take_all() {
        std::vector<task*> taken;
        while (task* const each = queue.take()) {
            taken.push_back(each);
            if (taken.size() % capacity == 0) queue.publish_free_cells();
        }
        return taken;
    }

    submission_queue queue{capacity, false};

private:
    std::vector<task*> tasks_;
};

TEST_F(SubmissionQueue, TasksWithoutACellComeInTheirPlace) {
    const std::vector<task*> posted = make(capacity + 3);
    for (task* const each : posted) queue.put_without_waiting(*each);
    EXPECT_TRUE(queue.could_take());
    std::vector<task*> taken{queue.take()};
    queue.publish_free_cells();
    // A submitter that finds room again comes behind those that found none.
    task& last = make();
    queue.put_without_waiting(last);
    for (task* const each : take_all()) taken.push_back(each);
    std::vector<task*> wanted = posted;
    wanted.push_back(&last);
    EXPECT_EQ(taken, wanted);
    EXPECT_TRUE(queue.is_empty());
    EXPECT_FALSE(queue.has_kept());
}

TEST_F(SubmissionQueue, ATaskWithoutACellIsKeptWhileItsPlaceHasNotCome) {
    const std::vector<task*> posted = make(capacity + 1);
    for (task* const each : posted) queue.put_without_waiting(*each);
    for (std::size_t i = 0; i < capacity; ++i) ASSERT_EQ(queue.take(), posted[i]);
    EXPECT_TRUE(queue.has_posted()) << "a worker that is about to wait must see its place";
    EXPECT_EQ(queue.take(), posted.back());
    EXPECT_FALSE(queue.has_posted());
}

TEST_F(SubmissionQueue, TasksThatWereTakenEarlyComeFirst) {
    const std::vector<task*> posted = make(capacity);
    for (task* const each : posted) ASSERT_TRUE(queue.try_put(*each, [] {}));
    bool is_called = false;
    task& next = make();
    EXPECT_FALSE(queue.try_put(next, [&] { is_called = true; }));
    EXPECT_FALSE(is_called) << "a task without room has no turn";
    while (!queue.try_put(next, [&] { is_called = true; })) queue.make_room();
    EXPECT_TRUE(is_called);
    EXPECT_TRUE(queue.has_early());
    EXPECT_TRUE(queue.has_kept());
    std::vector<task*> wanted = posted;
    wanted.push_back(&next);
    EXPECT_EQ(take_all(), wanted);
    EXPECT_FALSE(queue.has_kept());
}

TEST_F(SubmissionQueue, TasksWithoutACellMayBeTakenEarlyToo) {
    const std::vector<task*> posted = make(capacity + 3);
    for (task* const each : posted) queue.put_without_waiting(*each);
    for (std::size_t i = 0; i < capacity + 1; ++i) queue.make_room();
    EXPECT_EQ(take_all(), posted);
}

TEST_F(SubmissionQueue, WhatIsHandedOverIsSeenAndComesOnce) {
    task& first = make();
    task& second = make();
    queue.push_marked(first);
    queue.push_marked(second);
    EXPECT_FALSE(queue.is_empty());
    EXPECT_TRUE(queue.could_have_any());
    EXPECT_FALSE(queue.has_posted());
    task* const taken = queue.take_marked();
    EXPECT_EQ(taken, &first);
    EXPECT_EQ(taken->next_marked, &second);
    EXPECT_EQ(second.next_marked, nullptr);
    EXPECT_EQ(queue.take_marked(), nullptr);
    EXPECT_TRUE(queue.is_empty());
}

// Two threads that wait for room, and two that must not: each thread's tasks come in its order, and none is lost.
TEST_F(SubmissionQueue, KeepsEachThreadsOrderByAllWays) {
    constexpr std::size_t n_threads = 4;
    constexpr std::size_t n_tasks = 5000;
    std::vector<std::vector<task*>> posted;
    for (std::size_t i = 0; i < n_threads; ++i) posted.push_back(make(n_tasks));
    std::vector<std::size_t> next(n_threads);
    std::size_t n_wrong = 0; // the submitters wait for room until all are taken
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < n_threads; ++i) {
            threads.emplace_back([&, i] {
                for (task* const each : posted[i]) {
                    if (i % 2 == 0) {
                        queue.put(*each, [] { return true; });
                    } else {
                        queue.put_without_waiting(*each);
                    }
                }
            });
        }
        for (std::size_t n = 0; n < n_threads * n_tasks;) {
            task* const taken = queue.take();
            if (taken == nullptr) {
                queue.publish_free_cells();
                std::this_thread::yield();
                continue;
            }
            ++n;
            bool is_next = false;
            for (std::size_t i = 0; i < n_threads && !is_next; ++i) {
                is_next = next[i] < n_tasks && posted[i][next[i]] == taken;
                if (is_next) ++next[i];
            }
            if (!is_next) ++n_wrong;
        }
    }
    EXPECT_EQ(n_wrong, 0U);
    EXPECT_TRUE(queue.is_empty());
    EXPECT_FALSE(queue.has_kept());
}

} // namespace
} // namespace commtask::detail
