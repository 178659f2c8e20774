// SPDX-License-Identifier: Apache-2.0
//
// A random schedule that is the same on every rank, and what must come of it. The same seed gives each rank's thread the
// same tasks, so messages and collectives meet; predecessors are earlier tasks of the same thread, so nothing can wait in
// a circle. A model says how each task must end, or that it may end in two ways.
#pragma once

#include <commtask/commtask.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <random>
#include <vector>

namespace commtask::stress {

/// How a task must end. `open`: completed or canceled, as it comes.
enum class expectation { completed, failed, canceled, open };

struct counters {
    std::atomic<long> posted{0};
    std::atomic<long> ended{0};
};

/// What one task needs as long as it lives.
struct step {
    task handle;
    expectation expected = expectation::completed;
    std::vector<int> sent;
    std::vector<int> received;
    int kind = 0;
    int value_expected = 0; ///< What `received` must be full of; checked if it completed and is not empty.
};

/// The tasks of one thread. All threads of a rank share `shared_comms`; `own` is for what depends on an order.
class schedule {
public:
    schedule(unsigned seed, int thread, std::array<MPI_Comm, 2> shared_comms, MPI_Comm own, counters& counts)
        : random_(seed * 1000003U + static_cast<unsigned>(thread)), thread_(thread), shared_(shared_comms), own_(own),
          counts_(counts) {
        done_event_.signal();
        MPI_Comm_rank(own, &rank_);
        MPI_Comm_size(own, &n_ranks_);
    }
    schedule(const schedule&) = delete;
    schedule& operator=(const schedule&) = delete;

    /// Posts `count` tasks, and signals events by the way. Local tasks do not need the other rank.
    void post_all(int count, bool only_local = false) {
        for (int number = 0; number < count; ++number) {
            post_one(number, only_local);
            poll_task();
            if (chance(4)) signal_one();
            // Like a program that works in rounds: not everything stays open to the end.
            if (!only_local && chance(40)) settle();
        }
    }

    /// Lets everything end and compares it with the model.
    void settle() {
        signal_all();
        for (step& each : steps_) {
            if (each.handle) check(each, each.handle.wait());
        }
    }

    void signal_all() {
        while (!events_.empty()) signal_one();
    }

    /// Drops all handles: the tasks go on.
    void drop_handles() {
        for (step& each : steps_) each.handle.release();
    }

private:
    // The same draws on every rank, whatever the timing: what depends on time takes its numbers from `local_`.
    [[nodiscard]] int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
    [[nodiscard]] bool chance(int one_in) { return pick(one_in) == 0; }

    /// Some earlier tasks and events; what the model says of them.
    [[nodiscard]] frontend::after_option predecessors(bool& is_canceled, bool& is_open) {
        frontend::after_option chosen;
        for (int i = pick(4); i > 0 && !steps_.empty(); --i) {
            const auto back = static_cast<std::size_t>(pick(12));
            const step& earlier = steps_[steps_.size() - 1 - std::min(back, steps_.size() - 1)];
            if (!earlier.handle) continue;
            chosen.add(earlier.handle);
            is_canceled =
                is_canceled || earlier.expected == expectation::failed || earlier.expected == expectation::canceled;
            is_open = is_open || earlier.expected == expectation::open;
        }
        const int which_event = pick(6);
        if (which_event == 0) events_.emplace_back();
        if (which_event <= 1 && !events_.empty()) chosen.add(events_.back());
        if (which_event == 2) chosen.add(done_event_);
        return chosen;
    }

    template <typename What, typename... Options>
    void post_counted(step& into, What&& what, Options&&... options) {
        ++counts_.posted;
        into.handle = post(std::forward<What>(what), std::forward<Options>(options)...,
                           then([counts = &counts_]() noexcept { ++counts->ended; }));
    }

    void post_one(int number, bool only_local) {
        bool is_canceled = false;
        bool is_open = false;
        const frontend::after_option after_them = predecessors(is_canceled, is_open);
        const bool survives = chance(2) && is_canceled;
        const bool may_fail = chance(4);
        const int kind = only_local ? 5 + pick(3) : pick(8);
        step& mine = steps_.emplace_back();
        mine.kind = kind;
        if (kind < 5) return post_message(mine, kind, number, after_them);
        mine.expected = survives      ? expectation::completed
                        : is_canceled ? expectation::canceled
                        : is_open     ? expectation::open
                                      : expectation::completed;
        const bool fails = may_fail && mine.expected != expectation::open;
        if (fails && mine.expected == expectation::completed) mine.expected = expectation::failed;
        // The closure is larger than a pointer: its record crosses to the worker and back.
        const auto work = [fails, data = std::vector<int>(8, number)] { return fails ? MPI_ERR_OTHER : MPI_SUCCESS; };
        if (survives) {
            post_counted(mine, call(work, own_), after_them, run_after_failure);
        } else {
            post_counted(mine, call(work, own_), after_them);
        }
        if (kind == 7 && mine.expected == expectation::completed) {
            mine.handle.cancel();
            mine.expected = expectation::open;
        }
    }

    /// Messages and collectives run whatever came before, so that the other rank is never left alone.
    void post_message(step& mine, int kind, int number, const frontend::after_option& after_them) {
        const auto count = static_cast<std::size_t>(1 + pick(chance(10) ? 30'000 : 40));
        mine.value_expected = number;
        const int partner = n_ranks_ > 1 ? rank_ ^ 1 : rank_;
        const MPI_Comm comm = shared_[static_cast<std::size_t>(pick(2))];
        const int tag = thread_ * 100'000 + number;
        mine.received.assign(count, -1);
        mine.sent.assign(count, number);
        if (kind == 0 || kind == 1) {
            const bool is_self = kind == 1;
            post_counted(mine, recv(mine.received, is_self ? 0 : partner, tag, is_self ? MPI_COMM_SELF : comm),
                         after_them, run_after_failure);
            ++counts_.posted;
            post_detached(send(mine.sent, is_self ? 0 : partner, tag, is_self ? MPI_COMM_SELF : comm), after_them,
                          run_after_failure, then([counts = &counts_]() noexcept { ++counts->ended; }));
        } else if (kind == 2) {
            // One tag for all: only program order brings each message to its receive.
            post_counted(mine, recv(mine.received, partner, 1, own_), ordered, after_them, run_after_failure);
            ++counts_.posted;
            post_detached(send(mine.sent, partner, 1, own_), ordered, run_after_failure,
                          then([counts = &counts_]() noexcept { ++counts->ended; }));
        } else if (kind == 3) {
            mine.sent.assign(1, number);
            mine.received.assign(1, -1);
            post_counted(mine, allreduce(mine.sent, mine.received, MPI_MAX, own_), after_them, run_after_failure);
        } else {
            // Nobody sends this one. It is withdrawn, started or not.
            post_counted(mine, recv(mine.received, MPI_ANY_SOURCE, 99'999, shared_[0]), after_them);
            mine.handle.cancel();
            mine.expected = expectation::canceled;
        }
    }

    void poll_task() {
        step& some = steps_[local_() % steps_.size()];
        if (!some.handle) return;
        const std::chrono::microseconds moment{local_() % 50};
        switch (local_() % 8) {
        case 0:
            if (const auto ended = some.handle.test()) check(some, *ended);
            break;
        case 1:
            if (const auto ended = some.handle.wait_for(moment)) check(some, *ended);
            break;
        case 2: {
            std::array<task, 2> two{task{}, std::move(some.handle)};
            const auto ended = wait_any_for(two, moment);
            some.handle = std::move(two[1]);
            if (ended) check(some, ended->result);
            break;
        }
        default: break;
        }
    }

    /// The event goes with its last signal, while tasks are behind it.
    void signal_one() {
        if (events_.empty()) return;
        events_.front().signal();
        events_.pop_front();
    }

    static void check(step& which, const outcome& ended) {
        switch (which.expected) {
        case expectation::completed: EXPECT_TRUE(ended.is_completed()) << "class " << ended.error_class(); break;
        case expectation::failed: EXPECT_EQ(ended.error_class(), MPI_ERR_OTHER); break;
        case expectation::canceled: EXPECT_TRUE(ended.is_canceled()); break;
        case expectation::open: EXPECT_FALSE(ended.is_failed()); break;
        }
        if (!ended.is_completed()) return;
        const auto is_wrong = [&](int value) { return value != which.value_expected; };
        const auto wrong = std::find_if(which.received.begin(), which.received.end(), is_wrong);
        EXPECT_TRUE(wrong == which.received.end())
            << "step " << which.value_expected << " of kind " << which.kind << " received " << *wrong << " at "
            << wrong - which.received.begin() << " of " << which.received.size() << " from " << ended.status().source()
            << ", tag " << ended.status().tag();
    }

    std::mt19937 random_;
    std::minstd_rand local_{std::random_device{}()};
    int thread_;
    std::array<MPI_Comm, 2> shared_;
    MPI_Comm own_;
    counters& counts_;
    int rank_ = 0;
    int n_ranks_ = 1;
    std::deque<step> steps_;
    std::deque<event> events_; ///< Not signalled yet.
    event done_event_;
};

} // namespace commtask::stress
