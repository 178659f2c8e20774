// SPDX-License-Identifier: Apache-2.0
//
// Runs of plans on a lane. When a run becomes ready, the scheduler accepts its members one after
// the other, as if they had been posted at that point. So each member keeps its order to tasks that
// were posted before and after the run. The thread that starts the plan posts the members of other
// lanes; if the run had to wait, this lane posts them. From then on a member is processed as any
// other task.
#include "core/plan_runs.hpp"

#include "core/graph.hpp"
#include "core/lane.hpp"
#include "core/plan.hpp"

#include <cstring>
#include <string>

namespace commtask::detail {

namespace {

/// The two parts of a run's task.
constexpr std::uint32_t its_own = 0;
constexpr std::uint32_t its_members = 1;

} // namespace

/// The run waits for nothing else, or must be canceled. In that case all its members are canceled
/// too, and leave the program order.
void scheduler::make_run_ready(task& run, phase from) noexcept {
    enqueue_ready(run, from);
    plan& recorded = plan_of(run);
    recorded.begin_run(run);
    run.run.open_parts = recorded.size() == 0 ? 1 : 2;
    const bool is_canceled = must_not_start(run);
    const bool posts_to_other_lanes = !plan::starter_posts_to_other_lanes(run);
    for (plan_member& each : recorded) {
        task& member = recorded.running_of(each);
        const bool is_on_other_lane = &each.queue->served_by->scheduled != this;
        // The starting thread has posted the member; start_run() cancels it if the run is canceled.
        if (is_on_other_lane && !posts_to_other_lanes) continue;
        member.posted_ns = run.posted_ns;
        member.extras.its_turn = plan::turn_of(each);
        // The progress thread of the member's lane reads the mark.
        if (is_canceled) member.marks.fetch_or(mark_cancel, std::memory_order_relaxed);
        if (is_on_other_lane) {
            each.queue->served_by->post(member);
        } else {
            accept(member);
        }
    }
}

void progress_engine::start_run(task& run) noexcept {
    std::memset(run.mpi_status, 0, sizeof run.mpi_status);
    scheduled_.move(run, phase::ready, phase::in_flight);
    if (run.run.accepted_ns == 0) run.run.accepted_ns = scheduled_.call_time();
    if (scheduler::is_marked(run, mark_cancel))
        scheduled_.cancel_members(run); // The mark may be newer than the acceptance of the members.
    if (plan_of(run).size() == 0) run.result.is_canceled = scheduler::must_not_start(run);
    part_ended(run, its_own);
}

void scheduler::cancel_members(task& run) noexcept {
    plan& recorded = plan_of(run);
    for (plan_member& each : recorded) {
        task& member = recorded.running_of(each);
        if (member.life.state() == task_state::open) each.queue->served_by->cancel(member);
    }
}

/// Cancels all groups of the partitioned member to which the failed group belongs; all of them are
/// on this lane.
void scheduler::cancel_groups(const plan_member& failed) noexcept {
    plan& recorded = *failed.of;
    const partition_set& parts = *recorded.posted(failed.number).partitions;
    for (std::uint32_t group = 0; group < parts.groups.count(); ++group) {
        task& other = recorded.running_of(recorded[parts.first_group + group]);
        if (other.life.state() == task_state::open) failed.queue->served_by->cancel(other);
    }
}

/// commtask_plan_pready does not wait for a canceled member any more.
void scheduler::stop_waiting_for_ready(task& member) noexcept {
    if (member.run.is_pointed_to && graph::make_ready(member).waits_for_none) member.run.is_pointed_to = false;
}

void progress_engine::report_to_run(task& member, task_state how) noexcept {
    // The other groups of a partitioned receive must not wait: their data may not arrive.
    if (how == task_state::failed && member.member->expected_bytes >= 0) scheduler::cancel_groups(*member.member);
    task* const run = member.member->of->member_ended(*member.member, how);
    if (run == nullptr) return;
    if (&run->queue->served_by->engine == this) return part_ended(*run, its_members);
    run->queue->served_by->mark(*run, mark_members_ended);
}

/// Called when the start of the run and all its members have ended.
void progress_engine::end_run(task& run) noexcept {
    plan& recorded = plan_of(run);
    run.run.failed_member = recorded.sum_up(run.result);
    run.result.is_of_run = true;
    recorded.end_run(); // The callback may start the next run.
}

bool has_member_callback(const task& ended) noexcept {
    return ended.is_member() && ended.member->of->has_callback_for(*ended.member);
}

void call_member_callback(const task& ended, const commtask_status& status) noexcept {
    ended.member->of->call_back(*ended.member, status);
}

const char* call_that_makes_ready(const task& held) noexcept {
    return held.member->is_group ? "for commtask_plan_pready_range" : "for commtask_plan_pready";
}

std::string where_run_waits(const task& run) {
    return std::to_string(plan_of(run).approx_open()) + " of its members have not ended";
}

} // namespace commtask::detail
