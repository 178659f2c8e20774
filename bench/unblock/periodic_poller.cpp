// SPDX-License-Identifier: Apache-2.0
//
// The polling thread and the sending one. The moment of completion is read right after the self-send has returned: MPI
// has matched it with the waiting receive by then, so any test would find it complete.
#include "unblock/periodic_poller.h"

#include <sys/prctl.h>

#include <algorithm>
#include <utility>

#include "harness/clock.h"
#include "harness/cores.h"

namespace commtask::bench {
namespace {

constexpr int tag = 77;
constexpr std::chrono::microseconds margin{50};

/// Several periods, since a sample ends, and the next begins, just after a poll: a moment within one period would not
/// be random to the poller.
std::chrono::nanoseconds range_of_moments(std::chrono::microseconds period) {
    return std::max<std::chrono::nanoseconds>(3 * period, std::chrono::milliseconds(1));
}

/// A sleep then ends when it should and not up to 50 us later: the period is the one that is named.
void sleep_exactly_from_now_on() { prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); }

} // namespace

periodic_poller::periodic_poller(std::chrono::microseconds period, int core) : period_(period) {
    poller_ = std::thread([this, core] {
        pin_this_thread(core);
        sleep_exactly_from_now_on();
        poll();
    });
    sender_ = std::thread([this, core] {
        pin_this_thread(core);
        sleep_exactly_from_now_on();
        send_when_told();
    });
}

periodic_poller::~periodic_poller() {
    is_over_.store(true);
    n_sends_.fetch_add(1);
    n_sends_.notify_one();
    sender_.join();
    poller_.join();
}

void periodic_poller::receive(std::function<void()> on_complete) {
    const std::lock_guard guard(lock_);
    MPI_Irecv(&payload_, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &request_);
    on_complete_ = std::move(on_complete);
}

void periodic_poller::send_soon() {
    n_sends_.fetch_add(1);
    n_sends_.notify_one();
}

void periodic_poller::poll() {
    while (!is_over_.load()) {
        std::function<void()> call;
        {
            const std::lock_guard guard(lock_);
            int is_complete = 0;
            if (request_ != MPI_REQUEST_NULL) {
                MPI_Test(&request_, &is_complete, MPI_STATUS_IGNORE);
            }
            if (is_complete != 0) {
                call = std::exchange(on_complete_, nullptr);
            }
        }
        if (call) {
            call();
        }
        std::this_thread::sleep_for(period_);
    }
}

void periodic_poller::send_when_told() {
    for (std::uint32_t seen = 0;; ++seen) {
        n_sends_.wait(seen);
        if (is_over_.load()) {
            return;
        }
        std::uniform_int_distribution<std::int64_t> moment(0, range_of_moments(period_).count());
        std::this_thread::sleep_for(margin + std::chrono::nanoseconds(moment(random_)));
        const std::lock_guard guard(lock_);
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(&payload_, 0, MPI_INT, 0, tag, MPI_COMM_SELF, &request);
        completed_at_ = ticks();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

} // namespace commtask::bench
