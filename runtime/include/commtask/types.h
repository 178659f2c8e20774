/* SPDX-License-Identifier: Apache-2.0
 *
 * Words and values of the C interface: codes, states, options, statuses. Everything a caller fills begins with its
 * size (COMMTASK_OPTIONS_INIT and its siblings set it), so that it can grow without breaking compiled programs.
 * The trade-off: structs that the caller can see, so that posting needs no allocation and no set-up call. */
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

/** Posts that were recorded, and are done again by one call (plan.h). Opaque. */
typedef struct commtask_plan_s* commtask_plan_t;

/** No task. */
#define COMMTASK_NULL ((commtask_t)0)

/** No event. */
#define COMMTASK_EVENT_NULL ((commtask_event_t)0)

/** No plan. */
#define COMMTASK_PLAN_NULL ((commtask_plan_t)0)

/** Result codes. Zero is success; a negative code means that the call changed nothing, unless the function says
 *  otherwise. commtask_last_error() gives the sentence that names the argument. */
typedef enum commtask_code {
    COMMTASK_OK = 0,                       /**< Done. */
    COMMTASK_AGAIN = -1,                   /**< Not now, and COMMTASK_TRY was asked for. */
    COMMTASK_TIMEOUT = -2,                 /**< The time is over; the task goes on. */
    COMMTASK_FAILED = -3,                  /**< The task ended with an MPI error; its status has it. */
    COMMTASK_CANCELED = -4,                /**< The task was canceled; MPI may never have seen it. */
    COMMTASK_ERR_NOT_INITIALIZED = -5,     /**< commtask_init was not called, or commtask_finalize was. */
    COMMTASK_ERR_ALREADY_INITIALIZED = -6, /**< commtask_init was called twice. */
    COMMTASK_ERR_MPI_STATE = -7,           /**< MPI is not initialised, or already finalised. */
    COMMTASK_ERR_THREAD_LEVEL = -8,        /**< MPI gave less than the worker needs, or the workers of several lanes. */
    COMMTASK_ERR_CONFIG = -9,              /**< A field of the configuration or a COMMTASK_ variable has a bad value. */
    COMMTASK_ERR_ARGUMENT = -10,           /**< An argument that no code below names is wrong. */
    COMMTASK_ERR_COMM = -11,               /**< The communicator is null, freed or not a communicator. */
    COMMTASK_ERR_RANK = -12,               /**< A rank, source, destination or root is outside the communicator. */
    COMMTASK_ERR_TAG = -13,                /**< A tag is negative or above MPI_TAG_UB. */
    COMMTASK_ERR_COUNT = -14,  /**< A count is negative, or more than this MPI carries; or two sides differ in size. */
    COMMTASK_ERR_BUFFER = -15, /**< A buffer is null and its count is not zero. */
    COMMTASK_ERR_TYPE = -16,   /**< A datatype is null; or an accumulate has two basic ones. */
    COMMTASK_ERR_OP = -17,     /**< A reduction operation is null. */
    COMMTASK_ERR_NO_MEMORY = -19,     /**< The system gave no memory or no thread. */
    COMMTASK_ERR_WORKER_THREAD = -20, /**< A blocking call was made on the worker, e.g. in a callback. */
    COMMTASK_ERR_UNFINISHED = -21,    /**< commtask_finalize gave up tasks that could never complete. */
    COMMTASK_ERR_RUNTIME = -22,       /**< The OpenMP runtime of this process cannot be used; the sentence says why. */
    COMMTASK_ERR_MPI_LIBRARY = -23,   /**< The process runs with another MPI than the one commtask was built for. */
    COMMTASK_ERR_RUNNING =
        -24, /**< The plan's run, or a task of the window, has not ended; or another thread changes it. */
    COMMTASK_ERR_WINDOW = -25, /**< The window is null, not registered, cannot be, or is in no epoch for that. */
    COMMTASK_ERR_DISPLACEMENT =
        -26,                /**< A displacement or offset is negative, or what is there lies outside of the window. */
    COMMTASK_ERR_FILE = -27 /**< The file is MPI_FILE_NULL. */
} commtask_code;

/** How a task ended, in its status. Only the actor named after "->" moves it on. */
typedef enum commtask_state {
    COMMTASK_STATE_OPEN = 0,      /**< Not ended: what COMMTASK_STATUS_INIT says until then -> worker. */
    COMMTASK_STATE_COMPLETED = 2, /**< Final. The buffers are the caller's again. */
    COMMTASK_STATE_FAILED = 3,    /**< Final. The status says why. */
    COMMTASK_STATE_CANCELED = 4   /**< Final. MPI never saw the operation, or gave it back unmatched. */
} commtask_state;

/** Flags of commtask_options. */
enum {
    COMMTASK_NONE = 0,
    /** The task starts in the order of creation among all ordered tasks of its communicator, whatever their ranks and tags. */
    COMMTASK_ORDERED = 1,
    /** The task starts when it is ready, even before an earlier message that could match the same partner. Of collectives the
     *  caller keeps the ranks in step. */
    COMMTASK_UNORDERED = 2,
    /** Return COMMTASK_AGAIN instead of waiting: while the queue is full, or the worker has not seen the communicator yet. */
    COMMTASK_TRY = 4,
    /** Start this task even if a predecessor failed or was canceled. */
    COMMTASK_RUN_AFTER_FAILURE = 8,
    /** The caller calls commtask_progress, or waits, at once. Where the worker shares a core and naps there, it is not woken for
     *  this task: it would take the core from the caller to do what the caller is about to do. */
    COMMTASK_PROGRESS_FOLLOWS = 16,
    /** The callback belongs to a layer between the program and this library, and only hands the task's end on: it is not timed
     *  against COMMTASK_CALLBACK_LIMIT_US, which is about callbacks of the program. */
    COMMTASK_CALLBACK_RELAYS = 32,
    /** The callback gives away what its argument points to, and so cannot be called twice: such a post cannot be recorded. */
    COMMTASK_CALLBACK_ONCE = 64,
    /** The callback reads no more than `state` of a completed task's status: the rest is not written. What failed or was canceled
     *  comes with all of it. */
    COMMTASK_CALLBACK_STATE = 128,
    /** The calling thread starts the operation itself, if it can be started now: when the call returns, MPI has it, and keeps what
     *  it needs. The thread waits for the worker's progress call, at most one second; not in a callback. */
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
    MPI_Count bytes;      /**< Receives: what arrived, in bytes. */
    MPI_Status mpi;       /**< MPI's own status, for MPI_Get_count and MPI_Get_elements. */
} commtask_status;

/** A turn in a communicator's program order, taken when a task is created and used when it is posted. */
typedef struct commtask_ticket {
    uint64_t number; /**< 0: none. */
    uint32_t class_; /**< Of messages or of collectives. */
    uint32_t queue;  /**< Of which communicator. */
} commtask_ticket;

/** Called when a task has ended, on the worker or on a thread that waits or drives in this library; never inside a post, so the
 *  submitter may have a lock in hand that the callback takes. It may signal, fulfil and post; it must not block and should not
 *  compute. One that uses the processor for longer than COMMTASK_CALLBACK_LIMIT_US is named in a warning.
 *  `status` is valid during the call. An exception must not leave it. */
typedef void (*commtask_callback)(const commtask_status* status, void* argument);

/** Starts an operation and gives its request. Runs on the worker; returns an MPI error code. */
typedef int (*commtask_start_function)(MPI_Request* request, void* argument);

/** Runs on the worker between MPI calls; returns an MPI error code. */
typedef int (*commtask_call_function)(void* argument);

/** Called as commtask_callback is, each time that a member of a plan has ended. */
typedef void (*commtask_member_callback)(size_t member, const commtask_status* status, void* argument);

/** What may be said about a task beside its operation. COMMTASK_OPTIONS_INIT is all defaults. */
typedef struct commtask_options {
    size_t struct_size;             /**< sizeof(commtask_options). */
    uint32_t flags;                 /**< COMMTASK_ORDERED, ... or COMMTASK_NONE. */
    uint32_t reserved;              /**< 0. */
    const commtask_t* after;        /**< Predecessors: n_after tasks of this process. COMMTASK_NULL is skipped. */
    size_t n_after;                 /**< How many. */
    const commtask_event_t* events; /**< Predecessors: n_events events. COMMTASK_EVENT_NULL is skipped. */
    size_t n_events;                /**< How many. */
    commtask_callback callback;     /**< Called when the task has ended; may be null. */
    void* callback_argument;        /**< Handed to it. */
    commtask_status* status; /**< Written before the callback and the successors; may be null; must live as long. */
    commtask_ticket ticket;  /**< A turn taken before by commtask_ticket_take_with; number 0: none. */
    const char* file; /**< __FILE__, for sentences about the task; must live as long as the program; null: not known. */
    int line;         /**< __LINE__. */
} commtask_options;

/** The value 0 of a setting whose default is another, in a field of commtask_config: `config.verbose = COMMTASK_ZERO`. */
#define COMMTASK_ZERO UINT32_MAX

/** Configuration. Zero or null means "not set": the default holds; COMMTASK_ZERO means 0. A COMMTASK_* variable of the
 *  environment goes over a field, so that a user without the source can change it. docs/configuration.md has ranges and
 *  defaults. */
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
/** A zeroed argument struct that knows its size; what the _INIT macros are in C++.
 *  @return the struct. */
template <typename Struct>
inline Struct commtask_sized_() noexcept {
    Struct value{};
    value.struct_size = sizeof(Struct);
    return value;
}
#endif
#endif
