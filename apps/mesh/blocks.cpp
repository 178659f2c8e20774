// SPDX-License-Identifier: Apache-2.0
// A rank is at most once in each list. A shared block is sent from one place to all, as a multicast.
#include "blocks.hpp"

#include "common/runtime_session.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace mesh {

using miniapp::part;

blocks::blocks(const transport& by, int tag, std::vector<block> to, std::vector<block> from, bool is_shared)
    : by_(by), tag_(tag), to_(std::move(to)), from_(std::move(from)) {
    MPI_Comm_rank(by.comm, &rank_);
    std::size_t n = 0;
    for (block& each : from_) {
        each.place = std::exchange(n, n + each.size);
        if (each.rank == rank_) continue;
        receives_.ranks.push_back(each.rank);
        receives_.sizes.push_back(static_cast<int>(each.size));
        receives_.places.push_back(static_cast<int>(each.place));
    }
    in_.resize(n);
    n = 0;
    for (block& each : to_) {
        if (each.rank == rank_) {
            each.place = std::ranges::find(from_, rank_, &block::rank)->place;
            continue;
        }
        each.place = is_shared ? 0 : n;
        n += each.size;
        sends_.ranks.push_back(each.rank);
        sends_.sizes.push_back(static_cast<int>(each.size));
        sends_.places.push_back(static_cast<int>(each.place));
    }
    out_.resize(n);
}

void blocks::add(miniapp::item_list& to) {
    const auto add_one = [&](part when, miniapp::message what) {
        const int id = to.add(when, std::move(what));
        to.reads(id, name(sent));
        to.writes(id, name(received));
    };
    const int n_to = static_cast<int>(sends_.ranks.size());
    const int n_from = static_cast<int>(receives_.ranks.size());
    if (n_to + n_from == 0) return;
    if (by_.by_worker) {
        const commtask_op many = commtask_op_many_to_many_int(
            out_.data(), sends_.sizes.data(), sends_.places.data(), MPI_DOUBLE, sends_.ranks.data(), n_to, in_.data(),
            receives_.sizes.data(), receives_.places.data(), MPI_DOUBLE, receives_.ranks.data(), n_from, tag_,
            by_.comm);
        if (!by_.has_plan) return add_one(part::send, {many});
        plan_.record([&] { miniapp::require(commtask_post_operation(&many, nullptr, nullptr), "commtask_post"); });
        return add_one(part::send, miniapp::start(plan_));
    }
    for (int k = 0; k < n_from; ++k) {
        add_one(part::receive, miniapp::receive(in_.data() + receives_.places[k], receives_.sizes[k], MPI_DOUBLE,
                                                receives_.ranks[k], tag_, by_.comm));
    }
    for (int k = 0; k < n_to; ++k) {
        add_one(part::send, miniapp::send(out_.data() + sends_.places[k], sends_.sizes[k], MPI_DOUBLE, sends_.ranks[k],
                                          tag_, by_.comm));
    }
}

void blocks::written_by(miniapp::item_list& of, int id) const {
    of.writes(id, name(sent));
    of.writes(id, name(stayed));
}

void blocks::read_by(miniapp::item_list& of, int id) const {
    of.reads(id, name(received));
    of.reads(id, name(stayed));
}

std::uint64_t bits_of(std::span<const double> values) {
    std::uint64_t sum = 0;
    for (const double each : values) sum += std::bit_cast<std::uint64_t>(each);
    return sum;
}

} // namespace mesh
