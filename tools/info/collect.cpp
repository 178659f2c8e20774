// SPDX-License-Identifier: Apache-2.0
//
// Every rank describes itself, the first rank of each node describes the node, and rank 0 sorts the
// pieces into nodes. The map is the runtime's: it comes from the functions that commtask_init
// calls, with the same input.
#include "info.hpp"

#include "config/config.hpp"
#include "node/affinity.hpp"
#include "node/node_map.hpp"

#include <commtask/commtask.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

namespace commtask::info {

namespace {

using detail::config;
using detail::config_field;
using nlohmann::json;

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? std::string{name.data()} : std::string{"unknown"};
}

const char* source_name(detail::config_source source) {
    switch (source) {
    case detail::config_source::built_in: return "default";
    case detail::config_source::program: return "program";
    case detail::config_source::environment: return "environment";
    }
    return "unknown";
}

const char* idle_name(detail::idle_policy idle) {
    return idle == detail::idle_policy::reserved ? "reserved" : "shared";
}

json describe_configuration(const config& settings) {
    json list = json::array();
    for (std::size_t i = 0; i < detail::config_field_count; ++i) {
        const config_field& field = detail::config_fields()[i];
        if (field.rule == detail::config_rule::elsewhere) continue;
        list.push_back({{"variable", field.variable},
                        {"value", detail::value_text(settings, field)},
                        {"source", source_name(settings.sources[i])}});
    }
    return list;
}

json describe_node(const detail::node_shape& node) {
    json cores = json::array();
    int n_packages = 0;
    for (const detail::core_shape& core : node.cores) {
        n_packages = std::max(n_packages, core.package + 1);
        cores.push_back(
            {{"cpus", core.cpus.text()}, {"package", core.package}, {"is_near_network", core.is_near_network}});
    }
    return {{"host", host_name()}, {"packages", n_packages}, {"cores", cores}, {"network", node.network_devices}};
}

json describe_place(const detail::rank_placement& place) {
    json workers = json::array();
    for (const int cpu : place.lane_cpus) workers.push_back(cpu == detail::no_cpu ? json{} : json(cpu));
    return {{"cpus", place.all_cpus.text()},
            {"worker_cpus", workers},
            {"compute_cpus", place.compute_cpus.text()},
            {"idle", idle_name(place.idle)},
            {"reason", place.reason},
            {"is_warning", place.is_warning},
            {"error", place.error ? json(*place.error) : json{}}};
}

/// The result of commtask_init, so that a difference from the map above would show.
json start_runtime() {
    const int code = commtask_init(nullptr);
    if (code != COMMTASK_OK) return {{"code", code}, {"error", commtask_last_error()}};
    commtask_info info{};
    info.struct_size = sizeof info;
    const int asked = commtask_get_info(&info);
    const int ended = commtask_finalize();
    if (asked != COMMTASK_OK || ended != COMMTASK_OK)
        return {{"code", asked != COMMTASK_OK ? asked : ended}, {"error", commtask_last_error()}};
    return {{"code", 0},
            {"lanes", info.lanes},
            {"worker_cpu", info.worker_cpu < 0 ? json{} : json(info.worker_cpu)},
            {"is_reserved", info.worker_is_reserved != 0},
            {"has_large_counts", info.has_large_counts != 0},
            {"tag_upper_bound", info.tag_upper_bound}};
}

/// Sorts the pieces of the ranks into nodes, by the lowest rank of each node.
json merge(const std::vector<std::string>& pieces, json report) {
    json nodes = json::array();
    for (const std::string& text : pieces) {
        json rank = json::parse(text);
        const json leader = rank["node_leader"];
        auto node = std::ranges::find_if(nodes, [&](const json& other) { return other["leader"] == leader; });
        if (node == nodes.end()) {
            nodes.push_back({{"leader", leader}, {"ranks", json::array()}});
            node = nodes.end() - 1;
        }
        if (rank.contains("node")) (*node)["machine"] = rank["node"];
        if (rank["configuration"] == report["configuration"]) rank.erase("configuration");
        rank.erase("node");
        rank.erase("node_leader");
        (*node)["ranks"].push_back(std::move(rank));
    }
    for (json& node : nodes) node.erase("leader");
    report["nodes"] = std::move(nodes);
    return report;
}

} // namespace

json collective_report(MPI_Comm comm, int thread_level) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    config settings;
    const auto problems = detail::apply_environment(settings, environ);
    const detail::node_map map = detail::collective_map_node(comm, settings, detail::process_cpus());
    const auto node_ranks = detail::collective_exchange_on_node(comm, std::to_string(rank));

    json mine = describe_place(map.placements.at(map.me));
    mine["rank"] = rank;
    mine["node_leader"] = node_ranks.texts.front();
    mine["configuration"] = describe_configuration(settings);
    mine["problems"] = json::array();
    for (const auto& problem : problems)
        mine["problems"].push_back({{"is_warning", problem.is_warning}, {"sentence", problem.message}});
    for (const auto& failure : {map.failure, node_ranks.failure})
        if (failure) mine["problems"].push_back({{"is_warning", false}, {"sentence", *failure}});
    if (node_ranks.me == 0) mine["node"] = describe_node(map.node);
    mine["runtime"] = start_runtime();

    const auto pieces = detail::collective_exchange(comm, mine.dump());
    if (rank != 0) return {};
    const std::string version = std::to_string(COMMTASK_VERSION_MAJOR) + "." + std::to_string(COMMTASK_VERSION_MINOR) +
                                "." + std::to_string(COMMTASK_VERSION_PATCH);
    return merge(
        pieces.texts,
        {{"commtask", version}, {"mpi", mpi_features(thread_level)}, {"configuration", mine["configuration"]}});
}

bool has_errors(const json& report) {
    for (const json& node : report["nodes"]) {
        for (const json& rank : node["ranks"]) {
            if (!rank["error"].is_null() || rank["runtime"]["code"] != 0) return true;
            for (const json& problem : rank["problems"])
                if (!problem["is_warning"].get<bool>()) return true;
        }
    }
    return false;
}

} // namespace commtask::info
