// SPDX-License-Identifier: Apache-2.0
// The kernel's MemAvailable counts what it can take back from its caches, which free memory does not. A container's limit
// counts those caches as used, so what it can take back is added again. A file that is not there limits nothing.
#include "common/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>

namespace miniapp {

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

/// The number after the word `key` in a file of such lines, or the first one if `key` is empty.
double number_in(const std::string& file, const std::string& key, double otherwise) {
    std::ifstream in(file);
    std::string line;
    while (std::getline(in, line)) {
        std::istringstream words(line);
        std::string word;
        double value = 0;
        if (!key.empty() && !(words >> word && word == key)) continue;
        if (words >> value) return value;
        if (key.empty()) break; // "max"
    }
    return otherwise;
}

/// What is left under the limits of the control group at `folder` and of those around it.
double left_in_groups(const std::string& root, std::string folder, const char* limit, const char* used,
                      const char* cache) {
    double left = unlimited;
    for (;;) {
        const std::string at = root + folder + "/";
        const double most = number_in(at + limit, "", unlimited);
        if (most < unlimited) {
            const double reclaimable = number_in(at + "memory.stat", cache, 0);
            left = std::min(left, std::max(0.0, most - number_in(at + used, "", 0) + reclaimable));
        }
        if (folder.empty()) return left;
        folder.resize(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/'));
    }
}

double left_in_container() {
    std::ifstream groups("/proc/self/cgroup");
    std::string line;
    double left = unlimited;
    while (std::getline(groups, line)) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        std::string folder = line.substr(second + 1);
        if (folder == "/") folder.clear();
        if (controllers.empty()) {
            left = std::min(left,
                            left_in_groups("/sys/fs/cgroup", folder, "memory.max", "memory.current", "inactive_file"));
        } else if (controllers == "memory") {
            left = std::min(left, left_in_groups("/sys/fs/cgroup/memory", folder, "memory.limit_in_bytes",
                                                 "memory.usage_in_bytes", "total_inactive_file"));
        }
    }
    return left;
}

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

/// What the ranks of one node need together, and what there is.
struct node_sum {
    double needed = 0;
    double available = 0;
    int n_ranks = 0;
};

node_sum sum_on_node(double bytes, double available_bytes, MPI_Comm comm) {
    node_sum sum;
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Allreduce(&bytes, &sum.needed, 1, MPI_DOUBLE, MPI_SUM, node);
    MPI_Allreduce(&available_bytes, &sum.available, 1, MPI_DOUBLE, MPI_MIN, node);
    MPI_Comm_size(node, &sum.n_ranks);
    MPI_Comm_free(&node);
    return sum;
}

} // namespace

double available_memory_bytes() {
    const double physical =
        static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
    const double available = number_in("/proc/meminfo", "MemAvailable:", physical / 1024) * 1024;
    return std::min(available, left_in_container());
}

double address_space_left_bytes() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
    const double used = number_in("/proc/self/statm", "", 0) * static_cast<double>(::sysconf(_SC_PAGESIZE));
    return std::max(0.0, static_cast<double>(limit.rlim_cur) - used);
}

std::string bytes_text(double bytes) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g GB", bytes / 1e9);
    return text.data();
}

std::string refuse_memory(const memory_need& need, double available_bytes, MPI_Comm comm) {
    const node_sum mine = sum_on_node(need.bytes, available_bytes, comm);
    struct {
        double lack;
        int rank;
    } worst{mine.needed - mine.available, 0};
    MPI_Comm_rank(comm, &worst.rank);
    const int rank = worst.rank;
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
    if (!(worst.lack > 0)) return {};
    std::string text;
    if (rank == worst.rank) {
        text = need.of + " needs " + bytes_text(mine.needed) + " on node " + host_name() + " (" +
               std::to_string(mine.n_ranks) + (mine.n_ranks == 1 ? " rank" : " ranks") + ") but " +
               bytes_text(mine.available) + " are available there; " + need.advice + ".";
    }
    int length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, worst.rank, comm);
    text.resize(static_cast<std::size_t>(length));
    MPI_Bcast(text.data(), length, MPI_CHAR, worst.rank, comm);
    return text;
}

std::string out_of_memory(const memory_need& need) {
    std::string text = "out of memory: " + need.of + " needs " + bytes_text(need.bytes) + " on this rank; its node " +
                       host_name() + " has " + bytes_text(available_memory_bytes()) + " available";
    if (const double left = address_space_left_bytes(); left < unlimited) {
        text += ", its address space (ulimit -v) " + bytes_text(left);
    }
    return text + "; " + need.advice + ".";
}

} // namespace miniapp
