// SPDX-License-Identifier: Apache-2.0
//
// The progress logic. Tasks that become ready while others are being completed go through a list instead of through
// recursion, so a chain of any length needs no stack. Completion order within a task: status, callback, state,
// successors; once the state is final, the runtime does not touch the caller's memory again.
#include "lane.hpp"

#include "speech.hpp"
#include "task_pool.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include <sched.h>

namespace commtask::detail {
namespace {

thread_local const lane* driven_by_me = nullptr;
thread_local bool posts_quietly = false;

/// The calling thread drives a lane; callbacks may nest a pass only by mistake, which posting prevents.
class driving_scope {
public:
    explicit driving_scope(const lane& driven) noexcept : before_(driven_by_me) { driven_by_me = &driven; }
    driving_scope(const driving_scope&) = delete;
    driving_scope& operator=(const driving_scope&) = delete;
    ~driving_scope() { driven_by_me = before_; }

private:
    const lane* before_;
};

constexpr int accepted_per_pass = 64;

void count_one(std::atomic<std::uint64_t>& counter, std::int64_t by = 1) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + static_cast<std::uint64_t>(by), std::memory_order_relaxed);
}

} // namespace

lane::lane(transport& carrier, const lane_settings& settings)
    : wake_up(settings.has_heavy_barrier), waiters(settings.has_heavy_barrier), transport_(&carrier),
      settings_(settings), inbox_(settings.queue_capacity, settings.has_heavy_barrier) {}

lane::quiet_posts::quiet_posts(bool is_quiet) noexcept { posts_quietly = is_quiet; }
lane::quiet_posts::~quiet_posts() { posts_quietly = false; }

bool lane::is_driving() noexcept { return driven_by_me != nullptr; }

void lane::post(task& posted) noexcept {
    if (driven_by_me == this) {
        // The driver is the one who empties the inbox: it makes room itself, and keeps the order.
        while (!inbox_.try_put(&posted)) {
            if (task* const earlier = inbox_.take()) overflow_.push_back(earlier);
            inbox_.give_back_all();
        }
        return;
    }
    const std::uint32_t flags = posted.flags(); // once it is in the inbox, the task is the driver's
    inbox_.put(&posted);
    if (!posts_quietly) wake_for(flags);
}

/// Who will drive at once does what a napping worker would be woken for; one in deep sleep would miss what is left.
void lane::wake_for(std::uint32_t flags) noexcept {
    if ((flags & COMMTASK_PROGRESS_FOLLOWS) != 0) {
        wake_up.ring_if_deep();
    } else {
        wake_up.ring();
    }
}

bool lane::try_post(task& posted) noexcept {
    if (driven_by_me == this) {
        post(posted);
        return true;
    }
    const std::uint32_t flags = posted.flags();
    if (!inbox_.try_put(&posted)) return false;
    wake_for(flags);
    return true;
}

bool lane::try_post_ordered(task& posted) noexcept {
    const auto take_place = [&] {
        posted.extras.ticket = posted.queue->orders[posted.extras.ticket_class].take_ticket();
    };
    if (driven_by_me == this) {
        take_place();
        post(posted);
        return true;
    }
    const std::uint32_t flags = posted.flags();
    if (!inbox_.try_put(&posted, take_place)) return false;
    wake_for(flags);
    return true;
}

void lane::take_baton_as_guest() noexcept { static_cast<void>(try_take_baton_as_guest(UINT64_MAX)); }

bool lane::try_take_baton_as_guest(std::uint64_t deadline_ns) noexcept {
    if (try_take_baton()) return true;
    constexpr int looks_before_yield = 64;
    n_guests_.fetch_add(1, std::memory_order_relaxed);
    bool has_it = false;
    for (int i = 1; !has_it; ++i) {
        pause_briefly();
        if (i % looks_before_yield == 0) {
            if (now_ns() >= deadline_ns) break;
            sched_yield();
        }
        has_it = try_take_baton();
    }
    n_guests_.fetch_sub(1, std::memory_order_relaxed);
    return has_it;
}

void lane::released(task& which) noexcept {
    if (driven_by_me == this) return on_released(which);
    hand_over(which, mark_released);
}

void lane::cancel(task& which) noexcept {
    if (driven_by_me == this) {
        which.marks.fetch_or(mark_cancel, std::memory_order_relaxed); // this thread alone will look
        return consider(which);
    }
    hand_over(which, mark_cancel);
}

void lane::hand_over(task& which, std::uint32_t mark) noexcept {
    // The slot must last until the driver has taken it out of the handoff, whatever its holder does meanwhile.
    which.life.take_reference();
    // acq_rel: partner of the same in take_handed(). Two causes may come at once: the first gives the task.
    const std::uint32_t before = which.marks.fetch_or(mark | mark_handed_off, std::memory_order_acq_rel);
    if ((before & mark_handed_off) != 0) {
        task_pool::drop(&which);
        return;
    }
    handoff_.give(&which);
    wake_up.ring();
}

void lane::request_report(const char* heading) noexcept {
    report_heading_.store(heading, std::memory_order_relaxed); // published by the next
    report_requested_.store(true, std::memory_order_seq_cst);
    wake_up.ring();
}

bool lane::progress() noexcept {
    count_one(n_passes_);
    task* posted = inbox_.take();
    const bool has_others = !handoff_.is_empty() || !overflow_.empty() || first_ready_ != nullptr ||
                            report_requested_.load(std::memory_order_relaxed) ||
                            drain_.load(std::memory_order_relaxed) != drain_watch::none;
    if (posted == nullptr && !has_others && transport_->in_flight() == 0) return false;

    const driving_scope driving{*this};
    ended_in_pass_ = 0;
    bool moved = posted != nullptr || !handoff_.is_empty() || !overflow_.empty() || first_ready_ != nullptr;
    take_overflow();
    for (int i = 0; posted != nullptr; ++i) {
        accept(*posted);
        posted = i < accepted_per_pass ? inbox_.take() : nullptr;
    }
    take_handed();
    issue_ready();
    if (transport_->in_flight() > 0) {
        transport_->poll(*this);
        stay_if_abandoned();
        issue_ready();
    }
    // acquire: partner of the store in request_report(); the heading comes with it.
    if (report_requested_.load(std::memory_order_acquire)) {
        report_requested_.store(false, std::memory_order_seq_cst);
        const std::string table = unfinished_table(report_heading_.load(std::memory_order_relaxed));
        if (table.empty()) say("no task is unfinished");
        std::fputs(table.c_str(), stderr);
    }
    if (ended_in_pass_ > 0) waiters.announce();
    moved = moved || ended_in_pass_ > 0;
    if (moved || drain_.load(std::memory_order_relaxed) != drain_watch::none) publish_what_is_left();
    return moved;
}

void lane::look_at(task& which) noexcept {
    if (transport_->has_polled_all() || !is_live(which) || !which.is_started) return;
    const driving_scope driving{*this};
    ended_in_pass_ = 0;
    transport_->poll_one(which, *this);
    issue_ready();
    if (ended_in_pass_ == 0) return;
    waiters.announce();
    publish_what_is_left();
}

void lane::take_in_all() noexcept {
    if (!inbox_.has_more() && handoff_.is_empty() && overflow_.empty() && first_ready_ == nullptr) return;
    const driving_scope driving{*this};
    ended_in_pass_ = 0;
    take_overflow();
    while (inbox_.has_more()) {
        // A place that was taken is filled at once.
        if (task* const posted = inbox_.take()) {
            accept(*posted);
        } else {
            pause_briefly();
        }
    }
    take_handed();
    issue_ready();
    if (ended_in_pass_ > 0) waiters.announce();
    publish_what_is_left();
}

bool lane::could_still_move() noexcept {
    if (has_arrivals() || first_ready_ != nullptr || !overflow_.empty()) return true;
    if (transport_->in_flight() == 0) return false;
    const driving_scope driving{*this};
    ended_in_pass_ = 0;
    transport_->poll(*this);
    if (ended_in_pass_ == 0) return false;
    waiters.announce();
    publish_what_is_left();
    return true;
}

void lane::give_up(task_filter chosen) noexcept {
    const driving_scope driving{*this};
    ended_in_pass_ = 0;
    const std::vector<task*> lost = live_tasks(chosen);
    for (task* which : lost) which->life.take_reference(); // a callback may want a slot
    for (task* which : lost) {
        if (is_live(*which) && !which->is_started) cancel(*which);
    }
    issue_ready();
    for (task* which : lost) {
        if (is_live(*which)) {
            if (which->is_started) transport_->abandon(*which);
            finish(*which, task_state::given_up);
        }
        task_pool::drop(which);
    }
    waiters.announce();
    publish_what_is_left();
}

/// Not a lock: it waits for nothing, and nothing waits for it.
void lane::stay_if_abandoned() const noexcept {
    // acquire: partner of the release in abandon().
    if (!is_abandoned_.load(std::memory_order_acquire)) return;
    for (const std::atomic<std::uint32_t> never{0};;) sleep_while_equal(never, 0, -1);
}

void lane::take_overflow() noexcept {
    // What the driver took out to make room came before what is in the inbox now.
    while (overflow_taken_ < overflow_.size()) accept(*overflow_[overflow_taken_++]);
    overflow_.clear();
    overflow_taken_ = 0;
}

void lane::publish_what_is_left() noexcept {
    const bool work_left = has_work();
    if (work_left != has_work_.load(std::memory_order_relaxed)) has_work_.store(work_left, std::memory_order_seq_cst);
    // acquire: partner of the store in watch_drain(); what was posted before it is seen here.
    const drain_watch watch = drain_.load(std::memory_order_acquire);
    if (watch == drain_watch::none) return;
    // A question that is asked between these two is answered by this pass, or by the next one.
    if (watch == drain_watch::asked) drain_.store(drain_watch::answering, std::memory_order_relaxed);
    const bool is_drained = !work_left && approx_live() == 0 && !inbox_.has_more() && handoff_.is_empty();
    if (is_drained == was_drained_.load(std::memory_order_relaxed)) return;
    // release: partner of the acquire in was_drained(); whoever sees it sees what all tasks did.
    was_drained_.store(is_drained, std::memory_order_release);
    if (is_drained) waiters.announce();
}

void lane::take_handed() noexcept {
    for (task* which = handoff_.take_all(); which != nullptr;) {
        task* const next = which->next_handed;
        // Cleared before acting: whoever marks it afterwards gives it again.
        const std::uint32_t marks =
            which->marks.fetch_and(~std::uint32_t{mark_handed_off | mark_released}, std::memory_order_acq_rel);
        if ((marks & mark_released) != 0) on_released(*which);
        if ((marks & mark_cancel) != 0) consider(*which);
        task_pool::drop(which);
        which = next;
    }
}

void lane::accept(task& posted) noexcept {
    const bool has_predecessors = posted.has_extras() && posted.extras.n_predecessors > 0;
    posted.live_in.store(this, std::memory_order_relaxed);
    posted.is_started = false;
    posted.is_queued = false;
    posted.is_zombie = false;
    posted.has_all_predecessors = !has_predecessors;
    posted.scratch = nullptr;
    posted.open_requests = 0;
    posted.accepted_ns = 0;
    count_one(n_live_);
    if (settings_.keeps_stats) {
        posted.accepted_ns = now_ns();
        stats_.queue_delay.add(posted.accepted_ns - std::min(posted.posted_ns, posted.accepted_ns));
    }
    if (has_predecessors) posted.has_all_predecessors = graph::link_predecessors(posted);
    consider(posted);
    // Its age will be asked for if it stays; the clock is not read for tasks that come and go.
    if (!posted.is_queued && is_live(posted) && posted.accepted_ns == 0) posted.accepted_ns = now_ns();
}

void lane::on_released(task& which) noexcept {
    which.has_all_predecessors = true;
    if (which.is_zombie) {
        which.is_zombie = false;
        task_pool::drop(&which);
        return;
    }
    consider(which);
}

bool lane::is_doomed(const task& which) noexcept {
    // acquire: partner of the acq_rel in hand_over(); the mark of a failed predecessor came with the last count.
    const std::uint32_t marks = which.marks.load(std::memory_order_acquire);
    const bool runs_after_failure = (which.flags() & COMMTASK_RUN_AFTER_FAILURE) != 0;
    return (marks & mark_cancel) != 0 || ((marks & mark_predecessor_failed) != 0 && !runs_after_failure);
}

/// Something about a task may have changed: queues it if it can be issued or must be canceled. Not for tasks that the
/// lane has not seen, which accept() considers, nor for those that ended.
void lane::consider(task& which) noexcept {
    if (!is_live(which)) return;
    // acquire: partner of the acq_rel in hand_over().
    const bool wants_cancel = (which.marks.load(std::memory_order_acquire) & mark_cancel) != 0;
    if (which.is_started) {
        if (wants_cancel) transport_->withdraw(which);
        return;
    }
    if (which.is_queued) {
        // One that waits for its turn must not wait for it to be canceled: the turn may never come.
        const bool has_ticket = which.has_extras() && which.extras.ticket != 0;
        if (wants_cancel && has_ticket &&
            which.queue->orders[which.extras.ticket_class].leave(which.extras.ticket, which)) {
            enqueue_ready(which);
        }
        return;
    }
    if (!which.has_all_predecessors && !wants_cancel) return;
    which.is_queued = true;
    if (!which.has_extras() || which.extras.ticket == 0) return enqueue_ready(which);
    comm_order& order = which.queue->orders[which.extras.ticket_class];
    if (is_doomed(which)) {
        order.arrive(which.extras.ticket, nullptr); // its place is free, it ends at once
        enqueue_ready(which);
    } else {
        order.arrive(which.extras.ticket, &which);
        if (which.accepted_ns == 0 && order.expected() != which.extras.ticket) which.accepted_ns = now_ns();
    }
    order.issue_in_order([this](task& next) { enqueue_ready(next); });
}

void lane::enqueue_ready(task& ready) noexcept {
    ready.next_ready = nullptr;
    if (first_ready_ == nullptr) {
        first_ready_ = &ready;
    } else {
        last_ready_->next_ready = &ready;
    }
    last_ready_ = &ready;
}

void lane::issue_ready() noexcept {
    while (first_ready_ != nullptr) {
        task& ready = *first_ready_;
        first_ready_ = ready.next_ready;
        issue(ready);
    }
}

void lane::issue(task& ready) noexcept {
    if (is_doomed(ready)) return finish(ready, task_state::canceled);
    ready.is_started = true;
    if (settings_.keeps_stats) ready.started_ns = now_ns();
    starting_kind_.store(ready.op.kind, std::memory_order_relaxed);
    const start_result result = transport_->start(ready);
    stay_if_abandoned();
    starting_kind_.store(0, std::memory_order_relaxed);
    if (result != start_result::started) return ended(ready);
    if (ready.accepted_ns == 0) ready.accepted_ns = now_ns();
}

void lane::ended(task& which) noexcept {
    if (which.result.error != 0) return finish(which, task_state::failed);
    finish(which, which.result.is_canceled ? task_state::canceled : task_state::completed);
}

void lane::finish(task& which, task_state state) noexcept {
    COMMTASK_ASSERT(is_live(which));
    const bool was_started = which.is_started;
    if (settings_.keeps_stats) {
        const std::uint64_t now = now_ns();
        ++stats_.tasks[which.op.kind];
        if (state == task_state::failed) ++stats_.failed;
        if (state == task_state::canceled) ++stats_.canceled;
        if (was_started) {
            stats_.in_flight.add(now - which.started_ns);
            stats_.bytes[which.op.kind] += static_cast<std::uint64_t>(std::max<std::int64_t>(which.result.bytes, 0));
        }
        which.posted_ns = now; // from here on: when it ended, for the unblock time
    }
    if (was_started) {
        transport_->clean_up(which);
    } else {
        std::memset(which.mpi_status, 0, sizeof which.mpi_status);
    }
    which.live_in.store(nullptr, std::memory_order_relaxed);
    ++ended_in_pass_;
    count_one(n_ended_);
    if (which.has_extras()) run_callback(which, state);
    count_one(n_live_, -1);
    if (state == task_state::given_up) {
        // Its buffers may still be MPI's and its predecessors may still point to it: the slot is never used again.
        static_cast<void>(which.life.finish(state, 0));
        return;
    }
    // A task that was canceled while it waited is kept until its predecessors, which point to it, hand it in.
    which.is_zombie = !which.has_all_predecessors;
    graph::finish(which, state, which.is_zombie ? 0 : 1,
                  [](task& successor) { successor.queue->owner->released(successor); });
}

void lane::run_callback(task& which, task_state state) noexcept {
    const task_extras& extras = which.extras;
    if (extras.user_status != nullptr) copy_status(which, state, *extras.user_status);
    if (extras.callback == nullptr) return;
    commtask_status status = COMMTASK_STATUS_INIT;
    copy_status(which, state, status);
    const std::uint64_t begin_ns = settings_.callback_limit_ns == 0 ? 0 : now_ns();
    extras.callback(&status, extras.callback_argument);
    stay_if_abandoned();
    if (settings_.callback_limit_ns == 0 || !settings_.warns) return;
    const std::uint64_t end_ns = now_ns();
    const std::uint64_t took_ns = end_ns - begin_ns;
    if (took_ns <= settings_.callback_limit_ns) return;
    // One in a second is enough to read, and writing holds the other tasks up too.
    constexpr std::uint64_t pause_ns = 1'000'000'000;
    if (last_callback_warning_ns_ != 0 && end_ns - last_callback_warning_ns_ < pause_ns) {
        ++unsaid_callback_warnings_;
        return;
    }
    last_callback_warning_ns_ = end_ns;
    const std::uint64_t unsaid = std::exchange(unsaid_callback_warnings_, 0);
    const std::string others =
        unsaid == 0 ? "" : "; so did " + std::to_string(unsaid) + " others since the last warning";
    std::fprintf(stderr,
                 "commtask: warning: the callback of %s ran for %.0f us on the worker and held all other tasks up%s; a "
                 "callback should only signal or fulfil (COMMTASK_CALLBACK_LIMIT_US)\n",
                 transport_->describe(which).c_str(), static_cast<double>(took_ns) * 1e-3, others.c_str());
}

void copy_status(const task& which, task_state state, commtask_status& status) noexcept {
    commtask_status full{};
    full.struct_size = status.struct_size;
    full.state = state == task_state::given_up ? COMMTASK_STATE_CANCELED : static_cast<commtask_state>(state);
    full.error = which.result.error;
    full.error_class = which.result.error_class;
    full.source = which.result.source;
    full.tag = which.result.tag;
    full.bytes = static_cast<MPI_Count>(which.result.bytes);
    static_assert(sizeof(full.mpi) <= sizeof(which.mpi_status));
    std::memcpy(&full.mpi, which.mpi_status, sizeof(full.mpi));
    std::memcpy(&status, &full, std::min(sizeof(full), status.struct_size));
}

} // namespace commtask::detail
