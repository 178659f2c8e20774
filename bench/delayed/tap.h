// SPDX-License-Identifier: Apache-2.0
//
// A network namespace without a name, with one TAP device in it. Nothing outlives the process: the kernel removes
// namespace and device when the last descriptor closes, so there is nothing to clean up and nothing to mix up with
// what others made, even after SIGKILL.
#pragma once

#include <string>

namespace commtask::bench {

/// A descriptor that closes itself.
class descriptor {
public:
    explicit descriptor(int fd = -1) : fd_(fd) {}
    ~descriptor();
    descriptor(descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
    descriptor& operator=(descriptor&& other) noexcept;
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    [[nodiscard]] int get() const { return fd_; }

private:
    int fd_;
};

/// One end of the wire.
struct wire_end {
    descriptor network_namespace;
    descriptor tap; ///< Non-blocking; a frame is read or written with a virtio header of 12 bytes in front.
};

/// In front of every frame: a `virtio_net_hdr_v1`, by which large frames pass whole and checksums are left undone.
inline constexpr int tap_header_bytes = 12;

/// The device's name inside every namespace.
inline constexpr const char* device_name = "wire0";

/// Why a wire cannot be made here (no root, no /dev/net/tun, no namespaces), in one sentence; empty if it can.
[[nodiscard]] std::string why_no_wire();

/// Makes namespace number `index` (0 or 1) with address 10.77.0.(index+1)/24. The calling thread is back in its own
/// namespace when this returns. Throws std::system_error.
[[nodiscard]] wire_end make_wire_end(int index);

} // namespace commtask::bench
