// SPDX-License-Identifier: Apache-2.0
//
// Ping-pong of one cache line. Odd values are the caller's, even ones the partner's answers; the partner spins only
// between the start and the end of a batch and sleeps in a futex otherwise.
#include "harness/yardstick.h"

#include <atomic>
#include <cstdint>
#include <thread>

#include "harness/clock.h"
#include "harness/cores.h"

namespace commtask::bench {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::uint64_t trips_per_sample = 16;
constexpr std::uint64_t warm_up_trips = 64;

} // namespace

struct yardstick::shared {
    /// The line under test. Alone on two lines, since neighbouring lines are fetched in pairs.
    alignas(2 * line_bytes) std::atomic<std::uint64_t> line{0};
    /// Batches started so far; the partner sleeps on it.
    alignas(2 * line_bytes) std::atomic<std::uint32_t> batch{0};
    /// Round trips of the current batch; zero ends the partner. Written before `batch`.
    std::uint64_t n_trips = 0;
    std::thread partner;

    void answer() {
        // acquire/release pair up with the caller's: they order nothing but the line itself, and cost nothing on x86.
        for (std::uint64_t value = 1; value < 2 * n_trips; value += 2) {
            while (line.load(std::memory_order_acquire) != value) {}
            line.store(value + 1, std::memory_order_release);
        }
    }

    void start(std::uint64_t trips) {
        n_trips = trips;
        line.store(0);
        batch.fetch_add(1);
        batch.notify_one();
    }

    void trip(std::uint64_t index) {
        line.store((2 * index) + 1, std::memory_order_release); // partner's acquire load in answer()
        while (line.load(std::memory_order_acquire) != (2 * index) + 2) {}
    }
};

yardstick::yardstick(int partner_core) : shared_(std::make_unique<shared>()) {
    shared_->partner = std::thread([state = shared_.get(), partner_core] {
        pin_this_thread(partner_core);
        for (std::uint32_t seen = 0;; ++seen) {
            state->batch.wait(seen);
            if (state->n_trips == 0) {
                return;
            }
            state->answer();
        }
    });
}

yardstick::~yardstick() {
    shared_->start(0);
    shared_->partner.join();
}

void yardstick::sample(std::size_t n_samples, std::vector<double>& out) {
    shared_->start(warm_up_trips + (n_samples * trips_per_sample));
    std::uint64_t index = 0;
    while (index < warm_up_trips) {
        shared_->trip(index++);
    }
    for (std::size_t sample = 0; sample < n_samples; ++sample) {
        const std::uint64_t begin = ticks();
        for (std::uint64_t i = 0; i < trips_per_sample; ++i) {
            shared_->trip(index++);
        }
        out.push_back(ns_between(begin, ticks()) / static_cast<double>(trips_per_sample));
    }
}

} // namespace commtask::bench
