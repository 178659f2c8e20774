// SPDX-License-Identifier: Apache-2.0
//
// Operations as values: messages, probes and user-defined operations. Making an operation sends
// nothing; post() does. Buffers are ranges whose datatype the compiler finds, or elements(pointer,
// count, datatype). As in MPI's nonblocking calls, they belong to the operation until its task has
// ended. Any other operation of the C interface is operation{commtask_op_...(...)}.
#pragma once

#include <commtask/datatype.hpp>
#include <commtask/error.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace commtask {

/// An operation, for post() or co_await perform().
class [[nodiscard]] operation {
public:
    /// @param raw  from a commtask_op_ function of the C interface.
    explicit operation(const commtask_op& raw) noexcept : raw_(raw) {}

    /// Returns the C form.
    /// @return a reference that lives as long as this object.
    [[nodiscard]] const commtask_op& native() const noexcept { return raw_; }

private:
    commtask_op raw_;
};

/// A user-defined operation: a function that the task owns until it has ended. Made by start() and
/// call().
template <commtask_kind Kind, typename Function>
class [[nodiscard]] custom {
public:
    /// @param function  runs on the worker.
    /// @param comm  the communicator in whose order the task starts.
    custom(Function function, MPI_Comm comm) noexcept(std::is_nothrow_move_constructible_v<Function>)
        : function_(std::move(function)), comm_(comm) {}

    /// Returns the function.
    /// @return a reference that lives as long as this object.
    [[nodiscard]] Function& function() noexcept { return function_; }

    /// Returns the function.
    /// @return a reference that lives as long as this object.
    [[nodiscard]] const Function& function() const noexcept { return function_; }

    /// Returns the communicator in whose order the task starts.
    /// @return the communicator.
    [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }

private:
    Function function_;
    MPI_Comm comm_;
};

/// Standard send.
/// @param buffer  the data to send.
/// @param dest  rank of the destination.
/// @param tag  tag of the message.
/// @param comm  the communicator.
/// @return the operation, for post().
template <outgoing Buffer>
[[nodiscard]] operation send(Buffer&& buffer, int dest, int tag, MPI_Comm comm) noexcept {
    const const_block from = frontend::to_send(std::forward<Buffer>(buffer));
    return operation{commtask_op_send(from.buffer, from.count, from.type, dest, tag, comm)};
}

/// Synchronous send: ends when the receive has started.
/// @param buffer  the data to send.
/// @param dest  rank of the destination.
/// @param tag  tag of the message.
/// @param comm  the communicator.
/// @return the operation, for post().
template <outgoing Buffer>
[[nodiscard]] operation ssend(Buffer&& buffer, int dest, int tag, MPI_Comm comm) noexcept {
    const const_block from = frontend::to_send(std::forward<Buffer>(buffer));
    return operation{commtask_op_ssend(from.buffer, from.count, from.type, dest, tag, comm)};
}

/// Buffered send, from the buffer of MPI_Buffer_attach.
/// @param buffer  the data to send.
/// @param dest  rank of the destination.
/// @param tag  tag of the message.
/// @param comm  the communicator.
/// @return the operation, for post().
template <outgoing Buffer>
[[nodiscard]] operation bsend(Buffer&& buffer, int dest, int tag, MPI_Comm comm) noexcept {
    const const_block from = frontend::to_send(std::forward<Buffer>(buffer));
    return operation{commtask_op_bsend(from.buffer, from.count, from.type, dest, tag, comm)};
}

/// Ready send: the receive must be posted already.
/// @param buffer  the data to send.
/// @param dest  rank of the destination.
/// @param tag  tag of the message.
/// @param comm  the communicator.
/// @return the operation, for post().
template <outgoing Buffer>
[[nodiscard]] operation rsend(Buffer&& buffer, int dest, int tag, MPI_Comm comm) noexcept {
    const const_block from = frontend::to_send(std::forward<Buffer>(buffer));
    return operation{commtask_op_rsend(from.buffer, from.count, from.type, dest, tag, comm)};
}

/// Receive.
/// @param buffer  the receive buffer; a longer message is an error.
/// @param source  rank of the source, or MPI_ANY_SOURCE.
/// @param tag  tag of the message, or MPI_ANY_TAG.
/// @param comm  the communicator.
/// @return the operation, for post().
template <incoming Buffer>
[[nodiscard]] operation recv(Buffer&& buffer, int source, int tag, MPI_Comm comm) noexcept {
    const block into = frontend::to_recv(std::forward<Buffer>(buffer));
    return operation{commtask_op_recv(into.buffer, into.count, into.type, source, tag, comm)};
}

/// Sends one message and receives another; ends when both have ended. The status is the receive's.
/// @param send_buffer  the data to send.
/// @param dest  rank of the destination.
/// @param send_tag  tag of the message sent.
/// @param recv_buffer  the receive buffer.
/// @param source  rank of the source, or MPI_ANY_SOURCE.
/// @param recv_tag  tag of the message received, or MPI_ANY_TAG.
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
/// @param buffer  the data to send, then the received data.
/// @param dest  rank of the destination.
/// @param send_tag  tag of the message sent.
/// @param source  rank of the source, or MPI_ANY_SOURCE.
/// @param recv_tag  tag of the message received, or MPI_ANY_TAG.
/// @param comm  the communicator.
/// @return the operation, for post().
template <incoming Buffer>
[[nodiscard]] operation sendrecv_replace(Buffer&& buffer, int dest, int send_tag, int source, int recv_tag,
                                         MPI_Comm comm) noexcept {
    const block both = frontend::to_recv(std::forward<Buffer>(buffer));
    return operation{
        commtask_op_sendrecv_replace(both.buffer, both.count, both.type, dest, send_tag, source, recv_tag, comm)};
}

/// Matched probe, as MPI_Mprobe: waits for a message, which only mrecv() can receive then. The
/// status has its size.
/// @param message  written when the task completes; give it to mrecv().
/// @param source  rank of the source, or MPI_ANY_SOURCE.
/// @param tag  tag of the message, or MPI_ANY_TAG.
/// @param comm  the communicator.
/// @return the operation, for post().
[[nodiscard]] inline operation mprobe(MPI_Message& message, int source, int tag, MPI_Comm comm) noexcept {
    return operation{commtask_op_mprobe(&message, source, tag, comm)};
}

/// Receives the message of an mprobe().
/// @param buffer  the receive buffer.
/// @param message  from the mprobe(), read when the task starts.
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

/// Takes over the request of an operation that the program has started itself.
/// @param request  of an active operation; post() sets it to MPI_REQUEST_NULL.
/// @param comm  the communicator of the request.
/// @return the operation, for post().
[[nodiscard]] inline operation attach(MPI_Request& request, MPI_Comm comm) noexcept {
    return operation{commtask_op_attach(&request, comm)};
}

/// Does nothing: a task that joins predecessors.
/// @param comm  the communicator in whose order the task starts.
/// @return the operation, for post().
[[nodiscard]] inline operation noop(MPI_Comm comm = MPI_COMM_SELF) noexcept {
    return operation{commtask_op_noop(comm)};
}

/// Runs a function that starts any MPI operation with a request: MPI-IO, MPI_Rput, MPI_Start of a
/// persistent request, ...
/// @param function  int(MPI_Request*); runs once on the worker, returns an MPI error code and must
///                  not wait. An exception ends the task as failed, with MPI_ERR_OTHER. The
///                  function is destroyed after the task has ended.
/// @param comm  the communicator in whose order the task starts.
/// @return the operation, for post().
template <typename Function>
    requires std::is_invocable_r_v<int, std::decay_t<Function>&, MPI_Request*>
[[nodiscard]] auto start(Function&& function, MPI_Comm comm) {
    return custom<COMMTASK_OP_START, std::decay_t<Function>>{std::forward<Function>(function), comm};
}

/// Runs a function between MPI calls, for an MPI function that is neither an operation nor
/// thread-safe, e.g. MPI_Comm_free.
/// @param function  int() or void(); runs once on the worker and must not wait. An int is an MPI
///                  error code. An exception ends the task as failed, with MPI_ERR_OTHER. The
///                  function is destroyed after the task has ended.
/// @param comm  the communicator in whose order the task starts.
/// @return the operation, for post().
template <typename Function>
    requires std::is_invocable_v<std::decay_t<Function>&>
[[nodiscard]] auto call(Function&& function, MPI_Comm comm) {
    using result = std::invoke_result_t<std::decay_t<Function>&>;
    static_assert(std::is_void_v<result> || std::same_as<result, int>,
                  "call() takes a function that returns nothing, or an MPI error code");
    return custom<COMMTASK_OP_CALL, std::decay_t<Function>>{std::forward<Function>(function), comm};
}

} // namespace commtask
