// SPDX-License-Identifier: Apache-2.0
//
// What the MPI tests share: a fixture that starts the library for each test and expects it to end clean, and short
// words for posting and waiting. Every wait has a limit, so that a task that never ends is a failure with a line number
// and not a test that runs into its time limit.
#pragma once

#include <commtask/commtask.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace commtask::test {

inline constexpr std::int64_t second_ns = 1'000'000'000;
inline constexpr std::int64_t limit_ns = 30 * second_ns;

/// Kinds that a test of this program has posted, on whatever thread; mpi.operations wants all of them.
inline std::array<std::atomic<bool>, COMMTASK_OP_END> kinds_posted{};

/// commtask_options without the loose arrays.
class options {
public:
    options& after(std::initializer_list<commtask_t> tasks) {
        tasks_ = tasks;
        return *this;
    }
    options& on(std::initializer_list<commtask_event_t> events) {
        events_ = events;
        return *this;
    }
    options& flags(std::uint32_t flags) {
        value_.flags = flags;
        return *this;
    }
    options& call(commtask_callback callback, void* argument) {
        value_.callback = callback;
        value_.callback_argument = argument;
        return *this;
    }
    options& report_to(commtask_status& status) {
        value_.status = &status;
        return *this;
    }
    options& at(commtask_ticket ticket) {
        value_.ticket = ticket;
        return *this;
    }
    [[nodiscard]] const commtask_options* get() {
        value_.after = tasks_.data();
        value_.n_after = tasks_.size();
        value_.events = events_.data();
        value_.n_events = events_.size();
        return &value_;
    }

private:
    std::vector<commtask_t> tasks_;
    std::vector<commtask_event_t> events_;
    commtask_options value_ = COMMTASK_OPTIONS_INIT;
};

/// Posts what must not be refused.
inline commtask_t post(const commtask_op& operation, const commtask_options* how = nullptr) {
    commtask_t task = COMMTASK_NULL;
    EXPECT_EQ(commtask_post_operation(&operation, how, &task), COMMTASK_OK) << commtask_last_error();
    kinds_posted.at(static_cast<std::size_t>(operation.kind)) = true;
    return task;
}
inline commtask_t post(const commtask_op& operation, options& how) { return post(operation, how.get()); }

/// Waits; a task that does not end counts as failed, and its handle is let go.
inline int finish(commtask_t& task, commtask_status* status = nullptr) {
    const int code = commtask_wait_for(&task, limit_ns, status);
    if (code == COMMTASK_TIMEOUT) {
        ADD_FAILURE() << "the task did not end";
        EXPECT_EQ(commtask_release(&task), COMMTASK_OK);
    }
    EXPECT_EQ(task, COMMTASK_NULL);
    return code;
}

/// Posts, waits, expects success.
inline commtask_status run(const commtask_op& operation, const commtask_options* how = nullptr) {
    commtask_t task = post(operation, how);
    commtask_status status = COMMTASK_STATUS_INIT;
    EXPECT_EQ(finish(task, &status), COMMTASK_OK) << "MPI error class " << status.error_class;
    EXPECT_EQ(status.state, COMMTASK_STATE_COMPLETED);
    return status;
}

/// An event that is given back at the end of its scope.
class event {
public:
    explicit event(unsigned n_signals = 1) {
        EXPECT_EQ(commtask_event_create(n_signals, &handle_), COMMTASK_OK) << commtask_last_error();
    }
    ~event() { EXPECT_EQ(commtask_event_release(&handle_), COMMTASK_OK); }
    event(const event&) = delete;
    event& operator=(const event&) = delete;

    void signal() { EXPECT_EQ(commtask_event_signal(handle_), COMMTASK_OK) << commtask_last_error(); }
    [[nodiscard]] commtask_event_t get() const { return handle_; }

private:
    commtask_event_t handle_ = COMMTASK_EVENT_NULL;
};

/// A communicator of its own for each test, so that no message strays from one into another.
class Runtime : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), MPI_SUCCESS);
        MPI_Comm_rank(comm_, &rank_);
        MPI_Comm_size(comm_, &n_ranks_);
        const commtask_config settings = configuration();
        ASSERT_EQ(commtask_init(&settings), COMMTASK_OK) << commtask_last_error();
    }
    void TearDown() override {
        EXPECT_EQ(commtask_finalize(), COMMTASK_OK) << commtask_last_error();
        EXPECT_EQ(MPI_Comm_free(&comm_), MPI_SUCCESS);
    }
    [[nodiscard]] virtual commtask_config configuration() const { return COMMTASK_CONFIG_INIT; }

    [[nodiscard]] int left() const { return (rank_ + n_ranks_ - 1) % n_ranks_; }
    [[nodiscard]] int right() const { return (rank_ + 1) % n_ranks_; }
    [[nodiscard]] int last() const { return n_ranks_ - 1; }

    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = -1;
    int n_ranks_ = 0;
};

/// Entry i of what `rank` contributes.
inline int value_of(int rank, int i) { return 1'000'000 * (rank + 1) + i; }

inline std::vector<int> values_of(int rank, int count) {
    std::vector<int> values(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = value_of(rank, i);
    return values;
}

} // namespace commtask::test
