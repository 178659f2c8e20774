// SPDX-License-Identifier: Apache-2.0
//
// The loop of one direction: deliver what is due, take what has come, sleep until either happens. It never spins:
// the ranks have two cores and the wire must not cost them one.
#include "delayed/forwarder.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>

#include "delayed/tap.h"
#include "harness/clock.h"

namespace commtask::bench {
namespace {

constexpr std::size_t header_bytes = tap_header_bytes;
constexpr std::size_t largest_frame_bytes = header_bytes + 14 + 65536;
constexpr std::size_t queue_bytes = std::size_t{64} << 20U;

} // namespace

forwarder::forwarder(const wire_settings& settings, int from_tap, int to_tap)
    : link_(static_cast<std::int64_t>(settings.delay_us * 1000), settings.rate_mb_per_s),
      queue_(queue_bytes, largest_frame_bytes), from_tap_(from_tap), to_tap_(to_tap),
      stop_event_(eventfd(0, EFD_CLOEXEC)) {
    if (stop_event_ < 0) {
        throw std::system_error(errno, std::generic_category(), "eventfd");
    }
    seen_.late_us.reserve(direction_seen::most_late_samples);
}

forwarder::~forwarder() {
    stop();
    close(stop_event_);
}

void forwarder::start() {
    thread_ = std::thread([this] { run(); });
}

void forwarder::stop() {
    if (!thread_.joinable()) {
        return;
    }
    eventfd_write(stop_event_, 1);
    thread_.join();
}

void forwarder::run() {
    const sched_param priority{.sched_priority = 10};
    seen_.is_real_time = pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority) == 0;
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    pollfd stop{.fd = stop_event_, .events = POLLIN, .revents = 0};
    while (poll(&stop, 1, 0) == 0) {
        deliver_due_frames();
        if (!take_frame()) {
            wait_for_work();
        }
    }
    seen_.busy_s = static_cast<double>(now_ns(CLOCK_THREAD_CPUTIME_ID)) * 1e-9;
}

bool forwarder::take_frame() {
    const std::span<std::byte> place = queue_.free_place();
    if (place.empty()) {
        return false;
    }
    const ssize_t size = read(from_tap_, place.data(), place.size());
    if (size <= static_cast<ssize_t>(header_bytes)) {
        return false;
    }
    const auto size_bytes = static_cast<std::size_t>(size);
    queue_.push(link_.arrival_ns(now_ns(), size_bytes - header_bytes), size_bytes);
    return true;
}

void forwarder::deliver_due_frames() {
    while (!queue_.is_empty()) {
        const frame_queue::entry frame = queue_.front();
        const std::int64_t now = now_ns();
        if (frame.arrival_ns > now) {
            return;
        }
        const std::span<const std::byte> bytes = queue_.bytes_of(frame);
        if (write(to_tap_, bytes.data(), bytes.size()) < 0) {
            ++seen_.n_dropped;
        }
        seen_.n_bytes += bytes.size() - header_bytes;
        seen_.note(frame.arrival_ns, now);
        queue_.pop();
    }
}

void forwarder::wait_for_work() {
    const bool has_room = !queue_.free_place().empty();
    std::array<pollfd, 2> watched{pollfd{.fd = stop_event_, .events = POLLIN, .revents = 0},
                                  pollfd{.fd = has_room ? from_tap_ : -1, .events = POLLIN, .revents = 0}};
    if (queue_.is_empty()) {
        ppoll(watched.data(), watched.size(), nullptr, nullptr);
        return;
    }
    const std::int64_t left_ns = std::max<std::int64_t>(queue_.front().arrival_ns - now_ns(), 0);
    const timespec timeout{.tv_sec = left_ns / ns_per_s, .tv_nsec = left_ns % ns_per_s};
    ppoll(watched.data(), watched.size(), &timeout, nullptr);
}

} // namespace commtask::bench
