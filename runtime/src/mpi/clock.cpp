// SPDX-License-Identifier: Apache-2.0
//
// When the runtime ends another rank may have left already, so no rank blocks: every receive is
// tested until the time limit, and then canceled. Rank 0 replies to one rank after the other, some
// microseconds per rank.
#include "mpi/clock.hpp"

#include "base/system.hpp"
#include "mpi/errors.hpp"

#include <algorithm>
#include <limits>

#include <sched.h>

namespace commtask::detail {
namespace {

constexpr int n_questions = 16;

/// The messages of a rank to rank 0.
enum class question : std::uint64_t { time = 1, goodbye = 2 };

/// The reply with the shortest round trip.
class best_answer {
public:
    void add(std::uint64_t asked_ns, std::uint64_t theirs_ns, std::uint64_t answered_ns) noexcept {
        const std::uint64_t took_ns = answered_ns - asked_ns;
        if (found_ && took_ns >= took_ns_) return;
        took_ns_ = took_ns;
        const std::uint64_t middle_ns = asked_ns + took_ns / 2;
        found_ = {middle_ns, static_cast<std::int64_t>(theirs_ns - middle_ns), took_ns / 2 + 1};
    }
    [[nodiscard]] std::optional<clock_comparison> result() const noexcept { return found_; }

private:
    std::optional<clock_comparison> found_;
    std::uint64_t took_ns_ = 0;
};

/// Tests a request until it completes, or `is_over()` returns true.
template <typename IsOver>
[[nodiscard]] bool poll_until_ended(MPI_Request& request, MPI_Status* status, IsOver&& is_over) {
    int has_ended = 0;
    while (MPI_Test(&request, &has_ended, status) == MPI_SUCCESS && has_ended == 0) {
        if (is_over()) return false;
        sched_yield();
    }
    return has_ended != 0;
}

/// Cancels a receive. Does not wait for other processes.
void withdraw(MPI_Request& request) {
    if (request == MPI_REQUEST_NULL) return;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void answer_all(MPI_Comm comm, int n_ranks, int tag, std::uint64_t patience_ns) {
    int n_left = n_ranks - 1;
    std::uint64_t since_ns = now_ns();
    while (n_left > 0) {
        question asked{};
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Status status{};
        if (MPI_Irecv(&asked, 1, MPI_UINT64_T, MPI_ANY_SOURCE, tag, comm, &request) != MPI_SUCCESS) return;
        if (!poll_until_ended(request, &status, [&] { return now_ns() - since_ns >= patience_ns; })) {
            return withdraw(request);
        }
        since_ns = now_ns();
        if (asked == question::goodbye) {
            --n_left;
        } else if (MPI_Send(&since_ns, 1, MPI_UINT64_T, status.MPI_SOURCE, tag + 1, comm) != MPI_SUCCESS) {
            return;
        }
    }
}

/// Sends one word. The buffer is static, since MPI may still read it if it does not send the word
/// at once.
void send_word(MPI_Comm comm, int tag, question word) {
    static question words[] = {question{}, question::time, question::goodbye};
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Isend(&words[static_cast<std::size_t>(word)], 1, MPI_UINT64_T, 0, tag, comm, &request) != MPI_SUCCESS)
        return;
    MPI_Request_free(&request);
}

[[nodiscard]] std::optional<clock_comparison> ask_at_end(MPI_Comm comm, int tag, std::uint64_t patience_ns) {
    best_answer best;
    for (int i = 0; i < n_questions; ++i) {
        std::uint64_t theirs_ns = 0;
        MPI_Request request = MPI_REQUEST_NULL;
        if (MPI_Irecv(&theirs_ns, 1, MPI_UINT64_T, 0, tag + 1, comm, &request) != MPI_SUCCESS) return std::nullopt;
        const std::uint64_t asked_ns = now_ns();
        send_word(comm, tag, question::time);
        if (!poll_until_ended(request, MPI_STATUS_IGNORE, [&] { return now_ns() - asked_ns >= patience_ns; })) {
            withdraw(request);
            return std::nullopt;
        }
        best.add(asked_ns, theirs_ns, now_ns());
    }
    send_word(comm, tag, question::goodbye);
    return best.result();
}

} // namespace

std::optional<clock_comparison> collective_compare_clocks(MPI_Comm comm) {
    constexpr int tag = 0;
    int me = 0;
    int n_ranks = 0;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n_ranks);
    if (me == 0) {
        for (int rank = 1; rank < n_ranks; ++rank) {
            for (int i = 0; i < n_questions; ++i) {
                std::uint64_t word = 0;
                MPI_Recv(&word, 1, MPI_UINT64_T, rank, tag, comm, MPI_STATUS_IGNORE);
                word = now_ns();
                MPI_Send(&word, 1, MPI_UINT64_T, rank, tag, comm);
            }
        }
        return clock_comparison{now_ns(), 0, 0};
    }
    best_answer best;
    for (int i = 0; i < n_questions; ++i) {
        std::uint64_t word = 0;
        const std::uint64_t asked_ns = now_ns();
        if (MPI_Send(&word, 1, MPI_UINT64_T, 0, tag, comm) != MPI_SUCCESS) return std::nullopt;
        if (MPI_Recv(&word, 1, MPI_UINT64_T, 0, tag, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS) return std::nullopt;
        best.add(asked_ns, word, now_ns());
    }
    return best.result();
}

std::optional<clock_comparison> compare_clocks_at_end(MPI_Comm comm, int session, std::uint64_t patience_ns) {
    const errors_return scope;
    constexpr int most_sessions = 16000; // MPI guarantees tags up to 32767
    const int tag = 2 + 2 * (session % most_sessions);
    int me = 0;
    int n_ranks = 0;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n_ranks);
    if (me != 0) return ask_at_end(comm, tag, patience_ns);
    answer_all(comm, n_ranks, tag, patience_ns);
    return clock_comparison{now_ns(), 0, 0};
}

void record_clock(tracer& records, const clock_comparison& found, bool is_at_end) noexcept {
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    records.write_common({found.at_ns,
                          0,
                          static_cast<std::uint64_t>(found.offset_ns),
                          {static_cast<std::uint32_t>(std::min(found.error_ns, most)), trace::record_type::clock, 0,
                           static_cast<std::uint8_t>(is_at_end ? 1 : 0)}});
}

} // namespace commtask::detail
