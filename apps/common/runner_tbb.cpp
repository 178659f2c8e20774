// SPDX-License-Identifier: Apache-2.0
// Mode tbb: items go round as messages of a oneTBB flow graph, which is made once: an item that has ended counts down those that
// wait for it, and sends the ready ones to the node that does them. No barrier, no wait between rounds, nothing made per item.
#include "common/runner.hpp"

#include <commtask/tbb.hpp>

#include <oneapi/tbb/concurrent_priority_queue.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <stdexcept>
#include <string>

namespace miniapp {

namespace {

namespace flow = ::tbb::flow;
namespace ct = commtask::tbb;

/// An item in a round. The least is the most urgent.
struct turn {
    int lateness = 0;
    int id = 0;
    int round = 0;
    friend auto operator<=>(const turn&, const turn&) = default;
};

/// The successors of an item, and the number of inputs that it still lacks. Each has a cache line: predecessors are on several threads.
struct alignas(64) place {
    std::atomic<int> n_missing{0};
    std::vector<int> now, next; ///< Items of the same round and of the next.
};

class tbb_runner final : public runner {
    using working = flow::multifunction_node<turn, std::tuple<turn, turn>>;
    /// One for items that work, one for messages.
    using ports = working::output_ports_type;

public:
    tbb_runner(const item_list& on, int compute_threads)
        : runner(on, compute_threads, true), places_(on.items().size()), arena_(compute_threads) {
        for (const item& each : on.items()) {
            for (const int other : each.after) places_[other].now.push_back(each.id);
            for (const int other : each.before) places_[other].next.push_back(each.id);
            is_ordered_ = is_ordered_ || each.urgency >= 0;
        }
        arena_.execute([this] { nodes_.emplace(*this); });
    }

private:
    struct nodes {
        explicit nodes(tbb_runner& of)
            : work(graph, of.is_ordered_ ? static_cast<std::size_t>(of.compute_threads()) : flow::unlimited,
                   ct::traced("item", [&of](const turn& at, ports& to) { of.work_at(at, to); })),
              // Where there is an order, messages are posted before the next item works.
              message(
                  graph, flow::unlimited,
                  [&of](const turn& at) { return commtask::operation{of.list().items()[at.id].through->operation}; },
                  of.is_ordered_ ? 1 : flow::no_priority),
              ended(graph, flow::unlimited, [&of](const turn& at, ports& to) { of.release(at, to); }),
              // A failed message is told of at the end; until then the run goes on, so that no peer waits for this rank.
              failed(graph, flow::unlimited, [&of](const ct::failure<turn>& what) {
                  of.note(what.result);
                  return what.message;
              }) {
            for (working* const each : {&work, &ended}) {
                flow::make_edge(flow::output_port<0>(*each), work);
                flow::make_edge(flow::output_port<1>(*each), message);
            }
            flow::make_edge(failed, ended);
            watch(message);
            for (const item& each : of.list().items()) {
                if (!each.is_message() || each.through->what != message::kind::member) continue;
                planned& mine = plans[each.through->plan];
                if (!mine.start) {
                    mine.start.emplace(graph, *each.through->plan);
                    watch(*mine.start);
                    mine.ended.emplace(graph, flow::unlimited, [&of, &mine](const std::size_t& member, ports& to) {
                        of.release({0, mine.items.at(member), mine.round.load(std::memory_order_relaxed)}, to);
                    });
                    flow::make_edge(mine.start->members(), *mine.ended);
                    flow::make_edge(flow::output_port<0>(*mine.ended), work);
                }
                mine.items.resize(std::max(mine.items.size(), each.through->member + 1));
                mine.items[each.through->member] = each.id;
            }
        }
        template <class Node>
        void watch(Node& node) {
            flow::make_edge(flow::output_port<0>(node), ended);
            flow::make_edge(flow::output_port<1>(node), failed);
        }

        /// Whose members items wait for.
        struct planned {
            std::optional<ct::plan_node<turn>> start;
            std::optional<flow::multifunction_node<std::size_t, std::tuple<turn, turn>>> ended;
            std::vector<int> items; ///< Of the members.
            std::atomic<int> round{0};
        };
        flow::graph graph;
        working work;
        ct::request_node<turn> message;
        working ended;
        flow::function_node<ct::failure<turn>, turn> failed;
        std::map<const commtask::plan*, planned> plans;
    };

    void carry_out(int n_stages, phase_times&) override {
        n_stages_ = n_stages;
        has_failed_.store(false, std::memory_order_relaxed);
        // An item waits in the first round for inputs of that round; an item without such inputs is counted for the next round.
        for (const item& each : list().items()) lack(each, each.after.empty() ? each.before.size() : each.after.size());
        arena_.execute([this] {
            for (const item& each : list().items()) {
                if (each.after.empty()) put(each, 0, nodes_->ended.output_ports());
            }
            ct::wait_for_all(nodes_->graph);
        });
        // relaxed: all that could have set it is over.
        if (has_failed_.load(std::memory_order_relaxed)) throw std::runtime_error("a message failed: " + why_);
    }

    void work_at(turn at, ports& to) {
        // A task of oneTBB may lie for long in some thread's queue: where there is an order, it is leave to do what is first by then.
        if (is_ordered_ && !ready_.try_pop(at)) throw std::logic_error("mode tbb: leave to work, but nothing is ready");
        work(list().items()[at.id], ::tbb::this_task_arena::current_thread_index());
        release(at, to);
        ct::progress(nodes_->graph); // on a core that the worker shares: messages move
    }

    void release(const turn& done, ports& to) {
        for (const int next : places_[done.id].now) count_down(next, done.round, to);
        for (const int next : places_[done.id].next) count_down(next, done.round + 1, to);
    }

    void count_down(int id, int round, ports& to) {
        const item& which = list().items()[id];
        // acq_rel: partner of itself in the other predecessors; the last one sees what all of them wrote.
        if (places_[id].n_missing.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        // No predecessor comes again before this item is done: each pair takes turns.
        lack(which, which.after.size() + which.before.size());
        put(which, round, to);
    }

    void lack(const item& which, std::size_t n_inputs) {
        places_[which.id].n_missing.store(static_cast<int>(n_inputs), std::memory_order_relaxed);
    }

    void put(const item& which, int round, ports& to) {
        if (round * list().n_stages() + which.stage >= n_stages_) return;
        const turn at{-which.urgency, which.id, round};
        if (!which.is_message()) {
            if (is_ordered_) ready_.push(at);
            std::get<0>(to).try_put(at);
        } else if (const auto plan = nodes_->plans.find(which.through->plan); plan == nodes_->plans.end()) {
            std::get<1>(to).try_put(at);
        } else if (which.through->what != message::kind::member) { // that ends by itself
            // relaxed: the start publishes it, and its members come behind that.
            plan->second.round.store(round, std::memory_order_relaxed);
            plan->second.start->try_put(at);
        }
    }

    /// The first one is kept.
    void note(const commtask::outcome& ended) {
        // relaxed: who sets it writes the text alone, and it is read when the graph is done.
        if (!has_failed_.exchange(true, std::memory_order_relaxed)) why_ = ct::operation_failed("tbb", ended).what();
    }

    int n_stages_ = 0; ///< Of this run.
    bool is_ordered_ = false;
    std::vector<place> places_; ///< Of the items.
    ::tbb::concurrent_priority_queue<turn, std::greater<>> ready_;
    std::atomic<bool> has_failed_{false};
    std::string why_;
    ct::arena arena_;
    std::optional<nodes> nodes_; ///< Made and used in the arena.
};

} // namespace

std::unique_ptr<runner> make_tbb(const item_list& on, int n_cores) {
    return std::make_unique<tbb_runner>(on, beside_one(n_cores));
}

} // namespace miniapp
