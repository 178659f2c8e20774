// SPDX-License-Identifier: Apache-2.0
//
// Says what a program waits for while it hangs. A thread that looks a few times per stall time whether any task has ended;
// if none has, the driver is asked for the list of unfinished tasks, and if the driver itself does not answer, the
// operation that it is stuck in is named. The same on a signal. On another signal, or as long as a file is there, the workers are
// paused. Without a stall time it looks four times a minute, and tells once of a way to know more.
#pragma once

#include "base/library_thread.hpp"
#include "core/lane_set.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace commtask::detail {

struct watchdog_settings {
    std::uint64_t stall_ns = 0;             ///< 0: no lists.
    std::uint64_t hint_ns = 60'000'000'000; ///< Without lists: when to tell of them, once; 0: never.
    int signal = 0;                         ///< On which a list is written; 0: none.
    int pause_signal = 0;                   ///< On which the workers pause, and on the next one resume; 0: none.
    std::string pause_file{};               ///< As long as it is there, the workers are paused; empty: none.
    bool warns = false;                     ///< Says when they do.
    std::string_view (*kind_name)(int) = nullptr;
};

class watchdog {
public:
    /// Nothing to watch for: starts no thread. One of a process at a time may have a signal.
    watchdog(lane_set& watched, const watchdog_settings& settings);
    watchdog(const watchdog&) = delete;
    watchdog& operator=(const watchdog&) = delete;
    ~watchdog() { stop(); }

    /// Ends the thread.
    void stop() noexcept;

private:
    void run();
    void look();
    void answer_signal();
    void set_paused(bool& has_paused, bool is_wanted, const char* by);
    void look_for_pause_file();
    void say_what_it_is_in(const lane& stuck, double seconds) const;

    lane_set& lanes_;
    const watchdog_settings settings_;
    std::atomic<bool> must_stop_{false};
    struct sigaction before_{};        ///< What the process did on the signal.
    struct sigaction before_pauses_{}; ///< And on the other.
    std::uint64_t last_ended_ = 0;
    std::vector<std::uint64_t> last_passes_; ///< By lane.
    std::uint64_t unchanged_since_ns_ = 0;
    std::uint32_t signals_seen_ = 0;
    std::uint32_t pauses_seen_ = 0;
    bool has_signal_paused_ = false;
    bool has_file_paused_ = false;
    bool was_reported_ = false;
    bool was_hinted_ = false;
    library_thread thread_;
};

} // namespace commtask::detail
