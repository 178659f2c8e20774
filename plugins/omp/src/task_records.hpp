// SPDX-License-Identifier: Apache-2.0
//
// The record of each OpenMP task: its parent, the taskgroup around it, and the number of
// communication tasks that it waits for and that have not ended. libomp does not publish its own
// records. An OMPT tool receives task events, so a record is attached to OMPT's task data. If
// another tool is active, this library has no records, and threads wait as libomp alone does.
#pragma once

#include "errors.hpp"
#include "tool.hpp"

#include <atomic>
#include <cstdint>

namespace commtask::omp {

struct task_record;

namespace check {
struct first_child; ///< A communication task outside of any taskgroup, for the error message.
void forget(first_child* child) noexcept;
} // namespace check

/// The count that a construct waits for: lives while it is referenced.
struct open_count {
    std::atomic<unsigned> n_references{1};
    std::atomic<unsigned> n_open{0}; ///< Communication tasks that have not ended.
};

/// A taskgroup; has a reference to the taskgroup around it.
struct group_record : open_count {
    group_record* outer = nullptr;
};

/// A task; `n_open` counts its children. It has references to its parent and to its taskgroups.
struct task_record : open_count {
    task_record* parent = nullptr; ///< Null: an implicit task, or not known.
    task_record* implicit =
        nullptr; ///< Its implicit ancestor, or itself; null: not known. Its parents have a reference to
                 ///< that record.
    group_record* around = nullptr; ///< The innermost taskgroup in which it was created.
    group_record* group = nullptr;  ///< The innermost taskgroup in which its children are created: its
                                    ///< own, or `around`.
    int n_own_groups = 0;           ///< Its own open taskgroups; used by its own thread only.
    int n_unknown_groups = 0;       ///< Open taskgroups inside these for which there was no memory.
    std::uint64_t trace_id = 0;
    bool is_explicit = false;
    bool is_undeferred = false; ///< By an if clause; not because its team has one thread.
    bool is_whole = true;       ///< False: began before tasks were watched, perhaps in taskgroups that are
                                ///< unknown.
    std::atomic<bool> is_communication{false};
    std::atomic<bool> has_ended{false};
    std::atomic<unsigned> n_below{0};                ///< Of an implicit task: communication tasks of all its
                                                     ///< descendants.
    std::atomic<unsigned> n_not_waited_for{0};       ///< Its communicating children outside of any taskgroup.
    std::atomic<check::first_child*> first{nullptr}; ///< The first of these children.
    std::atomic<bool> was_reported{false};

    task_record() = default;
    task_record(const task_record&) = delete;
    task_record& operator=(const task_record&) = delete;
    ~task_record() {
        if (check::first_child* const its = first.load(std::memory_order_relaxed); its != nullptr) {
            check::forget(its);
        }
    }
};

namespace records {

/// The record in a task's data; null: there is none.
[[nodiscard]] inline task_record* of(const ompt_data_t* data) noexcept {
    return data != nullptr ? static_cast<task_record*>(data->ptr) : nullptr;
}

/// The current task's record; null: there is none.
[[nodiscard]] task_record* of_current_task() noexcept;

/// The task becomes a communication task, for which its parent, taskgroup and region wait. A second
/// call does nothing.
void begin_communication(task_record& record, posted_operation posted) noexcept;

/// Whether a task of the program waited for an event of the program's own, or for a device. Tasks
/// that such an event releases are in libomp's queue, which a team of one thread serves only while
/// it waits in libomp.
[[nodiscard]] bool has_foreign_events() noexcept;

} // namespace records
} // namespace commtask::omp
