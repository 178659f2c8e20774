// SPDX-License-Identifier: Apache-2.0
//
// The cores of the machine and their CPUs, read once through hwloc. CPUs that this process may not
// use are included, since all ranks of a node must see the same machine to compute the same map.
#pragma once

#include "base/cpu_set.hpp"

#include <string>
#include <vector>

namespace commtask::detail {

/// A core and its CPUs (several with hardware threads).
struct core_shape {
    cpu_set cpus;
    int package = 0; ///< The logical number of the socket.
    /// Whether the core is near a network device, and not all cores are.
    bool is_near_network = false;
};

/// The cores of a node in topological order: neighbors in the list share caches and memory.
struct node_shape {
    std::vector<core_shape> cores;
    /// The network devices to which `is_near_network` refers.
    std::vector<std::string> network_devices;
};

/// The machine on which the process runs. Without a usable hwloc topology: one core for each CPU of
/// `fallback`.
[[nodiscard]] node_shape read_node_shape(const cpu_set& fallback);

/// A machine in hwloc's synthetic description, for example "package:2 core:8 pu:2". No cores if
/// hwloc refuses it.
[[nodiscard]] node_shape synthetic_node_shape(const std::string& description);

} // namespace commtask::detail
