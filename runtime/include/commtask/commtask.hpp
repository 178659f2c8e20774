// SPDX-License-Identifier: Apache-2.0
//
// commtask in C++20: MPI operations as tasks, with owned handles, ranges, closures and co_await. Everything here is
// inline and calls the C interface of commtask.h, whose contracts hold; this face adds owners and types. A call that
// could not be carried out throws commtask::error; how a task ended is a value, commtask::outcome.
#pragma once

#include <commtask/cpp20.hpp>

#if __cplusplus >= 202002L
#include <commtask/collectives.hpp>
#include <commtask/collectives_v.hpp>
#include <commtask/coroutine.hpp>
#include <commtask/event.hpp>
#include <commtask/lanes.hpp>
#include <commtask/listener.hpp>
#include <commtask/many.hpp>
#include <commtask/operation.hpp>
#include <commtask/outcome.hpp>
#include <commtask/pause.hpp>
#include <commtask/plan.hpp>
#include <commtask/post.hpp>
#include <commtask/reductions.hpp>
#include <commtask/routine.hpp>
#include <commtask/run_loop.hpp>
#include <commtask/scope.hpp>
#include <commtask/task.hpp>
#include <commtask/window.hpp>

namespace commtask {

/// The configuration with everything at its default; set the fields that should differ.
struct config : commtask_config {
    config() noexcept : commtask_config(COMMTASK_CONFIG_INIT) {}
};

/// The library between commtask_init and commtask_finalize. Make one after MPI_Init_thread and before the first parallel
/// region, on every rank; it ends before MPI_Finalize.
class runtime {
public:
    /// Starts the worker. Collective over the ranks of MPI_COMM_WORLD.
    /// @param settings  COMMTASK_* variables of the environment go over its fields.
    /// @throws error  if MPI is not initialised, its thread level is too low, a setting is bad, or there is one already.
    explicit runtime(const config& settings = {}) { frontend::check(commtask_init(&settings)); }

    runtime(const runtime&) = delete;
    runtime& operator=(const runtime&) = delete;
    /// As finalize(), since the worker must not outlive it. It gives tasks that can never complete up after
    /// COMMTASK_FINALIZE_TIMEOUT_S and lists them on stderr.
    ~runtime() {
        if (is_running_) static_cast<void>(commtask_finalize());
    }

    /// Waits for all tasks and stops the worker. Handles are void afterwards.
    /// @return true if all tasks had ended; false if some could never complete: they are listed on stderr and canceled.
    /// @throws error  on the worker, or if it was called before.
    [[nodiscard]] bool finalize() {
        const int code = commtask_finalize();
        if (code != COMMTASK_ERR_WORKER_THREAD) is_running_ = false;
        if (code == COMMTASK_ERR_UNFINISHED) return false;
        frontend::check(code);
        return true;
    }

    /// What the runtime runs on.
    /// @return a copy of the facts; n_tasks_ended is approximate.
    /// @throws error  after finalize().
    [[nodiscard]] commtask_info info() const {
        auto facts = commtask_sized_<commtask_info>();
        frontend::check(commtask_get_info(&facts));
        return facts;
    }

private:
    bool is_running_ = true;
};

/// Makes a communicator known before its first task, which then need not wait for that.
/// @param comm  the communicator.
/// @throws error  if it is null, freed or not a communicator.
inline void register_comm(MPI_Comm comm) { frontend::check(commtask_comm_register(comm)); }

/// Closes a file of MPI, unless tasks still need it. Collective.
/// @param file  open; MPI_FILE_NULL afterwards.
/// @param comm  with the ranks that have opened it.
/// @throws error  if tasks of the file have not ended, and it is open still; or if MPI cannot close it.
inline void close_file(MPI_File& file, MPI_Comm comm) { frontend::check(commtask_file_close(&file, comm)); }

} // namespace commtask

#endif
