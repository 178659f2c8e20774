// SPDX-License-Identifier: Apache-2.0
//
// Recording. A post is checked as usual. An operation that cannot be repeated is refused at once,
// so that every recorded plan can be started. The worker makes the MPI requests of all members at
// the end of the recording.
#include "api/record.hpp"

#include "api/context.hpp"
#include "api/list_snapshots.hpp"
#include "api/partitions.hpp"
#include "api/post_window.hpp"
#include "api/posting.hpp"
#include "api/run_in_progress_call.hpp"
#include "api/striping.hpp"
#include "base/last_error.hpp"
#include "core/operation_traits.hpp"
#include "mpi/plan_types.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace commtask::detail {
namespace {

/// Drops the recording of a thread that ends.
struct end_of_thread {
    ~end_of_thread() {
        if (recorded_here == nullptr) return;
        recorded_here->is_recorded_in_progress_call = in_progress_call();
        static_cast<void>(commtask_record_end(nullptr));
    }
};

/// Refuses options and operations that are valid in a post but not in a recording.
[[nodiscard]] int check_replay(const plan& into, const operation_traits& kind,
                               const commtask_options* options) noexcept {
    if (kind.takes_request)
        return refuse(COMMTASK_ERR_ARGUMENT, "attach cannot be recorded: its request completes only once");
    if (kind.makes_comm) {
        return refuse(COMMTASK_ERR_ARGUMENT, "%s cannot be recorded: it would create a communicator in every run",
                      kind.name);
    }
    if (options == nullptr) return COMMTASK_OK;
    if (kind.has_partitions && (options->flags & COMMTASK_ORDERED) != 0) {
        return refuse(
            COMMTASK_ERR_ARGUMENT,
            "options->flags has COMMTASK_ORDERED: partitions are sent in the order in which they become ready");
    }
    if ((options->flags & COMMTASK_CALLBACK_ONCE) != 0) {
        return refuse(COMMTASK_ERR_ARGUMENT, "the callback can be called only once, and a member ends in every run: "
                                             "capture references or pointers only");
    }
    if ((options->flags & COMMTASK_CALLBACK_RELAYS) != 0) {
        return refuse(
            COMMTASK_ERR_ARGUMENT,
            "a task of OpenMP or oneTBB ends once and cannot be recorded: record plain posts, and start the plan by "
            "COMM_PLAN or a plan_node");
    }
    if (options->ticket.number != 0) {
        return refuse(COMMTASK_ERR_ARGUMENT,
                      "options->ticket is valid for one task, and a member needs one in every run: leave it out");
    }
    for (std::size_t i = 0; i < options->n_events; ++i) {
        if (options->events[i] == COMMTASK_EVENT_NULL) continue;
        return refuse(COMMTASK_ERR_ARGUMENT,
                      "options->events[%zu] can occur only once: defer the member (commtask_plan_defer) instead", i);
    }
    for (std::size_t i = 0; i < options->n_after; ++i) {
        const task* const predecessor = options->after[i];
        if (predecessor == nullptr || (predecessor->is_member() && predecessor->member->of == &into)) continue;
        return refuse(COMMTASK_ERR_ARGUMENT,
                      "options->after[%zu] is not a task of this recording: pass it to commtask_plan_start instead", i);
    }
    return COMMTASK_OK;
}

[[nodiscard]] plan_member make_member(const commtask_op& op, const operation_traits& kind, comm_queue& queue,
                                      const commtask_options* options) {
    plan_member made;
    made.op = op;
    made.op.comm = queue.comm; // a duplicate, if the communicator is striped
    made.queue = &queue;
    if (options != nullptr) {
        made.flags = options->flags & ~std::uint32_t{COMMTASK_TRY};
        made.callback = options->callback;
        made.callback_argument = options->callback_argument;
        made.user_status = options->status;
        made.source = source_of(options);
        if (made.source.file != nullptr) made.flags |= flag_has_source;
        for (std::size_t i = 0; i < options->n_after; ++i) {
            if (options->after[i] != nullptr) made.predecessors.push_back(options->after[i]->member->index);
        }
    }
    if (can_have_turn(kind, made.flags)) {
        made.its_turn = std::make_unique<turn>();
        if (!made.its_turn->set(made.op, made.flags, source_of(options))) throw std::bad_alloc{};
        if (!made.its_turn->has_channels()) made.its_turn.reset();
    }
    return made;
}

/// The program may free its datatypes after a post.
[[nodiscard]] int keep_posted_types(commtask_plan_s& into, plan_member& made) noexcept {
    if (!may_make_types(made.op)) return COMMTASK_OK;
    int mpi_code = MPI_SUCCESS;
    const int code = run_in_progress_call([&] { mpi_code = keep_types(into.types, made); });
    if (code != COMMTASK_OK || mpi_code == MPI_SUCCESS) return code;
    if (mpi_code == MPI_ERR_NO_MEM) return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for  a datatype");
    return refuse(COMMTASK_ERR_TYPE,
                  "a datatype of a %s cannot be duplicated: it is not a datatype, was freed, or has an attribute whose "
                  "copy function failed",
                  operation_of(made.op.kind).name);
}

/// Builds the error message for a member that MPI cannot make.
[[nodiscard]] int refuse_member(const plan_member& member, int mpi_code) noexcept {
    const errors_return scope;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    int error_class = MPI_SUCCESS;
    MPI_Error_string(mpi_code, text.data(), &length);
    MPI_Error_class(mpi_code, &error_class);
    const int code = error_class == MPI_ERR_TYPE   ? COMMTASK_ERR_TYPE
                     : error_class == MPI_ERR_COMM ? COMMTASK_ERR_COMM
                                                   : COMMTASK_ERR_ARGUMENT;
    return refuse(code, "MPI cannot make a request for member %u (%s): %s", member.number,
                  operation_of(member.op.kind).name, text.data());
}

/// On a progress thread.
/// @return the first member that MPI cannot make, with MPI's error code; null: all are made
[[nodiscard]] plan_member* prepare_all(plan& made, int& mpi_code) noexcept {
    for (plan_member& member : made) {
        mpi_code = member.queue->served_by->engine.below().prepare(member);
        if (mpi_code != MPI_SUCCESS) return &member;
    }
    return nullptr;
}

} // namespace

/// Drops a recording that was begun before commtask_finalize. In MPI it had only datatypes, which
/// commtask_finalize has freed unless the context was abandoned.
[[nodiscard]] static int drop_old_recording() noexcept {
    commtask_plan_s* const dropped = std::exchange(recorded_here, nullptr);
    plan_registry::end_recording(*dropped);
    dropped->cancel_instantiated(release_to_its_lane);
    delete dropped;
    return refuse(COMMTASK_ERR_ARGUMENT, "this recording was begun before commtask_finalize, and was dropped");
}

int record(context& runtime, const commtask_op& op, const commtask_options* options, commtask_t* task_out) noexcept {
    commtask_plan_s& into = *recorded_here;
    const operation_traits& kind = operation_of(op.kind);
    int code = COMMTASK_OK;
    if (into.session != runtime.session_number()) return drop_old_recording();
    comm_queue* queue = [&] {
        const pause_recording scope; // the worker may have to ask MPI about the communicator
        return runtime.queue_of(op.comm, code);
    }();
    if (queue == nullptr) return code;
    if (queue->striping() != nullptr) {
        if (code = find_way(op, nullptr, queue); code != COMMTASK_OK) return code;
    }
    if (code = check_post(runtime, op, options, *queue); code != COMMTASK_OK) return code;
    if (code = check_replay(into, kind, options); code != COMMTASK_OK) return code;
    if (code = check_order(runtime, op); code != COMMTASK_OK) return code;
    task* slot = nullptr;
    try {
        plan_member made = make_member(op, kind, *queue, options);
        if (code = keep_posted_types(into, made); code != COMMTASK_OK) return code;
        if (kind.has_partitions) {
            if (code = add_partitioned(into, std::move(made), slot); code != COMMTASK_OK) return code;
        } else {
            slot = into.add(std::move(made));
        }
    } catch (const std::bad_alloc&) { // slot is null then
    }
    if (slot == nullptr) return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for  a member of a plan");
    if (task_out == nullptr) return COMMTASK_OK;
    slot->life.take_reference();
    *task_out = static_cast<commtask_t>(slot);
    return COMMTASK_OK;
}

} // namespace commtask::detail

using namespace commtask::detail;

int commtask_record_begin(void) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (recorded_here != nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "this thread is recording already");
    thread_local const end_of_thread notice;
    static_cast<void>(notice);
    try {
        recorded_here = new commtask_plan_s;
    } catch (const std::bad_alloc&) {
        return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for  a plan");
    }
    recorded_here->session = runtime->session_number();
    recorded_here->is_recorded_in_progress_call = in_progress_call();
    plan_registry::begin_recording(*recorded_here);
    return COMMTASK_OK;
}

int commtask_record_end(commtask_plan_t* plan) noexcept {
    if (!is_recording()) {
        return refuse(COMMTASK_ERR_ARGUMENT, "this thread is not recording: call commtask_record_begin first");
    }
    context* const runtime = context::current();
    if (runtime == nullptr || recorded_here->session != runtime->session_number()) {
        const int code = drop_old_recording();
        return runtime == nullptr ? refuse_without_runtime() : code;
    }
    commtask_plan_s& made = *recorded_here;
    const bool is_kept = plan != nullptr && !made.lacks_memory && runtime->plans().add(made);
    plan_member* wrong = nullptr;
    int mpi_code = MPI_SUCCESS;
    const int code = run_in_progress_call([&] {
        if (is_kept) wrong = prepare_all(made, mpi_code);
        if (is_kept && runtime->settings().plan_check != 0) snapshot_lists(made);
        plan_registry::end_recording(made);
        if (!is_kept) plan_registry::destroy(made);
    });
    if (code != COMMTASK_OK) {
        runtime->plans().remove(made);
        return code; // the recording continues
    }
    recorded_here = nullptr;
    if (plan == nullptr) return COMMTASK_OK;
    if (!is_kept) return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for  a plan");
    if (wrong != nullptr) {
        const int why = refuse_member(*wrong, mpi_code);
        runtime->plans().remove(made);
        static_cast<void>(run_in_progress_call([&] { plan_registry::destroy(made); }));
        return why;
    }
    made.end_change();
    *plan = &made;
    return COMMTASK_OK;
}
