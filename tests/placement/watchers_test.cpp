// SPDX-License-Identifier: Apache-2.0
//
// Who hears for whom on a node, over hwloc's synthetic machines: nobody here has one of several NUMA nodes, and a rank that is told of
// another's messages over a far memory works as well, only slower.
#include "node/placement.hpp"
#include "node/topology.hpp"
#include "node/watchers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace commtask::detail {
namespace {

using testing::ElementsAre;

/// Of each of the ranks that were bound to these CPUs, who hears for it.
std::vector<std::size_t> watchers(const std::string& machine, const std::vector<std::string>& bound_to,
                                  const std::vector<int>& have_cores) {
    const node_shape shape = synthetic_node_shape(machine);
    EXPECT_FALSE(shape.cores.empty()) << machine;
    std::vector<node_rank> ranks;
    for (std::size_t i = 0; i < bound_to.size(); ++i) {
        const int numa_node = numa_node_of(shape, cpu_set::from_text(bound_to[i]).value());
        ranks.push_back({static_cast<int>(10 + i), have_cores[i], numa_node, 0});
    }
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < ranks.size(); ++i) found.push_back(watcher_of(ranks, i));
    return found;
}

constexpr const char* two_memories = "package:2 numa:1 core:4 pu:1";

TEST(Watchers, EachNumaNodeHasOneOfItsOwn) {
    EXPECT_THAT(watchers(two_memories, {"0-1", "2-3", "4-5", "6-7"}, {0, 0, 0, 0}), ElementsAre(0, 0, 2, 2));
    EXPECT_THAT(watchers(two_memories, {"0-1", "4-5", "2-3", "6-7"}, {0, 0, 0, 0}), ElementsAre(0, 1, 0, 1));
}

TEST(Watchers, OneWithACoreIsPreferred) {
    EXPECT_THAT(watchers(two_memories, {"0-1", "2-3", "4-5", "6-7"}, {0, 1, 0, 1}), ElementsAre(1, 1, 3, 3));
    EXPECT_THAT(watchers("core:4 pu:1", {"0", "1", "2", "3"}, {0, 0, 1, 1}), ElementsAre(2, 2, 2, 2));
}

TEST(Watchers, ACoreOfAnotherNumaNodeIsBetterThanASharedOneNearby) {
    EXPECT_THAT(watchers(two_memories, {"0-1", "2-3", "4-5", "6-7"}, {0, 0, 1, 0}), ElementsAre(2, 2, 2, 2));
}

TEST(Watchers, WhoeverIsOnBothGoesToTheFirst) {
    EXPECT_THAT(watchers(two_memories, {"0-7", "0-7", "0-7"}, {0, 0, 0}), ElementsAre(0, 0, 0));
}

TEST(Topology, KnowsTheNumaNodeOfCpus) {
    const node_shape shape = synthetic_node_shape(two_memories);
    EXPECT_EQ(numa_node_of(shape, cpu_set::range(0, 3)), 0);
    EXPECT_EQ(numa_node_of(shape, cpu_set{5}), 1);
    EXPECT_LT(numa_node_of(shape, cpu_set::range(3, 4)), 0) << "in both";
    EXPECT_LT(numa_node_of(shape, cpu_set{99}), 0) << "unknown";
}

} // namespace
} // namespace commtask::detail
