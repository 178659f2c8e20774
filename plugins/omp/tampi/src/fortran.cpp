// SPDX-License-Identifier: Apache-2.0
//
// TAMPI's Fortran interface: the symbols of CALL TAMPI_ISEND(...), with a request that is null
// afterwards, as documented for TAMPI up to release 3; later releases have no Fortran. A wait for
// such a request does nothing, since the task waits. A program that did not request
// MPI_THREAD_MULTIPLE gets MPI's own operations and waits for them, so one source works with and
// without tasks.
#include "state.hpp"

#include <TAMPI.h>
#include <commtask/commtask.h>

#include <algorithm>
#include <cstddef>

#include <dlfcn.h>

namespace {

using commtask::tampi::is_started;
using commtask::tampi::is_wanted;

MPI_Fint* const fortran_ignores_status = MPI_F_STATUS_IGNORE;
MPI_Fint* const fortran_ignores_statuses = MPI_F_STATUSES_IGNORE;

/// A status of Fortran's older bindings has the bytes of C's, as integers, in both MPIs that this
/// library supports.
MPI_Status* status_of(MPI_Fint* status) noexcept {
    return status == fortran_ignores_status ? MPI_STATUS_IGNORE : reinterpret_cast<MPI_Status*>(status);
}

/// Calls `act(&request, status)` for each Fortran request in turn, until a call fails. @return
/// MPI's code.
template <typename Act>
MPI_Fint with_each(MPI_Fint count, MPI_Fint* requests, MPI_Fint* statuses, const Act& act) noexcept {
    const bool are_ignored = statuses == fortran_ignores_statuses || statuses == fortran_ignores_status;
    constexpr auto words = sizeof(MPI_Status) / sizeof(MPI_Fint);
    MPI_Fint code = MPI_SUCCESS;
    for (MPI_Fint i = 0; i < count && code == MPI_SUCCESS; ++i) {
        MPI_Request request = MPI_Request_f2c(requests[i]);
        code =
            act(&request, are_ignored ? MPI_STATUS_IGNORE : status_of(statuses + static_cast<std::size_t>(i) * words));
        requests[i] = MPI_Request_c2f(request);
    }
    return code;
}

// In some MPIs, MPI_INIT_THREAD of Fortran does not call MPI_Init_thread of C, which this library
// interposes, and some receives do not call MPI_Recv. The blocking mode cannot work there, so no
// Fortran program gets it. `error` may be null in mpi_f08.
void init_thread(const char* name, MPI_Fint required, MPI_Fint* provided, MPI_Fint* error) noexcept {
    using function = void(const MPI_Fint*, MPI_Fint*, MPI_Fint*);
    const MPI_Fint known = std::min<MPI_Fint>(required, MPI_THREAD_MULTIPLE);
    MPI_Fint code = MPI_SUCCESS;
    reinterpret_cast<function*>(dlsym(RTLD_NEXT, name))(&known, provided, &code);
    if (error != nullptr) {
        *error = code;
    }
    if (code != MPI_SUCCESS) {
        return;
    }
    commtask::tampi::begin(known, provided);
    if (required >= MPI_TASK_MULTIPLE) {
        commtask_print(
            "MPI_TASK_MULTIPLE was requested from Fortran, where blocking MPI functions block their thread: "
            "MPI_THREAD_MULTIPLE is provided instead; use TAMPI_Iwait, or the TAMPI_I... subroutines, in tasks");
    }
}

void finalize(const char* name, MPI_Fint* error) noexcept {
    using function = void(MPI_Fint*);
    commtask::tampi::end();
    reinterpret_cast<function*>(dlsym(RTLD_NEXT, name))(error);
}

} // namespace

#define COMMTASK_TAMPI_LIST_(...) __VA_ARGS__
// The symbol, the name, the parameters before the request, and the parameters in C.
#define COMMTASK_TAMPI_FORTRAN(symbol, name, parameters, ...)                                                          \
    extern "C" COMMTASK_TAMPI_API_ void symbol(COMMTASK_TAMPI_LIST_ parameters, MPI_Fint* request, MPI_Fint* error) {  \
        MPI_Request own = MPI_REQUEST_NULL;                                                                            \
        *error = is_started ? TAMPI_##name(__VA_ARGS__) : PMPI_##name(__VA_ARGS__, &own);                              \
        *request = MPI_Request_c2f(own);                                                                               \
    }

#define COMMTASK_TAMPI_FORTRAN_SEND(symbol, name)                                                                      \
    COMMTASK_TAMPI_FORTRAN(symbol, name,                                                                               \
                           (const void* buffer, const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* dest,     \
                            const MPI_Fint* tag, const MPI_Fint* comm),                                                \
                           buffer, *count, MPI_Type_f2c(*type), *dest, *tag, MPI_Comm_f2c(*comm))

COMMTASK_TAMPI_FORTRAN_SEND(tampi_isend_, Isend)
COMMTASK_TAMPI_FORTRAN_SEND(tampi_issend_, Issend)
COMMTASK_TAMPI_FORTRAN_SEND(tampi_irsend_, Irsend)
COMMTASK_TAMPI_FORTRAN_SEND(tampi_ibsend_, Ibsend)
COMMTASK_TAMPI_FORTRAN(tampi_ibarrier_, Ibarrier, (const MPI_Fint* comm), MPI_Comm_f2c(*comm))
COMMTASK_TAMPI_FORTRAN(tampi_ibcast_, Ibcast,
                       (void* buffer, const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* root,
                        const MPI_Fint* comm),
                       buffer, *count, MPI_Type_f2c(*type), *root, MPI_Comm_f2c(*comm))
COMMTASK_TAMPI_FORTRAN(tampi_iallreduce_, Iallreduce,
                       (const void* send, void* recv, const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* op,
                        const MPI_Fint* comm),
                       send, recv, *count, MPI_Type_f2c(*type), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm))

extern "C" {

COMMTASK_TAMPI_API_ void mpi_init_thread_(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
    init_thread("mpi_init_thread_", *required, provided, error);
}

COMMTASK_TAMPI_API_ void mpi_init_thread_f08_(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
    init_thread("mpi_init_thread_f08_", *required, provided, error);
}

COMMTASK_TAMPI_API_ void mpi_finalize_(MPI_Fint* error) { finalize("mpi_finalize_", error); }

COMMTASK_TAMPI_API_ void mpi_finalize_f08_(MPI_Fint* error) { finalize("mpi_finalize_f08_", error); }

COMMTASK_TAMPI_API_ void tampi_irecv_(void* buffer, const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* source,
                                      const MPI_Fint* tag, const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* status,
                                      MPI_Fint* error) {
    MPI_Request own = MPI_REQUEST_NULL;
    *error = is_started ? TAMPI_Irecv(buffer, *count, MPI_Type_f2c(*type), *source, *tag, MPI_Comm_f2c(*comm),
                                      status_of(status))
                        : PMPI_Irecv(buffer, *count, MPI_Type_f2c(*type), *source, *tag, MPI_Comm_f2c(*comm), &own);
    *request = MPI_Request_c2f(own);
}

COMMTASK_TAMPI_API_ void tampi_iwaitall_(const MPI_Fint* count, MPI_Fint* requests, MPI_Fint* statuses,
                                         MPI_Fint* error) {
    *error = is_wanted ? with_each(*count, requests, statuses, TAMPI_Iwait) : MPI_SUCCESS;
}

COMMTASK_TAMPI_API_ void tampi_iwait_(MPI_Fint* request, MPI_Fint* status, MPI_Fint* error) {
    constexpr MPI_Fint one = 1;
    tampi_iwaitall_(&one, request, status, error);
}

COMMTASK_TAMPI_API_ void tampi_waitall_(const MPI_Fint* count, MPI_Fint* requests, MPI_Fint* statuses,
                                        MPI_Fint* error) {
    *error = is_started ? MPI_SUCCESS : with_each(*count, requests, statuses, PMPI_Wait);
}

COMMTASK_TAMPI_API_ void tampi_wait_(MPI_Fint* request, MPI_Fint* status, MPI_Fint* error) {
    constexpr MPI_Fint one = 1;
    tampi_waitall_(&one, request, status, error);
}
}
