// SPDX-License-Identifier: Apache-2.0
//
// Partitioned members of plans. For the partitions that it fills, a compute thread pays one atomic
// exchange, and one decrement for each group of elements that they overlap. The last decrement of a
// group posts the group's message. Recording needs the size of the datatype, and waits for a
// progress thread to ask MPI for it.
#include "api/partitions.hpp"

#include "api/run_in_progress_call.hpp"
#include "base/last_error.hpp"
#include "core/operation_traits.hpp"
#include "mpi/errors.hpp"

#include <utility>

namespace commtask::detail {
namespace {

struct type_layout {
    MPI_Count bytes = 0;
    MPI_Count extent = 0;
    int mpi_code = MPI_SUCCESS;
};

/// On a progress thread.
[[nodiscard]] type_layout ask_layout(MPI_Datatype type) noexcept {
    const errors_return errors;
    type_layout asked;
    MPI_Count lower = 0;
    asked.mpi_code = errors.code_of(MPI_Type_size_x(type, &asked.bytes));
    if (asked.mpi_code == MPI_SUCCESS) {
        asked.mpi_code = errors.code_of(MPI_Type_get_extent_x(type, &lower, &asked.extent));
    }
    return asked;
}

/// Two such members with one tag could not be told apart, since their groups are sent in any order.
[[nodiscard]] bool is_taken(plan& in, const commtask_op& wanted) noexcept {
    for (std::size_t i = 0; i < in.n_posted(); ++i) {
        const commtask_op& other = in.posted(i).op;
        // lint-allow(kind): whether two operations are of one kind, whatever it is
        if (other.kind == wanted.kind && other.comm == wanted.comm && other.peer == wanted.peer &&
            other.source == wanted.source && other.send_tag == wanted.send_tag && other.recv_tag == wanted.recv_tag) {
            return true;
        }
    }
    return false;
}

[[nodiscard]] const void* element_at(const void* buffer, std::int64_t element, std::int64_t extent) noexcept {
    return static_cast<const char*>(buffer) + element * extent;
}

/// Makes the counters of a send member. @throws std::bad_alloc
void make_counters(partition_set& parts) {
    if (!parts.sends) return;
    parts.filled_for = std::make_unique<std::atomic<std::uint64_t>[]>(static_cast<std::size_t>(parts.n_partitions));
    parts.n_unfilled = std::make_unique<std::array<std::atomic<std::uint32_t>, 2>[]>(parts.groups.count());
}

/// Makes the member that sends or receives one group as a message. @throws std::bad_alloc
[[nodiscard]] plan_member make_group(const plan_member& whole, const partition_set& parts, std::uint32_t group,
                                     int tag_upper_bound, std::int64_t element_bytes) {
    const std::int64_t begin = parts.groups.begin_of(group);
    const std::int64_t count = parts.groups.begin_of(group + 1) - begin;
    plan_member made;
    made.op = whole.op;
    made.flags = whole.flags;
    made.queue = whole.queue;
    made.predecessors = whole.predecessors;
    made.is_group = true;
    made.is_deferred = parts.sends;
    if (parts.sends) {
        made.op.kind = COMMTASK_OP_SEND;
        made.op.send.buffer = element_at(whole.op.send.buffer, begin, parts.extent);
        made.op.send.count = count;
        made.op.recv = {};
        made.op.send_tag = group_tag(whole.op.send_tag, group, tag_upper_bound);
    } else {
        made.op.kind = COMMTASK_OP_RECV;
        made.op.recv.buffer = element_at(whole.op.recv.buffer, begin, parts.extent);
        made.op.recv.count = count;
        made.op.send = {};
        made.op.recv_tag = group_tag(whole.op.recv_tag, group, tag_upper_bound);
        if (whole.op.source != MPI_PROC_NULL) made.expected_bytes = count * element_bytes;
    }
    return made;
}

[[nodiscard]] int check_partition(commtask_plan_t plan, std::size_t member, int first, int count) noexcept {
    if (const int code = check_member(plan, member); code != COMMTASK_OK) return code;
    const plan_member& whole = plan->posted(member);
    if (!whole.partitions) {
        return refuse(COMMTASK_ERR_ARGUMENT, "member %zu (%s) is not partitioned", member,
                      operation_of(whole.op.kind).name);
    }
    const auto most = static_cast<int>(whole.partitions->n_partitions);
    if (first >= 0 && count >= 0 && first <= most && count <= most - first) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_ARGUMENT, "the partitions are %d to %lld, and member %zu has %d, counted from 0", first,
                  static_cast<long long>(first) + count - 1, member, most);
}

} // namespace

int add_partitioned(commtask_plan_s& into, plan_member&& whole, task*& posted) {
    const commtask_op& op = whole.op;
    const int tag_upper_bound = context::current()->comms().tag_upper_bound();
    if (is_taken(into, op)) {
        return refuse(COMMTASK_ERR_TAG, "the recording has a %s with this rank and tag already: use another tag",
                      operation_of(op.kind).name);
    }
    type_layout layout;
    const bool sends = !operation_of(op.kind).has_recv_side;
    const commtask_side& side = sends ? op.send : op.recv;
    if (const int code = run_in_progress_call([&] { layout = ask_layout(side.type); }); code != COMMTASK_OK)
        return code;
    if (layout.mpi_code != MPI_SUCCESS) {
        return refuse(COMMTASK_ERR_TYPE, "the datatype of a %s has no size: it is not a datatype, or was freed",
                      operation_of(op.kind).name);
    }
    auto parts = std::make_unique<partition_set>();
    parts->n_partitions = sends ? op.recv.count : op.send.count;
    parts->per_partition = side.count;
    parts->groups = partition_groups{parts->n_partitions * parts->per_partition, layout.bytes};
    parts->extent = layout.extent;
    parts->first_group = static_cast<std::uint32_t>(into.size());
    parts->sends = sends;
    make_counters(*parts);
    std::vector<std::uint32_t> groups(parts->groups.count());
    // Until all groups and the member after them are recorded.
    const bool lacked_memory = std::exchange(into.lacks_memory, true);
    for (std::uint32_t group = 0; group < groups.size(); ++group) {
        groups[group] = parts->first_group + group;
        if (into.add(make_group(whole, *parts, group, tag_upper_bound, layout.bytes)) == nullptr) return COMMTASK_OK;
    }
    whole.predecessors = std::move(groups);
    whole.flags |= COMMTASK_RUN_AFTER_FAILURE; // it reports how its groups ended
    whole.partitions = std::move(parts);
    posted = into.add(std::move(whole));
    into.lacks_memory = lacked_memory || posted == nullptr;
    return COMMTASK_OK;
}

void rebind_groups(plan& of, const plan_member& whole, const commtask_op& wanted) noexcept {
    const partition_set& parts = *whole.partitions;
    for (std::uint32_t group = 0; group < parts.groups.count(); ++group) {
        const std::int64_t begin = parts.groups.begin_of(group);
        of.rebind(of[parts.first_group + group],
                  parts.sends ? element_at(wanted.send.buffer, begin, parts.extent) : nullptr,
                  parts.sends ? nullptr : element_at(wanted.recv.buffer, begin, parts.extent));
    }
}

} // namespace commtask::detail

using namespace commtask::detail;

int commtask_plan_pready_range(commtask_plan_t plan, size_t member, int first, int count) noexcept {
    const context::visit late; // a compute thread may call concurrently with commtask_finalize
    if (!late.is_open()) return refuse_without_runtime();
    if (const int code = check_partition(plan, member, first, count); code != COMMTASK_OK) return code;
    plan_member& whole = plan->posted(member);
    if (!whole.partitions->sends) {
        return refuse(COMMTASK_ERR_ARGUMENT, "member %zu is a precv: only the sender marks partitions as ready",
                      member);
    }
    if (plan->unended_of(whole) == nullptr || !plan->is_instantiated()) {
        return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for  the plan's next run, which must be started first");
    }
    int n_before = 0;
    for (int partition = first; partition < first + count; ++partition) {
        if (!plan->fill_partition(whole, partition, release_to_its_lane)) ++n_before;
    }
    return n_before == 0 ? COMMTASK_OK
                         : refuse(COMMTASK_ERR_ARGUMENT, "%d of the partitions were marked as ready before in this run",
                                  n_before);
}

int commtask_plan_parrived(commtask_plan_t plan, size_t member, int partition) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (partition == COMMTASK_ALL_PARTITIONS) {
        if (const int code = check_member(plan, member); code != COMMTASK_OK) return code;
        const task* const started = plan->started_of(plan->posted(member));
        if (started == nullptr) return 0;
        const auto has_ended = [&] { return started->life.state() != task_state::open; };
        return poll_once(*runtime, has_ended) ? 1 : 0;
    }
    if (const int code = check_partition(plan, member, partition, 1); code != COMMTASK_OK) return code;
    const partition_set& parts = *plan->posted(member).partitions;
    const auto has_come = [&] {
        const auto [first, last] = parts.groups_of(partition);
        for (std::uint32_t group = first; group <= last; ++group) {
            const task* const started = plan->started_of((*plan)[parts.first_group + group]);
            if (started == nullptr || started->life.state() == task_state::open) return false;
        }
        return true;
    };
    return poll_once(*runtime, has_come) ? 1 : 0;
}
