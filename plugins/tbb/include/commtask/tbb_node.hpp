// SPDX-License-Identifier: Apache-2.0
//
// Nodes of a oneTBB flow graph that perform MPI operations: a message enters, and leaves when the
// operation has ended. Each node is a multifunction_node, so it supports edges, priorities and
// concurrency limits as oneTBB's own nodes do. A node starts the operation of a message and
// continues with the next message; no thread waits. Rules for all nodes:
//
// Message: is copied into the node, where the operation's buffers may be, e.g. in a std::vector
// inside the message. The copy stays in place until the operation has ended and then goes to port
// 0. As everywhere in oneTBB each edge copies messages, so send large data as a span or a
// shared_ptr. If the message has a member `void received(const commtask::status&)`, that member is
// called first, with the sender, tag and length of a receive. Function: Body(Message&) describes
// the operation on that copy: [](halo& h) { return commtask::recv(h.data, ...); }. It runs in a
// task of the graph. A fixed operation, with the same buffers for every message, may replace the
// function; the operation owns the buffers from a message's arrival until port 0 sends the message.
// A fixed operation can use persistent requests. Ports: port 0 sends messages whose operation
// completed. Port 1 sends failure<Message> for operations that failed or were canceled; if no
// successor of port 1 takes the failure, operation_failed leaves graph.wait_for_all(). As at every
// multifunction node, a message that all successors of port 0 reject (a full limiter, a rejecting
// function) is dropped: put a queue_node between. Order: with concurrency flow::serial, operations
// are posted in the order in which messages came to the node, and matched in that order. With
// flow::unlimited the order is undefined: use tags, or in_order(). The concurrency limits how many
// functions run at once, not how many operations are pending; use a limiter_node to limit pending
// operations. Blocking: no node blocks, except while the library's queue is full, as post() does.
// Waiting: graph.wait_for_all() returns when all operations of its nodes have ended and their
// messages are processed. wait_for_all(graph) of tbb_progress.hpp does the same, and makes progress
// if the worker is shared. Cancellation: graph.cancel(), an exception in any body, or a canceled
// outer task group cancel the pending operations within about 50 ms. Operations that have not
// started never start, receives without a matching message are canceled, all other operations
// complete. No message is sent afterwards. As for every graph, call reset() before the graph's next
// use. Failures: a wrong argument of an operation throws commtask::error out of wait_for_all(), as
// an exception of the function does. An error that MPI reports later is an outcome (port 1). End:
// call wait_for_all() before a node is destroyed, as for all oneTBB nodes. The destructor of a node
// with pending operations cancels the graph and waits for it, as ~graph() would, since the buffers
// are in the node. Successors declared after the node are destroyed by then. If an exception may
// leave the block, declare after the last node a guard that calls graph.cancel() and
// graph.wait_for_all().
#pragma once

#include <commtask/outcome.hpp>
#include <commtask/post.hpp>
#include <commtask/tbb_graph.hpp>
#include <commtask/tbb_order.hpp>
#include <commtask/tbb_trace.hpp>

#include <oneapi/tbb/flow_graph.h>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace commtask::tbb {

/// The messages of port 1: a message whose operation did not complete.
template <typename Message>
struct failure {
    Message message; ///< As the operation left it.
    outcome result;  ///< Failed or canceled.
};

/// Thrown by graph.wait_for_all() if an operation did not complete and no successor of port 1 took
/// the failure.
class operation_failed : public std::runtime_error {
public:
    /// @param node  the kind of the node.
    /// @param result  how the operation ended.
    /// @param message  an error message that names the operation.
    operation_failed(const char* node, const outcome& result, const std::string& message)
        : std::runtime_error(std::string{node} + ": " + message), result_(result) {}
    /// Makes an error message without the operation's name.
    /// @param node  the kind of the node.
    /// @param result  how the operation ended.
    operation_failed(const char* node, const outcome& result)
        : operation_failed(node, result,
                           result.is_canceled() ? "the operation was canceled"
                                                : "the operation failed with an MPI error of class " +
                                                      std::to_string(result.error_class())) {}

    /// Returns how the operation ended.
    /// @return its outcome.
    [[nodiscard]] const outcome& result() const noexcept { return result_; }

private:
    outcome result_;
};

/// A function that describes a node's operation, built-in or user-defined, from the node's own copy
/// of the message.
template <typename Body, typename Message>
concept describes_operation = std::invocable<Body&, Message&> && postable<std::invoke_result_t<Body&, Message&>>;

/// A function that numbers messages, for in_order().
template <typename NumberOf, typename Message>
concept numbers_messages = std::is_invocable_r_v<std::size_t, const NumberOf&, const Message&>;

/// @cond
namespace frontend {

/// The name of a node class, and the kinds of operations that it accepts.
struct node_kind {
    const char* name;
    bool (*is_for_it)(const commtask_kind_info&);
    bool is_collective;
};
inline constexpr node_kind send_kind{
    "send_node", [](const commtask_kind_info& kind) { return kind.sends != 0 && kind.receives == 0; }, false};
inline constexpr node_kind recv_kind{"recv_node", [](const commtask_kind_info& kind) { return kind.receives != 0; },
                                     false};
inline constexpr node_kind collective_kind{
    "collective_node", [](const commtask_kind_info& kind) { return kind.is_collective != 0; }, true};
inline constexpr node_kind request_kind{"request_node", [](const commtask_kind_info&) { return true; }, false};

inline const operation& check_kind(const node_kind& wanted, const operation& what) {
    const commtask_kind_info* const kind = commtask_kind_describe(what.native().kind);
    if (kind != nullptr && wanted.is_for_it(*kind)) return what;
    throw error{COMMTASK_ERR_ARGUMENT, std::string{wanted.name} + ": the operation is of another kind"};
}
template <commtask_kind Kind, typename Function>
custom<Kind, Function>&& check_kind(const node_kind& /*wanted*/, custom<Kind, Function>&& what) {
    return std::move(what);
}

/// Tag: the node follows no sequence.
struct unnumbered {};

/// The common part of all nodes.
template <typename Message>
class operation_node : public ::tbb::flow::multifunction_node<Message, std::tuple<Message, failure<Message>>> {
    using base = ::tbb::flow::multifunction_node<Message, std::tuple<Message, failure<Message>>>;
    using ports = typename base::output_ports_type;

public:
    operation_node(const operation_node&) = delete;
    operation_node& operator=(const operation_node&) = delete;
    ~operation_node() {
        if (n_pending_.load(std::memory_order_acquire) == 0) return; // partner: the release in started's destructor
        ::tbb::flow::graph& graph = side_->graph();
        graph.cancel();
        side_->cancel_pending();
        try {
            graph.wait_for_all();
        } catch (...) { // the block is being left already
        }
    }

protected:
    template <typename Body>
    operation_node(const node_kind& kind, ::tbb::flow::graph& graph, std::size_t concurrency, Body body,
                   ::tbb::flow::node_priority_t priority)
        : base(
              graph, concurrency,
              [this, body = std::move(body)](const Message& message, ports& /*later*/) mutable {
                  start(message, body, unnumbered{});
              },
              priority),
          kind_(kind), side_(graph_side::of(graph)) {}

    template <typename Body, typename NumberOf>
    operation_node(const node_kind& kind, ::tbb::flow::graph& graph, std::size_t concurrency, Body body,
                   numbering<NumberOf> numbers, ::tbb::flow::node_priority_t priority)
        : base(
              graph, concurrency,
              [this, body = std::move(body), numbers](const Message& message, ports& /*later*/) mutable {
                  start(message, body, numbers);
              },
              priority),
          kind_(kind), side_(graph_side::of(graph)), node_index_(numbers.order.join(kind.is_collective)) {}

    [[nodiscard]] graph_side& side() const noexcept { return *side_; }
    [[nodiscard]] std::uint32_t trace_name() const noexcept { return trace_name_; }
    /// Whether the progress task takes the last posted operation. For nodes with one operation at a
    /// time, from its callbacks.
    [[nodiscard]] bool last_is_polled() const noexcept { return last_is_polled_.load(std::memory_order_relaxed); }

private:
    /// A message with its pending operation.
    class started final : public pending_operation {
    public:
        started(operation_node& node, const Message& given)
            : pending_operation(*node.side_), message(given), node_(node) {
            node_.n_pending_.fetch_add(1, std::memory_order_relaxed);
        }
        // release: partner of the acquire in the node's destructor.
        ~started() override { node_.n_pending_.fetch_sub(1, std::memory_order_release); }

        void finish() override {
            const forwarding scope{node_.trace_name_, trace_id()};
            const outcome& ended = result();
            if (!ended.is_completed()) {
                if (std::get<1>(node_.output_ports()).try_put({message, ended})) return;
                throw operation_failed{node_.kind_.name, ended, error_message()};
            }
            if constexpr (requires(Message& mine, const status& what) { mine.received(what); }) {
                message.received(ended.status());
            }
            std::get<0>(node_.output_ports()).try_put(message);
        }

        Message message;

    private:
        operation_node& node_;
    };

    /// In a task of the graph.
    template <typename Body, typename Numbers>
    void start(const Message& given, Body& body, const Numbers& numbers) {
        auto* const mine = new started{*this, given};
        try {
            if constexpr (std::same_as<Numbers, unnumbered>) {
                post_it(*mine, body);
            } else {
                ticket place = numbers.order.take(numbers.number_of(given), node_index_); // released if the rest throws
                post_it(*mine, body, at(place));
            }
        } catch (...) {
            delete mine; // no other thread has a reference yet
            throw;
        }
        mine->drop();
    }

    template <typename Body, typename... Place>
    void post_it(started& mine, Body& body, Place&&... place) {
        auto&& what = body(mine.message);
        const auto on_end = [at = &mine](const outcome& ended) noexcept { at->side().deliver(*at, ended); };
        side_->begin(mine);
        last_is_polled_.store(graph_side::is_polled(mine), std::memory_order_relaxed); // the post publishes it
        task handle;
        try {
            handle = post(check_kind(kind_, std::forward<decltype(what)>(what)), then(on_end), callback_relays,
                          std::forward<Place>(place)...);
        } catch (...) {
            side_->take_back(mine);
            throw;
        }
        side_->list(mine, std::move(handle));
    }

    const node_kind kind_;
    const std::uint32_t trace_name_ = commtask_trace_text(kind_.name);
    std::shared_ptr<graph_side> side_;
    std::size_t node_index_ = 0;
    std::atomic<std::size_t> n_pending_{0};
    std::atomic<bool> last_is_polled_{false};
};

/// Returns the same operation for every message.
struct fixed_operation {
    operation what;
    template <typename Message>
    [[nodiscard]] const operation& operator()(Message& /*message*/) const noexcept {
        return what;
    }
};

/// Calls a function that starts a request, with the message.
template <typename Function>
struct starts_request {
    Function function;
    MPI_Comm comm;
    template <typename Message>
    [[nodiscard]] auto operator()(Message& message) const {
        return commtask::start(
            [function = function, at = &message](MPI_Request* request) mutable { return function(*at, request); },
            comm);
    }
};

} // namespace frontend
/// @endcond

/// Receives. Function or fixed operation: recv, sendrecv, sendrecv_replace, mprobe or mrecv.
template <typename Message>
class recv_node : public frontend::operation_node<Message> {
public:
    /// Receives into each message, which is a buffer itself (a span, a vector of the right size).
    /// @param graph  the graph.
    /// @param source  the rank that sends, or MPI_ANY_SOURCE.
    /// @param tag  of the messages, or MPI_ANY_TAG.
    /// @param comm  the communicator.
    /// @param priority  as for every node.
    recv_node(::tbb::flow::graph& graph, int source, int tag, MPI_Comm comm,
              ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        requires incoming<Message&>
        : recv_node(
              graph, ::tbb::flow::serial, [=](Message& into) { return commtask::recv(into, source, tag, comm); },
              priority) {}

    /// @param graph  the graph.
    /// @param concurrency  how many functions may run at once; flow::serial keeps arrival order.
    /// @param body  operation(Message&).
    /// @param priority  as for every node.
    template <describes_operation<Message> Body>
    recv_node(::tbb::flow::graph& graph, std::size_t concurrency, Body body,
              ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : frontend::operation_node<Message>(frontend::recv_kind, graph, concurrency, std::move(body), priority) {}

    /// @param graph  the graph.
    /// @param concurrency  how many functions may run at once.
    /// @param body  operation(Message&).
    /// @param numbers  from in_order().
    /// @param priority  as for every node.
    template <describes_operation<Message> Body, numbers_messages<Message> NumberOf>
    recv_node(::tbb::flow::graph& graph, std::size_t concurrency, Body body, numbering<NumberOf> numbers,
              ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : frontend::operation_node<Message>(frontend::recv_kind, graph, concurrency, std::move(body), numbers,
                                            priority) {}

    /// @param graph  the graph.
    /// @param concurrency  no effect, except on the order of arrival.
    /// @param what  the same operation for every message; one is pending at a time, since all use
    ///              the same buffers.
    /// @param priority  as for every node.
    recv_node(::tbb::flow::graph& graph, std::size_t concurrency, const operation& what,
              ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : recv_node(graph, concurrency, frontend::fixed_operation{frontend::check_kind(frontend::recv_kind, what)},
                    priority) {}
};

/// Sends. Function or fixed operation: send, ssend, bsend or rsend.
template <typename Message>
class send_node : public frontend::operation_node<Message> {
public:
    /// Sends each message, which is a buffer itself (a span, a vector).
    /// @param graph  the graph.
    /// @param dest  the rank that receives.
    /// @param tag  of the messages.
    /// @param comm  the communicator.
    /// @param priority  as for every node.
    send_node(::tbb::flow::graph& graph, int dest, int tag, MPI_Comm comm,
              ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        requires outgoing<Message&>
        : send_node(
              graph, ::tbb::flow::serial, [=](Message& from) { return commtask::send(from, dest, tag, comm); },
              priority) {}

    /// @param graph  the graph.
    /// @param concurrency  how many functions may run at once; flow::serial keeps arrival order.
    /// @param body  operation(Message&).
    /// @param priority  as for every node.
    template <describes_operation<Message> Body>
    send_node(::tbb::flow::graph& graph, std::size_t concurrency, Body body,
              ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : frontend::operation_node<Message>(frontend::send_kind, graph, concurrency, std::move(body), priority) {}

    /// @param graph  the graph.
    /// @param concurrency  how many functions may run at once.
    /// @param body  operation(Message&).
    /// @param numbers  from in_order().
    /// @param priority  as for every node.
    template <describes_operation<Message> Body, numbers_messages<Message> NumberOf>
    send_node(::tbb::flow::graph& graph, std::size_t concurrency, Body body, numbering<NumberOf> numbers,
              ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : frontend::operation_node<Message>(frontend::send_kind, graph, concurrency, std::move(body), numbers,
                                            priority) {}

    /// @param graph  the graph.
    /// @param concurrency  no effect, except on the order of arrival.
    /// @param what  the same operation for every message.
    /// @param priority  as for every node.
    send_node(::tbb::flow::graph& graph, std::size_t concurrency, const operation& what,
              ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : send_node(graph, concurrency, frontend::fixed_operation{frontend::check_kind(frontend::send_kind, what)},
                    priority) {}
};

/// Performs any collective operation: barrier, bcast, allreduce, alltoall, ... Every rank must post
/// a communicator's collectives in the same order. One serial node per communicator does that if
/// messages arrive at it in the same order on every rank. Several nodes, or messages that overtake
/// each other, need in_order().
template <typename Message>
class collective_node : public frontend::operation_node<Message> {
public:
    /// @param graph  the graph.
    /// @param concurrency  how many functions may run at once; flow::serial keeps arrival order.
    /// @param body  operation(Message&).
    /// @param priority  as for every node.
    template <describes_operation<Message> Body>
    collective_node(::tbb::flow::graph& graph, std::size_t concurrency, Body body,
                    ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : frontend::operation_node<Message>(frontend::collective_kind, graph, concurrency, std::move(body), priority) {}

    /// @param graph  the graph.
    /// @param concurrency  how many functions may run at once.
    /// @param body  operation(Message&).
    /// @param numbers  from in_order().
    /// @param priority  as for every node.
    template <describes_operation<Message> Body, numbers_messages<Message> NumberOf>
    collective_node(::tbb::flow::graph& graph, std::size_t concurrency, Body body, numbering<NumberOf> numbers,
                    ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : frontend::operation_node<Message>(frontend::collective_kind, graph, concurrency, std::move(body), numbers,
                                            priority) {}

    /// @param graph  the graph.
    /// @param concurrency  no effect, except on the order of arrival.
    /// @param what  the same operation for every message; one is pending at a time, since all use
    ///              the same buffers.
    /// @param priority  as for every node.
    collective_node(::tbb::flow::graph& graph, std::size_t concurrency, const operation& what,
                    ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : collective_node(graph, concurrency,
                          frontend::fixed_operation{frontend::check_kind(frontend::collective_kind, what)}, priority) {}
};

/// Performs any operation that has a request: MPI-IO, MPI_Rput, MPI_Start of a persistent request,
/// or any other operation, built-in or user-defined.
template <typename Message>
class request_node : public frontend::operation_node<Message> {
public:
    /// @param graph  the graph.
    /// @param concurrency  how many functions may run at once; flow::serial keeps the order of
    ///                     arrival.
    /// @param comm  the communicator in whose order the requests are started.
    /// @param function  int(Message&, MPI_Request*): starts a request and returns an MPI error
    ///                  code. It runs on the worker, once per message, on a copy of itself, and
    ///                  must not wait.
    /// @param priority  as for every node.
    template <typename Function>
        requires std::is_invocable_r_v<int, Function&, Message&, MPI_Request*>
    request_node(::tbb::flow::graph& graph, std::size_t concurrency, MPI_Comm comm, Function function,
                 ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : request_node(graph, concurrency, frontend::starts_request<Function>{std::move(function), comm}, priority) {}

    /// @param graph  the graph.
    /// @param concurrency  how many functions may run at once; flow::serial keeps the order of
    ///                     arrival.
    /// @param body  operation(Message&), or a function that returns a user-defined operation:
    ///              commtask::start(...), commtask::call(...).
    /// @param priority  as for every node.
    template <describes_operation<Message> Body>
    request_node(::tbb::flow::graph& graph, std::size_t concurrency, Body body,
                 ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : frontend::operation_node<Message>(frontend::request_kind, graph, concurrency, std::move(body), priority) {}

    /// @param graph  the graph.
    /// @param concurrency  no effect, except on the order of arrival.
    /// @param what  the same operation for every message.
    /// @param priority  as for every node.
    request_node(::tbb::flow::graph& graph, std::size_t concurrency, const operation& what,
                 ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : request_node(graph, concurrency, frontend::fixed_operation{what}, priority) {}

    /// @param graph  the graph.
    /// @param concurrency  how many functions may run at once.
    /// @param body  operation(Message&), or a function that returns a user-defined operation.
    /// @param numbers  from in_order(); only for messages and user-defined operations, not for
    ///                 collectives.
    /// @param priority  as for every node.
    template <describes_operation<Message> Body, numbers_messages<Message> NumberOf>
    request_node(::tbb::flow::graph& graph, std::size_t concurrency, Body body, numbering<NumberOf> numbers,
                 ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : frontend::operation_node<Message>(frontend::request_kind, graph, concurrency, std::move(body), numbers,
                                            priority) {}
};

} // namespace commtask::tbb
