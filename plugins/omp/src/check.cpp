// SPDX-License-Identifier: Apache-2.0
//
// The part of the OMPT tool that knows of each task its parent, the taskgroups around it and its unfinished communications. A record
// hangs on libomp's own task data; a parent's record outlives the parent as long as a child names it, since the order in
// which the two end is just what is asked. The callbacks run inside libomp: they take no lock and call nothing back but
// the error handler.
#include "check.hpp"

#include "announce.hpp"
#include "errors.hpp"
#include "tool.hpp"

#include <commtask/omp.h>
#include <commtask/unfinished.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace commtask::omp {
namespace {

/// What is known of one task. `parent` is set only where the end of the parent matters: it is an explicit task, and no
/// taskgroup is around this one.
struct task_record {
    task_record* parent = nullptr;
    bool is_explicit = false;
    bool is_in_taskgroup = false;          ///< Of an ancestor, when it was created.
    bool is_undeferred = false;            ///< By an if clause; not because its team has one thread.
    int n_taskgroups = 0;                  ///< That it has open itself; only its own thread looks.
    std::atomic<unsigned> n_references{1}; ///< The task until it ends, and the children that name it.
    std::atomic<bool> is_communication{false};
    std::atomic<bool> has_ended{false};
    std::atomic<unsigned> n_unfinished{0}; ///< Children that are communications and have not ended.
    std::atomic<unsigned> kind{0};         ///< Of the last one.
    std::atomic<bool> was_reported{false};
};

ompt_get_task_info_t get_task_info = nullptr;

task_record* record_of(const ompt_data_t* data) noexcept {
    return data != nullptr ? static_cast<task_record*>(data->ptr) : nullptr;
}

ompt_data_t* current_task() noexcept {
    ompt_data_t* data = nullptr;
    return get_task_info(0, nullptr, &data, nullptr, nullptr, nullptr) != 0 ? data : nullptr;
}

void release(task_record* record) noexcept {
    // Acquire and release: who deletes sees what all who had a reference wrote.
    while (record != nullptr && record->n_references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        task_record* const parent = record->parent;
        delete record;
        record = parent;
    }
}

void report_early_end(task_record& parent, unsigned n_unfinished) noexcept {
    if (parent.was_reported.exchange(true)) {
        return;
    }
    const unsigned kind = parent.kind.load();
    char sentence[512];
    std::snprintf(
        sentence, sizeof sentence,
        "commtask: an explicit task ended before %u communication task%s that it created (the last one %s %s), "
        "and no taskgroup is around: barriers and the end of the parallel region do not wait for such tasks, "
        "and their completion then touches a team that is gone. Put a taskgroup around the graph, or a "
        "taskwait at the end of the task that creates them.",
        n_unfinished, n_unfinished == 1 ? "" : "s", article_of_kind(kind), name_of_kind(kind));
    report_not_waited_for(kind, sentence);
}

// One of the two threads sees what the other did, as each writes before it reads, in the one order of seq_cst.
void begin_communication(task_record& record, unsigned kind) noexcept {
    task_record* const parent = record.parent;
    if (record.is_communication.exchange(true) || parent == nullptr) {
        return;
    }
    parent->kind.store(kind);
    const unsigned n_unfinished = parent->n_unfinished.fetch_add(1) + 1;
    if (parent->has_ended.load()) {
        report_early_end(*parent, n_unfinished);
    }
}

void end_communication(task_record& record) noexcept {
    if (record.is_communication.exchange(false) && record.parent != nullptr) {
        record.parent->n_unfinished.fetch_sub(1);
    }
}

/// Of a cancelled task libomp may tell two ends: the second finds no record.
void end_task(ompt_data_t* data) noexcept {
    task_record* const record = static_cast<task_record*>(std::exchange(data->ptr, nullptr));
    end_communication(*record);
    record->has_ended.store(true);
    if (const unsigned n_unfinished = record->n_unfinished.load(); record->is_explicit && n_unfinished > 0) {
        report_early_end(*record, n_unfinished);
    }
    release(record);
}

// The callbacks -------------------------------------------------------------------------------------------------------

void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* /*parallel*/, ompt_data_t* task, unsigned /*size*/,
                      unsigned /*index*/, int /*flags*/) {
    if (task == nullptr) {
        return;
    }
    if (endpoint == ompt_scope_begin) {
        task->ptr = new task_record;
    } else if (task->ptr != nullptr) {
        end_task(task);
    }
}

void on_task_create(ompt_data_t* creator, const ompt_frame_t* /*frame*/, ompt_data_t* task, int flags,
                    int /*has_dependences*/, const void* /*where*/) {
    if ((static_cast<unsigned>(flags) & (ompt_task_taskwait | ompt_task_target)) != 0) {
        return; // a waiting construct in the guise of a task
    }
    task->ptr = nullptr;
    const unsigned kind = tool::announced; // the tool takes it back
    if (kind == 0) {
        return;
    }
    task_record* const record = new task_record;
    record->is_explicit = true;
    // libomp tells of a task with if(0) when it has made it the current one; of all others before.
    record->is_undeferred = current_task() == task;
    if (task_record* const parent = record_of(creator); parent != nullptr) {
        record->is_in_taskgroup = parent->is_in_taskgroup || parent->n_taskgroups > 0;
        if (parent->is_explicit && !record->is_in_taskgroup) {
            record->parent = parent;
            parent->n_references.fetch_add(1, std::memory_order_relaxed); // the creator, which has one, is running
        }
    }
    task->ptr = record;
    if (kind != tool::a_users_task) {
        begin_communication(*record, kind);
    }
}

void on_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* /*next*/) {
    task_record* const record = record_of(prior);
    if (record == nullptr) {
        return;
    }
    switch (status) {
    case ompt_task_complete:
    case ompt_task_cancel:
    case ompt_task_late_fulfill: end_task(prior); break;
    case ompt_task_early_fulfill: end_communication(*record); break; // its body has not ended
    default: break;
    }
}

void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* /*parallel*/,
                    ompt_data_t* task, const void* /*where*/) {
    if (task_record* const record = record_of(task); kind == ompt_sync_region_taskgroup && record != nullptr) {
        record->n_taskgroups += endpoint == ompt_scope_begin ? 1 : -1;
    }
}

} // namespace

namespace check {

constinit std::atomic<bool> is_watching{false};

bool is_asked_for() noexcept {
    // Every other value is commtask_init's to refuse: the variable is in the runtime's table.
    // NOLINTNEXTLINE(concurrency-mt-unsafe): while libomp starts, and once when the first task is made
    const char* const text = std::getenv("COMMTASK_OMP_CHECK");
    return text != nullptr && std::string_view(text) == "1";
}

bool begin(ompt_function_lookup_t lookup, tool_events& events) noexcept {
    get_task_info = reinterpret_cast<ompt_get_task_info_t>(lookup("ompt_get_task_info"));
    if (get_task_info == nullptr) {
        return false;
    }
    events = {&on_implicit_task, &on_task_create, &on_task_schedule, &on_sync_region, nullptr};
    is_watching.store(true, std::memory_order_relaxed); // before the first task
    return true;
}

const char* note_start_watched(unsigned kind) noexcept {
    task_record* const record = record_of(current_task());
    if (record == nullptr || !record->is_explicit) {
        return nullptr;
    }
    if (record->is_undeferred) {
        return "its task is undeferred, by an if clause that is false: libomp goes on without waiting for its event "
               "and "
               "drops its out-dependences, so its dependents would run too early; take the if clause away, or use "
               "COMM_TASK";
    }
    begin_communication(*record, kind);
    return nullptr;
}

void complain_if_shut_out() noexcept {
    static const bool is_shut_out = is_asked_for() && !is_watching.load(std::memory_order_relaxed); // as note_start()
    static std::atomic<bool> was_said{false};
    if (is_shut_out && !was_said.exchange(true)) {
        commtask_say("COMMTASK_OMP_CHECK=1 checks nothing: OpenMP has another tool in this process (look at "
                     "OMP_TOOL_LIBRARIES and LD_PRELOAD), or none is allowed (OMP_TOOL=disabled).");
    }
}

} // namespace check
} // namespace commtask::omp
