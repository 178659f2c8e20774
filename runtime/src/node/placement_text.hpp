// SPDX-License-Identifier: Apache-2.0
//
// The texts that explain a placement, apart from the decision, so that a change of wording cannot
// change a map. Users see them in the warning, in commtask-info and with COMMTASK_VERBOSE=2.
#pragma once

#include "node/placement.hpp"

#include <cstddef>
#include <string>

namespace commtask::detail {

[[nodiscard]] std::string foreign_cpu_text(const rank_request& request, int cpu);
[[nodiscard]] std::string list_too_short_text(const rank_request& request, const cpu_set& taken);
[[nodiscard]] std::string reserved_text(const rank_placement& placement, const cpu_set& kept_from_computing);
[[nodiscard]] std::string only_cpu_named_text(const rank_request& request);
[[nodiscard]] std::string no_core_wanted_text(const rank_request& request);
[[nodiscard]] std::string too_small_text(const rank_request& request);
[[nodiscard]] std::string crowded_text(std::size_t n_ranks, int n_workers, const cpu_set& cpus);

} // namespace commtask::detail
