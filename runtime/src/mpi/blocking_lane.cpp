// SPDX-License-Identifier: Apache-2.0
//
// The lists are intrusive, so nothing is allocated. The thread calls MPI with a copy of the
// operation, since an abandoned task may be reused during the call.
#include "mpi/blocking_lane.hpp"

#include "base/library_thread.hpp"
#include "base/system.hpp"
#include "core/operation_traits.hpp"
#include "core/task_list.hpp"
#include "core/tracer.hpp"
#include "mpi/errors.hpp"
#include "mpi/one_sided.hpp"

#include <commtask/trace.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace commtask::detail {
namespace {

/// Records an MPI call in the trace.
class traced_call {
public:
    explicit traced_call(const commtask_op& op) noexcept : records_(tracer::current()) {
        if (records_ == nullptr) return;
        name_ = tracer::number_of(operation_of(op.kind).name);
        write(trace::record_type::region_begin);
    }
    traced_call(const traced_call&) = delete;
    traced_call& operator=(const traced_call&) = delete;
    ~traced_call() {
        if (records_ != nullptr) write(trace::record_type::region_end);
    }

private:
    void write(trace::record_type type) noexcept {
        records_->write({now_ns(), 0, 0, {name_, type, 0, COMMTASK_TRACE_REGION_MPI}});
    }

    tracer* const records_;
    std::uint32_t name_ = 0;
};

/// Whether MPI may block the thread until other processes act. True also for win_post and win_sync,
/// which return at once.
[[nodiscard]] bool waits_for_others(const commtask_op& op) noexcept {
    return operation_of(op.kind).counts == count_shape::none;
}

} // namespace

struct blocking_lane::shared {
    explicit shared(lane_set& lanes) : beside(&lanes) {}

    /// With the mutex. Called with 1 at the start of an operation, since the thread may have to
    /// wait for a core first; with -1 when MPI has completed the operation, or never will. Tells
    /// the lanes whether there is a blocking operation.
    void count_blocking(const commtask_op& op, int by) noexcept {
        if (!waits_for_others(op)) return;
        const bool was_blocked = n_blocking > 0;
        n_blocking += by;
        if (was_blocked != (n_blocking > 0)) count_on_lanes(by);
    }
    void count_on_lanes(int by) noexcept {
        if (beside == nullptr) return;
        for (lane& each : *beside) each.engine.lock.add_blocked_outside(by);
    }

    /// With the mutex.
    void fail_freed(task& which) noexcept { end(which, MPI_ERR_WIN, MPI_ERR_WIN); }
    void end(task& which, int code, int error_class) noexcept {
        which.result.error = code;
        if (code != MPI_SUCCESS) which.result.error_class = error_class;
        ended.push(which);
        has_ended.store(true, std::memory_order_release); // partner of the acquire in take_ended()
    }

    /// Guards the members below. Never locked during an MPI call.
    std::mutex mutex;
    std::condition_variable has_changed;
    task_list waiting;
    /// Null also if the task was abandoned during its MPI call.
    task* running = nullptr;
    task_list ended;
    lane_set* beside;   ///< Null once the object is destroyed.
    int n_blocking = 0; ///< Operations that wait for other processes.
    bool is_in_mpi = false;
    bool is_over = false; ///< The thread ends when it next tests this flag.
    /// The program has freed the window; is_over is set too.
    bool is_freed = false;
    library_thread thread;
    std::atomic<bool> has_ended{false}; ///< A hint, read without the mutex.
};

blocking_lane::blocking_lane(lane_set& beside, std::function<void()> on_start, std::size_t stack_bytes)
    : shared_(std::make_shared<shared>(beside)) {
    shared_->thread.start({.name = "commtask-window", .stack_bytes = stack_bytes},
                          [mine = shared_, begin = std::move(on_start)] {
                              begin();
                              run(mine);
                          });
}

blocking_lane::~blocking_lane() {
    bool is_stuck = false;
    {
        const std::lock_guard guard{shared_->mutex};
        shared_->is_over = true;
        shared_->running = nullptr;
        is_stuck = shared_->is_in_mpi;
        if (shared_->n_blocking > 0) shared_->count_on_lanes(-1);
        shared_->beside = nullptr;
    }
    shared_->has_changed.notify_one();
    if (is_stuck) {
        shared_->thread.detach();
    } else {
        shared_->thread.join();
    }
}

void blocking_lane::window_was_freed() noexcept {
    {
        const std::lock_guard guard{shared_->mutex};
        shared_->is_over = true;
        shared_->is_freed = true;
        if (shared_->running != nullptr) shared_->fail_freed(*std::exchange(shared_->running, nullptr));
        while (task* const next = shared_->waiting.pop()) {
            shared_->count_blocking(next->op, -1);
            shared_->fail_freed(*next);
        }
    }
    shared_->has_changed.notify_one();
}

void blocking_lane::start(task& next) noexcept {
    {
        const std::lock_guard guard{shared_->mutex};
        if (shared_->is_freed) return shared_->fail_freed(next);
        shared_->waiting.push(next);
        shared_->count_blocking(next.op, 1);
    }
    shared_->has_changed.notify_one();
}

task* blocking_lane::take_ended() noexcept {
    // acquire: partner of the release in end(); the mutex orders the rest.
    if (!shared_->has_ended.load(std::memory_order_acquire)) return nullptr;
    const std::lock_guard guard{shared_->mutex};
    task* const taken = shared_->ended.pop();
    if (shared_->ended.is_empty()) shared_->has_ended.store(false, std::memory_order_relaxed);
    return taken;
}

bool blocking_lane::forget(const task& which) noexcept {
    const std::lock_guard guard{shared_->mutex};
    const auto is_it = [&which](const task& each) { return &each == &which; };
    if (shared_->running == &which) {
        shared_->running = nullptr;
        return true;
    }
    if (const task* const waiting = shared_->waiting.take_first(is_it)) {
        shared_->count_blocking(waiting->op, -1);
        return true;
    }
    return shared_->ended.take_first(is_it) != nullptr;
}

void blocking_lane::run(const std::shared_ptr<shared>& mine) noexcept {
    if (tracer* const records = tracer::current()) records->begin_worker(trace::helper_lane);
    std::unique_lock lock{mine->mutex};
    for (;;) {
        if (!mine->is_over && mine->waiting.is_empty()) {
            // The thread that wakes this one is posting. If both share a core, the posting thread
            // continues first.
            const batch_scheduling until_the_submitter_yields;
            mine->has_changed.wait(lock, [&mine] { return mine->is_over || !mine->waiting.is_empty(); });
        }
        if (mine->is_over) return;
        mine->running = mine->waiting.pop();
        const commtask_op op = mine->running->op;
        mine->is_in_mpi = true;
        lock.unlock();
        int code = MPI_SUCCESS;
        int error_class = MPI_SUCCESS;
        {
            const errors_return errors;
            const traced_call shown{op};
            code = errors.code_of(call_one_sided(op));
            if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
        }
        lock.lock();
        mine->is_in_mpi = false;
        mine->count_blocking(op, -1);
        task* const ended = mine->running;
        mine->running = nullptr;
        if (ended != nullptr) mine->end(*ended, code, error_class);
    }
}

} // namespace commtask::detail
