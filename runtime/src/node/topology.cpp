// SPDX-License-Identifier: Apache-2.0
//
// Reads the topology through hwloc, without its plugins for GPUs: they open device libraries, which
// may take seconds.
#include "node/topology.hpp"

#include <memory>

namespace commtask::detail {

namespace {

struct destroy_topology {
    void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using topology_owner = std::unique_ptr<hwloc_topology, destroy_topology>;

topology_owner new_topology() {
    hwloc_topology_t topology = nullptr;
    return topology_owner{hwloc_topology_init(&topology) == 0 ? topology : nullptr};
}

bool is_network(hwloc_obj_t device, hwloc_obj_osdev_type_t type) {
    return device->attr != nullptr && device->attr->osdev.type == type;
}

/// Marks the cores near devices of one type, unless all cores are near.
/// @return whether there are such devices
bool mark_near(hwloc_topology_t topology, hwloc_obj_osdev_type_t type, node_shape& shape) {
    cpu_set all;
    for (const core_shape& core : shape.cores) all |= core.cpus;
    cpu_set near;
    std::vector<std::string> names;
    for (hwloc_obj_t device = hwloc_get_next_osdev(topology, nullptr); device != nullptr;
         device = hwloc_get_next_osdev(topology, device)) {
        if (!is_network(device, type)) continue;
        const hwloc_obj_t place = hwloc_get_non_io_ancestor_obj(topology, device);
        if (place == nullptr || place->cpuset == nullptr) continue;
        const cpu_set neighbours{place->cpuset};
        // a device near every core, or a virtual one, distinguishes no cores
        if (!neighbours.includes(all)) near |= neighbours;
        if (device->name != nullptr) names.emplace_back(device->name);
    }
    if (names.empty()) return false;
    shape.network_devices = std::move(names);
    if (!near.includes(all))
        for (core_shape& core : shape.cores) core.is_near_network = near.includes(core.cpus);
    return true;
}

int package_of(hwloc_topology_t topology, hwloc_obj_t object) {
    const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, object);
    return package == nullptr ? 0 : static_cast<int>(package->logical_index);
}

node_shape shape_of(hwloc_topology_t topology) {
    node_shape shape;
    // Some virtual machines and old kernels report CPUs without cores.
    const bool has_cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
    const hwloc_obj_type_t type = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    for (hwloc_obj_t core = hwloc_get_next_obj_by_type(topology, type, nullptr); core != nullptr;
         core = hwloc_get_next_obj_by_type(topology, type, core))
        shape.cores.push_back({cpu_set{core->cpuset}, package_of(topology, core), false});
    if (!mark_near(topology, HWLOC_OBJ_OSDEV_OPENFABRICS, shape)) mark_near(topology, HWLOC_OBJ_OSDEV_NETWORK, shape);
    return shape;
}

} // namespace

node_shape read_node_shape(const cpu_set& fallback) {
    const topology_owner topology = new_topology();
    node_shape shape;
    if (topology) {
        for (const char* const component : {"opencl", "cuda", "nvml", "rsmi", "levelzero", "gl"})
            hwloc_topology_set_components(topology.get(), HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
        const bool is_loaded =
            hwloc_topology_set_flags(topology.get(), HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
            hwloc_topology_set_io_types_filter(topology.get(), HWLOC_TYPE_FILTER_KEEP_IMPORTANT) == 0 &&
            hwloc_topology_load(topology.get()) == 0;
        if (is_loaded) shape = shape_of(topology.get());
    }
    cpu_set known;
    for (const core_shape& core : shape.cores) known |= core.cpus;
    for (const int cpu : (fallback - known).members()) shape.cores.push_back({cpu_set{cpu}, 0, false});
    return shape;
}

node_shape synthetic_node_shape(const std::string& description) {
    const topology_owner topology = new_topology();
    const bool is_loaded = topology && hwloc_topology_set_synthetic(topology.get(), description.c_str()) == 0 &&
                           hwloc_topology_load(topology.get()) == 0;
    return is_loaded ? shape_of(topology.get()) : node_shape{};
}

} // namespace commtask::detail
