// SPDX-License-Identifier: Apache-2.0
//
// Attributes of MPI_COMM_SELF, whose delete callbacks are a program's hook on MPI_Finalize: the first thing that it does.
#pragma once

namespace commtask::interposer {

/// Deletes what the program has attached to MPI_COMM_SELF, the last one first, as MPI_Finalize would; the callbacks may
/// still communicate. For MPI_Finalize, while the worker is there.
void delete_attributes_of_self();

} // namespace commtask::interposer
