// SPDX-License-Identifier: Apache-2.0
// How the halos of a step travel, in four ways: messages, a neighbourhood collective, puts that the target is notified of, and gets
// of what the owner has announced. Each by plain MPI calls of one thread or as communication tasks. Every side has two
// buffers for what leaves and two for what comes, taken in turns: a neighbour that is a step ahead already needs this
// rank's next halo, so it never is two ahead, and none of the four has to say that a buffer is free again.
#pragma once

#include "common/report.hpp"
#include "common/runner.hpp"
#include "domain.hpp"

namespace poisson {

enum class halo_kind : std::uint8_t { p2p, neighbor, put, get };

class halo {
public:
    /// Collective. With `by_worker` only the communication worker calls MPI from now until end().
    halo(domain& on, halo_kind kind, MPI_Comm cart, bool by_worker);
    halo(const halo&) = delete;
    halo& operator=(const halo&) = delete;
    /// Collective. Not a destructor's work: a rank that fails alone must not wait for the others.
    void end();
    void barrier();

    /// What leaves before a step is put into its buffers.
    void pack(int step);
    /// Of this rank: what was unpacked and had not been packed, or the reverse, since it was asked for; of all ranks together 0 unless a
    /// halo was changed. What was packed last has not been sent.
    std::uint64_t left_of_messages();
    /// Two rounds of two steps: what they send, and what must have come before the ring is computed.
    void add_steps(miniapp::item_list& to);

private:
    enum : int { leaves, announced, comes, ring, bands }; ///< Names of what items read and write.
    [[nodiscard]] std::size_t slot(int step, int side) const { return ((step & 1) * n_sides + side) * longest_; }
    [[nodiscard]] double* outgoing(int step, int side) { return outgoing_ + slot(step, side); }
    [[nodiscard]] double* incoming(int step, int side) const { return incoming_ + slot(step, side); }
    /// Where the neighbour of a side has what belongs to this rank.
    [[nodiscard]] MPI_Aint there(int step, int side) const { return static_cast<MPI_Aint>(slot(step, side ^ 1)); }
    /// Of what comes from a side; two steps may be under way.
    static int tag_of(int step, int side) { return (step & 1) * n_sides + side; }
    template <class Visit>
    void for_each_neighbour(Visit&& visit) const;
    void add_messages(miniapp::item_list& to, int step);
    void add_collective(miniapp::item_list& to, int step);
    void add_one_sided(miniapp::item_list& to, int step, int side, int peer);
    /// Plain MPI's part beside messages: what was packed is there for the others, what they have put or announced is here.
    void expose(int step);
    void arrive(int step);
    void do_ring(int step);

    domain& on_;
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
    miniapp::message_sums sums_;
    std::uint64_t packed_last_ = 0;
};

/// Baseline, thread, offload, omp and, where the build has oneTBB, tbb.
std::span<const miniapp::mode> modes();

} // namespace poisson
