// SPDX-License-Identifier: Apache-2.0
//
// Nodes of a oneTBB flow graph whose work is an MPI operation: message in, message out when the operation has ended. Each
// is a multifunction_node, so it takes edges, priorities and concurrency limits as oneTBB's own nodes do. A node gives
// its message to the operation and goes on to the next one; no thread waits. The rules that hold for all of them:
//
// Message: is copied into the node, where the operation's buffers may lie, e.g. in a std::vector inside it; it stays in
//   place until the operation has ended and then goes to port 0. As everywhere in oneTBB each edge copies it, so large
//   data travels as a span or a shared_ptr. If it has a member `void received(const commtask::status&)`, that hears of
//   the message's sender, tag and length first.
// Function: Body(Message&) describes the operation on that copy: [](halo& h) { return commtask::recv(h.data, ...); }.
//   It runs in a task of the graph. A fixed operation, whose buffers are the same for every message, may stand in its
//   place; the buffers are then the operation's from a message's arrival until port 0 sends it on. Since nothing of it
//   depends on the message, it is what persistent requests can repeat.
// Ports: 0 sends the messages whose operation completed. 1 sends failure<Message> for those that failed or were
//   canceled; if no successor of port 1 takes it, operation_failed leaves graph.wait_for_all() instead. As at every
//   multifunction node, what all successors of port 0 reject (a full limiter, a rejecting function) is dropped: put a
//   queue_node between.
// Order: with concurrency flow::serial operations are posted in the order in which messages came to the node; what is
//   posted first is matched first. With flow::unlimited the order is open: use tags, or in_order(). A limit says how
//   many descriptions run at once, not how many operations are pending; a limiter_node says that.
// Blocking: no node blocks, but while the library's queue is full, as post() does.
// Waiting: graph.wait_for_all() returns when all operations of its nodes have ended and their messages are processed; so does
//   wait_for_all(graph) of tbb_drive.hpp, whose thread drives MPI where the worker shares its core.
// Cancellation: graph.cancel(), an exception in any body, or a canceled outer task group cancel what is pending within
//   about 50 ms: what has not started never will, receives that no message has matched are withdrawn, the rest
//   completes. Nothing is sent on then. As for every graph, reset() it before its next use.
// Failures: a refused operation (a wrong argument) throws commtask::error out of wait_for_all(), as an exception of the
//   function does. What MPI reports later is an outcome (port 1).
// End: wait_for_all() before a node is destroyed, as oneTBB asks for all nodes. A node that still has operations pending
//   cancels the graph and waits for it in its destructor, as ~graph() would: their buffers are in the node. Successors
//   that are declared after the node are gone by then: where an exception may leave their block, declare after the last
//   node a guard that calls graph.cancel() and graph.wait_for_all().
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

/// What port 1 sends: a message whose operation did not complete.
template <typename Message>
struct failure {
    Message message; ///< As the operation left it.
    outcome result;  ///< Failed or canceled.
};

/// An operation did not complete and port 1 of its node had nobody to tell. Leaves graph.wait_for_all().
class operation_failed : public std::runtime_error {
public:
    /// @param node  what kind of node it was.
    /// @param result  how the operation ended.
    /// @param sentence  which names the operation.
    operation_failed(const char* node, const outcome& result, const std::string& sentence)
        : std::runtime_error(std::string{node} + ": " + sentence), result_(result) {}
    /// The same without a sentence that names the operation.
    /// @param node  what kind of node it was.
    /// @param result  how the operation ended.
    operation_failed(const char* node, const outcome& result)
        : operation_failed(node, result,
                           result.is_canceled() ? "the operation was canceled"
                                                : "the operation failed with an MPI error of class " +
                                                      std::to_string(result.error_class())) {}

    /// How the operation ended.
    /// @return its outcome.
    [[nodiscard]] const outcome& result() const noexcept { return result_; }

private:
    outcome result_;
};

/// A function that describes a node's operation: operation or door, from the node's own copy of the message.
template <typename Body, typename Message>
concept describes_operation = std::invocable<Body&, Message&> && postable<std::invoke_result_t<Body&, Message&>>;

/// A function that numbers messages, for in_order().
template <typename NumberOf, typename Message>
concept numbers_messages = std::is_invocable_r_v<std::size_t, const NumberOf&, const Message&>;

/// @cond
namespace frontend {

/// What kinds of operations a node carries out, and its name.
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
door<Kind, Function>&& check_kind(const node_kind& /*wanted*/, door<Kind, Function>&& what) {
    return std::move(what);
}

/// No sequence.
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
        } catch (...) { // whoever threw it is being left already
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
          kind_(kind), side_(graph_side::of(graph)), column_(numbers.order.join(kind.is_collective)) {}

    [[nodiscard]] graph_side& side() const noexcept { return *side_; }
    [[nodiscard]] std::uint32_t trace_name() const noexcept { return trace_name_; }
    /// Of one operation at a time, from its callbacks.
    [[nodiscard]] bool last_is_looked_for() const noexcept {
        return last_is_looked_for_.load(std::memory_order_relaxed);
    }

private:
    /// A message on its way through MPI.
    class started final : public pending_operation {
    public:
        started(operation_node& node, const Message& given)
            : pending_operation(*node.side_), message(given), node_(node) {
            node_.n_pending_.fetch_add(1, std::memory_order_relaxed);
        }
        // release: partner of the acquire in the node's destructor.
        ~started() override { node_.n_pending_.fetch_sub(1, std::memory_order_release); }

        void finish() override {
            const handing_on scope{node_.trace_name_, trace_id()};
            const outcome& ended = result();
            if (!ended.is_completed()) {
                if (std::get<1>(node_.output_ports()).try_put({message, ended})) return;
                throw operation_failed{node_.kind_.name, ended, sentence()};
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
                ticket place = numbers.order.take(numbers.number_of(given), column_); // given up if the rest throws
                post_it(*mine, body, at(place));
            }
        } catch (...) {
            delete mine; // nobody else has seen it
            throw;
        }
        mine->drop();
    }

    template <typename Body, typename... Place>
    void post_it(started& mine, Body& body, Place&&... place) {
        auto&& what = body(mine.message);
        const auto on_end = [at = &mine](const outcome& ended) noexcept { at->side().deliver(*at, ended); };
        side_->begin(mine);
        last_is_looked_for_.store(graph_side::is_looked_for(mine), std::memory_order_relaxed); // the post publishes it
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
    std::size_t column_ = 0;
    std::atomic<std::size_t> n_pending_{0};
    std::atomic<bool> last_is_looked_for_{false};
};

/// Describes every message by the same operation.
struct fixed_operation {
    operation what;
    template <typename Message>
    [[nodiscard]] const operation& operator()(Message& /*message*/) const noexcept {
        return what;
    }
};

/// Runs a function that starts a request, on the message.
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
    /// @param concurrency  how many functions may run at once; flow::serial keeps the order of arrival.
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
    /// @param concurrency  without meaning here, but for the order of arrival.
    /// @param what  the same operation for every message; one pending at a time, since they share buffers.
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
    /// @param concurrency  how many functions may run at once; flow::serial keeps the order of arrival.
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
    /// @param concurrency  without meaning here, but for the order of arrival.
    /// @param what  the same operation for every message.
    /// @param priority  as for every node.
    send_node(::tbb::flow::graph& graph, std::size_t concurrency, const operation& what,
              ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : send_node(graph, concurrency, frontend::fixed_operation{frontend::check_kind(frontend::send_kind, what)},
                    priority) {}
};

/// Any collective operation: barrier, bcast, allreduce, alltoall, ... Every rank must post a communicator's collectives in
/// the same order. One serial node on a communicator does, if messages come to it in the same order on every rank;
/// several nodes, or messages that overtake each other, need in_order().
template <typename Message>
class collective_node : public frontend::operation_node<Message> {
public:
    /// @param graph  the graph.
    /// @param concurrency  how many functions may run at once; flow::serial keeps the order of arrival.
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
    /// @param concurrency  without meaning here, but for the order of arrival.
    /// @param what  the same operation for every message; one pending at a time, since they share buffers.
    /// @param priority  as for every node.
    collective_node(::tbb::flow::graph& graph, std::size_t concurrency, const operation& what,
                    ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : collective_node(graph, concurrency,
                          frontend::fixed_operation{frontend::check_kind(frontend::collective_kind, what)}, priority) {}
};

/// Anything that gives a request: MPI-IO, MPI_Rput, MPI_Start of a persistent request, or any other operation or door.
template <typename Message>
class request_node : public frontend::operation_node<Message> {
public:
    /// @param graph  the graph.
    /// @param concurrency  how many functions may run at once; flow::serial keeps the order of arrival.
    /// @param comm  whose order the requests belong to.
    /// @param function  int(Message&, MPI_Request*): starts a request and returns an MPI error code. It runs on the worker,
    ///                  once per message, on a copy of itself, and must not wait.
    /// @param priority  as for every node.
    template <typename Function>
        requires std::is_invocable_r_v<int, Function&, Message&, MPI_Request*>
    request_node(::tbb::flow::graph& graph, std::size_t concurrency, MPI_Comm comm, Function function,
                 ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : request_node(graph, concurrency, frontend::starts_request<Function>{std::move(function), comm}, priority) {}

    /// @param graph  the graph.
    /// @param concurrency  how many functions may run at once; flow::serial keeps the order of arrival.
    /// @param body  operation(Message&), or a function that gives a door: commtask::start(...), commtask::call(...).
    /// @param priority  as for every node.
    template <describes_operation<Message> Body>
    request_node(::tbb::flow::graph& graph, std::size_t concurrency, Body body,
                 ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : frontend::operation_node<Message>(frontend::request_kind, graph, concurrency, std::move(body), priority) {}

    /// @param graph  the graph.
    /// @param concurrency  without meaning here, but for the order of arrival.
    /// @param what  the same operation for every message.
    /// @param priority  as for every node.
    request_node(::tbb::flow::graph& graph, std::size_t concurrency, const operation& what,
                 ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : request_node(graph, concurrency, frontend::fixed_operation{what}, priority) {}

    /// @param graph  the graph.
    /// @param concurrency  how many functions may run at once.
    /// @param body  as above.
    /// @param numbers  from in_order(); only for messages and doors, not for collectives.
    /// @param priority  as for every node.
    template <describes_operation<Message> Body, numbers_messages<Message> NumberOf>
    request_node(::tbb::flow::graph& graph, std::size_t concurrency, Body body, numbering<NumberOf> numbers,
                 ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : frontend::operation_node<Message>(frontend::request_kind, graph, concurrency, std::move(body), numbers,
                                            priority) {}
};

} // namespace commtask::tbb
