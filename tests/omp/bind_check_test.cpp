// SPDX-License-Identifier: Apache-2.0
//
// Whether tasks can be held is a matter of what stands in front of libomp: this program asks for nothing, and ctest runs it
// with libcommtask-omp-bind nowhere, in front and behind, and in front of a libomp that lacks what LLVM 19 brought.
#include "omp_fixture.hpp"

#include <string>

namespace {

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library_of_failures);

class HoldCheck : public omp_test::ring {};

TEST_F(HoldCheck, SaysWhetherTasksAreBoundAndWhyNot) {
    const std::string expected = std::getenv("BIND_TEST_EXPECTS");
    const int code = commtask_omp_bind_check();
    EXPECT_EQ(code, expected == "bound" ? COMMTASK_OK : COMMTASK_ERR_RUNTIME);
    if (code != COMMTASK_OK) {
        const std::string sentence = commtask_omp_last_error();
        EXPECT_NE(sentence.find(expected), std::string::npos) << sentence;
    }
}

TEST_F(HoldCheck, IsAnsweredByTheCheckOfTheRuntimeTooWhichFailsNoProgramThatHoldsNothing) {
    const std::string expected = std::getenv("BIND_TEST_EXPECTS");
    EXPECT_EQ(commtask_omp_spawn(nullptr, nullptr, 0, nullptr, 0, nullptr, 0, nullptr), COMMTASK_ERR_ARGUMENT);
    commtask_omp_clear_errors();
    EXPECT_EQ(commtask_omp_check(), COMMTASK_OK);
    const std::string sentence = commtask_omp_last_error();
    if (expected == "bound") {
        EXPECT_EQ(sentence, "");
    } else {
        EXPECT_NE(sentence.find(expected), std::string::npos) << sentence;
    }
}

TEST_F(HoldCheck, WhatCannotBeHeldIsRefusedAndNeverPosted) {
    const bool is_bound = commtask_omp_bind_check() == COMMTASK_OK;
    std::atomic<int> n_called = 0;
    int code = COMMTASK_OK;
    commtask_omp_set_error_handler([](const commtask_omp_error*, void*) {}, nullptr);
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task shared(n_called, code)
        code = commtask_omp_bind(commtask_op_call(omp_test::count_call, &n_called, comm));
    }
    commtask_omp_set_error_handler(nullptr, nullptr);
    commtask_omp_clear_errors();
    EXPECT_EQ(code, is_bound ? COMMTASK_OK : COMMTASK_ERR_RUNTIME);
    EXPECT_EQ(n_called, is_bound ? 1 : 0);
}

} // namespace
