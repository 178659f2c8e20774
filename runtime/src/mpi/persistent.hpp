// SPDX-License-Identifier: Apache-2.0
//
// Which operations MPI keeps as persistent requests for a plan: messages. Collectives are issued again in every run, since a
// persistent one would match only persistent ones of all other ranks (ADR 0012).
#pragma once

#include "core/plan.hpp"

namespace commtask::detail {

/// Whether there is a persistent form of the operation in every MPI.
[[nodiscard]] bool is_kept(const commtask_op& op) noexcept;

} // namespace commtask::detail
