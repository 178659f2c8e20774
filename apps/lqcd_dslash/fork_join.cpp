// SPDX-License-Identifier: Apache-2.0
// One parallel region for the whole chain; pieces are handed out by counters, so that the master, who comes late to
// the interior because it posts first, simply computes fewer tiles.
#include "fork_join.hpp"

#include "common/clock.hpp"

#include <algorithm>
#include <array>
#include <atomic>

namespace dslash {

using miniapp::seconds;

namespace {

/// Counters of one hop; each hop has its own, so nothing is ever reset while a thread may look.
struct alignas(64) hop_counters {
    std::atomic<int> pack{0};
    std::atomic<int> interior{0};
    std::atomic<int> boundary{0};
};

struct pack_chunk {
    int direction;
    int first;
    int last;
};

/// Faces cut so that every thread finds some; 64 sites are about a microsecond.
std::vector<pack_chunk> pack_chunks(const stencil& on, int parity) {
    constexpr int chunk_sites = 64;
    std::vector<pack_chunk> chunks;
    for (int d = 0; d < n_directions; ++d) {
        const int n = on.n_face_sites(parity, d);
        for (int first = 0; first < n; first += chunk_sites) {
            chunks.push_back({d, first, std::min(n, first + chunk_sites)});
        }
    }
    return chunks;
}

} // namespace

mpi_transport::mpi_transport(stencil& on, MPI_Comm comm) : on_(on), comm_(comm) {}

void mpi_transport::post_receives(const hop_step& step) {
    requests_.clear();
    for (int d = 0; d < n_directions; ++d) {
        const auto size = static_cast<int>(on_.face_bytes(d));
        if (size == 0) continue;
        MPI_Irecv(on_.receive_buffer(step.parity, d), size, MPI_BYTE, on_.shape().geom.neighbour(d), d, comm_,
                  &requests_.emplace_back());
    }
}

void mpi_transport::post_sends(const hop_step& step) {
    for (int d = 0; d < n_directions; ++d) {
        const auto size = static_cast<int>(on_.face_bytes(d));
        if (size == 0) continue;
        MPI_Isend(on_.send_buffer(step.parity, d), size, MPI_BYTE, on_.shape().geom.neighbour(d ^ 1), d, comm_,
                  &requests_.emplace_back());
    }
}

void mpi_transport::wait() { MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }

void mpi_transport::barrier() { MPI_Barrier(comm_); }

fork_join_exchange::fork_join_exchange(stencil& on, std::unique_ptr<halo_transport> transport, int compute_threads,
                                       int cores, bad_habit bad)
    : on_(on), transport_(std::move(transport)), compute_threads_(compute_threads), cores_(cores), bad_(bad) {}

phase_times fork_join_exchange::run(std::span<const hop_step> steps) {
    const std::array chunks{pack_chunks(on_, 0), pack_chunks(on_, 1)};
    std::vector<hop_counters> counters(steps.size());
    phase_times times;
    const double start = seconds();
    // The fields live as long as the caller; the master's clock is the one that is read.
#pragma omp parallel num_threads(compute_threads_)
    {
        const auto draw = [](std::atomic<int>& counter, int n, auto&& work) {
            // relaxed: the counter only shares out; the barriers order the data.
            for (int k = counter.fetch_add(1, std::memory_order_relaxed); k < n;
                 k = counter.fetch_add(1, std::memory_order_relaxed)) {
                work(static_cast<std::size_t>(k));
            }
        };
        bool master = false;
#pragma omp masked
        master = true;
        for (std::size_t s = 0; s < steps.size(); ++s) {
            const hop_step& step = steps[s];
            const parity_layout& table = on_.shape().parity[step.parity];
            const int n_tiles = static_cast<int>(table.tiles.size());
            const auto& to_pack = chunks[static_cast<std::size_t>(step.parity)];
            double from = 0;
            const auto post_receives = [&] {
                if (!master) return;
                from = seconds();
                transport_->post_receives(step);
                times.post += seconds() - from;
            };
            const auto compute_interior = [&] {
                from = seconds();
                draw(counters[s].interior, table.n_interior_tiles, [&](std::size_t k) {
                    on_.compute(step, table.tiles[k]);
                    if (master) transport_->after_tile();
                });
                if (master) times.internal += seconds() - from;
            };
            if (bad_ != bad_habit::late_receive) post_receives();
            if (bad_ == bad_habit::late_pack) compute_interior();
            draw(counters[s].pack, static_cast<int>(to_pack.size()),
                 [&](std::size_t k) { on_.pack(step, to_pack[k].direction, to_pack[k].first, to_pack[k].last); });
            if (!to_pack.empty()) {
#pragma omp barrier
            }
            if (master) {
                from = seconds();
                transport_->post_sends(step);
                times.post += seconds() - from;
            }
            if (bad_ != bad_habit::late_pack) compute_interior();
            if (bad_ == bad_habit::late_receive) post_receives();
            if (master) {
                from = seconds();
                transport_->wait();
                times.wait += seconds() - from;
            }
            if (!to_pack.empty()) {
#pragma omp barrier
            }
            draw(counters[s].boundary, n_tiles - table.n_interior_tiles, [&](std::size_t k) {
                on_.compute(step, table.tiles[static_cast<std::size_t>(table.n_interior_tiles) + k]);
            });
#pragma omp barrier
        }
    }
    times.total = seconds() - start;
    return times;
}

} // namespace dslash
