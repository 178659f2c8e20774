// SPDX-License-Identifier: Apache-2.0
//
// Start and end of a runtime. The order of the members is the order in which things must exist: errors come back before
// the first MPI call, compute threads are off the core before the worker is on it, and the worker is the last to come and
// the first to go.
#include "context.hpp"

#include "last_error.hpp"
#include "mpi_stats.hpp"

#include <commtask/commtask.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

namespace commtask::detail {
namespace {

/// A node without an answer from its ranks gives a worker that shares; the sentence says why.
[[nodiscard]] rank_place collective_find_place(const config& settings) {
    const errors_come_back scope;
    node_map map = collective_map_node(MPI_COMM_WORLD, settings, process_cpus());
    rank_place mine = map.places.at(map.me);
    if (map.failure && settings.verbose >= 1) {
        std::fprintf(stderr, "commtask: warning: %s; the worker shares its core\n", map.failure->c_str());
    }
    return mine;
}

[[nodiscard]] lane_settings settings_of_lane(const config& settings) {
    lane_settings of_lane;
    of_lane.queue_capacity = static_cast<std::size_t>(settings.queue_capacity);
    of_lane.callback_limit_ns = static_cast<std::uint64_t>(settings.callback_limit_us) * 1000U;
    of_lane.keeps_stats = settings.stats != 0;
    of_lane.warns = settings.verbose >= 1;
    of_lane.has_heavy_barrier = register_heavy_barrier();
    return of_lane;
}

[[nodiscard]] std::string_view name_of_kind(int kind) { return operation_of(kind).name; }

void print_stats(const lane_stats& mine, bool with_others) {
    const errors_come_back scope;
    std::array<std::string_view, stats_kind_count> names{};
    for (int kind = 1; kind < COMMTASK_OP_END; ++kind) names[static_cast<std::size_t>(kind)] = name_of_kind(kind);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    gathered_stats gathered;
    if (with_others) {
        gathered = collective_gather_stats(MPI_COMM_WORLD, mine, 0);
    } else {
        gathered.ranks = {mine};
    }
    if (!gathered.ranks.empty()) std::fputs(format_stats(gathered.ranks, names).c_str(), stderr);
}

} // namespace

std::atomic<context*> context::current_{nullptr};

context::context(config settings, int thread_level)
    : settings_(std::move(settings)), thread_level_(thread_level), place_(collective_find_place(settings_)),
      narrowing_(place_.all_cpus, place_.compute_cpus),
      transport_(static_cast<std::size_t>(settings_.test_window), settings_.stats != 0),
      lane_(transport_, settings_of_lane(settings_)), comms_(errors_, lane_), worker_(lane_, worker_plan()),
      watchdog_(lane_, settings_.stall_s, &name_of_kind) {
    hook_mpi_finalize();
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const bool warns_of_sharing = place_.is_warning && rank == 0 && settings_.verbose >= 1;
    if (warns_of_sharing) std::fprintf(stderr, "commtask: warning: %s\n", place_.reason.c_str());
    if (!warns_of_sharing && settings_.verbose >= 2) {
        std::fprintf(stderr, "commtask: rank %d: %s\n", rank, place_.reason.c_str());
    }
    if (settings_.verbose >= 1) {
        if (const auto advice = openmp_started_too_early(place_)) {
            std::fprintf(stderr, "commtask: warning: %s\n", advice->c_str());
        }
    }
}

worker_settings context::worker_plan() {
    worker_settings plan;
    plan.is_reserved = place_.idle == idle_policy::reserved;
    plan.spin_ns = static_cast<std::uint64_t>(settings_.spin_us) * 1000U;
    plan.nap_max_ns = static_cast<std::uint64_t>(settings_.nap_max_us) * 1000U;
    plan.keeps_stats = settings_.stats != 0;
    plan.on_start = [this] {
        const std::error_code failure = bind_worker(place_, 0);
        if (failure && settings_.verbose >= 1) {
            std::fprintf(stderr, "commtask: warning: the worker could not be bound: %s\n", failure.message().c_str());
        }
    };
    return plan;
}

context::~context() {
    worker_.stop();
    set_current(nullptr);
    if (finalize_keyval_ == MPI_KEYVAL_INVALID) return;
    const errors_come_back scope;
    int keyval = std::exchange(finalize_keyval_, MPI_KEYVAL_INVALID); // the attribute's end is not MPI_Finalize now
    MPI_Comm_delete_attr(MPI_COMM_SELF, keyval);
    MPI_Comm_free_keyval(&keyval);
}

/// MPI_Finalize deletes the attributes of MPI_COMM_SELF first: the last moment at which tasks can still be completed.
void context::hook_mpi_finalize() noexcept {
    const auto on_delete = [](MPI_Comm, int, void*, void* self) -> int {
        auto* const mine = static_cast<context*>(self);
        if (context::current() != mine || mine->finalize_keyval_ == MPI_KEYVAL_INVALID) return MPI_SUCCESS;
        mine->finalize_keyval_ = MPI_KEYVAL_INVALID;
        std::fputs("commtask: warning: MPI_Finalize was called before commtask_finalize, which is made up for now\n",
                   stderr);
        commtask_finalize();
        return MPI_SUCCESS;
    };
    int keyval = MPI_KEYVAL_INVALID;
    if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, +on_delete, &keyval, this) != MPI_SUCCESS) return;
    if (MPI_Comm_set_attr(MPI_COMM_SELF, keyval, this) == MPI_SUCCESS) finalize_keyval_ = keyval;
}

bool context::drain() {
    // A task that comes back has let everything posted before it in.
    commtask_t last = COMMTASK_NULL;
    if (commtask_submit(commtask_op_noop(MPI_COMM_WORLD), nullptr, &last) == COMMTASK_OK) {
        commtask_wait(&last, nullptr);
    }
    lane_.watch_drain();
    constexpr std::int64_t look_ns = 10'000'000;
    constexpr std::uint64_t grace_ns = 1'000'000'000; // for signals that are on their way
    const auto limit_ns = static_cast<std::uint64_t>(settings_.finalize_timeout_s * 1e9);
    std::uint64_t ended = lane_.approx_ended();
    std::uint64_t since_ns = now_ns();
    while (!wait_in_library(lane_, waiting(), look_ns, [this] { return lane_.was_drained(); })) {
        const std::uint64_t now = now_ns();
        if (const std::uint64_t ended_now = lane_.approx_ended(); ended_now != ended) {
            ended = ended_now;
            since_ns = now;
            continue;
        }
        const std::uint64_t quiet_ns = now - since_ns;
        const bool can_move = lane_.approx_has_work();
        const bool is_hopeless = can_move ? limit_ns > 0 && quiet_ns >= limit_ns
                                          : quiet_ns >= (limit_ns > 0 ? std::min(limit_ns, grace_ns) : grace_ns);
        if (!is_hopeless) continue;
        worker_.stop(); // from here on this thread alone drives
        while (!lane_.try_take_baton()) sched_yield();
        if (settings_.verbose >= 1) std::fputs(lane_.unfinished_table("given up by commtask_finalize").c_str(), stderr);
        lane_.give_up_all();
        lane_.return_baton();
        if (settings_.stats != 0) print_stats(collected_stats(), false);
        return false;
    }
    worker_.stop();
    if (settings_.stats != 0) print_stats(collected_stats(), true);
    return true;
}

lane_stats context::collected_stats() {
    lane_stats all = lane_.counters();
    all.post = lane_.post_times.snapshot();
    all.unblock = lane_.unblock_times.snapshot();
    return all;
}

} // namespace commtask::detail
