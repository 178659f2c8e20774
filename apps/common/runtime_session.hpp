// SPDX-License-Identifier: Apache-2.0
// The communication runtime for the modes that use it, for as long as this object lives. It must begin before the
// first OpenMP region of the process, so that the compute threads are placed beside the worker's core, not on it.
// Between runs nothing is under way, the worker leaves MPI alone, and the master may call MPI itself.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace miniapp {

class runtime_session {
public:
    /// Collective over MPI_COMM_WORLD; throws what the runtime says when it cannot start. Does nothing unless
    /// `is_needed`.
    /// @param n_lanes  unless COMMTASK_LANES says otherwise
    explicit runtime_session(bool is_needed, int n_lanes = 1);
    ~runtime_session();
    runtime_session(const runtime_session&) = delete;
    runtime_session& operator=(const runtime_session&) = delete;

private:
    bool started_ = false;
};

/// Duplicates of a communicator, one for each lane; for one lane itself, or several duplicates. While nothing is under way on them they are freed at
/// the end, which is collective.
class lane_comms {
public:
    /// Collective. @throws what the runtime says when there are not so many lanes
    /// @param n_of_one  how many one lane has
    lane_comms(MPI_Comm comm, int n_lanes, int n_of_one = 1);
    ~lane_comms();
    lane_comms(const lane_comms&) = delete;
    lane_comms& operator=(const lane_comms&) = delete;

    [[nodiscard]] const std::vector<MPI_Comm>& all() const { return all_; }
    /// What carries each of a burst of messages of one size: all lanes in turn, or, `is_selective`, as few as a measured table
    /// says that more would bring nothing, and without a table one: a second lane's core is a compute thread's, so no guess
    /// takes it. The cores of lanes that no burst has been given so far go back to the compute threads.
    [[nodiscard]] std::vector<MPI_Comm> spread(std::size_t size_bytes, std::size_t n_messages, bool is_selective);
    /// Of a rank's `n_cores`, those without a worker of a lane beyond the first that a burst was given; at least 1.
    [[nodiscard]] int beside_lanes(int n_cores) const { return std::max(1, n_cores - (n_in_use_ - 1)); }

private:
    int n_lanes_;
    int n_in_use_ = 1;
    std::vector<MPI_Comm> all_;
};

/// A barrier of all ranks, by the worker.
void worker_barrier(MPI_Comm comm);

/// Throws with the runtime's sentence unless `code` is success.
void require(int code, const char* what);

} // namespace miniapp
