// SPDX-License-Identifier: Apache-2.0
//
// What is known of each OpenMP task: its parent, the taskgroup around it, and how many communication tasks that it waits for
// have not ended. libomp knows more, and tells nobody. An OMPT tool hears of tasks, so the records hang on OMPT's task data;
// another tool that has the place leaves this library without records, and threads then wait as libomp alone does.
#pragma once

#include "errors.hpp"
#include "tool.hpp"

#include <atomic>
#include <cstdint>

namespace commtask::omp {

struct task_record;

namespace check {
struct first_child; ///< A communication task that no taskgroup is around, for the sentence about it.
void forget(first_child* child) noexcept;
} // namespace check

/// What a construct waits for: lives while somebody refers to it.
struct open_count {
    std::atomic<unsigned> n_references{1};
    std::atomic<unsigned> n_open{0}; ///< Communication tasks that have not ended.
};

/// A taskgroup; refers to the one around it.
struct group_record : open_count {
    group_record* outer = nullptr;
};

/// A task; `n_open` counts its children. It refers to its parent and to its taskgroups.
struct task_record : open_count {
    task_record* parent = nullptr; ///< Null: an implicit task, or not known.
    task_record* implicit =
        nullptr; ///< The implicit task that it descends from, itself included; null: not known. Its parents
                 ///< refer to that one.
    group_record* around = nullptr; ///< The innermost taskgroup that it was created in.
    group_record* group = nullptr;  ///< The innermost that its children are created in: its own, or `around`.
    int n_own_groups = 0;           ///< That it has open itself; only its own thread looks.
    int n_unknown_groups = 0;       ///< Of those inside them for which there was no memory.
    std::uint64_t trace_id = 0;
    bool is_explicit = false;
    bool is_undeferred = false; ///< By an if clause; not because its team has one thread.
    bool is_whole = true;       ///< False: it began before tasks were watched, maybe in taskgroups that are unknown.
    std::atomic<bool> is_communication{false};
    std::atomic<bool> has_ended{false};
    std::atomic<unsigned> n_below{0};          ///< Of an implicit task: communication tasks of all its descendants.
    std::atomic<unsigned> n_not_waited_for{0}; ///< Of these its children outside of any taskgroup.
    std::atomic<check::first_child*> first{nullptr}; ///< Of such children.
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

/// The record on a task's data; null: there is none.
[[nodiscard]] inline task_record* of(const ompt_data_t* data) noexcept {
    return data != nullptr ? static_cast<task_record*>(data->ptr) : nullptr;
}

/// The current task's record; null: there is none.
[[nodiscard]] task_record* of_current_task() noexcept;

/// The task becomes a communication, whose children, taskgroup and region wait for it. Again: does nothing.
void begin_communication(task_record& record, posted_operation posted) noexcept;

/// Whether a task of the program waited for an event of the program's own, or for a device: what such an event releases lies
/// in libomp's queue, which a team of one thread serves only in libomp's own waiting.
[[nodiscard]] bool has_foreign_events() noexcept;

} // namespace records
} // namespace commtask::omp
