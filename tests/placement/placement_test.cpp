// SPDX-License-Identifier: Apache-2.0
//
// The map of a node over hwloc's synthetic machines. Besides the exact maps of small cases, every map made here is
// checked against the promises: no CPU has two workers, a worker stays inside its rank's CPUs, and everyone computes.
#include "node/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

namespace commtask::detail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

rank_request on(const std::string& cpus, const std::string& core = "auto", idle_policy idle = idle_policy::automatic) {
    return {cpu_set::from_text(cpus).value(), 1, core, idle};
}

/// What must hold for every map without errors.
void expect_promises(const std::vector<rank_request>& requests, const std::vector<rank_placement>& places) {
    ASSERT_EQ(places.size(), requests.size());
    std::set<int> used;
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
        const rank_placement& place = places[rank];
        EXPECT_FALSE(place.reason.empty());
        EXPECT_NE(place.idle, idle_policy::automatic);
        EXPECT_FALSE(place.compute_cpus.is_empty()) << place.reason;
        EXPECT_TRUE(requests[rank].cpus.includes(place.compute_cpus)) << place.reason;
        for (const int cpu : place.lane_cpus) {
            if (cpu == no_cpu) continue;
            EXPECT_TRUE(used.insert(cpu).second) << "CPU " << cpu << " has two workers";
            EXPECT_TRUE(requests[rank].cpus.contains(cpu)) << place.reason;
            if (requests[rank].core != "auto") continue;
            for (const rank_placement& other : places)
                EXPECT_FALSE(other.compute_cpus.contains(cpu)) << place.reason << " / " << other.reason;
        }
    }
}

std::vector<rank_placement> map(const std::string& machine, const std::vector<rank_request>& requests) {
    const node_shape node = synthetic_node_shape(machine);
    EXPECT_FALSE(node.cores.empty()) << machine;
    auto places = place_ranks(node, requests);
    bool has_error = false;
    for (const rank_placement& place : places) has_error |= place.error.has_value();
    if (!has_error) expect_promises(requests, places);
    return places;
}

std::vector<int> workers(const std::vector<rank_placement>& places) {
    std::vector<int> result;
    for (const rank_placement& place : places)
        result.insert(result.end(), place.lane_cpus.begin(), place.lane_cpus.end());
    return result;
}

TEST(Placement, OneRankOnTwoCoresTakesTheLastOne) {
    const auto places = map("core:2 pu:1", {on("0-1")});
    EXPECT_THAT(workers(places), ElementsAre(1));
    EXPECT_EQ(places[0].compute_cpus, cpu_set({0}));
    EXPECT_EQ(places[0].idle, idle_policy::reserved);
    EXPECT_FALSE(places[0].is_warning);
    EXPECT_EQ(places[0].reason, "lane 0 has CPU 1 to itself; compute threads have CPU 0");
}

TEST(Placement, TwoUnboundRanksOnTwoCoresShareAndSayWhy) {
    const auto places = map("core:2 pu:1", {on("0-1"), on("0-1")});
    EXPECT_THAT(workers(places), ElementsAre(no_cpu, no_cpu));
    for (const rank_placement& place : places) {
        EXPECT_EQ(place.compute_cpus, cpu_set({0, 1}));
        EXPECT_EQ(place.idle, idle_policy::shared);
        EXPECT_FALSE(place.is_warning) << "the machine has no more";
        EXPECT_THAT(place.reason, HasSubstr("2 ranks on this node may use CPUs 0-1, and their 2 workers beside one "
                                            "compute CPU each would need 4 CPUs"));
    }
}

TEST(Placement, RanksThatMayUseTooFewCpusOfALargerNodeAreWarned) {
    const auto places = map("core:8 pu:1", {on("0-1"), on("0-1")});
    EXPECT_TRUE(places[0].is_warning);
    EXPECT_THAT(places[0].reason, HasSubstr("2 ranks on this node may use CPUs 0-1"));
}

TEST(Placement, ARankBoundToOneCpuSharesItAndSaysWhatWouldHelp) {
    const auto places = map("core:2 pu:1", {on("0"), on("1")});
    EXPECT_THAT(workers(places), ElementsAre(no_cpu, no_cpu));
    EXPECT_TRUE(places[1].is_warning);
    EXPECT_EQ(places[1].compute_cpus, cpu_set({1}));
    EXPECT_EQ(places[1].reason, "the rank may use only CPU 1, so the worker shares it with the compute threads; start "
                                "the rank with at least 2 CPUs for a core of its own");
}

TEST(Placement, FourBoundRanksOnSixteenCoresTakeOneOfTheirOwn) {
    const auto places = map("core:16 pu:1", {on("0-3"), on("4-7"), on("8-11"), on("12-15")});
    EXPECT_THAT(workers(places), ElementsAre(3, 7, 11, 15));
    EXPECT_EQ(places[2].compute_cpus, cpu_set::range(8, 10));
}

TEST(Placement, FourUnboundRanksOnSixteenCoresAreSpread) {
    const auto places = map("core:16 pu:1", {on("0-15"), on("0-15"), on("0-15"), on("0-15")});
    EXPECT_THAT(workers(places), ElementsAre(3, 7, 11, 15));
    for (const rank_placement& place : places) {
        EXPECT_EQ(place.compute_cpus.text(), "0-2,4-6,8-10,12-14") << "no rank computes on any rank's worker";
        EXPECT_EQ(place.idle, idle_policy::reserved);
    }
}

TEST(Placement, EightUnboundRanksOnSixteenCoresStillFitAndNineDoNot) {
    EXPECT_EQ(map("core:16 pu:1", std::vector(8, on("0-15")))[0].idle, idle_policy::reserved);
    const auto crowded = map("core:16 pu:1", std::vector(9, on("0-15")));
    for (const rank_placement& place : crowded) {
        EXPECT_EQ(place.idle, idle_policy::shared);
        EXPECT_EQ(place.compute_cpus.size(), 16);
    }
}

TEST(Placement, TakesAWholeCoreWhereCoresAreSpare) {
    const auto places = map("core:8 pu:2", {on("0-15")});
    EXPECT_THAT(workers(places), ElementsAre(14));
    EXPECT_EQ(places[0].compute_cpus, cpu_set::range(0, 13)) << "CPU 15 is the worker's sibling and stays idle";
    EXPECT_THAT(places[0].reason, HasSubstr("lane 0 has CPU 14 to itself (CPU 15 of the same core stays idle)"));
}

TEST(Placement, TakesASiblingThreadWhereARankHasOnlyOneCore) {
    const auto places = map("core:2 pu:2", {on("0-1"), on("2-3")});
    EXPECT_THAT(workers(places), ElementsAre(1, 3));
    EXPECT_EQ(places[0].compute_cpus, cpu_set({0}));
    EXPECT_EQ(places[0].idle, idle_policy::reserved);
}

TEST(Placement, UsesSiblingThreadsWhenWholeCoresDoNotSufficeForAllRanks) {
    const auto places = map("core:4 pu:2", std::vector(4, on("0-7")));
    EXPECT_THAT(workers(places), ElementsAre(1, 3, 5, 7));
    EXPECT_EQ(places[3].compute_cpus.text(), "0,2,4,6");
}

TEST(Placement, SpreadsUnboundRanksOverPackages) {
    const auto places = map("package:2 core:4 pu:1", {on("0-7"), on("0-7")});
    EXPECT_THAT(workers(places), ElementsAre(3, 7));
    const auto bound = map("package:2 numa:1 core:4 pu:1", {on("0-3"), on("4-7")});
    EXPECT_THAT(workers(bound), ElementsAre(3, 7));
}

TEST(Placement, CountsCpusAsTheKernelDoesNotInTopologicalOrder) {
    // Siblings are 0 and 4, 1 and 5, ... as on most real machines.
    const auto places = map("core:4 pu:2(indexes=0,4,1,5,2,6,3,7)", {on("0-7")});
    EXPECT_THAT(workers(places), ElementsAre(3));
    EXPECT_EQ(places[0].compute_cpus.text(), "0-2,4-6");
}

TEST(Placement, PrefersCoresNearTheNetworkWhereThereIsAChoice) {
    node_shape node = synthetic_node_shape("package:2 core:4 pu:1");
    for (core_shape& core : node.cores) core.is_near_network = core.package == 0;
    EXPECT_THAT(place_ranks(node, std::vector{on("0-7")})[0].lane_cpus, ElementsAre(3));
    EXPECT_THAT(place_ranks(node, std::vector{on("4-7")})[0].lane_cpus, ElementsAre(7)) << "bound elsewhere";
    EXPECT_THAT(workers(place_ranks(node, std::vector{on("0-7"), on("0-7")})), ElementsAre(3, 7)) << "spread first";
}

TEST(Placement, LeavesTheOnlyCpuOfAnotherRankAlone) {
    const auto places = map("core:4 pu:1", {on("3"), on("0-3")});
    EXPECT_THAT(workers(places), ElementsAre(no_cpu, 2));
    EXPECT_EQ(places[0].compute_cpus, cpu_set({3}));
    EXPECT_EQ(places[1].compute_cpus.text(), "0-1,3");
}

TEST(Placement, FindsTheMapWhereTheFirstChoiceOfARankWouldBlockAnother) {
    // Rank 1 can only use 2 and 3, so rank 0 must not take its favourite, 3 or 2.
    const auto places = map("core:4 pu:1", {on("0-3"), on("2-3")});
    EXPECT_THAT(workers(places), ElementsAre(1, 3));
    EXPECT_EQ(places[0].idle, idle_policy::reserved);
}

TEST(Placement, ServesSeveralLanesOfOneRank) {
    rank_request request = on("0-7");
    request.lanes = 3;
    const auto places = map("core:8 pu:1", {request});
    EXPECT_THAT(places[0].lane_cpus, ElementsAre(7, 6, 5));
    EXPECT_EQ(places[0].compute_cpus, cpu_set::range(0, 4));
    request.cpus = cpu_set::range(0, 2);
    EXPECT_THAT(map("core:8 pu:1", {request})[0].lane_cpus, ElementsAre(no_cpu, no_cpu, no_cpu));
}

TEST(Placement, GivesEachLaneOfSeveralRanksACoreOfItsOwn) {
    rank_request first = on("0-3");
    rank_request second = on("4-7");
    first.lanes = second.lanes = 2;
    const auto bound = map("core:8 pu:1", {first, second});
    EXPECT_THAT(bound[0].lane_cpus, ElementsAre(3, 2));
    EXPECT_THAT(bound[1].lane_cpus, ElementsAre(7, 6));
    first.cpus = second.cpus = cpu_set::range(0, 7);
    first.core = second.core = "1,3,5,7";
    const auto listed = map("core:8 pu:1", {first, second});
    EXPECT_THAT(listed[0].lane_cpus, ElementsAre(1, 3));
    EXPECT_THAT(listed[1].lane_cpus, ElementsAre(5, 7));
    EXPECT_EQ(listed[0].compute_cpus.text(), "0,2,4,6");
}

TEST(Placement, GivesTheUsersListToTheRanksInTurn) {
    const auto unbound = map("core:8 pu:1", {on("0-7", "2,5"), on("0-7", "2,5")});
    EXPECT_THAT(workers(unbound), ElementsAre(2, 5));
    EXPECT_EQ(unbound[0].compute_cpus.text(), "0-1,3-4,6-7");
    const auto bound = map("core:8 pu:1", {on("4-7", "2,5"), on("0-3", "2,5")});
    EXPECT_THAT(workers(bound), ElementsAre(5, 2)) << "each rank finds its own CPU in a list for all";
}

TEST(Placement, AcceptsTheOnlyCpuInTheUsersListAndShares) {
    const auto places = map("core:2 pu:1", {on("1", "1")});
    EXPECT_THAT(workers(places), ElementsAre(1));
    EXPECT_EQ(places[0].compute_cpus, cpu_set({1}));
    EXPECT_EQ(places[0].idle, idle_policy::shared);
    EXPECT_THAT(places[0].reason, HasSubstr("COMMTASK_CORE=1 names all CPUs that the rank may use"));
}

TEST(Placement, RefusesAListWithACpuThatNobodyMayUse) {
    const auto places = map("core:8 pu:1", {on("0-3", "2,9")});
    ASSERT_TRUE(places[0].error);
    EXPECT_EQ(*places[0].error, "COMMTASK_CORE=2,9 names CPU 9, which no rank on this node may use; this rank may use "
                                "0-3, so name one of these, for example 3, or auto.");
    EXPECT_THAT(workers(places), ElementsAre(no_cpu));
    EXPECT_EQ(places[0].compute_cpus, cpu_set::range(0, 3));
}

TEST(Placement, RefusesAListThatIsTooShortForTheRanksOfTheNode) {
    const auto places = map("core:8 pu:1", {on("0-7", "2"), on("0-7", "2")});
    EXPECT_FALSE(places[0].error);
    ASSERT_TRUE(places[1].error);
    EXPECT_EQ(*places[1].error,
              "COMMTASK_CORE=2 leaves this rank fewer than the 1 CPU that it needs: it may use 0-7, and other ranks on "
              "this node have taken 2; the list must name another CPU for each lane of each rank on the node, or be "
              "auto.");
}

TEST(Placement, TakesNoCoreWhenTheUserWantsNone) {
    const auto none = map("core:4 pu:1", {on("0-3", "none")});
    EXPECT_THAT(workers(none), ElementsAre(no_cpu));
    EXPECT_EQ(none[0].compute_cpus.size(), 4);
    EXPECT_FALSE(none[0].is_warning) << "it was asked for";
    const auto shared = map("core:4 pu:1", {on("0-3", "auto", idle_policy::shared)});
    EXPECT_THAT(workers(shared), ElementsAre(no_cpu));
    EXPECT_FALSE(shared[0].is_warning);
}

TEST(Placement, ObeysTheUsersIdlePolicyAndWarnsWhereItHurts) {
    const auto spinning = map("core:2 pu:1", {on("0", "auto", idle_policy::reserved)});
    EXPECT_EQ(spinning[0].idle, idle_policy::reserved);
    EXPECT_TRUE(spinning[0].is_warning);
    const auto napping = map("core:4 pu:1", {on("0-3", "3", idle_policy::shared)});
    EXPECT_EQ(napping[0].idle, idle_policy::shared);
    EXPECT_THAT(workers(napping), ElementsAre(3));
}

TEST(Placement, KeepsItsPromisesForRandomMachinesAndBindings) {
    std::mt19937 random{20240611};
    for (int round = 0; round < 300; ++round) {
        const int n_cores = 1 + static_cast<int>(random() % 8);
        const int n_threads = 1 + static_cast<int>(random() % 2);
        const int n_cpus = n_cores * n_threads;
        std::vector<rank_request> requests(1 + random() % 5);
        for (rank_request& request : requests) {
            const int first = static_cast<int>(random() % static_cast<unsigned>(n_cpus));
            const int last = first + static_cast<int>(random() % static_cast<unsigned>(n_cpus - first));
            request = {cpu_set::range(first, last), 1, random() % 8 == 0 ? "none" : "auto", idle_policy::automatic};
        }
        const auto places = map("core:" + std::to_string(n_cores) + " pu:" + std::to_string(n_threads), requests);
        if (HasFailure()) FAIL() << "round " << round << ", " << places.size() << " ranks";
    }
}

TEST(Placement, FitsALargeNodeInReasonableTime) {
    const auto places = map("package:2 core:64 pu:2", std::vector(64, on("0-255")));
    for (const rank_placement& place : places) EXPECT_EQ(place.idle, idle_policy::reserved);
}

TEST(Placement, KeepsARequestThroughItsText) {
    rank_request request = on("0-3,8", "2,1", idle_policy::shared);
    request.lanes = 2;
    const auto copy = rank_request_from_text(to_text(request));
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy->cpus, request.cpus);
    EXPECT_EQ(copy->lanes, 2);
    EXPECT_EQ(copy->core, "2,1");
    EXPECT_EQ(copy->idle, idle_policy::shared);
    for (const char* const spoilt :
         {"", ";;;", "0-3;1;auto", "0-3;1;auto;0;", "0-3;0;auto;0", "0-3;1;foo;0", "x;1;auto;0", "0-3;1;auto;3"})
        EXPECT_FALSE(rank_request_from_text(spoilt)) << spoilt;
}

TEST(CpuSet, ReadsAndWritesLists) {
    EXPECT_EQ(cpu_set::from_text("0-3,8").value().text(), "0-3,8");
    EXPECT_EQ(cpu_set::from_text("").value().size(), 0);
    EXPECT_FALSE(cpu_set::from_text("3-"));
    EXPECT_FALSE(cpu_set::from_text("99999999999"));
    EXPECT_THAT(parse_cpu_list("7,3-4").value(), ElementsAre(7, 3, 4));
    EXPECT_FALSE(parse_cpu_list("3,3"));
    EXPECT_FALSE(parse_cpu_list(""));
    cpu_set a{1, 2};
    const cpu_set b = a;
    a.erase(1);
    EXPECT_EQ(b.size(), 2) << "copies are independent";
    EXPECT_EQ((b - a).text(), "1");
}

} // namespace
} // namespace commtask::detail
