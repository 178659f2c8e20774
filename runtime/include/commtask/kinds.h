/* SPDX-License-Identifier: Apache-2.0. Written by tools/generate_operations.py; not to be edited.
 *
 * The kinds of operations. A program makes operations by the functions of
 * <commtask/operations.h>; commtask_kind_describe describes a kind. */
#ifndef COMMTASK_KINDS_H
#define COMMTASK_KINDS_H

#ifdef __cplusplus
extern "C" {
#endif

/** Kind of an operation. */
typedef enum commtask_kind {
    COMMTASK_OP_SEND = 1,                  /**< commtask_op_send */
    COMMTASK_OP_SSEND = 2,                 /**< commtask_op_ssend */
    COMMTASK_OP_BSEND = 3,                 /**< commtask_op_bsend */
    COMMTASK_OP_RSEND = 4,                 /**< commtask_op_rsend */
    COMMTASK_OP_RECV = 5,                  /**< commtask_op_recv */
    COMMTASK_OP_SENDRECV = 6,              /**< commtask_op_sendrecv */
    COMMTASK_OP_SENDRECV_REPLACE = 7,      /**< commtask_op_sendrecv_replace */
    COMMTASK_OP_MPROBE = 8,                /**< commtask_op_mprobe */
    COMMTASK_OP_MRECV = 9,                 /**< commtask_op_mrecv */
    COMMTASK_OP_BARRIER = 10,              /**< commtask_op_barrier */
    COMMTASK_OP_BCAST = 11,                /**< commtask_op_bcast */
    COMMTASK_OP_GATHER = 12,               /**< commtask_op_gather */
    COMMTASK_OP_GATHERV = 13,              /**< commtask_op_gatherv */
    COMMTASK_OP_SCATTER = 14,              /**< commtask_op_scatter */
    COMMTASK_OP_SCATTERV = 15,             /**< commtask_op_scatterv */
    COMMTASK_OP_ALLGATHER = 16,            /**< commtask_op_allgather */
    COMMTASK_OP_ALLGATHERV = 17,           /**< commtask_op_allgatherv */
    COMMTASK_OP_ALLTOALL = 18,             /**< commtask_op_alltoall */
    COMMTASK_OP_ALLTOALLV = 19,            /**< commtask_op_alltoallv */
    COMMTASK_OP_ALLTOALLW = 20,            /**< commtask_op_alltoallw */
    COMMTASK_OP_REDUCE = 21,               /**< commtask_op_reduce */
    COMMTASK_OP_ALLREDUCE = 22,            /**< commtask_op_allreduce */
    COMMTASK_OP_REDUCE_SCATTER = 23,       /**< commtask_op_reduce_scatter */
    COMMTASK_OP_REDUCE_SCATTER_BLOCK = 24, /**< commtask_op_reduce_scatter_block */
    COMMTASK_OP_SCAN = 25,                 /**< commtask_op_scan */
    COMMTASK_OP_EXSCAN = 26,               /**< commtask_op_exscan */
    COMMTASK_OP_NEIGHBOR_ALLGATHER = 27,   /**< commtask_op_neighbor_allgather */
    COMMTASK_OP_NEIGHBOR_ALLGATHERV = 28,  /**< commtask_op_neighbor_allgatherv */
    COMMTASK_OP_NEIGHBOR_ALLTOALL = 29,    /**< commtask_op_neighbor_alltoall */
    COMMTASK_OP_NEIGHBOR_ALLTOALLV = 30,   /**< commtask_op_neighbor_alltoallv */
    COMMTASK_OP_NEIGHBOR_ALLTOALLW = 31,   /**< commtask_op_neighbor_alltoallw */
    COMMTASK_OP_COMM_DUP = 32,             /**< commtask_op_comm_dup */
    COMMTASK_OP_START = 33,                /**< commtask_op_start */
    COMMTASK_OP_CALL = 34,                 /**< commtask_op_call */
    COMMTASK_OP_ATTACH = 35,               /**< commtask_op_attach */
    COMMTASK_OP_NOOP = 36,                 /**< commtask_op_noop */
    COMMTASK_OP_PLAN = 37,                 /**< commtask_op_plan */
    COMMTASK_OP_MULTICAST = 38,            /**< commtask_op_multicast */
    COMMTASK_OP_MANY_TO_MANY = 39,         /**< commtask_op_many_to_many */
    COMMTASK_OP_PSEND = 40,                /**< commtask_op_psend */
    COMMTASK_OP_PRECV = 41,                /**< commtask_op_precv */
    COMMTASK_OP_PUT = 42,                  /**< commtask_op_put */
    COMMTASK_OP_GET = 43,                  /**< commtask_op_get */
    COMMTASK_OP_ACCUMULATE = 44,           /**< commtask_op_accumulate */
    COMMTASK_OP_GET_ACCUMULATE = 45,       /**< commtask_op_get_accumulate */
    COMMTASK_OP_FETCH_AND_OP = 46,         /**< commtask_op_fetch_and_op */
    COMMTASK_OP_COMPARE_AND_SWAP = 47,     /**< commtask_op_compare_and_swap */
    COMMTASK_OP_FLUSH = 48,                /**< commtask_op_flush */
    COMMTASK_OP_FLUSH_ALL = 49,            /**< commtask_op_flush_all */
    COMMTASK_OP_PUT_NOTIFY = 50,           /**< commtask_op_put_notify */
    COMMTASK_OP_GET_NOTIFY = 51,           /**< commtask_op_get_notify */
    COMMTASK_OP_AWAIT_NOTIFY = 52,         /**< commtask_op_await_notify */
    COMMTASK_OP_WIN_SYNC = 53,             /**< commtask_op_win_sync */
    COMMTASK_OP_FILE_READ = 54,            /**< commtask_op_file_read */
    COMMTASK_OP_FILE_READ_AT = 55,         /**< commtask_op_file_read_at */
    COMMTASK_OP_FILE_READ_ALL = 56,        /**< commtask_op_file_read_all */
    COMMTASK_OP_FILE_READ_AT_ALL = 57,     /**< commtask_op_file_read_at_all */
    COMMTASK_OP_FILE_READ_SHARED = 58,     /**< commtask_op_file_read_shared */
    COMMTASK_OP_FILE_WRITE = 59,           /**< commtask_op_file_write */
    COMMTASK_OP_FILE_WRITE_AT = 60,        /**< commtask_op_file_write_at */
    COMMTASK_OP_FILE_WRITE_ALL = 61,       /**< commtask_op_file_write_all */
    COMMTASK_OP_FILE_WRITE_AT_ALL = 62,    /**< commtask_op_file_write_at_all */
    COMMTASK_OP_FILE_WRITE_SHARED = 63,    /**< commtask_op_file_write_shared */
    COMMTASK_OP_WIN_FENCE = 64,            /**< commtask_op_win_fence */
    COMMTASK_OP_WIN_POST = 65,             /**< commtask_op_win_post */
    COMMTASK_OP_WIN_START = 66,            /**< commtask_op_win_start */
    COMMTASK_OP_WIN_COMPLETE = 67,         /**< commtask_op_win_complete */
    COMMTASK_OP_WIN_WAIT = 68,             /**< commtask_op_win_wait */
    COMMTASK_OP_WIN_LOCK = 69,             /**< commtask_op_win_lock */
    COMMTASK_OP_WIN_UNLOCK = 70,           /**< commtask_op_win_unlock */
    COMMTASK_OP_WIN_LOCK_ALL = 71,         /**< commtask_op_win_lock_all */
    COMMTASK_OP_WIN_UNLOCK_ALL = 72,       /**< commtask_op_win_unlock_all */
    COMMTASK_OP_END = 73                   /**< one past the last */
} commtask_kind;

#ifdef __cplusplus
}
#endif
#endif
