// SPDX-License-Identifier: Apache-2.0
// The table and its JSON from the same numbers; what the table rounds, the JSON keeps.
// Names of the JSON's fields are those that bench and the report tools read.
#include "common/report_json.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace miniapp {

phase_times& phase_times::operator+=(const phase_times& other) {
    internal += other.internal;
    external += other.external;
    post += other.post;
    wait += other.wait;
    total += other.total;
    return *this;
}

std::vector<timing> per_step(std::span<const phase_times> mine, int n_steps, MPI_Comm comm) {
    int n_ranks = 1;
    MPI_Comm_size(comm, &n_ranks);
    const double share = 1.0 / n_steps / n_ranks;
    std::vector<timing> all;
    for (const phase_times& run : mine) {
        std::array sums{run.internal * share, run.external * share, run.post * share, run.wait * share,
                        run.total * share};
        double slowest = run.total / n_steps;
        MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, comm);
        MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm);
        all.push_back({{sums[0], sums[1], sums[2], sums[3], sums[4]}, slowest});
    }
    std::ranges::sort(all, {}, &timing::slowest_total);
    return all;
}

namespace {

void print_facts(const nlohmann::ordered_json& told, const std::string& of) {
    for (const auto& [key, value] : told.items()) {
        if (value.is_object()) {
            print_facts(value, of + key + " ");
        } else {
            const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
            std::printf("%-24s %s\n", (of + key).c_str(), text.c_str());
        }
    }
}

void print_table(const char* mode, const timing& of, double message_seconds, const phase_names& names) {
    const phase_times& mean = of.mean;
    const bool is_us = names.unit < 1e-5;
    std::printf("\n%-14s", (std::string("per ") + names.step + (is_us ? " [us]" : " [ms]")).c_str());
    for (const char* title : {names.internal, names.external, "post", "wait", "misc", "total", "overlap"}) {
        if (title != nullptr) std::printf("%10s", title);
    }
    std::printf("\n%-14s", mode);
    for (const auto& [title, seconds] : {std::pair{names.internal, mean.internal},
                                         {names.external, mean.external},
                                         {"post", mean.post},
                                         {"wait", mean.wait},
                                         {"misc", mean.misc()},
                                         {"total", mean.total}}) {
        if (title != nullptr) std::printf("%10.*f", is_us ? 2 : 3, seconds / names.unit);
    }
    const std::string share = std::to_string(std::lround(of.overlap(message_seconds) * 100)) + "%";
    std::printf("%10s\n\n", message_seconds > 0 ? share.c_str() : "-");
}

nlohmann::ordered_json to_json(const timing& of, double message_seconds, const phase_names& names) {
    nlohmann::ordered_json all{{std::string(names.internal) + "_us", of.mean.internal * 1e6},
                               {"post_us", of.mean.post * 1e6},
                               {"wait_us", of.mean.wait * 1e6},
                               {"misc_us", of.mean.misc() * 1e6},
                               {"total_us", of.mean.total * 1e6},
                               {"slowest_total_us", of.slowest_total * 1e6},
                               {"overlap", of.overlap(message_seconds)}};
    if (names.external != nullptr) all[std::string(names.external) + "_us"] = of.mean.external * 1e6;
    return all;
}

} // namespace

void tell_times(nlohmann::ordered_json& told, const char* mode, std::span<const timing> runs, double message_seconds,
                const phase_names& names, const told_of_run& also) {
    const timing& median = runs[runs.size() / 2];
    told["mpi_library"] = mpi_library();
    told["mode"] = mode;
    print_facts(told, "");
    print_table(mode, median, message_seconds, names);
    for (const timing& one : runs) {
        nlohmann::ordered_json all = to_json(one, message_seconds, names);
        if (also) all.update(also(one));
        told["repeats"].push_back(std::move(all));
    }
    if (!also) return;
    const nlohmann::ordered_json beside = also(median); // outlives the loop over its items
    for (const auto& [key, value] : beside.items()) {
        std::printf("%s %.4g, median of %zu runs, %.4g to %.4g\n", key.c_str(), value.get<double>(), runs.size(),
                    told["repeats"].back()[key].get<double>(), told["repeats"].front()[key].get<double>());
    }
}

} // namespace miniapp
