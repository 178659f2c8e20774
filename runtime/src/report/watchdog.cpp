// SPDX-License-Identifier: Apache-2.0
//
// While no task ends, the list is printed once per stall time. The watchdog never accesses a task:
// two numbers that a progress thread stores name the call in which it is stuck. A signal handler
// only counts the signal and wakes the watchdog.
#include "report/watchdog.hpp"

#include "base/log.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <unistd.h>

namespace commtask::detail {
namespace {

// Global, since the signal handler is.
std::atomic<std::uint32_t> n_signals{0};
std::atomic<std::uint32_t> n_pause_signals{0};
std::atomic<std::uint32_t> n_wakeups{0};

void wake_watchdog() noexcept {
    n_wakeups.fetch_add(1, std::memory_order_seq_cst);
    wake_sleepers(n_wakeups);
}

template <std::atomic<std::uint32_t>& Counter>
void on_signal(int /*number*/) {
    const int before = errno;
    Counter.fetch_add(1, std::memory_order_seq_cst);
    wake_watchdog();
    errno = before;
}

void listen_to(int signal, void (*handler)(int), struct sigaction& before) noexcept {
    if (signal == 0) return;
    struct sigaction listening{};
    listening.sa_handler = handler;
    listening.sa_flags = SA_RESTART;
    sigemptyset(&listening.sa_mask);
    sigaction(signal, &listening, &before);
}

} // namespace

watchdog::watchdog(lane_set& watched, const watchdog_settings& settings)
    : lanes_(watched), settings_(settings), last_progress_calls_(watched.size(), 0) {
    const bool has_signals = settings.signal != 0 || settings.pause_signal != 0;
    if (settings.stall_ns == 0 && settings.hint_ns == 0 && !has_signals && settings.pause_file.empty()) return;
    // The thread may start after the first signal.
    signals_seen_ = n_signals.load(std::memory_order_seq_cst);
    pauses_seen_ = n_pause_signals.load(std::memory_order_seq_cst);
    library_thread::plan plan{.name = "commtask-stalls"};
    for (const int signal : {settings.signal, settings.pause_signal}) {
        // All of the program's threads may have blocked the signal.
        if (signal != 0) sigaddset(&plan.signals, signal);
    }
    thread_.start(plan, [this] { run(); });
    listen_to(settings.signal, &on_signal<n_signals>, before_);
    listen_to(settings.pause_signal, &on_signal<n_pause_signals>, before_pauses_);
}

void watchdog::stop() noexcept {
    if (!thread_.joinable()) return;
    if (settings_.signal != 0) sigaction(settings_.signal, &before_, nullptr);
    if (settings_.pause_signal != 0) sigaction(settings_.pause_signal, &before_pauses_, nullptr);
    must_stop_.store(true, std::memory_order_seq_cst);
    wake_watchdog();
    thread_.join();
}

void watchdog::run() {
    constexpr std::uint64_t seldom_ns = 86'400'000'000'000;
    const std::uint64_t shortest_ns = settings_.stall_ns > 0 ? settings_.stall_ns : settings_.hint_ns;
    const std::uint64_t check_interval_ns = (shortest_ns > 0 ? shortest_ns : seldom_ns) / 4 + 1;
    constexpr std::uint64_t check_file_ns = 250'000'000;
    const auto period_ns = static_cast<std::int64_t>(
        settings_.pause_file.empty() ? check_interval_ns : std::min(check_interval_ns, check_file_ns));
    std::uint64_t last_check_ns = now_ns();
    unchanged_since_ns_ = now_ns();
    for (;;) {
        const std::uint32_t wakeups = n_wakeups.load(std::memory_order_seq_cst);
        const std::uint32_t signals = n_signals.load(std::memory_order_seq_cst);
        if (must_stop_.load(std::memory_order_seq_cst)) return;
        if (settings_.signal != 0 && signals != signals_seen_) {
            signals_seen_ = signals;
            handle_list_signal();
            continue;
        }
        if (settings_.pause_signal != 0 && n_pause_signals.load(std::memory_order_seq_cst) != pauses_seen_) {
            ++pauses_seen_;
            set_paused(has_signal_paused_, !has_signal_paused_, "a signal");
            continue;
        }
        if (!settings_.pause_file.empty()) check_pause_file();
        sleep_while_equal(n_wakeups, wakeups, period_ns);
        if (now_ns() - last_check_ns < check_interval_ns / 2) continue;
        last_check_ns = now_ns();
        check();
    }
}

void watchdog::check() {
    const std::uint64_t now = now_ns();
    const std::uint64_t ended = lanes_.approx_ended();
    const std::size_t n_unfinished = lanes_.approx_unfinished();
    if (ended != last_ended_ || n_unfinished == 0) {
        last_ended_ = ended;
        unchanged_since_ns_ = now;
        was_reported_ = false;
        return;
    }
    const std::uint64_t quiet_ns = now - unchanged_since_ns_;
    if (settings_.stall_ns == 0) {
        if (settings_.hint_ns == 0 || was_hinted_ || quiet_ns < settings_.hint_ns) return;
        was_hinted_ = true;
        say("no task has ended for %.0f s, and %zu are incomplete. If this is unexpected, set COMMTASK_STALL_S=10 to "
            "list them and what they wait for.",
            static_cast<double>(quiet_ns) * 1e-9, n_unfinished);
        return;
    }
    if (quiet_ns < settings_.stall_ns) return;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        const std::uint64_t passes = lanes_[i].engine.approx_progress_calls();
        const bool stands_still = std::exchange(last_progress_calls_[i], passes) == passes;
        if (was_reported_ && stands_still && lanes_[i].requests.is_list_due()) {
            report_current_call(lanes_[i], static_cast<double>(quiet_ns) * 1e-9);
        }
    }
    lanes_.request_reports("no task has ended for a while");
    was_reported_ = true;
    unchanged_since_ns_ = now;
}

void watchdog::handle_list_signal() {
    constexpr std::uint64_t patience_ns = 1'000'000'000;
    constexpr std::int64_t pause_ns = 10'000'000;
    const std::uint64_t begin_ns = now_ns();
    lanes_.request_reports("requested by a signal");
    while (lanes_.are_reports_due() && !must_stop_.load(std::memory_order_relaxed)) {
        if (now_ns() - begin_ns >= patience_ns) {
            for (const lane& each : lanes_) {
                if (each.requests.is_list_due()) report_current_call(each, static_cast<double>(patience_ns) * 1e-9);
            }
            return;
        }
        const std::atomic<std::uint32_t> nobody{0};
        sleep_while_equal(nobody, 0, pause_ns);
    }
}

void watchdog::set_paused(bool& has_paused, bool is_wanted, const char* by) {
    if (has_paused == is_wanted) return;
    has_paused = is_wanted;
    if (is_wanted) {
        lanes_.pause(pauser::user);
    } else {
        static_cast<void>(lanes_.resume(pauser::user));
    }
    if (settings_.warns) say("the workers are %s by %s", is_wanted ? "paused" : "resumed", by);
}

void watchdog::check_pause_file() {
    set_paused(has_file_paused_, access(settings_.pause_file.c_str(), F_OK) == 0, "the file of COMMTASK_PAUSE_FILE");
}

void watchdog::report_current_call(const lane& stuck, double seconds) const {
    const int kind = stuck.engine.approx_starting_kind();
    const std::string_view what =
        kind == 0 || settings_.kind_name == nullptr ? "a callback or a poll" : settings_.kind_name(kind);
    say("%s has been inside one call (%.*s) for %.1f s; no other task of its lane can make progress",
        stuck.worker_text().data(), static_cast<int>(what.size()), what.data(), seconds);
}

} // namespace commtask::detail
