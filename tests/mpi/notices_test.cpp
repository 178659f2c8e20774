// SPDX-License-Identifier: Apache-2.0
//
// Notices over a real MPI that takes no more of them for a while: this program's MPI_Test says so to the carrier. The last rank takes
// itself for another node, and sends; what it has announced is read where it goes to MPI.
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

class Notices : public Runtime {
protected:
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
    constexpr unsigned n_messages = n_slots + 256 + 40;
    std::vector<int> numbers(64);
    if (rank_ == 1) {
        for (unsigned i = 0; i < n_messages; ++i) run(commtask_op_recv(numbers.data(), 64, MPI_INT, 2, 0, comm_));
    } else if (rank_ == 2) {
        const unsigned before = n_told();
        be_busy(true);
        for (unsigned i = 0; i < n_messages; ++i) run(commtask_op_send(numbers.data(), 64, MPI_INT, 1, 0, comm_));
        EXPECT_EQ(n_told() - before, n_slots);
        be_busy(false);
        EXPECT_TRUE(detail::testing::comes_true([&] { return n_told() - before == n_messages; }))
            << n_told() - before << " of " << n_messages;
    }
}

} // namespace
} // namespace commtask::test
