// SPDX-License-Identifier: Apache-2.0
//
// Plans and their members; plan_start.cpp starts plans. One thread at a time changes a plan,
// between runs. A call from a compute thread costs one or two loads and an atomic operation.
#include "core/plan.hpp"
#include "api/context.hpp"
#include "api/partitions.hpp"
#include "api/record.hpp"
#include "api/run_in_progress_call.hpp"
#include "base/last_error.hpp"
#include "core/graph.hpp"
#include "mpi/arguments.hpp"

#include <commtask/commtask.h>

#include <cstddef>
#include <utility>

namespace commtask::detail {

[[nodiscard]] static int refuse_outlived() noexcept {
    return refuse(COMMTASK_ERR_ARGUMENT, "the plan was recorded before commtask_finalize: release it, and record anew");
}

int refuse_running(const plan& busy) noexcept {
    if (busy.has_outlived_runtime()) return refuse_outlived();
    return refuse(COMMTASK_ERR_RUNNING, "the plan's last run has not ended, or another thread changes the plan");
}

int check_member(commtask_plan_t plan, std::size_t member) noexcept {
    if (plan == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "plan is COMMTASK_PLAN_NULL");
    if (plan->has_outlived_runtime()) return refuse_outlived();
    if (member < plan->n_posted()) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_ARGUMENT, "member is %zu, and the plan has %zu, counted from 0", member,
                  plan->n_posted());
}

namespace {

/// Changes one member between runs.
template <typename Change>
[[nodiscard]] int change_member(commtask_plan_t plan, std::size_t member, Change&& change) noexcept {
    const context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (const int code = check_member(plan, member); code != COMMTASK_OK) return code;
    if (!plan->try_change()) return refuse_running(*plan);
    const int code = change(plan->posted(member));
    plan->end_change();
    return code;
}

} // namespace
} // namespace commtask::detail

using namespace commtask::detail;

int commtask_plan_rebind(commtask_plan_t plan, size_t member, const void* send, void* recv) noexcept {
    context* const runtime = context::current();
    const int tag_upper_bound = runtime == nullptr ? 0 : runtime->comms().tag_upper_bound();
    return change_member(plan, member, [&](plan_member& changed) {
        const operation_traits& kind = operation_of(changed.op.kind);
        if ((send != nullptr && !kind.has_send_side) || (recv != nullptr && !kind.has_recv_side)) {
            return refuse(COMMTASK_ERR_ARGUMENT, "%s is not null, and member %zu (%s) has no such buffer",
                          send != nullptr && !kind.has_send_side ? "send" : "recv", member, kind.name);
        }
        commtask_op wanted = changed.op;
        if (send != nullptr) wanted.send.buffer = send;
        if (recv != nullptr) wanted.recv.buffer = recv;
        if (const int code = check_arguments(wanted, *changed.queue, tag_upper_bound); code != COMMTASK_OK) return code;
        if (changed.partitions) rebind_groups(*plan, changed, wanted);
        plan->rebind(changed, wanted.send.buffer, wanted.recv.buffer);
        return static_cast<int>(COMMTASK_OK);
    });
}

int commtask_plan_on_member(commtask_plan_t plan, commtask_member_callback callback, void* argument) noexcept {
    if (context::current() == nullptr) return refuse_without_runtime();
    if (plan == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "plan is COMMTASK_PLAN_NULL");
    if (!plan->try_change()) return refuse_running(*plan);
    plan->set_member_callback(callback, argument);
    plan->end_change();
    return COMMTASK_OK;
}

int commtask_plan_defer(commtask_plan_t plan, size_t member) noexcept {
    return change_member(plan, member, [&](plan_member& held) {
        if (held.partitions) {
            return refuse(COMMTASK_ERR_ARGUMENT, "member %zu is partitioned, %s", member,
                          held.partitions->sends ? "and each partition waits for commtask_plan_pready_range"
                                                 : "and receives without commtask_plan_pready");
        }
        // relaxed: published with the plan.
        const bool was_deferred = held.is_deferred;
        plan->defer(held);
        if (!was_deferred && plan->is_instantiated()) {
            plan->next_of(held).waiting_for.fetch_or(waits_for_ready, std::memory_order_relaxed);
        }
        return static_cast<int>(COMMTASK_OK);
    });
}

int commtask_plan_pready(commtask_plan_t plan, size_t member) noexcept {
    const context::visit late; // a compute thread may call concurrently with commtask_finalize
    if (!late.is_open()) return refuse_without_runtime();
    if (const int code = check_member(plan, member); code != COMMTASK_OK) return code;
    plan_member& held = plan->posted(member);
    task* const waiting = plan->unended_of(held);
    if (waiting == nullptr) {
        return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for the plan's next run, which must be started first");
    }
    const graph::ready_result result = graph::make_ready(*waiting);
    if (result.waits_for_none) held.queue->served_by->released(*waiting);
    if (result.was_deferred) return COMMTASK_OK;
    return held.is_deferred
               ? refuse(COMMTASK_ERR_ARGUMENT, "member %zu was marked as ready before in this run, or was canceled",
                        member)
               : refuse(COMMTASK_ERR_ARGUMENT, "member %zu is not deferred: call commtask_plan_defer first", member);
}

int commtask_plan_member(commtask_plan_t plan, size_t member, commtask_t* task) noexcept {
    if (context::current() == nullptr) return refuse_without_runtime();
    if (const int code = check_member(plan, member); code != COMMTASK_OK) return code;
    if (task == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "task is null");
    plan_member& asked = plan->posted(member);
    commtask::detail::task* found = plan->started_of(asked);
    // Not null: the first run's tasks are made with the plan.
    if (found == nullptr) found = plan->unended_of(asked);
    found->life.take_reference();
    *task = static_cast<commtask_t>(found);
    return COMMTASK_OK;
}

size_t commtask_plan_size(commtask_plan_t plan) noexcept {
    return plan == nullptr || plan->has_outlived_runtime() ? 0 : plan->n_posted();
}

int commtask_plan_release(commtask_plan_t* plan) noexcept {
    if (plan != nullptr && plan_registry::free_rest(*plan)) { // with or without a running library
        *plan = COMMTASK_PLAN_NULL;
        return COMMTASK_OK;
    }
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (plan == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "plan is null");
    if (*plan == COMMTASK_PLAN_NULL) return COMMTASK_OK;
    commtask_plan_s& released = **plan;
    if (!released.try_change()) return refuse_running(released);
    runtime->plans().remove(released);
    const int code = run_in_progress_call([&] { plan_registry::destroy(released); });
    if (code == COMMTASK_OK) {
        *plan = COMMTASK_PLAN_NULL;
    } else {
        static_cast<void>(runtime->plans().add(released));
        released.end_change();
    }
    return code;
}
