// SPDX-License-Identifier: Apache-2.0
//
// libomp runs its queue only while it waits for something, the last entry first. So run_answers() waits for a task of
// its own, which the last answer completes.
#include "desk.hpp"

#include "kmp_task.hpp"

#include <commtask/commtask.h>

#include <memory>
#include <mutex>
#include <utility>

namespace commtask::omp {
namespace {

/// The desk in whose drive() the calling thread is.
thread_local constinit desk* driving_desk = nullptr;

/// Keeps every desk: a communication task may end after the thread that made it.
class all_desks {
public:
    desk& keep(desk* made) {
        const std::scoped_lock guard(lock_);
        return *desks_.emplace_back(made);
    }

private:
    std::mutex lock_;
    std::vector<std::unique_ptr<desk>> desks_;
};

/// A detached task without a body.
struct nothing {
    void run() noexcept {}
    void end() noexcept {}
};

} // namespace

desk& desk::mine() {
    static auto* const all = new all_desks;
    thread_local desk& this_threads = all->keep(new desk);
    return this_threads;
}

void desk::note_answered() noexcept {
    if (n_rung_.fetch_sub(1, std::memory_order_relaxed) > 1) {
        return;
    }
    const std::vector<omp_event_handle_t> waits = std::exchange(when_answered_, {});
    for (const omp_event_handle_t event : waits) {
        omp_fulfill_event(event);
    }
}

void desk::run_answers() noexcept {
    const std::int32_t thread = __kmpc_global_thread_num(&task_ident);
    while (n_rung_.load(std::memory_order_relaxed) > 0) {
        char token = 0;
        kmp_depend link{reinterpret_cast<std::intptr_t>(&token), 1, kmp_depend_inout};
        kmp_task_of<nothing> answered(kmp_is_detachable, {});
        when_answered_.push_back(answered.event());
        answered.submit(1, &link);
        __kmpc_omp_wait_deps(&task_ident, thread, 1, &link, 0, nullptr);
    }
}

int desk::drive(int& moved) noexcept {
    desk* const outer = std::exchange(driving_desk, this);
    const int code = commtask_progress(&moved);
    driving_desk = outer;
    while (!kept_.empty()) {
        const omp_event_handle_t event = kept_.back();
        kept_.pop_back();
        omp_fulfill_event(event);
    }
    return code;
}

bool desk::try_keep(omp_event_handle_t event) noexcept {
    if (driving_desk == nullptr) {
        return false;
    }
    driving_desk->kept_.push_back(event);
    return true;
}

} // namespace commtask::omp
