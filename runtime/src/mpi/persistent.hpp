// SPDX-License-Identifier: Apache-2.0
//
// Which operations MPI keeps as persistent requests for a plan: messages. Collectives are issued again in every run, since a
// persistent one would match only persistent ones of all other ranks (ADR 0090).
#pragma once

#include "core/plan.hpp"

namespace commtask::detail {

/// Whether there is a persistent form of the operation in every MPI.
[[nodiscard]] bool is_kept(const commtask_op& op) noexcept;

/// MPI has freed a request because it failed. Of a persistent one that is a mistake, Open MPI 4.1's: the next run makes others.
void note_lost_request(task& which, std::uint32_t part) noexcept;

} // namespace commtask::detail
