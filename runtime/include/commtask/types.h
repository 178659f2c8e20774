/* SPDX-License-Identifier: Apache-2.0
 *
 * Types and values of the C interface: codes, states, options, statuses. Structs that a caller
 * fills begin with their size, which the _INIT macros set, so that later versions can add fields
 * without breaking compiled programs. The structs are public, so that a post needs no
 * allocation. */
#ifndef COMMTASK_TYPES_H
#define COMMTASK_TYPES_H

#include <commtask/check_mpi.h>

#include <stddef.h>
#include <stdint.h>

#define COMMTASK_VERSION_MAJOR 0
#define COMMTASK_VERSION_MINOR 1
#define COMMTASK_VERSION_PATCH 0

#if defined(__GNUC__)
#define COMMTASK_API __attribute__((visibility("default")))
#define COMMTASK_NODISCARD __attribute__((warn_unused_result))
#else
#define COMMTASK_API
#define COMMTASK_NODISCARD
#endif

#ifdef __cplusplus
#define COMMTASK_NOEXCEPT noexcept
extern "C" {
#else
#define COMMTASK_NOEXCEPT
#endif

/** A communication task: one MPI operation with predecessors and successors. Opaque. */
typedef struct commtask_task* commtask_t;

/** An event that compute threads signal and tasks wait for. Opaque. */
typedef struct commtask_event_s* commtask_event_t;

/** A plan: recorded posts that one call starts together, any number of times (plan.h). Opaque. */
typedef struct commtask_plan_s* commtask_plan_t;

/** No task. */
#define COMMTASK_NULL ((commtask_t)0)

/** No event. */
#define COMMTASK_EVENT_NULL ((commtask_event_t)0)

/** No plan. */
#define COMMTASK_PLAN_NULL ((commtask_plan_t)0)

/** Result codes. Zero is success. A negative code means that the call changed nothing, unless
 *  the function says otherwise. commtask_last_error() returns a message that names
 *  the argument. */
typedef enum commtask_code {
    COMMTASK_OK = 0,                       /**< Success. */
    COMMTASK_AGAIN = -1,                   /**< With COMMTASK_TRY: the call would have to wait. */
    COMMTASK_TIMEOUT = -2,                 /**< The time limit has passed; the task continues. */
    COMMTASK_FAILED = -3,                  /**< The task ended with an MPI error, which is in its status. */
    COMMTASK_CANCELED = -4,                /**< The task was canceled; MPI may never have started it. */
    COMMTASK_ERR_NOT_INITIALIZED = -5,     /**< commtask_init was not called, or commtask_finalize was. */
    COMMTASK_ERR_ALREADY_INITIALIZED = -6, /**< commtask_init was called twice. */
    COMMTASK_ERR_MPI_STATE = -7,           /**< MPI is not initialised, or already finalised. */
    COMMTASK_ERR_THREAD_LEVEL = -8,        /**< The MPI thread level is too low for the worker, or for several lanes. */
    COMMTASK_ERR_CONFIG = -9,     /**< A field of the configuration or a COMMTASK_* variable has a bad value. */
    COMMTASK_ERR_ARGUMENT = -10,  /**< An argument is wrong, and no code below is more specific. */
    COMMTASK_ERR_COMM = -11,      /**< The communicator is null, freed or not a communicator. */
    COMMTASK_ERR_RANK = -12,      /**< A rank, source, destination or root is outside the communicator. */
    COMMTASK_ERR_TAG = -13,       /**< A tag is negative or above MPI_TAG_UB. */
    COMMTASK_ERR_COUNT = -14,     /**< A count is negative or too large for this MPI, or two sides differ in size. */
    COMMTASK_ERR_BUFFER = -15,    /**< A buffer is null and its count is not zero. */
    COMMTASK_ERR_TYPE = -16,      /**< A datatype is null, or an accumulate has two basic datatypes. */
    COMMTASK_ERR_OP = -17,        /**< A reduction operation is null. */
    COMMTASK_ERR_NO_MEMORY = -19, /**< Memory or threads are exhausted. */
    COMMTASK_ERR_WORKER_THREAD = -20, /**< A blocking call was made on the worker, e.g. in a callback. */
    COMMTASK_ERR_UNFINISHED = -21,    /**< commtask_finalize canceled tasks that could never complete. */
    COMMTASK_ERR_RUNTIME = -22,       /**< The OpenMP runtime of this process cannot be used; the message says why. */
    COMMTASK_ERR_MPI_LIBRARY = -23,   /**< The process runs with another MPI than commtask was built for. */
    COMMTASK_ERR_RUNNING = -24, /**< The plan runs, a task of the window or file is open, or another thread uses it. */
    COMMTASK_ERR_WINDOW = -25,  /**< The window is null, unregistered, cannot be registered, or lacks the epoch. */
    COMMTASK_ERR_DISPLACEMENT = -26, /**< A displacement or offset is negative or outside of the window. */
    COMMTASK_ERR_FILE = -27          /**< The file is MPI_FILE_NULL. */
} commtask_code;

/** State of a task, in its status. The worker changes OPEN to a final state. */
typedef enum commtask_state {
    COMMTASK_STATE_OPEN = 0,      /**< The task has not ended; the value of COMMTASK_STATUS_INIT. */
    COMMTASK_STATE_COMPLETED = 2, /**< Final. The buffers belong to the caller again. */
    COMMTASK_STATE_FAILED = 3,    /**< Final. The status has the MPI error. */
    COMMTASK_STATE_CANCELED = 4   /**< Final. MPI never started the operation, or canceled it. */
} commtask_state;

/** Flags of commtask_options. */
enum {
    COMMTASK_NONE = 0,
    /** The task starts in the order of creation among all ordered tasks of its communicator,
     *  whatever their ranks and tags. */
    COMMTASK_ORDERED = 1,
    /** The task starts when it is ready, even before an earlier message that could match the
     *  same partner. For collectives, the caller must ensure that all ranks start them in the
     *  same order. */
    COMMTASK_UNORDERED = 2,
    /** Return COMMTASK_AGAIN instead of waiting while the queue is full, or while the worker has
     *  not registered the communicator yet. */
    COMMTASK_TRY = 4,
    /** The task starts even if a predecessor failed or was canceled. */
    COMMTASK_RUN_AFTER_FAILURE = 8,
    /** The caller will wait or call commtask_progress at once. So a shared worker in a timed wait
     *  is not woken for this task: the worker would take the core from the caller. */
    COMMTASK_PROGRESS_FOLLOWS = 16,
    /** The callback belongs to a layer between the program and this library, and only forwards
     *  the end of the task. COMMTASK_CALLBACK_LIMIT_US, a limit for callbacks of the program, does
     *  not apply. */
    COMMTASK_CALLBACK_RELAYS = 32,
    /** The callback can be called only once, so the post cannot be recorded in a plan. */
    COMMTASK_CALLBACK_ONCE = 64,
    /** The callback reads only `state` in the status of a completed task, so the library does
     *  not write the other fields. The status of a failed or canceled task is complete. */
    COMMTASK_CALLBACK_STATE = 128,
    /** The calling thread starts the operation itself, if the operation can start now. So the
     *  program may free its handles when the call returns. The thread waits at most one second
     *  until the worker lets it call MPI. No effect in a callback and with COMMTASK_TRY. */
    COMMTASK_START_NOW = 256
};

/** How a task ended. */
typedef struct commtask_status {
    size_t struct_size;   /**< sizeof(commtask_status), set by the caller (COMMTASK_STATUS_INIT). */
    commtask_state state; /**< COMPLETED, FAILED or CANCELED. */
    int error;            /**< The MPI error code; MPI_SUCCESS unless FAILED. */
    int error_class;      /**< Its class, as MPI_Error_class gives it. */
    int source;           /**< Receives: the rank that sent. */
    int tag;              /**< Receives: the tag of the message. */
    MPI_Count bytes;      /**< Receives: length of the message, in bytes. */
    MPI_Status mpi;       /**< MPI's own status, for MPI_Get_count and MPI_Get_elements. */
} commtask_status;

/** A ticket: a position in a communicator's program order, reserved when a task is created and
 *  used when the task is posted. */
typedef struct commtask_ticket {
    uint64_t number; /**< 0: none. */
    uint32_t class_; /**< The order: of messages or of collectives. */
    uint32_t queue;  /**< The communicator. */
} commtask_ticket;

/** Callback of a task: called when the task has ended, on the worker or on a thread that makes
 *  progress, but never inside a post. The callback may signal events and post. It must not block,
 *  should not compute, and must not throw; a warning names a callback that computes for longer than
 *  COMMTASK_CALLBACK_LIMIT_US. `status` is valid during the call. */
typedef void (*commtask_callback)(const commtask_status* status, void* argument);

/** Starts an MPI operation and writes its request. The worker calls the function; its result is an
 *  MPI error code. */
typedef int (*commtask_start_function)(MPI_Request* request, void* argument);

/** A function that the worker calls between MPI calls; its result is an MPI error code. */
typedef int (*commtask_call_function)(void* argument);

/** Called like commtask_callback each time that a member of a plan has ended. */
typedef void (*commtask_member_callback)(size_t member, const commtask_status* status, void* argument);

/** Options of a task. COMMTASK_OPTIONS_INIT has the defaults. */
typedef struct commtask_options {
    size_t struct_size;             /**< sizeof(commtask_options). */
    uint32_t flags;                 /**< COMMTASK_ORDERED, ... or COMMTASK_NONE. */
    uint32_t reserved;              /**< 0. */
    const commtask_t* after;        /**< Predecessors: n_after tasks of this process. COMMTASK_NULL is skipped. */
    size_t n_after;                 /**< Length of `after`. */
    const commtask_event_t* events; /**< Predecessors: n_events events. COMMTASK_EVENT_NULL is skipped. */
    size_t n_events;                /**< Length of `events`. */
    commtask_callback callback;     /**< Called when the task has ended; may be null. */
    void* callback_argument;        /**< Argument of the callback. */
    commtask_status* status;        /**< May be null. Written before callback and successors; must live until then. */
    commtask_ticket ticket;         /**< From commtask_ticket_take_with; number 0: none. */
    const char* file;               /**< __FILE__, for error texts; valid until the process ends; null: not known. */
    int line;                       /**< __LINE__. */
} commtask_options;

/** The value 0 for a field of commtask_config whose default is not 0: `config.verbose =
 *  COMMTASK_ZERO`. */
#define COMMTASK_ZERO UINT32_MAX

/** Configuration. A field that is zero or null has its default; COMMTASK_ZERO means 0. A
 *  COMMTASK_* environment variable overrides its field, so that a user without the source can
 *  change it. docs/configuration.md has ranges and defaults. */
typedef struct commtask_config {
    size_t struct_size;         /**< sizeof(commtask_config). */
    unsigned lanes;             /**< COMMTASK_LANES. */
    const char* core;           /**< COMMTASK_CORE: "auto", "none" or a CPU list. */
    const char* idle;           /**< COMMTASK_IDLE: "auto", "reserved" or "shared". */
    uint64_t spin_us;           /**< COMMTASK_SPIN_US, in microseconds. */
    uint64_t wait_max_us;       /**< COMMTASK_WAIT_MAX_US, in microseconds. */
    uint64_t queue_capacity;    /**< COMMTASK_QUEUE_CAPACITY, a power of two. */
    unsigned test_window;       /**< COMMTASK_TEST_WINDOW, in requests. */
    double stall_s;             /**< COMMTASK_STALL_S, in seconds. */
    double finalize_timeout_s;  /**< COMMTASK_FINALIZE_TIMEOUT_S, in seconds. */
    uint64_t callback_limit_us; /**< COMMTASK_CALLBACK_LIMIT_US, in microseconds. */
    unsigned stats;             /**< COMMTASK_STATS. */
    unsigned verbose;           /**< COMMTASK_VERBOSE. */
    const char* signal;         /**< COMMTASK_SIGNAL: "none", "SIGUSR1" or "SIGUSR2". */
} commtask_config;

#ifdef __cplusplus
#define COMMTASK_INIT_(type) (commtask_sized_<type>())
#else
#define COMMTASK_INIT_(type) ((type){.struct_size = sizeof(type)})
#endif
#define COMMTASK_OPTIONS_INIT COMMTASK_INIT_(commtask_options)
#define COMMTASK_STATUS_INIT COMMTASK_INIT_(commtask_status)
#define COMMTASK_CONFIG_INIT COMMTASK_INIT_(commtask_config)

#ifdef __cplusplus
}
/** Returns a zeroed struct with its size set: the C++ form of the _INIT macros.
 *  @return the struct. */
template <typename Struct>
inline Struct commtask_sized_() noexcept {
    Struct value{};
    value.struct_size = sizeof(Struct);
    return value;
}
#endif
#endif
