/* SPDX-License-Identifier: Apache-2.0
 *
 * What the Fortran module commtask_omp calls: commtask_omp_spawn for an operation as Fortran describes it, with MPI handles
 * as Fortran's integers. A commtask_op is a C value whose fields may grow, so it is made on this side. C and C++ programs
 * have no use for this header. */
#ifndef COMMTASK_OMP_FORTRAN_H
#define COMMTASK_OMP_FORTRAN_H

#include <commtask/commtask.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One side of an operation: what is sent, or where it is received. All zero: the operation has no such side. */
typedef struct commtask_omp_fortran_side {
    const void* buffer; /**< Written on the receiving side; const because both sides share a type. */
    MPI_Count count;    /**< Elements, where `counts` is null. */
    const int*
        counts; /**< Elements for or from each rank; must live until the task has ended. Null: `count` is meant. */
    const int* displs;    /**< Where each rank's block begins, in elements; null where the operation has none. */
    MPI_Fint type;        /**< A Fortran handle; read only if has_type. */
    int has_type;         /**< Whether `type` is set. */
    int64_t displacement; /**< Where in a window or a file, of the side that is there. */
} commtask_omp_fortran_side;

/** An operation, with the fields of commtask_op that it uses. */
typedef struct commtask_omp_fortran_operation {
    size_t struct_size; /**< sizeof(commtask_omp_fortran_operation). */
    int kind;           /**< commtask_kind, of an operation that has a subroutine in Fortran. */
    MPI_Fint comm;      /**< A Fortran handle. */
    commtask_omp_fortran_side send;
    commtask_omp_fortran_side recv; /**< Also of bcast and sendrecv_replace. */
    int peer;                       /**< Destination or root. */
    int source;                     /**< Of a message that is received. */
    int send_tag;                   /**< Of a message that is sent. */
    int recv_tag;                   /**< Of a message that is received. */
    MPI_Fint reduction;             /**< A Fortran handle; read only if has_reduction. */
    int has_reduction;              /**< Whether `reduction` is set. */
    const int* dests;               /**< The ranks that receive, of an operation of many messages; else null. */
    const int* sources;             /**< The ranks that send, likewise. */
    commtask_plan_t plan;           /**< Of comm_task_plan. */
    MPI_Fint window;                /**< A Fortran handle; read only if has_window. */
    int has_window;                 /**< Whether `window` is set. */
    MPI_Fint file;                  /**< A Fortran handle; read only if has_file. */
    int has_file;                   /**< Whether `file` is set. */
    MPI_Fint group;                 /**< A Fortran handle; read only if has_group. */
    int has_group;                  /**< Whether `group` is set. */
} commtask_omp_fortran_operation;

/** The dependences of a task, and what may be said about it; as the parameters of commtask_omp_spawn. */
typedef struct commtask_omp_fortran_clauses {
    size_t struct_size;       /**< sizeof(commtask_omp_fortran_clauses). */
    uint32_t flags;           /**< COMMTASK_ORDERED, COMMTASK_UNORDERED or COMMTASK_NONE. */
    int priority;             /**< Of the OpenMP task. */
    size_t n_in;              /**< How many addresses `in` has. */
    const void* const* in;    /**< What the operation reads. */
    size_t n_out;             /**< How many addresses `out` has. */
    const void* const* out;   /**< What the operation writes. */
    size_t n_inout;           /**< How many addresses `inout` has. */
    const void* const* inout; /**< What it reads and writes. */
    commtask_status* status;  /**< As in commtask_omp_options; may be null. */
    int has_ierror;           /**< Other than 0: the program gave ierror, and so takes the code of a refusal. */
    int hold; /**< Other than 0: the operation holds the calling task; no task is created, so it has no dependences. */
} commtask_omp_fortran_clauses;

/** MPI_IN_PLACE of C, which has another value than Fortran's.
 *  @return the address to give as a send buffer. */
COMMTASK_API void* commtask_omp_fortran_in_place(void) COMMTASK_NOEXCEPT;

/** A task of an operation, or one that holds the calling task; on a thread that records, a member of its plan.
 *  @param operation  what to do; must not be null
 *  @param clauses    dependences; must not be null
 *  @return as commtask_omp_spawn, or as commtask_omp_bind_operation, or as commtask_post. */
COMMTASK_API int commtask_omp_fortran_spawn(const commtask_omp_fortran_operation* operation,
                                            const commtask_omp_fortran_clauses* clauses) COMMTASK_NOEXCEPT;

/** commtask_listen for Fortran's handles.
 *  @param comm       as there.
 *  @param tag        as there.
 *  @param max_bytes  as there.
 *  @param n_slots    as there.
 *  @param handler    as there.
 *  @param argument   as there.
 *  @param listener   as there.
 *  @return as there.
 *  @blocking As there. */
COMMTASK_API int commtask_omp_fortran_listen(MPI_Fint comm, int tag, size_t max_bytes, size_t n_slots,
                                             commtask_message_handler handler, void* argument,
                                             commtask_listener_t* listener) COMMTASK_NOEXCEPT;

/** commtask_win_register for Fortran's handles.
 *  @param window  as there.
 *  @param comm    as there.
 *  @return as there.
 *  @blocking As there. */
COMMTASK_API int commtask_omp_fortran_win_register(MPI_Fint window, MPI_Fint comm) COMMTASK_NOEXCEPT;

/** commtask_win_register_epochs for Fortran's handles.
 *  @param window  as there.
 *  @param comm    as there.
 *  @return as there.
 *  @blocking As there. */
COMMTASK_API int commtask_omp_fortran_win_register_epochs(MPI_Fint window, MPI_Fint comm) COMMTASK_NOEXCEPT;

/** commtask_win_unregister for Fortran's handles.
 *  @param window  as there.
 *  @return as there.
 *  @blocking As there. */
COMMTASK_API int commtask_omp_fortran_win_unregister(MPI_Fint window) COMMTASK_NOEXCEPT;

/** commtask_file_close for Fortran's handles.
 *  @param file  a file; MPI_FILE_NULL on success.
 *  @param comm  with the ranks that have opened it.
 *  @return as commtask_file_close. */
COMMTASK_API int commtask_omp_fortran_file_close(MPI_Fint* file, MPI_Fint comm) COMMTASK_NOEXCEPT;

/** commtask_omp_bind_requests for Fortran's handles.
 *  @param n_requests  how many.
 *  @param requests    as there.
 *  @return as there. */
COMMTASK_API int commtask_omp_fortran_hold_requests(size_t n_requests, MPI_Fint* requests) COMMTASK_NOEXCEPT;

/** Keeps the sentence of a code, for commtask_omp_last_error.
 *  @param code  what a function of commtask.h has just given to this thread; COMMTASK_OK and more is left alone.
 *  @return the code. */
COMMTASK_API int commtask_omp_fortran_note(int code) COMMTASK_NOEXCEPT;

/** commtask_record_begin; what commtask_omp_fortran_spawn is given from now on are members of a plan, whose dependences order them
 *  among each other.
 *  @return as there. */
COMMTASK_API int commtask_omp_fortran_record_begin(void) COMMTASK_NOEXCEPT;

/** commtask_record_end.
 *  @param plan  as there.
 *  @return as there. */
COMMTASK_API int commtask_omp_fortran_record_end(commtask_plan_t* plan) COMMTASK_NOEXCEPT;

/** commtask_record_check.
 *  @param plan  as there.
 *  @return as there. */
COMMTASK_API int commtask_omp_fortran_record_check(commtask_plan_t plan) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
