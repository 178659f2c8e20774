// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.progress: the attentive worker. A rank whose thread only computes has nothing in flight; what others do to its
// window reaches it all the same, and theirs ends. The thread sees that by looking at its own memory.
#include "harness/own_window.h"
#include "runtime_test.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace commtask::test {
namespace {

class Attention : public Runtime {
protected:
    static constexpr int n_elements = 256;

    void SetUp() override {
        Runtime::SetUp();
        make_window();
        std::fill_n(exposed_, n_elements, 0);
        MPI_Barrier(comm_);
        ASSERT_EQ(commtask_win_register(window_, comm_), COMMTASK_OK) << commtask_last_error();
    }
    void TearDown() override {
        EXPECT_EQ(commtask_win_unregister(window_), COMMTASK_OK) << commtask_last_error();
        EXPECT_EQ(MPI_Win_free(&window_), MPI_SUCCESS);
        Runtime::TearDown();
    }

    /// Computes until the first element has that value, without a call to anyone.
    void compute_until(int value) {
        const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds{30};
        std::uint64_t x = 1;
        while (std::atomic_ref{exposed_[0]}.load() != value) {
            for (int i = 0; i < 10'000; ++i) x = x * 6364136223846793005U + 1442695040888963407U;
            work_ = x;
            ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "nothing comes while this rank computes";
        }
    }

    MPI_Win window_ = MPI_WIN_NULL;
    int* exposed_ = nullptr;

private:
    /// Over memory of our own if that can be: there MPICH needs the target for everything.
    void make_window() {
        exposed_ = memory_.data();
        window_ = make_own_window(exposed_, n_elements * sizeof(int), sizeof(int), comm_);
        if (window_ != MPI_WIN_NULL) return;
        ASSERT_EQ(MPI_Win_allocate(n_elements * sizeof(int), sizeof(int), MPI_INFO_NULL, comm_,
                                   static_cast<void*>(&exposed_), &window_),
                  MPI_SUCCESS);
    }

    std::vector<int> memory_ = std::vector<int>(n_elements);
    inline static volatile std::uint64_t work_ = 0;
};

TEST_F(Attention, AnAccumulateComesToATargetThatComputes) {
    const int one = 1;
    const bool is_target = rank_ == 0;
    if (!is_target || n_ranks_ == 1) {
        commtask_t adding = post(commtask_op_accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window_));
        options how;
        run(commtask_op_flush(0, window_), how.after({adding}).get());
        EXPECT_EQ(finish(adding), COMMTASK_OK);
    }
    if (is_target) compute_until(std::max(n_ranks_ - 1, 1));
}

TEST_F(Attention, AFetchFromATargetThatComputesEnds) {
    const int one = 1;
    int before = -1;
    if (rank_ == last()) { // the target computes until the second has begun, which needs the first to have ended
        run(commtask_op_fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, window_));
        EXPECT_EQ(before, 0);
        run(commtask_op_fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, window_));
        EXPECT_EQ(before, 1);
    }
    if (rank_ == 0) compute_until(2);
}

/// A worker that shares its core makes progress whenever a pass found nothing, whatever is in flight.
class ReservedAttention : public Attention {
protected:
    [[nodiscard]] commtask_config configuration() const override {
        commtask_config settings = COMMTASK_CONFIG_INIT;
        settings.idle = "reserved";
        return settings;
    }
};

TEST_F(ReservedAttention, AFetchEndsThoughTheTargetLooksForMessagesOfItsOwn) {
    // For MPI both of them are looks at this process only: the ordered mprobe holds the receive behind it.
    MPI_Message found = MPI_MESSAGE_NULL;
    int received = 0;
    options ordered;
    ordered.flags(COMMTASK_ORDERED);
    commtask_t probing = post(commtask_op_mprobe(&found, 0, MPI_ANY_TAG, MPI_COMM_SELF), ordered);
    commtask_t held = post(commtask_op_recv(&received, 1, MPI_INT, 0, 7, MPI_COMM_SELF), ordered);
    MPI_Barrier(comm_);
    const int one = 1;
    int before = -1;
    if (rank_ == last()) run(commtask_op_fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, window_));
    if (rank_ == 0) compute_until(1);
    for (commtask_t* const each : {&held, &probing}) {
        EXPECT_EQ(commtask_cancel(*each), COMMTASK_OK);
        EXPECT_EQ(finish(*each), COMMTASK_CANCELED);
    }
}

TEST_F(Attention, ANotificationOfAPutComesToATargetThatComputes) {
    const int value = 77;
    std::atomic<bool> has_come{false};
    options how;
    how.call([](const commtask_status* /*status*/, void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); },
             &has_come);
    commtask_t coming = rank_ == 0 ? post(commtask_op_await_notify(1, 1, last(), window_), how) : COMMTASK_NULL;
    if (rank_ == last()) run(commtask_op_put_notify(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, 1, window_));
    if (rank_ != 0) return;
    compute_until(value);
    EXPECT_EQ(finish(coming), COMMTASK_OK);
    EXPECT_TRUE(has_come);
}

} // namespace
} // namespace commtask::test
