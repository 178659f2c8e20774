// SPDX-License-Identifier: Apache-2.0
// Mode tbb: the chain of hops as a oneTBB flow graph in which tiles, packs and messages are the graph's messages. The graph
// is made once: an item that is done counts down those that wait for it, and sends the ready ones round. No barrier, no
// wait between hops, nothing made per hop. The counts come from the same reads as mode omp's depend clauses. The receives of a
// parity are one plan and its sends another, started by a post each: every message is told of as it ends, and who has packed a face
// lets its send go. Or each message is an operation of its own.
#include "common/clock.hpp"
#include "common/runtime_session.hpp"
#include "exchange.hpp"
#include "halo_plan.hpp"
#include "task_graph.hpp"

#include <commtask/tbb.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

namespace dslash {

using miniapp::seconds;

namespace {

namespace flow = ::tbb::flow;

/// One piece of one hop, by its place in the list of items.
struct step_item {
    int hop = 0;
    int item = 0;
};

/// With plans a parity has one `receive` and one `send`, the starts of its plans, and an `arrival` for each message that it receives.
enum class work { tile, pack, receive, send, arrival };

/// What the tiles, packs and messages of one parity are, and who waits for them how many hops later.
struct item_description {
    struct successor {
        int item;
        int hops_later;
    };
    work what = work::tile;
    int parity = 0;
    int index = 0; ///< Tile or direction.
    bool is_interior = false;
    std::vector<successor> successors;
};

class item_graph {
public:
    item_graph(const stencil& on, bool has_plans) : reads_(find_reads(on.shape())), has_plans_(has_plans) {
        for (int parity = 0; parity < 2; ++parity) add_items(on, parity);
        for (int parity = 0; parity < 2; ++parity) connect(on, parity);
    }
    [[nodiscard]] const std::vector<item_description>& items() const { return items_; }
    /// What stands for a message that has come.
    [[nodiscard]] int arrival_of(int parity, int direction) const {
        return receives_[static_cast<std::size_t>(parity)][static_cast<std::size_t>(direction)];
    }

private:
    void add_items(const stencil& on, int parity) {
        const auto p = static_cast<std::size_t>(parity);
        const auto& tiles = on.shape().parity[p].tiles;
        const auto add = [&](work what, int index, bool is_interior) {
            items_.push_back({what, parity, index, is_interior, {}});
            return static_cast<int>(items_.size()) - 1;
        };
        for (std::size_t k = 0; k < tiles.size(); ++k) {
            tile_items_[p].push_back(add(work::tile, static_cast<int>(k), tiles[k].halos == 0));
        }
        starts_[p] =
            has_plans_ ? std::pair{add(work::receive, -1, false), add(work::send, -1, false)} : std::pair{-1, -1};
        for (int d = 0; d < n_directions; ++d) {
            const bool travels = on.face_bytes(d) != 0;
            packs_[p][d] = travels ? add(work::pack, d, false) : -1;
            sends_[p][d] = travels && !has_plans_ ? add(work::send, d, false) : -1;
            receives_[p][d] = travels ? add(has_plans_ ? work::arrival : work::receive, d, false) : -1;
        }
    }

    void connect(const stencil& on, int parity) {
        const auto p = static_cast<std::size_t>(parity);
        const std::vector<int>& mine = tile_items_[p];
        const std::vector<int>& others = tile_items_[1 - p];
        for (std::size_t k = 0; k < mine.size(); ++k) {
            // Who is read, and who reads what this tile writes: either way the two take turns.
            for (const int r : reads_[p].tiles[k].tiles) {
                take_turns(mine[k], others[static_cast<std::size_t>(r)]);
            }
            for (const int d : reads_[p].tiles[k].directions) {
                add_edge(receives_[p][d], mine[k], 0);
                add_edge(mine[k], has_plans_ ? starts_[p].first : receives_[p][d], 2); // the buffer is free again
            }
        }
        if (has_plans_) { // a run after the other
            add_edge(starts_[p].first, starts_[p].first, 2);
            add_edge(starts_[p].second, starts_[p].second, 2);
        }
        for (int d = 0; d < n_directions; ++d) {
            if (on.face_bytes(d) == 0) continue;
            for (const int t : reads_[p].packs[d]) take_turns(packs_[p][d], others[static_cast<std::size_t>(t)]);
            if (!has_plans_) add_edge(packs_[p][d], sends_[p][d], 0);
            add_edge(has_plans_ ? starts_[p].second : sends_[p][d], packs_[p][d], 2);
        }
    }

    void take_turns(int a, int b) {
        add_edge(a, b, 1);
        add_edge(b, a, 1);
    }
    void add_edge(int from, int to, int hops_later) {
        auto& successors = items_[static_cast<std::size_t>(from)].successors;
        if (std::ranges::any_of(successors, [to](const auto& each) { return each.item == to; })) return;
        successors.push_back({to, hops_later});
    }

    std::array<hop_reads, 2> reads_;
    std::vector<item_description> items_;
    std::array<std::vector<int>, 2> tile_items_;
    std::array<std::array<int, n_directions>, 2> packs_{};
    std::array<std::array<int, n_directions>, 2> sends_{};
    std::array<std::array<int, n_directions>, 2> receives_{};
    bool has_plans_;
    std::array<std::pair<int, int>, 2> starts_{}; ///< Receives, sends; with plans.
};

/// How many inputs an item still lacks. Its own line: its predecessors are on several threads.
struct alignas(64) count_down {
    std::atomic<int> n_missing{0};
    int n_inputs = 0;
};

class tbb_exchange final : public exchange {
    using computing_outputs = std::tuple<step_item, step_item, step_item, step_item>;
    using computing = flow::multifunction_node<step_item, computing_outputs>;
    /// Port of a computing node per kind of work that becomes ready.
    using ports = computing::output_ports_type;

public:
    tbb_exchange(stencil& on, const exchange_options& options, int compute_threads, int cores)
        : on_(on), comm_(options.comm), messages_(options.messages(on)), compute_threads_(compute_threads),
          cores_(cores), items_(on, options.has_plan), missing_(items_.items().size()), arena_(compute_threads) {
        commtask::register_comm(comm_);
        for (int parity = 0; parity < 2 && options.has_plan; ++parity) {
            receives_.push_back(std::make_unique<halo_plan>(on, messages_, parity, halo_plan::of::receives));
            sends_.push_back(std::make_unique<halo_plan>(on, messages_, parity, halo_plan::of::sends));
        }
        for (const item_description& each : items_.items()) {
            for (const auto& next : each.successors) ++missing_[static_cast<std::size_t>(next.item)].n_inputs;
        }
        arena_.execute([this] { nodes_.emplace(*this); });
    }

    phase_times run(std::span<const hop_step> steps) override {
        for (std::size_t h = 0; h < steps.size(); ++h) {
            if (steps[h].parity != (steps[0].parity + static_cast<int>(h)) % 2) {
                throw std::logic_error("mode tbb: the hops of a chain alternate between the parities");
            }
        }
        steps_ = steps;
        // An arena of one thread has a second slot, for what the worker enqueues.
        work_.assign(static_cast<std::size_t>(std::max(2, compute_threads_)), {});
        phase_times times;
        const double start = seconds();
        arena_.execute([this] {
            put_first_items();
            commtask::tbb::wait_for_all(nodes_->graph);
        });
        times.total = seconds() - start;
        mean_over_threads(times, work_, compute_threads_);
        return times;
    }

    void barrier() override { static_cast<void>(commtask::post(commtask::barrier(comm_)).wait()); }
    int compute_threads() const override { return compute_threads_; }
    int cores() const override { return cores_; }

private:
    struct nodes {
        explicit nodes(tbb_exchange& of)
            : compute(graph, flow::unlimited,
                      commtask::tbb::traced("tile or pack",
                                            [&of, this](const step_item& at, ports& ready) {
                                                of.compute(at);
                                                of.release(at, ready);
                                                // On a core that the worker shares: messages move.
                                                commtask::tbb::progress(graph);
                                            })),
              receive(graph, flow::unlimited, [&of](step_item& at) { return of.receiving(at); }),
              send(graph, flow::unlimited, [&of](step_item& at) { return of.sending(at); }),
              arrived(graph, flow::unlimited, [&of](const step_item& at, ports& ready) { of.release(at, ready); }) {
            for (computing* each : {&compute, &arrived}) {
                flow::make_edge(std::get<static_cast<std::size_t>(work::tile)>(each->output_ports()), compute);
                flow::make_edge(std::get<static_cast<std::size_t>(work::pack)>(each->output_ports()), compute);
                flow::make_edge(std::get<static_cast<std::size_t>(work::receive)>(each->output_ports()), receive);
                flow::make_edge(std::get<static_cast<std::size_t>(work::send)>(each->output_ports()), send);
            }
            flow::make_edge(receive, arrived);
            flow::make_edge(send, arrived);
            for (std::size_t parity = 0; parity < of.receives_.size(); ++parity) {
                starts.push_back(std::make_unique<start>(graph, of.receives_[parity]->plan()));
                starts.push_back(std::make_unique<start>(graph, of.sends_[parity]->plan()));
                messages.push_back(std::make_unique<arriving>(
                    graph, flow::unlimited, [&of, parity](const std::size_t& member, ports& ready) {
                        const int direction = of.receives_[parity]->direction_of(member);
                        const int item = of.items_.arrival_of(static_cast<int>(parity), direction);
                        of.release({of.receiving_hop_[parity].load(std::memory_order_relaxed), item}, ready);
                    }));
                flow::make_edge(starts[2 * parity]->members(), *messages.back());
                for (std::size_t i = 2 * parity; i < starts.size(); ++i) flow::make_edge(*starts[i], arrived);
                flow::make_edge(std::get<static_cast<std::size_t>(work::tile)>(messages.back()->output_ports()),
                                compute);
                flow::make_edge(std::get<static_cast<std::size_t>(work::pack)>(messages.back()->output_ports()),
                                compute);
            }
        }
        using start = commtask::tbb::plan_node<step_item>;
        using arriving = flow::multifunction_node<std::size_t, computing_outputs>;
        flow::graph graph;
        computing compute;
        commtask::tbb::recv_node<step_item> receive;
        commtask::tbb::send_node<step_item> send;
        computing arrived;
        std::vector<std::unique_ptr<start>> starts; ///< Of each parity's receives and sends.
        std::vector<std::unique_ptr<arriving>> messages;
    };

    [[nodiscard]] const item_description& description(const step_item& at) const {
        return items_.items()[static_cast<std::size_t>(at.item)];
    }
    [[nodiscard]] const hop_step& step(const step_item& at) const { return steps_[static_cast<std::size_t>(at.hop)]; }

    void compute(const step_item& at) {
        const double begin = seconds();
        const item_description& what = description(at);
        const hop_step& now = step(at);
        if (what.what == work::tile) {
            const auto& tiles = on_.shape().parity[static_cast<std::size_t>(what.parity)].tiles;
            on_.compute(now, tiles[static_cast<std::size_t>(what.index)]);
        } else {
            on_.pack(now, what.index, 0, on_.n_face_sites(what.parity, what.index));
            if (!sends_.empty()) sends_[static_cast<std::size_t>(what.parity)]->packed(what.index);
        }
        thread_work& mine = work_[static_cast<std::size_t>(::tbb::this_task_arena::current_thread_index())];
        (what.is_interior ? mine.interior : mine.other) += seconds() - begin;
    }

    [[nodiscard]] commtask::operation receiving(const step_item& at) const {
        const item_description& what = description(at);
        const auto size = static_cast<MPI_Count>(on_.face_bytes(what.index));
        return commtask::recv(commtask::elements(on_.receive_buffer(what.parity, what.index), size, MPI_BYTE),
                              on_.shape().geom.neighbour(what.index), tag_of(what), comm_of(what));
    }
    [[nodiscard]] commtask::operation sending(const step_item& at) const {
        const item_description& what = description(at);
        const auto size = static_cast<MPI_Count>(on_.face_bytes(what.index));
        return commtask::send(commtask::elements(on_.send_buffer(what.parity, what.index), size, MPI_BYTE),
                              on_.shape().geom.neighbour(what.index ^ 1), tag_of(what), comm_of(what));
    }
    [[nodiscard]] MPI_Comm comm_of(const item_description& what) const {
        return messages_[static_cast<std::size_t>(what.index)];
    }
    /// Messages of two successive hops are under way at once and start in any order: each hop has its tags.
    static int tag_of(const item_description& what) { return what.index + n_directions * what.parity; }

    /// An item is done: what has all its inputs now goes to the node that does it.
    void release(const step_item& done, ports& ready) {
        for (const auto& next : description(done).successors) {
            const int hop = done.hop + next.hops_later;
            if (hop >= static_cast<int>(steps_.size())) continue;
            count_down& count = missing_[static_cast<std::size_t>(next.item)];
            // acq_rel: partner of itself in the other predecessors; the last one sees what all of them wrote.
            if (count.n_missing.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
            // No predecessor comes again before this item is done: each pair takes turns.
            count.n_missing.store(count.n_inputs, std::memory_order_relaxed);
            put({hop, next.item}, ready);
        }
    }
    void put(const step_item& which, ports& ready) {
        const auto parity = static_cast<std::size_t>(description(which).parity);
        if (!sends_.empty() && description(which).what == work::receive) {
            // relaxed: the start publishes it, and its members come behind that.
            receiving_hop_[parity].store(which.hop, std::memory_order_relaxed);
            nodes_->starts[2 * parity]->try_put(which);
            return;
        }
        if (!sends_.empty() && description(which).what == work::send) {
            nodes_->starts[2 * parity + 1]->try_put(which);
            return;
        }
        switch (description(which).what) {
        case work::tile: std::get<static_cast<std::size_t>(work::tile)>(ready).try_put(which); break;
        case work::pack: std::get<static_cast<std::size_t>(work::pack)>(ready).try_put(which); break;
        case work::receive: std::get<static_cast<std::size_t>(work::receive)>(ready).try_put(which); break;
        case work::send: std::get<static_cast<std::size_t>(work::send)>(ready).try_put(which); break;
        case work::arrival: break; // nobody does it: it comes
        }
    }

    /// In the first hop of its parity an item lacks only those inputs that come from hops of this chain.
    void put_first_items() {
        const int first_parity = steps_.empty() ? 0 : steps_[0].parity;
        const auto first_hop = [&](const item_description& of) { return of.parity == first_parity ? 0 : 1; };
        for (count_down& each : missing_) each.n_missing.store(0, std::memory_order_relaxed);
        for (const item_description& each : items_.items()) {
            for (const auto& next : each.successors) {
                const int from_hop = first_hop(items_.items()[static_cast<std::size_t>(next.item)]) - next.hops_later;
                if (from_hop >= 0) {
                    missing_[static_cast<std::size_t>(next.item)].n_missing.fetch_add(1, std::memory_order_relaxed);
                }
            }
        }
        std::vector<step_item> ready;
        for (std::size_t i = 0; i < missing_.size(); ++i) {
            const int hop = first_hop(items_.items()[i]);
            if (items_.items()[i].what == work::arrival || missing_[i].n_missing.load(std::memory_order_relaxed) != 0)
                continue;
            missing_[i].n_missing.store(missing_[i].n_inputs, std::memory_order_relaxed);
            if (hop < static_cast<int>(steps_.size())) ready.push_back({hop, static_cast<int>(i)});
        }
        for (const step_item& each : ready) put(each, nodes_->arrived.output_ports());
    }

    stencil& on_;
    MPI_Comm comm_;
    halo_comms messages_;
    int compute_threads_;
    int cores_;
    item_graph items_;
    std::vector<count_down> missing_;
    std::span<const hop_step> steps_;
    std::vector<thread_work> work_;
    std::vector<std::unique_ptr<halo_plan>> receives_; ///< By parity; none: each message is an operation of its own.
    std::vector<std::unique_ptr<halo_plan>> sends_;
    std::array<std::atomic<int>, 2> receiving_hop_{}; ///< By parity: of the run that is under way.
    commtask::tbb::arena arena_;
    std::optional<nodes> nodes_; ///< Made and used in the arena.
};

} // namespace

std::unique_ptr<exchange> make_tbb_exchange(stencil& on, const exchange_options& options) {
    return std::make_unique<tbb_exchange>(on, options, std::max(1, options.n_cores - 1), std::max(2, options.n_cores));
}

} // namespace dslash
