// SPDX-License-Identifier: Apache-2.0
//
// Shared by all communication nodes of one graph: the path from the worker back into the graph, and
// the list of pending operations and listeners, which a canceled graph abandons. For each operation
// the worker makes one try_put to a gateway with a single successor; the node's successors and the
// copies of their messages run in a task of the graph. If the worker shares the core of the only
// compute thread, a task of the graph, the progress task, polls for completed operations instead: a
// task made by the worker would wake another thread of oneTBB. Not for programs.
#pragma once

#include <commtask/commtask.h>
#include <commtask/error.hpp>
#include <commtask/outcome.hpp>
#include <commtask/task.hpp>
#include <commtask/tbb_support.h>
#include <commtask/trace.h>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/task.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>

/// @cond
namespace commtask::tbb::frontend {

class graph_side;

/// An object other than an operation that keeps a graph waiting.
class keeper {
public:
    keeper() noexcept = default;
    keeper(const keeper&) = delete;
    keeper& operator=(const keeper&) = delete;
    /// The graph was canceled, and need not wait for this object. Called on the watch's thread.
    virtual void give_up() noexcept = 0;

protected:
    ~keeper() = default;

private:
    friend class graph_side;
    keeper* next_ = nullptr;
};

/// An object that a graph's progress task takes from a list.
class arrival {
public:
    arrival() noexcept = default;
    arrival(const arrival&) = delete;
    arrival& operator=(const arrival&) = delete;
    /// In a task of the graph: makes the tasks that follow.
    virtual void enter() = 0;
    /// Called instead of enter(), if the graph was canceled.
    virtual void forget() noexcept {}

protected:
    ~arrival() = default;
    /// The ended task, in a trace.
    [[nodiscard]] std::uint64_t trace_id() const noexcept { return trace_id_; }

private:
    friend class graph_side;
    arrival* next_arrival_ = nullptr;
    std::uint64_t trace_id_ = 0; ///< Written before the object is in the list.
};

/// An operation of a node, from its start until its message has been sent on. The last reference
/// destroys it, always on a thread of oneTBB: the worker's reference passes to the task that the
/// worker makes.
class pending_operation : public arrival {
public:
    pending_operation(const pending_operation&) = delete;
    pending_operation& operator=(const pending_operation&) = delete;

    /// In a task of the graph: sends the message on, or throws.
    virtual void finish() = 0;

    inline void enter() final;
    inline void forget() noexcept final;

    [[nodiscard]] graph_side& side() const noexcept { return side_; }
    void refer() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    inline void drop() noexcept;

protected:
    explicit pending_operation(graph_side& side) noexcept : side_(side) {}
    virtual ~pending_operation() = default;
    [[nodiscard]] const outcome& result() const noexcept { return result_; }
    /// Why the operation failed or was canceled; "" without memory.
    [[nodiscard]] const std::string& error_message() const noexcept { return error_message_; }

private:
    friend class graph_side;
    friend class delivery;

    graph_side& side_;
    outcome result_;                 ///< Written by the worker before it gives the operation to the gateway.
    std::string error_message_;      ///< Written as result_.
    bool is_polled_ = false;         ///< The progress task takes it, instead of a task that the worker
                                     ///< makes.
    std::atomic<int> references_{2}; ///< The starter's and the worker's; later those of the task that
                                     ///< sends the message on.
    bool is_carried_ = false;        ///< The worker's reference has passed to a task. Only the worker uses
                                     ///< it.
    task handle_;                    ///< This and the following members: under the side's lock.
    bool is_listed_ = false;
    bool was_canceled_ = false;
    pending_operation* next_ = nullptr;
    pending_operation* previous_ = nullptr;
};

/// The message from the gateway to the finisher. The worker's original passes its reference to the
/// first copy, which is in the task that the gateway makes, and drops none itself. So the worker
/// never destroys an operation.
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

/// The state of one graph that has communication nodes. It lives as long as these nodes.
class graph_side {
public:
    /// Returns the side of this graph.
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
          finisher_(graph, ::tbb::flow::unlimited, [](const delivery& arrived) { arrived.finish(); }),
          progress_task_(graph, ::tbb::flow::unlimited, [this](const std::shared_ptr<first_task>& of_keeper) {
              note_context();
              if (of_keeper == nullptr) return progress_turn();
              of_keeper->has_run = true;
          }) {
        ::tbb::flow::make_edge(entrance_, finisher_);
        check(commtask_tbb_watch_add(&check_canceled, this, &watch_));
    }
    graph_side(const graph_side&) = delete;
    graph_side& operator=(const graph_side&) = delete;
    ~graph_side() { commtask_tbb_watch_remove(&watch_); }

    [[nodiscard]] ::tbb::flow::graph& graph() const noexcept { return graph_; }

    /// In a task of the graph, before the operation is posted. From here on the graph waits for the
    /// operation.
    void begin(pending_operation& started) {
        note_context();
        commtask_tbb_watch_begin(watch_);
        // relaxed: a task that the waiting thread runs sees the flag; the order for other threads
        // is below.
        if (has_progress_thread_.load(std::memory_order_relaxed)) {
            // seq_cst: either wait_with_progress() counts this operation, or this load sees that
            // wait_with_progress() has cleared the flag.
            n_polled_.fetch_add(1, std::memory_order_seq_cst);
            started.is_polled_ = has_progress_thread_.load(std::memory_order_seq_cst);
            if (!started.is_polled_) n_polled_.fetch_sub(1, std::memory_order_relaxed);
        }
        if (!started.is_polled_) return graph_.reserve_wait();
        try {
            call_progress_task();
        } catch (...) { // no memory
            take_back(started);
            throw;
        }
    }
    /// Reverts begin() if posting was refused, since the worker will not call deliver().
    void take_back(const pending_operation& refused) noexcept {
        commtask_tbb_watch_end(watch_);
        if (refused.is_polled_) {
            n_polled_.fetch_sub(1, std::memory_order_relaxed);
        } else {
            graph_.release_wait();
        }
    }
    [[nodiscard]] static bool is_polled(const pending_operation& started) noexcept { return started.is_polled_; }
    /// Any thread. From here on the graph waits until release_wait() is called.
    static void hold(const std::shared_ptr<graph_side>& side, keeper& by) {
        const auto finding_out = std::make_shared<first_task>(side);
        side->graph_.reserve_wait();
        commtask_tbb_watch_begin(side->watch_);
        {
            const std::lock_guard guard{side->lock_};
            by.next_ = std::exchange(side->keepers_, &by);
            side->was_first_dropped_ = false;
        }
        side->progress_task_.try_put(finding_out);
    }
    /// The keeper is not told to give up during or after this call.
    void forget(keeper& gone) noexcept {
        const std::lock_guard guard{lock_};
        keeper** link = &keepers_;
        while (*link != &gone) link = &(*link)->next_;
        *link = gone.next_;
        commtask_tbb_watch_end(watch_);
    }
    /// After posting, on the thread that posted, whose reference keeps the operation although it
    /// may have ended.
    void list(pending_operation& posted, task handle) noexcept {
        const std::lock_guard guard{lock_};
        posted.handle_ = std::move(handle);
        posted.is_listed_ = true;
        posted.previous_ = last_;
        (last_ != nullptr ? last_->next_ : first_) = &posted;
        last_ = &posted;
    }

    /// On the worker: the operation has ended. The graph may be destroyed when this returns.
    void deliver(pending_operation& ended, const outcome& result) noexcept {
        ended.result_ = result;
        if (!result.is_completed()) {
            try {
                ended.error_message_ = commtask_last_error();
            } catch (const std::bad_alloc&) { // the outcome says that it failed
            }
        }
        if (ended.is_polled_) return leave(ended);
        ended.trace_id_ = commtask_trace_ended();
        ::tbb::flow::graph& graph = graph_;
        entrance_.gateway().try_put(delivery{ended});
        graph.release_wait();
    }

    /// On the worker: puts an object into the progress task's list. The graph may be destroyed when
    /// this returns.
    void leave(arrival& come) noexcept {
        come.trace_id_ = commtask_trace_ended();
        arrival* before = arrivals_.load(std::memory_order_relaxed);
        do come.next_arrival_ = before;
        // release: partner of the acquire in take_arrivals().
        while (!arrivals_.compare_exchange_weak(before, &come, std::memory_order_release, std::memory_order_relaxed));
    }

    /// As graph.wait_for_all(), but the thread makes progress when it has nothing to compute. One
    /// thread at a time, in an arena of one thread. The thread is inside graph.wait_for_all(),
    /// which clears a cancellation as it returns, until no operation is pending: the progress
    /// task keeps it there.
    void wait_with_progress() {
        has_progress_thread_.store(true, std::memory_order_relaxed);
        try {
            graph_.wait_for_all();
            has_progress_thread_.store(false, std::memory_order_seq_cst); // before the count is read; partner of the
                                                                          // order in begin()
            // An operation that another thread of oneTBB has just begun has a progress task as
            // well.
            while (!graph_.is_cancelled() && n_polled_.load(std::memory_order_seq_cst) > 0) graph_.wait_for_all();
        } catch (...) {
            give_up();
            throw;
        }
        if (graph_.is_cancelled()) give_up();
    }
    /// In a task of the graph: makes progress once, if that is useful. @return whether something
    /// moved
    bool progress_in_task() {
        const bool has_moved = make_progress();
        static_cast<void>(take_arrivals(false));
        return has_moved;
    }

    /// Cancels all pending operations: operations that have not started never start, receives
    /// without a matching message are canceled, all other operations complete.
    void cancel_pending() noexcept {
        const std::lock_guard guard{lock_};
        cancel_listed();
    }

private:
    /// The message of a task that finds the context of the graph; it keeps the side alive. If the
    /// graph is canceled already, oneTBB drops the task.
    struct first_task {
        explicit first_task(std::shared_ptr<graph_side> whose) noexcept : side(std::move(whose)) {}
        first_task(const first_task&) = delete;
        first_task& operator=(const first_task&) = delete;
        ~first_task() {
            if (has_run) return;
            const std::lock_guard guard{side->lock_};
            side->was_first_dropped_ = true;
        }
        const std::shared_ptr<graph_side> side;
        bool has_run = false;
    };

    friend class pending_operation;
    /// Has no predecessor: only its gateway is used. Its edge belongs to this library, so that a
    /// graph which is reset with rf_clear_edges loses the user's edges only.
    class entrance : public ::tbb::flow::async_node<char, delivery> {
    public:
        using async_node::async_node;

    protected:
        void reset_node(::tbb::flow::reset_flags flags) override {
            async_node::reset_node(static_cast<::tbb::flow::reset_flags>(
                static_cast<unsigned>(flags) & ~static_cast<unsigned>(::tbb::flow::rf_clear_edges)));
        }
    };

    /// Fewer: each message waits more often for the progress task's next turn. More: tasks that
    /// other threads put into the graph wait longer.
    static constexpr int polls_per_turn = 8;

    /// The progress task's turn. There is one progress task as long as an operation waits for it.
    void progress_turn() {
        for (int poll = 0; poll < polls_per_turn && !take_arrivals(false) && !progress_in_task(); ++poll) {
            std::this_thread::yield();
        }
        if (n_polled_.load(std::memory_order_seq_cst) > 0) return queue_progress_task();
        // seq_cst: either this load sees an operation that another thread begins, or that thread
        // sees that there is no progress task.
        has_progress_task_.store(false, std::memory_order_seq_cst);
        if (n_polled_.load(std::memory_order_seq_cst) > 0) call_progress_task();
    }
    /// In a task of the graph.
    void note_context() noexcept {
        // The pointer never changes, since the context is the graph's. release: partner of the
        // acquire in check_canceled().
        context_.store(::tbb::task::current_context(), std::memory_order_release);
    }
    void call_progress_task() {
        if (!has_progress_task_.exchange(true, std::memory_order_seq_cst)) queue_progress_task();
    }
    /// Queues the progress task's next turn behind all existing tasks, of any thread: oneTBB takes
    /// tasks that were put into a graph from another arena last. It also does not wake a thread for
    /// such a task, as it does for an enqueued task.
    void queue_progress_task() {
        elsewhere_.execute([this] { progress_task_.try_put(nullptr); });
    }
    /// The graph was canceled, so oneTBB has dropped the progress task as well: the pending
    /// operations end, and are not reported.
    void give_up() noexcept {
        has_progress_thread_.store(false, std::memory_order_seq_cst);
        cancel_pending();
        while (n_polled_.load(std::memory_order_seq_cst) > 0) {
            if (!take_arrivals(true) && !make_progress()) std::this_thread::yield();
        }
        has_progress_task_.store(false, std::memory_order_seq_cst);
    }

    /// @return whether something moved
    static bool make_progress() noexcept {
        int moved = 0;
        return commtask_progress(&moved) == COMMTASK_OK && moved != 0;
    }
    /// Takes the arrived objects in their order. @return whether there were any
    bool take_arrivals(bool is_lost) {
        arrival* newest = arrivals_.exchange(nullptr, std::memory_order_acquire); // partner of the release in leave()
        if (newest == nullptr) return false;
        std::exception_ptr thrown;
        arrival* oldest = nullptr;
        while (newest != nullptr) {
            arrival* const next = std::exchange(newest->next_arrival_, oldest);
            oldest = std::exchange(newest, next);
        }
        while (oldest != nullptr) {
            arrival& come = *std::exchange(oldest, oldest->next_arrival_);
            try {
                is_lost ? come.forget() : come.enter();
            } catch (...) { // no memory, and oneTBB cancels the graph for it
                thrown = std::current_exception();
                is_lost = true;
            }
        }
        if (thrown) std::rethrow_exception(thrown);
        return true;
    }

    /// Oldest first: MPI searches receives from that end. From the other end, canceling 10^5
    /// receives would take minutes.
    void cancel_listed() noexcept {
        for (pending_operation* each = first_; each != nullptr; each = each->next_) {
            if (!std::exchange(each->was_canceled_, true)) static_cast<void>(commtask_cancel(each->handle_.native()));
        }
    }

    static void check(int code) {
        if (code != COMMTASK_OK) throw error{code, "the system gave no memory or no thread for a graph's watch"};
    }

    static void check_canceled(void* self) noexcept {
        auto& side = *static_cast<graph_side*>(self);
        // Both steps under one lock: the graph may be reset as soon as the operations listed now
        // have ended, and an operation that the reset graph starts is not listed before this
        // function returns.
        const std::lock_guard guard{side.lock_};
        // acquire: partner of the release in note_context().
        ::tbb::task_group_context* const context = side.context_.load(std::memory_order_acquire);
        if (!side.was_first_dropped_ && (context == nullptr || !context->is_group_execution_cancelled())) return;
        side.cancel_listed();
        for (keeper* each = side.keepers_; each != nullptr; each = each->next_) each->give_up();
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
    /// With a message it only finds the context.
    ::tbb::flow::function_node<std::shared_ptr<first_task>> progress_task_;
    ::tbb::task_arena elsewhere_{1}; ///< Made at its first use.
    commtask_tbb_watch_t watch_ = nullptr;
    std::atomic<::tbb::task_group_context*> context_{nullptr};
    std::atomic<bool> has_progress_thread_{false}; ///< A thread waits in wait_with_progress().
    std::atomic<bool> has_progress_task_{false};   ///< The progress task is in the graph, or runs.
    std::atomic<std::size_t> n_polled_{0};         ///< Operations that the progress task takes.
    std::atomic<arrival*> arrivals_{nullptr};      ///< The newest first.
    std::mutex lock_;                              ///< Guards the lists and the members that pending_operation
                                                   ///< names.
    keeper* keepers_ = nullptr;
    bool was_first_dropped_ = false;     ///< Of the newest keeper: the graph was canceled before any of its tasks ran.
    pending_operation* first_ = nullptr; ///< In the order of posting.
    pending_operation* last_ = nullptr;
};

inline void pending_operation::enter() {
    side_.n_polled_.fetch_sub(1, std::memory_order_relaxed); // the task made here is the graph's
    side_.finisher_.try_put(delivery{*this});
}

inline void pending_operation::forget() noexcept {
    side_.n_polled_.fetch_sub(1, std::memory_order_relaxed);
    drop();
}

inline void pending_operation::drop() noexcept {
    // acq_rel: partner of itself on the thread that drops the last reference.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    side_.unlist(*this);
    if (is_listed_) commtask_tbb_watch_end(side_.watch_);
    delete this;
}

} // namespace commtask::tbb::frontend
/// @endcond
