// SPDX-License-Identifier: Apache-2.0
//
// The list is printed once per stall time for as long as nothing moves. The watchdog never touches a task: what it prints
// about a driver that is stuck comes from two numbers that the driver leaves behind.
#include "watchdog.hpp"

#include "speech.hpp"

#include <chrono>

namespace commtask::detail {

watchdog::watchdog(lane& watched, double stall_s, kind_name_function kind_name)
    : lane_(watched), kind_name_(kind_name), stall_ns_(static_cast<std::uint64_t>(stall_s * 1e9)) {
    if (stall_ns_ > 0) thread_ = std::thread([this] { run(); });
}

void watchdog::stop() noexcept {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard guard{mutex_};
        must_stop_ = true;
    }
    stopped_.notify_all();
    thread_.join();
}

void watchdog::run() {
    const auto period = std::chrono::nanoseconds(stall_ns_ / 4 + 1);
    unchanged_since_ns_ = now_ns();
    std::unique_lock lock{mutex_};
    while (!stopped_.wait_for(lock, period, [this] { return must_stop_; })) look();
}

void watchdog::look() {
    const std::uint64_t now = now_ns();
    const std::uint64_t ended = lane_.approx_ended();
    if (ended != last_ended_ || lane_.approx_live() == 0) {
        last_ended_ = ended;
        unchanged_since_ns_ = now;
        was_reported_ = false;
        return;
    }
    if (now - unchanged_since_ns_ < stall_ns_) return;
    if (was_reported_ && lane_.approx_passes() == last_passes_) {
        const int kind = lane_.approx_starting_kind();
        const std::string_view what = kind == 0 ? "a callback or a poll" : kind_name_(kind);
        say("the worker has been inside one call (%.*s) for %.1f s; no other task can move",
            static_cast<int>(what.size()), what.data(), static_cast<double>(now - unchanged_since_ns_) * 1e-9);
    }
    last_passes_ = lane_.approx_passes();
    lane_.request_report();
    was_reported_ = true;
    unchanged_since_ns_ = now;
}

} // namespace commtask::detail
