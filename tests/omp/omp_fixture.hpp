// SPDX-License-Identifier: Apache-2.0
//
// What the OpenMP tests share: the library is started once per program, before the first parallel region, and every test
// sees a ring of ranks. The team's size comes from OMP_NUM_THREADS, so that ctest runs one program with several.
#pragma once

#include <commtask/omp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

namespace omp_test {

/// Starts the library before the first test and ends it after the last.
class library : public testing::Environment {
public:
    void SetUp() override { ASSERT_EQ(commtask_init(nullptr), COMMTASK_OK) << commtask_last_error(); }
    void TearDown() override { EXPECT_EQ(commtask_finalize(), COMMTASK_OK) << commtask_last_error(); }
};

/// The same, of programs whose tasks fail or are refused with nobody looking: they go on, and commtask_finalize says so.
class library_of_failures : public library {
public:
    void SetUp() override {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        library::SetUp();
    }
    void TearDown() override { EXPECT_EQ(commtask_finalize(), COMMTASK_FAILED); }
};

/// A rank in a ring; no test may leave a communication error behind that it did not ask for.
class ring : public testing::Test {
protected:
    void SetUp() override {
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &n_ranks);
        left = (rank + n_ranks - 1) % n_ranks;
        right = (rank + 1) % n_ranks;
        commtask_omp_clear_errors();
    }
    void TearDown() override {
        char sentence[512] = "";
        commtask_omp_first_error(sentence, sizeof sentence);
        EXPECT_EQ(commtask_omp_error_count(), 0U) << sentence;
    }

    const MPI_Comm comm = MPI_COMM_WORLD;
    int rank = 0;
    int n_ranks = 1;
    int left = 0;
    int right = 0;
};

/// Archer 19 crashes in itself when a task with dependences is created outside of every parallel region.
[[nodiscard]] inline bool tasks_need_a_region() { return std::getenv("OMP_TOOL_LIBRARIES") != nullptr; }

/// How many tasks are many: slow under a sanitizer, so COMMTASK_TEST_TASKS can lower it.
[[nodiscard]] inline int task_count() {
    const char* text = std::getenv("COMMTASK_TEST_TASKS");
    return text != nullptr ? std::atoi(text) : 100000;
}

/// Computes for a while: n is about nanoseconds.
inline void compute(int n) {
    static std::atomic<int> sink{0};
    for (int i = 0; i < n; ++i) sink.store(i, std::memory_order_relaxed);
}

/// A small generator, so that a failing schedule can be had again.
class random_number {
public:
    explicit random_number(unsigned seed) : state_(seed) {}
    [[nodiscard]] int below(int limit) {
        state_ = state_ * 1664525U + 1013904223U;
        return static_cast<int>((state_ >> 8U) % static_cast<unsigned>(limit));
    }

private:
    unsigned state_;
};

/// An operation whose function runs on the worker and counts the runs.
inline int count_call(void* counter) {
    static_cast<std::atomic<int>*>(counter)->fetch_add(1);
    return MPI_SUCCESS;
}

} // namespace omp_test
