// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.errors: what is wrong with a one-sided operation, or a registration, is refused with a code and a sentence that
// names the argument, before MPI sees it.
#include "one_sided_test.hpp"
#include "patience.hpp"

#include <array>
#include <atomic>
#include <climits>
#include <cstring>
#include <string>

namespace commtask::test {
namespace {

class OneSidedRefusals : public OneSided {
protected:
    static void refused(const commtask_op& op, int code, const char* word) {
        EXPECT_EQ(commtask_post_operation(&op, nullptr, nullptr), code) << commtask_last_error();
        EXPECT_NE(std::strstr(commtask_last_error(), word), nullptr) << commtask_last_error();
    }
    /// Of the program's own, with the handle of the one that was freed, where MPI uses it again; all of it is locked.
    [[nodiscard]] MPI_Win another_window(int*& memory) const {
        MPI_Win made = MPI_WIN_NULL;
        EXPECT_EQ(MPI_Win_allocate(n_elements * sizeof(int), sizeof(int), MPI_INFO_NULL, comm_,
                                   static_cast<void*>(&memory), &made),
                  MPI_SUCCESS);
        MPI_Win_lock_all(0, made);
        return made;
    }
    [[nodiscard]] commtask_op put(MPI_Aint displacement, MPI_Count count) const {
        return commtask_op_put(&rank_, 1, MPI_INT, right(), displacement, count, MPI_INT, window_);
    }
};

TEST_F(OneSidedRefusals, WhatLiesOutsideOfTheWindow) {
    run(put(n_elements - 1, 1));
    refused(put(n_elements, 1), COMMTASK_ERR_DISPLACEMENT, "target_disp is 256 in units of 4 bytes");
    refused(put(n_elements - 1, 2), COMMTASK_ERR_DISPLACEMENT, "target_disp");
    refused(put(-1, 1), COMMTASK_ERR_DISPLACEMENT, "target_disp is -1");
    refused(put(4 * (n_elements - 1), 1), COMMTASK_ERR_DISPLACEMENT, "units of 4 bytes"); // meant in bytes
    refused(put(INT64_MAX, 1), COMMTASK_ERR_DISPLACEMENT, "target_disp");
    refused(put(0, INT32_MAX), COMMTASK_ERR_DISPLACEMENT, "target_disp");
    int value = 0;
    refused(commtask_op_get(&value, 1, MPI_INT, right(), n_elements, 1, MPI_INT, window_), COMMTASK_ERR_DISPLACEMENT,
            "target_disp");
    refused(commtask_op_fetch_and_op(&value, &value, MPI_INT, right(), n_elements, MPI_SUM, window_),
            COMMTASK_ERR_DISPLACEMENT, "target_disp");
    refused(commtask_op_compare_and_swap(&value, &value, &value, MPI_INT, right(), -4, window_),
            COMMTASK_ERR_DISPLACEMENT, "target_disp");
}

TEST_F(OneSidedRefusals, WhatReachesOutsideWithAnotherDatatypeThanCs) {
    const auto put_of = [this](MPI_Aint displacement, MPI_Count count, MPI_Datatype type) {
        return commtask_op_put(exposed_, 1, MPI_INT, right(), displacement, count, type, window_);
    };
    for (MPI_Datatype each : {MPI_AINT, MPI_OFFSET, MPI_2INT, MPI_DOUBLE_INT}) {
        refused(put_of(0, n_elements, each), COMMTASK_ERR_DISPLACEMENT, "target_disp");
    }
    refused(put_of(1, n_elements, MPI_INTEGER), COMMTASK_ERR_DISPLACEMENT, "target_disp");
    MPI_Datatype apart = MPI_DATATYPE_NULL; // two elements, half of the window apart
    MPI_Type_vector(2, 1, n_elements / 2, MPI_INT, &apart);
    MPI_Type_commit(&apart);
    const std::array<int, 2> values{7, 8};
    const auto put_apart = [&](MPI_Aint displacement) {
        return commtask_op_put(values.data(), 2, MPI_INT, right(), displacement, 1, apart, window_);
    };
    run(put_apart(n_elements / 2 - 1));
    refused(put_apart(n_elements / 2), COMMTASK_ERR_DISPLACEMENT, "target_disp");
    refused(put_of(0, 2, apart), COMMTASK_ERR_DISPLACEMENT, "target_disp");
    refused(put_of(0, INT32_MAX, apart), COMMTASK_ERR_DISPLACEMENT, "target_disp");
    MPI_Datatype before = MPI_DATATYPE_NULL; // begins an element before its displacement
    const int length = 1;
    const int displacement = -1;
    MPI_Type_indexed(1, &length, &displacement, MPI_INT, &before);
    MPI_Type_commit(&before);
    run(put_of(n_elements, 1, before));
    refused(put_of(0, 1, before), COMMTASK_ERR_DISPLACEMENT, "target_disp is 0");
    everybody_has_written();
    EXPECT_EQ(exposed_[n_elements / 2 - 1], 7);
    MPI_Type_free(&before);
    MPI_Type_free(&apart);
}

TEST_F(OneSidedRefusals, EachTargetHasASizeAndAUnitOfItsOwn) {
    const auto n_ints_of = [](int rank) { return 64 * (rank + 1); };
    const auto unit_of = [](int rank) { return 4 >> rank % 3; };
    const MPI_Aint my_bytes = MPI_Aint{4} * n_ints_of(rank_);
    int* memory = nullptr;
    MPI_Win uneven = MPI_WIN_NULL;
    ASSERT_EQ(MPI_Win_allocate(my_bytes, unit_of(rank_), MPI_INFO_NULL, comm_, static_cast<void*>(&memory), &uneven),
              MPI_SUCCESS);
    ASSERT_EQ(commtask_win_register(uneven, comm_), COMMTASK_OK) << commtask_last_error();
    for (int target = 0; target < n_ranks_; ++target) {
        const int n_bytes = 4 * n_ints_of(target);
        const int unit = unit_of(target);
        const auto put_at = [&](int displacement) {
            return commtask_op_put(&rank_, 1, MPI_INT, target, displacement, 1, MPI_INT, uneven);
        };
        run(put_at((n_bytes - 4 * (rank_ + 1)) / unit)); // the last one is rank 0's
        const std::string part = " in units of " + std::to_string(unit) +
                                 " bytes, with 1 elements, and the window of rank " + std::to_string(target);
        const std::string size = " has only " + std::to_string(n_bytes) + " bytes";
        for (const int displacement : {n_bytes / unit, (n_bytes - 4) / unit + 1}) {
            refused(put_at(displacement), COMMTASK_ERR_DISPLACEMENT, part.c_str());
            refused(put_at(displacement), COMMTASK_ERR_DISPLACEMENT, size.c_str());
        }
    }
    run(commtask_op_flush_all(uneven));
    run(commtask_op_barrier(comm_));
    run(commtask_op_win_sync(uneven));
    for (int rank = 0; rank < n_ranks_; ++rank) EXPECT_EQ(memory[n_ints_of(rank_) - 1 - rank], rank);
    EXPECT_EQ(commtask_win_unregister(uneven), COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(MPI_Win_free(&uneven), MPI_SUCCESS);
}

TEST_F(OneSidedRefusals, SidesThatAreNotOfTheSameSize) {
    std::array<int, 64> values{};
    const auto refused_with = [&](MPI_Count count, MPI_Count target_count, MPI_Datatype target_type, const char* word) {
        int* const all = values.data();
        const int at = n_elements - 1;
        for (const commtask_op& each :
             {commtask_op_put(all, count, MPI_INT, right(), at, target_count, target_type, window_),
              commtask_op_get(all, count, MPI_INT, right(), at, target_count, target_type, window_),
              commtask_op_accumulate(all, count, MPI_INT, right(), at, target_count, target_type, MPI_SUM, window_),
              commtask_op_get_accumulate(all, all, count, MPI_INT, right(), at, target_count, target_type, MPI_SUM,
                                         window_),
              commtask_op_put_notify(all, count, MPI_INT, right(), at, target_count, target_type, 0, window_),
              commtask_op_get_notify(all, count, MPI_INT, right(), at, target_count, target_type, 0, window_)}) {
            refused(each, COMMTASK_ERR_COUNT, word);
        }
    };
    refused_with(64, 1, MPI_INT, "origin has 256 bytes, target 4");
    refused_with(0, 1, MPI_INT, "origin has 0 bytes, target 4");
    refused_with(64, 3, MPI_BYTE, "origin has 256 bytes, target 3");
    refused_with(1, 1, MPI_SHORT, "origin has 4 bytes, target 2");
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    refused(commtask_op_put(values.data(), 3, MPI_INT, right(), 0, 1, pair, window_), COMMTASK_ERR_COUNT,
            "origin has 12 bytes, target 8");
    run(commtask_op_put(values.data(), 2, MPI_INT, right(), 0, 1, pair, window_));
    run(commtask_op_accumulate(values.data(), 1, pair, right(), 0, 2, MPI_INT, MPI_SUM, window_));
    run(commtask_op_put(values.data(), 1, MPI_INT, right(), n_elements - 1, 4, MPI_BYTE, window_));
    run(commtask_op_put(values.data(), 2, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window_));
    MPI_Type_free(&pair);
}

TEST_F(OneSidedRefusals, ReductionsOfTwoTypesOfElements) {
    std::array<int, 2> values{};
    refused(commtask_op_accumulate(values.data(), 2, MPI_INT, right(), 0, 1, MPI_DOUBLE, MPI_SUM, window_),
            COMMTASK_ERR_TYPE, "origin and target datatype");
    refused(commtask_op_get_accumulate(values.data(), values.data(), 1, MPI_INT, right(), 0, 1, MPI_FLOAT, MPI_SUM,
                                       window_),
            COMMTASK_ERR_TYPE, "origin and target datatype");
}

TEST_F(OneSidedRefusals, RanksCountsTypesAndBuffers) {
    int value = 0;
    refused(commtask_op_put(&value, 1, MPI_INT, n_ranks_, 0, 1, MPI_INT, window_), COMMTASK_ERR_RANK, "target is");
    refused(commtask_op_flush(-5, window_), COMMTASK_ERR_RANK, "target is -5");
    refused(commtask_op_put(&value, -1, MPI_INT, right(), 0, 1, MPI_INT, window_), COMMTASK_ERR_COUNT, "count");
    refused(commtask_op_put(&value, 1, MPI_INT, right(), 0, -1, MPI_INT, window_), COMMTASK_ERR_COUNT, "target count");
    refused(commtask_op_get(&value, 1, MPI_DATATYPE_NULL, right(), 0, 1, MPI_INT, window_), COMMTASK_ERR_TYPE, "type");
    refused(commtask_op_get(&value, 1, MPI_INT, right(), 0, 1, MPI_DATATYPE_NULL, window_), COMMTASK_ERR_TYPE,
            "target type");
    refused(commtask_op_get(nullptr, 1, MPI_INT, right(), 0, 1, MPI_INT, window_), COMMTASK_ERR_BUFFER, "buffer");
    refused(commtask_op_accumulate(&value, 1, MPI_INT, right(), 0, 1, MPI_INT, MPI_OP_NULL, window_), COMMTASK_ERR_OP,
            "reduction");
    refused(commtask_op_fetch_and_op(nullptr, &value, MPI_INT, right(), 0, MPI_SUM, window_), COMMTASK_ERR_BUFFER,
            "origin_buffer");
    run(commtask_op_fetch_and_op(nullptr, &value, MPI_INT, right(), 0, MPI_NO_OP, window_));
    refused(commtask_op_compare_and_swap(&value, nullptr, &value, MPI_INT, right(), 0, window_), COMMTASK_ERR_BUFFER,
            "compare_buffer");
}

TEST_F(OneSidedRefusals, Notifications) {
    const int value = 0;
    refused(commtask_op_put_notify(&value, 1, MPI_INT, right(), 0, 1, MPI_INT, -1, window_), COMMTASK_ERR_TAG,
            "notification is -1");
    void* tag_upper_bound = nullptr;
    int is_set = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&tag_upper_bound), &is_set);
    const int most = *static_cast<int*>(tag_upper_bound);
    if (most < INT_MAX) {
        refused(commtask_op_put_notify(&value, 1, MPI_INT, right(), 0, 1, MPI_INT, most + 1, window_), COMMTASK_ERR_TAG,
                "notification is");
        refused(commtask_op_await_notify(most + 1, 1, left(), window_), COMMTASK_ERR_TAG, "notification is");
    }
    refused(commtask_op_await_notify(0, 0, left(), window_), COMMTASK_ERR_COUNT, "count of notifications is 0");
    refused(commtask_op_await_notify(0, -3, left(), window_), COMMTASK_ERR_COUNT, "count of notifications");
    refused(commtask_op_await_notify(-2, 1, left(), window_), COMMTASK_ERR_TAG, "notification is -2");
    refused(commtask_op_await_notify(0, 1, n_ranks_, window_), COMMTASK_ERR_RANK, "source is");
    refused(commtask_op_await_notify(0, 1, MPI_PROC_NULL, window_), COMMTASK_ERR_RANK, "MPI_PROC_NULL");
}

TEST_F(OneSidedRefusals, WindowsThatAreNotRegistered) {
    const int value = 0;
    refused(commtask_op_put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_WIN_NULL), COMMTASK_ERR_WINDOW, "window");
    EXPECT_EQ(commtask_win_register(MPI_WIN_NULL, comm_), COMMTASK_ERR_WINDOW);
    EXPECT_EQ(commtask_win_register(window_, comm_), COMMTASK_ERR_WINDOW);
    EXPECT_NE(std::strstr(commtask_last_error(), "registered already"), nullptr) << commtask_last_error();
    ASSERT_EQ(commtask_win_unregister(window_), COMMTASK_OK) << commtask_last_error();
    is_registered_ = false;
    EXPECT_EQ(commtask_win_unregister(window_), COMMTASK_ERR_WINDOW);
    EXPECT_EQ(commtask_win_register(window_, MPI_COMM_NULL), COMMTASK_ERR_COMM);
    refused(put(0, 1), COMMTASK_ERR_WINDOW, "not registered");
    refused(commtask_op_flush_all(window_), COMMTASK_ERR_WINDOW, "not registered");
    commtask_ticket ticket{};
    const commtask_op op = put(0, 1);
    EXPECT_EQ(commtask_ticket_take(&op, &ticket), COMMTASK_ERR_WINDOW);
}

TEST_F(OneSidedRefusals, AWindowThatIsInAnEpochOfOneRankIsRegisteredByNone) {
    ASSERT_EQ(commtask_win_unregister(window_), COMMTASK_OK) << commtask_last_error();
    is_registered_ = false;
    const bool is_inside = rank_ == last();
    if (is_inside) MPI_Win_lock(MPI_LOCK_SHARED, rank_, 0, window_);
    EXPECT_EQ(commtask_win_register(window_, comm_), COMMTASK_ERR_WINDOW);
    const char* const word = is_inside ? "has an open epoch on the window" : "could not register the window";
    EXPECT_NE(std::strstr(commtask_last_error(), word), nullptr) << commtask_last_error();
    int is_free = 1;
    if (is_inside) {
        MPI_Win_unlock(rank_, window_);
        MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
        is_free = MPI_Win_lock_all(0, window_) == MPI_SUCCESS ? 1 : 0;
        if (is_free != 0) MPI_Win_unlock_all(window_);
    }
    MPI_Allreduce(MPI_IN_PLACE, &is_free, 1, MPI_INT, MPI_MIN, comm_);
    if (is_free == 0)
        GTEST_SKIP() << "this MPI takes a window for locked once it has refused MPI_Win_lock_all in an epoch";
    ASSERT_EQ(commtask_win_register(window_, comm_), COMMTASK_OK) << commtask_last_error();
    is_registered_ = true;
    run(put(0, 1));
}

TEST_F(OneSidedRefusals, StartsOfAPlanWhoseWindowWasUnregistered) {
    commtask_plan_t plan = COMMTASK_PLAN_NULL;
    const commtask_op flush = commtask_op_flush_all(window_);
    ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
    EXPECT_EQ(commtask_post_operation(&flush, nullptr, nullptr), COMMTASK_OK) << commtask_last_error();
    ASSERT_EQ(commtask_record_end(&plan), COMMTASK_OK);
    commtask_t started = COMMTASK_NULL;
    EXPECT_EQ(commtask_plan_start(plan, nullptr, &started), COMMTASK_OK);
    EXPECT_EQ(finish(started), COMMTASK_OK);
    ASSERT_EQ(commtask_win_unregister(window_), COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(commtask_plan_start(plan, nullptr, nullptr), COMMTASK_ERR_COMM);
    ASSERT_EQ(commtask_win_register(window_, comm_), COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(commtask_plan_start(plan, nullptr, nullptr), COMMTASK_ERR_COMM) << "it is another communicator's now";
    EXPECT_EQ(commtask_plan_release(&plan), COMMTASK_OK);
}

TEST_F(OneSidedRefusals, ACommunicatorWithOtherRanks) {
    ASSERT_EQ(commtask_win_unregister(window_), COMMTASK_OK) << commtask_last_error();
    MPI_Comm turned = MPI_COMM_NULL;
    MPI_Comm_split(comm_, 0, -rank_, &turned);
    const int expected = n_ranks_ == 1 ? COMMTASK_OK : COMMTASK_ERR_COMM;
    EXPECT_EQ(commtask_win_register(window_, turned), expected) << commtask_last_error();
    if (n_ranks_ == 1) EXPECT_EQ(commtask_win_unregister(window_), COMMTASK_OK);
    MPI_Comm_free(&turned);
    ASSERT_EQ(commtask_win_register(window_, comm_), COMMTASK_OK) << commtask_last_error();
}

TEST_F(OneSidedRefusals, AnIntercommunicator) {
    if (n_ranks_ == 1) GTEST_SKIP() << "an intercommunicator has two groups";
    MPI_Comm group = MPI_COMM_NULL;
    MPI_Comm between = MPI_COMM_NULL;
    MPI_Comm_split(comm_, rank_ == 0 ? 0 : 1, 0, &group); // of different sizes where there are more than two
    MPI_Intercomm_create(group, 0, comm_, rank_ == 0 ? 1 : 0, 5, &between);
    int* memory = nullptr;
    MPI_Win of_group = MPI_WIN_NULL;
    ASSERT_EQ(MPI_Win_allocate(n_elements * sizeof(int), sizeof(int), MPI_INFO_NULL, group, static_cast<void*>(&memory),
                               &of_group),
              MPI_SUCCESS);
    EXPECT_EQ(commtask_win_register(of_group, between), COMMTASK_ERR_COMM);
    EXPECT_NE(std::strstr(commtask_last_error(), "intercommunicator"), nullptr) << commtask_last_error();
    MPI_Win_free(&of_group);
    MPI_Comm_free(&between);
    MPI_Comm_free(&group);
}

TEST_F(OneSidedRefusals, AWindowWithUnfinishedTasksStaysRegistered) {
    event go;
    options how;
    commtask_t waiting = post(put(0, 1), how.on({go.get()}));
    EXPECT_EQ(commtask_win_unregister(window_), COMMTASK_ERR_RUNNING);
    EXPECT_NE(std::strstr(commtask_last_error(), "1 tasks"), nullptr) << commtask_last_error();
    go.signal();
    EXPECT_EQ(finish(waiting), COMMTASK_OK);
}

int register_in_callback(void* argument) {
    auto& codes = *static_cast<int(*)[2]>(argument);
    codes[0] = commtask_win_register(MPI_WIN_NULL, MPI_COMM_WORLD);
    return MPI_SUCCESS;
}

TEST_F(OneSidedRefusals, OneWhoDrivesCannotWaitForOtherRanks) {
    struct question {
        MPI_Win window;
        int code;
    } asked{window_, COMMTASK_OK};
    const auto unregister = [](void* argument) -> int {
        auto& what = *static_cast<question*>(argument);
        what.code = commtask_win_unregister(what.window);
        return MPI_SUCCESS;
    };
    run(commtask_op_call(+unregister, &asked, comm_));
    EXPECT_EQ(asked.code, COMMTASK_ERR_WORKER_THREAD);
    int codes[2] = {COMMTASK_OK, COMMTASK_OK};
    run(commtask_op_call(register_in_callback, &codes, comm_));
    EXPECT_EQ(codes[0], COMMTASK_ERR_WINDOW);
}

TEST_F(OneSidedRefusals, AFreedWindowIsKnownNoMore) {
    const commtask_op op = put(0, 1);
    everybody_has_written();
    run(commtask_op_barrier(comm_));
    EXPECT_EQ(MPI_Win_free(&window_), MPI_SUCCESS);
    is_registered_ = false;
    refused(op, COMMTASK_ERR_WINDOW, "freed");
    int* memory = nullptr;
    window_ = another_window(memory);
    refused(op, COMMTASK_ERR_WINDOW, "freed");
    MPI_Win_unlock_all(window_);
    ASSERT_EQ(commtask_win_register(window_, comm_), COMMTASK_OK) << commtask_last_error();
    is_registered_ = true;
    run(put(0, 1));
}

TEST_F(OneSidedRefusals, WhatHadNotStartedWhenItsWindowWasFreedFails) {
    event go;
    options waits;
    commtask_t late = post(put(0, 1), waits.on({go.get()}).get());
    everybody_has_written();
    run(commtask_op_barrier(comm_));
    EXPECT_EQ(MPI_Win_free(&window_), MPI_SUCCESS);
    is_registered_ = false;
    int* memory = nullptr;
    MPI_Win other = another_window(memory);
    *memory = -1;
    go.signal();
    commtask_status status = COMMTASK_STATUS_INIT;
    EXPECT_EQ(commtask_wait(&late, &status), COMMTASK_FAILED);
    EXPECT_EQ(status.error_class, MPI_ERR_WIN);
    MPI_Win_unlock_all(other);
    run(commtask_op_barrier(comm_));
    EXPECT_EQ(*memory, -1) << "it went to a window that was made since";
    MPI_Win_free(&other);
}

/// Of a program's function that keeps the worker until the window is freed.
struct held_worker {
    std::atomic<bool> is_inside{false};
    std::atomic<bool> may_leave{false};
};
void hold(const commtask_status* /*status*/, void* argument) {
    auto& here = *static_cast<held_worker*>(argument);
    here.is_inside = true;
    EXPECT_TRUE(detail::testing::comes_true([&] { return here.may_leave.load(); }));
}

TEST_F(OneSidedRefusals, NotificationsThatAreSeenAfterTheirWindowWasFreedEndNothingWell) {
    if (n_ranks_ == 1) GTEST_SKIP() << "nobody else notifies";
    held_worker worker;
    std::array<commtask_t, 2> awaiting{COMMTASK_NULL, COMMTASK_NULL};
    if (rank_ == last()) {
        for (int n = 1; commtask_t & each : awaiting) {
            each = post(commtask_op_await_notify(n, n, 0, window_));
            ++n;
        }
        run(commtask_op_win_sync(window_)); // they have started; the second waits for one more than comes
        options calls;
        commtask_t keeper = post(commtask_op_win_sync(window_), calls.call(hold, &worker).get());
        EXPECT_EQ(commtask_release(&keeper), COMMTASK_OK);
        ASSERT_TRUE(detail::testing::comes_true([&] { return worker.is_inside.load(); }));
    }
    MPI_Barrier(comm_);
    if (rank_ == 0) {
        for (const int notification : {1, 2}) {
            run(commtask_op_put_notify(&rank_, 1, MPI_INT, last(), 0, 1, MPI_INT, notification, window_));
        }
    }
    EXPECT_EQ(MPI_Win_free(&window_), MPI_SUCCESS);
    is_registered_ = false;
    int* memory = nullptr;
    MPI_Win other = another_window(memory);
    worker.may_leave = true;
    for (commtask_t& each : awaiting) {
        if (rank_ != last()) continue;
        commtask_status status = COMMTASK_STATUS_INIT;
        ASSERT_EQ(commtask_wait(&each, &status), COMMTASK_FAILED);
        EXPECT_EQ(status.error_class, MPI_ERR_WIN);
    }
    MPI_Win_unlock_all(other);
    MPI_Win_free(&other);
}

TEST_F(OneSidedRefusals, AnErrorOfMpiEndsItsTask) {
    MPI_Datatype uncommitted = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    const std::array<int, 2> values{1, 2};
    commtask_t task = post(commtask_op_put(values.data(), 1, uncommitted, right(), 0, 1, uncommitted, window_));
    commtask_status status = COMMTASK_STATUS_INIT;
    EXPECT_EQ(finish(task, &status), COMMTASK_FAILED);
    EXPECT_EQ(status.error_class, MPI_ERR_TYPE);
    run(put(0, 1));
    MPI_Type_free(&uncommitted);
}

} // namespace
} // namespace commtask::test
