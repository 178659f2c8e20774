// SPDX-License-Identifier: Apache-2.0
//
// Notices over a real MPI that takes no more of them for a while: this program's MPI_Test says so to the carrier. The last rank takes
// itself for another node, and sends; what it has announced is read where it goes to MPI.
#include "node_pages.hpp"
#include "patience.hpp"
#include "runtime_test.hpp"

#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>

namespace {

struct carried {
    std::mutex guard;
    std::set<const MPI_Request*> slots; ///< The carrier's.
    bool are_busy = false;
    unsigned n_messages = 0; ///< That notices have told of.
} notices;

/// As notice in core/notices.hpp is sent.
constexpr std::size_t notice_bytes = 20;
constexpr std::size_t n_messages_at = 4;

} // namespace

// The tests' own messages are of MPI_INT.
extern "C" [[gnu::visibility("default")]] int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int dest,
                                                        int tag, MPI_Comm comm, MPI_Request* request) {
    if (type == MPI_BYTE) {
        const std::scoped_lock lock{notices.guard};
        notices.slots.insert(request);
        for (std::size_t at = 0; at < static_cast<std::size_t>(count); at += notice_bytes) {
            std::uint32_t n_messages = 0;
            std::memcpy(&n_messages, static_cast<const char*>(buffer) + at + n_messages_at, sizeof n_messages);
            notices.n_messages += n_messages;
        }
    }
    return PMPI_Isend(buffer, count, type, dest, tag, comm, request);
}

extern "C" [[gnu::visibility("default")]] int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    {
        const std::scoped_lock lock{notices.guard};
        if (notices.are_busy && notices.slots.contains(request)) {
            *flag = 0;
            return MPI_SUCCESS;
        }
    }
    return PMPI_Test(request, flag, status);
}

namespace commtask::test {
namespace {

using detail::testing::comes_true;

/// Ranks 0 and 1 are a node, whose watcher is 0; rank 2 is the other.
class Notices : public Runtime {
protected:
    /// The receiver has everything; the others are here, too. So are the notices when its watcher has looked.
    void expect_nothing_left() const {
        if (rank_ == 1) {
            EXPECT_TRUE(comes_true([] { return detail::testing::announced_to(1) == 0; }));
        }
        run(commtask_op_barrier(comm_));
    }
    static void be_busy(bool are_busy) {
        const std::scoped_lock lock{notices.guard};
        notices.are_busy = are_busy;
    }
    static unsigned n_told() {
        const std::scoped_lock lock{notices.guard};
        return notices.n_messages;
    }
};

// All slots busy, the queue full, and more put together there; then every message ends, and the program leaves the library.
TEST_F(Notices, ThoseOfAFullQueueAreSentOnceMpiHasRoomThoughNothingIsInFlight) {
    constexpr unsigned n_slots = 8;
    constexpr unsigned n_messages = n_slots + 192 + 40;
    std::vector<int> numbers(64);
    if (rank_ == 1) {
        for (unsigned i = 0; i < n_messages; ++i) run(commtask_op_recv(numbers.data(), 64, MPI_INT, 2, 0, comm_));
    } else if (rank_ == 2) {
        const unsigned before = n_told();
        be_busy(true);
        for (unsigned i = 0; i < n_messages; ++i) run(commtask_op_send(numbers.data(), 64, MPI_INT, 1, 0, comm_));
        EXPECT_EQ(n_told() - before, n_slots);
        be_busy(false);
        EXPECT_TRUE(comes_true([&] { return n_told() - before == n_messages; }))
            << n_told() - before << " of " << n_messages;
    }
    expect_nothing_left();
}

constexpr int n_numbers = 64;

// The other side of a plan may be plain receives, and of a plan that receives plain sends.
TEST_F(Notices, WhatAPlanSendsAndReceivesIsAnnouncedAndCounted) {
    std::vector<int> numbers(n_numbers);
    for (const bool plan_sends : {true, false}) {
        const bool has_plan = rank_ == (plan_sends ? 2 : 1);
        commtask_plan_t plan = COMMTASK_PLAN_NULL;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(n_numbers, MPI_INT, &type);
        MPI_Type_commit(&type);
        const commtask_op op = rank_ == 2 ? commtask_op_send(numbers.data(), 1, type, 1, 7, comm_)
                                          : commtask_op_recv(numbers.data(), 1, type, 2, 7, comm_);
        if (has_plan) {
            ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
            ASSERT_EQ(commtask_post(&op, nullptr, nullptr), COMMTASK_OK);
            ASSERT_EQ(commtask_record_end(&plan), COMMTASK_OK);
        }
        const unsigned before = n_told();
        for (int i = 0; i < 3; ++i) {
            if (has_plan) {
                commtask_t started = COMMTASK_NULL;
                ASSERT_EQ(commtask_plan_start(plan, nullptr, &started), COMMTASK_OK);
                EXPECT_EQ(finish(started), COMMTASK_OK);
            } else if (rank_ != 0) {
                run(op);
            }
        }
        expect_nothing_left();
        EXPECT_EQ(n_told() - before, rank_ == 2 ? 3U : 0U);
        if (has_plan) {
            EXPECT_EQ(commtask_plan_release(&plan), COMMTASK_OK);
        }
        MPI_Type_free(&type);
    }
}

TEST_F(Notices, WhatGoesToManyOrComesFromManyIsAnnouncedAndCounted) {
    std::vector<int> out(n_numbers);
    std::vector<int> in(n_numbers);
    constexpr std::array both{0, 1};
    if (rank_ == 2) {
        run(commtask_op_multicast(out.data(), n_numbers, MPI_INT, both.data(), 2, 0, comm_));
    } else {
        run(commtask_op_recv(in.data(), n_numbers, MPI_INT, 2, 0, comm_));
    }
    expect_nothing_left();
    const std::array<int, 1> counts{n_numbers};
    const std::array<int, 1> displacements{0};
    const int partner = 3 - rank_;
    if (rank_ != 0) {
        run(commtask_op_many_to_many_int(out.data(), counts.data(), displacements.data(), MPI_INT, &partner, 1,
                                         in.data(), counts.data(), displacements.data(), MPI_INT, &partner, 1, 0,
                                         comm_));
    }
    expect_nothing_left();
}

} // namespace
} // namespace commtask::test
