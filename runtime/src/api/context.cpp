// SPDX-License-Identifier: Apache-2.0
//
// Start and end of a runtime. The members are declared in the order in which they must be
// constructed. Error handling is set up before the first MPI call. Compute threads leave the
// worker's core before the worker runs there. The worker starts last and ends first.
#include "api/context.hpp"

#include "base/last_error.hpp"
#include "base/log.hpp"
#include "core/operation_traits.hpp"
#include "doorbell/peers.hpp"
#include "mpi/clock.hpp"
#include "mpi/describe.hpp"
#include "mpi/identity.hpp"
#include "mpi/network_contexts.hpp"
#include "report/gather.hpp"
#include "report/stats_table.hpp"

#include <commtask/commtask.h>
#include <commtask/frontend.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace commtask::detail {
namespace {

/// One function for the process, since a front end is loaded once.
std::atomic<commtask_frontend_list> source_elsewhere{nullptr};

[[nodiscard]] std::string_view name_of_kind(int kind) { return operation_of(kind).name; }

[[nodiscard]] std::vector<std::unique_ptr<statistics>> make_statistics(const config& settings) {
    std::vector<std::unique_ptr<statistics>> made(settings.stats != 0 ? static_cast<std::size_t>(settings.lanes) : 0);
    for (auto& each : made) each = std::make_unique<statistics>();
    return made;
}

[[nodiscard]] std::deque<mpi_transport> make_transports(const config& settings) {
    std::deque<mpi_transport> made;
    for (std::int64_t i = 0; i < settings.lanes; ++i) made.emplace_back(static_cast<std::size_t>(settings.test_window));
    return made;
}

[[nodiscard]] std::unique_ptr<doorbells> make_doorbells(const node_segment* of, const config& settings, bool is_told) {
    if (of == nullptr) return nullptr;
    return std::make_unique<doorbells>(of->begin(), of->world_ranks, of->me, static_cast<std::size_t>(settings.lanes),
                                       is_told ? of->leader : doorbells::nobody);
}

[[nodiscard]] int number_of(report_signal chosen) noexcept {
    if (chosen == report_signal::none) return 0;
    return chosen == report_signal::usr1 ? SIGUSR1 : SIGUSR2;
}

[[nodiscard]] std::vector<transport*> as_carriers(std::deque<mpi_transport>& of) {
    std::vector<transport*> all;
    for (mpi_transport& each : of) all.push_back(&each);
    return all;
}

[[nodiscard]] std::vector<task_observer*> as_observers(const std::vector<std::unique_ptr<statistics>>& of) {
    std::vector<task_observer*> all;
    for (const auto& each : of) all.push_back(each.get());
    return all;
}

} // namespace

std::atomic<context*> context::current_{nullptr};
std::atomic<context*> context::running_{nullptr};
std::atomic<int> context::first_visits_{0};
std::atomic<std::atomic<int>*> context::n_visits_{&context::first_visits_};

context::context(config settings, int thread_level, rank_placement placement, const agreed_start& of,
                 std::unique_ptr<node_segment> node, std::vector<remote_target> world)
    : settings_(std::move(settings)), thread_level_(thread_level), start_(of), placement_(std::move(placement)),
      narrowing_(placement_.all_cpus, placement_.compute_cpus), statistics_(make_statistics(settings_)),
      trace_(of.trace != nullptr ? std::make_unique<task_trace>(*of.trace) : nullptr), segment_(std::move(node)),
      bells_(make_doorbells(segment_.get(), settings_, !world.empty())), remote_targets_(std::move(world)),
      has_observers_(!statistics_.empty() || trace_), transports_(make_transports(settings_)),
      lanes_(as_carriers(transports_), lane_plan(), as_observers(statistics_), make_ringers()),
      comms_(
          errors_, lanes_, [this](std::size_t lane) { start_lane(lane); }, peer_finder()),
      watchdog_(lanes_, watchdog_plan()) {
    if (!comms_.is_ready()) throw std::bad_alloc{};
    for (mpi_transport& each : transports_) {
        each.use_windows(windows_);
        each.use_handles(handles_);
    }
    windows_.on_early_free = [](void* self) { static_cast<context*>(self)->lanes_[0].count_windows(-1); };
    windows_.on_early_free_argument = this;
    start_announcing();
    lanes_.start_worker(0, worker_plan(0));
    tell_of_start();
    hook_mpi_finalize(); // last: MPI keeps the address, and nothing throws any more
}

std::vector<lane_doorbell> context::make_ringers() {
    std::vector<lane_doorbell> made;
    for (std::size_t lane = 0; bells_ && lane < transports_.size(); ++lane) {
        ringers_.emplace_back(*bells_, transports_[lane], lane, settings_.node_announce_bytes);
        made.push_back({&ringers_.back(), &bells_->my_word(lane)});
    }
    return made;
}

mpi_comms::find_peers_function context::peer_finder() const {
    if (!bells_) return {};
    return [this](MPI_Comm comm, bool is_intercommunicator) {
        return peers_of(comm, is_intercommunicator, *bells_, !remote_targets_.empty());
    };
}

/// The first lane of the node leader receives the announcements.
void context::start_announcing() {
    if (remote_targets_.empty()) return;
    const errors_return scope;
    for (std::size_t lane = 0; lane < ringers_.size(); ++lane) {
        const bool listens = lane == 0 && bells_->am_leader();
        ringers_[lane].announce_by(std::make_unique<announcements>(start_.announcing_comm, start_.number,
                                                                   remote_targets_, listens ? bells_.get() : nullptr));
    }
    if (settings_.verbose >= 2 && bells_ && bells_->am_leader()) say("receives announcements of messages for its node");
}

void context::tell_of_start() {
    const bool warns_of_sharing = placement_.is_warning && start_.rank == 0 && settings_.verbose >= 1;
    if (warns_of_sharing) say("warning: %s", placement_.reason.c_str());
    if (!warns_of_sharing && settings_.verbose >= 2) say("%s", placement_.reason.c_str());
    if (settings_.verbose >= 1) {
        if (const auto trouble = foreign_launcher()) say("warning: %s", trouble->c_str());
        if (const auto advice = openmp_started_too_early(placement_)) say("warning: %s", advice->c_str());
    }
    if (settings_.verbose >= 1 && start_.rank == 0 && lanes_.size() > 1) {
        say("%s", lanes_in_this_mpi(lanes_.size()).message.c_str());
    }
}

/// Called when the first communicator of a lane is added. Lane 0 has its worker from the start.
void context::start_lane(std::size_t lane) {
    if (lane == 0) return;
    const std::lock_guard guard{starting_};
    if (lanes_.has_worker(lane)) return;
    worker_settings plan = worker_plan(lane);
    if (plan.lend_core) lend_core(lane, false);
    lanes_.start_worker(lane, std::move(plan));
}

void context::set_lanes_at_work(std::size_t n_lanes) noexcept {
    const std::lock_guard guard{starting_};
    lanes_.set_at_work(n_lanes);
    for (std::size_t lane = 1; lane < lanes_.size(); ++lane) {
        if (!lanes_.has_worker(lane) && has_core_to_lend(lane)) lend_core(lane, lane >= n_lanes);
    }
}

/// Whether the lane's worker has a core that no compute thread uses.
bool context::has_core_to_lend(std::size_t lane) const noexcept {
    const int core = placement_.lane_cpus[lane];
    return core != no_cpu && !placement_.compute_cpus.contains(core);
}

lane_settings context::lane_plan() {
    lane_settings plan;
    plan.queue_capacity = static_cast<std::size_t>(settings_.queue_capacity);
    plan.callback_limit_ns = static_cast<std::uint64_t>(settings_.callback_limit_us) * 1000U;
    plan.warns = settings_.verbose >= 1;
    plan.has_heavy_barrier = register_heavy_barrier();
    plan.failures = &failures_;
    plan.submitters_start = placement_.idle != idle_policy::reserved;
    if (trace_) {
        plan.observers.push_back(trace_.get());
        plan.activities = &trace_->records();
    }
    plan.elsewhere.list = [this] { return list_elsewhere(); };
    plan.elsewhere.count = [] {
        // acquire: partner of the release in commtask_frontend_set_list().
        const commtask_frontend_list source = source_elsewhere.load(std::memory_order_acquire);
        return source == nullptr ? 0U : source(nullptr, nullptr);
    };
    return plan;
}

/// Lists the operations that a front end has not posted yet.
std::vector<incomplete_line> context::list_elsewhere() {
    struct list {
        context& of;
        std::vector<incomplete_line> lines;
    } made{*this, {}};
    // acquire: partner of the release in commtask_frontend_set_list().
    const commtask_frontend_list source = source_elsewhere.load(std::memory_order_acquire);
    if (source == nullptr) return {};
    const auto add = [](void* to, const commtask_op* op, std::uint64_t since_ns, const char* file, int line,
                        const char* where) {
        auto& mine = *static_cast<list*>(to);
        const comm_queue* const queue = mine.of.comms_.find(op->comm);
        try {
            mine.lines.push_back({since_ns, describe(*op, true) + (queue == nullptr ? "" : ", " + queue->name) +
                                                describe(source_location{file, line}) + "; " + where});
        } catch (const std::bad_alloc&) { // omit the line: the front end has locked its mutex
        }
    };
    source(+add, &made);
    return std::move(made.lines);
}

watchdog_settings context::watchdog_plan() const {
    watchdog_settings plan;
    plan.stall_ns = static_cast<std::uint64_t>(settings_.stall_s * 1e9);
    if (settings_.verbose < 1) plan.hint_ns = 0;
    plan.signal = number_of(settings_.signal);
    plan.pause_signal = number_of(settings_.pause_signal);
    plan.pause_file = settings_.pause_file;
    plan.warns = settings_.verbose >= 2;
    plan.kind_name = &name_of_kind;
    return plan;
}

worker_settings context::worker_plan(std::size_t lane) {
    worker_settings plan;
    plan.is_reserved = placement_.idle == idle_policy::reserved;
    plan.spin_ns = static_cast<std::uint64_t>(settings_.spin_us) * 1000U;
    plan.wait_max_ns = static_cast<std::uint64_t>(settings_.wait_max_us) * 1000U;
    plan.stack_bytes = stack_bytes();
    if (!statistics_.empty()) plan.counters = &statistics_[lane]->counters();
    if (has_core_to_lend(lane)) {
        if (lane > 0) plan.lend_after_ns = static_cast<std::uint64_t>(settings_.lane_idle_s * 1e9);
        plan.lend_core = [this, lane](bool is_lent) { lend_core(lane, is_lent); };
    }
    plan.on_start = [this, lane] {
        const std::error_code failure = bind_worker(placement_, lane);
        if (failure && settings_.verbose >= 1) {
            say("warning: the worker could not be bound: %s", failure.message().c_str());
        }
    };
    return plan;
}

context::~context() {
    close();
    set_running(nullptr);
    lanes_.stop_workers();
    for (node_ringer& each : ringers_) each.end();
    take_back_cores();
    say_registered_windows();
    plans_.forget_all();
    listeners_.forget_all(has_abandoned_tasks_);
    if (finalize_keyval_ == MPI_KEYVAL_INVALID) return;
    const errors_return scope;
    // This deletion of the attribute must not be taken for the one in MPI_Finalize.
    int keyval = std::exchange(finalize_keyval_, MPI_KEYVAL_INVALID);
    MPI_Comm_delete_attr(MPI_COMM_SELF, keyval);
    MPI_Comm_free_keyval(&keyval);
}

/// The epochs of these windows stay open. Ending an epoch needs the other ranks, for which
/// commtask_finalize does not wait.
void context::say_registered_windows() noexcept {
    if (settings_.verbose < 1) return;
    try {
        for (const std::string& name : windows_.names()) {
            say("warning: %s is still registered at commtask_finalize: commtask_win_unregister ends its epoch",
                name.c_str());
        }
    } catch (const std::bad_alloc&) { // no memory for the warning
    }
}

/// MPI_Finalize deletes the attributes of MPI_COMM_SELF first: this is the last moment at which
/// tasks can complete.
void context::hook_mpi_finalize() noexcept {
    const auto on_delete = [](MPI_Comm, int, void*, void* self) -> int {
        auto* const mine = static_cast<context*>(self);
        if (context::running() != mine || mine->finalize_keyval_ == MPI_KEYVAL_INVALID) return MPI_SUCCESS;
        mine->finalize_keyval_ = MPI_KEYVAL_INVALID;
        say("warning: MPI_Finalize was called before commtask_finalize; finalizing commtask now");
        commtask_finalize();
        return MPI_SUCCESS;
    };
    int keyval = MPI_KEYVAL_INVALID;
    if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, +on_delete, &keyval, this) != MPI_SUCCESS) return;
    if (MPI_Comm_set_attr(MPI_COMM_SELF, keyval, this) == MPI_SUCCESS) finalize_keyval_ = keyval;
}

void context::hide() noexcept { current_.store(nullptr, std::memory_order_seq_cst); }

void context::close() noexcept {
    hide();
    // acquire: partner of the release in ~visit().
    const std::atomic<int>& n_visits = *n_visits_.load(std::memory_order_seq_cst);
    while (n_visits.load(std::memory_order_seq_cst) > 0) sched_yield();
}

/// The time for which commtask_finalize waits for messages from other ranks, which may have ended.
std::uint64_t context::other_ranks_limit_ns() const noexcept {
    constexpr double longest_s = 10;
    const double limit_s = settings_.finalize_timeout_s;
    return static_cast<std::uint64_t>((limit_s > 0 ? std::min(limit_s, longest_s) : longest_s) * 1e9);
}

void context::print_stats(drained how) noexcept {
    if (statistics_.empty()) return;
    try {
        std::fputs(stats_table(how).c_str(), stderr);
    } catch (const std::bad_alloc&) {
        say("no memory to gather the statistics");
    }
}

/// After tasks were abandoned, each rank prints its own table: MPI may be unable to transfer
/// messages, and the other ranks must not wait for this one.
std::string context::stats_table(drained how) {
    const errors_return scope;
    gathered_stats found;
    std::vector<lane_stats> mine;
    for (const auto& each : statistics_) {
        mine.push_back(each->collected());
        if (const node_observer* const node = lanes_[mine.size() - 1].node()) mine.back().rang = node->n_rung();
    }
    if (how == drained::completely && start_.stats_comm != MPI_COMM_NULL) {
        found = gather_stats(start_.stats_comm, start_.number, mine, other_ranks_limit_ns());
        if (found.stats.empty()) return {}; // another rank prints the table
    } else {
        MPI_Comm_size(MPI_COMM_WORLD, &found.n_ranks);
        found.stats = std::move(mine);
        found.ranks = {start_.rank};
    }
    std::array<std::string_view, stats_kind_count> names{};
    static_assert(operation_table.size() <= stats_kind_count);
    for (std::size_t kind = 0; kind < operation_table.size(); ++kind) names[kind] = operation_table[kind].name;
    return format_stats(found.stats, found.ranks, found.n_ranks, names);
}

void context::end_trace(drained how) noexcept {
    if (!trace_) return;
    std::optional<clock_comparison> clock;
    if (how == drained::completely && start_.clock_comm != MPI_COMM_NULL) {
        clock = compare_clocks_at_end(start_.clock_comm, start_.number, other_ranks_limit_ns());
        if (clock) record_clock(trace_->records(), *clock, true);
    }
    trace_->end(how == drained::completely ? trace::file_state::ended : trace::file_state::abandoned);
    const trace_file& file = *start_.trace;
    if (settings_.verbose >= 1 && file.n_lost() > 0) {
        say("warning: the trace has no space for %llu records, %s; %s", static_cast<unsigned long long>(file.n_lost()),
            settings_.trace_keep == kept_records::oldest ? "the last ones" : "the first ones of its threads",
            file.is_disk_full() ? "the disk of COMMTASK_TRACE is full" : "a larger COMMTASK_TRACE_MB gives it more");
    }
    if (settings_.verbose >= 2) {
        say("the trace is in %s%s", file.path().c_str(),
            clock || start_.rank == 0 ? "" : "; its clock was not compared with rank 0's at the end");
    }
}

} // namespace commtask::detail

void commtask_frontend_set_list(commtask_frontend_list source) noexcept {
    // release: partner of the acquires above. From here on the library may call the front end.
    commtask::detail::source_elsewhere.store(source, std::memory_order_release);
}

void commtask_print(const char* message) noexcept {
    const std::string_view given = message;
    const std::string_view whole = commtask::detail::log_prefix(); // for example "commtask: rank 1: "
    constexpr std::string_view name = "commtask: ";
    commtask::detail::say("%s", message + (given.starts_with(whole)  ? whole.size()
                                           : given.starts_with(name) ? name.size()
                                                                     : 0));
}
