// SPDX-License-Identifier: Apache-2.0
// Mode tbb: the items of a V-cycle as nodes of a oneTBB flow graph, its messages as communication nodes. The graph is made
// once; what goes along its edges says "done" and nothing else.
#include "runner.hpp"

#include <commtask/tbb.hpp>

#include <algorithm>

namespace multigrid {

namespace {

namespace flow = ::tbb::flow;
namespace ct = commtask::tbb;
using done = flow::continue_msg;

class tbb_runner final : public runner {
public:
    tbb_runner(const cycle& on, lane_comms lanes, int compute_threads)
        : runner(compute_threads), arena_(compute_threads) {
        arena_.execute([&] {
            graph_.emplace();
            start_.emplace(*graph_);
            for (const item& each : on.items()) add(each, lanes);
        });
    }

    void run() override {
        arena_.execute([this] {
            start_->try_put({});
            graph_->wait_for_all();
        });
    }

private:
    struct flow_node {
        std::unique_ptr<flow::graph_node> owner;
        flow::receiver<done>* in;
        flow::sender<done>* out;
    };

    void add(const item& what, lane_comms lanes) {
        const auto body = [this, &what](const done&) { work(what, ::tbb::this_task_arena::current_thread_index()); };
        const commtask::operation operation{operation_of(what.through, lanes)};
        switch (what.through.what) {
        case message::kind::none: {
            auto made = std::make_unique<flow::continue_node<done>>(*graph_, body);
            flow::continue_node<done>& mine = *made;
            nodes_.push_back({std::move(made), &mine, &mine});
            break;
        }
        case message::kind::receive: add_message<ct::recv_node<done>>(operation); break;
        case message::kind::send: add_message<ct::send_node<done>>(operation); break;
        case message::kind::sum: add_message<ct::collective_node<done>>(operation); break;
        }
        for (const int other : what.after) flow::make_edge(*nodes_[other].out, *nodes_.back().in);
        if (what.after.empty()) flow::make_edge(*start_, *nodes_.back().in);
    }

    template <class Node>
    void add_message(const commtask::operation& operation) {
        auto made = std::make_unique<Node>(*graph_, flow::serial, operation);
        Node& mine = *made;
        nodes_.push_back({std::move(made), &mine, &flow::output_port<0>(mine)});
    }

    ct::arena arena_;
    std::optional<flow::graph> graph_; ///< It and its nodes are made and used in the arena.
    std::optional<flow::broadcast_node<done>> start_;
    std::vector<flow_node> nodes_; ///< Of the items.
};

} // namespace

std::unique_ptr<runner> make_tbb(const cycle& on, lane_comms lanes, int n_cores) {
    return std::make_unique<tbb_runner>(on, lanes, std::max(1, n_cores - 1));
}

} // namespace multigrid
