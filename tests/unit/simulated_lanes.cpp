// SPDX-License-Identifier: Apache-2.0
//
// The simulation goes from message to message, not from event to event: a lane serves its messages in their order, so what reaches
// the adapter next is the earliest of the lanes' next ones. Times are doubles that are only added and compared: the same everywhere.
#include "simulated_lanes.hpp"

#include <algorithm>
#include <array>

namespace commtask::bench {
namespace {

/// One lane of a burst under way.
struct lane_state {
    std::vector<double> posted_ns; ///< By message.
    std::vector<double> ended_ns;  ///< Of those that have been injected: when their end is known.
    double free_ns = 0;            ///< Its worker and context are busy until then.

    [[nodiscard]] bool is_done() const { return ended_ns.size() == posted_ns.size(); }
};

/// When the lane's next message leaves its context.
[[nodiscard]] double leaves_ns(const network& over, const lane_state& lane, double bytes, unsigned in_flight) {
    const std::size_t message = lane.ended_ns.size();
    double begin_ns = std::max(lane.free_ns, lane.posted_ns[message]);
    if (in_flight != 0 && message >= in_flight) begin_ns = std::max(begin_ns, lane.ended_ns[message - in_flight]);
    const double wake_ns = message == 0 ? over.wake_ns : 0;
    return begin_ns + wake_ns + std::max({over.worker_ns, over.gap_ns, bytes / over.context_bytes_per_ns});
}

} // namespace

std::span<const network> three_networks() {
    static const std::array<network, 3> all{network{.name = "contexts are slow",
                                                    .post_ns = 40,
                                                    .switch_ns = 60,
                                                    .wake_ns = 300,
                                                    .worker_ns = 120,
                                                    .gap_ns = 600,
                                                    .context_bytes_per_ns = 2.5,
                                                    .adapter_ns = 12,
                                                    .contention_ns = 0,
                                                    .wire_bytes_per_ns = 25,
                                                    .latency_ns = 1200},
                                            network{.name = "contexts share a lock",
                                                    .post_ns = 40,
                                                    .switch_ns = 60,
                                                    .wake_ns = 500,
                                                    .worker_ns = 150,
                                                    .gap_ns = 400,
                                                    .context_bytes_per_ns = 5,
                                                    .adapter_ns = 70,
                                                    .contention_ns = 12,
                                                    .wire_bytes_per_ns = 12,
                                                    .latency_ns = 1800},
                                            network{.name = "the wire is soon full",
                                                    .post_ns = 40,
                                                    .switch_ns = 60,
                                                    .wake_ns = 800,
                                                    .worker_ns = 200,
                                                    .gap_ns = 900,
                                                    .context_bytes_per_ns = 0.9,
                                                    .adapter_ns = 150,
                                                    .contention_ns = 4,
                                                    .wire_bytes_per_ns = 1.25,
                                                    .latency_ns = 9000}};
    return all;
}

double burst_ns(const network& over, const detail::message_burst& burst, const spread& how) {
    std::vector<lane_state> lanes(how.n_lanes);
    double now_ns = 0;
    unsigned lane_before = 0;
    for (std::size_t i = 0; i < burst.n_messages; ++i) {
        const auto to = static_cast<unsigned>(i / how.in_row % how.n_lanes);
        now_ns += over.post_ns + (to == lane_before ? 0 : over.switch_ns);
        lane_before = to;
        lanes[to].posted_ns.push_back(now_ns);
    }
    const auto n_used = static_cast<double>(
        std::ranges::count_if(lanes, [](const lane_state& each) { return !each.posted_ns.empty(); }));
    const auto bytes = static_cast<double>(burst.size_bytes);
    const double adapter_ns =
        std::max(over.adapter_ns + over.contention_ns * (n_used - 1), bytes / over.wire_bytes_per_ns);
    double adapter_free_ns = 0;
    double end_ns = 0;
    for (std::size_t n_left = burst.n_messages; n_left > 0; --n_left) {
        lane_state* next = nullptr;
        double next_ns = 0;
        for (lane_state& each : lanes) {
            if (each.is_done()) continue;
            const double ns = leaves_ns(over, each, bytes, how.in_flight);
            if (next != nullptr && ns >= next_ns) continue;
            next = &each;
            next_ns = ns;
        }
        next->free_ns = next_ns;
        adapter_free_ns = std::max(adapter_free_ns, next_ns) + adapter_ns;
        end_ns = adapter_free_ns + over.latency_ns;
        next->ended_ns.push_back(end_ns);
    }
    return end_ns;
}

detail::saturation_table calibrated(const network& over, unsigned most_lanes) {
    constexpr std::size_t long_burst = 512;
    constexpr unsigned row = 4;
    detail::saturation_table table{"simulated: " + over.name, over.post_ns, over.switch_ns, 0, {}};
    table.round_trip_ns = burst_ns(over, {8, 1}, {});
    for (const std::size_t size_bytes : {8U, 256U, 512U, 1024U, 2048U, 4096U, 8192U, 16384U, 65536U}) {
        detail::size_costs costs{size_bytes, {}};
        for (unsigned n_lanes = 1; n_lanes <= most_lanes; ++n_lanes) {
            const double first_ns = burst_ns(over, {size_bytes, n_lanes}, {n_lanes, 1});
            const std::size_t n_messages = n_lanes * row * (long_burst / (n_lanes * row)); // as many for each lane
            const double all_ns = burst_ns(over, {size_bytes, n_messages}, {n_lanes, n_lanes == 1 ? 1 : row});
            costs.lanes.push_back({n_lanes, first_ns, (all_ns - first_ns) / static_cast<double>(n_messages - n_lanes)});
        }
        table.rows.push_back(std::move(costs));
    }
    return table;
}

std::vector<comparison> compare(const network& over, const detail::saturation_table& table,
                                const detail::message_burst& burst, unsigned most_lanes) {
    std::vector<comparison> all;
    comparison found;
    found.one_lane_ns = found.best_ns = burst_ns(over, burst, {});
    for (unsigned n_lanes = 1; n_lanes <= most_lanes; ++n_lanes) {
        for (unsigned in_row = 1; n_lanes > 1 && in_row <= burst.n_messages / n_lanes; in_row *= 2) {
            const double ns = burst_ns(over, burst, {n_lanes, in_row});
            if (ns >= found.best_ns) continue;
            found.best_ns = ns;
            found.best = {n_lanes, in_row};
        }
        const detail::lane_choice choice = detail::choose_lanes(table, burst, n_lanes);
        found.policy = {choice.n_lanes, choice.in_row, choice.in_flight};
        found.policy_ns = burst_ns(over, burst, found.policy);
        all.push_back(found);
    }
    return all;
}

std::vector<std::size_t> simulated_sizes() {
    std::vector<std::size_t> all;
    for (std::size_t size = 8; size <= 65536; size *= 2) {
        all.push_back(size);
        if (size >= 512 && size < 65536) all.push_back(size + size / 2);
    }
    return all;
}

std::vector<std::size_t> simulated_bursts() {
    std::vector<std::size_t> all;
    for (std::size_t n = 1; n <= 24; ++n) all.push_back(n);
    for (const std::size_t n : {28U, 32U, 40U, 48U, 64U, 96U, 100U, 128U}) all.push_back(n);
    return all;
}

} // namespace commtask::bench
