// SPDX-License-Identifier: Apache-2.0
//
// Runs the scenario that the first argument names; see scenario.hpp. Every scenario ends MPI itself, or has a reason
// not to.
#include "scenario.hpp"

#include <string_view>

namespace commtask::test {
namespace {

struct scenario {
    std::string_view name;
    void (*run)();
};

constexpr scenario scenarios[] = {
    {"before_mpi", before_mpi},
    {"thread_level", thread_level},
    {"init_twice", init_twice},
    {"after_finalize", after_finalize},
    {"bad_field", bad_field},
    {"bad_variable", bad_variable},
    {"misspelt_variable", misspelt_variable},
    {"good_variable", good_variable},
    {"stats", stats},
    {"finalize_lists", finalize_lists},
    {"finalize_unsignalled", finalize_unsignalled},
    {"watchdog", watchdog},
    {"watchdog_window", watchdog_window},
    {"forgotten_finalize", forgotten_finalize},
    {"forgotten_finalize_with_tasks", forgotten_finalize_with_tasks},
    {"leaves_early", leaves_early},
    {"killed", killed},
    {"unseen_failure", unseen_failure},
    {"unseen_call", unseen_call},
    {"unseen_plan", unseen_plan},
    {"unseen_failures_return", unseen_failures_return},
    {"seen_failures", seen_failures},
    {"fatal_handler", fatal_handler},
    {"finalize_waits_for_a_call", finalize_waits_for_a_call},
    {"finalize_leaves_a_call", finalize_leaves_a_call},
    {"finalize_leaves_a_submitter", finalize_leaves_a_submitter},
    {"finalize_retries", finalize_retries},
    {"finalize_half_ready", finalize_half_ready},
    {"stale_plans", stale_plans},
    {"finalize_leaves_plans", finalize_leaves_plans},
    {"peer_leaves_in_a_run", peer_leaves_in_a_run},
    {"finalize_late_signal", finalize_late_signal},
    {"finalize_window", finalize_window},
    {"finalize_epoch", finalize_epoch},
    {"levels_differ", levels_differ},
    {"memory_differs", memory_differs},
    {"stats_give_up", stats_give_up},
    {"stats_in_any_order", stats_in_any_order},
    {"forked_child", forked_child},
    {"signalled", signalled},
    {"idle", idle},
    {"idle_with_a_receive", idle_with_a_receive},
    {"idle_with_a_window_of_one_rank", idle_with_a_window_of_one_rank},
    {"placement", placement},
    {"serialized", serialized},
    {"lanes_differ", lanes_differ},
    {"lanes_unfinished", lanes_unfinished},
    {"lanes_stats", lanes_stats},
    {"lanes_watchdog", lanes_watchdog},
    {"node_late_sender", node_late_sender},
    {"node_access", node_access},
    {"node_differs", node_differs},
    {"node_without_memory", node_without_memory},
    {"node_versions_differ", node_versions_differ},
    {"node_far_sender", node_far_sender},
    {"node_far_sender_with_a_core", node_far_sender_with_a_core},
    {"node_leader_stopped", node_leader_stopped},
    {"node_auto", node_auto},
    {"node_forked", node_forked},
    {"node_sleeper_killed", node_sleeper_killed},
    {"node_memory", node_memory},
};

} // namespace
} // namespace commtask::test

int main(int argc, char** argv) {
    for (const auto& scenario : commtask::test::scenarios) {
        if (argc != 2 || scenario.name != argv[1]) continue;
        scenario.run();
        return commtask::test::n_failed_checks == 0 ? 0 : 1;
    }
    std::fprintf(stderr, "usage: %s SCENARIO\n", argv[0]);
    return 2;
}
