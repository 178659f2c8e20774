// SPDX-License-Identifier: Apache-2.0
// Modes persistent and partitioned: p2p's messages, set up once for all runs of a plan. Persistent: a request per message,
// started when its chunk is made. Partitioned (MPI 4): a request per segment and peer, whose partitions are marked ready
// chunk by chunk; when the bytes leave is then MPI's choice. The price of both is that buffers must not move.
#include "exchange/fork_join.hpp"
#include "exchange/messages.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tiled {

namespace {

/// The requests of one work. They belong to places in memory, so they serve again for the same work only; and partitioned ones are
/// matched when they are made, so all ranks must make them at the same time.
struct request_plan {
    explicit request_plan(work& /*of*/) {}
    request_plan(const request_plan&) = delete;
    request_plan& operator=(const request_plan&) = delete;
    ~request_plan() {
        const auto release = [](MPI_Request& request) {
            if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
        };
        release(halo_receive);
        release(halo_send);
        std::ranges::for_each(sends, release);
        std::ranges::for_each(receives, release);
    }

    bool is_made = false;
    MPI_Request halo_receive = MPI_REQUEST_NULL;
    MPI_Request halo_send = MPI_REQUEST_NULL;
    std::vector<MPI_Request> sends;
    std::vector<MPI_Request> receives; ///< The same number for each segment, segment by segment.
};

class planned_transport : public transport {
public:
    explicit planned_transport(const schedule_options& options) : comm_(options.comm) {}

    void begin(work& of) override {
        of_ = &of;
        sent_ = {};
        now_ = &plans_.of(of);
        if (!std::exchange(now_->is_made, true)) make_all(of, *now_);
        if (halo_travels(of)) {
            MPI_Start(&now_->halo_receive);
            MPI_Start(&now_->halo_send);
            count(outgoing_halo(of), sent_);
        }
        start_all(now_->receives.size(), now_->receives.data());
    }
    void wait_halo() override { MPI_Wait(&now_->halo_receive, MPI_STATUS_IGNORE); }
    void wait_segment(int segment) override {
        const std::size_t n = now_->receives.size() / static_cast<std::size_t>(of_->sizes().n_segments);
        wait_all(n, now_->receives.data() + static_cast<std::size_t>(segment) * n);
    }
    void finish() override {
        wait_all(now_->sends.size(), now_->sends.data());
        MPI_Wait(&now_->halo_send, MPI_STATUS_IGNORE);
    }
    void barrier() override { MPI_Barrier(comm_); }
    traffic sent() const override { return sent_; }

protected:
    /// Makes the requests of `to`, without the halo's.
    virtual void make_requests(work& of, request_plan& to) = 0;

    static void start_all(std::size_t n, MPI_Request* requests) { MPI_Startall(static_cast<int>(n), requests); }
    static void wait_all(std::size_t n, MPI_Request* requests) {
        MPI_Waitall(static_cast<int>(n), requests, MPI_STATUSES_IGNORE);
    }

    MPI_Comm comm_;
    work* of_ = nullptr;
    request_plan* now_ = nullptr;
    traffic sent_;

private:
    void make_all(work& of, request_plan& plan) {
        if (halo_travels(of)) {
            const incoming_message in = incoming_halo(of);
            const outgoing_message out = outgoing_halo(of);
            MPI_Recv_init(in.data, static_cast<int>(in.size_bytes), MPI_BYTE, in.peer, in.tag, comm_,
                          &plan.halo_receive);
            MPI_Send_init(out.data, static_cast<int>(out.size_bytes), MPI_BYTE, out.peer, out.tag, comm_,
                          &plan.halo_send);
        }
        make_requests(of, plan);
    }

    kept_for_works<request_plan> plans_;
};

class persistent_transport final : public planned_transport {
public:
    using planned_transport::planned_transport;

    void send_chunk(int chunk) override {
        const auto n = static_cast<std::size_t>(of_->sizes().n_segments * of_->sizes().n_peers());
        start_all(n, now_->sends.data() + static_cast<std::size_t>(chunk) * n);
        for_each_outgoing(*of_, chunk, [&](const outgoing_message& one) { count(one, sent_); });
    }

private:
    void make_requests(work& of, request_plan& to) override {
        for_each_incoming(of, [&](const incoming_message& one) {
            MPI_Recv_init(one.data, static_cast<int>(one.size_bytes), MPI_BYTE, one.peer, one.tag, comm_,
                          &to.receives.emplace_back());
        });
        for (int chunk = 0; chunk < of.sizes().n_chunks(); ++chunk) {
            for_each_outgoing(of, chunk, [&](const outgoing_message& one) {
                MPI_Send_init(one.data, static_cast<int>(one.size_bytes), MPI_BYTE, one.peer, one.tag, comm_,
                              &to.sends.emplace_back());
            });
        }
    }
};

#if MPI_VERSION >= 4
class partitioned_transport final : public planned_transport {
public:
    using planned_transport::planned_transport;

    void begin(work& of) override {
        planned_transport::begin(of);
        start_all(now_->sends.size(), now_->sends.data());
    }
    void send_chunk(int chunk) override {
        const layout& sizes = of_->sizes();
        const auto c = static_cast<std::size_t>(chunk);
        const std::int64_t rows = rows_of_partition(sizes);
        const auto first = static_cast<int>(sizes.chunk_rows[c] / rows);
        const auto last = static_cast<int>(sizes.chunk_rows[c + 1] / rows) - 1;
        // The most urgent first: segment by segment, in which order the requests are too.
        for (MPI_Request& request : now_->sends) MPI_Pready_range(first, last, request);
        for_each_outgoing(*of_, chunk, [&](const outgoing_message& one) { count(one, sent_); });
    }

private:
    /// Partitions must be equal and chunks need not be: the largest that no border of chunks cuts.
    static std::int64_t rows_of_partition(const layout& sizes) {
        return std::accumulate(sizes.chunk_rows.begin(), sizes.chunk_rows.end(), sizes.rows(),
                               [](std::int64_t a, std::int64_t b) { return std::gcd(a, b); });
    }

    void make_requests(work& of, request_plan& to) override {
        const layout& sizes = of.sizes();
        const std::int64_t rows = rows_of_partition(sizes);
        const auto n_partitions = static_cast<int>(sizes.rows() / rows);
        const auto count = static_cast<MPI_Count>(rows) * static_cast<MPI_Count>(sizes.cell_bytes);
        for (int segment = 0; segment < sizes.n_segments; ++segment) {
            for (int o = 1; o < sizes.n_ranks; ++o) {
                const int from = sizes.peer_from(o);
                const int into = sizes.peer_to(o);
                MPI_Precv_init(of.incoming() + sizes.incoming(from, segment, 0).offset_bytes, n_partitions, count,
                               MPI_BYTE, from, segment, comm_, MPI_INFO_NULL, &to.receives.emplace_back());
                MPI_Psend_init(of.outgoing() + sizes.outgoing(into, segment, 0).offset_bytes, n_partitions, count,
                               MPI_BYTE, into, segment, comm_, MPI_INFO_NULL, &to.sends.emplace_back());
            }
        }
    }
};
#endif

} // namespace

std::unique_ptr<schedule> make_persistent_schedule(const schedule_options& options) {
    return make_fork_join<persistent_transport>(mode::persistent, options);
}

#if MPI_VERSION >= 4
std::unique_ptr<schedule> make_partitioned_schedule(const schedule_options& options) {
    return make_fork_join<partitioned_transport>(mode::partitioned, options);
}
#endif

} // namespace tiled
