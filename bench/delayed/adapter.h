// SPDX-License-Identifier: Apache-2.0
//
// One rank's adapter: what leaves it, in the order in which it was sent, and what it pulls in. It only knows when the bytes
// will have passed, and hands them to MPI then; which calls pass it, emulated_link.cpp and rendezvous.cpp say.
#pragma once

#include <mpi.h>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "delayed/link_model.h"
#include "harness/clock.h"

namespace commtask::bench {

inline void sleep_until(std::int64_t moment_ns) {
    const timespec moment{.tv_sec = moment_ns / ns_per_s, .tv_nsec = moment_ns % ns_per_s};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nullptr) == EINTR) {}
}

/// The same moment for a condition variable: libstdc++'s steady clock is CLOCK_MONOTONIC.
inline std::chrono::steady_clock::time_point moment(std::int64_t moment_ns) {
    return std::chrono::steady_clock::time_point{std::chrono::nanoseconds{moment_ns}};
}

/// Something on its way: what hands it to MPI, and the request that MPI then gives. Owned by the link until it is started
/// and by the program's request until that is freed.
struct transfer {
    enum class state {
        waiting,   ///< On the link -> its thread (started), or the program (abandoned).
        started,   ///< `inner` is valid; the link's thread does not touch this any more. Whoever tests ends it.
        abandoned, ///< The program has freed its request -> the link's thread starts it and frees `inner`.
    };
    std::function<int(MPI_Request*)> start;
    std::int64_t due_ns = 0;
    MPI_Request outer = MPI_REQUEST_NULL; ///< The generalized request that the program holds.
    MPI_Request inner = MPI_REQUEST_NULL;
    std::atomic<state> now{state::waiting};
    bool has_ended = false;
    int result = MPI_SUCCESS; ///< Of starting it, then of all of it.
};

class adapter {
public:
    struct settings {
        double rate_mb_per_s;
        double delay_us;
        double gap_us;
        double eager_bytes;
    };
    explicit adapter(const settings& given)
        : model_(static_cast<std::int64_t>(given.delay_us * 1e3), given.rate_mb_per_s), pulled_(model_),
          gaps_(static_cast<std::int64_t>(given.gap_us * 1e3)), eager_bytes_(given.eager_bytes) {
        thread_ = std::thread([this] { run(); });
    }
    adapter(const adapter&) = delete;
    adapter& operator=(const adapter&) = delete;

    /// What a call sends: so many messages, of so many bytes together, by one context.
    struct traffic {
        std::size_t size_bytes;
        int context;
        int n_messages = 1;
    };

    /// Occupies the link and sleeps until the last byte has passed.
    void pass(const traffic& what) {
        std::unique_lock hold(guard_);
        const std::int64_t due_ns = arrival(what);
        hold.unlock();
        sleep_until(due_ns);
    }

    /// Occupies the link; `one` is started when the last byte has passed.
    void send(const traffic& what, std::shared_ptr<transfer> one) {
        const std::lock_guard hold(guard_);
        one->due_ns = arrival(what);
        put(std::move(one));
    }

    [[nodiscard]] bool goes_by_rendezvous(std::size_t size_bytes) const {
        return static_cast<double>(size_bytes) > eager_bytes_;
    }

    /// Occupies this rank's receiving side from now on. @return when the last byte will be there
    [[nodiscard]] std::int64_t pull(std::size_t size_bytes) {
        const std::lock_guard hold(guard_);
        return pulled_.arrival_ns(now_ns(), size_bytes);
    }

    /// Frees a request that MPI has under way. MPI calls free functions of requests where it must not be called.
    void discard(MPI_Request request) {
        auto one = std::make_shared<transfer>();
        one->start = [request](MPI_Request* inner) {
            *inner = request;
            return MPI_SUCCESS;
        };
        one->now = transfer::state::abandoned;
        const std::lock_guard hold(guard_);
        put(std::move(one));
    }

    /// Ends the thread after it has started what was sent. Once; must be called before the end.
    void stop() {
        {
            const std::lock_guard hold(guard_);
            is_stopping_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }

private:
    std::int64_t arrival(const traffic& what) {
        return gaps_.leaves_ns(what.context, model_.arrival_ns(now_ns(), what.size_bytes), what.n_messages);
    }

    /// Those of one context come out in their order: what is due at the same time, in the order of the calls.
    void put(std::shared_ptr<transfer> one) {
        const std::int64_t due_ns = one->due_ns;
        const bool is_first = waiting_.empty() || due_ns < waiting_.begin()->first;
        waiting_.emplace(due_ns, std::move(one));
        if (is_first) changed_.notify_one();
    }

    void run() {
        // If it had to wait for its turn among the threads that compute, the link would be slower than it is set.
        setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), -20);
        prctl(PR_SET_TIMERSLACK, 1UL); // ns; by default a sleep takes 50 us longer
        std::unique_lock hold(guard_);
        for (;;) {
            changed_.wait(hold, [&] { return is_stopping_ || !waiting_.empty(); });
            if (waiting_.empty()) {
                return;
            }
            // Another context may send what is due before the first: it wakes this thread.
            if (const std::int64_t due_ns = waiting_.begin()->first; due_ns > now_ns()) {
                changed_.wait_until(hold, moment(due_ns), [&] { return waiting_.begin()->first < due_ns; });
                if (waiting_.begin()->first > now_ns()) continue;
            }
            const std::shared_ptr<transfer> one = std::move(waiting_.begin()->second);
            waiting_.erase(waiting_.begin());
            hold.unlock();
            start(*one);
            hold.lock();
        }
    }

    static void start(transfer& one) {
        one.result = one.start(&one.inner);
        auto expected = transfer::state::waiting;
        // acq_rel: with the acquire in poll_transfer, which reads `inner` and `result`; and with free_transfer.
        if (!one.now.compare_exchange_strong(expected, transfer::state::started, std::memory_order_acq_rel) &&
            one.inner != MPI_REQUEST_NULL) {
            PMPI_Request_free(&one.inner);
        }
    }

    std::mutex guard_;
    std::condition_variable changed_;
    link_model model_;
    link_model pulled_;
    context_gaps gaps_;
    const double eager_bytes_;
    std::multimap<std::int64_t, std::shared_ptr<transfer>> waiting_; ///< By when they are due.
    bool is_stopping_ = false;
    std::thread thread_;
};

/// From MPI_Init to MPI_Finalize; a preloaded library has no other place to keep it. A program that ends without
/// MPI_Finalize leaves it: its destructor would wait for a thread that may be inside MPI.
inline adapter* the_adapter = nullptr;

/// The cancel function of requests that cannot be cancelled.
inline int ignore_cancel(void* /*state*/, int /*is_complete*/) { return MPI_SUCCESS; }

inline bool is_intercommunicator(MPI_Comm comm) {
    int is_inter = 0;
    PMPI_Comm_test_inter(comm, &is_inter);
    return is_inter != 0;
}

} // namespace commtask::bench
