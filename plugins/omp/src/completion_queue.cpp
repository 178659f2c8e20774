// SPDX-License-Identifier: Apache-2.0
//
// libomp runs a thread's deferred tasks only inside a libomp wait, in LIFO order. run_completions()
// therefore creates a proxy task in a new taskgroup and waits for it; the last completion task
// completes that proxy task. A new taskgroup, since every tool accepts nested taskgroups.
#include "completion_queue.hpp"

#include "bound_task.hpp"
#include "kmp_task.hpp"
#include "outstanding.hpp"
#include "proxy_task.hpp"

#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace commtask::omp {
namespace {

/// The outermost scope of the calling thread.
thread_local constinit progress_scope* current_scope = nullptr;

/// Owns all completion queues, since a communication task may outlive the thread that created it.
class all_completion_queues {
public:
    completion_queue& keep(completion_queue* made) {
        const std::scoped_lock guard(lock_);
        return *queues_.emplace_back(made);
    }

private:
    std::mutex lock_;
    std::vector<std::unique_ptr<completion_queue>> queues_;
};

/// The calling thread's queues, by nesting level.
thread_local std::vector<completion_queue*> of_levels;

/// An empty task body.
struct nothing {
    void run() noexcept {}
    void end() noexcept {}
};

} // namespace

completion_queue& completion_queue::mine() {
    static auto* const all = new all_completion_queues;
    const auto level = static_cast<std::size_t>(omp_get_level());
    while (of_levels.size() <= level) {
        of_levels.push_back(&all->keep(new completion_queue));
    }
    return *of_levels[level];
}

completion_queue* completion_queue::mine_if_any() noexcept {
    const auto level = static_cast<std::size_t>(omp_get_level());
    return level < of_levels.size() ? of_levels[level] : nullptr;
}

void completion_queue::run_my_completions() noexcept {
    if (completion_queue* const mine = mine_if_any(); mine != nullptr) {
        mine->run_completions();
    }
}

void completion_queue::complete_proxy(kmp_task* proxy) noexcept {
    if (progress_scope::will_run_completions_of(*this)) {
        try {
            own_.push_back(proxy);
            return;
        } catch (const std::bad_alloc&) { // fall back to libomp's queue
        }
    }
    complete_through_libomp(proxy);
}

void completion_queue::complete_through_libomp(kmp_task* proxy) noexcept {
    // release: partner of begin_completion(). libomp's queue also orders the two, but
    // ThreadSanitizer cannot see it and would report a race.
    n_completed_.fetch_add(1, std::memory_order_release);
    __kmpc_proxy_task_completed_ooo(proxy);
}

serial_start* completion_queue::take_start() noexcept {
    try {
        if (idle_starts_.empty()) {
            idle_starts_.reserve(starts_.size() + 1);
            starts_.push_back(std::make_unique<serial_start>(*this));
            idle_starts_.reserve(starts_.capacity());
            return starts_.back().get();
        }
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    serial_start* const lent = idle_starts_.back();
    idle_starts_.pop_back();
    return lent;
}

bool completion_queue::begin_completion() noexcept {
    // acquire: partner of complete_through_libomp(). This thread must see the worker's stores.
    return n_completed_.fetch_sub(1, std::memory_order_acquire) == 1;
}

void completion_queue::complete_waiters() noexcept {
    const std::vector<kmp_task*> waits = std::exchange(waiters_, {});
    for (kmp_task* const waiter : waits) {
        __kmpc_proxy_task_completed(__kmpc_global_thread_num(&task_ident), waiter);
    }
}

void completion_queue::run_completions() noexcept {
    while (!own_.empty()) {
        // All but the first go to libomp: a task that the first completion releases may wait in
        // libomp for the others. Usually own_ has one entry.
        kmp_task* const first = own_.front();
        for (std::size_t i = 1; i < own_.size(); ++i) {
            complete_through_libomp(own_[i]);
        }
        own_.clear();
        complete_directly(first);
    }
    if (n_completed_.load(std::memory_order_relaxed) == 0) {
        return;
    }
    const std::int32_t thread = __kmpc_global_thread_num(&task_ident);
    while (n_completed_.load(std::memory_order_relaxed) > 0) {
        __kmpc_taskgroup(&task_ident, thread);
        kmp_task_of<nothing> waiter(kmp_is_proxy, {});
        waiters_.push_back(waiter.identity());
        waiter.submit(0, nullptr);
        __kmpc_end_taskgroup(&task_ident, thread);
    }
}

progress_scope::progress_scope(completion_queue* next_queue) noexcept : outer_(current_scope), next_queue_(next_queue) {
    if (outer_ == nullptr) {
        current_scope = this;
    }
}

progress_scope::~progress_scope() {
    if (outer_ != nullptr) {
        return;
    }
    current_scope = nullptr;
    for (const omp_event_handle_t event : deferred_) {
        complete(event);
        outstanding::of_process().note_ended();
    }
}

bool progress_scope::will_run_completions_of(const completion_queue& which) noexcept {
    return current_scope != nullptr && current_scope->next_queue_ == &which;
}

bool progress_scope::try_defer(omp_event_handle_t event) noexcept {
    if (current_scope == nullptr) {
        return false;
    }
    try {
        current_scope->deferred_.push_back(event);
        return true;
    } catch (const std::bad_alloc&) { // then the caller fulfils the event now
        return false;
    }
}

} // namespace commtask::omp
