// SPDX-License-Identifier: Apache-2.0
// Mode omp: the whole chain of hops as one graph of OpenMP tasks, in which messages are tasks too. A tile runs when the
// tiles and halos that it reads are there; packing for the next hop starts when the boundary tiles of this one are done.
// No barrier, no wait between hops. The price is a task's overhead per tile, hence the tile size is a parameter.
// Messages are comm clauses where the compiler has the plugin, and COMM_TASK elsewhere; or the task that packs a face also sends
// it, and is held by the message; or the receives of a hop are one task and its sends another, each the start of a plan, and
// who has packed a face lets its send go.
#include "common/clock.hpp"
#include "common/runtime_session.hpp"
#include "exchange.hpp"
#include "halo_plan.hpp"
#include "task_graph.hpp"

#include <commtask/omp.h>

#include <algorithm>
#include <omp.h>

namespace dslash {

using miniapp::seconds;
using miniapp::seconds_of;

namespace {

/// Priorities, where OMP_MAX_TASK_PRIORITY allows them: what feeds messages goes first, the interior fills the gaps.
enum : int { interior_priority = 0, boundary_priority = 1, pack_priority = 2, message_priority = 3 };

class omp_exchange final : public exchange {
public:
    omp_exchange(stencil& on, const exchange_options& options, int compute_threads, int cores)
        : on_(on), comm_(options.comm), messages_(options.messages(on)), compute_threads_(compute_threads),
          cores_(cores), is_held_(options.is_held), reads_(find_reads(on.shape())) {
        require(commtask_omp_check(), "commtask_omp_check");
        if (is_held_ && commtask_omp_bind_check() != COMMTASK_OK) {
            throw std::runtime_error(std::string("--hold: run lqcd_dslash_bind (") + commtask_omp_last_error() + ")");
        }
        require(commtask_comm_register(comm_), "commtask_comm_register");
        if (options.has_plan) plans_ = std::make_unique<hop_plans>(on, messages_);
    }

    phase_times run(std::span<const hop_step> steps) override {
        find_fields(steps);
        std::vector<thread_work> work(static_cast<std::size_t>(compute_threads_));
        phase_times times;
        const auto most_open = static_cast<std::size_t>(hops_ahead * comm_tasks_per_hop());
        int waited = COMMTASK_OK;
        const double start = seconds();
#pragma omp parallel num_threads(compute_threads_)
#pragma omp single
        {
#pragma omp taskgroup
            {
                for (const hop_step& step : steps) {
                    times.post += create_tasks(step, work);
                    // Without a bound the tasks of all hops would be in memory before the first hops have run.
                    waited = commtask_omp_wait_some(most_open);
                    if (waited != COMMTASK_OK) break;
                }
                // A rank that has one core for everything drives MPI itself, instead of waiting for the worker's turn.
                if (waited == COMMTASK_OK) waited = commtask_omp_wait_all();
            }
        }
        times.total = seconds() - start;
        require(waited, "commtask_omp_wait_some or _all");
        if (commtask_omp_error_count() != 0) throw std::runtime_error("a message failed: " + first_error());
        times.post /= compute_threads_;
        mean_over_threads(times, work, compute_threads_);
        return times;
    }

    void barrier() override { miniapp::worker_barrier(comm_); }

    int compute_threads() const override { return compute_threads_; }
    int cores() const override { return cores_; }

private:
    /// How many hops may be created before the oldest of them has its messages.
    static constexpr int hops_ahead = 8;

    /// Addresses for the tiles of one field.
    struct field_tokens {
        const field* of;
        std::array<std::vector<char>, 2> tiles;
    };

    /// Of both parities.
    struct hop_plans {
        hop_plans(stencil& on, const halo_comms& comms)
            : receives{{{on, comms, 0, halo_plan::of::receives}, {on, comms, 1, halo_plan::of::receives}}},
              sends{{{on, comms, 0, halo_plan::of::sends}, {on, comms, 1, halo_plan::of::sends}}} {}

        std::array<halo_plan, 2> receives;
        std::array<halo_plan, 2> sends;
        /// Stands for the sends of a hop, by its number modulo 4: a face is packed again when those of the hop before the last
        /// have ended, and those of this hop are started by then.
        std::array<char, 4> sent{};
        unsigned hop = 0;

        const char* sent_now() const { return &sent[hop % 4]; }
        const char* sent_before() const { return &sent[(hop + 2) % 4]; }
    };

    static std::string first_error() {
        char text[512];
        commtask_omp_first_error(text, sizeof text);
        return text;
    }

    void find_fields(std::span<const hop_step> steps) {
        fields_.clear();
        for (const hop_step& step : steps) {
            for (const field* f : {step.in, static_cast<const field*>(step.out)}) {
                if (std::ranges::any_of(fields_, [f](const field_tokens& t) { return t.of == f; })) continue;
                const auto& parity = on_.shape().parity;
                fields_.push_back(
                    {f, {std::vector<char>(parity[0].tiles.size()), std::vector<char>(parity[1].tiles.size())}});
            }
        }
    }

    const std::vector<char>& tokens(const field* of, int parity) const {
        return std::ranges::find(fields_, of, &field_tokens::of)->tiles[static_cast<std::size_t>(parity)];
    }

    /// As commtask_omp_wait_some() counts them when a hop has been created: a held send counts from when it is packed.
    int comm_tasks_per_hop() const {
        if (plans_) return 2;
        int n = 0;
        for (int d = 0; d < n_directions; ++d) n += on_.face_bytes(d) == 0 ? 0 : (is_held_ ? 1 : 2);
        return n;
    }

    /// Creates the tasks of one hop; gives the seconds that its messages took of it.
    double create_tasks(const hop_step& step, std::vector<thread_work>& work) {
        const auto parity = static_cast<std::size_t>(step.parity);
        const parity_layout& table = on_.shape().parity[parity];
        const std::vector<char>& in = tokens(step.in, 1 - step.parity);
        const std::vector<char>& out = tokens(step.out, step.parity);
        const hop_reads& reads = reads_[parity];
        const auto create_tiles = [&] {
            for (std::size_t k = 0; k < table.tiles.size(); ++k) create_tile(step, table, k, in, out, work);
        };
        double posting = plans_ ? seconds_of([&] { start_plans(step); }) : 0;
        for (int d = 0; d < n_directions && !plans_; ++d) posting += seconds_of([&] { create_receive(step, d); });
        // What feeds messages shall run first of all that a tile releases. libomp releases the dependents that were
        // created last before the others: a single thread runs them in that order, at once; a larger team puts them on
        // a stack.
        if (compute_threads_ == 1) create_tiles();
        for (int d = 0; d < n_directions; ++d) {
            if (on_.face_bytes(d) == 0) continue;
            create_pack(step, d, reads.packs[static_cast<std::size_t>(d)], in, work);
            if (!plans_ && !is_held_) posting += seconds_of([&] { create_send(step, d); });
        }
        if (compute_threads_ != 1) create_tiles();
        if (plans_) ++plans_->hop;
        return posting;
    }

    void start_plans(const hop_step& step) {
        const auto parity = static_cast<std::size_t>(step.parity);
        const char* const halo = halo_token(step, 0);
        COMM_TASK(plan(plans_->receives[parity].handle()), out(halo), priority(message_priority));
        COMM_TASK(plan(plans_->sends[parity].handle()), in(plans_->sent_before()), out(plans_->sent_now()),
                  priority(message_priority));
    }

    static int tag_of(const hop_step& step, int direction) { return halo_plan::tag_of(step.parity, direction); }

    MPI_Comm comm_of(int direction) const { return messages_[static_cast<std::size_t>(direction)]; }

    /// With plans the halos of a hop come together.
    const char* halo_token(const hop_step& step, int direction) const {
        return &halo_[static_cast<std::size_t>(step.parity)][plans_ ? 0 : static_cast<std::size_t>(direction)];
    }
    const char* sent_token(const hop_step& step, int direction) const {
        return &sent_[static_cast<std::size_t>(step.parity)][static_cast<std::size_t>(direction)];
    }

    void create_receive(const hop_step& step, int d) {
        const auto size = static_cast<MPI_Count>(on_.face_bytes(d));
        if (size == 0) return;
        const int peer = on_.shape().geom.neighbour(d);
        const char* const halo = halo_token(step, d);
#if COMMTASK_HAVE_CLAUSE
#pragma omp task depend(out : *halo) priority(message_priority)                                                        \
    comm(recv : on_.receive_buffer(step.parity, d), size, MPI_BYTE, peer, tag_of(step, d), comm_of(d))
#else
        COMM_TASK(recv(on_.receive_buffer(step.parity, d), size, MPI_BYTE, peer, tag_of(step, d), comm_of(d)),
                  out(halo), priority(message_priority));
#endif
    }

    commtask_op send_of(const hop_step& step, int d) const {
        return commtask_op_send(on_.send_buffer(step.parity, d), static_cast<MPI_Count>(on_.face_bytes(d)), MPI_BYTE,
                                on_.shape().geom.neighbour(d ^ 1), tag_of(step, d), comm_of(d));
    }

    void create_send(const hop_step& step, int d) {
        const auto size = static_cast<MPI_Count>(on_.face_bytes(d));
        const int peer = on_.shape().geom.neighbour(d ^ 1);
        const char* const sent = sent_token(step, d);
#if COMMTASK_HAVE_CLAUSE
#pragma omp task depend(in : *sent) priority(message_priority)                                                         \
    comm(send : on_.send_buffer(step.parity, d), size, MPI_BYTE, peer, tag_of(step, d), comm_of(d))
#else
        COMM_TASK(send(on_.send_buffer(step.parity, d), size, MPI_BYTE, peer, tag_of(step, d), comm_of(d)), in(sent),
                  priority(message_priority));
#endif
    }

    void create_pack(const hop_step& step, int direction, const std::vector<int>& tiles, const std::vector<char>& in,
                     std::vector<thread_work>& work) {
        const char* const sent = sent_token(step, direction);
        halo_plan* const sends = plans_ ? &plans_->sends[static_cast<std::size_t>(step.parity)] : nullptr;
        const bool is_held = is_held_;
        const commtask_op held = is_held ? send_of(step, direction) : commtask_op_noop(comm_);
        addresses_.clear();
        for (const int k : tiles) addresses_.push_back(&in[static_cast<std::size_t>(k)]);
        if (plans_) addresses_.push_back(plans_->sent_before());
        const address* const from = addresses_.data();
        const int n_from = static_cast<int>(addresses_.size());
        stencil* const on = &on_;
        const hop_step what = step;
        auto* const mine = work.data();
#pragma omp task firstprivate(on, what, direction, mine, sends, is_held, held) priority(pack_priority)                 \
    depend(iterator(i = 0 : n_from), in : *from[i]) depend(out : *sent)
        {
            const double begin = seconds();
            on->pack(what, direction, 0, on->n_face_sites(what.parity, direction));
            if (sends != nullptr) sends->packed(direction);
            // A refusal is counted among the errors, which end the run.
            if (is_held) static_cast<void>(commtask_omp_bind(held));
            mine[omp_get_thread_num()].other += seconds() - begin;
        }
    }

    void create_tile(const hop_step& step, const parity_layout& table, std::size_t k, const std::vector<char>& in,
                     const std::vector<char>& out, std::vector<thread_work>& work) {
        const tile_reads& reads = reads_[static_cast<std::size_t>(step.parity)].tiles[k];
        addresses_.clear();
        for (const int t : reads.tiles) addresses_.push_back(&in[static_cast<std::size_t>(t)]);
        for (const int d : reads.directions) {
            if (addresses_.empty() || addresses_.back() != halo_token(step, d))
                addresses_.push_back(halo_token(step, d));
        }
        const bool interior = table.tiles[k].halos == 0;
        const address* const from = addresses_.data();
        const int n_from = static_cast<int>(addresses_.size());
        const address result = &out[k];
        stencil* const on = &on_;
        const hop_step what = step;
        const tile* const which = &table.tiles[k];
        auto* const mine = work.data();
#pragma omp task firstprivate(on, what, which, mine, interior)                                                         \
    priority(interior ? interior_priority : boundary_priority) depend(iterator(i = 0 : n_from), in : *from[i])         \
    depend(out : *result)
        {
            const double begin = seconds();
            on->compute(what, *which);
            thread_work& to = mine[omp_get_thread_num()];
            (interior ? to.interior : to.other) += seconds() - begin;
            // On a core that the worker shares: messages move, and what they release comes before more of the interior.
            commtask_omp_progress();
        }
    }

    stencil& on_;
    MPI_Comm comm_;
    halo_comms messages_;
    int compute_threads_;
    int cores_;
    bool is_held_;                     ///< Else a send is a task of its own, or a plan's.
    std::unique_ptr<hop_plans> plans_; ///< Null: a task for each message.
    std::array<hop_reads, 2> reads_;
    std::vector<field_tokens> fields_;
    /// Scratch of the thread that creates tasks; depend clauses are evaluated before it is used again.
    std::vector<address> addresses_;
    std::array<std::array<char, n_directions>, 2> halo_{};
    std::array<std::array<char, n_directions>, 2> sent_{};
};

} // namespace

std::unique_ptr<exchange> make_omp_exchange(stencil& on, const exchange_options& options) {
    return std::make_unique<omp_exchange>(on, options, std::max(1, options.n_cores - 1), std::max(2, options.n_cores));
}

} // namespace dslash
