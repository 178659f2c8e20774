// SPDX-License-Identifier: Apache-2.0
//
// One initialised runtime: configuration, place on the node, MPI, lane, worker, watchdog. Everything that the library
// knows between commtask_init and commtask_finalize is in here; the only global is the pointer to it.
#pragma once

#include "affinity.hpp"
#include "config.hpp"
#include "lane.hpp"
#include "mpi_comms.hpp"
#include "mpi_errors.hpp"
#include "mpi_node.hpp"
#include "mpi_transport.hpp"
#include "watchdog.hpp"
#include "worker.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace commtask::detail {

class context {
public:
    /// Collective over MPI_COMM_WORLD. MPI is initialised with a sufficient thread level.
    /// @throws std::bad_alloc, std::system_error
    context(config settings, int thread_level);
    context(const context&) = delete;
    context& operator=(const context&) = delete;
    /// Stops the worker; drain() comes first.
    ~context();

    /// Waits until every task has ended, or gives up those that cannot.
    /// @return whether all ended.
    bool drain();

    /// Any thread. The queue of a communicator, registering it if need be; null with a code and a sentence if it is none.
    [[nodiscard]] comm_queue* queue_of(MPI_Comm comm, int& code) noexcept {
        comm_queue* const known = comms_.find(comm);
        return known != nullptr ? known : register_comm(comm, code);
    }

    /// The same, without waiting for the worker: AGAIN until it has seen a new communicator.
    [[nodiscard]] comm_queue* try_queue_of(MPI_Comm comm, int& code) noexcept {
        comm_queue* const known = comms_.find(comm);
        return known != nullptr ? known : try_register_comm(comm, code);
    }

    [[nodiscard]] const config& settings() const noexcept { return settings_; }
    [[nodiscard]] const rank_place& place() const noexcept { return place_; }
    [[nodiscard]] int thread_level() const noexcept { return thread_level_; }
    [[nodiscard]] lane& main_lane() noexcept { return lane_; }
    [[nodiscard]] mpi_comms& comms() noexcept { return comms_; }
    [[nodiscard]] waiting_policy waiting() const noexcept {
        return {worker_.is_reserved(), static_cast<std::uint64_t>(settings_.spin_us) * 1000U};
    }

    /// The context in force, or null.
    [[nodiscard]] static context* current() noexcept { return current_.load(std::memory_order_acquire); }
    static void set_current(context* next) noexcept { current_.store(next, std::memory_order_release); }

private:
    [[nodiscard]] worker_settings worker_plan();
    void hook_mpi_finalize() noexcept;
    [[nodiscard]] comm_queue* register_comm(MPI_Comm comm, int& code) noexcept;
    [[nodiscard]] comm_queue* try_register_comm(MPI_Comm comm, int& code) noexcept;
    [[nodiscard]] lane_stats collected_stats();

    static std::atomic<context*> current_;

    const config settings_;
    const int thread_level_;
    mpi_error_handling errors_;
    const rank_place place_;
    process_narrowing narrowing_;
    mpi_transport transport_;
    lane lane_;
    mpi_comms comms_;
    worker worker_;
    watchdog watchdog_;
    int finalize_keyval_ = MPI_KEYVAL_INVALID;
};

} // namespace commtask::detail
