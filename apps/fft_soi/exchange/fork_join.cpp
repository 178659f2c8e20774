// SPDX-License-Identifier: Apache-2.0
// One parallel region per run. Pieces are handed out by counters; segments go round in waves of one per thread, in
// order, since the first segments' messages were posted first. The price is a barrier per chunk and per wave.
#include "exchange/fork_join.hpp"

#include "exchange/messages.hpp"
#include "exchange/recorder.hpp"

#include <atomic>
#include <exception>
#include <omp.h>

namespace tiled {

void message_transport::begin_halo(work& of) {
    of_ = &of;
    sent_ = {};
    sends_.clear();
    halo_ = MPI_REQUEST_NULL;
    if (!halo_travels(of)) return;
    receive(incoming_halo(of), halo_);
    send(outgoing_halo(of));
}

void message_transport::begin(work& of) {
    begin_halo(of);
    receives_.clear();
    for_each_incoming(of, [&](const incoming_message& one) { receive(one, receives_.emplace_back()); });
}

void message_transport::wait_halo() { MPI_Wait(&halo_, MPI_STATUS_IGNORE); }

void message_transport::send_chunk(int chunk) {
    for_each_outgoing(*of_, chunk, [&](const outgoing_message& one) { send(one); });
}

void message_transport::receive(const incoming_message& one, MPI_Request& request) const {
    MPI_Irecv(one.data, static_cast<int>(one.size_bytes), MPI_BYTE, one.peer, one.tag, comm_, &request);
}

void message_transport::send(const outgoing_message& one) {
    MPI_Isend(one.data, static_cast<int>(one.size_bytes), MPI_BYTE, one.peer, one.tag, comm_, &sends_.emplace_back());
    count(one, sent_);
}

void message_transport::wait_segment(int segment) {
    const int n = of_->sizes().n_peers() * of_->sizes().n_chunks();
    MPI_Waitall(n, receives_.data() + static_cast<std::ptrdiff_t>(segment) * n, MPI_STATUSES_IGNORE);
}

void message_transport::finish() { MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE); }

void message_transport::barrier() { MPI_Barrier(comm_); }

fork_join_schedule::fork_join_schedule(std::unique_ptr<transport> by, int compute_threads, int cores)
    : by_(std::move(by)), compute_threads_(compute_threads), cores_(cores) {}

phase_times fork_join_schedule::run(work& of) {
    const layout& sizes = of.sizes();
    const int per_chunk = of.pieces_per_chunk();
    const int halo_piece = first_halo_piece(of);
    const bool is_alone = sizes.n_ranks == 1;
    // One counter per chunk and side of the halo, so that none is ever reset while a thread may look.
    std::vector<std::atomic<int>> drawn(2 * static_cast<std::size_t>(sizes.n_chunks()));
    recorder record(of, compute_threads_, trace_ != nullptr);
    // No exception may leave the parallel region. After one the run goes on to its end: peers wait for the messages.
    std::exception_ptr failure;
    const auto attempt = [&failure](auto&& call) {
        try {
            call();
        } catch (...) {
            if (!failure) failure = std::current_exception();
        }
    };
    of.begin();
    if (is_alone) {
        copy_own_halo(of.neighbour());
    } else {
        record.post(0, [&] { by_->begin(of); });
    }
#pragma omp parallel num_threads(compute_threads_)
    {
        const int worker = omp_get_thread_num();
        const bool is_master = worker == 0;
        const auto produce = [&](std::atomic<int>& counter, int first, int last) {
            // relaxed: the counter only shares out; the barriers order the data.
            for (int i = counter.fetch_add(1, std::memory_order_relaxed); first + i < last;
                 i = counter.fetch_add(1, std::memory_order_relaxed)) {
                record.produce(first + i, worker);
                if (is_master && !is_alone) attempt([&] { by_->after_piece(); });
            }
        };
        for (int chunk = 0; chunk < sizes.n_chunks(); ++chunk) {
            const int first = chunk * per_chunk;
            const int last = first + per_chunk;
            const int border = std::clamp(halo_piece, first, last);
            const auto counters = 2 * static_cast<std::size_t>(chunk);
            produce(drawn[counters], first, border);
            if (border < last) {
                if (is_master && !is_alone && halo_piece >= first) {
                    record.wait(-1, 0, [&] { attempt([&] { by_->wait_halo(); }); });
                }
#pragma omp barrier
                produce(drawn[counters + 1], border, last);
            }
#pragma omp barrier
            if (is_master && !is_alone) {
                record.post(0, [&] { attempt([&] { by_->send_chunk(chunk); }); });
            }
        }
        if (is_master && !is_alone) {
            // Even without a piece that needs it the halo must have come.
            if (halo_piece == piece_count(of)) record.wait(-1, 0, [&] { attempt([&] { by_->wait_halo(); }); });
            record.post(0, [&] { attempt([&] { by_->produced(); }); });
        }
        for (int wave = 0; wave < sizes.n_segments; wave += compute_threads_) {
            const int last = std::min(sizes.n_segments, wave + compute_threads_);
            for (int segment = wave; is_master && !is_alone && segment < last; ++segment) {
                record.wait(segment, 0, [&] { attempt([&] { by_->wait_segment(segment); }); });
            }
#pragma omp barrier
            if (wave + worker < last) record.consume(wave + worker, worker);
        }
    }
    if (!is_alone) record.wait(sizes.n_segments, 0, [&] { attempt([&] { by_->finish(); }); });
    if (failure) std::rethrow_exception(failure);
    return record.finish(is_alone ? traffic{} : by_->sent(), trace_);
}

} // namespace tiled
