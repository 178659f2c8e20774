// SPDX-License-Identifier: Apache-2.0
//
// Operations as values: messages, probes and the general doors. Making one sends nothing; post() does. Buffers are
// ranges whose datatype the compiler finds, or elements(pointer, count, datatype); both stay the operation's until its
// task has ended, as in MPI's nonblocking calls. Whatever is missing here: operation{commtask_op_...(...)}.
#pragma once

#include <commtask/datatype.hpp>
#include <commtask/error.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace commtask {

/// What a task will do. Give it to post() or co_await perform().
class [[nodiscard]] operation {
public:
    /// @param raw  from a commtask_op_ function of the C interface.
    explicit operation(const commtask_op& raw) noexcept : raw_(raw) {}

    /// The C form.
    /// @return a reference that lives as long as this object.
    [[nodiscard]] const commtask_op& native() const noexcept { return raw_; }

private:
    commtask_op raw_;
};

/// An operation that is a function of yours, which the task owns until it has ended.
template <commtask_kind Kind, typename Function>
class [[nodiscard]] door {
public:
    /// @param function  what runs on the worker.
    /// @param comm  whose order the task belongs to.
    door(Function function, MPI_Comm comm) noexcept(std::is_nothrow_move_constructible_v<Function>)
        : function_(std::move(function)), comm_(comm) {}

    /// The function.
    /// @return a reference that lives as long as this object.
    [[nodiscard]] Function& function() noexcept { return function_; }

    /// The function.
    /// @return a reference that lives as long as this object.
    [[nodiscard]] const Function& function() const noexcept { return function_; }

    /// Whose order the task belongs to.
    /// @return the communicator.
    [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }

private:
    Function function_;
    MPI_Comm comm_;
};

/// Standard send.
/// @param buffer  what to send.
/// @param dest  the rank that receives.
/// @param tag  of the message.
/// @param comm  the communicator.
/// @return the operation, for post().
template <outgoing Buffer>
[[nodiscard]] operation send(Buffer&& buffer, int dest, int tag, MPI_Comm comm) noexcept {
    const const_block from = frontend::to_send(std::forward<Buffer>(buffer));
    return operation{commtask_op_send(from.buffer, from.count, from.type, dest, tag, comm)};
}

/// Synchronous send: ends when the receive has started.
/// @param buffer  what to send.
/// @param dest  the rank that receives.
/// @param tag  of the message.
/// @param comm  the communicator.
/// @return the operation, for post().
template <outgoing Buffer>
[[nodiscard]] operation ssend(Buffer&& buffer, int dest, int tag, MPI_Comm comm) noexcept {
    const const_block from = frontend::to_send(std::forward<Buffer>(buffer));
    return operation{commtask_op_ssend(from.buffer, from.count, from.type, dest, tag, comm)};
}

/// Buffered send, from the buffer that MPI_Buffer_attach gave.
/// @param buffer  what to send.
/// @param dest  the rank that receives.
/// @param tag  of the message.
/// @param comm  the communicator.
/// @return the operation, for post().
template <outgoing Buffer>
[[nodiscard]] operation bsend(Buffer&& buffer, int dest, int tag, MPI_Comm comm) noexcept {
    const const_block from = frontend::to_send(std::forward<Buffer>(buffer));
    return operation{commtask_op_bsend(from.buffer, from.count, from.type, dest, tag, comm)};
}

/// Ready send: the receive must be posted already.
/// @param buffer  what to send.
/// @param dest  the rank that receives.
/// @param tag  of the message.
/// @param comm  the communicator.
/// @return the operation, for post().
template <outgoing Buffer>
[[nodiscard]] operation rsend(Buffer&& buffer, int dest, int tag, MPI_Comm comm) noexcept {
    const const_block from = frontend::to_send(std::forward<Buffer>(buffer));
    return operation{commtask_op_rsend(from.buffer, from.count, from.type, dest, tag, comm)};
}

/// Receive.
/// @param buffer  where to receive; its size is the longest message that is no error.
/// @param source  the rank that sends, or MPI_ANY_SOURCE.
/// @param tag  of the message, or MPI_ANY_TAG.
/// @param comm  the communicator.
/// @return the operation, for post().
template <incoming Buffer>
[[nodiscard]] operation recv(Buffer&& buffer, int source, int tag, MPI_Comm comm) noexcept {
    const block into = frontend::to_recv(std::forward<Buffer>(buffer));
    return operation{commtask_op_recv(into.buffer, into.count, into.type, source, tag, comm)};
}

/// Sends one message and receives another; ends when both are done. The status is the receive's.
/// @param send_buffer  what to send.
/// @param dest  the rank that receives.
/// @param send_tag  of the message sent.
/// @param recv_buffer  where to receive.
/// @param source  the rank that sends, or MPI_ANY_SOURCE.
/// @param recv_tag  of the message received, or MPI_ANY_TAG.
/// @param comm  the communicator.
/// @return the operation, for post().
template <outgoing Send, incoming Recv>
[[nodiscard]] operation sendrecv(Send&& send_buffer, int dest, int send_tag, Recv&& recv_buffer, int source,
                                 int recv_tag, MPI_Comm comm) noexcept {
    const const_block from = frontend::to_send(std::forward<Send>(send_buffer));
    const block into = frontend::to_recv(std::forward<Recv>(recv_buffer));
    return operation{commtask_op_sendrecv(from.buffer, from.count, from.type, dest, send_tag, into.buffer, into.count,
                                          into.type, source, recv_tag, comm)};
}

/// Sends a buffer and receives another message into it. The status is the receive's.
/// @param buffer  what to send, then what was received.
/// @param dest  the rank that receives.
/// @param send_tag  of the message sent.
/// @param source  the rank that sends, or MPI_ANY_SOURCE.
/// @param recv_tag  of the message received, or MPI_ANY_TAG.
/// @param comm  the communicator.
/// @return the operation, for post().
template <incoming Buffer>
[[nodiscard]] operation sendrecv_replace(Buffer&& buffer, int dest, int send_tag, int source, int recv_tag,
                                         MPI_Comm comm) noexcept {
    const block both = frontend::to_recv(std::forward<Buffer>(buffer));
    return operation{
        commtask_op_sendrecv_replace(both.buffer, both.count, both.type, dest, send_tag, source, recv_tag, comm)};
}

/// Waits for a matching message and takes it out of the queue; its size is in the status.
/// @param message  written when the task completes; give it to mrecv().
/// @param source  the rank that sends, or MPI_ANY_SOURCE.
/// @param tag  of the message, or MPI_ANY_TAG.
/// @param comm  the communicator.
/// @return the operation, for post().
[[nodiscard]] inline operation mprobe(MPI_Message& message, int source, int tag, MPI_Comm comm) noexcept {
    return operation{commtask_op_mprobe(&message, source, tag, comm)};
}

/// Receives a message that an mprobe took.
/// @param buffer  where to receive.
/// @param message  from the mprobe, read when the task starts.
/// @param comm  the communicator.
/// @return the operation, for post().
template <incoming Buffer>
[[nodiscard]] operation mrecv(Buffer&& buffer, MPI_Message& message, MPI_Comm comm) noexcept {
    const block into = frontend::to_recv(std::forward<Buffer>(buffer));
    return operation{commtask_op_mrecv(into.buffer, into.count, into.type, &message, comm)};
}

/// Duplicates a communicator.
/// @param new_comm  written when the task completes.
/// @param comm  the communicator.
/// @return the operation, for post().
[[nodiscard]] inline operation comm_dup(MPI_Comm& new_comm, MPI_Comm comm) noexcept {
    return operation{commtask_op_comm_dup(&new_comm, comm)};
}

/// Hands over a request that was started elsewhere.
/// @param request  of an active operation; post() sets it to MPI_REQUEST_NULL.
/// @param comm  its communicator.
/// @return the operation, for post().
[[nodiscard]] inline operation attach(MPI_Request& request, MPI_Comm comm) noexcept {
    return operation{commtask_op_attach(&request, comm)};
}

/// Does nothing: a node that joins predecessors.
/// @param comm  whose order the task belongs to.
/// @return the operation, for post().
[[nodiscard]] inline operation noop(MPI_Comm comm = MPI_COMM_SELF) noexcept {
    return operation{commtask_op_noop(comm)};
}

/// Any operation that gives an MPI_Request: MPI-IO, MPI_Rput, MPI_Start of a persistent request, ...
/// @param function  int(MPI_Request*), runs once on the worker and returns an MPI error code; must not wait. An exception
///                  that leaves it ends the task as failed, with MPI_ERR_OTHER. It is destroyed after the task has ended.
/// @param comm  whose order the task belongs to.
/// @return the operation, for post().
template <typename Function>
    requires std::is_invocable_r_v<int, std::decay_t<Function>&, MPI_Request*>
[[nodiscard]] auto start(Function&& function, MPI_Comm comm) {
    return door<COMMTASK_OP_START, std::decay_t<Function>>{std::forward<Function>(function), comm};
}

/// Runs a function between MPI calls: for what is neither task nor thread-safe, e.g. MPI_Comm_free.
/// @param function  int() or void(), runs once on the worker; an int is an MPI error code. It must not wait. An exception
///                  that leaves it ends the task as failed, with MPI_ERR_OTHER. It is destroyed after the task has ended.
/// @param comm  whose order the task belongs to.
/// @return the operation, for post().
template <typename Function>
    requires std::is_invocable_v<std::decay_t<Function>&>
[[nodiscard]] auto call(Function&& function, MPI_Comm comm) {
    using result = std::invoke_result_t<std::decay_t<Function>&>;
    static_assert(std::is_void_v<result> || std::same_as<result, int>,
                  "call() takes a function that returns nothing, or an MPI error code");
    return door<COMMTASK_OP_CALL, std::decay_t<Function>>{std::forward<Function>(function), comm};
}

} // namespace commtask
