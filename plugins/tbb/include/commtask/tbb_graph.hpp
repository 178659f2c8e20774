// SPDX-License-Identifier: Apache-2.0
//
// What all communication nodes of one graph share: the way from the worker back into the graph, and the list of pending
// operations, which a canceled graph gives up. The worker does one thing per operation, a try_put to a gateway with a
// single successor, whatever the node's successors are and whatever copying their messages costs: those run in a
// task of the graph. Nothing here is for callers.
#pragma once

#include <commtask/error.hpp>
#include <commtask/outcome.hpp>
#include <commtask/task.hpp>
#include <commtask/tbb_support.h>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/task.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

/// @cond
namespace commtask::tbb::face {

class graph_side;

/// An operation of a node, from the start until its message has gone on. The last reference destroys it, always on a
/// thread of oneTBB: the worker's goes over to the task that it makes.
class pending_operation {
public:
    pending_operation(const pending_operation&) = delete;
    pending_operation& operator=(const pending_operation&) = delete;

    /// In a task of the graph: sends the message on, or throws.
    virtual void finish() = 0;

    [[nodiscard]] graph_side& side() const noexcept { return side_; }
    void refer() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    inline void drop() noexcept;

protected:
    explicit pending_operation(graph_side& side) noexcept : side_(side) {}
    virtual ~pending_operation() = default;
    [[nodiscard]] const outcome& result() const noexcept { return result_; }

private:
    friend class graph_side;
    friend class delivery;

    graph_side& side_;
    outcome result_;                 ///< Written by the worker before it gives the operation to the gateway.
    std::atomic<int> references_{2}; ///< The starter's and the worker's; then those of the task that sends on.
    bool is_carried_ = false;        ///< The worker's reference has gone over to a task. The worker only.
    task handle_;                    ///< This and the rest: under the side's lock.
    bool is_listed_ = false;
    bool was_canceled_ = false;
    pending_operation* next_ = nullptr;
    pending_operation* previous_ = nullptr;
};

/// The message from the gateway to the finisher. The worker's original gives its reference to the first copy, which is in
/// the task that the gateway makes, and drops none itself: so the worker never destroys an operation.
class delivery {
public:
    delivery() noexcept = default;
    explicit delivery(pending_operation& ended) noexcept : ended_(&ended) {}
    delivery(const delivery& other) noexcept : ended_(other.ended_), refers_(ended_ != nullptr) {
        if (!refers_) return;
        if (other.refers_ || std::exchange(ended_->is_carried_, true)) ended_->refer();
    }
    delivery& operator=(const delivery& other) noexcept {
        delivery copy{other};
        std::swap(ended_, copy.ended_);
        std::swap(refers_, copy.refers_);
        return *this;
    }
    ~delivery() {
        if (refers_) ended_->drop();
    }
    void finish() const { ended_->finish(); }

private:
    pending_operation* ended_ = nullptr;
    bool refers_ = false;
};

/// One for each graph that has communication nodes. It lives as long as they do.
class graph_side {
public:
    /// The one of this graph.
    [[nodiscard]] static std::shared_ptr<graph_side> of(::tbb::flow::graph& graph) {
        static std::mutex lock;
        static std::map<::tbb::flow::graph*, std::weak_ptr<graph_side>> known;
        const std::lock_guard guard{lock};
        std::erase_if(known, [](const auto& each) { return each.second.expired(); });
        std::weak_ptr<graph_side>& mine = known[&graph];
        std::shared_ptr<graph_side> side = mine.lock();
        if (side == nullptr) {
            side = std::make_shared<graph_side>(graph);
            mine = side;
        }
        return side;
    }

    explicit graph_side(::tbb::flow::graph& graph)
        : graph_(graph), entrance_(graph, ::tbb::flow::unlimited, [](char, entrance::gateway_type&) noexcept {}),
          finisher_(graph, ::tbb::flow::unlimited, [](const delivery& arrived) { arrived.finish(); }) {
        ::tbb::flow::make_edge(entrance_, finisher_);
        check(commtask_tbb_watch_add(&look, this, &watch_));
    }
    graph_side(const graph_side&) = delete;
    graph_side& operator=(const graph_side&) = delete;
    ~graph_side() { commtask_tbb_watch_remove(&watch_); }

    [[nodiscard]] ::tbb::flow::graph& graph() const noexcept { return graph_; }

    /// In a task of the graph, before the operation is posted. The graph waits from here on.
    void begin() noexcept {
        // The pointer never changes: it is the graph's. release: partner of the acquire in look().
        context_.store(::tbb::task::current_context(), std::memory_order_release);
        commtask_tbb_watch_begin(watch_);
        graph_.reserve_wait();
    }
    /// Instead of the worker's deliver(), where posting was refused.
    void take_back() noexcept {
        commtask_tbb_watch_end(watch_);
        graph_.release_wait();
    }
    /// After posting, by the starter, whose reference keeps the operation although it may have ended.
    void list(pending_operation& posted, task handle) noexcept {
        const std::lock_guard guard{lock_};
        posted.handle_ = std::move(handle);
        posted.is_listed_ = true;
        posted.previous_ = last_;
        (last_ != nullptr ? last_->next_ : first_) = &posted;
        last_ = &posted;
    }

    /// On the worker: the operation has ended. The graph may be gone when this returns.
    void deliver(pending_operation& ended, const outcome& result) noexcept {
        ended.result_ = result;
        ::tbb::flow::graph& graph = graph_;
        entrance_.gateway().try_put(delivery{ended});
        graph.release_wait();
    }

    /// Asks for everything pending to be canceled: what has not started never will, receives that no message has matched
    /// are withdrawn, the rest completes.
    void cancel_pending() noexcept {
        const std::lock_guard guard{lock_};
        cancel_listed();
    }

private:
    friend class pending_operation;
    /// Nobody feeds it: it is there for its gateway. Its edge is ours, so that a graph which is reset with
    /// rf_clear_edges loses the user's edges only.
    class entrance : public ::tbb::flow::async_node<char, delivery> {
    public:
        using async_node::async_node;

    protected:
        void reset_node(::tbb::flow::reset_flags flags) override {
            async_node::reset_node(static_cast<::tbb::flow::reset_flags>(
                static_cast<unsigned>(flags) & ~static_cast<unsigned>(::tbb::flow::rf_clear_edges)));
        }
    };

    /// Oldest first: MPI looks for a receive from that end, and 10^5 of them would take it minutes from the other.
    void cancel_listed() noexcept {
        for (pending_operation* each = first_; each != nullptr; each = each->next_) {
            if (!std::exchange(each->was_canceled_, true)) static_cast<void>(commtask_cancel(each->handle_.native()));
        }
    }

    static void check(int code) {
        if (code != COMMTASK_OK) throw error{code, "the system gave no memory or no thread for a graph's watch"};
    }

    static void look(void* self) noexcept {
        auto& side = *static_cast<graph_side*>(self);
        // Both under one lock: the graph may be reset as soon as what is listed now has ended, and what it starts then is
        // not listed before this is over.
        const std::lock_guard guard{side.lock_};
        // acquire: partner of the release in begin().
        ::tbb::task_group_context* const context = side.context_.load(std::memory_order_acquire);
        if (context != nullptr && context->is_group_execution_cancelled()) side.cancel_listed();
    }

    void unlist(pending_operation& gone) noexcept {
        const std::lock_guard guard{lock_};
        if (!gone.is_listed_) return;
        (gone.previous_ != nullptr ? gone.previous_->next_ : first_) = gone.next_;
        (gone.next_ != nullptr ? gone.next_->previous_ : last_) = gone.previous_;
    }

    ::tbb::flow::graph& graph_;
    entrance entrance_;
    ::tbb::flow::function_node<delivery> finisher_;
    commtask_tbb_watch_t watch_ = nullptr;
    std::atomic<::tbb::task_group_context*> context_{nullptr};
    std::mutex lock_;                    ///< Of the list and of what pending_operation names.
    pending_operation* first_ = nullptr; ///< In the order of posting.
    pending_operation* last_ = nullptr;
};

inline void pending_operation::drop() noexcept {
    // acq_rel: partner of itself on the thread that drops the last reference.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    side_.unlist(*this);
    if (is_listed_) commtask_tbb_watch_end(side_.watch_);
    delete this;
}

} // namespace commtask::tbb::face
/// @endcond
