// SPDX-License-Identifier: Apache-2.0
//
// The pool and threads that end: also objects that are destroyed after the thread's own store of slots use it. What is lost
// shows in the number of slots that had to be made.
#include "core/task_pool.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace commtask::detail {
namespace {

/// Takes and gives slots in its destructor. Made before the thread uses the pool, it is destroyed after the thread's store.
struct late_user {
    bool takes;
    std::vector<task*> given{};
    ~late_user() {
        for (task* const slot : given) task_pool::release(slot);
        if (!takes) return;
        task* const slot = task_pool::acquire();
        task* const other = task_pool::acquire();
        task_pool::release(slot);
        task_pool::release(other);
    }
};

TEST(TaskPool, LosesNothingToDestructorsThatRunAfterTheThreadsStoreIsGone) {
    const auto use_late = [](bool takes) {
        std::thread{[takes] {
            thread_local late_user last{takes};
            for (int i = 0; i < 3; ++i) last.given.push_back(task_pool::acquire());
        }}.join();
    };
    use_late(true);
    const std::size_t n_slots = task_pool::slot_count();
    for (int i = 0; i < 100; ++i) use_late(i % 2 == 0);
    EXPECT_EQ(task_pool::slot_count(), n_slots);
}

TEST(TaskPool, AThreadThatOnlyGivesBackKeepsNothingWhenItEnds) {
    std::size_t n_slots = 0;
    for (int i = 0; i < 50; ++i) {
        std::vector<task*> taken;
        for (int n = 0; n < 20; ++n) taken.push_back(task_pool::acquire());
        std::thread{[&] {
            for (task* const slot : taken) task_pool::release(slot);
        }}.join();
        if (i == 10) n_slots = task_pool::slot_count();
    }
    EXPECT_EQ(task_pool::slot_count(), n_slots);
}

} // namespace
} // namespace commtask::detail
