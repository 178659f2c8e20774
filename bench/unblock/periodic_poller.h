// SPDX-License-Identifier: Apache-2.0
//
// How others notice completions, re-enacted by period: a thread that takes a lock, tests what is outstanding, releases
// the lock and sleeps. mpi-detach sleeps 2 ms, TAMPI polls every 100 us by default. Only the period and the lock are
// re-enacted, in code of our own, with nothing else of either library: the figure is a lower bound of theirs.
// A message is sent by a second thread at a random moment of the period, as a message from outside would come.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <random>
#include <thread>

namespace commtask::bench {

/// All members but the constructor's threads are called by one compute thread. While it exists it makes MPI calls only
/// between receive() and the call of `on_complete`, and those under its lock: MPI_THREAD_SERIALIZED is enough.
class periodic_poller {
public:
    /// Both threads run on `core`.
    periodic_poller(std::chrono::microseconds period, int core);
    ~periodic_poller();
    periodic_poller(const periodic_poller&) = delete;
    periodic_poller& operator=(const periodic_poller&) = delete;

    /// Posts a receive of one int; the poller calls `on_complete` once it finds it complete.
    void receive(std::function<void()> on_complete);

    /// Lets the other thread send the message at a random moment of the next three periods, or of the next 1 ms.
    void send_soon();

    /// Reading of the clock when MPI had the message; valid once `on_complete` has been called.
    [[nodiscard]] std::uint64_t completed_at() const { return completed_at_; }

private:
    void poll();
    void send_when_told();

    std::chrono::microseconds period_;
    std::mutex lock_; ///< Held around every MPI call and around the members up to `on_complete_`.
    MPI_Request request_ = MPI_REQUEST_NULL;
    int payload_ = 0;
    std::function<void()> on_complete_;
    std::uint64_t completed_at_ = 0;
    std::atomic<std::uint32_t> n_sends_{0};
    std::atomic<bool> is_over_{false};
    std::mt19937 random_{1};
    std::thread poller_;
    std::thread sender_;
};

} // namespace commtask::bench
