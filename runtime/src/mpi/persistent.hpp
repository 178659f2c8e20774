// SPDX-License-Identifier: Apache-2.0
//
// Which operations of a plan have persistent requests: messages. Collectives are issued again in
// every run, since a persistent collective matches only persistent collectives of all other ranks
// (ADR 0012).
#pragma once

#include "core/plan.hpp"

namespace commtask::detail {

/// Whether every MPI has a persistent form of the operation.
[[nodiscard]] bool is_kept(const commtask_op& op) noexcept;

} // namespace commtask::detail
