// SPDX-License-Identifier: Apache-2.0
//
// commtask_delayed_enter: moves one rank into its network namespace and becomes the program. The launcher's
// connection is an inherited descriptor, so the rank still reaches its launcher from in there. The rank also gets a
// /sys that shows the devices of its namespace, for UCX looks for networks there; the control groups stay visible,
// since placement reads its cpuset from them. The two ranks do not see each other as neighbours, so each gets its half
// of the cores, as on a node of its own: both would otherwise take the same ones.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

/// In a mount namespace of its own, so that nobody else's /sys changes.
bool show_devices_of_this_namespace() {
    const int control_groups = open("/sys/fs/cgroup", O_PATH | O_CLOEXEC);
    if (unshare(CLONE_NEWNS) != 0 || mount("", "/", nullptr, MS_SLAVE | MS_REC, nullptr) != 0 ||
        mount("sysfs", "/sys", "sysfs", MS_RDONLY, nullptr) != 0) {
        return false;
    }
    if (control_groups >= 0) {
        // A system without control groups is as good: what cannot be mounted back was not there.
        const std::string source = "/proc/self/fd/" + std::to_string(control_groups);
        mount(source.c_str(), "/sys/fs/cgroup", nullptr, MS_BIND | MS_REC, nullptr);
    }
    return true;
}

/// Leaves this rank the first or the second half of the cores it may use; all of them if there is only one.
bool keep_half_of_the_cores(int rank) {
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof mask, &mask) != 0) {
        return false;
    }
    std::vector<int> cores;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &mask)) {
            cores.push_back(core);
        }
    }
    const auto half = static_cast<std::ptrdiff_t>(cores.size() / 2);
    if (half == 0) {
        return true;
    }
    CPU_ZERO(&mask);
    std::for_each(cores.begin() + (rank * half), cores.begin() + ((rank + 1) * half),
                  [&mask](int core) { CPU_SET(core, &mask); });
    return sched_setaffinity(0, sizeof mask, &mask) == 0;
}

} // namespace

int main(int argc, char** argv) {
    const char* rank = std::getenv("PMI_RANK");
    if (rank == nullptr) {
        rank = std::getenv("OMPI_COMM_WORLD_RANK");
    }
    if (argc < 2 || rank == nullptr) {
        std::fprintf(stderr, "commtask_delayed_enter PROGRAM [ARGUMENTS]: to be started by mpiexec\n");
        return EXIT_FAILURE;
    }
    const char* path = std::getenv((std::string("COMMTASK_BENCH_NAMESPACE_") + rank).c_str());
    const int fd = path != nullptr ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0 || setns(fd, CLONE_NEWNET) != 0 || !show_devices_of_this_namespace()) {
        std::perror("commtask_delayed_enter: cannot enter the network namespace");
        return EXIT_FAILURE;
    }
    if (!keep_half_of_the_cores(std::atoi(rank))) {
        std::perror("commtask_delayed_enter: cannot bind to half of the cores");
        return EXIT_FAILURE;
    }
    // Not for the program: the runtime reports COMMTASK_ names that it does not know.
    unsetenv("COMMTASK_BENCH_NAMESPACE_0");
    unsetenv("COMMTASK_BENCH_NAMESPACE_1");
    execvp(argv[1], argv + 1);
    std::perror(argv[1]);
    return 127;
}
