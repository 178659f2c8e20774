// SPDX-License-Identifier: Apache-2.0
//
// Uses MPI_T, which every MPI has. MPI_T counts its initialisations, so other tools in the process
// are not disturbed. Called once or twice, when the library starts with several lanes.
#include "mpi/network_contexts.hpp"

#include "mpi/identity.hpp"

#include <mpi.h>

namespace commtask::detail {
namespace {

/// @return 0: the variable cannot be read
[[nodiscard]] int read_number(const char* control_variable) noexcept {
    int level = 0;
    if (MPI_T_init_thread(MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS) return 0;
    int number = 0;
    int index = 0;
    int n_values = 0;
    MPI_T_cvar_handle handle{};
    if (MPI_T_cvar_get_index(control_variable, &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, nullptr, &handle, &n_values) == MPI_SUCCESS) {
        if (n_values != 1 || MPI_T_cvar_read(handle, &number) != MPI_SUCCESS) number = 0;
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return number;
}

} // namespace

lanes_in_mpi lanes_in_this_mpi(std::size_t n_lanes) {
    const mpi_identity& mpi = mpi_at_run_time();
    const auto number = [&](const char* variable) { return mpi.most_contexts > 1 ? read_number(variable) : 0; };
    return lanes_below(mpi, static_cast<int>(n_lanes), number(contexts_variable), number(reserved_variable));
}

} // namespace commtask::detail
