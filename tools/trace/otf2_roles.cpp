// SPDX-License-Identifier: Apache-2.0
//
// OTF2 has no word for a state of a worker or for a flow graph: the first are artificial regions, as a measurement's own, the
// second a task of the threads that oneTBB has.
#include "otf2_roles.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace commtask::tools {
namespace {

using detail::trace::compute_model;

struct collective {
    std::string_view name;
    OTF2_CollectiveOp what;
    OTF2_RegionRole role;
};

constexpr std::array<collective, 18> collectives{{
    {"barrier", OTF2_COLLECTIVE_OP_BARRIER, OTF2_REGION_ROLE_BARRIER},
    {"bcast", OTF2_COLLECTIVE_OP_BCAST, OTF2_REGION_ROLE_COLL_ONE2ALL},
    {"gather", OTF2_COLLECTIVE_OP_GATHER, OTF2_REGION_ROLE_COLL_ALL2ONE},
    {"gatherv", OTF2_COLLECTIVE_OP_GATHERV, OTF2_REGION_ROLE_COLL_ALL2ONE},
    {"scatter", OTF2_COLLECTIVE_OP_SCATTER, OTF2_REGION_ROLE_COLL_ONE2ALL},
    {"scatterv", OTF2_COLLECTIVE_OP_SCATTERV, OTF2_REGION_ROLE_COLL_ONE2ALL},
    {"allgather", OTF2_COLLECTIVE_OP_ALLGATHER, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"alltoall", OTF2_COLLECTIVE_OP_ALLTOALL, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"reduce", OTF2_COLLECTIVE_OP_REDUCE, OTF2_REGION_ROLE_COLL_ALL2ONE},
    {"allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"scan", OTF2_COLLECTIVE_OP_SCAN, OTF2_REGION_ROLE_COLL_OTHER},
    {"exscan", OTF2_COLLECTIVE_OP_EXSCAN, OTF2_REGION_ROLE_COLL_OTHER},
    {"comm_dup", OTF2_COLLECTIVE_OP_CREATE_HANDLE, OTF2_REGION_ROLE_COLL_OTHER},
}};

[[nodiscard]] const collective* find_collective(std::string_view name) {
    const auto* const found = std::ranges::find(collectives, name, &collective::name);
    return found == collectives.end() ? nullptr : found;
}

/// What a function of MPI's is about: "mpi_ibcast_init_c" is "ibcast".
[[nodiscard]] std::string_view stem_of(std::string_view call) {
    constexpr std::string_view prefix = "mpi_";
    if (call.starts_with(prefix)) call.remove_prefix(prefix.size());
    for (const std::string_view suffix : {"_c", "_init"}) { // a call may end in "_init_c"
        if (call.ends_with(suffix)) call.remove_suffix(suffix.size());
    }
    return call;
}

/// "MPI_Ibarrier" is a barrier. What makes a persistent request has the role of what that does.
[[nodiscard]] OTF2_RegionRole role_of_call(std::string_view call) {
    std::string lower{call};
    std::ranges::transform(lower, lower.begin(), [](unsigned char each) { return std::tolower(each); });
    const std::string_view name = stem_of(lower);
    for (const std::string_view each : {name, name.starts_with('i') ? name.substr(1) : name}) {
        if (const collective* const found = find_collective(each)) return found->role;
        if (each.starts_with("neighbor_")) return OTF2_REGION_ROLE_COLL_OTHER;
    }
    if (name.starts_with("comm_idup") || name.starts_with("comm_dup_")) return OTF2_REGION_ROLE_COLL_OTHER;
    if (name.starts_with("win_") || access_of(name) != access::none ||
        (name.starts_with('r') && access_of(name.substr(1)) != access::none)) {
        return OTF2_REGION_ROLE_RMA;
    }
    if (name.starts_with("file_")) return OTF2_REGION_ROLE_FILE_IO;
    const bool is_of_messages =
        std::ranges::any_of(std::array<std::string_view, 3>{"send", "recv", "probe"},
                            [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
    // Whole words or at the front: MPI_Grequest_start and MPI_Topo_test have them at the end.
    if (is_of_messages || name.starts_with("wait") || name.starts_with("test") || name == "start" ||
        name == "startall") {
        return OTF2_REGION_ROLE_POINT2POINT;
    }
    return OTF2_REGION_ROLE_FUNCTION;
}

/// The words are the OpenMP face's.
[[nodiscard]] OTF2_RegionRole role_of_openmp(std::string_view name) {
    if (name == "barrier") return OTF2_REGION_ROLE_BARRIER;
    return name.starts_with("task") ? OTF2_REGION_ROLE_TASK_WAIT : OTF2_REGION_ROLE_PARALLEL;
}

[[nodiscard]] otf2_names::region_kind kind_of_compute(compute_model model) {
    switch (model) {
    case compute_model::openmp: return {OTF2_REGION_ROLE_TASK, OTF2_PARADIGM_OPENMP};
    case compute_model::onetbb: return {OTF2_REGION_ROLE_TASK, OTF2_PARADIGM_TBBTHREAD};
    case compute_model::node: return {OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_TBBTHREAD};
    default: return {OTF2_REGION_ROLE_TASK, OTF2_PARADIGM_USER};
    }
}

[[nodiscard]] compute_model model_of(const rank_trace& of, const span& which) {
    const auto found = of.computes.find(which.id);
    return found == of.computes.end() ? compute_model{} : found->second.model;
}

} // namespace

otf2_names::region_kind region_kind_of(const rank_trace& of, const span& which) {
    switch (which.what) {
    case span_class::state: return {OTF2_REGION_ROLE_ARTIFICIAL, OTF2_PARADIGM_MEASUREMENT_SYSTEM};
    case span_class::wait: return {OTF2_REGION_ROLE_TASK_WAIT, OTF2_PARADIGM_USER};
    case span_class::compute: return kind_of_compute(model_of(of, which));
    case span_class::mpi: return {role_of_call(which.name), OTF2_PARADIGM_MPI};
    case span_class::openmp: return {role_of_openmp(which.name), OTF2_PARADIGM_OPENMP};
    case span_class::onetbb: return {OTF2_REGION_ROLE_PARALLEL, OTF2_PARADIGM_TBBTHREAD};
    case span_class::program: break;
    }
    return {OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_USER};
}

std::optional<OTF2_CollectiveOp> collective_of(std::string_view name) {
    const collective* const found = find_collective(name);
    return found == nullptr ? std::nullopt : std::optional{found->what};
}

access access_of(std::string_view name) {
    if (name == "put" || name == "put_notify") return access::put;
    if (name == "get" || name == "get_notify") return access::get;
    if (name == "accumulate") return access::accumulate;
    if (name == "get_accumulate" || name == "fetch_and_op") return access::fetch;
    return name == "compare_and_swap" ? access::swap : access::none;
}

std::string location_name(const rank_trace& of, const thread& who) {
    if (who.lane >= 0) return name_of(who);
    const auto is_of = [&](OTF2_Paradigm paradigm) {
        return std::ranges::any_of(who.spans,
                                   [&](const span& each) { return region_kind_of(of, each).paradigm == paradigm; });
    };
    if (is_of(OTF2_PARADIGM_TBBTHREAD)) return "oneTBB " + name_of(who);
    return (is_of(OTF2_PARADIGM_OPENMP) ? "OpenMP " : "") + name_of(who);
}

} // namespace commtask::tools
