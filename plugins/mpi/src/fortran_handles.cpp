// SPDX-License-Identifier: Apache-2.0
//
// Fortran's integers for requests of ours. Open MPI's Fortran library asks MPI_Request_c2f and MPI_Request_f2c for them; in
// MPICH a handle is an integer already, and the two are macros.
#include "handles.hpp"
#include "own.hpp"

#ifdef OMPI_MAJOR_VERSION
namespace commtask::interposer {
namespace {

constexpr MPI_Fint ours = 0x40000000; // above what Open MPI's table of handles can grow to

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
