// SPDX-License-Identifier: Apache-2.0
//
// Connects plans and lanes: a plan calls no lane, and a lane gets a plan with the plan's run. The
// thread that starts the plan posts each member of another lane there, so that its later posts to
// that lane come after the member.
#include "core/run_posting.hpp"

#include "core/lane.hpp"

#include <algorithm>
#include <iterator>

namespace commtask::detail {

/// The run may end, and the plan may be released, once the last member is posted. So the loop finds
/// the next member before it posts one.
static void post_to_other_lanes(plan& started, std::uint64_t posted_ns, bool may_wait) noexcept {
    const lane* const home = started.home()->served_by;
    const auto is_on_other_lane = [home](const plan_member& each) { return each.queue->served_by != home; };
    const auto end = started.end();
    for (auto far = std::find_if(started.begin(), end, is_on_other_lane); far != end;) {
        task& member = started.running_of(*far);
        member.posted_ns = posted_ns;
        member.extras.its_turn = plan::turn_of(*far);
        lane& its = *far->queue->served_by;
        far = std::find_if(std::next(far), end, is_on_other_lane);
        may_wait ? its.post(member) : its.post_without_waiting(member);
    }
}

bool post_run(task& run, bool may_wait) noexcept {
    plan& started = plan_of(run);
    const bool posts_to_other_lanes = plan::starter_posts_to_other_lanes(run);
    const std::uint64_t posted_ns = run.posted_ns;
    lane& its = *run.queue->served_by;
    if (may_wait) {
        started.take_turns();
        its.post(run);
    } else if (!its.try_post(run, [](task& which) noexcept { plan_of(which).take_turns(); })) {
        started.take_back_start();
        return false;
    }
    if (posts_to_other_lanes) post_to_other_lanes(started, posted_ns, may_wait);
    return true;
}

} // namespace commtask::detail
