// SPDX-License-Identifier: Apache-2.0
//
// The counters are sent as plain 64-bit words; core/counters.hpp guarantees that layout. The
// message is short enough for MPI's eager protocol, so the send completes whether or not rank 0
// will receive it. All ranks of a job run the same build.
#include "report/gather.hpp"

#include "base/system.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

#include <sched.h>

namespace commtask::detail {
namespace {

[[nodiscard]] int words_of(std::size_t n_lanes) noexcept { return static_cast<int>(n_lanes * lane_stats_words); }

/// Sends. If the send does not complete in time, the request and its buffer are left to MPI.
void send(MPI_Comm comm, int session, const std::vector<lane_stats>& mine, std::uint64_t patience_ns) {
    auto message = std::make_unique<std::vector<lane_stats>>(mine);
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Isend(message->data(), words_of(mine.size()), MPI_UINT64_T, 0, session, comm, &request) != MPI_SUCCESS) {
        return;
    }
    const std::uint64_t begin_ns = now_ns();
    int has_ended = 0;
    while (MPI_Test(&request, &has_ended, MPI_STATUS_IGNORE) == MPI_SUCCESS && has_ended == 0) {
        if (now_ns() - begin_ns >= patience_ns) {
            static_cast<void>(message.release());
            return;
        }
        sched_yield();
    }
}

/// The receives of rank 0, by rank; its own is null. The destructor cancels the receives that have
/// not completed, and does not wait for other ranks.
class receives {
public:
    receives(MPI_Comm comm, int session, std::vector<lane_stats>& into, std::size_t n_lanes)
        : requests_(into.size() / n_lanes, MPI_REQUEST_NULL) {
        for (std::size_t rank = 1; rank < requests_.size(); ++rank) {
            MPI_Irecv(&into[rank * n_lanes], words_of(n_lanes), MPI_UINT64_T, static_cast<int>(rank), session, comm,
                      &requests_[rank]);
        }
    }
    receives(const receives&) = delete;
    receives& operator=(const receives&) = delete;
    ~receives() {
        for (MPI_Request& left : requests_) {
            if (left == MPI_REQUEST_NULL) continue;
            MPI_Cancel(&left);
            MPI_Wait(&left, MPI_STATUS_IGNORE);
        }
    }

    /// @return whether this rank's message has arrived, by one MPI_Test; true at most once
    [[nodiscard]] bool has_come(std::size_t rank) {
        int has_ended = 0;
        return requests_[rank] != MPI_REQUEST_NULL &&
               MPI_Test(&requests_[rank], &has_ended, MPI_STATUS_IGNORE) == MPI_SUCCESS && has_ended != 0;
    }

private:
    std::vector<MPI_Request> requests_;
};

} // namespace

MPI_Comm collective_own_comm(own_comm purpose) noexcept {
    static std::array<MPI_Comm, 3> all{MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
    MPI_Comm& made = all[static_cast<std::size_t>(purpose)];
    if (made != MPI_COMM_NULL) return made;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    // Not MPI_Comm_dup: MPI would call the copy functions of the program's attributes.
    if (MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &made) != MPI_SUCCESS) return MPI_COMM_NULL;
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    return made;
}

gathered_stats gather_stats(MPI_Comm comm, int session, const std::vector<lane_stats>& mine,
                            std::uint64_t patience_ns) {
    gathered_stats result;
    int me = 0;
    MPI_Comm_size(comm, &result.n_ranks);
    MPI_Comm_rank(comm, &me);
    if (me != 0) {
        send(comm, session, mine, patience_ns);
        return result;
    }
    const std::size_t n_lanes = mine.size();
    std::vector<lane_stats> all = mine;
    all.resize(static_cast<std::size_t>(result.n_ranks) * n_lanes);
    std::vector<char> is_there(static_cast<std::size_t>(result.n_ranks), 0);
    is_there[0] = 1;
    {
        receives from_others{comm, session, all, n_lanes};
        std::size_t n_missing = is_there.size() - 1;
        for (std::uint64_t since_ns = now_ns(); n_missing > 0 && now_ns() - since_ns < patience_ns;) {
            for (std::size_t rank = 1; rank < is_there.size(); ++rank) {
                if (is_there[rank] != 0 || !from_others.has_come(rank)) continue;
                is_there[rank] = 1;
                --n_missing;
                since_ns = now_ns();
            }
            sched_yield();
        }
    }
    for (std::size_t rank = 0; rank < is_there.size(); ++rank) {
        if (is_there[rank] == 0) continue;
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(rank * n_lanes);
        result.stats.insert(result.stats.end(), first, first + static_cast<std::ptrdiff_t>(n_lanes));
        result.ranks.push_back(static_cast<int>(rank));
    }
    return result;
}

} // namespace commtask::detail
