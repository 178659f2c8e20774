// SPDX-License-Identifier: Apache-2.0
//
// These functions replace the runtime's own commtask_init and commtask_finalize, which are compiled
// under other names. When the program ends its use of commtask, it waits for its tasks, but not for
// requests of its MPI calls.
#include "sharing.hpp"

#include "post.hpp"

#include "api/context.hpp"
#include "api/entry.hpp"
#include "api/failures.hpp"
#include "api/starting.hpp"
#include "base/last_error.hpp"
#include "base/log.hpp"
#include "config/settings.hpp"

#include <commtask/commtask.h>

#include <cstdint>

namespace commtask::interposer {
namespace {

/// The two settings of the program's own commtask_init.
struct programs_use {
    std::uint64_t limit_ns = 0; ///< Time limit of its commtask_finalize.
    std::int64_t verbose = 0;
};

bool is_ours = false; ///< MPI_Init started the runtime that is in use.
programs_use use;

/// A worker never returns from a function of the program: from here on, the program's calls go
/// directly to MPI.
void abandon_workers() {
    // Stored before the lanes: a thread that finds no lanes reads the state.
    current.state.store(workers::abandoned);
    // release: partner of the acquire in active_lanes().
    current.lanes.store(nullptr, std::memory_order_release);
}

[[nodiscard]] int end_programs_use() {
    current.state.store(workers::asked);
    const detail::context::drained how = detail::context::running()->end_use(use.limit_ns, use.verbose);
    if (how != detail::context::drained::not_at_all) current.state.store(workers::there);
    switch (how) {
    case detail::context::drained::completely: return COMMTASK_OK;
    case detail::context::drained::by_force:
        return detail::refuse(COMMTASK_ERR_UNFINISHED,
                              "some tasks could not complete and were abandoned; stderr has the list");
    case detail::context::drained::not_at_all: break;
    }
    abandon_workers();
    return detail::refuse(
        COMMTASK_ERR_UNFINISHED,
        "the worker is inside a function of the program that does not return; incomplete tasks remain");
}

[[nodiscard]] bool is_mpi_over() {
    int is_over = 0;
    MPI_Finalized(&is_over);
    return is_over != 0;
}

/// The error code with which this rank alone would refuse.
[[nodiscard]] int check_init(const commtask_config* config, detail::config& settings) {
    const int code = detail::guarded([&] { return detail::collect_settings(settings, config, false); });
    if (code != COMMTASK_OK) return code;
    if (detail::context::running() != nullptr) return COMMTASK_OK;
    return detail::refuse(COMMTASK_ERR_UNFINISHED, "the worker of commtask-run is inside a call that has not returned");
}

/// Collective, like the runtime's own start: all ranks begin their use together, or none does.
[[nodiscard]] detail::start_outcome collective_begin_use(const commtask_config* config) {
    detail::config settings;
    struct {
        int code;
        int rank;
    } mine{check_init(config, settings), 0}, worst{};
    MPI_Comm_rank(MPI_COMM_WORLD, &mine.rank);
    const auto agree = [&](MPI_Request* request) { // the codes of refusals are negative
        return commtask_real_MPI_Iallreduce(&mine, &worst, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD, request);
    };
    if (run_twin(MPI_COMM_WORLD, MPI_STATUS_IGNORE, agree) != MPI_SUCCESS) worst = mine;
    if (worst.code != COMMTASK_OK) {
        return {detail::refuse_with_all(worst.code, worst.rank, mine.code), worst.rank == mine.rank, settings.verbose};
    }
    use = {static_cast<std::uint64_t>(settings.finalize_timeout_s * 1e9), settings.verbose};
    detail::context::open();
    return {COMMTASK_OK, false, settings.verbose};
}

} // namespace

int start_runtime(bool is_quiet) {
    commtask_config config = COMMTASK_CONFIG_INIT;
    // MPI_Finalize waits for requests that the program did not complete; the runtime abandons them
    // soon.
    config.finalize_timeout_s = 0.5;
    if (is_quiet) config.verbose = COMMTASK_ZERO;
    const detail::start_outcome how = detail::collective_start(&config);
    is_ours = how.code == COMMTASK_OK;
    if (is_ours) detail::context::close(); // until the program's own commtask_init
    if (how.has_reason) {
        detail::say("warning: there is no worker, and MPI is called directly: %s", detail::last_message());
    }
    return how.code;
}

bool workers_respond() {
    if (active_lanes() == nullptr) return false;
    // The worker runs no function of the program.
    if (detail::context::current() == nullptr) return true;
    current.state.store(workers::asked);
    const bool is_abandoned = detail::context::running()->abandon_if_stuck(use.limit_ns, use.verbose);
    if (is_abandoned) {
        abandon_workers();
    } else {
        current.state.store(workers::there);
    }
    return !is_abandoned;
}

void end_runtime() {
    if (detail::context::current() != nullptr) {
        detail::say("warning: MPI_Finalize was called before commtask_finalize; finalizing commtask now");
        static_cast<void>(end_programs_use());
    }
    is_ours = false;
    if (detail::context::running() != nullptr) commtask_runtime_finalize();
}

} // namespace commtask::interposer

using namespace commtask;

int commtask_init(const commtask_config* config) noexcept {
    if (!interposer::is_ours || interposer::is_mpi_over()) return commtask_runtime_init(config);
    if (detail::context::current() != nullptr) {
        return detail::refuse(COMMTASK_ERR_ALREADY_INITIALIZED, "commtask_init was called before");
    }
    return detail::conclude_init(interposer::collective_begin_use(config));
}

int commtask_finalize() noexcept {
    if (!interposer::is_ours) return commtask_runtime_finalize();
    if (detail::context::current() == nullptr) return detail::refuse_without_runtime();
    if (!detail::may_wait()) {
        return detail::refuse(
            COMMTASK_ERR_WORKER_THREAD, "%s",
            detail::in_progress_call()
                ? "commtask_finalize was called on the worker, from a callback"
                : "commtask_finalize was called in a function that MPI calls: it must not wait there");
    }
    return detail::conclude_failures(interposer::end_programs_use());
}
