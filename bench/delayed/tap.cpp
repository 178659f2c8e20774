// SPDX-License-Identifier: Apache-2.0
//
// Namespaces and TAP devices by system calls. TCP inside is tuned as on a network that programs own: no slow start,
// neither at first nor after a pause, and windows that a long wire can fill. Otherwise the setting would measure the
// behaviour of TCP on the open internet and not a network with the given delay and rate.
#include "delayed/tap.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

namespace commtask::bench {
namespace {

constexpr int mtu_bytes = 9000;
constexpr int transmit_queue_frames = 10000;

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

void check(int result, const char* what) {
    if (result < 0) {
        fail(what);
    }
}

descriptor open_this_namespace() {
    descriptor fd(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    check(fd.get(), "open /proc/thread-self/ns/net");
    return fd;
}

/// Brings the calling thread back to its namespace, whatever happens in between.
class namespace_scope {
public:
    namespace_scope() : before_(open_this_namespace()) {
        check(unshare(CLONE_NEWNET), "unshare the network namespace");
    }
    ~namespace_scope() { setns(before_.get(), CLONE_NEWNET); }
    namespace_scope(const namespace_scope&) = delete;
    namespace_scope& operator=(const namespace_scope&) = delete;

private:
    descriptor before_;
};

descriptor open_tap() {
    descriptor tap(open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
    check(tap.get(), "open /dev/net/tun");
    ifreq request{};
    std::strncpy(request.ifr_name, device_name, IFNAMSIZ - 1);
    request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
    check(ioctl(tap.get(), TUNSETIFF, &request), "TUNSETIFF");
    int size = tap_header_bytes;
    check(ioctl(tap.get(), TUNSETVNETHDRSZ, &size), "TUNSETVNETHDRSZ");
    check(ioctl(tap.get(), TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4), "TUNSETOFFLOAD");
    return tap;
}

ifreq request_for(const char* device) {
    ifreq request{};
    std::strncpy(request.ifr_name, device, IFNAMSIZ - 1);
    return request;
}

void bring_up(int socket_fd, const char* device) {
    ifreq request = request_for(device);
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    check(ioctl(socket_fd, SIOCSIFFLAGS, &request), "SIOCSIFFLAGS");
}

void set_address(int socket_fd, unsigned long what, std::uint32_t address) {
    ifreq request = request_for(device_name);
    sockaddr_in value{};
    value.sin_family = AF_INET;
    value.sin_addr.s_addr = htonl(address);
    std::memcpy(&request.ifr_addr, &value, sizeof value);
    check(ioctl(socket_fd, what, &request), "set the address of the TAP device");
}

void configure_device(int index) {
    const descriptor control(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    check(control.get(), "socket");
    ifreq request = request_for(device_name);
    request.ifr_mtu = mtu_bytes;
    check(ioctl(control.get(), SIOCSIFMTU, &request), "SIOCSIFMTU");
    request.ifr_qlen = transmit_queue_frames;
    check(ioctl(control.get(), SIOCSIFTXQLEN, &request), "SIOCSIFTXQLEN");
    constexpr std::uint32_t network = 0x0a4d0000; // 10.77.0.0
    set_address(control.get(), SIOCSIFADDR, network + 1 + static_cast<std::uint32_t>(index));
    set_address(control.get(), SIOCSIFNETMASK, 0xffffff00);
    bring_up(control.get(), "lo");
    bring_up(control.get(), device_name);
}

/// Settings of this namespace alone. One that this kernel does not have is left as it is.
void tune_tcp() {
    const std::vector<std::pair<const char*, const char*>> settings{
        {"ipv4/tcp_slow_start_after_idle", "0"},     {"ipv4/tcp_congestion_control", "reno"},
        {"ipv4/tcp_no_metrics_save", "1"},           {"ipv4/tcp_wmem", "65536 4194304 33554432"},
        {"ipv4/tcp_rmem", "65536 8388608 33554432"}, {"ipv6/conf/all/disable_ipv6", "1"}};
    for (const auto& [name, value] : settings) {
        std::ofstream file(std::string("/proc/sys/net/") + name);
        file << value;
    }
}

/// Gives the route large first windows and prompt acknowledgements; only netlink can, so `ip` does it.
void tune_route(int index) {
    const std::string source = "10.77.0." + std::to_string(index + 1);
    const pid_t child = fork();
    check(child, "fork");
    if (child == 0) {
        execlp("ip", "ip", "route", "replace", "10.77.0.0/24", "dev", device_name, "src", source.c_str(), "initcwnd",
               "1000", "initrwnd", "1000", "quickack", "1", static_cast<char*>(nullptr));
        _exit(127);
    }
    int status = 0;
    check(waitpid(child, &status, 0), "waitpid");
    if (status != 0) {
        errno = ENOENT;
        fail("ip route (package iproute2)");
    }
}

} // namespace

descriptor::~descriptor() {
    if (fd_ >= 0) {
        close(fd_);
    }
}

descriptor& descriptor::operator=(descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
}

std::string why_no_wire() {
    if (geteuid() != 0) {
        return "needs root: it makes network namespaces and TAP devices";
    }
    if (access("/dev/net/tun", R_OK | W_OK) != 0) {
        return "needs /dev/net/tun, which is not there";
    }
    try {
        const namespace_scope scope;
        const descriptor tap = open_tap();
    } catch (const std::system_error& error) {
        return std::string("cannot make a TAP device in a network namespace: ") + error.what();
    }
    return "";
}

wire_end make_wire_end(int index) {
    const namespace_scope scope;
    wire_end end{.network_namespace = open_this_namespace(), .tap = open_tap()};
    tune_tcp();
    configure_device(index);
    tune_route(index);
    return end;
}

} // namespace commtask::bench
