// SPDX-License-Identifier: Apache-2.0
//
// An active-message handler in a flow graph: every message with a tag, from any sender, is sent to
// the node's successors. The worker only puts the message into the graph. The message's memory is
// released with the last copy of the pointer, so slow successors slow down their senders.
#pragma once

#include <commtask/listener.hpp>
#include <commtask/tbb_graph.hpp>
#include <commtask/tbb_trace.hpp>

#include <oneapi/tbb/flow_graph.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace commtask::tbb {

/// Sends each message as std::shared_ptr<message>. A flow::serial successor gets the messages of
/// one sender in their order.
/// The graph waits until stop(): wait_for_all() returns when all messages that arrived before
/// stop() are processed. A canceled graph stops waiting within about 50 ms, and later messages are
/// dropped until stop().
class listen_node {
public:
    /// The type of the successors' messages.
    using message_type = std::shared_ptr<message>;
    /// The type of messages(), from which edges start.
    using sender = ::tbb::flow::async_node<char, message_type>;

    /// @param graph  the graph.
    /// @param comm  the communicator.
    /// @param tag  of the messages, or MPI_ANY_TAG.
    /// @param max_bytes  the length of the longest message; a longer message has is_good() ==
    ///                   false.
    /// @param n_slots  maximum number of messages in the graph; further messages wait in MPI, as
    ///                 for commtask_listen. A message that no successor takes is dropped, as at
    ///                 every node: make the edges before start().
    /// @throws error by start(), if an argument is wrong.
    listen_node(::tbb::flow::graph& graph, MPI_Comm comm, int tag, std::size_t max_bytes, std::size_t n_slots)
        : side_(frontend::graph_side::of(graph)),
          sender_(graph, ::tbb::flow::unlimited, [](char, typename sender::gateway_type&) noexcept {}),
          way_(std::make_shared<way>(*side_, sender_)), comm_(comm), tag_(tag), max_bytes_(max_bytes),
          n_slots_(n_slots) {}
    listen_node(const listen_node&) = delete;
    listen_node& operator=(const listen_node&) = delete;
    /// Calls stop(). If stop() throws, in a callback or after commtask_finalize, the graph no
    /// longer waits for messages, and messages that still arrive are dropped.
    ~listen_node() {
        try {
            stop();
        } catch (const error&) {
            leave_graph(phase::listening);
        }
        // A canceled graph does not wait for a thread that is in stop() or start().
        for (phase now = phase_; now == phase::ending || now == phase::starting; now = phase_)
            std::this_thread::yield();
    }

    /// Starts receiving. Bodies may get the first message before this call returns.
    /// @throws error  if an argument is wrong, or there is no memory.
    void start() {
        phase now = phase::idle;
        if (!phase_.compare_exchange_strong(now, phase::starting)) return;
        try {
            way_->open();
            frontend::graph_side::hold(side_, *way_);
            listener_ = listener{comm_, tag_, max_bytes_, n_slots_, [way = way_, name = trace_name_](message& come) {
                                     const frontend::forwarding scope{name, commtask_trace_ended()};
                                     way->put(come);
                                 }};
        } catch (...) {
            leave_graph(phase::idle);
            throw;
        }
        now = phase::starting;
        if (!phase_.compare_exchange_strong(now, phase::listening)) end(); // a body has called stop() meanwhile
    }

    /// Stops receiving and waits for the worker. Any thread may call it, also bodies of the graph.
    /// During start(), start() ends the listener instead.
    /// @throws error  in a callback, or if memory is exhausted.
    void stop() {
        phase now = phase_;
        while (now == phase::starting) {
            if (phase_.compare_exchange_weak(now, phase::ending)) return;
        }
        if (now == phase::listening && phase_.compare_exchange_strong(now, phase::ending)) end();
    }

    /// Returns the node that sends the messages, for make_edge(node.messages(), successor).
    /// @return the node.
    [[nodiscard]] sender& messages() noexcept { return sender_; }

private:
    enum class phase : std::uint8_t {
        idle,      ///< -> start() (starting).
        starting,  ///< The receives are being posted -> start() (listening, or idle if refused), stop() (ending).
        listening, ///< -> stop() (ending).
        ending,    ///< A thread ends the receive -> idle, or listening if that is refused.
    };

    void end() {
        try {
            listener_.stop();
        } catch (...) {
            phase_ = phase::listening;
            throw;
        }
        leave_graph(phase::idle);
    }
    /// The last step: when the graph does not wait any more, the node may be destroyed.
    void leave_graph(phase then) noexcept {
        side_->forget(*way_);
        const bool is_waited_for = way_->close();
        ::tbb::flow::graph& graph = side_->graph();
        phase_ = then;
        if (is_waited_for) graph.release_wait();
    }

    /// The path of messages into the graph. The handler may outlive the node; then the path is
    /// closed.
    class way final : public frontend::keeper {
    public:
        way(frontend::graph_side& side, sender& to) noexcept : graph_(side.graph()), to_(to) {}
        void open() {
            const std::lock_guard guard{lock_};
            is_open_ = true;
        }
        /// @return whether it was open
        [[nodiscard]] bool close() noexcept {
            const std::lock_guard guard{lock_};
            return std::exchange(is_open_, false);
        }
        void put(message& come) {
            const std::lock_guard guard{lock_};
            if (is_open_) to_.gateway().try_put(std::make_shared<message>(std::move(come)));
        }
        void give_up() noexcept override {
            if (close()) graph_.release_wait();
        }

    private:
        ::tbb::flow::graph& graph_;
        sender& to_;
        std::mutex lock_;
        bool is_open_ = false; ///< The graph waits for the node.
    };

    std::shared_ptr<frontend::graph_side> side_;
    sender sender_;
    const std::shared_ptr<way> way_;
    const MPI_Comm comm_;
    const int tag_;
    const std::size_t max_bytes_;
    const std::size_t n_slots_;
    const std::uint32_t trace_name_ = commtask_trace_text("listen_node");
    listener listener_;
    std::atomic<phase> phase_{phase::idle};
};

} // namespace commtask::tbb
