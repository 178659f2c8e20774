// SPDX-License-Identifier: Apache-2.0
//
// Attributes of MPI_COMM_SELF. Libraries use their delete callbacks to run code first in
// MPI_Finalize. The callbacks must therefore run while there is a worker.
#pragma once

namespace commtask::interposer {

/// Deletes the attributes that the program attached to MPI_COMM_SELF, the last one first, as
/// MPI_Finalize does. The callbacks may still communicate. MPI_Finalize calls this function while
/// the worker exists.
void delete_attributes_of_self();

} // namespace commtask::interposer
