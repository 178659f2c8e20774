// SPDX-License-Identifier: Apache-2.0
//
// The operation that add_operation.py has added, in nodes of oneTBB: they ask the table whether it is for them. A file of its own,
// since the rest is C and is tested where oneTBB's face was not built, too.
#include <commtask/tbb.hpp>

extern "C" int swap_in_a_node(const commtask_op* swap);

/// @return whether a node for collectives has carried it out, and a node for sends has refused it.
int swap_in_a_node(const commtask_op* swap) {
    namespace flow = ::tbb::flow;
    const commtask::operation what{*swap};
    flow::graph graph;
    commtask::tbb::collective_node<flow::continue_msg> swaps(graph, flow::serial, what);
    swaps.try_put({});
    graph.wait_for_all();
    try {
        const commtask::tbb::send_node<flow::continue_msg> sends(graph, flow::serial, what);
    } catch (const commtask::error&) {
        return 1;
    }
    return 0;
}
