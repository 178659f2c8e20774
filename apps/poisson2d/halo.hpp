// SPDX-License-Identifier: Apache-2.0
// How the halos of a step travel, in four ways: messages, a neighbourhood collective, puts that the target is notified of, and gets
// of what the owner has announced. Each by plain MPI calls of one thread or as communication tasks. Every side has two
// buffers for what leaves and two for what comes, taken in turns: a neighbour that is a step ahead already needs this
// rank's next halo, so it never is two ahead, and none of the four has to say that a buffer is free again.
#pragma once

#include "domain.hpp"

#include <commtask/commtask.h>

#include <span>

namespace poisson {

enum class halo_kind : std::uint8_t { p2p, neighbor, put, get };

/// One communication task of a step, and the sides whose buffers it reads and writes, a bit for each.
struct halo_task {
    commtask_op operation;
    unsigned reads;
    unsigned writes;
    bool follows = false; ///< It comes after the one before it.
};

class halo {
public:
    /// Collective. With `by_worker` only the communication worker calls MPI from now until end().
    halo(const domain& on, halo_kind kind, MPI_Comm cart, bool by_worker);
    halo(const halo&) = delete;
    halo& operator=(const halo&) = delete;
    /// Collective. Not a destructor's work: a rank that fails alone must not wait for the others.
    void end();
    void barrier();

    /// What leaves before a step is put into its buffers; what came is taken out.
    void pack(int step);
    void unpack(domain& into, int step) const;

    /// The buffers of the step are packed; after wait() those of what comes are full.
    void start(int step);
    void wait(int step);
    /// Of a step that was started by the worker, for who waits otherwise.
    std::vector<commtask_t>& under_way() { return under_way_; }
    /// In an order in which each may come after those before it.
    [[nodiscard]] std::span<const halo_task> tasks(int step) const { return tasks_[step & 1]; }

private:
    [[nodiscard]] std::size_t slot(int step, int side) const { return ((step & 1) * n_sides + side) * longest_; }
    [[nodiscard]] double* outgoing(int step, int side) { return outgoing_ + slot(step, side); }
    [[nodiscard]] double* incoming(int step, int side) const { return incoming_ + slot(step, side); }
    /// Where the neighbour of a side has what belongs to this rank.
    [[nodiscard]] MPI_Aint there(int step, int side) const { return static_cast<MPI_Aint>(slot(step, side ^ 1)); }
    /// Of what comes from a side; two steps may be under way.
    static int tag_of(int step, int side) { return (step & 1) * n_sides + side; }
    template <class Visit>
    void for_each_neighbour(Visit&& visit) const;
    void make_tasks(int step);
    void start_natively(int step);
    void wait_natively(int step);

    const domain& on_;
    halo_kind kind_;
    MPI_Comm cart_;
    bool by_worker_;
    std::size_t longest_ = 0; ///< Points of a side, of any rank: a buffer begins at the same place everywhere.
    std::vector<double> own_;
    MPI_Win window_ = MPI_WIN_NULL;
    double* outgoing_ = nullptr;
    double* incoming_ = nullptr;
    using counts = std::array<int, n_sides>;
    std::array<counts, 2> n_leaving_{}; ///< Of even and odd steps; 0 where no neighbour is.
    std::array<counts, 2> n_coming_{};
    counts places_{};
    std::array<std::vector<halo_task>, 2> tasks_;
    std::vector<commtask_t> under_way_;
    std::vector<MPI_Request> requests_;
};

} // namespace poisson
