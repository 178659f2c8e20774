// SPDX-License-Identifier: Apache-2.0
//
// The messages name a remedy if there is one. A property that is unknown for an MPI is reported as
// unknown, since a wrong promise would cost a user more than none.
#include "mpi/lanes_below.hpp"

#include "core/lane_set.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace commtask::detail {
namespace {

/// The number of contexts that MPICH has left for lanes.
[[nodiscard]] int most_for_lanes(const mpi_name& mpi, int n_reserved) {
    return mpi.most_contexts - std::max(0, n_reserved);
}

} // namespace

std::string why_not_lanes(const mpi_name& mpi, int n_lanes, const char* thread_split) {
    constexpr std::array<std::string_view, 5> off{"", "0", "no", "off", "disable"};
    if (mpi.family != "intel" || n_lanes < 2 || thread_split == nullptr) return "";
    if (std::ranges::find(off, thread_split) != off.end()) return "";
    // This setting removes MPI's lock, and a communicator without the info key thread_id belongs to
    // the first thread: with two of these on two lanes Intel MPI 2021.19 aborts. Lanes serve any
    // communicator.
    return std::string{thread_split_variable} + "=" + thread_split + " has " + mpi.text() +
           " abort where two lanes use communicators without its info key thread_id: unset it, or set COMMTASK_LANES=1";
}

std::optional<setting_below> setting_for_lanes(const mpi_name& mpi, int n_lanes, int n_reserved) {
    const int n_contexts = std::min(n_lanes, most_for_lanes(mpi, n_reserved));
    // commtask_init refuses more lanes than most_lanes, and MPICH 5.0.2 crashes in MPI_Init with 48
    // and with 64 contexts.
    if (n_contexts < 2 || n_lanes > static_cast<int>(most_lanes)) return std::nullopt;
    return setting_below{contexts_variable, std::to_string(n_contexts)};
}

lanes_in_mpi lanes_below(const mpi_name& mpi, int n_lanes, int n_contexts, int n_reserved) {
    const std::string lanes = std::to_string(n_lanes) + " lanes";
    const auto take_turns = [&](const std::string& why) {
        return lanes_in_mpi{false, lanes + " take turns in " + mpi.text() + ": " + why};
    };
    if (mpi.family == "mpich") {
        if (mpi.most_contexts == 1)
            return take_turns("it is made for one network context, with one lock for all threads");
        if (most_for_lanes(mpi, n_reserved) < n_lanes)
            return take_turns("it is made for " + std::to_string(mpi.most_contexts) + " network contexts" +
                              (n_reserved > 0 ? ", of which " + std::to_string(n_reserved) + " are reserved" : ""));
        const std::string variable = contexts_variable;
        if (n_contexts < n_lanes) {
            return take_turns("set " + variable + "=" + std::to_string(n_lanes) +
                              " before MPI_Init for a network context for each");
        }
        return {true, lanes + " in " + mpi.text() + ", which has " + std::to_string(n_contexts) +
                          " network contexts (" + variable + ")"};
    }
    if (mpi.family == "openmpi") return take_turns("its network module has one lock for all threads");
    if (mpi.family == "intel") {
        return take_turns("it has one lock for all threads, but with I_MPI_THREAD_SPLIT=1, which lanes cannot use");
    }
    return {false, lanes + " in " + mpi.text() + ": whether its threads run in parallel is not known"};
}

} // namespace commtask::detail
