// SPDX-License-Identifier: Apache-2.0
// Mode omp: chunk x segment as one graph of OpenMP tasks in which what arrives is tasks too. A segment is consumed when
// its messages are there; no barrier in between. What leaves is handed over when the pieces of its chunk are made, and
// posted in order of urgency, which no depend clause can say; or, with plans, leaves at once. The price is a task's overhead per piece and message, hence
// pieces are large.
#include "common/runtime_session.hpp"
#include "exchange/messages.hpp"
#include "exchange/recorded_messages.hpp"
#include "exchange/recorder.hpp"
#include "exchange/urgent_sender.hpp"

#include <commtask/omp.h>

#include <omp.h>

namespace tiled {

namespace {

using miniapp::require;

/// Stands for data in depend clauses; nothing is stored there.
using address = const char*;

class omp_schedule final : public schedule {
public:
    omp_schedule(const schedule_options& options, int compute_threads, int cores)
        : comms_(options.messages()), sender_(comms_, options.at_once), compute_threads_(compute_threads),
          cores_(cores), works_(options.comm), has_plan_(options.has_plan) {
        require(commtask_omp_check(), "commtask_omp_check");
        require(commtask_comm_register(comms_.all), "commtask_comm_register");
    }

    phase_times run(work& of) override {
        const layout& sizes = of.sizes();
        pieces_.assign(static_cast<std::size_t>(piece_count(of)), 0);
        blocks_.assign(static_cast<std::size_t>(sizes.n_messages()), 0);
        traffic sent;
        recorder record(of, compute_threads_, trace_ != nullptr);
        of.begin();
        plans_ = has_plan_ && sizes.n_ranks > 1 ? &works_.of(of) : nullptr;
        sender_.begin(plans_ == nullptr ? sizes.n_messages() : 0);
        if (sizes.n_ranks == 1) copy_own_halo(of.neighbour());
        int waited = COMMTASK_OK;
#pragma omp parallel num_threads(compute_threads_)
#pragma omp single
        {
#pragma omp taskgroup
            {
                if (sizes.n_ranks > 1) record.post(omp_get_thread_num(), [&] { create_receives(of, sent); });
                for (int chunk = 0; chunk < sizes.n_chunks(); ++chunk) create_chunk(of, chunk, record);
                for (int segment = 0; segment < sizes.n_segments; ++segment) create_consumer(of, segment, record);
                // A rank that has one core for everything drives MPI itself, instead of waiting for the worker's turn.
                waited = commtask_omp_wait_all();
            }
        }
        sender_.finish();
        sender_.count_sent(sent);
        for (int chunk = 0; plans_ != nullptr && chunk < sizes.n_chunks(); ++chunk) {
            for_each_outgoing(of, chunk, [&](const outgoing_message& one) { count(one, sent); });
        }
        require(waited, "commtask_omp_wait_all");
        if (commtask_omp_error_count() != 0) {
            char text[512];
            commtask_omp_first_error(text, sizeof text);
            commtask_omp_clear_errors(); // of this run: the next one's are its own
            throw std::runtime_error(std::string("a message failed: ") + text);
        }
        sender_.require_all_gone();
        return record.finish_tasks(sent, trace_);
    }

    void barrier() override { miniapp::worker_barrier(comms_.all); }

    int compute_threads() const override { return compute_threads_; }
    int cores() const override { return cores_; }

private:
    /// Priorities, where OMP_MAX_TASK_PRIORITY allows them: messages first, then what feeds them, early chunks first,
    /// then the consumers, first segments first.
    static int piece_priority(const layout& sizes, int chunk) { return sizes.n_segments + sizes.n_chunks() - chunk; }
    static int message_priority(const layout& sizes) { return sizes.n_segments + sizes.n_chunks() + 1; }

    address token_of_block(const layout& sizes, int segment, int o, int chunk) const {
        return &blocks_[static_cast<std::size_t>((segment * sizes.n_peers() + o - 1) * sizes.n_chunks() + chunk)];
    }

    void create_receives(work& of, traffic& sent) {
        const int first = message_priority(of.sizes());
        const auto create_receive = [&](const incoming_message& one, address token) {
            COMM_TASK(recv(one.data, one.size_bytes, MPI_BYTE, one.peer, one.tag, comms_.of(one)), out(token),
                      priority(first));
        };
        if (halo_travels(of)) {
            const outgoing_message edge = outgoing_halo(of);
            create_receive(incoming_halo(of), &halo_);
            COMM_TASK(send(edge.data, edge.size_bytes, MPI_BYTE, edge.peer, edge.tag, comms_.of(edge)), in(edge.data),
                      priority(first));
            count(edge, sent);
        }
        if (plans_ != nullptr) {
            for (int segment = 0; segment < of.sizes().n_segments; ++segment) {
                COMM_PLAN(plans_->segment(segment).native(), out(token_of_block(of.sizes(), segment, 1, 0)),
                          priority(first));
            }
            COMM_PLAN(plans_->sends().native(), priority(first));
            return;
        }
        for_each_incoming(of, [&](const incoming_message& one) {
            create_receive(one, token_of_block(of.sizes(), one.segment, one.nth_peer, one.chunk));
        });
    }

    void create_chunk(work& of, int chunk, recorder& record) {
        const layout& sizes = of.sizes();
        const int per_chunk = of.pieces_per_chunk();
        recorder* const run = &record;
        std::vector<address> made;
        for (int piece = chunk * per_chunk; piece < (chunk + 1) * per_chunk; ++piece) {
            const address own = &pieces_[static_cast<std::size_t>(piece)];
            made.push_back(own);
            const address after = &halo_;
            const int n_after = of.needs_halo(piece) ? 1 : 0;
#pragma omp task firstprivate(run, piece) priority(piece_priority(sizes, chunk))                                       \
    depend(iterator(i = 0 : n_after), in : *(after + i)) depend(out : *own)
            {
                run->produce(piece, omp_get_thread_num());
                commtask_omp_progress();
            }
        }
        const address* const from = made.data();
        work* const source = &of;
#pragma omp task firstprivate(run, source, chunk) priority(message_priority(sizes))                                    \
    depend(iterator(i = 0 : per_chunk), in : *from[i])
        {
            run->post(omp_get_thread_num(), [&] {
                if (plans_ != nullptr) return plans_->chunk_is_made(chunk);
                for_each_outgoing(*source, chunk, [&](const outgoing_message& one) { sender_.send(one); });
            });
        }
    }

    void create_consumer(work& of, int segment, recorder& record) {
        const layout& sizes = of.sizes();
        recorder* const run = &record;
        std::vector<address> needs;
        for (const char& piece : pieces_) needs.push_back(&piece);
        const int n_peers = plans_ == nullptr ? sizes.n_peers() : 1; // one token stands for all that a plan receives
        const int n_chunks = plans_ == nullptr ? sizes.n_chunks() : 1;
        for (int o = 1; sizes.n_ranks > 1 && o <= n_peers; ++o) {
            for (int chunk = 0; chunk < n_chunks; ++chunk) needs.push_back(token_of_block(sizes, segment, o, chunk));
        }
        const address* const from = needs.data();
        const auto n_needs = static_cast<int>(needs.size());
#pragma omp task firstprivate(run, segment) priority(sizes.n_segments - segment)                                       \
    depend(iterator(i = 0 : n_needs), in : *from[i])
        {
            run->consume(segment, omp_get_thread_num());
            commtask_omp_progress();
        }
    }

    message_comms comms_;
    urgent_sender sender_;
    int compute_threads_;
    int cores_;
    std::vector<char> pieces_;
    std::vector<char> blocks_; ///< [segment][peer][chunk]
    char halo_ = 0;
    recorded_works works_;
    bool has_plan_;
    recorded_messages* plans_ = nullptr; ///< Of the run; null: a task for each message.
};

} // namespace

std::unique_ptr<schedule> make_omp_schedule(const schedule_options& options) {
    return std::make_unique<omp_schedule>(options, compute_threads_of(mode::omp, options.n_cores),
                                          std::max(2, options.n_cores));
}

} // namespace tiled
