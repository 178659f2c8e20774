// SPDX-License-Identifier: Apache-2.0
//
// Attributes of MPI_COMM_SELF: their delete callbacks are what a program's libraries have MPI_Finalize do, before anything
// else, so they must run while there is a worker.
#pragma once

namespace commtask::interposer {

/// Deletes what the program has attached to MPI_COMM_SELF, the last one first, as MPI_Finalize would; the callbacks may
/// still communicate. For MPI_Finalize, while the worker is there.
void delete_attributes_of_self();

} // namespace commtask::interposer
