// SPDX-License-Identifier: Apache-2.0
//
// commtask_init and commtask_finalize. The ranks first agree that all of them can start: a rank that refused alone, for
// a bad variable say, would leave the others in a collective call for ever.
#include "context.hpp"
#include "last_error.hpp"
#include "mpi_counts.hpp"
#include "mpi_identity.hpp"
#include "settings.hpp"

#include <commtask/commtask.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <unistd.h>

namespace commtask::detail {
namespace {

/// @return the code of what is wrong with MPI's state, with a sentence; COMMTASK_OK if nothing.
[[nodiscard]] int check_mpi(int& thread_level) {
    if (const auto reason = why_mpi_does_not_fit()) return refuse(COMMTASK_ERR_MPI_LIBRARY, "%s", reason->c_str());
    int is_initialized = 0;
    int is_finalized = 0;
    MPI_Initialized(&is_initialized);
    MPI_Finalized(&is_finalized);
    if (is_initialized == 0) {
        return refuse(COMMTASK_ERR_MPI_STATE, "MPI is not initialised: call MPI_Init_thread before commtask_init");
    }
    if (is_finalized != 0) return refuse(COMMTASK_ERR_MPI_STATE, "MPI is finalised already");
    MPI_Query_thread(&thread_level);
    if (thread_level >= MPI_THREAD_SERIALIZED) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_THREAD_LEVEL,
                  "MPI was initialised with %s, and the worker is a thread of its own: call MPI_Init_thread with "
                  "MPI_THREAD_SERIALIZED, or MPI_THREAD_MULTIPLE if other threads call MPI themselves",
                  thread_level == MPI_THREAD_SINGLE ? "MPI_THREAD_SINGLE" : "MPI_THREAD_FUNNELED");
}

/// Whether all ranks can go on. Collective.
[[nodiscard]] bool collective_all_agree(bool i_can) {
    int mine = i_can ? 1 : 0;
    int all = 0;
    return MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD) == MPI_SUCCESS && all == 1;
}

[[nodiscard]] int initialize(const commtask_config* given) {
    if (context::current() != nullptr) {
        return refuse(COMMTASK_ERR_ALREADY_INITIALIZED, "commtask_init was called before");
    }
    int thread_level = MPI_THREAD_SINGLE;
    if (const int code = check_mpi(thread_level); code != COMMTASK_OK) return code;
    config settings;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int code = collect_settings(settings, given, rank == 0);
    if (!collective_all_agree(code == COMMTASK_OK)) {
        return code != COMMTASK_OK ? code : refuse(COMMTASK_ERR_CONFIG, "another rank's configuration has a bad value");
    }
    std::unique_ptr<context> made;
    int made_code = COMMTASK_OK;
    try {
        made = std::make_unique<context>(std::move(settings), thread_level);
        if (made->place().error) made_code = refuse(COMMTASK_ERR_CONFIG, "%s", made->place().error->c_str());
    } catch (const std::bad_alloc&) {
        made_code = refuse(COMMTASK_ERR_NO_MEMORY, "the system gave no memory for the worker");
    } catch (const std::system_error& error) {
        made_code = refuse(COMMTASK_ERR_NO_MEMORY, "the system gave no thread for the worker: %s", error.what());
    }
    if (!collective_all_agree(made_code == COMMTASK_OK)) {
        return made_code != COMMTASK_OK ? made_code : refuse(COMMTASK_ERR_CONFIG, "another rank could not start");
    }
    context::set_current(made.release());
    return COMMTASK_OK;
}

} // namespace
} // namespace commtask::detail

using namespace commtask::detail;

int commtask_init(const commtask_config* given) noexcept { return initialize(given); }

int commtask_is_initialized(void) noexcept { return context::current() != nullptr ? 1 : 0; }

int commtask_finalize(void) noexcept {
    context* const mine = context::current();
    if (mine == nullptr) return refuse(COMMTASK_ERR_NOT_INITIALIZED, "commtask_init was not called");
    if (lane::is_driving()) {
        return refuse(COMMTASK_ERR_WORKER_THREAD, "commtask_finalize was called on the worker, from a callback");
    }
    const context::drained how = mine->drain();
    if (how == context::drained::not_at_all) {
        return refuse(
            COMMTASK_ERR_UNFINISHED,
            "the worker is inside a call of the program's that does not come back; what is unfinished stays so");
    }
    delete mine;
    if (how == context::drained::completely) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_UNFINISHED, "some tasks could not complete and were given up; stderr has the list");
}

int commtask_get_info(commtask_info* info) noexcept {
    context* const mine = context::current();
    if (mine == nullptr) return refuse(COMMTASK_ERR_NOT_INITIALIZED, "commtask_init was not called");
    if (info == nullptr || info->struct_size == 0) {
        return refuse(COMMTASK_ERR_ARGUMENT, "info is null, or its struct_size is not set");
    }
    commtask_info full{};
    full.struct_size = info->struct_size;
    full.lanes = static_cast<unsigned>(mine->lanes().size());
    full.worker_cpu = mine->place().lane_cpus.empty() ? -1 : mine->place().lane_cpus.front();
    full.worker_is_reserved = mine->waiting().worker_is_reserved ? 1 : 0;
    full.thread_level = mine->thread_level();
    full.has_large_counts = has_large_counts ? 1 : 0;
    full.tag_upper_bound = mine->comms().tag_upper_bound();
    full.n_tasks_ended = mine->lanes().approx_ended();
    full.task_bytes = task_pool::slot_count() * sizeof(task);
    std::memcpy(info, &full, std::min(sizeof full, info->struct_size));
    return COMMTASK_OK;
}
