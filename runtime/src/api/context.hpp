// SPDX-License-Identifier: Apache-2.0
//
// One initialised runtime: configuration, placement on the node, lanes, workers, watchdog. A
// context owns all state between commtask_init and commtask_finalize. The only global is the
// pointer to it.
#pragma once

#include "api/failures.hpp"
#include "api/lane_selection.hpp"
#include "api/listener.hpp"
#include "api/plan_registry.hpp"
#include "config/config.hpp"
#include "core/lane_set.hpp"
#include "core/progress_watch.hpp"
#include "core/waiting.hpp"
#include "doorbell/announcements.hpp"
#include "doorbell/node_ringer.hpp"
#include "doorbell/node_segment.hpp"
#include "mpi/comms.hpp"
#include "mpi/errors.hpp"
#include "mpi/kept_handles.hpp"
#include "mpi/transport.hpp"
#include "mpi/windows.hpp"
#include "node/affinity.hpp"
#include "node/node_map.hpp"
#include "report/statistics.hpp"
#include "report/trace.hpp"
#include "report/watchdog.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace commtask::detail {

class context {
public:
    /// The values on which all ranks agreed when the runtime started.
    struct agreed_start {
        int rank = 0;
        int number = 0;
        /// Duplicate for the statistics; null unless every rank collects statistics.
        MPI_Comm stats_comm = MPI_COMM_NULL;
        /// Duplicate for comparing clocks; null unless every rank writes a trace.
        MPI_Comm clock_comm = MPI_COMM_NULL;
        /// Duplicate for announcements; null unless messages to other nodes are announced.
        MPI_Comm announcing_comm = MPI_COMM_NULL;
        trace_file* trace = nullptr; ///< Null without COMMTASK_TRACE.
    };

    /// Precondition: MPI is initialised with a sufficient thread level.
    /// @param node  null: the ranks of the node have no doorbells
    /// @param world  by rank in MPI_COMM_WORLD, where messages to that rank are announced; empty:
    /// messages are not announced
    /// @throws std::bad_alloc, std::system_error
    context(config settings, int thread_level, rank_placement placement, const agreed_start& of,
            std::unique_ptr<node_segment> node, std::vector<remote_target> world);
    context(const context&) = delete;
    context& operator=(const context&) = delete;
    /// Stops the workers. Call drain() first.
    ~context();

    /// Any thread. Like lane_set::set_at_work(); in addition lends the core of a lane that has no
    /// worker yet.
    void set_lanes_at_work(std::size_t n_lanes) noexcept;

    /// The result of drain().
    enum class drained : std::uint8_t {
        completely, ///< Every task has ended.
        by_force,   ///< Some tasks could not end, and were abandoned.
        /// A progress thread does not return from a function of the program or from MPI. The
        /// context must not be destroyed.
        not_at_all,
    };
    /// Waits until every task has ended, or abandons the tasks that cannot end. Every wait has a
    /// limit unless COMMTASK_FINALIZE_TIMEOUT_S is 0.
    [[nodiscard]] drained drain() noexcept;

    /// Under commtask-run, at the program's commtask_finalize: like drain(), for the program's
    /// tasks only, while the interposer goes on using the runtime. From here on current() returns
    /// null.
    [[nodiscard]] drained end_use(std::uint64_t limit_ns, std::int64_t verbose) noexcept;
    /// Under commtask-run: abandons the context if a progress thread does not return from a
    /// function of the program or from MPI within `limit_ns`.
    /// @return whether the context was abandoned, as after drained::not_at_all
    [[nodiscard]] bool abandon_if_stuck(std::uint64_t limit_ns, std::int64_t verbose) noexcept;

    /// Keeps the context alive during a call that may be concurrent with commtask_finalize.
    class visit {
    public:
        visit() noexcept {
            for (bool is_counted = false; !is_counted;) {
                count_ = n_visits_.load(std::memory_order_seq_cst);
                // seq_cst, before the loads below. Partner: close() calls hide() before it loads
                // the counter.
                count_->fetch_add(1, std::memory_order_seq_cst);
                is_counted = n_visits_.load(std::memory_order_seq_cst) == count_;
                // abandon() has replaced the counter in between.
                if (!is_counted) count_->fetch_sub(1, std::memory_order_relaxed);
            }
            is_open_ = current_.load(std::memory_order_seq_cst) != nullptr;
        }
        visit(const visit&) = delete;
        visit& operator=(const visit&) = delete;
        /// release: partner of the load in close().
        ~visit() { count_->fetch_sub(1, std::memory_order_release); }
        /// Whether there is a context.
        [[nodiscard]] bool is_open() const noexcept { return is_open_; }

    private:
        std::atomic<int>* count_ = nullptr;
        bool is_open_ = false;
    };

    /// Any thread. Registers the communicator if necessary. @return its queue; null if `comm` is
    /// not a communicator, with an error code and a message
    /// @param lane  the lane for a communicator that has none yet
    [[nodiscard]] comm_queue* queue_of(MPI_Comm comm, int& code, int lane = mpi_comms::any_lane) noexcept {
        comm_queue* const known = comms_.find(comm);
        return known != nullptr ? known : register_comm(comm, code, lane);
    }

    /// Like queue_of(), but does not wait for the worker: `code` is AGAIN until the worker has
    /// registered a new communicator.
    [[nodiscard]] comm_queue* try_queue_of(MPI_Comm comm, int& code) noexcept {
        comm_queue* const known = comms_.find(comm);
        return known != nullptr ? known : try_register_comm(comm, code);
    }

    [[nodiscard]] const config& settings() const noexcept { return settings_; }
    /// The stack size of threads that run functions of the program.
    [[nodiscard]] std::size_t stack_bytes() const noexcept {
        return stack_for_functions_bytes(static_cast<std::size_t>(settings_.stack_kib) * 1024U);
    }
    [[nodiscard]] const rank_placement& placement() const noexcept { return placement_; }
    /// A different number for every commtask_init.
    [[nodiscard]] int session_number() const noexcept { return start_.number; }
    [[nodiscard]] int rank() const noexcept { return start_.rank; }
    [[nodiscard]] int thread_level() const noexcept { return thread_level_; }
    [[nodiscard]] lane_set& lanes() noexcept { return lanes_; }
    /// Null without COMMTASK_STATS.
    [[nodiscard]] statistics* statistics_if_kept(const lane& of) noexcept {
        return statistics_.empty() ? nullptr : statistics_[of.number()].get();
    }
    /// Null without COMMTASK_TRACE.
    [[nodiscard]] task_trace* trace_if_kept() noexcept { return trace_.get(); }
    /// Whether there are statistics or a trace.
    [[nodiscard]] bool has_observers() const noexcept { return has_observers_; }
    /// Called before current() returns this context.
    void select_lanes(lane_selection by) noexcept { selection_ = std::move(by); }
    [[nodiscard]] const lane_selection& selection() const noexcept { return selection_; }
    [[nodiscard]] mpi_comms& comms() noexcept { return comms_; }
    [[nodiscard]] mpi_windows& windows() noexcept { return windows_; }
    [[nodiscard]] kept_handles& handles() noexcept { return handles_; }
    /// Whether the calling thread may call MPI now, independent of other threads.
    [[nodiscard]] bool may_call_mpi() const noexcept {
        return thread_level_ == MPI_THREAD_MULTIPLE || in_progress_call() || lanes_.has_lock();
    }
    [[nodiscard]] plan_registry& plans() noexcept { return plans_; }
    [[nodiscard]] listener_registry& listeners() noexcept { return listeners_; }
    [[nodiscard]] waiting_policy waiting() const noexcept {
        return {placement_.idle == idle_policy::reserved, static_cast<std::uint64_t>(settings_.spin_us) * 1000U};
    }

    /// Whether a waiting thread makes progress itself: the worker has no core of its own, or cannot
    /// make progress now.
    [[nodiscard]] bool should_make_progress() const noexcept {
        return !waiting().worker_is_reserved || lanes_.are_paused() || lanes_.has_lock();
    }

    /// The doorbells by which the ranks of the node wake each other's workers; null if there are
    /// none.
    [[nodiscard]] const doorbells* bells() const noexcept { return bells_.get(); }

    /// The context between the program's commtask_init and commtask_finalize, or null.
    [[nodiscard]] static context* current() noexcept { return current_.load(std::memory_order_acquire); }
    /// The context that runs, or null. Under commtask-run it exists from MPI_Init to MPI_Finalize.
    [[nodiscard]] static context* running() noexcept { return running_.load(std::memory_order_acquire); }

    static void set_running(context* next) noexcept { running_.store(next, std::memory_order_release); }
    /// From here on current() returns running().
    static void open() noexcept { current_.store(running(), std::memory_order_release); }
    /// From here on current() returns null.
    static void hide() noexcept;
    /// Like hide(), and waits until no thread is in a visit to the previous context.
    static void close() noexcept;

private:
    [[nodiscard]] lane_settings lane_plan();
    [[nodiscard]] worker_settings worker_plan(std::size_t lane);
    void start_lane(std::size_t lane);
    [[nodiscard]] bool has_core_to_lend(std::size_t lane) const noexcept;
    void lend_core(std::size_t lane, bool is_lent) noexcept;
    void take_back_cores() noexcept;
    void tell_of_start();
    [[nodiscard]] watchdog_settings watchdog_plan() const;
    [[nodiscard]] std::vector<incomplete_line> list_elsewhere();
    void hook_mpi_finalize() noexcept;
    /// Selects the tasks to abandon.
    struct abandoned_tasks {
        task_filter whose;
        task_filter listed;
        std::int64_t verbose;
    };
    [[nodiscard]] bool abandon_tasks(const abandoned_tasks& of) noexcept;
    [[nodiscard]] drained abandon(std::uint64_t limit_ns, progress_watch& passes, std::int64_t verbose) noexcept;
    /// Posts a control task, whether or not the program uses the library.
    [[nodiscard]] int post_own(commtask_op op, const commtask_options* options, commtask_t* task) noexcept;
    [[nodiscard]] comm_queue* register_comm(MPI_Comm comm, int& code, int lane) noexcept;
    [[nodiscard]] comm_queue* try_register_comm(MPI_Comm comm, int& code) noexcept;
    void say_registered_windows() noexcept;
    void print_stats(drained how) noexcept;
    [[nodiscard]] std::string stats_table(drained how);
    void end_trace(drained how) noexcept;
    void start_announcing();
    [[nodiscard]] std::vector<lane_doorbell> make_ringers();
    [[nodiscard]] mpi_comms::find_peers_function peer_finder() const;
    [[nodiscard]] std::uint64_t other_ranks_limit_ns() const noexcept;

    static std::atomic<context*> current_;
    static std::atomic<context*> running_;
    static std::atomic<int> first_visits_;
    /// Counts the threads that are in a visit; abandon() replaces it.
    static std::atomic<std::atomic<int>*> n_visits_;

    const config settings_;
    const int thread_level_;
    const agreed_start start_;
    mpi_error_handling errors_;
    task_failures failures_;
    const rank_placement placement_;
    /// Guards has_worker() of the lanes. The context lends the core of a lane without a worker; a
    /// worker lends its core itself.
    std::mutex starting_;
    std::mutex lending_; ///< Guards narrowing_ and lent_.
    process_narrowing narrowing_;
    cpu_set lent_; ///< Cores of idle lanes, which the program's threads may use.
    lane_selection selection_;
    /// By lane; empty without COMMTASK_STATS.
    const std::vector<std::unique_ptr<statistics>> statistics_;
    const std::unique_ptr<task_trace> trace_; ///< Null without COMMTASK_TRACE.
    const std::unique_ptr<node_segment> segment_;
    const std::unique_ptr<doorbells> bells_; ///< In segment_.
    /// By rank in MPI_COMM_WORLD; empty: messages are not announced.
    const std::vector<remote_target> remote_targets_;
    const bool has_observers_;
    kept_handles handles_;
    std::deque<mpi_transport> transports_; ///< By lane.
    std::deque<node_ringer> ringers_;      ///< By lane; empty without doorbells.
    lane_set lanes_;
    mpi_comms comms_;
    mpi_windows windows_;
    plan_registry plans_;
    listener_registry listeners_;
    watchdog watchdog_;
    int finalize_keyval_ = MPI_KEYVAL_INVALID;
    /// Tasks were abandoned, and MPI may still write to their memory.
    bool has_abandoned_tasks_ = false;
};

} // namespace commtask::detail
