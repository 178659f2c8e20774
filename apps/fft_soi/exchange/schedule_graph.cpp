// SPDX-License-Identifier: Apache-2.0
// Modes omp and tbb: chunk x segment as one graph, made when a work runs first, in which what arrives is an item too. A segment is
// consumed when its messages are there; no barrier in between. A message is handed over when the pieces of its chunk are made, and
// posted in order of urgency, which no dependence can say; or, with plans, leaves at once. The price is a task's overhead per piece and
// message, hence pieces are large.
#include "common/runner.hpp"
#include "common/runtime_session.hpp"
#include "exchange/recorded_messages.hpp"
#include "exchange/recorder.hpp"
#include "exchange/urgent_sender.hpp"

#include <atomic>
#include <optional>

namespace tiled {

namespace {

using miniapp::item_list;
using miniapp::part;

/// Numbers below n for n computing threads. A thread has its own, unless that is taken: oneTBB may send an arena of one thread a
/// second one, whose number is beyond.
class scratch_number {
public:
    scratch_number(std::vector<std::atomic_flag>& taken, int thread)
        : taken_(taken), number_(static_cast<std::size_t>(thread) % taken.size()) {
        // One is free: no more items work at once than there are numbers. acquire: partner of the release.
        while (taken_[number_].test_and_set(std::memory_order_acquire)) number_ = (number_ + 1) % taken_.size();
    }
    scratch_number(const scratch_number&) = delete;
    scratch_number& operator=(const scratch_number&) = delete;
    ~scratch_number() { taken_[number_].clear(std::memory_order_release); } // partner: the acquire in the constructor
    int number() const { return static_cast<int>(number_); }

private:
    std::vector<std::atomic_flag>& taken_;
    std::size_t number_;
};

class graph_schedule final : public schedule {
public:
    graph_schedule(const schedule_options& options, mode which, miniapp::make_runner* make)
        : comms_(options.messages()), sender_(comms_, options.at_once), n_cores_(options.n_cores),
          has_plan_(options.has_plan), make_(make),
          taken_(static_cast<std::size_t>(compute_threads_of(which, options.n_cores))) {
        miniapp::require(commtask_comm_register(comms_.all), "commtask_comm_register");
    }

    phase_times run(work& of) override {
        const layout& sizes = of.sizes();
        graph& on = graphs_.of(of, *this);
        traffic sent;
        recorder record(of, compute_threads(), trace_ != nullptr);
        record_ = &record;
        of.begin();
        sender_.begin(on.plans ? 0 : sizes.n_messages());
        if (sizes.n_ranks == 1) copy_own_halo(of.neighbour());
        double posting = 0;
        try {
            posting = on.runner->run(1).post;
        } catch (...) {
            sender_.finish(); // callbacks of messages under way still use it
            throw;
        }
        sender_.finish();
        sender_.count_sent(sent);
        if (halo_travels(of)) count(outgoing_halo(of), sent);
        for (int chunk = 0; on.plans && chunk < sizes.n_chunks(); ++chunk) {
            for_each_outgoing(of, chunk, [&](const outgoing_message& one) { count(one, sent); });
        }
        sender_.require_all_gone();
        return record.finish_tasks(sent, trace_, posting);
    }

    void barrier() override { miniapp::worker_barrier(comms_.all); }
    int compute_threads() const override { return static_cast<int>(taken_.size()); }
    int cores() const override { return cores_of(mode::omp, n_cores_); }

private:
    struct graph {
        graph(work& of, graph_schedule& under) {
            if (under.has_plan_ && of.sizes().n_ranks > 1) plans.emplace(of, under.comms_);
            under.add_items(of, *this);
            items.end(false);
            runner = under.make_(items, under.n_cores_);
        }
        std::optional<recorded_messages> plans;
        item_list items;
        std::unique_ptr<miniapp::runner> runner;
    };

    int add(item_list& to, const auto& one) const {
        return to.add(part::receive, miniapp::message{.operation = comms_.operation(one)});
    }

    /// Messages first, then what feeds them, early chunks first, then the consumers, first segments first.
    void add_items(work& of, graph& to) {
        const layout& sizes = of.sizes();
        const int n_urgencies = sizes.n_segments + sizes.n_chunks();
        std::vector<int> halo;
        if (halo_travels(of)) {
            halo.push_back(add(to.items, incoming_halo(of)));
            add(to.items, outgoing_halo(of));
        }
        std::vector<std::vector<int>> needs(static_cast<std::size_t>(sizes.n_segments));
        if (to.plans) {
            for (int segment = 0; segment < sizes.n_segments; ++segment)
                needs[segment].push_back(to.items.add(part::receive, miniapp::start(to.plans->segment(segment))));
            to.items.add(part::receive, miniapp::start(to.plans->sends()));
        } else {
            for_each_incoming(of,
                              [&](const incoming_message& one) { needs[one.segment].push_back(add(to.items, one)); });
        }
        std::vector<int> pieces;
        for (int chunk = 0; chunk < sizes.n_chunks(); ++chunk) {
            std::vector<int> made;
            for (int k = 0; k < of.pieces_per_chunk(); ++k) {
                const int piece = chunk * of.pieces_per_chunk() + k;
                made.push_back(to.items.add(part::prepare, [this, piece](int thread) {
                    const scratch_number scratch(taken_, thread);
                    record_->produce(piece, scratch.number());
                }));
                to.items.set_urgency(made.back(), n_urgencies - chunk);
                if (of.needs_halo(piece)) to.items.wait_for(made.back(), halo);
            }
            const int hand_over = to.items.add(part::send, [this, &of, &to, chunk](int thread) {
                const scratch_number scratch(taken_, thread);
                record_->post(scratch.number(), [&] {
                    if (to.plans) return to.plans->chunk_is_made(chunk);
                    for_each_outgoing(of, chunk, [&](const outgoing_message& one) { sender_.send(one); });
                });
            });
            to.items.set_urgency(hand_over, n_urgencies + 1);
            to.items.wait_for(hand_over, made);
            pieces.insert(pieces.end(), made.begin(), made.end());
        }
        for (int segment = 0; segment < sizes.n_segments; ++segment) {
            const int consumer = to.items.add(part::shell, [this, segment](int thread) {
                const scratch_number scratch(taken_, thread);
                record_->consume(segment, scratch.number());
            });
            to.items.set_urgency(consumer, sizes.n_segments - segment);
            to.items.wait_for(consumer, pieces);
            to.items.wait_for(consumer, needs[segment]);
        }
        to.items.end_stage();
    }

    message_comms comms_;
    urgent_sender sender_;
    int n_cores_;
    bool has_plan_;
    miniapp::make_runner* make_;
    std::vector<std::atomic_flag> taken_;
    recorder* record_ = nullptr; ///< Of the run.
    kept_for_works<graph> graphs_;
};

} // namespace

std::unique_ptr<schedule> make_omp_schedule(const schedule_options& options) {
    return std::make_unique<graph_schedule>(options, mode::omp, miniapp::make_omp);
}

#if MINIAPP_HAS_TBB
std::unique_ptr<schedule> make_tbb_schedule(const schedule_options& options) {
    return std::make_unique<graph_schedule>(options, mode::tbb, miniapp::make_tbb);
}
#endif

} // namespace tiled
