// SPDX-License-Identifier: Apache-2.0
// The communication runtime for the modes that use it, for as long as this object lives. It must begin before the
// first OpenMP region of the process, so that the compute threads are placed beside the worker's core, not on it.
// Between runs nothing is under way, the worker leaves MPI alone, and the master may call MPI itself.
#pragma once

#include <mpi.h>

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

/// A communicator, and as many duplicates as the lanes in use beyond the first, or several of one lane. A lane that no burst was
/// given rests, and its core is the compute threads': so the object comes before the first OpenMP region, as the session does.
/// While nothing is under way on them the duplicates are freed at the end, which is collective.
class lane_comms {
public:
    /// Collective. @throws what the runtime says when a lane cannot rest
    /// @param n_lanes  of the session
    /// @param n_of_one  how many communicators one lane has
    lane_comms(MPI_Comm comm, int n_lanes, int n_of_one = 1);
    ~lane_comms();
    lane_comms(const lane_comms&) = delete;
    lane_comms& operator=(const lane_comms&) = delete;

    [[nodiscard]] const std::vector<MPI_Comm>& all() const { return all_; }
    /// Collective. What carries each of a burst of messages of one size: all lanes in turn, or, `is_selective`, as few as a
    /// measured table says that more would bring nothing, and without a table one: a second lane's core is a compute thread's, so no
    /// guess takes it.
    [[nodiscard]] std::vector<MPI_Comm> spread(std::size_t size_bytes, std::size_t n_messages, bool is_selective);
    /// After the bursts. Those of a rank's `n_cores` that have no worker of a lane beyond the first; at least 1. The lanes that no
    /// burst was given rest from here on.
    [[nodiscard]] int beside_lanes(int n_cores);
    /// Beyond the first.
    [[nodiscard]] int n_more_lanes() const { return n_lanes_ > 1 ? static_cast<int>(all_.size()) - 1 : 0; }

private:
    void grow_to(int n);
    void set_at_work(int n);

    int n_lanes_;
    int n_at_work_;
    std::vector<MPI_Comm> all_; ///< Of lanes in use: that of lane 0 first.
};

/// A barrier of all ranks, by the worker.
void worker_barrier(MPI_Comm comm);

/// Throws with the runtime's sentence unless `code` is success.
void require(int code, const char* what);

} // namespace miniapp
