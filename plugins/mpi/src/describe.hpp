// SPDX-License-Identifier: Apache-2.0
//
// An operation from the arguments of the MPI function. Scalars widen by themselves; arrays of counts choose the form by
// their type. The names are those of the MPI functions, which generate.py writes.
#pragma once

#include <commtask/operations.h>

namespace commtask::interposer::describe {

template <typename... Arguments>
[[nodiscard]] commtask_op send(Arguments... a) noexcept {
    return commtask_op_send(a...);
}
template <typename... Arguments>
[[nodiscard]] commtask_op ssend(Arguments... a) noexcept {
    return commtask_op_ssend(a...);
}
template <typename... Arguments>
[[nodiscard]] commtask_op rsend(Arguments... a) noexcept {
    return commtask_op_rsend(a...);
}
template <typename... Arguments>
[[nodiscard]] commtask_op recv(Arguments... a) noexcept {
    return commtask_op_recv(a...);
}
template <typename... Arguments>
[[nodiscard]] commtask_op sendrecv(Arguments... a) noexcept {
    return commtask_op_sendrecv(a...);
}
template <typename... Arguments>
[[nodiscard]] commtask_op sendrecv_replace(Arguments... a) noexcept {
    return commtask_op_sendrecv_replace(a...);
}

/// The communicator of a message is known to MPI alone: the order of messages does not matter for it.
[[nodiscard]] inline commtask_op mrecv(void* buffer, MPI_Count count, MPI_Datatype type,
                                       MPI_Message* message) noexcept {
    return commtask_op_mrecv(buffer, count, type, message, MPI_COMM_WORLD);
}

template <typename... Arguments>
[[nodiscard]] commtask_op barrier(Arguments... a) noexcept {
    return commtask_op_barrier(a...);
}
template <typename... Arguments>
[[nodiscard]] commtask_op bcast(Arguments... a) noexcept {
    return commtask_op_bcast(a...);
}
template <typename... Arguments>
[[nodiscard]] commtask_op gather(Arguments... a) noexcept {
    return commtask_op_gather(a...);
}
template <typename... Arguments>
[[nodiscard]] commtask_op scatter(Arguments... a) noexcept {
    return commtask_op_scatter(a...);
}
template <typename... Arguments>
[[nodiscard]] commtask_op allgather(Arguments... a) noexcept {
    return commtask_op_allgather(a...);
}
template <typename... Arguments>
[[nodiscard]] commtask_op alltoall(Arguments... a) noexcept {
    return commtask_op_alltoall(a...);
}
template <typename... Arguments>
[[nodiscard]] commtask_op neighbor_allgather(Arguments... a) noexcept {
    return commtask_op_neighbor_allgather(a...);
}
template <typename... Arguments>
[[nodiscard]] commtask_op neighbor_alltoall(Arguments... a) noexcept {
    return commtask_op_neighbor_alltoall(a...);
}
template <typename... Arguments>
[[nodiscard]] commtask_op reduce(Arguments... a) noexcept {
    return commtask_op_reduce(a...);
}
template <typename... Arguments>
[[nodiscard]] commtask_op allreduce(Arguments... a) noexcept {
    return commtask_op_allreduce(a...);
}
template <typename... Arguments>
[[nodiscard]] commtask_op scan(Arguments... a) noexcept {
    return commtask_op_scan(a...);
}
template <typename... Arguments>
[[nodiscard]] commtask_op exscan(Arguments... a) noexcept {
    return commtask_op_exscan(a...);
}
template <typename... Arguments>
[[nodiscard]] commtask_op reduce_scatter_block(Arguments... a) noexcept {
    return commtask_op_reduce_scatter_block(a...);
}

/// Two functions for one name: the form with int arrays and the large one. C's functions cannot be overloaded.
#define COMMTASK_DESCRIBE_ARRAYS(name)                                                                                 \
    template <typename... Arguments>                                                                                   \
    [[nodiscard]] commtask_op name(Arguments... a) noexcept {                                                          \
        if constexpr (requires { commtask_op_##name##_int(a...); }) {                                                  \
            return commtask_op_##name##_int(a...);                                                                     \
        } else {                                                                                                       \
            return commtask_op_##name(a...);                                                                           \
        }                                                                                                              \
    }
COMMTASK_DESCRIBE_ARRAYS(gatherv)
COMMTASK_DESCRIBE_ARRAYS(scatterv)
COMMTASK_DESCRIBE_ARRAYS(allgatherv)
COMMTASK_DESCRIBE_ARRAYS(alltoallv)
COMMTASK_DESCRIBE_ARRAYS(neighbor_allgatherv)
COMMTASK_DESCRIBE_ARRAYS(neighbor_alltoallv)
COMMTASK_DESCRIBE_ARRAYS(reduce_scatter)
#undef COMMTASK_DESCRIBE_ARRAYS

} // namespace commtask::interposer::describe
