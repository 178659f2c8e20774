// SPDX-License-Identifier: Apache-2.0
//
// A lane: the tasks of the communicators that it serves, from post to end. This is the progress logic alone; the thread
// that runs it is in worker.hpp, MPI is behind `transport`. The thread that holds the progress lock may call what is marked "driver";
// everything else may be called by any thread.
#pragma once

#include "base/callback_guard.hpp"
#include "core/comm_queue.hpp"
#include "core/graph.hpp"
#include "core/node_observer.hpp"
#include "core/observer.hpp"
#include "core/progress_lock.hpp"
#include "core/submission_queue.hpp"
#include "core/task_list.hpp"
#include "core/tracer.hpp"
#include "core/transport.hpp"
#include "core/wakeup.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace commtask::detail {

struct lane_stats;

/// One task in a list of unfinished ones.
struct unfinished_line {
    std::uint64_t since_ns;
    std::string text; ///< The operation; where it waits.
};

struct lane_settings {
    std::size_t queue_capacity = 4096;
    std::uint64_t callback_limit_ns = 0; ///< 0: no limit.
    bool warns = true;                   ///< May write warnings to stderr.
    bool has_heavy_barrier = false;
    bool posters_issue = false; ///< The worker shares its core: who posts, and finds the progress lock free, issues.
    std::vector<task_observer*> observers{}; ///< Told of every step of every task; they outlast the lane.
    failure_sink* failures = nullptr;        ///< Told of tasks that do not complete; outlasts the lane.
    tracer* trace = nullptr;                 ///< Told of what threads do for the lane.
    node_observer* node = nullptr;           ///< Rings the doorbells of the node's other ranks; null: they have none.
    std::atomic<std::uint32_t>* doorbell = nullptr; ///< Of this lane's worker, with `node`.
    std::uint8_t number = 0;                        ///< Among the lanes of its set.
    std::uint8_t n_lanes = 1;                       ///< Of its set: lists name the lane if there are several.
    /// Communication tasks of a face that it has not posted yet, for lists: a driver asks for the lines, any thread how many.
    std::function<std::vector<unfinished_line>()> list_elsewhere{};
    std::function<std::size_t()> count_elsewhere{};
};

class lane final : public completion_sink {
public:
    /// `waiters`: where threads that wait for tasks sleep; lanes of one set share it.
    lane(transport& carrier, waiting_room& waiters, const lane_settings& settings);

    // Any thread ------------------------------------------------------------------------------------------------------

    progress_lock lock; ///< Whose thread may call what is marked "driver".

    /// Takes over an initialised task. Waits while the inbox is full.
    void post(task& posted) noexcept;

    /// The same for one that must not wait: without room in the inbox the task keeps its place, and comes another way.
    void post_without_waiting(task& posted) noexcept;

    /// @param take_turn  called with the task once there is room for it: a task without room must not take its turn in program
    /// order, since later tasks would wait for it. Null: it takes none
    /// @return false if the inbox is full.
    [[nodiscard]] bool try_post(task& posted, void (*take_turn)(task&) noexcept = nullptr) noexcept;

    /// Starts a task that was posted with a reference for the caller, and what was posted before it, as a submitter does where the
    /// worker has no core of its own. Waits until about `deadline_ns` of now_ns() for the progress lock, for submitters that have taken
    /// an earlier place, and for functions of the program's ahead of the task, which the worker runs. Not on a driver.
    void start_posted(const task& which, std::uint64_t deadline_ns) noexcept;

    /// The last predecessor of a task of this lane is done. Whoever counted it down to zero, once.
    void released(task& which) noexcept;

    /// Somebody who holds a reference wants the task canceled.
    void cancel(task& which) noexcept;

    /// Has the driver write the list of unfinished tasks in its next pass, under a heading that lives as long as the program.
    void request_report(const char* heading) noexcept;
    /// Whether no pass has written it yet.
    [[nodiscard]] bool is_report_due() const noexcept { return report_requested_.load(std::memory_order_seq_cst); }

    /// Approximately: tasks that have not ended, those included that only their face knows of.
    [[nodiscard]] std::size_t approx_unfinished() const {
        return approx_live() - std::min(approx_standing(), approx_live()) +
               (settings_.count_elsewhere ? settings_.count_elsewhere() : 0);
    }

    /// Approximately, for watchers: tasks ended so far, tasks taken over and not ended.
    [[nodiscard]] std::uint64_t approx_ended() const noexcept { return n_ended_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t approx_live() const noexcept { return n_live_.load(std::memory_order_relaxed); }
    /// Of these, standing receives.
    [[nodiscard]] std::uint64_t approx_standing() const noexcept { return n_standing_.load(std::memory_order_relaxed); }
    /// The kind of operation that is being started this moment, 0 if none; for watchers.
    [[nodiscard]] int approx_starting_kind() const noexcept { return starting_kind_.load(std::memory_order_relaxed); }
    /// Whether there was something to poll or to start after the last pass.
    [[nodiscard]] bool approx_has_work() const noexcept { return has_work_.load(std::memory_order_seq_cst); }
    /// Has the driver say from now on, after each pass, whether anything is left. Not before somebody asks: it would have
    /// to load the posters' line in every pass, and every post would wait for that line.
    void watch_drain() noexcept {
        drain_.store(drain_watch::asked, std::memory_order_seq_cst); // a worker that is about to sleep must see it
        wake_up.wake_surely();
    }

    /// After watch_drain(): whether nothing was left after the last pass, and nothing has come since. Exact for one lane once
    /// the program posts no more; for several see lane_set::is_quiet().
    [[nodiscard]] bool was_quiet() const noexcept;
    [[nodiscard]] std::uint64_t approx_passes() const noexcept { return n_passes_.load(std::memory_order_relaxed); }

    [[nodiscard]] std::uint8_t number() const noexcept { return settings_.number; }
    /// "the worker", or with several lanes "the worker of lane 1".
    [[nodiscard]] std::array<char, 32> worker_text() const noexcept;

    /// That it does so without the progress lock, while nothing moves.
    void tell_of_pause() const noexcept {
        tell(approx_has_work() ? trace::thread_state::poll : trace::thread_state::idle);
    }

    /// The worker of this lane, before it does anything.
    void begin_worker() const noexcept {
        if (settings_.trace != nullptr) settings_.trace->begin_worker(settings_.number);
    }

    /// The calling thread says in the trace what it does for this lane from now on, if that is something else than before;
    /// without a trace a branch. Who drives says it at the beginning of a pass: what comes between two is not worth a record.
    void tell(trace::thread_state now) const noexcept {
        if (settings_.trace != nullptr) [[unlikely]]
            settings_.trace->state(settings_.number, now);
    }

    /// Who drives is inside a function of the program's or of MPI's, and nobody can wait for that any longer: when it comes
    /// back, its thread sleeps for ever, but for a poster's, which goes back to the program; neither touches anything of the
    /// program's, and nobody drives any more. The lane must not be destroyed.
    void abandon() noexcept { lock.abandon(); }

    /// Whether the calling thread is in progress() of a lane: then it must not wait.
    [[nodiscard]] static bool is_driving() noexcept;
    /// Whether the calling thread may wait: it is not driving, and no refused_waits lives.
    [[nodiscard]] static bool may_wait() noexcept;

    /// While one of these lives, the calling thread is refused when it waits: it is in MPI, which may have a lock in hand when it
    /// calls a function of the program's. Neither that thread nor any other could call MPI then.
    class refused_waits {
    public:
        explicit refused_waits(bool are_refused) noexcept;
        refused_waits(const refused_waits&) = delete;
        refused_waits& operator=(const refused_waits&) = delete;
        ~refused_waits();

    private:
        bool before_;
    };

    /// While one of these lives the calling thread's posts wake nobody: it is about to wait, and drives the lane itself. Only
    /// where the worker shares its core; a waking worker would take it from the thread that does the work.
    class quiet_posts {
    public:
        explicit quiet_posts(bool is_quiet) noexcept;
        quiet_posts(const quiet_posts&) = delete;
        quiet_posts& operator=(const quiet_posts&) = delete;
        ~quiet_posts();
    };

    /// By 1 for each reason for which other processes need this one to make progress when it has nothing in flight, such as a
    /// window; by -1 when the reason is gone. The worker stays awake as long as there is one.
    void attend(int change) noexcept {
        n_attended_.fetch_add(change, std::memory_order_seq_cst); // a worker that is about to sleep must see it
        wake_up.wake_surely();
    }
    /// Whether other processes may need this one though it has nothing in flight.
    [[nodiscard]] bool is_attentive() const noexcept {
        return attends_windows() || (settings_.node != nullptr && settings_.node->must_listen());
    }
    /// A thread that leaves something behind: a worker in a short wait looks by itself soon.
    void wake_for_what_is_left() noexcept { wake_up.wake_from_long_wait(); }
    [[nodiscard]] bool attends_windows() const noexcept { return n_attended_.load(std::memory_order_seq_cst) > 0; }

    /// The program wants the workers' cores for itself, or no longer does. Meanwhile the worker looks seldom, who posts issues as
    /// beside a worker that shares, and who waits drives.
    void set_paused(bool is_paused) noexcept {
        is_paused_.store(is_paused, std::memory_order_seq_cst); // a worker that is about to sleep must see it
        wake_up.wake_surely();
    }
    [[nodiscard]] bool is_paused() const noexcept { return is_paused_.load(std::memory_order_relaxed); }

    /// What the lane itself counts, and no observer. The same.
    void count_into(lane_stats& told) const noexcept;

    wakeup wake_up; ///< Where the worker waits.

    // Driver ----------------------------------------------------------------------------------------------------------

    /// One pass: takes over what was posted, starts what is ready, polls the transport once.
    /// @return whether anything moved.
    bool progress() noexcept;

    /// What others want of this process's windows, for a moment: several looks, with nothing in flight.
    void attend_for_a_moment() noexcept;

    /// A look at one task, after a pass that the transport could not spend on all.
    void look_at(task& which) noexcept;

    /// Takes over everything that was posted before. Calls nothing of the program's and nothing of MPI's.
    void take_in() noexcept;

    /// The same, and starts what is ready, without polling the transport.
    void take_in_all() noexcept;

    /// Whether anything arrived that progress() has not seen. Also by a worker that is about to sleep.
    [[nodiscard]] bool has_arrivals() const noexcept {
        return !submitted_.is_empty() || report_requested_.load(std::memory_order_seq_cst) ||
               drain_.load(std::memory_order_seq_cst) == drain_watch::asked;
    }
    /// has_arrivals() for a look in every turn of a loop, without the progress lock: misses a post that is just being made.
    [[nodiscard]] bool could_move() const noexcept {
        return submitted_.could_have_any() || approx_has_work() || is_attentive() ||
               report_requested_.load(std::memory_order_relaxed) ||
               drain_.load(std::memory_order_relaxed) == drain_watch::asked;
    }
    /// Whether a pass could move something without a new arrival, or send what other nodes are to hear.
    [[nodiscard]] bool has_work() const noexcept {
        return has_tasks() || (settings_.node != nullptr && settings_.node->has_unsent());
    }

    /// Before the worker sleeps: posters may use every free cell.
    void prepare_sleep() noexcept { submitted_.give_back_all(); }

    /// The worker, before a wait. Whether other ranks ring for all that is in flight.
    [[nodiscard]] bool is_rung_for_all() const noexcept {
        return settings_.node != nullptr && !is_attentive() && settings_.node->is_rung_for_all();
    }
    void tell_node_of_arming() const noexcept {
        if (settings_.node != nullptr) settings_.node->armed();
    }

    /// Chooses among unfinished tasks.
    using task_filter = bool (*)(const task&);
    [[nodiscard]] static bool is_any(const task& /*which*/) { return true; }
    [[nodiscard]] static bool is_unfinished(const task& which) { return !which.stands(); }

    /// The unfinished tasks as a table; empty if there are none.
    [[nodiscard]] std::string unfinished_table(const char* heading, task_filter chosen = is_any) const;

    /// Writes that table to stderr; without memory for it, how many lines it would have. @return whether there are any
    bool say_unfinished(const char* heading, task_filter chosen = is_unfinished) const noexcept;

    struct unfinished_count {
        std::size_t all = 0;
        std::size_t in_flight = 0;
        std::size_t ready = 0; ///< To be started, or to be canceled.
    };
    [[nodiscard]] unfinished_count count_unfinished(task_filter chosen) const noexcept;

    /// Whether a pass would still move one of these: what has arrived is left to that pass, what is in flight is polled.
    [[nodiscard]] bool could_still_move(task_filter chosen) noexcept;

    /// What it starts operations with.
    [[nodiscard]] transport& below() noexcept { return *transport_; }

    /// Ends unfinished tasks: those that have not started are canceled, the others given up. Their callbacks may post.
    void give_up(task_filter chosen) noexcept;

    // The transport's reports.
    void part_ended(task& which, std::uint32_t part) noexcept override;

private:
    [[nodiscard]] bool was_drained() const noexcept { return was_drained_.load(std::memory_order_acquire); }
    void see_to_posted(std::uint32_t flags) noexcept;
    [[nodiscard]] bool try_issue_here() noexcept;
    [[nodiscard]] bool issue_and_give_back(const task* which = nullptr, bool* is_left = nullptr) noexcept;
    [[nodiscard]] bool issue_posted() noexcept;
    [[nodiscard]] static bool ends_unheard(const task& ended) noexcept;
    /// Whether a driver left tasks for the next pass.
    [[nodiscard]] bool has_put_away() const noexcept { return !ready_.is_empty() || !ended_at_once_.is_empty(); }
    [[nodiscard]] bool has_tasks() const noexcept {
        return transport_->in_flight() > 0 || has_put_away() || submitted_.has_kept();
    }
    [[nodiscard]] bool is_live(const task& which) const noexcept {
        return which.live_in.load(std::memory_order_relaxed) == this;
    }
    void begin_pass() noexcept;
    void end_pass() noexcept;
    void take_back_drained() noexcept;
    void publish_what_is_left() noexcept;
    void take_in_posted() noexcept;
    void accept(task& posted) noexcept;
    void hand_over(task& which, std::uint32_t mark) noexcept;
    void take_handed() noexcept;
    void on_released(task& which) noexcept;
    void on_cancel(task& which) noexcept;
    void make_ready(task& which, phase from) noexcept;
    void leave_order(task& which, phase from) noexcept;
    void move(task& which, phase from, phase to, task_state end = task_state::open) noexcept;
    void tell_observers(task& which, phase from, phase to, task_state end) noexcept;
    [[nodiscard]] std::uint64_t pass_time() noexcept;
    void end_by_result(task& which) noexcept;
    void enqueue_ready(task& ready, phase from) noexcept;
    void make_run_ready(task& run, phase from) noexcept;
    void issue_run(task& run) noexcept;
    void cancel_members(task& run) noexcept;
    void cancel_groups(const plan_member& failed) noexcept;
    void let_member_go(task& member) noexcept;
    void tell_run(task& member, task_state how) noexcept;
    void end_run(task& run) noexcept;
    void issue_ready() noexcept;
    void start_gathered() noexcept;
    void issue(task& ready) noexcept;
    [[nodiscard]] bool start(task& ready) noexcept;
    void finish(task& which, task_state state) noexcept;
    void run_callback(task& which, task_state state) noexcept;
    [[nodiscard]] static bool is_marked(const task& which, std::uint32_t mark) noexcept;
    void report_slow_callback(const task& which, const callback_guard::verdict& found) const;
    [[nodiscard]] static bool is_doomed(const task& which) noexcept;
    void stay_if_abandoned() noexcept;
    template <typename Visit>
    void for_each_live(task_filter chosen, Visit&& visit) const;
    [[nodiscard]] std::string where_it_waits(const task& which) const;

    /// Whether the driver says after its passes if anything is left.
    enum class drain_watch : std::uint8_t {
        none,      ///< Nobody asked -> watch_drain() (asked).
        asked,     ///< No pass has answered yet, so the worker must not sleep -> driver (answering).
        answering, ///< Every pass answers.
    };

    transport* const transport_;
    waiting_room* const waiters_;
    const lane_settings settings_;
    std::atomic<bool> is_paused_{false}; ///< Beside what every post reads, and changed as good as never.
    submission_queue submitted_;
    alignas(cache_line_bytes) std::atomic<bool> report_requested_{false};
    std::atomic<int> n_attended_{0};
    std::atomic<const char*> report_heading_{"unfinished"};

    // The driver's.
    alignas(cache_line_bytes) task_list ready_;
    task_list ended_at_once_; ///< What ended before a poster's eyes, which runs no callbacks.
    std::uint64_t ended_in_pass_ = 0;
    std::uint64_t pass_ns_ = 0; ///< When this pass first asked for the time; 0: it has not.
    std::uint64_t n_accepted_ = 0;
    callback_guard callbacks_;
    std::atomic<std::uint64_t> n_ended_{0}; // written by the driver alone: no locked instruction
    std::atomic<std::uint64_t> n_live_{0};
    std::atomic<std::uint64_t> n_standing_{0};
    std::atomic<std::uint64_t> n_passes_{0};
    std::atomic<bool> has_work_{false};
    std::atomic<bool> was_drained_{false};
    std::atomic<drain_watch> drain_{drain_watch::none};
    std::atomic<int> starting_kind_{0};
};

/// Found by looking at every slot, so that running tasks pay nothing for it; asks for no memory.
template <typename Visit>
void lane::for_each_live(task_filter chosen, Visit&& visit) const {
    task_pool::for_each_slot([&](task& slot) {
        if (is_live(slot) && chosen(slot)) visit(slot);
    });
}

/// To finish() and signal(): a task whose last predecessor is done goes back to its lane.
inline void release_to_its_lane(task& successor) noexcept { successor.queue->served_by->released(successor); }

/// Fills a caller's status from a task that is final; fields beyond status.struct_size are left alone.
void copy_status(const task& which, task_state state, commtask_status& status) noexcept;

/// What a callback is told. `reads_state_alone`: of a completed task nothing else is written, since that costs a line.
void fill_for_callback(const task& which, task_state state, bool reads_state_alone, commtask_status& status) noexcept;

} // namespace commtask::detail
