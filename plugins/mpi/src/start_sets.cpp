// SPDX-License-Identifier: Apache-2.0
//
// A set is found by its first request and is compared as a whole: a program that starts a part of a
// set has another set. A plan that is no longer needed may still be running; it is destroyed after
// its run has ended, when another set changes.
#include "start_sets.hpp"

#include "api/context.hpp"
#include "api/plan_registry.hpp"
#include "core/plan.hpp"
#include "core/task_pool.hpp"
#include "sections.hpp"
#include "status.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <utility>

namespace commtask::interposer {
namespace start_sets {
namespace {

struct left_plan {
    commtask_plan_t plan;
    commtask_t run;
};
struct book {
    /// Guards the lifetime of the sets, each request's set, and the rest. Never locked during an
    /// MPI call.
    std::mutex mutex;
    std::vector<left_plan> left;
};
book& all() {
    static book* const made = new book; // never destroyed: calls may come during exit
    return *made;
}

/// From here on the members belong to no set. The caller has locked the mutex.
void dissolve(start_set* set) {
    const std::unique_ptr<start_set> dissolved{set};
    for (persistent* const member : set->members) member->set = nullptr;
    if (set->plan != COMMTASK_PLAN_NULL) all().left.push_back({set->plan, set->run});
}

/// No progress thread uses the plan any more.
void destroy(commtask_plan_s& plan) {
    detail::context* const runtime = detail::context::running();
    if (runtime == nullptr) return;
    const progress_section section;
    runtime->plans().remove(plan);
    detail::plan_registry::destroy(plan);
}

/// Destroys the plans of dissolved sets whose runs have ended.
void destroy_those_left() {
    std::vector<left_plan> over;
    {
        book& known = all();
        const std::lock_guard guard{known.mutex};
        const auto first_over = std::ranges::partition(known.left, [](const left_plan& each) {
                                    return each.run != COMMTASK_NULL && !has_ended(each.run);
                                }).begin();
        over.assign(first_over, known.left.end());
        known.left.erase(first_over, known.left.end());
    }
    for (const left_plan& each : over) {
        if (each.run != COMMTASK_NULL) detail::task_pool::drop(each.run);
        if (each.plan->try_change()) destroy(*each.plan);
    }
}

/// The program has started these requests together for the first time.
void remember(std::span<const MPI_Request> requests) {
    auto made = std::make_unique<start_set>();
    made->requests.assign(requests.begin(), requests.end());
    for (const MPI_Request request : requests) {
        persistent* const member = request == MPI_REQUEST_NULL ? nullptr : persistents::find(request);
        if (member == nullptr) return; // MPI must report the error
        made->members.push_back(member);
    }
    std::vector<persistent*> sorted = made->members;
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end()) return;
    const std::lock_guard guard{all().mutex};
    for (persistent* const member : made->members) {
        if (member->set != nullptr) dissolve(member->set);
    }
    for (persistent* const member : made->members) member->set = made.get();
    [[maybe_unused]] const start_set* const is_its_members = made.release();
}

/// @return null: the requests were not started together before
[[nodiscard]] start_set* find(persistent& first, std::span<const MPI_Request> requests) {
    const std::lock_guard guard{all().mutex};
    return first.set != nullptr && std::ranges::equal(first.set->requests, requests) ? first.set : nullptr;
}

/// A communicator with striping has no lane of its own: the thread that starts a member chooses the
/// lane.
[[nodiscard]] bool add_members(const start_set& set, detail::context& runtime, commtask_plan_s& to) {
    for (persistent* const each : set.members) {
        int code = COMMTASK_OK;
        detail::plan_member member;
        member.op = persistents::start_operation(*each);
        member.flags = detail::flag_is_call;
        member.queue = runtime.queue_of(each->comm, code);
        if (member.queue == nullptr || member.queue->striping() != nullptr) return false;
        if (to.add(std::move(member)) == nullptr) return false;
    }
    return true;
}

/// @return false: the requests of the set must be started one by one
[[nodiscard]] bool make_plan(start_set& set) {
    detail::context& runtime = *detail::context::running();
    auto made = std::make_unique<commtask_plan_s>();
    made->session = runtime.session_number();
    if (!add_members(set, runtime, *made) || !runtime.plans().add(*made)) {
        const progress_section section;
        detail::plan_registry::destroy(*made.release());
        set.is_for_one_by_one = true;
        return false;
    }
    made->end_change();
    set.plan = made.release();
    return true;
}

/// The program has seen every member end; the run's own end follows immediately.
void wait_for_last_run(start_set& set) {
    if (set.run == COMMTASK_NULL) return;
    wait_for_tasks([&] { return has_ended(set.run); });
    detail::task_pool::drop(std::exchange(set.run, COMMTASK_NULL));
}

} // namespace

bool start(int count, const MPI_Request* requests) {
    if (count < 2 || goes_to_mpi() || requests[0] == MPI_REQUEST_NULL) return false;
    persistent* const first = persistents::find(requests[0]);
    if (first == nullptr) return false;
    try {
        const std::span given(requests, static_cast<std::size_t>(count));
        start_set* const set = find(*first, given);
        if (set == nullptr) {
            remember(given);
            destroy_those_left();
            return false;
        }
        const auto is_active = [](const persistent* member) { return member->task != COMMTASK_NULL; };
        if (set->is_for_one_by_one || std::ranges::any_of(set->members, is_active)) return false;
        if (set->plan == COMMTASK_PLAN_NULL && !make_plan(*set)) return false;
        wait_for_last_run(*set);
        commtask_op op = commtask_op_plan(set->plan);
        op.reserved = detail::flag_is_call;
        if (commtask_post_operation(&op, nullptr, &set->run) != COMMTASK_OK) return false;
        for (std::size_t i = 0; i < set->members.size(); ++i) {
            detail::task* const started = set->plan->started_of((*set->plan)[i]);
            started->life.take_reference();
            set->members[i]->task = static_cast<commtask_t>(started);
        }
    } catch (const std::bad_alloc&) {
        return false;
    }
    return true;
}

void leave(persistent& freed) {
    {
        const std::lock_guard guard{all().mutex};
        if (freed.set == nullptr) return;
        dissolve(freed.set);
    }
    destroy_those_left();
}

} // namespace start_sets
} // namespace commtask::interposer
