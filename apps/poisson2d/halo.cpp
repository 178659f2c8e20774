// SPDX-License-Identifier: Apache-2.0
// The buffers, and what a step is made of. What others write to or read from lies in the window; plain MPI completes its puts
// before the target is told by an empty message, which is how MPI programs notify, and waits for this thread to be inside MPI.
#include "halo.hpp"

#include "common/runtime_session.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace poisson {

using miniapp::part;
using miniapp::require;

halo::halo(domain& on, halo_kind kind, MPI_Comm cart, bool by_worker)
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
    if (by_worker_) {
        miniapp::worker_barrier(cart_);
    } else {
        MPI_Barrier(cart_);
    }
}

template <class Visit>
void halo::for_each_neighbour(Visit&& visit) const {
    for (int side = 0; side < n_sides; ++side) {
        if (on_.has_neighbour(side)) visit(side, on_.neighbour(side));
    }
}

void halo::pack(int step) {
    sums_.packed += std::exchange(packed_last_, 0);
    for_each_neighbour([&](int side, int) { packed_last_ += on_.pack(step, side, outgoing(step, side)); });
}

std::uint64_t halo::left_of_messages() {
    packed_last_ = 0;
    return std::exchange(sums_, {}).left();
}

void halo::expose(int step) {
    if (kind_ == halo_kind::put) {
        for_each_neighbour([&](int side, int peer) {
            const int n = n_leaving_[step & 1][side];
            MPI_Put(outgoing(step, side), n, MPI_DOUBLE, peer, there(step, side), n, MPI_DOUBLE, window_);
        });
        MPI_Win_flush_all(window_);
    } else {
        MPI_Win_sync(window_);
    }
}

void halo::arrive(int step) {
    MPI_Win_sync(window_);
    if (kind_ == halo_kind::put) return;
    std::vector<MPI_Request> gets;
    for_each_neighbour([&](int side, int peer) {
        const int n = n_coming_[step & 1][side];
        MPI_Rget(incoming(step, side), n, MPI_DOUBLE, peer, there(step, side), n, MPI_DOUBLE, window_,
                 &gets.emplace_back());
    });
    MPI_Waitall(static_cast<int>(gets.size()), gets.data(), MPI_STATUSES_IGNORE);
}

void halo::add_one_sided(miniapp::item_list& to, int step, int side, int peer) {
    const int now = step & 1;
    const bool is_put = kind_ == halo_kind::put;
    const int n_put = is_put ? n_leaving_[now][side] : 0; // a notified put of nothing announces what can be got
    const int n_got = n_coming_[now][side];
    const MPI_Aint place = there(step, side);
    const commtask_op put = commtask_op_put_notify(outgoing(step, side), n_put, MPI_DOUBLE, peer, place, n_put,
                                                   MPI_DOUBLE, tag_of(step, side ^ 1), window_);
    to.reads(to.add(part::send, {put}), {leaves, now, side});
    const int awaited = to.add(part::send, {commtask_op_await_notify(tag_of(step, side), 1, peer, window_)});
    to.writes(awaited, {is_put ? comes : announced, now, side});
    if (is_put) return;
    const commtask_op get =
        commtask_op_get(incoming(step, side), n_got, MPI_DOUBLE, peer, place, n_got, MPI_DOUBLE, window_);
    const int got = to.add(part::send, {get});
    to.reads(got, {announced, now, side});
    to.writes(got, {comes, now, side});
}

void halo::add_collective(miniapp::item_list& to, int step) {
    const int now = step & 1;
    const commtask_op all_to_all =
        commtask_op_neighbor_alltoallv_int(outgoing(step, 0), n_leaving_[now].data(), places_.data(), MPI_DOUBLE,
                                           incoming(step, 0), n_coming_[now].data(), places_.data(), MPI_DOUBLE, cart_);
    const auto natively = [this, now](MPI_Request* request) {
        MPI_Ineighbor_alltoallv(outgoing(now, 0), n_leaving_[now].data(), places_.data(), MPI_DOUBLE, incoming(now, 0),
                                n_coming_[now].data(), places_.data(), MPI_DOUBLE, cart_, request);
    };
    const int id = to.add(part::send, {all_to_all, natively});
    for (int side = 0; side < n_sides; ++side) {
        to.reads(id, {leaves, now, side});
        to.writes(id, {comes, now, side});
    }
}

void halo::add_messages(miniapp::item_list& to, int step) {
    const int now = step & 1;
    const bool has_window = window_ != MPI_WIN_NULL;
    if (kind_ == halo_kind::neighbor) return add_collective(to, step);
    if (has_window && !by_worker_) {
        to.add(part::receive, {.operation = {},
                               .natively = [this, step](MPI_Request*) { expose(step); },
                               .then = [this, step] { arrive(step); }});
    }
    for_each_neighbour([&](int side, int peer) {
        if (has_window && by_worker_) return add_one_sided(to, step, side, peer);
        // With a window messages of nothing are the notifications.
        const int n_coming = has_window ? 0 : n_coming_[now][side];
        const int n_leaving = has_window ? 0 : n_leaving_[now][side];
        to.writes(to.add(part::receive,
                         miniapp::receive(incoming(step, side), n_coming, MPI_DOUBLE, peer, tag_of(step, side), cart_)),
                  {comes, now, side});
        to.reads(to.add(part::send, miniapp::send(outgoing(step, side), n_leaving, MPI_DOUBLE, peer,
                                                  tag_of(step, side ^ 1), cart_)),
                 {leaves, now, side});
    });
}

void halo::do_ring(int step) {
    for_each_neighbour([&](int side, int) { sums_.unpacked += on_.unpack(step, side, incoming(step, side)); });
    on_.compute_ring(step);
    pack(step + 1);
}

// What a step reads and writes has two names, of even and odd steps.
void halo::add_steps(miniapp::item_list& to) {
    for (int step = 0; step < 4; ++step) {
        const int now = step & 1;
        add_messages(to, step);
        const int n_bands = on_.n_bands();
        const int own = to.add(part::edge, [this, step] { do_ring(step); });
        for (int band = 0; band < n_bands; ++band) {
            const int id = to.add(part::core, [this, step, band] { on_.compute_band(step, band); });
            for (int beside = std::max(0, band - 1); beside < std::min(n_bands, band + 2); ++beside)
                to.reads(id, {bands, now, beside});
            to.reads(id, {ring, now, 0});
            to.writes(id, {bands, 1 - now, band});
            to.reads(own, {bands, now, band});
        }
        to.reads(own, {ring, now, 0});
        to.writes(own, {ring, 1 - now, 0});
        for (int side = 0; side < n_sides; ++side) {
            to.reads(own, {comes, now, side});
            to.writes(own, {leaves, 1 - now, side});
        }
        to.end_stage();
    }
    to.end(true);
}

} // namespace poisson
