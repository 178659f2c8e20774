// SPDX-License-Identifier: Apache-2.0
//
// The texts that explain a placement. Each names its CPUs, and says what would help if something
// was not possible.
#include "node/placement_text.hpp"

namespace commtask::detail {

namespace {

std::string cpus_text(const cpu_set& cpus) { return (cpus.size() == 1 ? "CPU " : "CPUs ") + cpus.text(); }

std::string counted(int n, const std::string& noun) { return std::to_string(n) + " " + noun + (n == 1 ? "" : "s"); }

std::string workers_text(int lanes) { return lanes == 1 ? "the worker shares" : "the workers share"; }

} // namespace

std::string foreign_cpu_text(const rank_request& request, int cpu) {
    return "COMMTASK_CORE=" + request.core + " names CPU " + std::to_string(cpu) +
           ", which no rank on this node may use; this rank may use " + request.cpus.text() +
           ", so name one of these, for example " + std::to_string(request.cpus.members().back()) + ", or auto.";
}

std::string list_too_short_text(const rank_request& request, const cpu_set& taken) {
    std::string sentence = "COMMTASK_CORE=" + request.core + " leaves this rank fewer than the " +
                           counted(request.lanes, "CPU") + " that it needs: it may use " + request.cpus.text();
    const cpu_set gone = taken & request.cpus;
    if (!gone.is_empty()) sentence += ", and other ranks on this node have taken " + gone.text();
    return sentence + "; the list must name another CPU for each lane of each rank on the node, or be auto.";
}

std::string reserved_text(const rank_placement& placement, const cpu_set& kept_from_computing) {
    std::string sentence;
    cpu_set pinned;
    for (std::size_t lane = 0; lane < placement.lane_cpus.size(); ++lane) {
        if (lane > 0) sentence += ", ";
        sentence +=
            "lane " + std::to_string(lane) + " has CPU " + std::to_string(placement.lane_cpus[lane]) + " to itself";
        pinned.insert(placement.lane_cpus[lane]);
    }
    const cpu_set idle_siblings = kept_from_computing - pinned;
    if (!idle_siblings.is_empty()) sentence += " (" + cpus_text(idle_siblings) + " of the same core stays idle)";
    return sentence + "; compute threads have " + cpus_text(placement.compute_cpus);
}

std::string only_cpu_named_text(const rank_request& request) {
    return "COMMTASK_CORE=" + request.core + " names all CPUs that the rank may use, so " +
           workers_text(request.lanes) + " " + request.cpus.text() + " with the compute threads";
}

std::string no_core_wanted_text(const rank_request& request) {
    const std::string cause = request.core == "none" ? "COMMTASK_CORE=none" : "COMMTASK_IDLE=shared";
    return cause + ": " + workers_text(request.lanes) + " " + cpus_text(request.cpus) + " with the compute threads";
}

std::string too_small_text(const rank_request& request) {
    if (request.cpus.is_empty()) return "the CPUs that the rank may use are not known, so no core is taken";
    return "the rank may use only " + cpus_text(request.cpus) + ", so " + workers_text(request.lanes) +
           (request.cpus.size() == 1 ? " it" : " them") + " with the compute threads; start the rank with at least " +
           counted(request.lanes + 1, "CPU") + " for a core of its own";
}

std::string crowded_text(std::size_t n_ranks, int n_workers, const cpu_set& cpus) {
    const int wanted = n_workers + static_cast<int>(n_ranks);
    return counted(static_cast<int>(n_ranks), "rank") + " on this node may use " + cpus_text(cpus) + ", and their " +
           counted(n_workers, "worker") + " beside one compute CPU each would need " + counted(wanted, "CPU") +
           ": the workers share with the compute threads; start fewer ranks per node or allow them more CPUs for cores "
           "of their own";
}

} // namespace commtask::detail
