// SPDX-License-Identifier: Apache-2.0
//
// commtask in C++20: MPI operations as tasks, with owned handles, ranges, closures and co_await.
// All functions are inline and call the C interface of commtask.h, whose contracts apply. A call
// that could not be carried out throws commtask::error. How a task ended is a value,
// commtask::outcome.
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

/// The configuration, with every field at its default. Set the fields that should differ.
struct config : commtask_config {
    config() noexcept : commtask_config(COMMTASK_CONFIG_INIT) {}
};

/// The library between commtask_init and commtask_finalize. Create one object on every rank, after
/// MPI_Init_thread and before the first parallel region, and destroy it before MPI_Finalize.
class runtime {
public:
    /// Starts the worker. Collective over the ranks of MPI_COMM_WORLD.
    /// @param settings  COMMTASK_* environment variables override its fields.
    /// @throws error  if MPI is not initialised, its thread level is too low, a setting is bad, or
    ///                the library is initialised already.
    explicit runtime(const config& settings = {}) { frontend::check(commtask_init(&settings)); }

    runtime(const runtime&) = delete;
    runtime& operator=(const runtime&) = delete;
    /// Stops the library as finalize(), without an exception.
    ~runtime() {
        if (is_running_) static_cast<void>(commtask_finalize());
    }

    /// Waits for all tasks and stops the worker. Afterwards all handles are invalid.
    /// @return true if all tasks have ended; false if some could never complete: after
    ///         COMMTASK_FINALIZE_TIMEOUT_S they are listed on stderr and canceled.
    /// @throws error  if called on the worker, or a second time.
    [[nodiscard]] bool finalize() {
        const int code = commtask_finalize();
        if (code != COMMTASK_ERR_WORKER_THREAD) is_running_ = false;
        if (code == COMMTASK_ERR_UNFINISHED) return false;
        frontend::check(code);
        return true;
    }

    /// Returns properties of the running library.
    /// @return a copy; n_tasks_ended is approximate.
    /// @throws error  after finalize().
    [[nodiscard]] commtask_info info() const {
        auto facts = commtask_sized_<commtask_info>();
        frontend::check(commtask_get_info(&facts));
        return facts;
    }

private:
    bool is_running_ = true;
};

/// Registers a communicator before its first task, which then need not wait for the registration.
/// @param comm  the communicator.
/// @throws error  if it is null, freed or not a communicator.
inline void register_comm(MPI_Comm comm) { frontend::check(commtask_comm_register(comm)); }

/// Closes an MPI file, unless tasks still need it. Collective.
/// @param file  open; MPI_FILE_NULL afterwards.
/// @param comm  a communicator of the ranks that have opened it.
/// @throws error  if tasks of the file have not ended (it stays open), or if MPI cannot close it.
inline void close_file(MPI_File& file, MPI_Comm comm) { frontend::check(commtask_file_close(&file, comm)); }

} // namespace commtask

#endif
