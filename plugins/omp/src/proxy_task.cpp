// SPDX-License-Identifier: Apache-2.0
//
// A proxy task has no body, and its completion task depends on it. The team's own thread therefore
// runs the completion task, whichever thread completes the proxy task. If the team's thread itself
// sees the operation end, libomp's queue is not used.
#include "proxy_task.hpp"

#include "announce.hpp"
#include "bridge.hpp"
#include "completion_queue.hpp"
#include "kmp_task.hpp"
#include "outstanding.hpp"

namespace commtask::omp {
namespace {

/// Fulfils an event on a thread of the team.
struct completion_task {
    completion_queue* at;
    omp_event_handle_t event;
    serial_start* started; ///< Returned to the completion queue; null if there is none.
    kmp_task* proxy;       ///< This task, if it is a proxy task.
    bool is_direct;        ///< complete_directly() does the work of complete().

    void run() noexcept {
        if (proxy != nullptr) {
            complete();
        }
    }
    /// Also called if the taskgroup was cancelled; libomp does not call it for a proxy task.
    void end() noexcept { complete(); }

    void complete() noexcept {
        if (is_direct) {
            return;
        }
        const bool is_last = at->begin_completion();
        if (started != nullptr) {
            at->give_back(*started);
        }
        omp_fulfill_event(event);
        if (proxy != nullptr) {
            __kmpc_proxy_task_completed_ooo(proxy);
        }
        if (is_last) {
            at->complete_waiters();
        }
    }
};

/// A proxy task without a body, completed by its completion queue.
struct proxy_task {
    completion_queue* at;
    kmp_task* completion;
    void run() noexcept {}
    void end() noexcept {}
};

/// Whether the completion task is a proxy task. When a task without an event ends in a team of one
/// thread, libomp does not decrement the count of children that keeps its parent in memory. The
/// communication task would never be freed. For a proxy task libomp does decrement that count; but
/// - libomp then continues with the parent of the communication task, and if that is an explicit
///   task, with ancestors that did not count their children: the ancestors would be freed too
///   early. libomp stops at an implicit task.
/// - libomp calls no function of a proxy task that a cancellation discards.
/// - When a proxy task runs at the end of a region, libomp reports its end to a tool twice, and
///   Archer fails. This library's records accept that.
bool completion_is_proxy(std::uint32_t flags) noexcept {
    constexpr int no_command = 0x7fff0000; // tools ignore unknown commands
    static const bool is_watched = !tool::is_records_only.load(std::memory_order_relaxed) &&
                                   omp_control_tool(no_command, 0, nullptr) != kmp_no_tool;
    return (flags & flag_parent_is_implicit) != 0 && !is_watched && omp_get_cancellation() == 0;
}

/// Makes a proxy task, which any thread may complete; a thread of this team then fulfils `event`.
/// The task of `event` stays incomplete until then, so its later siblings are counted, and its
/// dependents are released in the step that decrements the count.
kmp_task* make_proxy_task(omp_event_handle_t event, std::uint32_t flags, serial_start* started) noexcept {
    completion_queue& mine = completion_queue::mine();
    // The proxy task is created first. libomp counts a task without an event as a child only if
    // another child is incomplete at its creation, but tests again at its end. With the proxy task
    // both tests are true.
    kmp_task_of<proxy_task> made(kmp_is_proxy, {&mine, nullptr});
    const bool is_proxy = completion_is_proxy(flags);
    kmp_task_of<completion_task> completion(is_proxy ? kmp_is_proxy : 0, {&mine, event, started, nullptr, false});
    if (is_proxy) {
        completion.payload().proxy = completion.identity();
    }
    made.payload().completion = completion.identity();
    kmp_task* const proxy = made.identity();
    kmp_depend link{reinterpret_cast<std::intptr_t>(completion.identity()), 1, kmp_depend_inout};
    made.submit(1, &link);
    link.kind = kmp_depend_in;
    completion.submit(1, &link);
    return proxy;
}

/// The value of proxy_ once the operation has ended.
kmp_task* has_ended() noexcept { return reinterpret_cast<kmp_task*>(std::uintptr_t{1}); }

} // namespace

void serial_start::begin(omp_event_handle_t event, std::uint32_t flags) noexcept {
    event_ = event;
    flags_ = flags;
    proxy_.store(nullptr, std::memory_order_relaxed); // the post publishes it
}

void serial_start::settle() noexcept {
    // acquire: partner of end(). This thread must see the worker's stores before end().
    if (proxy_.load(std::memory_order_acquire) != nullptr) {
        return give_up();
    }
    kmp_task* const proxy = make_proxy_task(event_, flags_, this);
    kmp_task* before = nullptr;
    // release: the thread that ends the operation must see the whole proxy task.
    if (proxy_.compare_exchange_strong(before, proxy, std::memory_order_acq_rel)) {
        return; // from here on end(), then the completion task, owns the object
    }
    complete_directly(proxy);
    outstanding::of_process().note_ended();
}

void serial_start::give_up() noexcept {
    const omp_event_handle_t event = event_;
    at_->give_back(*this);
    omp_fulfill_event(event);
    outstanding::of_process().note_ended();
}

void serial_start::end() noexcept {
    // acq_rel: partner of settle(). Without a proxy task the starter owns the object from here on.
    kmp_task* const proxy = proxy_.exchange(has_ended(), std::memory_order_acq_rel);
    if (proxy == nullptr) {
        return;
    }
    start_proxy_task(proxy);
    outstanding::of_process().note_ended();
}

// In a team of one thread, tasks created by explicit tasks wait in their bodies, so a task whose
// completion is delayed has an implicit parent.
kmp_task* make_proxy_task_of_bound(omp_event_handle_t event) noexcept {
    return make_proxy_task(event, flag_parent_is_implicit, nullptr);
}

void start_proxy_task(kmp_task* proxy) noexcept {
    kmp_task_of<proxy_task>::payload_of(proxy).at->complete_proxy(proxy);
}

void complete_directly(kmp_task* proxy) noexcept {
    kmp_task* const completing = kmp_task_of<proxy_task>::payload_of(proxy).completion;
    completion_task& completion = kmp_task_of<completion_task>::payload_of(completing);
    const omp_event_handle_t event = completion.event;
    const bool is_proxy = completion.proxy != nullptr;
    completion.is_direct = true;
    if (completion.started != nullptr) {
        completion.at->give_back(*completion.started);
    }
    const std::int32_t thread = __kmpc_global_thread_num(&task_ident);
    __kmpc_proxy_task_completed(thread, proxy); // runs the completion task
    if (is_proxy) {
        __kmpc_proxy_task_completed(thread, completing);
    }
    omp_fulfill_event(event);
}

} // namespace commtask::omp
