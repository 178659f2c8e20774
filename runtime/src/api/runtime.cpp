// SPDX-License-Identifier: Apache-2.0
//
// commtask_init and commtask_finalize. commtask_init is collective: the ranks agree after each
// step. commtask_finalize is not collective, so that each rank can abandon tasks by itself.
#include "api/starting.hpp"

#include "api/context.hpp"
#include "api/entry.hpp"
#include "base/last_error.hpp"
#include "base/log.hpp"
#include "base/system.hpp"
#include "config/settings.hpp"
#include "mpi/clock.hpp"
#include "mpi/counts.hpp"
#include "mpi/identity.hpp"
#include "mpi/network_contexts.hpp"
#include "node/node_map.hpp"
#include "report/gather.hpp"
#include "report/lane_table.hpp"

#include <commtask/commtask.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <pthread.h>
#include <unistd.h>

namespace commtask::detail {
namespace {

/// @return COMMTASK_OK if MPI can be called, otherwise an error code with a message
[[nodiscard]] int check_mpi() {
    int is_initialized = 0;
    int is_finalized = 0;
    MPI_Initialized(&is_initialized);
    MPI_Finalized(&is_finalized);
    if (is_initialized == 0) {
        return refuse(COMMTASK_ERR_MPI_STATE, "MPI is not initialised: call MPI_Init_thread before commtask_init");
    }
    return is_finalized == 0 ? COMMTASK_OK : refuse(COMMTASK_ERR_MPI_STATE, "MPI is finalised already");
}

[[nodiscard]] const char* thread_level_text(int level) {
    if (level == MPI_THREAD_SINGLE) return "MPI_THREAD_SINGLE";
    return level == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED" : "MPI_THREAD_SERIALIZED";
}

[[nodiscard]] int check_thread_level(int thread_level, std::int64_t n_lanes, bool announces) {
    if (thread_level >= MPI_THREAD_MULTIPLE) return COMMTASK_OK;
    if (announces) {
        return refuse(COMMTASK_ERR_THREAD_LEVEL,
                      "MPI was initialised with %s, and COMMTASK_NODE_ANNOUNCE_BYTES needs MPI_THREAD_MULTIPLE: "
                      "request that in MPI_Init_thread, or unset COMMTASK_NODE_ANNOUNCE_BYTES",
                      thread_level_text(thread_level));
    }
    if (n_lanes > 1) {
        return refuse(COMMTASK_ERR_THREAD_LEVEL,
                      "MPI was initialised with %s, and COMMTASK_LANES=%d needs MPI_THREAD_MULTIPLE: request that in "
                      "MPI_Init_thread, or set COMMTASK_LANES=1",
                      thread_level_text(thread_level), static_cast<int>(n_lanes));
    }
    if (thread_level >= MPI_THREAD_SERIALIZED) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_THREAD_LEVEL,
                  "MPI was initialised with %s, and the worker is a further thread: request MPI_THREAD_SERIALIZED in "
                  "MPI_Init_thread, or MPI_THREAD_MULTIPLE if other threads call MPI",
                  thread_level_text(thread_level));
}

/// @return COMMTASK_OK if the process runs the MPI that the library was built for, otherwise an
/// error code with a message
[[nodiscard]] int check_library() {
    return guarded([] {
        const auto reason = why_mpi_does_not_fit();
        return reason ? refuse(COMMTASK_ERR_MPI_LIBRARY, "%s", reason->c_str()) : static_cast<int>(COMMTASK_OK);
    });
}

/// Whether all ranks run this version. In every version the ranks exchange these two numbers first,
/// since later messages may differ between versions. Collective.
[[nodiscard]] bool collective_has_one_version() {
    constexpr std::int64_t version =
        (COMMTASK_VERSION_MAJOR * 1000 + COMMTASK_VERSION_MINOR) * 1000 + COMMTASK_VERSION_PATCH;
    const std::array<std::int64_t, 2> mine{version, -version};
    std::array<std::int64_t, 2> least{};
    const int code = MPI_Allreduce(mine.data(), least.data(), 2, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    return code != MPI_SUCCESS || least[0] == -least[1]; // an error of MPI is reported later
}

/// The agreement after a step, the same on all ranks.
struct agreement {
    int code;            ///< The worst code of any rank; COMMTASK_OK: all ranks can continue.
    int rank;            ///< The first rank that has this code.
    bool all_keep_stats; ///< Statistics can be gathered.
    bool all_trace;      ///< Clocks can be compared.
    int fewest_lanes;
    int most_lanes;
    bool has_same_doorbells; ///< All ranks have the same doorbell settings.
    bool have_same_table;
    bool lanes_are_independent; ///< True on every rank.
    int n_lanes_with_cores;     ///< The minimum over all ranks.
};

/// A rank's own properties of lanes before the agreement.
struct own_lanes {
    std::int64_t table_sum = 0;
    lane_selection selection;
};

/// COMMTASK_NODE_DOORBELLS, COMMTASK_NODE_RANKS and COMMTASK_NODE_ANNOUNCE_BYTES as one number.
[[nodiscard]] std::int64_t doorbell_settings(const config& settings) {
    return (settings.node_announce_bytes << 24) + settings.node_ranks * 4 +
           static_cast<std::int64_t>(settings.node_doorbells);
}

/// Collective.
[[nodiscard]] agreement collective_agree(int my_code, int me, const config& settings, const own_lanes& lanes) {
    constexpr std::int64_t more_than_ranks = std::int64_t{1} << 32;
    const std::array<std::int64_t, 11> mine{my_code * more_than_ranks + me,
                                            settings.stats != 0 ? 1 : 0,
                                            settings.trace.empty() ? 0 : 1,
                                            settings.lanes,
                                            -settings.lanes,
                                            lanes.table_sum,
                                            -lanes.table_sum,
                                            lanes.selection.are_independent ? 1 : 0,
                                            lanes.selection.n_lanes_with_cores,
                                            doorbell_settings(settings),
                                            -doorbell_settings(settings)};
    std::array<std::int64_t, 11> all{};
    const int code =
        MPI_Allreduce(mine.data(), all.data(), static_cast<int>(all.size()), MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    if (code != MPI_SUCCESS) return {COMMTASK_ERR_MPI_STATE, me, false, false, 1, 1, true, true, false, 1};
    const std::int64_t rank = all[0] & (more_than_ranks - 1);
    return {static_cast<int>((all[0] - rank) / more_than_ranks),
            static_cast<int>(rank),
            all[1] != 0,
            all[2] != 0,
            static_cast<int>(all[3]),
            static_cast<int>(-all[4]),
            all[9] == -all[10],
            all[5] == -all[6],
            all[7] != 0,
            static_cast<int>(all[8])};
}

/// Every rank computes the same result. A rank with invalid settings uses defaults here, and
/// reports its settings as the error.
[[nodiscard]] int check_same(const agreement& agreed, const config& settings) {
    if (agreed.code != COMMTASK_OK) return agreed.code;
    if (!agreed.have_same_table) {
        return refuse(COMMTASK_ERR_CONFIG, "COMMTASK_LANE_TABLE is not set, or its file has other contents, on some "
                                           "ranks: all ranks must have the same table");
    }
    if (!agreed.has_same_doorbells) {
        return refuse(COMMTASK_ERR_CONFIG,
                      "COMMTASK_NODE_DOORBELLS (%s on this rank), COMMTASK_NODE_RANKS (%d) or "
                      "COMMTASK_NODE_ANNOUNCE_BYTES (%d) differs on another rank: all ranks must have the same values",
                      value_text(settings, *find_config_field("COMMTASK_NODE_DOORBELLS")).c_str(),
                      static_cast<int>(settings.node_ranks), static_cast<int>(settings.node_announce_bytes));
    }
    if (settings.node_announce_bytes > 0 && settings.node_doorbells == doorbell_use::off) {
        return refuse(COMMTASK_ERR_CONFIG,
                      "COMMTASK_NODE_ANNOUNCE_BYTES=%d needs doorbells: set COMMTASK_NODE_DOORBELLS=auto",
                      static_cast<int>(settings.node_announce_bytes));
    }
    if (agreed.fewest_lanes == agreed.most_lanes) return COMMTASK_OK;
    return refuse(
        COMMTASK_ERR_CONFIG,
        "COMMTASK_LANES is %d on this rank, and from %d to %d on all ranks: all ranks must have the same number",
        static_cast<int>(settings.lanes), agreed.fewest_lanes, agreed.most_lanes);
}

/// Warns if the table was measured with another MPI. Another machine is no reason: a table of one
/// node serves all nodes of its kind.
void warn_of_other_mpi(const std::string& measured_with) {
    const std::string here = mpi_at_run_time().text();
    if (measured_with.empty() || measured_with == here) return;
    say("warning: COMMTASK_LANE_TABLE was measured with %s, and this is %s, with which lanes may behave differently: "
        "run commtask-info --calibrate with this MPI",
        measured_with.c_str(), here.c_str());
}

/// Reads the table of COMMTASK_LANE_TABLE, and queries whether this rank's MPI serves several lanes
/// in parallel.
[[nodiscard]] int collect_lanes(own_lanes& mine, const config& settings, int rank) {
    const std::string why_not = why_not_lanes(mpi_at_run_time(), static_cast<int>(settings.lanes),
                                              std::getenv(thread_split_variable)); // NOLINT(concurrency-mt-unsafe)
    if (!why_not.empty()) return refuse(COMMTASK_ERR_CONFIG, "%s", why_not.c_str());
    mine.selection.tables.messages = mine.selection.tables.puts = default_table();
    if (settings.lanes > 1) {
        mine.selection.are_independent = lanes_in_this_mpi(static_cast<std::size_t>(settings.lanes)).are_independent;
    }
    if (settings.lane_table.empty()) return COMMTASK_OK;
    lane_table_file found = read_lane_table(settings.lane_table);
    if (!found.why_not.empty()) {
        return refuse(
            COMMTASK_ERR_CONFIG,
            "COMMTASK_LANE_TABLE=%s cannot be used: %s. It must be a file that commtask-info --calibrate wrote",
            settings.lane_table.c_str(), found.why_not.c_str());
    }
    if (rank == 0 && settings.verbose >= 1) warn_of_other_mpi(found.mpi);
    mine.table_sum = found.sum;
    mine.selection.tables = std::move(found.tables);
    mine.selection.is_measured = true;
    return COMMTASK_OK;
}

/// If the ranks of a node cannot agree, the worker shares its core, and the message says why.
/// Collective.
/// @throws std::bad_alloc  on this rank, or on all
[[nodiscard]] rank_placement collective_find_place(const config& settings, const cpu_set& cpus) {
    const errors_return scope;
    node_map map = collective_map_node(MPI_COMM_WORLD, settings, cpus);
    if (map.failure && settings.verbose >= 1) {
        say("warning: %s; the worker shares its core", map.failure->c_str());
    }
    return std::move(map.placements.at(map.me));
}

/// Shared memory for the doorbells of the node, if its ranks need any. Collective; ranks that
/// cannot start take part.
[[nodiscard]] std::unique_ptr<node_segment> collective_find_doorbells(const config& settings,
                                                                      const rank_placement& mine) {
    if (settings.node_doorbells == doorbell_use::off) return nullptr;
    const errors_return scope;
    const bool has_core = mine.idle == idle_policy::reserved;
    opened_segment found = collective_open_segment({.wants = settings.node_doorbells == doorbell_use::on || !has_core,
                                                    .has_core = has_core,
                                                    .n_ranks_per_node = static_cast<int>(settings.node_ranks)},
                                                   doorbells::page_bytes);
    if (found.failure && settings.verbose >= 1)
        say("warning: %s; their workers wait for limited times instead", found.failure->c_str());
    return std::move(found.segment);
}

/// Finds where messages to each rank are announced. Collective, if messages are announced.
/// @return an empty list, which turns announcements off, if no node has a leader, MPI fails, or a
/// rank's memory is exhausted
[[nodiscard]] std::vector<remote_target> collective_find_leaders(const config& settings, const node_segment* node) {
    if (settings.node_announce_bytes == 0) return {};
    const errors_return scope;
    int n_ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    std::vector<remote_target> world;
    try {
        world.resize(static_cast<std::size_t>(n_ranks));
    } catch (const std::bad_alloc&) { // the agreement below tells the other ranks
    }
    const int have_memory = world.empty() ? 0 : 1;
    int all_have = 0;
    MPI_Allreduce(&have_memory, &all_have, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (all_have == 0) return {};
    remote_target mine;
    if (node != nullptr) mine = {node->world_ranks[node->leader], static_cast<std::uint32_t>(node->me)};
    static_assert(sizeof mine == 8);
    if (MPI_Allgather(&mine, 8, MPI_BYTE, world.data(), 8, MPI_BYTE, MPI_COMM_WORLD) != MPI_SUCCESS) return {};
    const bool has_leaders =
        std::ranges::any_of(world, [](const remote_target& each) { return each.leader != remote_target::nobody; });
    if (!has_leaders) world.clear();
    return world;
}

/// Compares the clocks, and makes a number that identifies this run.
[[nodiscard]] std::pair<std::optional<clock_comparison>, std::uint64_t> collective_begin_run(MPI_Comm comm) {
    const errors_return scope;
    std::uint64_t run = now_ns() ^ (static_cast<std::uint64_t>(getpid()) << 40U);
    if (MPI_Bcast(&run, 1, MPI_UINT64_T, 0, comm) != MPI_SUCCESS) return {};
    return {collective_compare_clocks(comm), run};
}

[[nodiscard]] trace_file* open_trace(const config& settings, const rank_placement& place,
                                     const context::agreed_start& start, std::uint64_t run, std::string& why) {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> library{};
    int length = 0;
    trace_plan plan;
    MPI_Get_library_version(library.data(), &length);
    MPI_Comm_size(MPI_COMM_WORLD, &plan.n_ranks);
    plan.folder = settings.trace;
    plan.most_mib = static_cast<std::size_t>(settings.trace_mb);
    plan.keeps_newest = settings.trace_keep == kept_records::newest;
    plan.rank = start.rank;
    plan.session = start.number;
    plan.run = run;
    plan.mpi = library.data();
    plan.n_lanes = static_cast<unsigned>(settings.lanes);
    plan.worker_is_reserved = place.idle == idle_policy::reserved;
    plan.worker_cpu = place.lane_cpus.empty() ? -1 : place.lane_cpus.front();
    return trace_file::open(plan, why);
}

/// All steps that need the other ranks, and the context. @return this rank's code; if it is an
/// error, `made` is null or must be destroyed
[[nodiscard]] int collective_make_context(const config& settings, const cpu_set& cpus, int thread_level,
                                          const agreement& agreed, own_lanes& lanes, context::agreed_start& start,
                                          std::unique_ptr<context>& made) {
    if (agreed.all_keep_stats) start.stats_comm = collective_own_comm(own_comm::statistics);
    std::optional<clock_comparison> clock;
    std::uint64_t run = 0;
    if (agreed.all_trace) {
        start.clock_comm = collective_own_comm(own_comm::clocks);
        if (start.clock_comm != MPI_COMM_NULL) std::tie(clock, run) = collective_begin_run(start.clock_comm);
    }
    rank_placement place;
    int code = guarded([&] {
        place = collective_find_place(settings, cpus);
        if (place.error) return refuse(COMMTASK_ERR_CONFIG, "%s", place.error->c_str());
        const bool have_cores = place.idle == idle_policy::reserved && place.lane_cpus.front() != no_cpu;
        if (have_cores) lanes.selection.n_lanes_with_cores = static_cast<unsigned>(settings.lanes);
        return static_cast<int>(COMMTASK_OK);
    });
    std::unique_ptr<node_segment> node = collective_find_doorbells(settings, place);
    std::vector<remote_target> world = collective_find_leaders(settings, node.get());
    if (!world.empty()) start.announcing_comm = collective_own_comm(own_comm::announcements);
    if (start.announcing_comm == MPI_COMM_NULL) world.clear();
    if (code == COMMTASK_OK)
        code = guarded([&] {
            // This rank has no doorbell: it is alone on its node, has no memory for one, or needs
            // none. Other ranks block until it has announced its messages.
            if (!world.empty() && !node) node = make_own_segment(start.rank, doorbells::page_bytes);
            if (!settings.trace.empty()) {
                std::string why;
                start.trace = open_trace(settings, place, start, run, why);
                if (start.trace == nullptr) return refuse(COMMTASK_ERR_CONFIG, "%s", why.c_str());
            }
            made = std::make_unique<context>(settings, thread_level, std::move(place), start, std::move(node),
                                             std::move(world));
            if (clock) record_clock(made->trace_if_kept()->records(), *clock, false);
            return static_cast<int>(COMMTASK_OK);
        });
    return code;
}

/// A forked child has no worker: the end of the process, for example by exit(), must not wait for
/// one. A child must not write to its parent's trace either.
void leave_child_alone() noexcept {
    static const int is_hooked = pthread_atfork(nullptr, nullptr, [] {
        tracer::end();
        if (context* const parents = context::running()) {
            for (lane& each : parents->lanes()) each.wake_up.leave_shared_memory();
        }
        context::set_running(nullptr);
        context::open();
    });
    static_cast<void>(is_hooked);
}

} // namespace

int refuse_with_all(int worst_code, int its_rank, int my_code) noexcept {
    if (my_code != COMMTASK_OK) return my_code;
    return refuse(worst_code, "rank %d could not start: %s", its_rank, commtask_error_string(worst_code));
}

/// After every step that can fail on one rank, all ranks agree whether to continue. If one rank
/// returned alone, for example for a wrong variable, the other ranks would block in a collective
/// call for ever.
start_outcome collective_start(const commtask_config* given) {
    if (context::running() != nullptr) {
        return {refuse(COMMTASK_ERR_ALREADY_INITIALIZED, "commtask_init was called before"), false, 0};
    }
    const int library_code = check_library();
    const bool is_other_mpi = library_code == COMMTASK_ERR_MPI_LIBRARY;
    const bool has_mpi = !is_other_mpi && check_mpi() == COMMTASK_OK;
    int rank = 0;
    int thread_level = MPI_THREAD_SINGLE;
    if (has_mpi) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Query_thread(&thread_level);
        set_log_rank(rank);
    }
    const bool has_one_version = !has_mpi || collective_has_one_version();
    config settings;
    cpu_set cpus;
    int code = guarded([&] {
        cpus = process_cpus();
        return collect_settings(settings, given, has_mpi && rank == 0);
    });
    if (!has_mpi) { // once more, for its error message
        return {is_other_mpi ? check_library() : check_mpi(), true, settings.verbose};
    }
    if (!has_one_version) {
        const int refused =
            refuse(COMMTASK_ERR_CONFIG,
                   "another rank runs another version of commtask than %d.%d.%d: all ranks must run the same version",
                   COMMTASK_VERSION_MAJOR, COMMTASK_VERSION_MINOR, COMMTASK_VERSION_PATCH);
        return {refused, rank == 0, settings.verbose};
    }
    if (code == COMMTASK_OK) code = library_code;
    if (code == COMMTASK_OK) code = check_thread_level(thread_level, settings.lanes, settings.node_announce_bytes > 0);
    own_lanes lanes;
    if (code == COMMTASK_OK) code = guarded([&] { return collect_lanes(lanes, settings, rank); });
    agreement agreed = collective_agree(code, rank, settings, lanes);
    if (agreed.code == COMMTASK_OK) agreed.code = code = guarded([&] { return check_same(agreed, settings); });
    static int n_sessions = 0;
    context::agreed_start start{rank, ++n_sessions % 32768};
    std::unique_ptr<context> made;
    if (agreed.code == COMMTASK_OK) {
        code = collective_make_context(settings, cpus, thread_level, agreed, lanes, start, made);
        agreed = collective_agree(code, rank, settings, lanes);
    }
    if (agreed.code != COMMTASK_OK) {
        if (start.trace != nullptr) start.trace->remove(made != nullptr);
        made.reset();
        return {refuse_with_all(agreed.code, agreed.rank, code), agreed.rank == rank, settings.verbose};
    }
    lanes.selection.are_independent = agreed.lanes_are_independent;
    lanes.selection.n_lanes_with_cores = static_cast<unsigned>(agreed.n_lanes_with_cores);
    made->select_lanes(std::move(lanes.selection));
    context::set_running(made.release());
    context::open();
    leave_child_alone();
    return {COMMTASK_OK, false, settings.verbose};
}

int conclude_init(const start_outcome& how) noexcept {
    if (how.code != COMMTASK_ERR_ALREADY_INITIALIZED) remember_init(how.code);
    if (how.has_reason && how.verbose >= 1) say("commtask_init was refused: %s", last_message());
    return how.code;
}

} // namespace commtask::detail

using namespace commtask::detail;

int commtask_runtime_init(const commtask_config* given) noexcept { return conclude_init(collective_start(given)); }

int commtask_is_initialized(void) noexcept { return context::current() != nullptr ? 1 : 0; }

int commtask_runtime_finalize() noexcept {
    context* const mine = context::running();
    if (mine == nullptr) return refuse_without_runtime();
    if (in_progress_call()) {
        return refuse(COMMTASK_ERR_WORKER_THREAD, "commtask_finalize was called on the worker, from a callback");
    }
    const context::drained how = mine->drain();
    if (how == context::drained::not_at_all) {
        return conclude_failures(
            refuse(COMMTASK_ERR_UNFINISHED,
                   "the worker is inside a function of the program that does not return; incomplete tasks remain"));
    }
    delete mine;
    if (how == context::drained::completely) return conclude_failures(COMMTASK_OK);
    return conclude_failures(
        refuse(COMMTASK_ERR_UNFINISHED, "some tasks could not complete and were abandoned; stderr has the list"));
}

int commtask_get_info(commtask_info* info) noexcept {
    context* const mine = context::current();
    if (mine == nullptr) return refuse_without_runtime();
    if (info == nullptr || info->struct_size == 0) {
        return refuse(COMMTASK_ERR_ARGUMENT, "info is null, or its struct_size is not set");
    }
    commtask_info full{};
    full.struct_size = info->struct_size;
    full.lanes = static_cast<unsigned>(mine->lanes().size());
    full.worker_cpu = mine->placement().lane_cpus.empty() ? -1 : mine->placement().lane_cpus.front();
    full.worker_is_reserved = mine->waiting().worker_is_reserved ? 1 : 0;
    full.thread_level = mine->thread_level();
    full.has_large_counts = has_large_counts ? 1 : 0;
    full.tag_upper_bound = mine->comms().tag_upper_bound();
    // Reads that cache line only on request: progress threads write it, and front ends call this
    // function before every task.
    if (info->struct_size > offsetof(commtask_info, n_tasks_ended)) full.n_tasks_ended = mine->lanes().approx_ended();
    full.rank = mine->rank();
    full.task_bytes = task_pool::slot_count() * sizeof(task);
    std::memcpy(info, &full, std::min(sizeof full, info->struct_size));
    return COMMTASK_OK;
}
