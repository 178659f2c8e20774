// SPDX-License-Identifier: Apache-2.0
//
// The report as text: the MPI, the settings, then for each node the use of each CPU and the reason.
// The list of a large node is long on purpose: a user who looks for a misplaced thread needs every
// CPU, not a summary.
#include "info.hpp"

#include "base/cpu_set.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

namespace commtask::info {

namespace {

using detail::cpu_set;
using nlohmann::json;

std::string padded(std::string text, std::size_t width) {
    text.resize(std::max(width, text.size()), ' ');
    return text;
}

std::string counted(std::size_t n, const std::string& noun) {
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

void print_mpi(std::ostream& out, const json& mpi) {
    const std::string name = mpi["name"].get<std::string>();
    const std::string built_for = mpi["built_for"]["name"].get<std::string>();
    out << "MPI  " << mpi["library"].get<std::string>() << "\n     in " << mpi["file"].get<std::string>() << "\n";
    if (name != built_for)
        out << "     another version: commtask was built for " << built_for << " ("
            << mpi["built_for"]["file"].get<std::string>() << ")\n";
    if (!mpi["is_tested"].get<bool>())
        out << "     not tested: commtask's tests are run with " << mpi["tested"].get<std::string>()
            << " (docs/mpis.md)\n";
    out << "     standard " << mpi["standard"].get<std::string>() << ", compiled against "
        << mpi["compiled_against_standard"].get<std::string>() << ", thread level "
        << mpi["thread_level"].get<std::string>() << "\n";
    out << "     " << mpi["lanes"]["sentence"].get<std::string>() << "\n";
    for (const json& feature : mpi["features"])
        out << "     " << padded(feature["feature"].get<std::string>(), 30)
            << padded(feature["function"].get<std::string>(), 28) << (feature["is_there"].get<bool>() ? "yes" : "no")
            << "\n";
}

void print_configuration(std::ostream& out, const json& settings, const std::string& indent) {
    for (const json& setting : settings)
        out << indent << padded(setting["variable"].get<std::string>(), 30)
            << padded(setting["value"].get<std::string>(), 14) << setting["source"].get<std::string>() << "\n";
}

/// Ranks that use the CPUs of one core, for workers or for computing.
std::string users_of(const cpu_set& core, const json& ranks) {
    std::string workers;
    cpu_set computing;
    for (const json& rank : ranks) {
        const int number = rank["rank"].get<int>();
        std::size_t lane = 0;
        for (const json& cpu : rank["worker_cpus"]) {
            if (!cpu.is_null() && core.contains(cpu.get<int>()))
                workers += (workers.empty() ? "worker of rank " : "; worker of rank ") + std::to_string(number) +
                           (rank["worker_cpus"].size() > 1 ? " lane " + std::to_string(lane) : "");
            ++lane;
        }
        const auto cpus = cpu_set::from_text(rank["compute_cpus"].get<std::string>());
        if (cpus && cpus->intersects(core)) computing.insert(number);
    }
    if (computing.is_empty()) return workers.empty() ? "not used" : workers;
    if (!workers.empty()) workers += "; ";
    return workers + (computing.size() == 1 ? "compute of rank " : "compute of ranks ") + computing.text();
}

std::string worker_text(const json& rank) {
    std::string text;
    for (const json& cpu : rank["worker_cpus"]) {
        if (!text.empty()) text += ", ";
        text += cpu.is_null() ? "no CPU of its own" : "CPU " + std::to_string(cpu.get<int>());
    }
    return text + ", " + rank["idle"].get<std::string>();
}

/// A sentence that holds for many ranks of a node is printed for the first rank; the other ranks
/// refer to that rank.
class once {
public:
    void print(std::ostream& out, const json& rank, const std::string& kind, const std::string& sentence) {
        const int number = rank["rank"].get<int>();
        const int first = first_.try_emplace(kind + sentence, number).first->second;
        out << "    " << kind << (first == number ? sentence : "as rank " + std::to_string(first)) << "\n";
    }

private:
    std::map<std::string, int> first_;
};

void print_rank(std::ostream& out, const json& rank, once& said) {
    out << "  rank " << rank["rank"] << ": may use CPUs " << rank["cpus"].get<std::string>()
        << "; worker: " << worker_text(rank) << "; compute: " << rank["compute_cpus"].get<std::string>() << "\n";
    if (rank["error"].is_null())
        said.print(out, rank, rank["is_warning"].get<bool>() ? "warning: " : "because ",
                   rank["reason"].get<std::string>());
    else
        said.print(out, rank, "error: ", rank["error"].get<std::string>());
    for (const json& problem : rank["problems"])
        said.print(out, rank,
                   problem["is_warning"].get<bool>() ? "warning: " : "error: ", problem["sentence"].get<std::string>());
    const json& runtime = rank["runtime"];
    if (runtime["code"] != 0)
        said.print(out, rank, "the runtime does not start: ", runtime["error"].get<std::string>());
    else
        out << "    the runtime starts: worker "
            << (runtime["worker_cpu"].is_null() ? std::string{"without a CPU of its own"}
                                                : "on CPU " + std::to_string(runtime["worker_cpu"].get<int>()))
            << ", counts above INT_MAX " << (runtime["has_large_counts"].get<bool>() ? "carried" : "refused")
            << ", tags up to " << runtime["tag_upper_bound"] << "\n";
    if (rank.contains("configuration")) {
        out << "    settings of this rank, which differ from those of rank 0:\n";
        print_configuration(out, rank["configuration"], "      ");
    }
}

void print_node(std::ostream& out, const json& node) {
    const json& machine = node["machine"];
    std::size_t n_cpus = 0;
    for (const json& core : machine["cores"])
        n_cpus += static_cast<std::size_t>(cpu_set::from_text(core["cpus"].get<std::string>()).value().size());
    out << "\nNode " << machine["host"].get<std::string>() << ": "
        << counted(machine["packages"].get<std::size_t>(), "package") << ", "
        << counted(machine["cores"].size(), "core") << ", " << counted(n_cpus, "CPU") << ", network:";
    for (const json& device : machine["network"]) out << " " << device.get<std::string>();
    if (machine["network"].empty()) out << " none found";
    out << "\n";
    for (const json& core : machine["cores"]) {
        const std::string cpus = core["cpus"].get<std::string>();
        out << "  package " << core["package"] << "  " << padded("CPU " + cpus, 12) << "  "
            << users_of(cpu_set::from_text(cpus).value(), node["ranks"])
            << (core["is_near_network"].get<bool>() ? "  (near the network)" : "") << "\n";
    }
    once said;
    for (const json& rank : node["ranks"]) print_rank(out, rank, said);
}

} // namespace

std::string as_text(const json& report) {
    std::ostringstream out;
    out << "commtask " << report["commtask"].get<std::string>() << "\n\n";
    print_mpi(out, report["mpi"]);
    out << "\nSettings and where they come from (docs/configuration.md)\n";
    print_configuration(out, report["configuration"], "     ");
    for (const json& node : report["nodes"]) print_node(out, node);
    return out.str();
}

} // namespace commtask::info
