/* SPDX-License-Identifier: Apache-2.0
 *
 * COMM_TASK: a communication task in one line, without a compiler plugin, the same in C and C++ and
 * under gcc and clang. Dependences are lists of addresses, not depend clauses: a macro cannot parse
 * a clause, and cannot give gcc a detach clause, since code from gcc gets no event from libomp.
 * Included by <commtask/omp.h>. */
#ifndef COMMTASK_OMP_MACROS_H
#define COMMTASK_OMP_MACROS_H

#include <commtask/commtask.h>

#ifdef __cplusplus
#include <initializer_list>
extern "C" {
#endif

/** The kinds of clauses of COMM_TASK. */
typedef enum commtask_omp_clause_kind {
    COMMTASK_OMP_IN = 1,            /**< depend(in: ...) */
    COMMTASK_OMP_OUT = 2,           /**< depend(out: ...) */
    COMMTASK_OMP_INOUT = 3,         /**< depend(inout: ...) */
    COMMTASK_OMP_MUTEXINOUTSET = 4, /**< depend(mutexinoutset: ...) */
    COMMTASK_OMP_INOUTSET = 5,      /**< depend(inoutset: ...) */
    COMMTASK_OMP_FLAG = 6,          /**< a flag of commtask_omp_options */
    COMMTASK_OMP_PRIORITY = 7,      /**< the priority */
    COMMTASK_OMP_STATUS = 8         /**< the status */
} commtask_omp_clause_kind;

/** One clause as a value. */
typedef struct commtask_omp_clause {
    int kind;                     /**< A commtask_omp_clause_kind; it says which fields are used. */
    int number;                   /**< The flag or the priority. */
    size_t n_addresses;           /**< The number of addresses. */
    const void* const* addresses; /**< The addresses of the dependences. */
    commtask_status* status;      /**< The status to be written. */
} commtask_omp_clause;

/** Calls commtask_omp_spawn with its arguments as clauses; COMM_TASK expands to it.
 *  @param operation  the operation; copied.
 *  @param n_clauses  the number of clauses.
 *  @param clauses    in any order.
 *  @param file       __FILE__, which error messages name; null: not known.
 *  @param line       __LINE__.
 *  @return as commtask_omp_spawn. */
COMMTASK_API int commtask_omp_spawn_clauses(const commtask_op* operation, size_t n_clauses,
                                            const commtask_omp_clause* clauses, const char* file,
                                            int line) COMMTASK_NOEXCEPT;

/** Calls commtask_omp_spawn_clauses for an operation that is an argument by value.
 *  @param operation  the operation
 *  @param n_clauses  the number of clauses
 *  @param clauses  in any order
 *  @param file  of the program
 *  @param line  in it
 *  @return as commtask_omp_spawn. */
static inline int commtask_omp_spawn_made_(commtask_op operation, size_t n_clauses, const commtask_omp_clause* clauses,
                                           const char* file, int line) COMMTASK_NOEXCEPT {
    return commtask_omp_spawn_clauses(&operation, n_clauses, clauses, file, line);
}

/** Sets the size of a status, initialized or not; for COMM_TASK and the comm clause.
 *  @param status  may be null
 *  @return the status. */
static inline commtask_status* commtask_omp_sized_status_(commtask_status* status) COMMTASK_NOEXCEPT {
    if (status) status->struct_size = sizeof *status;
    return status;
}

#ifdef __cplusplus
}

/** Makes a clause with addresses; the list lives until the end of the statement.
 *  @param kind  of the dependence
 *  @param addresses  of the dependence
 *  @return the clause. */
inline commtask_omp_clause commtask_omp_list_(int kind, std::initializer_list<const void*> addresses) noexcept {
    return {kind, 0, addresses.size(), addresses.begin(), nullptr};
}

/** COMM_TASK in C++.
 *  @param operation  the operation
 *  @param clauses  in any order
 *  @param file  of the program
 *  @param line  in it
 *  @return as commtask_omp_spawn. */
inline int commtask_omp_spawn_list_(commtask_op operation, std::initializer_list<commtask_omp_clause> clauses,
                                    const char* file, int line) noexcept {
    return commtask_omp_spawn_clauses(&operation, clauses.size(), clauses.begin(), file, line);
}

#define COMMTASK_OMP_LIST_(kind, ...) (commtask_omp_list_((kind), {__VA_ARGS__}))
#define COMMTASK_OMP_CLAUSE_(kind, number, n, addresses, status)                                                       \
    (commtask_omp_clause{(kind), (number), (n), (addresses), (status)})
#define COMMTASK_OMP_SPAWN_0_(operation) (commtask_omp_spawn_made_((operation), 0, nullptr, __FILE__, __LINE__))
#define COMMTASK_OMP_SPAWN_(n_clauses, operation, ...)                                                                 \
    (commtask_omp_spawn_list_((operation), {__VA_ARGS__}, __FILE__, __LINE__))
#else
/* Where an array becomes a pointer, gcc warns under -Wc++-compat; __extension__ suppresses the
 * warning. */
#define COMMTASK_OMP_LIST_(kind, ...)                                                                                  \
    {(kind), 0, sizeof((const void*[]){__VA_ARGS__}) / sizeof(const void*),                                            \
     __extension__ & ((const void*[]){__VA_ARGS__})[0], NULL}
#define COMMTASK_OMP_CLAUSE_(kind, number, n, addresses, status) {(kind), (number), (n), (addresses), (status)}
#define COMMTASK_OMP_SPAWN_0_(operation) (commtask_omp_spawn_made_((operation), 0, NULL, __FILE__, __LINE__))
#define COMMTASK_OMP_SPAWN_(n_clauses, operation, ...)                                                                 \
    (commtask_omp_spawn_made_((operation), (n_clauses), __extension__ & ((commtask_omp_clause[]){__VA_ARGS__})[0],     \
                              __FILE__, __LINE__))
#endif

/* The clauses by name. */
#define COMMTASK_OMP_CLAUSE_in(...) COMMTASK_OMP_LIST_(COMMTASK_OMP_IN, __VA_ARGS__)
#define COMMTASK_OMP_CLAUSE_out(...) COMMTASK_OMP_LIST_(COMMTASK_OMP_OUT, __VA_ARGS__)
#define COMMTASK_OMP_CLAUSE_inout(...) COMMTASK_OMP_LIST_(COMMTASK_OMP_INOUT, __VA_ARGS__)
#define COMMTASK_OMP_CLAUSE_mutexinoutset(...) COMMTASK_OMP_LIST_(COMMTASK_OMP_MUTEXINOUTSET, __VA_ARGS__)
#define COMMTASK_OMP_CLAUSE_inoutset(...) COMMTASK_OMP_LIST_(COMMTASK_OMP_INOUTSET, __VA_ARGS__)
#define COMMTASK_OMP_EACH_(kind, n, addresses)                                                                         \
    COMMTASK_OMP_CLAUSE_(kind, 0, (size_t)(n), (const void* const*)(addresses), NULL)
#define COMMTASK_OMP_CLAUSE_in_each(n, addresses) COMMTASK_OMP_EACH_(COMMTASK_OMP_IN, n, addresses)
#define COMMTASK_OMP_CLAUSE_out_each(n, addresses) COMMTASK_OMP_EACH_(COMMTASK_OMP_OUT, n, addresses)
#define COMMTASK_OMP_CLAUSE_inout_each(n, addresses) COMMTASK_OMP_EACH_(COMMTASK_OMP_INOUT, n, addresses)
#define COMMTASK_OMP_CLAUSE_ordered COMMTASK_OMP_CLAUSE_(COMMTASK_OMP_FLAG, COMMTASK_ORDERED, 0, NULL, NULL)
#define COMMTASK_OMP_CLAUSE_unordered COMMTASK_OMP_CLAUSE_(COMMTASK_OMP_FLAG, COMMTASK_UNORDERED, 0, NULL, NULL)
#define COMMTASK_OMP_CLAUSE_priority(value) COMMTASK_OMP_CLAUSE_(COMMTASK_OMP_PRIORITY, (value), 0, NULL, NULL)
#define COMMTASK_OMP_CLAUSE_status(pointer)                                                                            \
    COMMTASK_OMP_CLAUSE_(COMMTASK_OMP_STATUS, 0, 0, NULL, commtask_omp_sized_status_(pointer))

/* Counts one operation and up to eight clauses, and applies the name macro to each. */
#define COMMTASK_OMP_C_(clause) COMMTASK_OMP_CLAUSE_##clause
#define COMMTASK_OMP_1_(op) COMMTASK_OMP_SPAWN_0_(commtask_op_##op)
#define COMMTASK_OMP_2_(op, a) COMMTASK_OMP_SPAWN_(1, commtask_op_##op, COMMTASK_OMP_C_(a))
#define COMMTASK_OMP_3_(op, a, b) COMMTASK_OMP_SPAWN_(2, commtask_op_##op, COMMTASK_OMP_C_(a), COMMTASK_OMP_C_(b))
#define COMMTASK_OMP_4_(op, a, b, c)                                                                                   \
    COMMTASK_OMP_SPAWN_(3, commtask_op_##op, COMMTASK_OMP_C_(a), COMMTASK_OMP_C_(b), COMMTASK_OMP_C_(c))
#define COMMTASK_OMP_5_(op, a, b, c, d)                                                                                \
    COMMTASK_OMP_SPAWN_(4, commtask_op_##op, COMMTASK_OMP_C_(a), COMMTASK_OMP_C_(b), COMMTASK_OMP_C_(c),               \
                        COMMTASK_OMP_C_(d))
#define COMMTASK_OMP_6_(op, a, b, c, d, e)                                                                             \
    COMMTASK_OMP_SPAWN_(5, commtask_op_##op, COMMTASK_OMP_C_(a), COMMTASK_OMP_C_(b), COMMTASK_OMP_C_(c),               \
                        COMMTASK_OMP_C_(d), COMMTASK_OMP_C_(e))
#define COMMTASK_OMP_7_(op, a, b, c, d, e, f)                                                                          \
    COMMTASK_OMP_SPAWN_(6, commtask_op_##op, COMMTASK_OMP_C_(a), COMMTASK_OMP_C_(b), COMMTASK_OMP_C_(c),               \
                        COMMTASK_OMP_C_(d), COMMTASK_OMP_C_(e), COMMTASK_OMP_C_(f))
#define COMMTASK_OMP_8_(op, a, b, c, d, e, f, g)                                                                       \
    COMMTASK_OMP_SPAWN_(7, commtask_op_##op, COMMTASK_OMP_C_(a), COMMTASK_OMP_C_(b), COMMTASK_OMP_C_(c),               \
                        COMMTASK_OMP_C_(d), COMMTASK_OMP_C_(e), COMMTASK_OMP_C_(f), COMMTASK_OMP_C_(g))
#define COMMTASK_OMP_9_(op, a, b, c, d, e, f, g, h)                                                                    \
    COMMTASK_OMP_SPAWN_(8, commtask_op_##op, COMMTASK_OMP_C_(a), COMMTASK_OMP_C_(b), COMMTASK_OMP_C_(c),               \
                        COMMTASK_OMP_C_(d), COMMTASK_OMP_C_(e), COMMTASK_OMP_C_(f), COMMTASK_OMP_C_(g),                \
                        COMMTASK_OMP_C_(h))
#define COMMTASK_OMP_PICK_(a, b, c, d, e, f, g, h, i, macro, ...) macro
#define COMMTASK_OMP_TASK_(...)                                                                                        \
    COMMTASK_OMP_PICK_(__VA_ARGS__, COMMTASK_OMP_9_, COMMTASK_OMP_8_, COMMTASK_OMP_7_, COMMTASK_OMP_6_,                \
                       COMMTASK_OMP_5_, COMMTASK_OMP_4_, COMMTASK_OMP_3_, COMMTASK_OMP_2_, COMMTASK_OMP_1_, _)

/** Creates a communication task in one line: COMM_TASK(operation(arguments), clauses...);
 *
 *      COMM_TASK(recv(ghost, n, MPI_DOUBLE, left, tag, comm), out(ghost));
 *      COMM_TASK(send(edge, n, MPI_DOUBLE, right, tag, comm), in(edge), ordered, status(&sent));
 *      COMM_TASK(allreduce(&local, &global, 1, MPI_DOUBLE, MPI_SUM, comm), in(&local), out(&global));
 *
 *  The operation is a commtask_op_ function without its prefix. Up to eight clauses follow, in any
 *  order: in, out, inout, mutexinoutset and inoutset with addresses (an array stands for its first
 *  element; for a variable write &x), in_each, out_each and inout_each with a number and an array
 *  of addresses, ordered, unordered, priority(n), status(&s).
 *  COMM_TASK is an expression whose value is that of commtask_omp_spawn. All arguments are
 *  evaluated once, before the task is created. */
#define COMM_TASK(...) COMMTASK_OMP_TASK_(__VA_ARGS__)(__VA_ARGS__)

/* COMM_PLAN with and without clauses. */
#define COMMTASK_OMP_PLAN_1_(handle) COMM_TASK(plan(handle))
#define COMMTASK_OMP_PLAN_N_(handle, ...) COMM_TASK(plan(handle), __VA_ARGS__)
#define COMMTASK_OMP_PICK_PLAN_(...)                                                                                   \
    COMMTASK_OMP_PICK_(__VA_ARGS__, COMMTASK_OMP_PLAN_N_, COMMTASK_OMP_PLAN_N_, COMMTASK_OMP_PLAN_N_,                  \
                       COMMTASK_OMP_PLAN_N_, COMMTASK_OMP_PLAN_N_, COMMTASK_OMP_PLAN_N_, COMMTASK_OMP_PLAN_N_,         \
                       COMMTASK_OMP_PLAN_N_, COMMTASK_OMP_PLAN_1_, _)

/** Creates one OpenMP task that runs a plan: COMM_PLAN(plan, clauses...);
 *
 *      COMM_PLAN(halo, in(edges), out(ghosts));
 *
 *  The plan starts when the task's dependences are met, and the task ends when every member of the
 *  plan has ended. The clauses are those of COMM_TASK without ordered and unordered, since the
 *  members were recorded with their order. */
#define COMM_PLAN(...) COMMTASK_OMP_PICK_PLAN_(__VA_ARGS__)(__VA_ARGS__)

#endif
