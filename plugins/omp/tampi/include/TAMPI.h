/* SPDX-License-Identifier: Apache-2.0 lint-allow(file-name): the name that programs for TAMPI include
 *
 * The interface of the Task-Aware MPI library (TAMPI) on commtask, for programs written for TAMPI,
 * with a stock compiler and libomp. Link with `pkg-config --cflags --libs commtask-tampi`;
 * docs/bind.md lists the differences from TAMPI. The names are TAMPI's, so they do not follow this
 * project's rules. */
#ifndef COMMTASK_TAMPI_H
#define COMMTASK_TAMPI_H

#include <mpi.h>

#if defined(_OMPSS_2) || defined(_OMPSS)
#error "this TAMPI.h is commtask's and serves OpenMP programs: OmpSs-2 has a runtime of its own, with a TAMPI for it"
#endif

/** The level that a program requests from MPI_Init_thread if its tasks call blocking functions of
 *  MPI (docs/bind.md). */
#define MPI_TASK_MULTIPLE (MPI_THREAD_MULTIPLE + 1)

#ifdef __cplusplus
extern "C" {
#endif

#define COMMTASK_TAMPI_API_ __attribute__((visibility("default")))

/** Binds a request to the calling task, as commtask_omp_bind_request does.
 *  As in TAMPI, the call does nothing in a program that did not request MPI_THREAD_MULTIPLE from
 *  MPI_Init_thread: the program must wait for the request itself.
 *  @param request  becomes MPI_REQUEST_NULL; MPI_REQUEST_NULL is ignored.
 *  @param status   written before the task's dependents run, or MPI_STATUS_IGNORE; must live until
 *                  then.
 *  @return MPI_SUCCESS, or MPI_ERR_OTHER after a message on stderr. */
COMMTASK_TAMPI_API_ int TAMPI_Iwait(MPI_Request* request, MPI_Status* status);

/** Calls TAMPI_Iwait for several requests.
 *  @param count     the number of requests.
 *  @param requests  as for TAMPI_Iwait.
 *  @param statuses  `count` statuses, or MPI_STATUSES_IGNORE.
 *  @return as TAMPI_Iwait. */
COMMTASK_TAMPI_API_ int TAMPI_Iwaitall(int count, MPI_Request requests[], MPI_Status statuses[]);

/** Tests whether blocking calls of MPI in tasks let the thread run other tasks.
 *  @param flag  1 after MPI_Init_thread provided MPI_TASK_MULTIPLE, else 0.
 *  @return MPI_SUCCESS. */
COMMTASK_TAMPI_API_ int TAMPI_Blocking_enabled(int* flag);

/** Tests whether messages can be bound to tasks.
 *  @param flag  1 after MPI_Init_thread provided at least MPI_THREAD_MULTIPLE, in a process where
 *               operations can be bound to tasks; else 0.
 *  @return MPI_SUCCESS. */
COMMTASK_TAMPI_API_ int TAMPI_Nonblocking_enabled(int* flag);

/* MPI's nonblocking functions without their request: the operation is bound to the calling task.
 * Up to TAMPI 3 these functions had the request as well. A call with a request does not compile,
 * and where the compiler supports it, the error message says what to change. */
#if defined(__clang__) && !defined(__cplusplus)
#define COMMTASK_TAMPI_OVERLOAD_ __attribute__((overloadable))
#define COMMTASK_TAMPI_SAYS_
#elif defined(__cplusplus)
#define COMMTASK_TAMPI_OVERLOAD_
#define COMMTASK_TAMPI_SAYS_
#endif
#ifdef COMMTASK_TAMPI_SAYS_
#define COMMTASK_TAMPI_REFUSE_(name, ...)                                                                              \
    COMMTASK_TAMPI_OVERLOAD_ int name(__VA_ARGS__, MPI_Request* request)                                               \
        __attribute__((unavailable(#name " has no request since TAMPI 4: leave it out, with the wait for it")));
#else
#define COMMTASK_TAMPI_REFUSE_(name, ...)
#endif
#ifdef __cplusplus
#define COMMTASK_TAMPI_DECLARE_(name, ...)                                                                             \
    COMMTASK_TAMPI_API_ int name(__VA_ARGS__);                                                                         \
    extern "C++" {                                                                                                     \
    COMMTASK_TAMPI_REFUSE_(name, __VA_ARGS__)                                                                          \
    }
#else
#define COMMTASK_TAMPI_DECLARE_(name, ...)                                                                             \
    COMMTASK_TAMPI_API_ int name(__VA_ARGS__);                                                                         \
    COMMTASK_TAMPI_REFUSE_(name, __VA_ARGS__)
#endif

COMMTASK_TAMPI_DECLARE_(TAMPI_Isend, const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
COMMTASK_TAMPI_DECLARE_(TAMPI_Issend, const void* buffer, int count, MPI_Datatype type, int dest, int tag,
                        MPI_Comm comm)
COMMTASK_TAMPI_DECLARE_(TAMPI_Irsend, const void* buffer, int count, MPI_Datatype type, int dest, int tag,
                        MPI_Comm comm)
COMMTASK_TAMPI_DECLARE_(TAMPI_Ibsend, const void* buffer, int count, MPI_Datatype type, int dest, int tag,
                        MPI_Comm comm)
COMMTASK_TAMPI_DECLARE_(TAMPI_Ibarrier, MPI_Comm comm)
COMMTASK_TAMPI_DECLARE_(TAMPI_Ibcast, void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
COMMTASK_TAMPI_DECLARE_(TAMPI_Igather, const void* send, int send_count, MPI_Datatype send_type, void* recv,
                        int recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm)
COMMTASK_TAMPI_DECLARE_(TAMPI_Igatherv, const void* send, int send_count, MPI_Datatype send_type, void* recv,
                        const int recv_counts[], const int displs[], MPI_Datatype recv_type, int root, MPI_Comm comm)
COMMTASK_TAMPI_DECLARE_(TAMPI_Iscatter, const void* send, int send_count, MPI_Datatype send_type, void* recv,
                        int recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm)
COMMTASK_TAMPI_DECLARE_(TAMPI_Iscatterv, const void* send, const int send_counts[], const int displs[],
                        MPI_Datatype send_type, void* recv, int recv_count, MPI_Datatype recv_type, int root,
                        MPI_Comm comm)
COMMTASK_TAMPI_DECLARE_(TAMPI_Iallgather, const void* send, int send_count, MPI_Datatype send_type, void* recv,
                        int recv_count, MPI_Datatype recv_type, MPI_Comm comm)
COMMTASK_TAMPI_DECLARE_(TAMPI_Iallgatherv, const void* send, int send_count, MPI_Datatype send_type, void* recv,
                        const int recv_counts[], const int displs[], MPI_Datatype recv_type, MPI_Comm comm)
COMMTASK_TAMPI_DECLARE_(TAMPI_Ialltoall, const void* send, int send_count, MPI_Datatype send_type, void* recv,
                        int recv_count, MPI_Datatype recv_type, MPI_Comm comm)
COMMTASK_TAMPI_DECLARE_(TAMPI_Ialltoallv, const void* send, const int send_counts[], const int send_displs[],
                        MPI_Datatype send_type, void* recv, const int recv_counts[], const int recv_displs[],
                        MPI_Datatype recv_type, MPI_Comm comm)
COMMTASK_TAMPI_DECLARE_(TAMPI_Ialltoallw, const void* send, const int send_counts[], const int send_displs[],
                        const MPI_Datatype send_types[], void* recv, const int recv_counts[], const int recv_displs[],
                        const MPI_Datatype recv_types[], MPI_Comm comm)
COMMTASK_TAMPI_DECLARE_(TAMPI_Ireduce, const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, int root,
                        MPI_Comm comm)
COMMTASK_TAMPI_DECLARE_(TAMPI_Iallreduce, const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm)
COMMTASK_TAMPI_DECLARE_(TAMPI_Ireduce_scatter, const void* send, void* recv, const int recv_counts[], MPI_Datatype type,
                        MPI_Op op, MPI_Comm comm)
COMMTASK_TAMPI_DECLARE_(TAMPI_Ireduce_scatter_block, const void* send, void* recv, int recv_count, MPI_Datatype type,
                        MPI_Op op, MPI_Comm comm)
COMMTASK_TAMPI_DECLARE_(TAMPI_Iscan, const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm)
COMMTASK_TAMPI_DECLARE_(TAMPI_Iexscan, const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm)

/** The only function below with a status: MPI_Irecv with a status in the place of its request.
 *  @param buffer  receives the data.
 *  @param count   of elements.
 *  @param type    of an element.
 *  @param source  a rank, or MPI_ANY_SOURCE.
 *  @param tag     a tag, or MPI_ANY_TAG.
 *  @param comm    the communicator.
 *  @param status  as for TAMPI_Iwait.
 *  @return as TAMPI_Iwait. */
COMMTASK_TAMPI_API_ int TAMPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                    MPI_Status* status);

/* Functions that TAMPI has or had, and this library does not: a call does not compile, and the
 * error message says what to change. The macros drop all arguments, since the names of TAMPI's
 * properties are not defined here either. */
#ifdef __has_attribute
#if __has_attribute(unavailable)
#define COMMTASK_TAMPI_NONE_(name, advice)                                                                             \
    int commtask_no_##name(void) __attribute__((unavailable(#name " is not part of commtask's TAMPI.h: " advice)));
COMMTASK_TAMPI_NONE_(TAMPI_Wait,
                     "TAMPI_I... hold their task since TAMPI 4; leave it out, or MPI_Wait for a request of MPI's own")
#define TAMPI_Wait(...) commtask_no_TAMPI_Wait()
COMMTASK_TAMPI_NONE_(TAMPI_Waitall,
                     "TAMPI_I... hold their task since TAMPI 4; leave it out, or MPI_Waitall for requests of MPI's own")
#define TAMPI_Waitall(...) commtask_no_TAMPI_Waitall()
COMMTASK_TAMPI_NONE_(TAMPI_Init, "leave it out; MPI_Init_thread starts commtask too")
#define TAMPI_Init(...) commtask_no_TAMPI_Init()
COMMTASK_TAMPI_NONE_(TAMPI_Finalize, "leave it out; MPI_Finalize ends commtask too")
#define TAMPI_Finalize(...) commtask_no_TAMPI_Finalize()
COMMTASK_TAMPI_NONE_(TAMPI_Property_set,
                     "leave it out; the mode is what MPI_Init_thread was asked for, and the same for all threads")
#define TAMPI_Property_set(...) commtask_no_TAMPI_Property_set()
COMMTASK_TAMPI_NONE_(TAMPI_Property_get, "ask TAMPI_Blocking_enabled and TAMPI_Nonblocking_enabled")
#define TAMPI_Property_get(...) commtask_no_TAMPI_Property_get()
COMMTASK_TAMPI_NONE_(TAMPI_Ineighbor_allgather, "MPI_Ineighbor_allgather, and TAMPI_Iwait for its request")
#define TAMPI_Ineighbor_allgather(...) commtask_no_TAMPI_Ineighbor_allgather()
COMMTASK_TAMPI_NONE_(TAMPI_Ineighbor_allgatherv, "MPI_Ineighbor_allgatherv, and TAMPI_Iwait for its request")
#define TAMPI_Ineighbor_allgatherv(...) commtask_no_TAMPI_Ineighbor_allgatherv()
COMMTASK_TAMPI_NONE_(TAMPI_Ineighbor_alltoall, "MPI_Ineighbor_alltoall, and TAMPI_Iwait for its request")
#define TAMPI_Ineighbor_alltoall(...) commtask_no_TAMPI_Ineighbor_alltoall()
COMMTASK_TAMPI_NONE_(TAMPI_Ineighbor_alltoallv, "MPI_Ineighbor_alltoallv, and TAMPI_Iwait for its request")
#define TAMPI_Ineighbor_alltoallv(...) commtask_no_TAMPI_Ineighbor_alltoallv()
COMMTASK_TAMPI_NONE_(TAMPI_Ineighbor_alltoallw, "MPI_Ineighbor_alltoallw, and TAMPI_Iwait for its request")
#define TAMPI_Ineighbor_alltoallw(...) commtask_no_TAMPI_Ineighbor_alltoallw()
#undef COMMTASK_TAMPI_NONE_
#endif
#endif

#ifdef __cplusplus
}
#endif
#endif
