// SPDX-License-Identifier: Apache-2.0
//
// Reading a machine through hwloc: this one, and a described one with network cards, which hwloc takes from a file when
// its own variable names one.
#include "node/affinity.hpp"
#include "node/placement.hpp"
#include "node/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace commtask::detail {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

cpu_set all_cpus(const node_shape& node) {
    cpu_set cpus;
    for (const core_shape& core : node.cores) cpus |= core.cpus;
    return cpus;
}

TEST(Topology, HasEveryCpuOfThisProcessInOneCore) {
    const cpu_set mine = process_cpus();
    const node_shape node = read_node_shape(mine);
    EXPECT_TRUE(all_cpus(node).includes(mine));
    int n_cpus = 0;
    for (const core_shape& core : node.cores) n_cpus += core.cpus.size();
    EXPECT_EQ(n_cpus, all_cpus(node).size()) << "cores do not overlap";
}

TEST(Topology, AddsCpusThatHwlocDoesNotKnowAsCoresOfTheirOwn) {
    const node_shape node = read_node_shape(process_cpus() | cpu_set{8000});
    EXPECT_EQ(node.cores.back().cpus, cpu_set{8000});
}

TEST(Topology, RefusesADescriptionThatHwlocDoesNotUnderstand) {
    EXPECT_TRUE(synthetic_node_shape("no such machine").cores.empty());
}

TEST(Topology, KnowsTheCoresNearANetworkCardAndIgnoresOneThatIsNearToAll) {
    const char* const components = std::getenv("HWLOC_COMPONENTS"); // hwloc heeds only one of the two
    const std::string kept = components == nullptr ? "" : components;
    ASSERT_EQ(unsetenv("HWLOC_COMPONENTS"), 0);
    ASSERT_EQ(setenv("HWLOC_XMLFILE", COMMTASK_TOPOLOGY_FILE, 1), 0);
    const node_shape node = read_node_shape(cpu_set{0});
    ASSERT_EQ(unsetenv("HWLOC_XMLFILE"), 0);
    if (!kept.empty()) {
        ASSERT_EQ(setenv("HWLOC_COMPONENTS", kept.c_str(), 1), 0);
    }
    ASSERT_EQ(node.cores.size(), 4U);
    EXPECT_THAT(node.network_devices, UnorderedElementsAre("near0", "anywhere0"));
    for (const core_shape& core : node.cores) EXPECT_EQ(core.is_near_network, core.package == 0);
    const rank_request unbound{cpu_set::range(0, 3)};
    EXPECT_THAT(place_ranks(node, std::vector{unbound}).at(0).lane_cpus, ElementsAre(1));
}

} // namespace
} // namespace commtask::detail
