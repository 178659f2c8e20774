// SPDX-License-Identifier: Apache-2.0
// Mode tbb: items as nodes of a oneTBB flow graph, messages as communication nodes. The graph is made once, of one round;
// what goes along its edges says "done" and nothing else.
#include "common/runner.hpp"

#include <commtask/tbb.hpp>

namespace miniapp {

namespace {

namespace flow = ::tbb::flow;
namespace ct = commtask::tbb;
using done = flow::continue_msg;

class tbb_runner final : public runner {
public:
    tbb_runner(const item_list& on, int compute_threads) : runner(on, compute_threads, true), arena_(compute_threads) {
        arena_.execute([&] {
            graph_.emplace();
            start_.emplace(*graph_);
            for (const item& each : on.items()) add(each);
        });
    }

private:
    struct flow_node {
        std::unique_ptr<flow::graph_node> owner;
        flow::receiver<done>* in;
        flow::sender<done>* out;
    };

    void carry_out(int /*n_stages*/, phase_times&) override {
        arena_.execute([this] {
            start_->try_put({});
            ct::wait_for_all(*graph_);
        });
    }

    void add(const item& what) {
        if (!what.is_message()) {
            const auto body = [this, &what](done) {
                work(what, ::tbb::this_task_arena::current_thread_index());
                ct::progress(*graph_); // on a core that the worker shares: messages move
            };
            auto made = std::make_unique<flow::continue_node<done>>(*graph_, body);
            flow::continue_node<done>& mine = *made;
            nodes_.push_back({std::move(made), &mine, &mine});
        } else if (what.through->what == message::kind::receive) {
            add_message<ct::recv_node<done>>(what.through->operation);
        } else if (what.through->what == message::kind::send) {
            add_message<ct::send_node<done>>(what.through->operation);
        } else {
            add_message<ct::collective_node<done>>(what.through->operation);
        }
        for (const int other : what.after) flow::make_edge(*nodes_[other].out, *nodes_.back().in);
        if (what.after.empty()) flow::make_edge(*start_, *nodes_.back().in);
    }

    template <class Node>
    void add_message(const commtask_op& operation) {
        auto made = std::make_unique<Node>(*graph_, flow::serial, commtask::operation{operation});
        Node& mine = *made;
        nodes_.push_back({std::move(made), &mine, &flow::output_port<0>(mine)});
    }

    ct::arena arena_;
    std::optional<flow::graph> graph_; ///< It and its nodes are made and used in the arena.
    std::optional<flow::broadcast_node<done>> start_;
    std::vector<flow_node> nodes_; ///< Of the items.
};

} // namespace

std::unique_ptr<runner> make_tbb(const item_list& on, int n_cores) {
    return std::make_unique<tbb_runner>(on, beside_one(n_cores));
}

} // namespace miniapp
