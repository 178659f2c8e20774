// SPDX-License-Identifier: Apache-2.0
//
// The fixture of the tests of the C++ face: a runtime and a communicator of its own for each test, and a limit on every
// wait, so that a task that never ends is a failure with a line number.
#pragma once

#include <commtask/commtask.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <vector>

namespace commtask::test {

inline constexpr std::chrono::seconds limit{30};

/// Waits; a task that does not end counts as canceled.
inline outcome finish(task& waited) {
    if (const std::optional<outcome> ended = waited.wait_for(limit)) return *ended;
    ADD_FAILURE() << "the task did not end";
    outcome none;
    none.native().state = COMMTASK_STATE_CANCELED;
    return none;
}
inline outcome finish(task&& waited) { return finish(waited); }

/// Posts, waits, expects success.
template <typename What, typename... Options>
outcome carry_out(What&& what, Options&&... options) {
    const outcome ended = finish(post(std::forward<What>(what), std::forward<Options>(options)...));
    EXPECT_TRUE(ended.is_completed()) << "MPI error class " << ended.error_class();
    return ended;
}

/// The same, for outcomes that say no more than that.
template <typename What, typename... Options>
void run(What&& what, Options&&... options) {
    static_cast<void>(carry_out(std::forward<What>(what), std::forward<Options>(options)...));
}

/// The code of the error that a call throws; COMMTASK_OK if it throws none.
template <typename Call>
int code_of(Call&& call) {
    try {
        call();
    } catch (const error& caught) {
        EXPECT_STRNE(caught.what(), "");
        return caught.code();
    }
    return COMMTASK_OK;
}

class CppFace : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), MPI_SUCCESS);
        MPI_Comm_rank(comm_, &rank_);
        MPI_Comm_size(comm_, &n_ranks_);
        runtime_.emplace(settings());
    }
    void TearDown() override {
        if (runtime_) {
            EXPECT_EQ(runtime_->finalize(), ends_clean_);
        }
        EXPECT_EQ(MPI_Comm_free(&comm_), MPI_SUCCESS);
    }
    [[nodiscard]] virtual config settings() const { return {}; }

    [[nodiscard]] int left() const { return (rank_ + n_ranks_ - 1) % n_ranks_; }
    [[nodiscard]] int right() const { return (rank_ + 1) % n_ranks_; }
    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(n_ranks_); }

    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = -1;
    int n_ranks_ = 0;
    bool ends_clean_ = true;
    std::optional<runtime> runtime_;
};

} // namespace commtask::test
