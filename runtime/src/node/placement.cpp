// SPDX-License-Identifier: Apache-2.0
//
// Computes the map in three steps. First, ranks whose user named CPUs get these CPUs. Then, each
// group of ranks with overlapping CPUs gets cores for all its workers, or for none. Last, each
// rank's compute CPUs are the CPUs of the rank that no worker of the node uses.
#include "node/placement.hpp"

#include "node/maximum_matching.hpp"
#include "node/placement_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <tuple>

namespace commtask::detail {

namespace {

using rank_list = std::vector<std::size_t>;

class planner {
public:
    planner(const node_shape& node, std::span<const rank_request> requests)
        : node_(node), requests_(requests), placements_(requests.size()), taken_(requests.size()) {
        for (std::size_t rank = 0; rank < requests.size(); ++rank) {
            placements_[rank].all_cpus = requests[rank].cpus;
            placements_[rank].lane_cpus.assign(static_cast<std::size_t>(requests[rank].lanes), no_cpu);
            node_cpus_ |= requests[rank].cpus;
        }
    }

    std::vector<rank_placement> run() && {
        for (std::size_t rank = 0; rank < requests_.size(); ++rank)
            if (is_named(rank)) take_named(rank);
        for (const rank_list& group : groups()) serve(group);
        for (std::size_t rank = 0; rank < requests_.size(); ++rank) finish(rank);
        return std::move(placements_);
    }

private:
    [[nodiscard]] bool is_named(std::size_t rank) const {
        return requests_[rank].core != "auto" && requests_[rank].core != "none";
    }
    [[nodiscard]] bool wants_no_core(std::size_t rank) const {
        return requests_[rank].core == "none" ||
               (requests_[rank].core == "auto" && requests_[rank].idle == idle_policy::shared);
    }
    [[nodiscard]] bool is_too_small(std::size_t rank) const {
        return requests_[rank].cpus.size() <= requests_[rank].lanes;
    }

    void take_named(std::size_t rank);
    [[nodiscard]] std::vector<rank_list> groups() const;
    void serve(const rank_list& group);
    bool serve_from(const std::vector<cpu_set>& items, const rank_list& group);
    [[nodiscard]] std::vector<cpu_set> whole_cores(const cpu_set& cpus) const;
    [[nodiscard]] std::vector<cpu_set> hardware_threads(const cpu_set& cpus) const;
    [[nodiscard]] std::vector<std::size_t> by_preference(std::size_t rank, const rank_list& group,
                                                         const std::vector<cpu_set>& items,
                                                         std::vector<std::size_t> usable) const;
    [[nodiscard]] bool is_near_network(const cpu_set& item) const;
    void finish(std::size_t rank);

    const node_shape& node_;
    std::span<const rank_request> requests_;
    std::vector<rank_placement> placements_;
    /// Indexed by rank: the CPUs that do not compute, including idle hardware threads of a worker's
    /// core.
    std::vector<cpu_set> taken_;
    cpu_set all_taken_;
    cpu_set node_cpus_;
};

/// Assigns to the rank's lanes the first CPUs of the user's list that the rank may use and no
/// earlier rank has taken.
void planner::take_named(std::size_t rank) {
    const rank_request& request = requests_[rank];
    rank_placement& placement = placements_[rank];
    const std::vector<int> named = parse_cpu_list(request.core).value_or(std::vector<int>{});
    for (const int cpu : named) {
        if (node_cpus_.contains(cpu)) continue;
        placement.error = foreign_cpu_text(request, cpu);
        return;
    }
    std::size_t lane = 0;
    cpu_set mine;
    for (const int cpu : named) {
        if (lane == placement.lane_cpus.size()) break;
        if (!request.cpus.contains(cpu) || all_taken_.contains(cpu)) continue;
        placement.lane_cpus[lane++] = cpu;
        mine.insert(cpu);
    }
    if (lane < placement.lane_cpus.size()) {
        std::ranges::fill(placement.lane_cpus, no_cpu);
        placement.error = list_too_short_text(request, all_taken_);
        return;
    }
    // If the user named the only CPU, the worker is bound to it, and shares it with compute
    // threads.
    if (!(request.cpus - mine).is_empty()) {
        taken_[rank] = mine;
        all_taken_ |= mine;
    }
}

/// Groups of ranks whose CPUs overlap, directly or through other ranks; each group is in the order
/// of ranks.
std::vector<rank_list> planner::groups() const {
    std::vector<rank_list> result;
    std::vector<cpu_set> cpus;
    for (std::size_t rank = 0; rank < requests_.size(); ++rank) {
        rank_list merged{rank};
        cpu_set merged_cpus = requests_[rank].cpus;
        for (std::size_t i = result.size(); i-- > 0;) {
            if (!cpus[i].intersects(requests_[rank].cpus)) continue;
            merged.insert(merged.end(), result[i].begin(), result[i].end());
            merged_cpus |= cpus[i];
            result.erase(result.begin() + static_cast<std::ptrdiff_t>(i));
            cpus.erase(cpus.begin() + static_cast<std::ptrdiff_t>(i));
        }
        std::ranges::sort(merged);
        result.push_back(std::move(merged));
        cpus.push_back(std::move(merged_cpus));
    }
    return result;
}

void planner::serve(const rank_list& group) {
    cpu_set cpus;
    rank_list wanting;
    for (const std::size_t rank : group) {
        cpus |= requests_[rank].cpus;
        if (!is_named(rank) && !wants_no_core(rank) && !is_too_small(rank)) wanting.push_back(rank);
    }
    if (wanting.empty() || serve_from(whole_cores(cpus), group) || serve_from(hardware_threads(cpus), group)) return;
    int n_workers = 0;
    for (const std::size_t rank : wanting) n_workers += requests_[rank].lanes;
    const bool node_has_more =
        std::ranges::any_of(node_.cores, [&](const core_shape& core) { return !(core.cpus - cpus).is_empty(); });
    for (const std::size_t rank : wanting) {
        placements_[rank].reason = crowded_text(group.size(), n_workers, cpus);
        placements_[rank].is_warning = node_has_more;
    }
}

/// Assigns an item to each lane that wants a core, or changes nothing and returns false.
bool planner::serve_from(const std::vector<cpu_set>& items, const rank_list& group) {
    cpu_set blocked = all_taken_; // ranks without a spare CPU compute on these
    for (const std::size_t rank : group)
        if (!is_named(rank) && is_too_small(rank)) blocked |= requests_[rank].cpus;

    rank_list worker_ranks;
    // one per worker, in the order of `worker_ranks`, then one per rank that computes
    needs_list needs;
    int most_lanes = 0;
    for (const std::size_t rank : group) most_lanes = std::max(most_lanes, requests_[rank].lanes);
    for (int lane = 0; lane < most_lanes; ++lane) {
        for (const std::size_t rank : group) {
            if (is_named(rank) || wants_no_core(rank) || is_too_small(rank) || lane >= requests_[rank].lanes) continue;
            std::vector<std::size_t> usable;
            for (std::size_t item = 0; item < items.size(); ++item)
                if (requests_[rank].cpus.includes(items[item]) && !items[item].intersects(blocked))
                    usable.push_back(item);
            worker_ranks.push_back(rank);
            needs.push_back(by_preference(rank, group, items, std::move(usable)));
        }
    }
    for (const std::size_t rank : group) {
        const cpu_set computing = requests_[rank].cpus - all_taken_;
        if (computing.is_empty() || (!is_named(rank) && is_too_small(rank))) continue;
        auto& usable = needs.emplace_back();
        for (std::size_t item = 0; item < items.size(); ++item)
            if (items[item].intersects(computing)) usable.push_back(item);
    }
    if (!matching{needs, items.size()}.meets_all()) return false;

    // Each worker in turn gets the best item by its preference that still leaves an item for all
    // others.
    for (std::size_t worker = 0; worker < worker_ranks.size(); ++worker) {
        const std::vector<std::size_t> choices = needs[worker];
        for (const std::size_t choice : choices) {
            needs[worker] = {choice};
            if (matching{needs, items.size()}.meets_all()) break;
        }
        const std::size_t rank = worker_ranks[worker];
        const cpu_set& item = items[needs[worker].front()];
        *std::ranges::find(placements_[rank].lane_cpus, no_cpu) = item.first();
        taken_[rank] |= item;
        all_taken_ |= item;
    }
    return true;
}

std::vector<cpu_set> planner::whole_cores(const cpu_set& cpus) const {
    std::vector<cpu_set> items;
    for (const core_shape& core : node_.cores)
        if (core.cpus.intersects(cpus)) items.push_back(core.cpus & cpus);
    return items;
}

std::vector<cpu_set> planner::hardware_threads(const cpu_set& cpus) const {
    std::vector<cpu_set> items;
    for (const core_shape& core : node_.cores)
        for (const int cpu : (core.cpus & cpus).members()) items.push_back(cpu_set{cpu});
    return items;
}

/// Sorts the items that a rank may use by preference. Ranks with the same CPUs divide them: first
/// come items of the rank's own part, then items near the network. Among equals the last item comes
/// first, since programs tend to use the first CPU for their first thread.
std::vector<std::size_t> planner::by_preference(std::size_t rank, const rank_list& group,
                                                const std::vector<cpu_set>& items,
                                                std::vector<std::size_t> usable) const {
    std::size_t n_alike = 1; // this rank and the ranks with the same CPUs
    std::size_t position = 0;
    for (const std::size_t other : group) {
        if (other == rank || is_named(other) || wants_no_core(other)) continue;
        if (!(requests_[other].cpus == requests_[rank].cpus)) continue;
        if (other < rank) ++position;
        ++n_alike;
    }
    const std::size_t begin = usable.size() * position / n_alike;
    const std::size_t end = usable.size() * (position + 1) / n_alike;
    // outside the own part, not near the network, distance from the end
    std::vector<std::tuple<bool, bool, std::size_t>> ranking;
    for (std::size_t i = 0; i < usable.size(); ++i)
        ranking.emplace_back(i < begin || i >= end, !is_near_network(items[usable[i]]), items.size() - usable[i]);
    std::ranges::sort(ranking);
    std::ranges::transform(ranking, usable.begin(),
                           [&](const auto& entry) { return items.size() - std::get<2>(entry); });
    return usable;
}

bool planner::is_near_network(const cpu_set& item) const {
    return std::ranges::any_of(
        node_.cores, [&](const core_shape& core) { return core.is_near_network && core.cpus.intersects(item); });
}

void planner::finish(std::size_t rank) {
    const rank_request& request = requests_[rank];
    rank_placement& placement = placements_[rank];
    const cpu_set own = request.cpus - taken_[rank];
    const cpu_set without_all_workers = own - all_taken_;
    placement.compute_cpus = !without_all_workers.is_empty() ? without_all_workers
                             : own.is_empty()                ? request.cpus
                                                             : own;

    const bool has_cores = placement.lane_cpus.front() != no_cpu && !taken_[rank].is_empty();
    if (request.idle != idle_policy::automatic)
        placement.idle = request.idle;
    else
        placement.idle = has_cores ? idle_policy::reserved : idle_policy::shared;
    if (placement.error) {
        placement.reason = *placement.error;
    } else if (has_cores) {
        placement.reason = reserved_text(placement, taken_[rank]);
    } else if (placement.lane_cpus.front() != no_cpu) {
        placement.reason = only_cpu_named_text(request);
    } else if (wants_no_core(rank)) {
        placement.reason = no_core_wanted_text(request);
    } else if (placement.reason.empty()) {
        placement.reason = too_small_text(request);
        placement.is_warning = true;
    }
    if (!has_cores && request.idle == idle_policy::reserved) {
        placement.reason += "; with COMMTASK_IDLE=reserved it spins there nevertheless";
        placement.is_warning = true;
    }
}

} // namespace

std::vector<rank_placement> place_ranks(const node_shape& node, std::span<const rank_request> requests) {
    return planner{node, requests}.run();
}

std::string to_text(const rank_request& request) {
    return request.cpus.text() + ';' + std::to_string(request.lanes) + ';' + request.core + ';' +
           std::to_string(static_cast<int>(request.idle));
}

std::optional<rank_request> rank_request_from_text(std::string_view text) {
    std::array<std::string_view, 4> parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::size_t end = text.find(';');
        const bool is_last = i + 1 == parts.size();
        if (is_last != (end == std::string_view::npos)) return std::nullopt;
        parts[i] = text.substr(0, end);
        if (!is_last) text.remove_prefix(end + 1);
    }
    const auto number = [](std::string_view digits, int lowest, int highest) -> std::optional<int> {
        int value = 0;
        const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        const bool is_good = failure == std::errc{} && end == digits.data() + digits.size();
        return is_good && value >= lowest && value <= highest ? std::optional{value} : std::nullopt;
    };
    auto cpus = cpu_set::from_text(parts[0]);
    const auto lanes = number(parts[1], 1, highest_cpu);
    const auto idle = number(parts[3], 0, static_cast<int>(idle_policy::shared));
    const bool is_core = parts[2] == "auto" || parts[2] == "none" || parse_cpu_list(parts[2]).has_value();
    if (!cpus || !lanes || !idle || !is_core) return std::nullopt;
    return rank_request{std::move(*cpus), *lanes, std::string{parts[2]}, static_cast<idle_policy>(*idle)};
}

} // namespace commtask::detail
