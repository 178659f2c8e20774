// SPDX-License-Identifier: Apache-2.0
//
// The blocking mode: MPI functions called in a task run other tasks while they wait. TAMPI suspends
// the task; libomp cannot, so the other tasks run on the stack of the waiting task, which continues
// when they have ended. Outside of tasks, and without MPI_TASK_MULTIPLE, each function is MPI's
// own.
#include "kmp.hpp"
#include "state.hpp"

#include <TAMPI.h>
#include <commtask/omp.h>
#include <commtask/omp_entries.h>

#include <sched.h>

using namespace commtask::tampi;

namespace {

bool is_asked_for() noexcept {
    return is_blocking.load(std::memory_order_relaxed) && commtask::omp::omp_in_explicit_task() != 0 &&
           commtask_in_progress_call() == 0;
}

/// Lets the thread run other tasks of the team, unless the current task has a mutex: if another
/// task needed the same mutex, the thread would wait for itself.
void let_others_run() noexcept {
    static commtask::omp::kmp_ident here{0, 2, 0, 0, ";commtask;tampi;0;0;;"};
    if (commtask_omp_binds_mutex_() == 0) {
        (void)commtask_omp_progress();
        (void)commtask::omp::__kmpc_omp_taskyield(&here, commtask::omp::__kmpc_global_thread_num(&here), 0);
    }
    sched_yield();
}

template <typename Test>
int wait(const Test& test) {
    int is_complete = 0;
    for (;;) {
        if (const int code = test(&is_complete); code != MPI_SUCCESS || is_complete != 0) {
            return code;
        }
        let_others_run();
    }
}

template <typename Start>
int wait_for(const Start& start, MPI_Status* status = MPI_STATUS_IGNORE) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = start(&request);
    return code == MPI_SUCCESS ? wait([&](int* flag) { return PMPI_Test(&request, flag, status); }) : code;
}

} // namespace

// The name, the nonblocking function, the parameters, and the parameters as arguments.
#define COMMTASK_TAMPI_BLOCKING(name, twin, parameters, ...)                                                           \
    extern "C" COMMTASK_TAMPI_API_ int MPI_##name parameters {                                                         \
        return is_asked_for() ? wait_for([&](MPI_Request* request) { return PMPI_##twin(__VA_ARGS__, request); })      \
                              : PMPI_##name(__VA_ARGS__);                                                              \
    }

#define COMMTASK_TAMPI_SEND(name, twin)                                                                                \
    COMMTASK_TAMPI_BLOCKING(name, twin,                                                                                \
                            (const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm),      \
                            buffer, count, type, dest, tag, comm)
#define COMMTASK_TAMPI_REDUCTION(name, twin)                                                                           \
    COMMTASK_TAMPI_BLOCKING(name, twin,                                                                                \
                            (const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),    \
                            send, recv, count, type, op, comm)
#define COMMTASK_TAMPI_ROOTED(name, twin)                                                                              \
    COMMTASK_TAMPI_BLOCKING(name, twin,                                                                                \
                            (const void* send, int send_count, MPI_Datatype send_type, void* recv, int recv_count,     \
                             MPI_Datatype recv_type, int root, MPI_Comm comm),                                         \
                            send, send_count, send_type, recv, recv_count, recv_type, root, comm)
#define COMMTASK_TAMPI_ALL(name, twin)                                                                                 \
    COMMTASK_TAMPI_BLOCKING(name, twin,                                                                                \
                            (const void* send, int send_count, MPI_Datatype send_type, void* recv, int recv_count,     \
                             MPI_Datatype recv_type, MPI_Comm comm),                                                   \
                            send, send_count, send_type, recv, recv_count, recv_type, comm)

COMMTASK_TAMPI_SEND(Send, Isend)
COMMTASK_TAMPI_SEND(Ssend, Issend)
COMMTASK_TAMPI_SEND(Rsend, Irsend)
COMMTASK_TAMPI_SEND(Bsend, Ibsend)
COMMTASK_TAMPI_BLOCKING(Barrier, Ibarrier, (MPI_Comm comm), comm)
COMMTASK_TAMPI_BLOCKING(Bcast, Ibcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm), buffer,
                        count, type, root, comm)
COMMTASK_TAMPI_ROOTED(Gather, Igather)
COMMTASK_TAMPI_ROOTED(Scatter, Iscatter)
COMMTASK_TAMPI_BLOCKING(Gatherv, Igatherv,
                        (const void* send, int send_count, MPI_Datatype send_type, void* recv, const int recv_counts[],
                         const int displs[], MPI_Datatype recv_type, int root, MPI_Comm comm),
                        send, send_count, send_type, recv, recv_counts, displs, recv_type, root, comm)
COMMTASK_TAMPI_BLOCKING(Scatterv, Iscatterv,
                        (const void* send, const int send_counts[], const int displs[], MPI_Datatype send_type,
                         void* recv, int recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm),
                        send, send_counts, displs, send_type, recv, recv_count, recv_type, root, comm)
COMMTASK_TAMPI_ALL(Allgather, Iallgather)
COMMTASK_TAMPI_ALL(Alltoall, Ialltoall)
COMMTASK_TAMPI_BLOCKING(Allgatherv, Iallgatherv,
                        (const void* send, int send_count, MPI_Datatype send_type, void* recv, const int recv_counts[],
                         const int displs[], MPI_Datatype recv_type, MPI_Comm comm),
                        send, send_count, send_type, recv, recv_counts, displs, recv_type, comm)
COMMTASK_TAMPI_BLOCKING(Alltoallv, Ialltoallv,
                        (const void* send, const int send_counts[], const int send_displs[], MPI_Datatype send_type,
                         void* recv, const int recv_counts[], const int recv_displs[], MPI_Datatype recv_type,
                         MPI_Comm comm),
                        send, send_counts, send_displs, send_type, recv, recv_counts, recv_displs, recv_type, comm)
COMMTASK_TAMPI_BLOCKING(Alltoallw, Ialltoallw,
                        (const void* send, const int send_counts[], const int send_displs[],
                         const MPI_Datatype send_types[], void* recv, const int recv_counts[], const int recv_displs[],
                         const MPI_Datatype recv_types[], MPI_Comm comm),
                        send, send_counts, send_displs, send_types, recv, recv_counts, recv_displs, recv_types, comm)
COMMTASK_TAMPI_BLOCKING(Reduce, Ireduce,
                        (const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, int root,
                         MPI_Comm comm),
                        send, recv, count, type, op, root, comm)
COMMTASK_TAMPI_REDUCTION(Allreduce, Iallreduce)
COMMTASK_TAMPI_REDUCTION(Scan, Iscan)
COMMTASK_TAMPI_REDUCTION(Exscan, Iexscan)
COMMTASK_TAMPI_REDUCTION(Reduce_scatter_block, Ireduce_scatter_block)
COMMTASK_TAMPI_BLOCKING(Reduce_scatter, Ireduce_scatter,
                        (const void* send, void* recv, const int recv_counts[], MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm),
                        send, recv, recv_counts, type, op, comm)

extern "C" {

COMMTASK_TAMPI_API_ int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                 MPI_Status* status) {
    return is_asked_for()
               ? wait_for(
                     [&](MPI_Request* request) { return PMPI_Irecv(buffer, count, type, source, tag, comm, request); },
                     status)
               : PMPI_Recv(buffer, count, type, source, tag, comm, status);
}

COMMTASK_TAMPI_API_ int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    return is_asked_for() ? wait([&](int* flag) { return PMPI_Test(request, flag, status); })
                          : PMPI_Wait(request, status);
}

COMMTASK_TAMPI_API_ int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    return is_asked_for() ? wait([&](int* flag) { return PMPI_Testall(count, requests, flag, statuses); })
                          : PMPI_Waitall(count, requests, statuses);
}
}
