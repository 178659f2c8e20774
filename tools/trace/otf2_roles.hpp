// SPDX-License-Identifier: Apache-2.0
//
// What OTF2 calls what a trace has: the role and the paradigm of a region, MPI's collectives, accesses to windows, and threads by
// whose they are. Readers sort and colour by these, so that a barrier is one whoever's it is.
#pragma once

#include "model.hpp"
#include "otf2_names.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace commtask::tools {

[[nodiscard]] otf2_names::region_kind region_kind_of(const rank_trace& of, const span& which);

/// What MPI calls the collective; the others are in no table of OTF2's.
[[nodiscard]] std::optional<OTF2_CollectiveOp> collective_of(std::string_view name);

/// What an operation on a window does there.
enum class access : std::uint8_t { none, put, get, accumulate, fetch, swap };
[[nodiscard]] access access_of(std::string_view name);

/// "worker of lane 0", "oneTBB thread 3 app".
[[nodiscard]] std::string location_name(const rank_trace& of, const thread& who);

} // namespace commtask::tools
