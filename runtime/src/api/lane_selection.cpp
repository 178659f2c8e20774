// SPDX-License-Identifier: Apache-2.0
//
// commtask_lanes_choose and commtask_lanes_set. commtask_lanes_choose must return the same number
// on all ranks, since both ends of a message must choose the same communicator. All its inputs were
// agreed on in commtask_init, or come from the program.
#include "api/context.hpp"
#include "base/last_error.hpp"

#include <commtask/commtask.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>

namespace commtask::detail {
namespace {

[[nodiscard]] std::optional<burst_kind> kind_of(int kind) noexcept {
    switch (kind) {
    case COMMTASK_BURST_MESSAGES: return burst_kind::messages;
    case COMMTASK_BURST_PUTS: return burst_kind::puts;
    case COMMTASK_BURST_COLLECTIVES: return burst_kind::collectives;
    default: return std::nullopt;
    }
}

/// The number of lanes available to a caller that asks for at most `most_lanes`.
[[nodiscard]] unsigned limit_of(context& runtime, unsigned most_lanes) noexcept {
    const lane_selection& known = runtime.selection();
    if (!known.is_measured && !known.are_independent) return 1;
    const auto at_work = static_cast<unsigned>(runtime.lanes().n_at_work());
    return std::min(at_work, most_lanes == 0 ? known.n_lanes_with_cores : most_lanes);
}

} // namespace
} // namespace commtask::detail

using namespace commtask::detail;

int commtask_lanes_choose(const commtask_burst* burst, commtask_lane_choice* choice) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (burst == nullptr || choice == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "burst or choice is null");
    if (burst->struct_size == 0 || choice->struct_size == 0) {
        return refuse(COMMTASK_ERR_ARGUMENT, "struct_size of burst or choice is 0: start from COMMTASK_BURST_INIT and "
                                             "COMMTASK_LANE_CHOICE_INIT");
    }
    commtask_burst known{};
    std::memcpy(&known, burst, std::min(sizeof known, burst->struct_size));
    if (known.n_messages == 0) return refuse(COMMTASK_ERR_ARGUMENT, "n_messages of burst is 0, and must be at least 1");
    const std::optional<burst_kind> kind = kind_of(known.kind);
    if (!kind) {
        return refuse(COMMTASK_ERR_ARGUMENT,
                      "kind of burst is %d, and must be COMMTASK_BURST_MESSAGES, COMMTASK_BURST_PUTS or "
                      "COMMTASK_BURST_COLLECTIVES",
                      known.kind);
    }
    const lane_choice made =
        choose_lanes(runtime->selection().tables, message_burst{known.size_bytes, known.n_messages, *kind},
                     limit_of(*runtime, known.most_lanes));
    commtask_lane_choice full{};
    full.struct_size = choice->struct_size;
    full.n_lanes = made.n_lanes;
    full.in_row = made.in_row;
    full.in_flight = made.in_flight;
    std::memcpy(choice, &full, std::min(sizeof full, choice->struct_size));
    return COMMTASK_OK;
}

int commtask_lanes_set(int n_lanes) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    const auto n_all = static_cast<int>(runtime->lanes().size());
    if (n_lanes < 1 || n_lanes > n_all) {
        return refuse(COMMTASK_ERR_ARGUMENT,
                      "n_lanes is %d, and must be from 1 to %d, the number of lanes (COMMTASK_LANES)", n_lanes, n_all);
    }
    runtime->set_lanes_at_work(static_cast<std::size_t>(n_lanes));
    return COMMTASK_OK;
}
