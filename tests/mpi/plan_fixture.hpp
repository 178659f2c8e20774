// SPDX-License-Identifier: Apache-2.0
//
// What the tests of plans share: recording by a function, and a plan that is given back at the end of its scope, where it
// must not be running any more.
#pragma once

#include "runtime_test.hpp"

#include <utility>

namespace commtask::test {

class plan {
public:
    /// Records what `body` posts.
    template <typename Body>
    explicit plan(Body&& body) {
        EXPECT_EQ(commtask_record_begin(), COMMTASK_OK) << commtask_last_error();
        std::forward<Body>(body)();
        EXPECT_EQ(commtask_record_end(&handle_), COMMTASK_OK) << commtask_last_error();
    }
    ~plan() {
        EXPECT_EQ(commtask_plan_release(&handle_), COMMTASK_OK) << commtask_last_error();
        EXPECT_EQ(handle_, COMMTASK_PLAN_NULL);
    }
    plan(const plan&) = delete;
    plan& operator=(const plan&) = delete;

    [[nodiscard]] commtask_t start(const commtask_options* how = nullptr) {
        commtask_t run = COMMTASK_NULL;
        EXPECT_EQ(commtask_plan_start(handle_, how, &run), COMMTASK_OK) << commtask_last_error();
        return run;
    }
    /// Starts and waits, expects success.
    void run(const commtask_options* how = nullptr) {
        commtask_t run = start(how);
        EXPECT_EQ(finish(run), COMMTASK_OK);
    }
    [[nodiscard]] commtask_t member(std::size_t which) {
        commtask_t task = COMMTASK_NULL;
        EXPECT_EQ(commtask_plan_member(handle_, which, &task), COMMTASK_OK) << commtask_last_error();
        return task;
    }
    [[nodiscard]] commtask_plan_t get() const { return handle_; }

private:
    commtask_plan_t handle_ = COMMTASK_PLAN_NULL;
};

/// A post whose handle nobody needs.
inline void post_detached(const commtask_op& operation, const commtask_options* how = nullptr) {
    EXPECT_EQ(commtask_post_operation(&operation, how, nullptr), COMMTASK_OK) << commtask_last_error();
}

} // namespace commtask::test
