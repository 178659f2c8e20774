// SPDX-License-Identifier: Apache-2.0
//
// What placement needs to know of the machine, read once through hwloc and reduced to cores and their CPUs.
// It counts CPUs that this process may not use as well, because every rank of a node has to see the same machine to
// come to the same map.
#pragma once

#include "base/cpu_set.hpp"

#include <string>
#include <vector>

namespace commtask::detail {

/// One core with its CPUs (more than one with hardware threads).
struct core_shape {
    cpu_set cpus;
    int package = 0;              ///< Logical number of its socket.
    bool is_near_network = false; ///< Shares its part of the machine with a network device; others do not.
};

/// The cores of a node in topological order: neighbours in the list share caches and memory.
struct node_shape {
    std::vector<core_shape> cores;
    std::vector<std::string> network_devices; ///< Names of the devices that `is_near_network` speaks of.
};

/// The machine that the process runs on. Without a usable hwloc topology: one core per CPU of `fallback`.
[[nodiscard]] node_shape read_node_shape(const cpu_set& fallback);

/// A machine described in hwloc's synthetic language, for example "package:2 core:8 pu:2". No cores if hwloc refuses it.
[[nodiscard]] node_shape synthetic_node_shape(const std::string& description);

} // namespace commtask::detail
