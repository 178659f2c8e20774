// SPDX-License-Identifier: Apache-2.0
//
// What the parts of bench_node share: a step of an exchange, by MPI alone or by communication tasks, and computing that leaves the
// core, as with an accelerator.
#pragma once

#include "harness/clock.h"

#include <commtask/commtask.h>

#include <mpi.h>
#include <sched.h>

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace commtask::bench {

inline bool uses_tasks = false; ///< Set once, by main().

inline void compute_elsewhere(long us) { sleep_for(1e3 * static_cast<double>(us)); }

/// Between steps, on every side: who is early leaves its core to the ranks that are late. MPI's own wait would keep it, and what those
/// ranks expose would be turns of the scheduler, whoever moves their messages.
inline void wait_aside(MPI_Request request) {
    for (int has_ended = 0;; sched_yield()) {
        MPI_Test(&request, &has_ended, MPI_STATUS_IGNORE);
        if (has_ended != 0) return;
    }
}
inline void meet() {
    MPI_Request meeting = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &meeting);
    wait_aside(meeting);
}

/// A nonblocking call of MPI, or the task in its place.
class started {
public:
    template <typename Native>
    started(const commtask_op& op, Native&& native) {
        const int code = uses_tasks ? commtask_post(&op, nullptr, &task_) : native(&request_);
        is_well_ = code == (uses_tasks ? int{COMMTASK_OK} : MPI_SUCCESS);
    }
    started(const started&) = delete;
    started& operator=(const started&) = delete;
    ~started() { wait(); }

    void wait() {
        if (uses_tasks) is_well_ = commtask_wait(&task_, nullptr) == COMMTASK_OK && is_well_;
        if (!uses_tasks) MPI_Wait(&request_, MPI_STATUS_IGNORE);
        if (!is_well_) MPI_Abort(MPI_COMM_WORLD, 1);
    }

private:
    commtask_t task_ = COMMTASK_NULL;
    MPI_Request request_ = MPI_REQUEST_NULL;
    bool is_well_ = false;
};

[[nodiscard]] inline started send(std::span<const char> what, int to, int tag) {
    const int n = static_cast<int>(what.size());
    return started{commtask_op_send(what.data(), n, MPI_CHAR, to, tag, MPI_COMM_WORLD), [&](MPI_Request* request) {
                       return MPI_Isend(what.data(), n, MPI_CHAR, to, tag, MPI_COMM_WORLD, request);
                   }};
}
[[nodiscard]] inline started receive(std::span<char> into, int from, int tag) {
    const int n = static_cast<int>(into.size());
    return started{commtask_op_recv(into.data(), n, MPI_CHAR, from, tag, MPI_COMM_WORLD), [&](MPI_Request* request) {
                       return MPI_Irecv(into.data(), n, MPI_CHAR, from, tag, MPI_COMM_WORLD, request);
                   }};
}

/// Partners are half of the ranks apart, so that the halves can be taken for two nodes.
struct place {
    int rank = 0;
    int n_ranks = 1;
    [[nodiscard]] int partner() const { return (rank + n_ranks / 2) % n_ranks; }
    [[nodiscard]] bool receives() const { return rank < n_ranks / 2; }
};

struct buffers {
    std::vector<char> sent;
    std::vector<char> received;
    [[nodiscard]] int size() const { return static_cast<int>(sent.size()); }
};

struct question {
    std::string name;
    std::vector<int> sizes_bytes;
    std::function<void(const place&, buffers&, bool computes)> step;
    long computing_us;       ///< Of a step of which nothing is exposed.
    bool is_checked = false; ///< What the receivers have is what their partners sent.
    std::function<void(buffers&)> open = [](buffers& /*of*/) {}; ///< Before the steps of a size; collective.
    std::function<void()> close = [] {};
};

inline constexpr long computing_us = 6000;

[[nodiscard]] std::vector<question> messages(bool is_large_only);
[[nodiscard]] std::vector<question> small_messages();
[[nodiscard]] question collective(const std::string& name, int n_ranks); ///< ialltoall, igather or ibcast.
[[nodiscard]] std::vector<question> puts(const place& here);
[[nodiscard]] std::vector<question> sweep();

} // namespace commtask::bench
