// SPDX-License-Identifier: Apache-2.0
//
// Carries frames between two TAP devices as a wire of given delay and rate would, one thread per direction. The
// threads run at real-time priority if the system lets them: they do little, but on cores that ranks keep busy an
// ordinary thread would hand frames over milliseconds late. How late frames were is kept and reported, since a
// wire that is late by more than its delay measures the scheduler.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

#include "delayed/direction_seen.h"
#include "delayed/frame_queue.h"
#include "delayed/link_model.h"

namespace commtask::bench {

struct wire_settings {
    double delay_us = 100;
    double rate_mb_per_s = 1000;
};

/// One direction. start() once, stop() once.
class forwarder {
public:
    /// Reads frames from `from_tap` and writes them to `to_tap`; both stay the caller's and must outlive this.
    forwarder(const wire_settings& settings, int from_tap, int to_tap);
    ~forwarder();
    forwarder(const forwarder&) = delete;
    forwarder& operator=(const forwarder&) = delete;

    void start();
    /// Ends the thread; frames still on their way are lost.
    void stop();

    struct statistics : direction_seen {
        double busy_s = 0; ///< Processor time of the thread.
        bool is_real_time = false;
    };
    /// Valid after stop().
    [[nodiscard]] const statistics& seen() const { return seen_; }

private:
    void run();
    bool take_frame();
    void deliver_due_frames();
    void wait_for_work();

    link_model link_;
    frame_queue queue_;
    int from_tap_;
    int to_tap_;
    int stop_event_ = -1;
    statistics seen_;
    std::thread thread_;
};

} // namespace commtask::bench
