// SPDX-License-Identifier: Apache-2.0
// The buffers, and plain MPI. What others write to or read from lies in the window; puts are completed before the target is
// told by an empty message, which is how MPI programs notify. All of it waits for this thread to be inside MPI.
#include "halo.hpp"

#include "common/runtime_session.hpp"

#include <algorithm>
#include <stdexcept>

namespace poisson {

using miniapp::require;

halo::halo(const domain& on, halo_kind kind, MPI_Comm cart, bool by_worker)
    : on_(on), kind_(kind), cart_(cart), by_worker_(by_worker) {
    auto longest = static_cast<unsigned long>(std::max(on.extents()[0], on.extents()[1]));
    MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_UNSIGNED_LONG, MPI_MAX, cart);
    longest_ = longest;
    const std::size_t n = 2 * n_sides * longest_;
    const bool has_window = kind == halo_kind::put || kind == halo_kind::get;
    own_.resize(has_window ? n : 2 * n);
    outgoing_ = own_.data();
    incoming_ = own_.data() + (has_window ? 0 : n);
    if (has_window) {
        MPI_Win_allocate(static_cast<MPI_Aint>(n * sizeof(double)), sizeof(double), MPI_INFO_NULL, cart,
                         static_cast<void*>(kind == halo_kind::put ? &incoming_ : &outgoing_), &window_);
        int* model = nullptr;
        int is_set = 0;
        MPI_Win_get_attr(window_, MPI_WIN_MODEL, static_cast<void*>(&model), &is_set);
        // There what was stored before a notification is what others get after it.
        if (is_set == 0 || *model != MPI_WIN_UNIFIED)
            throw std::runtime_error("--halo put and get need unified windows");
    }
    for (int side = 0; side < n_sides; ++side) {
        places_[side] = static_cast<int>(side * longest_);
        for (int step = 0; step < 2 && on.has_neighbour(side); ++step) {
            n_leaving_[step][side] = on.n_leaving(step, side);
            n_coming_[step][side] = on.n_coming(step, side);
        }
    }
    if (by_worker) {
        require(commtask_comm_register(cart), "commtask_comm_register");
        for (int step = 0; step < 2; ++step) make_tasks(step);
        if (has_window) require(commtask_win_register(window_, cart), "commtask_win_register");
    } else if (has_window) {
        MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    }
}

void halo::end() {
    if (window_ == MPI_WIN_NULL) return;
    if (by_worker_) {
        require(commtask_win_unregister(window_), "commtask_win_unregister");
    } else {
        MPI_Win_unlock_all(window_);
    }
    MPI_Win_free(&window_);
}

void halo::barrier() {
    if (!by_worker_) {
        MPI_Barrier(cart_);
        return;
    }
    commtask_t task = COMMTASK_NULL;
    require(commtask_submit(commtask_op_barrier(cart_), nullptr, &task), "commtask_submit");
    require(commtask_wait(&task, nullptr), "commtask_wait");
}

template <class Visit>
void halo::for_each_neighbour(Visit&& visit) const {
    for (int side = 0; side < n_sides; ++side) {
        if (on_.has_neighbour(side)) visit(side, on_.neighbour(side));
    }
}

void halo::pack(int step) {
    for_each_neighbour([&](int side, int) { on_.pack(step, side, outgoing(step, side)); });
}

void halo::unpack(domain& into, int step) const {
    for_each_neighbour([&](int side, int) { into.unpack(step, side, incoming(step, side)); });
}

void halo::make_tasks(int step) {
    std::vector<halo_task>& all = tasks_[step];
    const counts& n_leaving = n_leaving_[step];
    const counts& n_coming = n_coming_[step];
    unsigned sides = 0;
    for_each_neighbour([&](int side, int peer) {
        const unsigned bit = 1U << side;
        sides |= bit;
        if (kind_ == halo_kind::neighbor) return;
        const int comes = tag_of(step, side);
        const int leaves = tag_of(step, side ^ 1);
        if (kind_ == halo_kind::p2p) {
            all.push_back(
                {commtask_op_recv(incoming(step, side), n_coming[side], MPI_DOUBLE, peer, comes, cart_), 0, bit});
            all.push_back(
                {commtask_op_send(outgoing(step, side), n_leaving[side], MPI_DOUBLE, peer, leaves, cart_), bit, 0});
            return;
        }
        // A notified put of nothing announces what can be got.
        const int n_put = kind_ == halo_kind::put ? n_leaving[side] : 0;
        const MPI_Aint place = there(step, side);
        all.push_back({commtask_op_put_notify(outgoing(step, side), n_put, MPI_DOUBLE, peer, place, n_put, MPI_DOUBLE,
                                              leaves, window_),
                       bit, 0});
        all.push_back({commtask_op_await_notify(comes, 1, peer, window_), 0, bit});
        if (kind_ == halo_kind::put) return;
        all.push_back({commtask_op_get(incoming(step, side), n_coming[side], MPI_DOUBLE, peer, place, n_coming[side],
                                       MPI_DOUBLE, window_),
                       0, bit, true});
    });
    if (kind_ != halo_kind::neighbor) return;
    all.push_back(
        {commtask_op_neighbor_alltoallv_int(outgoing(step, 0), n_leaving.data(), places_.data(), MPI_DOUBLE,
                                            incoming(step, 0), n_coming.data(), places_.data(), MPI_DOUBLE, cart_),
         sides, sides});
}

void halo::start(int step) {
    if (!by_worker_) return start_natively(step);
    for (const halo_task& each : tasks(step)) {
        commtask_options options = COMMTASK_OPTIONS_INIT;
        options.after = each.follows ? &under_way_.back() : nullptr;
        options.n_after = each.follows ? 1 : 0;
        commtask_t task = COMMTASK_NULL;
        require(commtask_post(&each.operation, &options, &task), "commtask_post");
        under_way_.push_back(task);
    }
}

void halo::wait(int step) {
    if (!by_worker_) return wait_natively(step);
    require(commtask_wait_all(under_way_.size(), under_way_.data(), -1, nullptr), "commtask_wait_all");
    under_way_.clear();
}

void halo::start_natively(int step) {
    const counts& n_leaving = n_leaving_[step & 1];
    const counts& n_coming = n_coming_[step & 1];
    if (kind_ == halo_kind::neighbor) {
        MPI_Ineighbor_alltoallv(outgoing(step, 0), n_leaving.data(), places_.data(), MPI_DOUBLE, incoming(step, 0),
                                n_coming.data(), places_.data(), MPI_DOUBLE, cart_, &requests_.emplace_back());
        return;
    }
    if (kind_ == halo_kind::put) {
        for_each_neighbour([&](int side, int peer) {
            MPI_Put(outgoing(step, side), n_leaving[side], MPI_DOUBLE, peer, there(step, side), n_leaving[side],
                    MPI_DOUBLE, window_);
        });
        MPI_Win_flush_all(window_);
    }
    if (kind_ == halo_kind::get) MPI_Win_sync(window_);
    // With a window messages of nothing are the notifications.
    const auto sent = [this](int n) { return kind_ == halo_kind::p2p ? n : 0; };
    for_each_neighbour([&](int side, int peer) {
        MPI_Irecv(incoming(step, side), sent(n_coming[side]), MPI_DOUBLE, peer, tag_of(step, side), cart_,
                  &requests_.emplace_back());
    });
    for_each_neighbour([&](int side, int peer) {
        MPI_Isend(outgoing(step, side), sent(n_leaving[side]), MPI_DOUBLE, peer, tag_of(step, side ^ 1), cart_,
                  &requests_.emplace_back());
    });
}

void halo::wait_natively(int step) {
    const auto wait_all = [this] {
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
        requests_.clear();
    };
    wait_all();
    if (window_ != MPI_WIN_NULL) MPI_Win_sync(window_);
    if (kind_ != halo_kind::get) return;
    for_each_neighbour([&](int side, int peer) {
        const int n = n_coming_[step & 1][side];
        MPI_Rget(incoming(step, side), n, MPI_DOUBLE, peer, there(step, side), n, MPI_DOUBLE, window_,
                 &requests_.emplace_back());
    });
    wait_all();
}

} // namespace poisson
