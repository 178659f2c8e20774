// SPDX-License-Identifier: Apache-2.0
//
// What the engine tells of operations that other ranks may wait for, where the ranks of a node ring each other's doorbells
// (doorbell/node_ringer.hpp). An engine without doorbells has none of these, and pays a branch for each event.
#pragma once

#include "core/task.hpp"

namespace commtask::detail {

class node_observer {
public:
    // The lane's progress thread -------------------------------------------------------------------------------------------

    /// MPI's call is about to be made.
    virtual void starting(const task& which) noexcept = 0;
    /// MPI has it, and may have ended it: then it has no open parts, and ended() does not come.
    virtual void started(task& which) noexcept = 0;
    virtual void ended(const task& which) noexcept = 0;
    /// In every pass with something to do.
    virtual void polled() noexcept = 0;
    /// Whether it has something to send that MPI did not take yet.
    [[nodiscard]] virtual bool has_unsent() const noexcept = 0;

    // The lane's worker ----------------------------------------------------------------------------------------------------

    /// Whether whoever moves what is in flight rings.
    [[nodiscard]] virtual bool is_rung_for_all() const noexcept = 0;
    /// It is about to wait for that.
    virtual void arming() noexcept = 0;

    /// Any thread. Whether ranks of the node wait for this lane to hear of messages from other nodes.
    [[nodiscard]] virtual bool must_listen() const noexcept = 0;
    /// Once nobody makes progress. Workers of the node that this lane has woken.
    [[nodiscard]] virtual std::uint64_t n_rung() const noexcept = 0;

protected:
    ~node_observer() = default;
};

} // namespace commtask::detail
