// SPDX-License-Identifier: Apache-2.0
//
// The thread that checks graphs with pending operations for cancellation. oneTBB does not report a
// cancellation: without the check, wait_for_all() would wait for messages that may never arrive.
// The thread checks every 1 to 50 ms, which costs an idle graph some microseconds of CPU time per
// second, and blocks while no operation is pending.
#include <commtask/tbb_support.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include <pthread.h>

/// One function that is called periodically.
struct commtask_tbb_watch_s {
    commtask_tbb_check_function check;
    void* argument;
    std::atomic<std::int64_t> n_pending{0};
};

namespace commtask::tbb_detail {
namespace {

class watcher {
public:
    watcher() = default;
    watcher(const watcher&) = delete;
    watcher& operator=(const watcher&) = delete;
    ~watcher() {
        {
            const std::lock_guard guard{lock_};
            is_over_ = true;
        }
        wake_up_.notify_all();
        if (thread_.joinable()) thread_.join();
    }

    void add(std::unique_ptr<commtask_tbb_watch_s> added) {
        const std::lock_guard guard{lock_};
        if (!thread_.joinable()) begin_thread();
        watched_.push_back(std::move(added));
    }

    /// The mutex is locked while a function runs, so no function runs after this call.
    void remove(const commtask_tbb_watch_s* removed) noexcept {
        const std::lock_guard guard{lock_};
        std::erase_if(watched_, [removed](const auto& each) { return each.get() == removed; });
    }

    void begin(commtask_tbb_watch_s& watch) noexcept {
        watch.n_pending.fetch_add(1, std::memory_order_relaxed);
        // seq_cst on both variables: either this thread sees that the watch thread blocks, or the
        // watch thread sees this operation.
        if (n_pending_.fetch_add(1, std::memory_order_seq_cst) == 0 && sleeps_.load(std::memory_order_seq_cst)) {
            {
                const std::lock_guard guard{lock_};
            } // the watch thread is either before its check or in its wait
            wake_up_.notify_one();
        }
    }

    void end(commtask_tbb_watch_s& watch) noexcept {
        watch.n_pending.fetch_sub(1, std::memory_order_relaxed);
        n_pending_.fetch_sub(1, std::memory_order_relaxed);
    }

private:
    // Constants of the front end, chosen by hand, like polls_per_turn of tbb_graph.hpp. They are
    // not in the runtime's tuning.hpp, which this file does not include.
    /// Shorter: more CPU time. Longer: the wait for a canceled graph ends later.
    static constexpr std::chrono::milliseconds shortest_nap{1};
    static constexpr std::chrono::milliseconds longest_nap{50};
    /// Fewer: a program that waits repeatedly wakes this thread each time. More: this thread wakes
    /// up although the program does not wait.
    static constexpr int idle_polls_before_wait = 4;

    /// The thread blocks all signals: signals are for the program's threads.
    void begin_thread() {
        sigset_t all;
        sigset_t before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        try {
            thread_ = std::thread{[this] { run(); }};
        } catch (const std::system_error&) {
            pthread_sigmask(SIG_SETMASK, &before, nullptr);
            throw;
        }
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

    [[nodiscard]] bool has_pending() const noexcept { return n_pending_.load(std::memory_order_seq_cst) != 0; }

    void run() noexcept {
        pthread_setname_np(pthread_self(), "commtask-watch");
        std::unique_lock guard{lock_};
        std::chrono::milliseconds nap = shortest_nap;
        int n_idle_polls = 0;
        while (!is_over_) {
            n_idle_polls = has_pending() ? 0 : n_idle_polls + 1;
            if (n_idle_polls >= idle_polls_before_wait) {
                sleeps_.store(true, std::memory_order_seq_cst);
                wake_up_.wait(guard, [this] { return is_over_ || has_pending(); });
                sleeps_.store(false, std::memory_order_seq_cst);
                nap = shortest_nap;
                n_idle_polls = 0;
            }
            wake_up_.wait_for(guard, nap, [this] { return is_over_; });
            nap = std::min(2 * nap, longest_nap);
            for (const auto& each : watched_) {
                if (!is_over_ && each->n_pending.load(std::memory_order_relaxed) > 0) each->check(each->argument);
            }
        }
    }

    std::mutex lock_; ///< Guards all members but the atomics.
    std::condition_variable wake_up_;
    std::vector<std::unique_ptr<commtask_tbb_watch_s>> watched_;
    bool is_over_ = false;
    std::atomic<std::int64_t> n_pending_{0}; ///< Of all watches.
    std::atomic<bool> sleeps_{false};
    std::thread thread_;
};

/// Created at the first use, destroyed when the process ends. A forked child has no such thread,
/// and the mutex may stay locked there: the child abandons the object, and creates its own if it
/// needs one.
class keeper {
public:
    keeper() {
        pthread_atfork(nullptr, nullptr, [] { the_one.store(nullptr); });
    }
    keeper(const keeper&) = delete;
    keeper& operator=(const keeper&) = delete;
    ~keeper() { delete the_one.exchange(nullptr); }

    [[nodiscard]] watcher& kept() {
        watcher* found = the_one.load();
        if (found != nullptr) return *found;
        auto made = std::make_unique<watcher>();
        if (the_one.compare_exchange_strong(found, made.get())) found = made.release();
        return *found;
    }

private:
    static inline std::atomic<watcher*> the_one{nullptr};
};

watcher& the_watcher() {
    static keeper one;
    return one.kept();
}

} // namespace
} // namespace commtask::tbb_detail

using commtask::tbb_detail::the_watcher;

int commtask_tbb_watch_add(commtask_tbb_check_function check, void* argument, commtask_tbb_watch_t* watch) noexcept {
    if (check == nullptr || watch == nullptr) return COMMTASK_ERR_ARGUMENT;
    try {
        auto added = std::make_unique<commtask_tbb_watch_s>(check, argument);
        commtask_tbb_watch_s* const handle = added.get();
        the_watcher().add(std::move(added));
        *watch = handle;
        return COMMTASK_OK;
    } catch (const std::bad_alloc&) {
        return COMMTASK_ERR_NO_MEMORY;
    } catch (const std::system_error&) {
        return COMMTASK_ERR_NO_MEMORY; // no thread
    }
}

void commtask_tbb_watch_remove(commtask_tbb_watch_t* watch) noexcept {
    if (watch == nullptr || *watch == nullptr) return;
    the_watcher().remove(*watch);
    *watch = nullptr;
}

void commtask_tbb_watch_begin(commtask_tbb_watch_t watch) noexcept { the_watcher().begin(*watch); }

void commtask_tbb_watch_end(commtask_tbb_watch_t watch) noexcept { the_watcher().end(*watch); }
