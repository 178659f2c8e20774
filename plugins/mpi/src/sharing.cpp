// SPDX-License-Identifier: Apache-2.0
//
// The runtime's own commtask_init and commtask_finalize are compiled under the names below, and these stand in their
// place. The end of the program's use waits for the program's tasks, but not for the requests that its MPI calls left open.
#include "sharing.hpp"

#include "context.hpp"
#include "handles.hpp"
#include "last_error.hpp"
#include "persistent.hpp"
#include "session.hpp"
#include "status.hpp"

#include <commtask/commtask.h>

#include <atomic>
#include <cstdio>

extern "C" {
int commtask_runtime_init(const commtask_config* config) noexcept;
int commtask_runtime_finalize(void) noexcept;
int commtask_runtime_is_initialized(void) noexcept;
}

namespace commtask::interposer {
namespace {

std::atomic<bool> program_uses_it{false};
bool is_ours = false; ///< The runtime in force was started by MPI_Init.

/// The tasks of the program that have not ended. The caller has the baton, and all that was posted is issued.
[[nodiscard]] std::int64_t count_open_tasks_of_program(const detail::lane& lane) {
    auto n_open = static_cast<std::int64_t>(lane.approx_live());
    const std::size_t n_slots = handles::high_water();
    for (std::size_t i = 1; i < n_slots; ++i) {
        const commtask_t task = handles::first[i].task;
        if (task != COMMTASK_NULL && !has_ended(task)) --n_open;
    }
    return n_open - persistents::count_open();
}

} // namespace

int start_runtime() {
    commtask_config config = COMMTASK_CONFIG_INIT;
    // What the program left behind is MPI's to wait for, in MPI_Finalize: the runtime gives it back soon.
    config.finalize_timeout_s = 0.5;
    const int code = commtask_runtime_init(&config);
    is_ours = code == COMMTASK_OK;
    return code;
}

void end_runtime() {
    if (program_uses_it.exchange(false)) {
        std::fputs("commtask: warning: MPI_Finalize was called before commtask_finalize, which is made up for now\n",
                   stderr);
    }
    is_ours = false;
    commtask_runtime_finalize();
}

} // namespace commtask::interposer

using namespace commtask;

int commtask_init(const commtask_config* config) noexcept {
    if (!interposer::is_ours) return commtask_runtime_init(config);
    if (config != nullptr && config->struct_size == 0) {
        return detail::refuse(COMMTASK_ERR_CONFIG, "config->struct_size is 0: start from COMMTASK_CONFIG_INIT");
    }
    if (!interposer::program_uses_it.exchange(true)) return COMMTASK_OK;
    return detail::refuse(COMMTASK_ERR_ALREADY_INITIALIZED, "commtask_init was called before");
}

int commtask_is_initialized() noexcept {
    if (!interposer::is_ours) return commtask_runtime_is_initialized();
    return interposer::program_uses_it.load() ? 1 : 0;
}

int commtask_finalize() noexcept {
    if (!interposer::is_ours) return commtask_runtime_finalize();
    if (detail::lane::is_driving()) {
        return detail::refuse(COMMTASK_ERR_WORKER_THREAD,
                              "commtask_finalize was called on the worker, from a callback");
    }
    if (!interposer::program_uses_it.exchange(false)) {
        return detail::refuse(COMMTASK_ERR_NOT_INITIALIZED, "commtask_init was not called");
    }
    detail::context& runtime = *detail::context::current();
    const auto patience_ns = static_cast<std::uint64_t>(runtime.settings().finalize_timeout_s * 1e9);
    std::uint64_t since_ns = detail::now_ns();
    std::uint64_t n_ended = 0;
    bool is_hopeless = false;
    interposer::look_until([&] {
        if (interposer::count_open_tasks_of_program(runtime.lanes()[0]) <= 0) return true;
        const std::uint64_t now = detail::now_ns();
        if (const std::uint64_t n = runtime.lanes()[0].approx_ended(); n != n_ended) {
            n_ended = n;
            since_ns = now;
        }
        is_hopeless = patience_ns > 0 && now - since_ns >= patience_ns;
        return is_hopeless;
    });
    if (!is_hopeless) return COMMTASK_OK;
    return detail::refuse(COMMTASK_ERR_UNFINISHED, "some tasks have not completed, and go on until MPI_Finalize");
}
