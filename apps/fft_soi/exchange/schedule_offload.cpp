// SPDX-License-Identifier: Apache-2.0
// Mode offload: p2p's messages, but every MPI call is made by the communication worker, which progresses them while the
// threads compute. One core less computes; nothing else of the program changes.
#include "common/runtime_session.hpp"
#include "exchange/fork_join.hpp"
#include "exchange/messages.hpp"
#include "exchange/recorded_messages.hpp"
#include "exchange/urgent_sender.hpp"

#include <commtask/commtask.hpp>

namespace tiled {

namespace {

using miniapp::require;

class offload_transport final : public transport {
public:
    explicit offload_transport(const schedule_options& options)
        : comms_(options.messages()), sender_(comms_, options.at_once), has_plan_(options.has_plan) {
        require(commtask_comm_register(comms_.all), "commtask_comm_register");
    }

    void begin(work& of) override {
        of_ = &of;
        sent_ = {};
        plans_ = has_plan_ ? &works_.of(of, comms_) : nullptr;
        segments_.assign(static_cast<std::size_t>(of.sizes().n_segments), {});
        sender_.begin(plans_ == nullptr ? of.sizes().n_messages() : 0);
        if (halo_travels(of)) {
            const outgoing_message edge = outgoing_halo(of);
            post(comms_.operation(incoming_halo(of)), halo_);
            post(comms_.operation(edge), sends_);
            count(edge, sent_);
        }
        if (plans_ != nullptr) {
            for (int segment = 0; segment < of.sizes().n_segments; ++segment)
                post(commtask_op_plan(plans_->segment(segment).native()), segments_[segment]);
            post(commtask_op_plan(plans_->sends().native()), sends_);
        } else {
            for_each_incoming(
                of, [&](const incoming_message& one) { post(comms_.operation(one), segments_[one.segment]); });
        }
    }

    void wait_halo() override { wait_all(halo_); }

    void send_chunk(int chunk) override {
        if (plans_ != nullptr) plans_->chunk_is_made(chunk);
        for_each_outgoing(*of_, chunk, [&](const outgoing_message& one) {
            if (plans_ == nullptr) return sender_.send(one);
            count(one, sent_);
        });
    }

    void wait_segment(int segment) override { wait_all(segments_[segment]); }

    void finish() override {
        sender_.finish();
        sender_.count_sent(sent_);
        wait_all(sends_);
        sender_.require_all_gone();
    }

    void barrier() override { miniapp::worker_barrier(comms_.all); }

    traffic sent() const override { return sent_; }

private:
    using tasks = std::vector<commtask_t>;

    static void post(const commtask_op& operation, tasks& to) {
        require(commtask_post_operation(&operation, nullptr, &to.emplace_back(COMMTASK_NULL)), "commtask_post");
    }
    static void wait_all(tasks& all) {
        const int code = commtask_wait_all(all.size(), all.data(), nullptr);
        all.clear();
        require(code, "commtask_wait_all");
    }

    message_comms comms_;
    urgent_sender sender_;
    bool has_plan_;
    kept_for_works<recorded_messages> works_;
    recorded_messages* plans_ = nullptr; ///< Of the run; null: a task for each message.
    work* of_ = nullptr;
    traffic sent_;
    tasks halo_;
    std::vector<tasks> segments_; ///< What each segment receives.
    tasks sends_;                 ///< The halo, and the plan.
};

} // namespace

std::unique_ptr<schedule> make_offload_schedule(const schedule_options& options) {
    return make_fork_join<offload_transport>(mode::offload, options);
}

} // namespace tiled
