// SPDX-License-Identifier: Apache-2.0
// Mode tbb: chunk x segment as a oneTBB flow graph, made once. What goes round in it are messages, and leave to compute
// something that has become ready: what leaves is handed over when the pieces of its chunk are made, and posted in order of
// urgency, or leaves at once by a plan; a segment is consumed when its messages are there; no barrier in between. The price is the same as
// in mode omp, a task per piece and message that arrives; with plans the latter is one per segment.
#include "exchange/messages.hpp"
#include "exchange/recorded_messages.hpp"
#include "exchange/recorder.hpp"
#include "exchange/urgent_sender.hpp"

#include <commtask/tbb.hpp>

#include <oneapi/tbb/concurrent_priority_queue.h>

#include <atomic>
#include <compare>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace tiled {

namespace {

namespace flow = ::tbb::flow;

/// Something that a thread can compute. The least is the most urgent: pieces, which feed the messages, early chunks first;
/// then the segments.
struct step {
    enum class kind { begin, piece, segment };
    kind what = kind::begin;
    int number = 0;
    friend auto operator<=>(const step&, const step&) = default;
};

/// Scratch numbers below n for n computing threads. A thread's number is its place in the arena, unless that is taken:
/// oneTBB may send an arena of one thread a second one, whose place lies beyond.
class scratch_numbers {
public:
    explicit scratch_numbers(int n) : taken_(static_cast<std::size_t>(n)) {}

    class held {
    public:
        explicit held(scratch_numbers& of) : taken_(of.taken_) {
            const auto own = static_cast<std::size_t>(::tbb::this_task_arena::current_thread_index());
            number_ = own % taken_.size();
            // One is free: the computing node has no more bodies than there are numbers. acquire: partner of the release.
            while (taken_[number_].test_and_set(std::memory_order_acquire)) number_ = (number_ + 1) % taken_.size();
        }
        held(const held&) = delete;
        held& operator=(const held&) = delete;
        ~held() { taken_[number_].clear(std::memory_order_release); } // partner: the acquire in the constructor
        int number() const { return static_cast<int>(number_); }

    private:
        std::vector<std::atomic_flag>& taken_;
        std::size_t number_ = 0;
    };

private:
    std::vector<std::atomic_flag> taken_;
};

class tbb_schedule final : public schedule {
    /// Leave to compute whatever is the most urgent by then: a task of oneTBB may lie for long in some thread's queue.
    using leave = flow::continue_msg;
    using computing = flow::multifunction_node<leave, std::tuple<leave, incoming_message, outgoing_message>>;
    using arriving = flow::multifunction_node<incoming_message, std::tuple<leave>>;
    using leave_port = std::tuple_element_t<0, arriving::output_ports_type>;
    /// Starts a plan with the number of what it receives.
    using plan_start = commtask::tbb::plan_node<int>;

public:
    tbb_schedule(const schedule_options& options, int compute_threads, int cores)
        : comms_(options.messages()), sender_(comms_, options.at_once), compute_threads_(compute_threads),
          cores_(cores), works_(options.comm), has_plan_(options.has_plan), scratch_(compute_threads),
          arena_(compute_threads) {
        commtask::register_comm(comms_.all);
        arena_.execute([this] { nodes_.emplace(*this); });
    }

    phase_times run(work& of) override {
        const layout& sizes = of.sizes();
        of_ = &of;
        sent_ = {};
        if (halo_travels(of)) count(outgoing_halo(of), sent_);
        set(pieces_missing_, sizes.n_chunks(), of.pieces_per_chunk());
        is_planned_ = has_plan_ && sizes.n_ranks > 1;
        set(blocks_missing_, sizes.n_segments,
            is_planned_ ? 1 + sizes.n_chunks() : (sizes.n_peers() + 1) * sizes.n_chunks());
        if (is_planned_) find_plans(of);
        recorder record(of, compute_threads_, trace_ != nullptr);
        record_ = &record;
        of.begin();
        sender_.begin(is_planned_ ? 0 : sizes.n_messages());
        if (sizes.n_ranks == 1) copy_own_halo(of.neighbour());
        ready_.clear();
        ready_.push({});
        try {
            arena_.execute([this] {
                nodes_->compute.try_put({});
                commtask::tbb::wait_for_all(nodes_->graph);
            });
        } catch (...) {
            sender_.finish(); // callbacks of messages under way still use it
            throw;
        }
        sender_.finish();
        sender_.count_sent(sent_);
        for (int chunk = 0; is_planned_ && chunk < sizes.n_chunks(); ++chunk) {
            for_each_outgoing(of, chunk, [&](const outgoing_message& one) { count(one, sent_); });
        }
        // relaxed: all that could have set it is over.
        if (has_failed_.exchange(false, std::memory_order_relaxed))
            throw std::runtime_error("a message failed: " + why_);
        sender_.require_all_gone();
        return record.finish_tasks(sent_, trace_);
    }

    void barrier() override { static_cast<void>(commtask::post(commtask::barrier(comms_.all)).wait()); }
    int compute_threads() const override { return compute_threads_; }
    int cores() const override { return cores_; }

private:
    using counts = std::vector<std::atomic<int>>;

    struct nodes {
        // What is received and the halo are posted one by one, and before the next piece is computed.
        explicit nodes(tbb_schedule& of)
            : compute(graph, static_cast<std::size_t>(of.compute_threads_),
                      [&of](const leave& /*given*/, computing::output_ports_type& ports) { of.compute_next(ports); }),
              receive(
                  graph, flow::serial, [&of](const incoming_message& one) { return of.receiving(one); },
                  before_computing),
              send(
                  graph, flow::serial, [&of](const outgoing_message& one) { return of.sending(one); },
                  before_computing),
              receive_failed(graph, flow::unlimited,
                             [&of](const commtask::tbb::failure<incoming_message>& what) {
                                 of.note_failure(commtask::tbb::operation_failed("recv_node", what.result));
                                 return what.message;
                             }),
              send_failed(graph, flow::unlimited,
                          [&of](const commtask::tbb::failure<outgoing_message>& what) {
                              of.note_failure(commtask::tbb::operation_failed("send_node", what.result));
                              return flow::continue_msg{};
                          }),
              arrived(graph, flow::unlimited,
                      [&of](const incoming_message& one, arriving::output_ports_type& ports) {
                          of.arrived(one, std::get<0>(ports));
                      }),
              plan_failed(graph, flow::unlimited,
                          [&of](const commtask::tbb::failure<int>& what) {
                              of.note_failure(commtask::tbb::operation_failed("plan_node", what.result));
                              return what.message;
                          }),
              plan_ended(graph, flow::unlimited, [&of](int segment, arriving::output_ports_type& ports) {
                  if (segment != all_sends) of.block_came(segment, std::get<0>(ports));
              }) {
            flow::make_edge(flow::output_port<0>(compute), compute);
            flow::make_edge(flow::output_port<1>(compute), receive);
            flow::make_edge(flow::output_port<2>(compute), send);
            flow::make_edge(flow::output_port<0>(receive), arrived);
            // A failed message is told of at the end; until then the run goes on, so that no peer waits for this rank.
            flow::make_edge(flow::output_port<1>(receive), receive_failed);
            flow::make_edge(receive_failed, arrived);
            flow::make_edge(flow::output_port<1>(send), send_failed);
            flow::make_edge(flow::output_port<0>(arrived), compute);
            flow::make_edge(plan_failed, plan_ended);
            flow::make_edge(flow::output_port<0>(plan_ended), compute);
        }
        /// For the plans of another work; nothing runs.
        void connect(recorded_messages& plans, int n_segments) {
            starts.clear();
            for (int i = 0; i <= n_segments; ++i) {
                const commtask::plan& each = i < n_segments ? plans.segment(i) : plans.sends();
                starts.push_back(std::make_unique<plan_start>(graph, each, before_computing));
                flow::make_edge(flow::output_port<0>(*starts.back()), plan_ended);
                flow::make_edge(flow::output_port<1>(*starts.back()), plan_failed);
            }
        }
        static constexpr flow::node_priority_t before_computing = 1;
        flow::graph graph;
        computing compute;
        commtask::tbb::recv_node<incoming_message> receive;
        commtask::tbb::send_node<outgoing_message> send;
        flow::function_node<commtask::tbb::failure<incoming_message>, incoming_message> receive_failed;
        flow::function_node<commtask::tbb::failure<outgoing_message>> send_failed;
        arriving arrived;
        flow::function_node<commtask::tbb::failure<int>, int> plan_failed;
        flow::multifunction_node<int, std::tuple<leave>> plan_ended;
        std::vector<std::unique_ptr<plan_start>> starts; ///< Of what each segment receives, and of all that is sent.
    };
    static constexpr int all_sends = -1;

    static void set(counts& all, int n, int to) {
        all = counts(static_cast<std::size_t>(n));
        for (std::atomic<int>& each : all) each.store(to, std::memory_order_relaxed); // no other thread is here yet
    }
    /// Whether that was the last. acq_rel: partner of itself in the others; the last one sees what all of them wrote.
    static bool count_down(counts& of, int which) {
        return of[static_cast<std::size_t>(which)].fetch_sub(1, std::memory_order_acq_rel) == 1;
    }

    void make_ready(const step& one, leave_port& port) {
        ready_.push(one);
        port.try_put({});
    }
    void compute_next(computing::output_ports_type& ports) {
        step now;
        if (!ready_.try_pop(now)) throw std::logic_error("mode tbb: leave to compute, but nothing is ready");
        const scratch_numbers::held scratch(scratch_);
        const int worker = scratch.number();
        switch (now.what) {
        case step::kind::begin: record_->post(worker, [&] { begin(ports); }); break;
        case step::kind::piece:
            record_->produce(now.number, worker);
            record_->post(worker, [&] { produced(now.number, std::get<0>(ports)); });
            break;
        case step::kind::segment: record_->consume(now.number, worker); break;
        }
        // A rank that has one core for everything drives MPI itself, instead of waiting for the worker's turn.
        commtask::tbb::progress(nodes_->graph);
    }

    /// Another work's are recorded, and its nodes made, when it comes.
    void find_plans(work& of) {
        if (plans_ != nullptr && plans_->identity() == of.identity()) return;
        nodes_->starts.clear(); // before their plans, which may be the ones that are forgotten
        plans_ = &works_.of(of);
        arena_.execute([&] { nodes_->connect(*plans_, of.sizes().n_segments); });
    }
    void begin(computing::output_ports_type& ports) {
        if (halo_travels(*of_)) {
            std::get<1>(ports).try_put(incoming_halo(*of_));
            std::get<2>(ports).try_put(outgoing_halo(*of_));
        }
        if (is_planned_) {
            const int n_segments = of_->sizes().n_segments;
            for (int i = 0; i < n_segments; ++i) nodes_->starts[static_cast<std::size_t>(i)]->try_put(i);
            nodes_->starts.back()->try_put(all_sends);
        } else {
            for_each_incoming(*of_, [&](const incoming_message& one) { std::get<1>(ports).try_put(one); });
        }
        make_ready_pieces(false, std::get<0>(ports));
        if (!halo_travels(*of_)) make_ready_pieces(true, std::get<0>(ports));
    }
    void make_ready_pieces(bool behind_halo, leave_port& port) {
        for (int piece = 0; piece < piece_count(*of_); ++piece) {
            if (of_->needs_halo(piece) == behind_halo) make_ready({step::kind::piece, piece}, port);
        }
    }
    void produced(int piece, leave_port& port) {
        const int chunk = piece / of_->pieces_per_chunk();
        if (!count_down(pieces_missing_, chunk)) return;
        if (is_planned_) {
            plans_->chunk_is_made(chunk);
        } else {
            for_each_outgoing(*of_, chunk, [&](const outgoing_message& one) { sender_.send(one); });
        }
        for (int segment = 0; segment < of_->sizes().n_segments; ++segment) block_came(segment, port);
    }
    void arrived(const incoming_message& one, leave_port& port) {
        if (one.is_halo()) {
            make_ready_pieces(true, port);
        } else {
            block_came(one.segment, port);
        }
    }
    /// The first one is kept.
    void note_failure(const commtask::tbb::operation_failed& failed) {
        // relaxed: who sets it writes the text alone, and run() reads it when the graph is done.
        if (!has_failed_.exchange(true, std::memory_order_relaxed)) why_ = failed.what();
    }
    /// From a peer, or from the chunk that this rank made for itself.
    void block_came(int segment, leave_port& port) {
        if (count_down(blocks_missing_, segment)) make_ready({step::kind::segment, segment}, port);
    }

    commtask::operation receiving(const incoming_message& one) const {
        return commtask::recv(commtask::elements(one.data, one.size_bytes, MPI_BYTE), one.peer, one.tag,
                              comms_.of(one));
    }
    commtask::operation sending(const outgoing_message& one) const {
        return commtask::send(commtask::elements(one.data, one.size_bytes, MPI_BYTE), one.peer, one.tag,
                              comms_.of(one));
    }

    message_comms comms_;
    urgent_sender sender_;
    int compute_threads_;
    int cores_;
    recorded_works works_;
    bool has_plan_;
    recorded_messages* plans_ = nullptr; ///< Those that the graph has nodes for.
    work* of_ = nullptr;                 ///< Of the run, as are the next eight.
    bool is_planned_ = false;
    recorder* record_ = nullptr;
    traffic sent_;
    std::atomic<bool> has_failed_{false};
    std::string why_;
    counts pieces_missing_; ///< Per chunk.
    counts blocks_missing_; ///< Per segment.
    ::tbb::concurrent_priority_queue<step, std::greater<>> ready_;
    scratch_numbers scratch_;
    commtask::tbb::arena arena_;
    std::optional<nodes> nodes_; ///< Made and used in the arena.
};

} // namespace

std::unique_ptr<schedule> make_tbb_schedule(const schedule_options& options) {
    return std::make_unique<tbb_schedule>(options, compute_threads_of(mode::tbb, options.n_cores),
                                          std::max(2, options.n_cores));
}

} // namespace tiled
