// SPDX-License-Identifier: Apache-2.0
//
// What the tests of lanes share: a library with as many lanes as the parameter says, and the end of a communicator that lanes
// serve, which is a task of one of them.
#pragma once

#include "runtime_test.hpp"

namespace commtask::test {

/// A communicator's end is a call like any other. Every rank's tasks on it have ended.
/// @param by  whose lane makes the call
inline void free_on_worker(MPI_Comm& comm, MPI_Comm by) {
    const auto free = [](void* freed) { return MPI_Comm_free(static_cast<MPI_Comm*>(freed)); };
    run(commtask_op_call(+free, &comm, by));
}

class RuntimeOnLanes : public Runtime, public testing::WithParamInterface<int> {
protected:
    [[nodiscard]] commtask_config configuration() const override {
        commtask_config settings = COMMTASK_CONFIG_INIT;
        settings.lanes = static_cast<unsigned>(GetParam());
        settings.verbose = COMMTASK_ZERO;
        return settings;
    }
};

} // namespace commtask::test
