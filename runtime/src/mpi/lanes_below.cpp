// SPDX-License-Identifier: Apache-2.0
//
// The sentences name what would help, where something does. What is not known of an MPI is said to be unknown: a wrong promise
// would cost a user more than none.
#include "mpi/lanes_below.hpp"

#include <algorithm>
#include <cstdlib>

namespace commtask::detail {
namespace {

constexpr const char* n_vcis_variable = "MPIR_CVAR_CH4_NUM_VCIS";
constexpr std::size_t most_vcis = 64; // MPICH's own limit

[[nodiscard]] bool has_vcis(const mpi_name& mpich) {
    const auto [major, minor, patch] = mpich.numbers();
    return major > 4 || (major == 4 && minor >= 1);
}

} // namespace

std::optional<setting_below> setting_for_lanes(const mpi_name& mpi, std::size_t n_lanes) {
    if (n_lanes < 2 || mpi.family != "mpich" || !has_vcis(mpi)) return std::nullopt;
    return setting_below{n_vcis_variable, std::to_string(std::min(n_lanes, most_vcis))};
}

lanes_in_mpi lanes_below(const mpi_name& mpi, std::size_t n_lanes, int n_vcis) {
    const std::string lanes = std::to_string(n_lanes) + " lanes";
    const auto take_turns = [&](const std::string& why) {
        return lanes_in_mpi{false, lanes + " take turns in " + mpi.text() + ": " + why};
    };
    if (mpi.family == "mpich") {
        if (!has_vcis(mpi)) return take_turns("it has one lock for all threads");
        const std::string variable = n_vcis_variable;
        if (n_vcis < static_cast<int>(std::min(n_lanes, most_vcis))) {
            return take_turns("set " + variable + "=" + std::to_string(n_lanes) +
                              " before MPI_Init for a network context for each");
        }
        return {true, lanes + " in " + mpi.text() + ", which has " + std::to_string(n_vcis) + " network contexts (" +
                          variable + ")"};
    }
    if (mpi.family == "openmpi") return take_turns("its network module has one lock for all threads");
    return {false, lanes + " in " + mpi.text() + ": whether its threads go on side by side is not known"};
}

lanes_in_mpi lanes_below(const mpi_name& mpi, std::size_t n_lanes) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): once, in commtask_init.
    const char* const text = std::getenv(n_vcis_variable);
    return lanes_below(mpi, n_lanes, text == nullptr ? 0 : static_cast<int>(std::strtol(text, nullptr, 10)));
}

} // namespace commtask::detail
