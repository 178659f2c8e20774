// SPDX-License-Identifier: Apache-2.0
//
// The machine as placement needs it: cores and their CPUs, read once through hwloc. CPUs that this
// process may not use are included, because every rank of a node must see the same machine to
// compute the same map.
#pragma once

#include "base/cpu_set.hpp"

#include <string>
#include <vector>

namespace commtask::detail {

/// One core with its CPUs (more than one with hardware threads).
struct core_shape {
    cpu_set cpus;
    int package = 0; ///< Logical number of its socket.
    /// The core shares its part of the machine with a network device; not all cores do.
    bool is_near_network = false;
};

/// The cores of a node in topological order: neighbours in the list share caches and memory.
struct node_shape {
    std::vector<core_shape> cores;
    /// The network devices to which `is_near_network` refers.
    std::vector<std::string> network_devices;
};

/// The machine on which the process runs. Without a usable hwloc topology: one core per CPU of
/// `fallback`.
[[nodiscard]] node_shape read_node_shape(const cpu_set& fallback);

/// A machine described in hwloc's synthetic language, for example "package:2 core:8 pu:2". No cores
/// if hwloc refuses the description.
[[nodiscard]] node_shape synthetic_node_shape(const std::string& description);

} // namespace commtask::detail
