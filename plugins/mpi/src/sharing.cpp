// SPDX-License-Identifier: Apache-2.0
//
// The runtime's own commtask_init and commtask_finalize are compiled under the names below, and these stand in their
// place. The end of the program's use waits for the program's tasks, but not for the requests that its MPI calls left open.
#include "sharing.hpp"

#include "api/context.hpp"
#include "base/last_error.hpp"
#include "base/speech.hpp"
#include "base/tuning.hpp"
#include "config/settings.hpp"
#include "core/drain.hpp"
#include "core/pass_watch.hpp"
#include "core/worker.hpp"

#include <commtask/commtask.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>

extern "C" {
int commtask_runtime_init(const commtask_config* config) noexcept;
int commtask_runtime_finalize(void) noexcept;
}

namespace commtask::interposer {
namespace {

bool is_ours = false;                ///< The runtime in force was started by MPI_Init.
std::uint64_t programs_limit_ns = 0; ///< Of its commtask_finalize.

[[nodiscard]] bool is_programs(const detail::task& which) { return (which.flags() & detail::flag_is_call) == 0; }

/// Waits for the program's tasks, or gives up those that cannot end: what the runtime's own commtask_finalize does for all.
[[nodiscard]] int drain_programs_tasks() {
    detail::context& runtime = *detail::context::running();
    detail::lane_set& lanes = runtime.lanes();
    detail::drain_patience patience{programs_limit_ns};
    detail::pass_watch passes{lanes.size(), programs_limit_ns};
    for (;;) {
        const bool had_batons = lanes.is_held_by_me();
        if (!had_batons && !lanes.try_take_all_batons(detail::now_ns() + detail::tuning::look_at_the_end_ns)) {
            if (!passes.is_over(lanes, detail::now_ns())) continue;
            return detail::refuse(COMMTASK_ERR_UNFINISHED,
                                  "the worker is inside a call that does not come back; what is unfinished stays so");
        }
        for (detail::lane& each : lanes) each.take_in_all();
        lanes.progress();
        detail::lane::unfinished_count open;
        for (const detail::lane& each : lanes) {
            const detail::lane::unfinished_count here = each.count_unfinished(is_programs);
            open.all += here.all;
            open.in_flight += here.in_flight;
        }
        const bool is_hopeless = open.all > 0 && patience.is_over({detail::now_ns(), open.all, open.in_flight > 0});
        if (is_hopeless) {
            detail::context::close(); // what callbacks post now would never end
            for (detail::lane& each : lanes) {
                if (runtime.settings().verbose >= 1) each.say_unfinished("given up by commtask_finalize", is_programs);
            }
            for (detail::lane& each : lanes) each.give_up(is_programs);
        }
        if (!had_batons) {
            lanes.return_all_batons();
            for (detail::lane& each : lanes) detail::leave_to_worker(each);
        }
        if (is_hopeless) {
            return detail::refuse(COMMTASK_ERR_UNFINISHED,
                                  "some tasks could not complete and were given up; stderr has the list");
        }
        if (open.all == 0) return COMMTASK_OK;
        const std::uint64_t n_ended = lanes.approx_ended();
        detail::wait_in_library(lanes, runtime.waiting(), detail::tuning::pause_at_the_end_ns,
                                [&] { return lanes.approx_ended() != n_ended; });
    }
}

[[nodiscard]] int end_programs_use() {
    const int code = drain_programs_tasks();
    detail::context::close();
    return code;
}

} // namespace

int start_runtime() {
    commtask_config config = COMMTASK_CONFIG_INIT;
    // What the program left behind is MPI's to wait for, in MPI_Finalize: the runtime gives it back soon.
    config.finalize_timeout_s = 0.5;
    const int code = commtask_runtime_init(&config);
    is_ours = code == COMMTASK_OK;
    if (is_ours) detail::context::close(); // until the program's own commtask_init
    return code;
}

void end_runtime() {
    if (detail::context::current() != nullptr) {
        detail::say("warning: MPI_Finalize was called before commtask_finalize, which is made up for now");
        static_cast<void>(end_programs_use());
    }
    is_ours = false;
    commtask_runtime_finalize();
}

} // namespace commtask::interposer

using namespace commtask;

int commtask_init(const commtask_config* config) noexcept {
    if (!interposer::is_ours) return commtask_runtime_init(config);
    detail::config settings;
    // Of its settings this one alone is the program's own.
    if (const int code = detail::collect_settings(settings, config, false); code != COMMTASK_OK) {
        detail::remember_init(code);
        if (settings.verbose >= 1) detail::say("commtask_init was refused: %s", detail::last_sentence());
        return code;
    }
    detail::remember_init(COMMTASK_OK);
    if (detail::context::current() != nullptr) {
        return detail::refuse(COMMTASK_ERR_ALREADY_INITIALIZED, "commtask_init was called before");
    }
    interposer::programs_limit_ns = static_cast<std::uint64_t>(settings.finalize_timeout_s * 1e9);
    detail::context::open();
    return COMMTASK_OK;
}

int commtask_finalize() noexcept {
    if (!interposer::is_ours) return commtask_runtime_finalize();
    if (detail::context::current() == nullptr) return detail::refuse_without_runtime();
    if (!detail::lane::may_wait()) {
        return detail::refuse(
            COMMTASK_ERR_WORKER_THREAD, "%s",
            detail::lane::is_driving()
                ? "commtask_finalize was called on the worker, from a callback"
                : "commtask_finalize was called in a function that MPI calls: it must not wait there");
    }
    return interposer::end_programs_use();
}
