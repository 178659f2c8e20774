// SPDX-License-Identifier: Apache-2.0
//
// The checks on the records: whether a task ended before communication tasks that it created
// outside of any taskgroup, and whether an operation starts in an undeferred task. This code runs
// inside libomp: it has no lock, and its only callback is the error handler.
#include "check.hpp"

#include "errors.hpp"
#include "task_records.hpp"
#include "tool.hpp"

#include <commtask/frontend.h>
#include <commtask/omp.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

namespace commtask::omp {
namespace {

std::string_view setting() noexcept {
    // commtask_init refuses every value but 0 and 1: the runtime's table contains the variable.
    const char* const text = std::getenv("COMMTASK_OMP_CHECK");
    return text != nullptr ? text : "";
}

} // namespace

/// A copy, since the task that it describes may have ended.
struct check::first_child {
    commtask_op operation;
    source_place where;
};

namespace {

void report_early_end(task_record& parent, unsigned n_unfinished) noexcept {
    if (parent.was_reported.exchange(true)) {
        return;
    }
    static const bool is_silent = check::is_off();
    if (is_silent) {
        return;
    }
    // acquire: partner of the exchange in note_begun().
    const check::first_child* const first = parent.first.load(std::memory_order_acquire);
    char name[512] = "its name is not known: no memory";
    if (first != nullptr) {
        commtask_frontend_describe(&first->operation, first->where.file, first->where.line, name, sizeof name);
    }
    char message[1024];
    std::snprintf(message, sizeof message,
                  "commtask: an explicit task ended before %u communication task%s that it created (the first of all: "
                  "%s), and no taskgroup encloses them: barriers and the end of the parallel region do not wait for "
                  "such tasks, and their completion may then access a team that no longer exists. Put a taskgroup "
                  "around the graph, or a taskwait at the end of the task that creates them.",
                  n_unfinished, n_unfinished == 1 ? "" : "s", name);
    report_not_waited_for(first != nullptr ? first->operation.kind : 0U, message);
}

/// Whether the parent's end matters: the parent is an explicit task, and no taskgroup is around the
/// communication task.
bool is_left_alone(const task_record& communication) noexcept {
    return communication.is_whole && communication.around == nullptr && communication.parent->is_explicit;
}

} // namespace

namespace check {

constinit std::atomic<bool> is_watching{false};

bool is_asked_for() noexcept { return setting() == "1"; }

bool is_off() noexcept { return setting() == "0"; }

// One of the two threads sees the other's store: each writes before it reads, in the single total
// order of seq_cst.
void note_begun(task_record& communication, posted_operation posted) noexcept {
    if (!is_left_alone(communication)) {
        return;
    }
    task_record& parent = *communication.parent;
    if (parent.first.load(std::memory_order_relaxed) == nullptr) {
        auto* const mine = new (std::nothrow) first_child{*posted.operation, posted.where};
        first_child* none = nullptr;
        if (!parent.first.compare_exchange_strong(none, mine)) {
            delete mine;
        }
    }
    const unsigned n_unfinished = parent.n_not_waited_for.fetch_add(1) + 1;
    if (parent.has_ended.load()) {
        report_early_end(parent, n_unfinished);
    }
}

void forget(first_child* child) noexcept { delete child; }

void note_ended(task_record& communication) noexcept {
    if (is_left_alone(communication)) {
        communication.parent->n_not_waited_for.fetch_sub(1);
    }
}

void note_task_ended(task_record& ended) noexcept {
    if (!ended.is_explicit) {
        return;
    }
    ended.has_ended.store(true);
    if (const unsigned n_unfinished = ended.n_not_waited_for.load(); n_unfinished > 0) {
        report_early_end(ended, n_unfinished);
    }
}

const char* note_start_watched(posted_operation posted) noexcept {
    task_record* const record = records::of_current_task();
    if (record == nullptr || !record->is_explicit) {
        return nullptr;
    }
    if (record->is_undeferred) {
        return "its task is undeferred, by an if clause that is false: libomp does not wait for its event and drops "
               "its out-dependences, so its dependents would run too early; remove the if clause, or use COMM_TASK";
    }
    records::begin_communication(*record, posted);
    return nullptr;
}

void warn_if_shut_out() noexcept {
    static const bool is_shut_out = is_asked_for() && !is_watching.load(std::memory_order_relaxed); // as note_start()
    static std::atomic<bool> was_said{false};
    if (is_shut_out && !was_said.exchange(true)) {
        commtask_print("COMMTASK_OMP_CHECK=1 checks nothing: OpenMP has another tool in this process (look at "
                       "OMP_TOOL_LIBRARIES and LD_PRELOAD), or none is allowed (OMP_TOOL=disabled).");
    }
}

} // namespace check
} // namespace commtask::omp
