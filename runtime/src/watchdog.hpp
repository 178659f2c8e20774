// SPDX-License-Identifier: Apache-2.0
//
// Says what a program waits for while it hangs. A thread that looks a few times per stall time whether any task has ended;
// if none has, the driver is asked for the list of unfinished tasks, and if the driver itself does not answer, the
// operation that it is stuck in is named. Runs only with COMMTASK_STALL_S.
#pragma once

#include "lane.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <thread>

namespace commtask::detail {

class watchdog {
public:
    using kind_name_function = std::string_view (*)(int kind);

    /// `stall_s` 0: does nothing, starts no thread.
    watchdog(lane& watched, double stall_s, kind_name_function kind_name);
    watchdog(const watchdog&) = delete;
    watchdog& operator=(const watchdog&) = delete;
    ~watchdog() { stop(); }

    /// Ends the thread.
    void stop() noexcept;

private:
    void run();
    void look();

    lane& lane_;
    const kind_name_function kind_name_;
    const std::uint64_t stall_ns_;
    std::mutex mutex_;
    std::condition_variable stopped_;
    bool must_stop_ = false;
    std::uint64_t last_ended_ = 0;
    std::uint64_t last_passes_ = 0;
    std::uint64_t unchanged_since_ns_ = 0;
    bool was_reported_ = false;
    std::thread thread_;
};

} // namespace commtask::detail
