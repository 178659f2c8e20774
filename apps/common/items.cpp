// SPDX-License-Identifier: Apache-2.0
// Items are added in any order within a stage and sorted at the end, so that who adds them can go link by link. The parts of
// a stage then lie one behind the other.
#include "common/items.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace miniapp {

message receive(void* into, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm) {
    return {commtask_op_recv(into, count, type, peer, tag, comm),
            [=](MPI_Request* request) { MPI_Irecv(into, static_cast<int>(count), type, peer, tag, comm, request); },
            message::kind::receive};
}

message send(const void* from, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm) {
    return {commtask_op_send(from, count, type, peer, tag, comm),
            [=](MPI_Request* request) { MPI_Isend(from, static_cast<int>(count), type, peer, tag, comm, request); },
            message::kind::send};
}

message start(const commtask::plan& of) { return {.operation = commtask_op_plan(of.native()), .plan = &of}; }

int item_list::add(part when, message what) {
    const auto id = static_cast<int>(items_.size());
    items_.push_back({.id = id, .stage = n_stages_, .when = when, .through = std::move(what)});
    return id;
}

int item_list::add_work(part when, std::function<void(int)> work, int together) {
    auto id = static_cast<int>(items_.size());
    if (together >= 0) id = together_.try_emplace({when, together}, id).first->second;
    if (id == static_cast<int>(items_.size())) items_.push_back({.id = id, .stage = n_stages_, .when = when});
    items_[id].works.push_back(std::move(work));
    return id;
}

void item_list::end_stage() {
    ++n_stages_;
    together_.clear();
}

void item_list::wait_for(int id, const std::vector<int>& others) {
    std::vector<int>& after = items_[id].after;
    after.insert(after.end(), others.begin(), others.end());
    std::ranges::sort(after);
    after.erase(std::ranges::unique(after).begin(), after.end());
}

void item_list::reads(int id, const name& what) {
    use& of = uses_[what];
    if (!of.readers.empty() && of.readers.back() == id) return;
    wait_for(id, of.writers);
    of.readers.push_back(id);
}

void item_list::writes(int id, const name& what) {
    use& of = uses_[what];
    if (of.readers.empty() && !of.writers.empty() && of.writers.back() == id) return;
    if (of.stage != n_stages_ || !of.readers.empty()) {
        of.before = of.readers.empty() ? of.writers : of.readers;
        of.writers.clear();
        of.readers.clear();
        of.stage = n_stages_;
    }
    wait_for(id, of.before);
    of.writers.push_back(id);
}

void item_list::end(bool is_round) {
    uses_.clear();
    std::vector<std::size_t> order(items_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [this](std::size_t k) { return std::tuple(items_[k].stage, items_[k].when, k); });
    // The rounds are alike: an item of the first one stands for the same of any round before.
    const std::size_t n_kept = is_round ? order.size() / 2 : order.size();
    if (is_round) n_stages_ /= 2;
    std::vector<std::size_t> place(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = k;
    const std::size_t n_before = order.size() - n_kept;
    std::vector<item> sorted;
    for (std::size_t k = n_before; k < order.size(); ++k) {
        item& each = sorted.emplace_back(std::move(items_[order[k]]));
        each.id = static_cast<int>(k - n_before);
        each.stage %= n_stages_;
        // An input of the first round, or behind the item in the list, is taken from the round before.
        const auto is_after = [&](int other) { return place[other] >= n_before && place[other] < k; };
        const auto last = std::ranges::partition(each.after, is_after);
        each.before.insert(each.before.end(), last.begin(), last.end());
        each.after.erase(last.begin(), last.end());
        for (std::vector<int>* const others : {&each.after, &each.before}) {
            for (int& other : *others) other = static_cast<int>(place[other] % n_kept);
            std::ranges::sort(*others);
            others->erase(std::ranges::unique(*others).begin(), others->end());
        }
    }
    items_ = std::move(sorted);
    parts_.resize(n_stages_);
    for (const item& each : items_) {
        group& mine = parts_[each.stage][static_cast<int>(each.when)];
        mine = mine.empty() ? group(&each, 1) : group(mine.data(), mine.size() + 1);
    }
}

int item_list::n_messages() const { return static_cast<int>(std::ranges::count_if(items_, &item::is_message)); }

} // namespace miniapp
