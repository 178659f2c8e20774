// SPDX-License-Identifier: Apache-2.0
//
// Fortran integers for the interposer's request handles. Open MPI's Fortran library converts
// handles with MPI_Request_c2f and MPI_Request_f2c. In MPICH a handle is already an integer, and
// the two are macros.
#include "handles.hpp"
#include "own.hpp"

#ifdef OMPI_MAJOR_VERSION
namespace commtask::interposer {
namespace {

constexpr MPI_Fint ours = 0x40000000; // above the largest index of Open MPI's table of handles

} // namespace

MPI_Fint own_MPI_Request_c2f(MPI_Request request) {
    if (!handles::is_ours(request)) return commtask_real_MPI_Request_c2f(request);
    return ours | static_cast<MPI_Fint>(handles::slot_of(request) - handles::first);
}

MPI_Request own_MPI_Request_f2c(MPI_Fint request) {
    if (request < ours) return commtask_real_MPI_Request_f2c(request);
    return handles::handle_of(handles::first + (request & ~ours));
}

} // namespace commtask::interposer
#endif
