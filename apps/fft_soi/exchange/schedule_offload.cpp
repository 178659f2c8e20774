// SPDX-License-Identifier: Apache-2.0
// Mode offload: p2p's messages, but every MPI call is made by the communication worker, which progresses them while the
// threads compute. One core less computes; nothing else of the program changes.
#include "common/runtime_session.hpp"
#include "exchange/fork_join.hpp"
#include "exchange/messages.hpp"
#include "exchange/recorded_messages.hpp"
#include "exchange/urgent_sender.hpp"

#include <commtask/commtask.hpp>

#include <stdexcept>
#include <string>

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
            post(commtask_op_send(edge.data, edge.size_bytes, MPI_BYTE, edge.peer, edge.tag, comms_.of(edge)),
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

    void barrier() override { miniapp::worker_barrier(comms_.all); }

    traffic sent() const override { return sent_; }

private:
    void receive(const incoming_message& one, commtask_t& task) const {
        post(commtask_op_recv(one.data, one.size_bytes, MPI_BYTE, one.peer, one.tag, comms_.of(one)), task);
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

/// The same messages as plans.
class planned_transport final : public transport {
public:
    explicit planned_transport(MPI_Comm comm) : comm_(comm) {}

    void begin(work& of) override {
        of_ = &of;
        sent_ = {};
        now_ = &plans_.of(of, comm_);
        if (halo_travels(of)) {
            halo_ = now_->halo().start();
            count(outgoing_halo(of), sent_);
        }
        segments_.clear();
        for (int segment = 0; segment < of.sizes().n_segments; ++segment) {
            segments_.push_back(now_->segment(segment).start());
        }
        sends_ = now_->sends().start();
    }
    void wait_halo() override { end(halo_); }
    void send_chunk(int chunk) override {
        now_->chunk_is_made(chunk);
        for_each_outgoing(*of_, chunk, [&](const outgoing_message& one) { count(one, sent_); });
    }
    void wait_segment(int segment) override { end(segments_[static_cast<std::size_t>(segment)]); }
    void finish() override { end(sends_); }
    void barrier() override { miniapp::worker_barrier(comm_); }
    traffic sent() const override { return sent_; }

private:
    static void end(commtask::task& run) {
        if (!run) return;
        const commtask::outcome ended = run.wait();
        if (ended.is_completed()) return;
        char words[MPI_MAX_ERROR_STRING] = "";
        int length = 0;
        MPI_Error_string(ended.error_code(), words, &length);
        throw std::runtime_error(std::string("a message failed: ") + words);
    }

    MPI_Comm comm_;
    kept_for_works<recorded_messages> plans_;
    work* of_ = nullptr;
    recorded_messages* now_ = nullptr;
    traffic sent_;
    commtask::task halo_;
    std::vector<commtask::task> segments_;
    commtask::task sends_;
};

} // namespace

std::unique_ptr<schedule> make_offload_schedule(const schedule_options& options) {
    std::unique_ptr<transport> by;
    if (options.has_plan) {
        by = std::make_unique<planned_transport>(options.comm);
    } else {
        by = std::make_unique<offload_transport>(options);
    }
    return std::make_unique<fork_join_schedule>(std::move(by), compute_threads_of(mode::offload, options.n_cores),
                                                std::max(2, options.n_cores));
}

} // namespace tiled
