/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that the Fortran module commtask_omp calls, with MPI handles as Fortran integers; not
 * installed. Fortran cannot make a commtask_op, so these functions make one from the module's
 * description of an operation. */
#ifndef COMMTASK_OMP_FORTRAN_H
#define COMMTASK_OMP_FORTRAN_H

#include <commtask/commtask.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The send or the receive side of an operation. All zero: the operation has no such side. */
typedef struct commtask_omp_fortran_side {
    const void* buffer;   /**< Written on the receiving side; const because both sides share this type. */
    MPI_Count count;      /**< The number of elements, if `counts` is null. */
    const int* counts;    /**< Elements for or from each rank; must live until the task has ended. Null:
                               `count` is used. */
    const int* displs;    /**< The displacement of each rank's block in elements; null: the operation has
                               none. */
    MPI_Fint type;        /**< A Fortran handle; read only if has_type. */
    int has_type;         /**< Whether `type` is set. */
    int64_t displacement; /**< The offset in a window or a file, of the side that is present. */
} commtask_omp_fortran_side;

/** An operation, with the fields of commtask_op that it uses. */
typedef struct commtask_omp_fortran_operation {
    size_t struct_size; /**< sizeof(commtask_omp_fortran_operation). */
    int kind;           /**< commtask_kind, of an operation that has a subroutine in Fortran. */
    MPI_Fint comm;      /**< A Fortran handle. */
    commtask_omp_fortran_side send;
    commtask_omp_fortran_side recv; /**< Also for bcast and sendrecv_replace. */
    int peer;                       /**< Destination or root. */
    int source;                     /**< The source of a received message. */
    int send_tag;                   /**< The tag of a sent message. */
    int recv_tag;                   /**< The tag of a received message. */
    MPI_Fint reduction;             /**< A Fortran handle; read only if has_reduction. */
    int has_reduction;              /**< Whether `reduction` is set. */
    const int* dests;               /**< The receiving ranks, for an operation of many messages; else
                                         null. */
    const int* sources;             /**< The sending ranks, for an operation of many messages; else null. */
    commtask_plan_t plan;           /**< For comm_task_plan. */
    MPI_Fint window;                /**< A Fortran handle; read only if has_window. */
    int has_window;                 /**< Whether `window` is set. */
    MPI_Fint file;                  /**< A Fortran handle; read only if has_file. */
    int has_file;                   /**< Whether `file` is set. */
    MPI_Fint group;                 /**< A Fortran handle; read only if has_group. */
    int has_group;                  /**< Whether `group` is set. */
} commtask_omp_fortran_operation;

/** The dependences and options of a task, as the parameters of commtask_omp_spawn. */
typedef struct commtask_omp_fortran_clauses {
    size_t struct_size;       /**< sizeof(commtask_omp_fortran_clauses). */
    uint32_t flags;           /**< COMMTASK_ORDERED, COMMTASK_UNORDERED or COMMTASK_NONE. */
    int priority;             /**< Of the OpenMP task. */
    size_t n_in;              /**< The number of addresses in `in`. */
    const void* const* in;    /**< Read by the operation. */
    size_t n_out;             /**< The number of addresses in `out`. */
    const void* const* out;   /**< Written by the operation. */
    size_t n_inout;           /**< The number of addresses in `inout`. */
    const void* const* inout; /**< Read and written by the operation. */
    commtask_status* status;  /**< As in commtask_omp_options; may be null. */
    int has_ierror;           /**< Not 0: the program passed ierror, and so handles the code of a
                                   refusal. */
    int bind;                 /**< Not 0: the operation is bound to the calling task; no task is created, so
                                   it has no dependences. */
} commtask_omp_fortran_clauses;

/** Returns C's MPI_IN_PLACE, whose value differs from Fortran's.
 *  @return the address to give as a send buffer. */
COMMTASK_API void* commtask_omp_fortran_in_place(void) COMMTASK_NOEXCEPT;

/** Creates a task for an operation, or binds the operation to the calling task, or, on a thread
 *  that records, adds it to a plan.
 *  @param operation  the operation; must not be null
 *  @param clauses    dependences and options; must not be null
 *  @return as commtask_omp_spawn, commtask_omp_bind_operation or commtask_post. */
COMMTASK_API int commtask_omp_fortran_spawn(const commtask_omp_fortran_operation* operation,
                                            const commtask_omp_fortran_clauses* clauses) COMMTASK_NOEXCEPT;

/** Calls commtask_listen with Fortran handles.
 *  @param comm       as for commtask_listen.
 *  @param tag        as for commtask_listen.
 *  @param max_bytes  as for commtask_listen.
 *  @param n_slots    as for commtask_listen.
 *  @param handler    as for commtask_listen.
 *  @param argument   as for commtask_listen.
 *  @param listener   as for commtask_listen.
 *  @return as commtask_listen.
 *  @blocking As commtask_listen. */
COMMTASK_API int commtask_omp_fortran_listen(MPI_Fint comm, int tag, size_t max_bytes, size_t n_slots,
                                             commtask_message_handler handler, void* argument,
                                             commtask_listener_t* listener) COMMTASK_NOEXCEPT;

/** Calls commtask_win_register with Fortran handles.
 *  @param window  as for commtask_win_register.
 *  @param comm    as for commtask_win_register.
 *  @return as commtask_win_register.
 *  @blocking As commtask_win_register. */
COMMTASK_API int commtask_omp_fortran_win_register(MPI_Fint window, MPI_Fint comm) COMMTASK_NOEXCEPT;

/** Calls commtask_win_register_epochs with Fortran handles.
 *  @param window  as for commtask_win_register_epochs.
 *  @param comm    as for commtask_win_register_epochs.
 *  @return as commtask_win_register_epochs.
 *  @blocking As commtask_win_register_epochs. */
COMMTASK_API int commtask_omp_fortran_win_register_epochs(MPI_Fint window, MPI_Fint comm) COMMTASK_NOEXCEPT;

/** Calls commtask_win_unregister with a Fortran handle.
 *  @param window  as for commtask_win_unregister.
 *  @return as commtask_win_unregister.
 *  @blocking As commtask_win_unregister. */
COMMTASK_API int commtask_omp_fortran_win_unregister(MPI_Fint window) COMMTASK_NOEXCEPT;

/** Calls commtask_file_close with Fortran handles.
 *  @param file  a file; MPI_FILE_NULL on success.
 *  @param comm  a communicator of the ranks that opened the file.
 *  @return as commtask_file_close. */
COMMTASK_API int commtask_omp_fortran_file_close(MPI_Fint* file, MPI_Fint comm) COMMTASK_NOEXCEPT;

/** Calls commtask_omp_bind_request with a Fortran handle for each request.
 *  @param n_requests  the number of requests.
 *  @param requests    as for commtask_omp_bind_requests.
 *  @return as commtask_omp_bind_requests. */
COMMTASK_API int commtask_omp_fortran_bind_requests(size_t n_requests, MPI_Fint* requests) COMMTASK_NOEXCEPT;

/** Stores the error message of a code, for commtask_omp_last_error.
 *  @param code  a code that a function of commtask.h has just returned on this thread; for
 *               COMMTASK_OK and above nothing is stored.
 *  @return the code. */
COMMTASK_API int commtask_omp_fortran_note(int code) COMMTASK_NOEXCEPT;

/** Calls commtask_record_begin. Until commtask_omp_fortran_record_end, operations given to
 *  commtask_omp_fortran_spawn on this thread become members of a plan, ordered by their
 *  dependences.
 *  @return as commtask_record_begin. */
COMMTASK_API int commtask_omp_fortran_record_begin(void) COMMTASK_NOEXCEPT;

/** Calls commtask_record_end.
 *  @param plan  as for commtask_record_end.
 *  @return as commtask_record_end. */
COMMTASK_API int commtask_omp_fortran_record_end(commtask_plan_t* plan) COMMTASK_NOEXCEPT;

/** Calls commtask_record_check.
 *  @param plan  as for commtask_record_check.
 *  @return as commtask_record_check. */
COMMTASK_API int commtask_omp_fortran_record_check(commtask_plan_t plan) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
