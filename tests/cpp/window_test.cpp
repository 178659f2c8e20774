// SPDX-License-Identifier: Apache-2.0
//
// Windows in C++: what is written by one rank's tasks is read by another's, with datatypes that the compiler found, and what
// does not fit the window's elements does not compile. What MPI does with them is tested through the C interface.
#include "cpp_front_end.hpp"

#include <array>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace commtask::test {
namespace {

class Windows : public CppFace {
protected:
    static constexpr int n_elements = 64;
    void SetUp() override {
        CppFace::SetUp();
        ASSERT_EQ(MPI_Win_allocate(n_elements * sizeof(double), sizeof(double), MPI_INFO_NULL, comm_,
                                   static_cast<void*>(&exposed_), &handle_),
                  MPI_SUCCESS);
        std::iota(exposed_, exposed_ + n_elements, 1000.0 * rank_);
        MPI_Barrier(comm_);
    }
    void TearDown() override {
        EXPECT_EQ(MPI_Win_free(&handle_), MPI_SUCCESS);
        CppFace::TearDown();
    }

    MPI_Win handle_ = MPI_WIN_NULL;
    double* exposed_ = nullptr;
};

TEST_F(Windows, WhatIsPutIsReadByItsTarget) {
    window<double> shared{handle_, comm_};
    const std::vector<double> sent(5, 0.5 + rank_);
    task putting = post(shared.put_notify(sent, right(), 3, 1));
    run(shared.await_notify(1, 1, left()));
    EXPECT_EQ(std::vector<double>(exposed_ + 3, exposed_ + 8), std::vector<double>(5, 0.5 + left()));
    EXPECT_EQ(exposed_[8], 1000.0 * rank_ + 8);
    EXPECT_TRUE(finish(putting));
    shared.unregister();
    EXPECT_EQ(shared.native(), MPI_WIN_NULL);
}

TEST_F(Windows, APutAfterItsPredecessorAndItsFlush) {
    window<double> shared{handle_, comm_};
    std::array<double, 2> values{-1, -1};
    task reading = post(shared.get(values, left(), 10));
    task putting = post(shared.put(values, right(), 20), after(reading));
    run(shared.flush(right()), after(putting));
    run(barrier(comm_));
    run(shared.sync());
    const double two_away = 1000.0 * ((rank_ + 2 * n_ranks_ - 2) % n_ranks_);
    EXPECT_EQ(exposed_[20], two_away + 10);
    EXPECT_EQ(exposed_[21], two_away + 11);
    run(barrier(comm_));
    shared.unregister();
}

TEST_F(Windows, WhatIsAccumulatedIsReadBefore) {
    window<double> shared{handle_, comm_};
    const double one = 1;
    const std::vector<double> ones(3, 1.0);
    std::vector<double> before(3, -1.0);
    double fetched = -1;
    run(shared.get_accumulate(ones, before, right(), 0, MPI_SUM));
    EXPECT_EQ(before, (std::vector<double>{1000.0 * right(), 1000.0 * right() + 1, 1000.0 * right() + 2}));
    run(shared.fetch_and_op(one, fetched, right(), 1, MPI_SUM));
    EXPECT_EQ(fetched, 1000.0 * right() + 2);
    run(shared.accumulate(ones, right(), 0, MPI_SUM));
    run(shared.flush_all());
    run(barrier(comm_));
    run(shared.sync());
    EXPECT_EQ(exposed_[0], 1000.0 * rank_ + 2);
    EXPECT_EQ(exposed_[1], 1000.0 * rank_ + 4);
    EXPECT_EQ(code_of([&] { post(shared.get_accumulate(ones, std::span{before}.first(2), 0, 0, MPI_SUM)).release(); }),
              COMMTASK_ERR_COUNT);
    shared.unregister();
}

TEST_F(Windows, AnAnswerSaysThatTheTargetMayWriteAgain) {
    window<double> shared{handle_, comm_};
    std::array<double, 2> values{-1, -1};
    task reading = post(shared.get_notify(values, left(), 10, 2));
    run(shared.await_notify(2, 1, right()));
    exposed_[10] = -1;
    EXPECT_TRUE(finish(reading));
    EXPECT_EQ(values[0], 1000.0 * left() + 10);
    run(barrier(comm_));
    shared.unregister();
}

TEST_F(Windows, EpochsOfTheProgram) {
    window<double> shared{handle_, comm_, epochs::of_program};
    const std::array<double, 1> value{0.5 + rank_};
    const auto expect_at = [this](int place) { EXPECT_EQ(exposed_[place], 0.5 + left()); };
    post_detached(shared.fence());
    post_detached(shared.put(value, right(), 0));
    run(shared.fence(MPI_MODE_NOSUCCEED));
    expect_at(0);

    MPI_Group all = MPI_GROUP_NULL;
    MPI_Comm_group(comm_, &all);
    post_detached(shared.post(all));
    post_detached(shared.start(all));
    post_detached(shared.put(value, right(), 1));
    post_detached(shared.complete());
    run(shared.wait());
    expect_at(1);
    MPI_Group_free(&all);

    post_detached(shared.lock(right(), MPI_LOCK_SHARED));
    post_detached(shared.put(value, right(), 2));
    run(shared.unlock(right()));
    run(barrier(comm_));
    post_detached(shared.lock(rank_, MPI_LOCK_SHARED)); // what others put is seen in a lock of one's own
    run(shared.unlock(rank_));
    expect_at(2);
    shared.unregister();
}

TEST_F(Windows, OneRankWinsASwap) {
    int* exposed = nullptr;
    MPI_Win handle = MPI_WIN_NULL;
    ASSERT_EQ(MPI_Win_allocate(n_elements * sizeof(int), sizeof(int), MPI_INFO_NULL, comm_,
                               static_cast<void*>(&exposed), &handle),
              MPI_SUCCESS);
    exposed[0] = -1;
    MPI_Barrier(comm_);
    {
        window<int> shared{handle, comm_};
        const int nobody = -1;
        int before = -2;
        run(shared.compare_and_swap(rank_, nobody, before, 0, 0));
        int n_winners = 0;
        const int has_won = before == nobody ? 1 : 0;
        run(allreduce(one(has_won), one(n_winners), MPI_SUM, comm_));
        EXPECT_EQ(n_winners, 1);
        shared.unregister();
    }
    EXPECT_EQ(MPI_Win_free(&handle), MPI_SUCCESS);
}

TEST_F(Windows, AFileIsClosedOnceItsTasksHaveEnded) {
    MPI_File file = MPI_FILE_NULL;
    ASSERT_EQ(MPI_File_open(comm_, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &file), MPI_SUCCESS);
    event go;
    task writing = post(operation{commtask_op_file_write_at(0, &rank_, 1, MPI_INT, file, comm_)}, after(go));
    EXPECT_EQ(code_of([&] { close_file(file, comm_); }), COMMTASK_ERR_RUNNING);
    EXPECT_TRUE(file != MPI_FILE_NULL);
    go.signal();
    EXPECT_TRUE(finish(writing).is_completed());
    close_file(file, comm_);
    EXPECT_TRUE(file == MPI_FILE_NULL);
}

TEST_F(Windows, ARefusalThrows) {
    EXPECT_EQ(code_of([&] { window<double>{MPI_WIN_NULL, comm_}.unregister(); }), COMMTASK_ERR_WINDOW);
    window<double> shared{handle_, comm_};
    const std::vector<double> values(2);
    EXPECT_EQ(code_of([&] { post(shared.put(values, right(), n_elements - 1)).release(); }), COMMTASK_ERR_DISPLACEMENT);
    shared.unregister();
    EXPECT_EQ(code_of([&] { post(shared.flush_all()).release(); }), COMMTASK_ERR_WINDOW);
}

template <typename Element, typename Buffer>
concept can_put = requires(const window<Element>& shared, Buffer& buffer) { shared.put(buffer, 0, 0); };
template <typename Element, typename Buffer>
concept can_get = requires(const window<Element>& shared, Buffer& buffer) { shared.get(buffer, 0, 0); };
template <typename Element, typename Value>
concept can_fetch = requires(const window<Element>& shared, Value&& value, Element& result) {
    shared.fetch_and_op(std::forward<Value>(value), result, 0, 0, MPI_SUM);
};
static_assert(can_put<double, const std::vector<double>> && can_put<double, const_block>);
static_assert(!can_put<double, std::vector<float>>, "the window's elements are double");
static_assert(can_get<double, std::vector<double>>);
static_assert(!can_get<double, const std::vector<double>>, "it would be written to");
static_assert(can_fetch<int, const int&>);
static_assert(!can_fetch<int, int>, "the contribution would be gone before the task runs");

} // namespace
} // namespace commtask::test
