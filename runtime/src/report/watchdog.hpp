// SPDX-License-Identifier: Apache-2.0
//
// Prints which tasks a hanging program waits for. A thread checks a few times per stall time
// whether any task has ended. If none has, it asks the progress threads for the list of incomplete
// tasks. If a progress thread does not reply, the watchdog names the operation in which that thread
// is stuck. A signal requests the same list. Another signal, or a file while it exists, pauses the
// workers. Without a stall time the thread checks four times a minute, and mentions
// COMMTASK_STALL_S once.
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
    std::uint64_t stall_ns = 0; ///< 0: no lists are printed.
    /// Without lists: after this time COMMTASK_STALL_S is mentioned once; 0: never.
    std::uint64_t hint_ns = 60'000'000'000;
    int signal = 0; ///< The signal that requests a list; 0: none.
    /// The signal that pauses the workers, and resumes them the next time; 0: none.
    int pause_signal = 0;
    std::string pause_file{}; ///< While this file exists, the workers are paused; empty: none.
    bool warns = false;       ///< Whether each pause and resumption is printed.
    std::string_view (*kind_name)(int) = nullptr;
};

class watchdog {
public:
    /// Starts no thread if the settings need none. Only one watchdog of a process at a time may
    /// have a signal.
    watchdog(lane_set& watched, const watchdog_settings& settings);
    watchdog(const watchdog&) = delete;
    watchdog& operator=(const watchdog&) = delete;
    ~watchdog() { stop(); }

    /// Ends the thread.
    void stop() noexcept;

private:
    void run();
    void check();
    void handle_list_signal();
    void set_paused(bool& has_paused, bool is_wanted, const char* by);
    void check_pause_file();
    void report_current_call(const lane& stuck, double seconds) const;

    lane_set& lanes_;
    const watchdog_settings settings_;
    std::atomic<bool> must_stop_{false};
    struct sigaction before_{};        ///< The process's earlier action for the signal.
    struct sigaction before_pauses_{}; ///< The process's earlier action for the pause signal.
    std::uint64_t last_ended_ = 0;
    std::vector<std::uint64_t> last_progress_calls_; ///< By lane.
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
