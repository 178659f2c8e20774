// SPDX-License-Identifier: Apache-2.0
//
// Puts of one partner into the window of the other, which computes: between fences, by post, start, complete and wait, and under a
// lock. As tasks the whole epoch is posted before the computing, and its end waited for after that.
#include "node/exchange.h"

#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace commtask::bench {
namespace {

enum class epoch { fence, pscw, lock };

class putting {
public:
    explicit putting(const place& here) {
        MPI_Group all = MPI_GROUP_NULL;
        const int other = here.partner();
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Group_incl(all, 1, &other, &partner_);
        MPI_Group_free(&all);
    }
    putting(const putting&) = delete;
    putting& operator=(const putting&) = delete;
    ~putting() { MPI_Group_free(&partner_); }

    void open(buffers& of) {
        MPI_Win_create(of.received.data(), of.size(), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_);
        if (uses_tasks) require(commtask_win_register_epochs(window_, MPI_COMM_WORLD));
    }
    void close() {
        if (uses_tasks) require(commtask_win_unregister(window_));
        MPI_Win_free(&window_);
    }

    void step(epoch how, const place& here, buffers& of, bool computes) {
        if (uses_tasks) {
            here.receives() ? expose_by_tasks(how) : put_by_tasks(how, here, of);
            if (computes) compute_elsewhere(computing_us);
            if (last_ != COMMTASK_NULL) require(commtask_wait(&last_, nullptr));
        } else {
            here.receives() ? begin_exposing(how) : begin_putting(how, here, of);
            if (computes) compute_elsewhere(computing_us);
            here.receives() ? end_exposing(how) : end_putting(how, here);
        }
        meet(); // the target of a lock does not know when it has been written to
    }

private:
    static void require(int code) {
        if (code < 0) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    /// The window keeps the order.
    void in_order(std::initializer_list<commtask_op> ops) {
        for (const commtask_op& op : ops) {
            if (last_ != COMMTASK_NULL) require(commtask_release(&last_));
            require(commtask_post(&op, nullptr, &last_));
        }
    }
    void put_by_tasks(epoch how, const place& here, const buffers& of) {
        const commtask_op put =
            commtask_op_put(of.sent.data(), of.size(), MPI_CHAR, here.partner(), 0, of.size(), MPI_CHAR, window_);
        switch (how) {
        case epoch::fence:
            return in_order(
                {commtask_op_win_fence(0, window_), put, commtask_op_win_fence(MPI_MODE_NOSUCCEED, window_)});
        case epoch::pscw:
            return in_order({commtask_op_win_start(partner_, 0, window_), put, commtask_op_win_complete(window_)});
        case epoch::lock:
            return in_order({commtask_op_win_lock(MPI_LOCK_EXCLUSIVE, here.partner(), 0, window_), put,
                             commtask_op_win_unlock(here.partner(), window_)});
        }
    }
    void expose_by_tasks(epoch how) {
        if (how == epoch::fence)
            in_order({commtask_op_win_fence(0, window_), commtask_op_win_fence(MPI_MODE_NOSUCCEED, window_)});
        if (how == epoch::pscw) in_order({commtask_op_win_post(partner_, 0, window_), commtask_op_win_wait(window_)});
    }
    void begin_putting(epoch how, const place& here, const buffers& of) {
        if (how == epoch::fence) MPI_Win_fence(0, window_);
        if (how == epoch::pscw) MPI_Win_start(partner_, 0, window_);
        if (how == epoch::lock) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, here.partner(), 0, window_);
        MPI_Put(of.sent.data(), of.size(), MPI_CHAR, here.partner(), 0, of.size(), MPI_CHAR, window_);
    }
    void end_putting(epoch how, const place& here) {
        if (how == epoch::fence) MPI_Win_fence(MPI_MODE_NOSUCCEED, window_);
        if (how == epoch::pscw) MPI_Win_complete(window_);
        if (how == epoch::lock) MPI_Win_unlock(here.partner(), window_);
    }
    void begin_exposing(epoch how) {
        if (how == epoch::fence) MPI_Win_fence(0, window_);
        if (how == epoch::pscw) MPI_Win_post(partner_, 0, window_);
    }
    void end_exposing(epoch how) {
        if (how == epoch::fence) MPI_Win_fence(MPI_MODE_NOSUCCEED, window_);
        if (how == epoch::pscw) MPI_Win_wait(window_);
    }

    MPI_Group partner_ = MPI_GROUP_NULL;
    MPI_Win window_ = MPI_WIN_NULL;
    commtask_t last_ = COMMTASK_NULL;
};

} // namespace

std::vector<question> puts(const place& here) {
    const auto shared = std::make_shared<putting>(here);
    std::vector<question> all;
    const std::vector<std::pair<const char*, epoch>> kinds{
        {"put between fences", epoch::fence}, {"put, post to wait", epoch::pscw}, {"put under a lock", epoch::lock}};
    for (const auto& kind : kinds) {
        all.push_back({.name = kind.first,
                       .sizes_bytes = {64 << 10, 1 << 20},
                       .step = [shared, how = kind.second](const place& at, buffers& of,
                                                           bool computes) { shared->step(how, at, of, computes); },
                       .computing_us = computing_us,
                       .is_checked = true,
                       .open = [shared](buffers& of) { shared->open(of); },
                       .close = [shared] { shared->close(); }});
    }
    return all;
}

} // namespace commtask::bench
