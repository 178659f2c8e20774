// SPDX-License-Identifier: Apache-2.0
// Mode offload: p2p's messages, but every MPI call is made by the communication worker, which progresses them while the
// threads compute. One core less computes; nothing else of the program changes.
#include "common/runtime_session.hpp"
#include "exchange/fork_join.hpp"
#include "exchange/messages.hpp"
#include "exchange/urgent_sender.hpp"

#include <commtask/commtask.h>

namespace tiled {

namespace {

using miniapp::require;

class offload_transport final : public transport {
public:
    explicit offload_transport(const schedule_options& options)
        : comms_(options.messages()), sender_(comms_, options.at_once) {
        require(commtask_comm_register(comms_.all), "commtask_comm_register");
    }

    void begin(work& of) override {
        of_ = &of;
        sent_ = {};
        receives_.clear();
        const layout& sizes = of.sizes();
        sender_.begin(sizes.n_messages());
        halo_ = COMMTASK_NULL;
        if (halo_travels(of)) {
            receive(incoming_halo(of), halo_);
            const outgoing_message edge = outgoing_halo(of);
            post(commtask_op_send(edge.data, edge.size_bytes, MPI_BYTE, edge.peer, edge.tag, comms_.of(edge.tag)),
                 halo_send_);
            count(edge, sent_);
        }
        for_each_incoming(of,
                          [&](const incoming_message& one) { receive(one, receives_.emplace_back(COMMTASK_NULL)); });
    }

    void wait_halo() override { require(commtask_wait(&halo_, nullptr), "commtask_wait"); }

    void send_chunk(int chunk) override {
        for_each_outgoing(*of_, chunk, [&](const outgoing_message& one) { sender_.send(one); });
    }

    void wait_segment(int segment) override {
        const auto n = static_cast<std::size_t>(of_->sizes().n_peers() * of_->sizes().n_chunks());
        wait_all(n, receives_.data() + static_cast<std::size_t>(segment) * n);
    }

    void finish() override {
        sender_.finish();
        sender_.count_sent(sent_);
        require(commtask_wait(&halo_send_, nullptr), "commtask_wait");
        sender_.require_all_gone();
    }

    void barrier() override {
        commtask_t task = COMMTASK_NULL;
        post(commtask_op_barrier(comms_.all), task);
        require(commtask_wait(&task, nullptr), "commtask_wait");
    }

    traffic sent() const override { return sent_; }

private:
    void receive(const incoming_message& one, commtask_t& task) const {
        post(commtask_op_recv(one.data, one.size_bytes, MPI_BYTE, one.peer, one.tag, comms_.of(one.tag)), task);
    }
    static void post(const commtask_op& operation, commtask_t& task) {
        require(commtask_post(&operation, nullptr, &task), "commtask_post");
    }
    static void wait_all(std::size_t n, commtask_t* tasks) {
        require(commtask_wait_all(n, tasks, -1, nullptr), "commtask_wait_all");
    }

    message_comms comms_;
    work* of_ = nullptr;
    traffic sent_;
    urgent_sender sender_;
    commtask_t halo_ = COMMTASK_NULL;
    commtask_t halo_send_ = COMMTASK_NULL;
    std::vector<commtask_t> receives_; ///< [segment][peer and chunk]
};

} // namespace

std::unique_ptr<schedule> make_offload_schedule(const schedule_options& options) {
    return std::make_unique<fork_join_schedule>(std::make_unique<offload_transport>(options),
                                                compute_threads_of(mode::offload, options.n_cores),
                                                std::max(2, options.n_cores));
}

} // namespace tiled
