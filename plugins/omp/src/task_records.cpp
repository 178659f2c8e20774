// SPDX-License-Identifier: Apache-2.0
//
// The callbacks run inside libomp: they have no lock, and their only callback is the error handler.
// A parent's record outlives the parent while a child refers to it, since the check compares the
// ends of both.
#include "task_records.hpp"

#include "announce.hpp"
#include "check.hpp"

#include <array>
#include <cstddef>
#include <new>
#include <utility>

namespace commtask::omp {
namespace {

ompt_get_task_info_t get_task_info = nullptr;
constinit std::atomic<bool> are_foreign_events{false};

/// The number of open taskgroups of all tasks since libomp started; -1: not counted. If it is 0, no
/// taskgroup encloses the current task. On a cache line of its own, since each creation of a task
/// reads the neighbouring variables.
alignas(64) constinit std::atomic<int> n_open_groups{-1};

using records::of;

ompt_data_t* current_task(int* flags = nullptr) noexcept {
    ompt_data_t* data = nullptr;
    return get_task_info(0, flags, &data, nullptr, nullptr, nullptr) != 0 ? data : nullptr;
}

void refer_to(open_count* to) noexcept {
    if (to != nullptr) {
        to->n_references.fetch_add(1,
                                   std::memory_order_relaxed); // the caller or an ancestor has a reference
    }
}

/// acq_rel: the deleting thread must see the stores of all threads that had a reference.
[[nodiscard]] bool was_last_reference(open_count& to) noexcept {
    return to.n_references.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

void release(group_record* group) noexcept {
    while (group != nullptr && was_last_reference(*group)) {
        delete std::exchange(group, group->outer);
    }
}

void end_task(ompt_data_t* data) noexcept;

/// A few unused records, so that most tasks need no allocation. Also represents the initial task of
/// a thread: libomp does not report its end, which is the end of the thread.
class spare_records {
public:
    spare_records() = default;
    spare_records(const spare_records&) = delete;
    spare_records& operator=(const spare_records&) = delete;
    ~spare_records() {
        if (initial_ != nullptr && current_task() == initial_ && initial_->ptr != nullptr) {
            end_task(initial_);
        }
        while (n_ > 0) {
            delete kept_[--n_];
        }
    }
    [[nodiscard]] task_record* take() noexcept { return n_ > 0 ? kept_[--n_] : nullptr; }
    [[nodiscard]] bool try_defer(task_record* record) noexcept {
        if (n_ == kept_.size()) {
            return false;
        }
        kept_[n_++] = record;
        return true;
    }

    /// A teams construct also has an initial task, inside the thread's own, and libomp reports its
    /// end.
    void note_initial(ompt_data_t& task) noexcept {
        if (initial_ == nullptr) {
            initial_ = &task;
        }
    }

    void note_end(const ompt_data_t& task) noexcept {
        if (initial_ == &task) {
            initial_ = nullptr;
        }
    }

private:
    ompt_data_t* initial_ = nullptr;
    std::array<task_record*, 64> kept_{};
    std::size_t n_ = 0;
};
thread_local spare_records spare;

/// @return null if memory is exhausted
task_record* make_record() noexcept {
    task_record* const kept = spare.take();
    if (kept == nullptr) {
        return new (std::nothrow) task_record;
    }
    kept->~task_record();
    return ::new (static_cast<void*>(kept)) task_record;
}

void give_back(task_record* record) noexcept {
    if (!spare.try_defer(record)) {
        delete record;
    }
}

void release(task_record* record) noexcept {
    while (record != nullptr && was_last_reference(*record)) {
        release(record->group);
        release(record->around);
        give_back(std::exchange(record, record->parent));
    }
}

/// Makes a record of the current task, which began before tasks were tracked.
task_record* make_up_record(ompt_data_t& data) noexcept {
    int flags = 0;
    if (current_task(&flags) != &data) {
        return nullptr;
    }
    auto* const made = make_record();
    if (made == nullptr) {
        return nullptr;
    }
    made->is_explicit = (static_cast<unsigned>(flags) & ompt_task_explicit) != 0;
    // relaxed: a taskgroup around the current task was begun before the task was created.
    made->is_whole =
        tool::is_there.load(std::memory_order_relaxed) && n_open_groups.load(std::memory_order_relaxed) == 0;
    made->implicit = made->is_explicit ? nullptr : made;
    data.ptr = made;
    if ((static_cast<unsigned>(flags) & ompt_task_initial) != 0) {
        spare.note_initial(data);
    }
    return made;
}

void end_communication(task_record& record) noexcept {
    if (!record.is_communication.exchange(false)) {
        return;
    }
    // The references of `record` keep all three alive.
    const auto end_one = [](std::atomic<unsigned>& n_open) {
        n_open.fetch_sub(1, std::memory_order_release); // partner: the load in wait_until_none()
    };
    if (record.around != nullptr) {
        end_one(record.around->n_open);
    }
    if (record.implicit != nullptr) {
        end_one(record.implicit->n_below);
    }
    if (record.parent != nullptr) {
        check::note_ended(record);
        end_one(record.parent->n_open);
    }
}

/// libomp may report two ends of a cancelled task; at the second one there is no record.
void end_task(ompt_data_t* data) noexcept {
    task_record* const record = static_cast<task_record*>(std::exchange(data->ptr, nullptr));
    end_communication(*record);
    check::note_task_ended(*record);
    release(record);
}

// The callbacks ----------------------------------------------------------------------------------

void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* /*parallel*/, ompt_data_t* task, unsigned /*size*/,
                      unsigned /*index*/, int flags) {
    if (task == nullptr) {
        return;
    }
    if (endpoint == ompt_scope_begin) {
        task_record* const made = make_record();
        if (made != nullptr) {
            made->implicit = made;
        }
        task->ptr = made;
        if ((static_cast<unsigned>(flags) & ompt_task_initial) != 0) {
            spare.note_initial(*task);
        }
    } else {
        spare.note_end(*task);
        if (task->ptr != nullptr) {
            end_task(task);
        }
    }
}

void on_task_create(ompt_data_t* creator, const ompt_frame_t* /*frame*/, ompt_data_t* task, int flags,
                    int /*has_dependences*/, const void* /*where*/) {
    if ((static_cast<unsigned>(flags) & (ompt_task_taskwait | ompt_task_target)) != 0) {
        if ((static_cast<unsigned>(flags) & ompt_task_target) != 0) {
            are_foreign_events.store(true, std::memory_order_relaxed);
        }
        return; // a waiting construct that libomp implements as a task
    }
    task->ptr = nullptr;
    const unsigned kind = tool::announced; // the tool resets it
    if (kind == 0) {
        return;
    }
    auto* const record = make_record();
    if (record == nullptr) {
        return; // a task without a record
    }
    record->is_explicit = true;
    // libomp reports a task with if(0) after it has become the current task, and any other task
    // before.
    record->is_undeferred = current_task() == task;
    task_record* parent = of(creator);
    if (parent == nullptr && creator != nullptr) {
        parent = make_up_record(*creator);
    }
    if (parent != nullptr) {
        record->parent = parent;
        record->implicit = parent->implicit;
        record->around = record->group = parent->group;
        record->is_whole = parent->is_whole;
        refer_to(parent); // the creator, which has a reference, is running
        refer_to(record->around);
        refer_to(record->group);
    } else {
        record->is_whole = false;
    }
    task->ptr = record;
    if (kind != tool::a_users_task) {
        records::begin_communication(*record, tool::announced_operation);
    }
}

void on_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* /*next*/) {
    task_record* const record = of(prior);
    if (record == nullptr) {
        return;
    }
    switch (status) {
    case ompt_task_complete:
    case ompt_task_cancel:
    case ompt_task_late_fulfill: end_task(prior); break;
    case ompt_task_early_fulfill: end_communication(*record); break; // its body has not ended
    case ompt_task_detach:
        if (!record->is_communication.load(std::memory_order_relaxed)) {
            are_foreign_events.store(true, std::memory_order_relaxed);
        }
        break;
    default: break;
    }
}

// For taskgroups libomp passes a copy of the task's data.
void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* /*parallel*/,
                    ompt_data_t* task, const void* /*where*/) {
    if (kind != ompt_sync_region_taskgroup) {
        return;
    }
    if (n_open_groups.load(std::memory_order_relaxed) >= 0) {
        n_open_groups.fetch_add(endpoint == ompt_scope_begin ? 1 : -1, std::memory_order_relaxed);
    }
    if (!tool::is_there.load(std::memory_order_relaxed)) {
        return;
    }
    task_record* record = of(task);
    if (endpoint == ompt_scope_begin) {
        if (record == nullptr) {
            ompt_data_t* const current = current_task();
            record = current != nullptr ? of(current) : nullptr;
            if (record == nullptr && current != nullptr) {
                record = make_up_record(*current);
            }
            if (record == nullptr) {
                return;
            }
        }
        auto* const made = record->n_unknown_groups == 0 ? new (std::nothrow) group_record : nullptr;
        if (made == nullptr) {
            ++record->n_unknown_groups;
            return;
        }
        made->outer = record->group; // takes over its reference
        record->group = made;
        ++record->n_own_groups;
        return;
    }
    if (record == nullptr) {
        record = records::of_current_task();
    }
    if (record != nullptr && record->n_unknown_groups > 0) {
        --record->n_unknown_groups;
        // otherwise it began before tasks were tracked
    } else if (record != nullptr && record->n_own_groups > 0) {
        --record->n_own_groups;
        group_record* const ended = record->group;
        record->group = ended->outer;
        refer_to(record->group);
        release(ended);
    }
}

} // namespace

namespace records {

bool begin(ompt_function_lookup_t lookup, tool_events& events) noexcept {
    get_task_info = reinterpret_cast<ompt_get_task_info_t>(lookup("ompt_get_task_info"));
    if (get_task_info == nullptr) {
        return false;
    }
    events = {&on_implicit_task, &on_task_create, &on_task_schedule, &on_sync_region, nullptr};
    return true;
}

void count_groups() noexcept { n_open_groups.store(0, std::memory_order_relaxed); }

task_record* of_current_task() noexcept { return get_task_info != nullptr ? of(current_task()) : nullptr; }

void begin_communication(task_record& record, posted_operation posted) noexcept {
    if (record.is_communication.exchange(true)) {
        return;
    }
    if (record.around != nullptr) {
        record.around->n_open.fetch_add(1, std::memory_order_relaxed);
    }
    if (record.implicit != nullptr) {
        record.implicit->n_below.fetch_add(1, std::memory_order_relaxed);
    }
    if (record.parent != nullptr) {
        record.parent->n_open.fetch_add(1, std::memory_order_relaxed);
        check::note_begun(record, posted);
    }
}

bool has_foreign_events() noexcept { return are_foreign_events.load(std::memory_order_relaxed); }

} // namespace records
} // namespace commtask::omp
