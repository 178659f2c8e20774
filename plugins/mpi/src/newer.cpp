// SPDX-License-Identifier: Apache-2.0
//
// Functions that MPI-4.1 and later add: queries of several requests at once, built on the query of
// one request, and functions that convert handles to integers, which were macros before.
#include "handles.hpp"
#include "own.hpp"
#include "requests.hpp"
#include "status.hpp"

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
namespace commtask::interposer {
namespace {

#ifdef I_MPI_VERSION
using request_list = MPI_Request*; // Intel's mpi.h omits the standard's const
#else
using request_list = const MPI_Request*;
#endif

[[nodiscard]] bool is_active(MPI_Request request) {
    if (request == MPI_REQUEST_NULL) return false;
    return tracked(request).task != COMMTASK_NULL || persistents::find(request) == nullptr;
}

} // namespace

int own_MPI_Request_get_status_all(int count, request_list requests, int* flag, MPI_Status* statuses) {
    *flag = 1;
    for (int i = 0; i < count; ++i) {
        int has_come = 0;
        MPI_Status* const status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
        if (const int code = own_MPI_Request_get_status(requests[i], &has_come, status); code != MPI_SUCCESS)
            return code;
        if (has_come == 0) *flag = 0;
    }
    return MPI_SUCCESS;
}

int own_MPI_Request_get_status_any(int count, request_list requests, int* index, int* flag, MPI_Status* status) {
    *index = MPI_UNDEFINED;
    *flag = 1; // also if no request is active
    for (int i = 0; i < count; ++i) {
        if (!is_active(requests[i])) continue;
        if (const int code = own_MPI_Request_get_status(requests[i], flag, status); code != MPI_SUCCESS) return code;
        if (*flag == 0) continue;
        *index = i;
        return MPI_SUCCESS;
    }
    if (*flag == 1) copy_but_error(current.empty_status, status);
    return MPI_SUCCESS;
}

int own_MPI_Request_get_status_some(int count, request_list requests, int* n_ended, int* indices,
                                    MPI_Status* statuses) {
    int n_active = 0;
    *n_ended = 0;
    for (int i = 0; i < count; ++i) {
        if (!is_active(requests[i])) continue;
        ++n_active;
        int has_come = 0;
        MPI_Status* const status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[*n_ended];
        if (const int code = own_MPI_Request_get_status(requests[i], &has_come, status); code != MPI_SUCCESS)
            return code;
        if (has_come != 0) indices[(*n_ended)++] = i;
    }
    if (n_active == 0) *n_ended = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

#ifndef OMPI_MAJOR_VERSION
MPI_Fint own_MPI_Request_c2f(MPI_Request request) { return static_cast<MPI_Fint>(request); }
MPI_Request own_MPI_Request_f2c(MPI_Fint request) { return static_cast<MPI_Request>(request); }
int own_MPI_Request_toint(MPI_Request request) { return static_cast<int>(request); }
MPI_Request own_MPI_Request_fromint(int request) { return static_cast<MPI_Request>(request); }
#endif

} // namespace commtask::interposer
#endif
