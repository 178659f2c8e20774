// SPDX-License-Identifier: Apache-2.0
// Mode offload: p2p's messages, but every MPI call is made by the communication worker, which progresses them while the
// threads compute. One core less computes; nothing else of the program changes.
#include "common/runtime_session.hpp"
#include "exchange/fork_join.hpp"
#include "exchange/recorder.hpp"
#include "exchange/urgent_sender.hpp"

#include <commtask/commtask.h>

namespace tiled {

namespace {

using miniapp::require;

class offload_transport final : public transport {
public:
    offload_transport(MPI_Comm comm, int at_once) : comm_(comm), sender_(comm, at_once) {
        require(commtask_comm_register(comm), "commtask_comm_register");
    }

    void begin(work& of) override {
        of_ = &of;
        sent_ = {};
        receives_.clear();
        const layout& sizes = of.sizes();
        sender_.begin(sizes, sizes.n_segments * sizes.n_chunks() * sizes.n_peers());
        const halo edge = of.neighbour();
        halo_ = COMMTASK_NULL;
        if (edge.size_bytes > 0) {
            const auto size = static_cast<MPI_Count>(edge.size_bytes);
            post(commtask_op_recv(edge.receive, size, MPI_BYTE, right_of(sizes), sizes.halo_tag(), comm_), halo_);
            post(commtask_op_send(edge.send, size, MPI_BYTE, left_of(sizes), sizes.halo_tag(), comm_), halo_send_);
            sent_.halo_bytes += size;
        }
        for (int segment = 0; segment < sizes.n_segments; ++segment) {
            for (int o = 1; o < sizes.n_ranks; ++o) {
                for (int chunk = 0; chunk < sizes.n_chunks(); ++chunk) {
                    const int from = sizes.peer_from(o);
                    const block in = sizes.incoming(from, segment, chunk);
                    post(commtask_op_recv(of.incoming() + in.offset_bytes, static_cast<MPI_Count>(in.size_bytes),
                                          MPI_BYTE, from, sizes.tag(segment, chunk), comm_),
                         receives_.emplace_back(COMMTASK_NULL));
                }
            }
        }
    }

    void wait_halo() override { require(commtask_wait(&halo_, nullptr), "commtask_wait"); }

    void send_chunk(int chunk) override {
        const layout& sizes = of_->sizes();
        for (int segment = 0; segment < sizes.n_segments; ++segment) {
            for (int o = 1; o < sizes.n_ranks; ++o) {
                const int to = sizes.peer_to(o);
                const block out = sizes.outgoing(to, segment, chunk);
                sender_.send({segment, chunk, to, of_->outgoing() + out.offset_bytes, out.size_bytes});
                ++sent_.messages;
                sent_.bytes += static_cast<std::int64_t>(out.size_bytes);
            }
        }
    }

    void wait_segment(int segment) override {
        const auto n = static_cast<std::size_t>(of_->sizes().n_peers() * of_->sizes().n_chunks());
        wait_all(n, receives_.data() + static_cast<std::size_t>(segment) * n);
    }

    void finish() override {
        sender_.finish();
        require(commtask_wait(&halo_send_, nullptr), "commtask_wait");
    }

    void barrier() override {
        commtask_t task = COMMTASK_NULL;
        post(commtask_op_barrier(comm_), task);
        require(commtask_wait(&task, nullptr), "commtask_wait");
    }

    traffic sent() const override { return sent_; }

private:
    static void post(const commtask_op& operation, commtask_t& task) {
        require(commtask_post(&operation, nullptr, &task), "commtask_post");
    }
    static void wait_all(std::size_t n, commtask_t* tasks) {
        require(commtask_wait_all(n, tasks, -1, nullptr), "commtask_wait_all");
    }

    MPI_Comm comm_;
    work* of_ = nullptr;
    traffic sent_;
    urgent_sender sender_;
    commtask_t halo_ = COMMTASK_NULL;
    commtask_t halo_send_ = COMMTASK_NULL;
    std::vector<commtask_t> receives_; ///< [segment][peer and chunk]
};

} // namespace

std::unique_ptr<schedule> make_offload_schedule(const schedule_options& options) {
    return std::make_unique<fork_join_schedule>(std::make_unique<offload_transport>(options.comm, options.at_once),
                                                compute_threads_of(mode::offload, options.n_cores),
                                                std::max(2, options.n_cores));
}

} // namespace tiled
