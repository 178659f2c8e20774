// SPDX-License-Identifier: Apache-2.0
//
// The clock is read for each step, unlike for statistics, so that a reader can distinguish the
// steps of one progress call. Reading the clock is the larger part of a record's cost.
#include "report/trace.hpp"

#include "base/system.hpp"
#include "core/comm_queue.hpp"
#include "core/lane.hpp"
#include "core/operation_kind.hpp"
#include "core/operation_traits.hpp"
#include "core/plan.hpp"

#include <algorithm>
#include <utility>

namespace commtask::detail {

using trace::halves;
using trace::record_type;

namespace {

[[nodiscard]] std::int32_t rank_of(int rank) noexcept {
    if (rank == MPI_ANY_SOURCE) return trace::any;
    return rank == MPI_PROC_NULL ? trace::nobody : rank;
}

[[nodiscard]] std::int32_t tag_of(int tag) noexcept { return tag == MPI_ANY_TAG ? trace::any : tag; }

[[nodiscard]] std::uint8_t flags_of(const operation_traits& kind) noexcept {
    unsigned flags = 0;
    // A notification is a message on the window's own communicator.
    const bool notifies = kind.has_steps && kind.has_target;
    if (kind.has_dest || notifies) flags |= trace::sends;
    if (kind.has_source || kind.takes_message || (kind.has_steps && !notifies)) flags |= trace::receives;
    if (kind.takes_window) flags |= trace::one_sided;
    if (kind.is_ordered_by_default()) flags |= trace::is_collective;
    if (is_probe(kind)) flags |= trace::takes_message_out;
    if (kind.takes_message) flags |= trace::takes_matched;
    return static_cast<std::uint8_t>(flags);
}

[[nodiscard]] trace::task_end end_of(task_state state) noexcept {
    switch (state) {
    case task_state::open: return trace::task_end::open;
    case task_state::completed: return trace::task_end::completed;
    case task_state::failed: return trace::task_end::failed;
    case task_state::canceled: return trace::task_end::canceled;
    case task_state::abandoned: break;
    }
    return trace::task_end::abandoned;
}

} // namespace

task_trace::task_trace(trace_file& file) noexcept : file_(file), records_(file.records()) {
    records_.begin();
    for (std::size_t kind = 1; kind < operation_table.size(); ++kind) {
        const operation_traits& each = operation_table[kind];
        records_.write_common({now_ns(),
                               0,
                               0,
                               {tracer::number_of(each.name), record_type::operation, 0,
                                static_cast<std::uint8_t>(kind), flags_of(each)}});
    }
}

task_trace::~task_trace() { end(trace::file_state::abandoned); }

void task_trace::end(trace::file_state state) noexcept {
    if (std::exchange(is_ended_, true)) return;
    tracer::end();
    file_.close(state);
}

void task_trace::moved(const task& which, const life_step& step) noexcept {
    if (step.from == phase::posted && which.is_member()) member_begins(which);
    const bool is_final = step.end != task_state::open;
    const operation_traits& kind = operation_of(kind_of(which.op));
    const bool has_completed = step.end == task_state::completed;
    // The receive of a matched message counts the message, not the mprobe.
    const std::int64_t received = is_probe(kind) ? 0 : std::max<std::int64_t>(which.result.bytes, 0);
    std::int64_t bytes = step.to == phase::in_flight || has_completed ? which.run.sent_bytes : 0;
    if (has_completed) bytes += received;
    records_.write({now_ns(),
                    which.trace_id,
                    static_cast<std::uint64_t>(bytes),
                    {static_cast<std::uint32_t>(end_of(step.end)), record_type::moved, which.queue->served_by->number(),
                     static_cast<std::uint8_t>(step.to), static_cast<std::uint8_t>(step.from)}});
    if (is_final) records_.set_last_ended(which.trace_id);
    if (!has_completed || !kind.receives || which.result.source < 0) return;
    records_.write(
        {step.at_ns, which.trace_id, halves(which.result.source, which.result.tag), {0, record_type::matched}});
}

/// No thread posts a member of a plan: the run of the plan brings its members along.
void task_trace::member_begins(const task& which) noexcept {
    const std::uint32_t n_predecessors = which.extras.n_predecessors;
    std::uint32_t flags = 0;
    if (is_in_common_order(operation_of(which.op.kind), which.flags())) flags |= trace::posted_in_order;
    if (n_predecessors > 0) flags |= trace::posted_after_others;
    write_posted(which.trace_id, which.op, *which.queue, flags, which.posted_ns);
    for (std::uint32_t i = 0; i < n_predecessors; ++i) waits_for(which.trace_id, which.predecessors[i]->trace_id);
    const task& run = which.member->of->running();
    records_.write(
        {which.posted_ns, run.trace_id, which.trace_id, {0, record_type::after, 0, 0, trace::after_its_member}});
}

void task_trace::write_posted(std::uint64_t id, const commtask_op& op, const comm_queue& queue, std::uint32_t flags,
                              std::uint64_t begin_ns) noexcept {
    const int number = kind_of(op);
    const operation_traits& kind = operation_of(number);
    std::int32_t peer = trace::nobody;
    std::int32_t tag = 0;
    if (kind.has_dest) {
        peer = rank_of(op.peer);
        tag = tag_of(op.send_tag);
    } else if (kind.has_source) {
        peer = rank_of(op.source);
        tag = tag_of(op.recv_tag);
    } else if (kind.has_target) {
        peer = rank_of(op.peer);
        if (kind.has_steps) tag = tag_of(op.send_tag);
    } else if (kind.has_steps) {
        peer = rank_of(op.source);
        tag = tag_of(op.recv_tag);
    } else if (kind.has_root) {
        peer = rank_of(op.peer);
    }
    records_.write({begin_ns,
                    id,
                    halves(peer, tag),
                    {queue.trace_number, record_type::posted, queue.served_by->number(),
                     static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(flags)}});
    if (kind.has_dest && kind.has_source) {
        records_.write(
            {begin_ns, id, halves(rank_of(op.source), tag_of(op.recv_tag)), {0, record_type::receives_from}});
    }
    write_others(id, op, kind, begin_ns);
}

/// The messages of a task that has several, except the one in `posted`.
void task_trace::write_others(std::uint64_t id, const commtask_op& op, const operation_traits& kind,
                              std::uint64_t begin_ns) noexcept {
    const auto also = [&](int rank, int tag, std::uint32_t count, trace::operation_flag direction) {
        records_.write({begin_ns, id, halves(rank_of(rank), tag_of(tag)), {count, record_type::also, 0, 0, direction}});
    };
    if (kind.has_dests) {
        for (int i = 0; i < op.peer; ++i) also(op.dests[i], op.send_tag, 1, trace::sends);
    }
    if (kind.has_sources) {
        for (int i = 0; i < op.source; ++i) also(op.sources[i], op.send_tag, 1, trace::receives);
    }
    const bool awaits = kind.has_steps && !kind.has_target;
    if (awaits && op.recv.count > 1)
        also(op.source, op.recv_tag, static_cast<std::uint32_t>(op.recv.count - 1), trace::receives);
}

void task_trace::posted(std::uint64_t id, const commtask_op& op, const comm_queue& queue, std::uint32_t flags,
                        std::uint64_t begin_ns) noexcept {
    write_posted(id, op, queue, flags, begin_ns);
    if (const std::uint64_t compute = records_.running_compute(); compute != 0) {
        records_.write({begin_ns, id, compute, {0, record_type::posted_in}});
    }
    if (const std::uint64_t now = now_ns(); now - begin_ns > trace::shortest_ns) {
        records_.write({now, id, 0, {0, record_type::post_returned}});
    }
}

void task_trace::waits_for(std::uint64_t id, std::uint64_t predecessor) noexcept {
    records_.write({records_.last_time_ns(), id, predecessor, {0, record_type::after}});
}

void task_trace::passed(const commtask_op& op, const comm_queue& queue, std::uint64_t begin_ns, const task_result& how,
                        std::int64_t sent_bytes) noexcept {
    const std::uint64_t id = records_.new_id();
    const std::uint8_t lane = queue.served_by->number();
    const auto move = [&](std::uint64_t time_ns, phase from, phase to, trace::task_end end, std::int64_t bytes) {
        records_.write({time_ns,
                        id,
                        static_cast<std::uint64_t>(bytes),
                        {static_cast<std::uint32_t>(end), record_type::moved, lane, static_cast<std::uint8_t>(to),
                         static_cast<std::uint8_t>(from)}});
    };
    posted(id, op, queue, trace::posted_by_interposer, begin_ns);
    move(begin_ns, phase::posted, phase::in_flight, trace::task_end::open, sent_bytes);
    const std::uint64_t now = now_ns();
    move(now, phase::in_flight, phase::ended, trace::task_end::completed, sent_bytes + how.bytes);
    if (how.source >= 0) records_.write({now, id, halves(how.source, how.tag), {0, record_type::matched}});
}

void task_trace::wait_begins(const task* which) noexcept {
    records_.write({now_ns(), which == nullptr ? 0 : which->trace_id, 0, {0, record_type::wait_begin}});
}

void task_trace::wait_ends(const task* which) noexcept {
    records_.write({now_ns(), which == nullptr ? 0 : which->trace_id, 0, {0, record_type::wait_end}});
}

} // namespace commtask::detail
