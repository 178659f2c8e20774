// SPDX-License-Identifier: Apache-2.0
//
// The whole environment is read even after an error, since COMMTASK_VERBOSE says whether to print
// warnings. The first error is reported.
#include "config/settings.hpp"

#include "base/last_error.hpp"
#include "base/log.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include <unistd.h>

namespace commtask::detail {
namespace {

/// Applies the fields that the program has set, as text, through the parser of the environment.
[[nodiscard]] std::optional<config_problem> apply_program(config& settings, const commtask_config& given) {
    commtask_config known{};
    std::memcpy(&known, &given, std::min(sizeof known, given.struct_size));
    std::optional<config_problem> problem;
    const auto set = [&](std::string_view variable, const std::string& text) {
        if (problem) return;
        problem = apply(settings, *find_config_field(variable), text, config_source::program);
    };
    const auto set_number = [&](std::string_view variable, auto number) {
        const bool is_zero = number == static_cast<decltype(number)>(COMMTASK_ZERO);
        if (number != 0) set(variable, is_zero ? "0" : std::to_string(number));
    };
    set_number("COMMTASK_LANES", known.lanes);
    if (known.core != nullptr) set("COMMTASK_CORE", known.core);
    if (known.idle != nullptr) set("COMMTASK_IDLE", known.idle);
    set_number("COMMTASK_SPIN_US", known.spin_us);
    set_number("COMMTASK_WAIT_MAX_US", known.wait_max_us);
    set_number("COMMTASK_QUEUE_CAPACITY", known.queue_capacity);
    set_number("COMMTASK_TEST_WINDOW", known.test_window);
    set_number("COMMTASK_STALL_S", known.stall_s);
    set_number("COMMTASK_FINALIZE_TIMEOUT_S", known.finalize_timeout_s);
    set_number("COMMTASK_CALLBACK_LIMIT_US", known.callback_limit_us);
    set_number("COMMTASK_STATS", known.stats);
    set_number("COMMTASK_VERBOSE", known.verbose);
    if (known.signal != nullptr) set("COMMTASK_SIGNAL", known.signal);
    return problem;
}

} // namespace

int collect_settings(config& settings, const commtask_config* given, bool warns) {
    std::optional<config_problem> wrong;
    if (given != nullptr && given->struct_size == 0) {
        wrong = config_problem{false, "config->struct_size is 0: start from COMMTASK_CONFIG_INIT"};
    } else if (given != nullptr) {
        wrong = apply_program(settings, *given);
    }
    for (const config_problem& problem : apply_environment(settings, environ)) {
        if (!problem.is_warning) {
            if (!wrong) wrong = problem;
        } else if (warns && settings.verbose >= 1) {
            say("warning: %s", problem.message.c_str());
        }
    }
    if (!wrong && settings.pause_signal != report_signal::none && settings.pause_signal == settings.signal) {
        wrong = config_problem{false,
                               "COMMTASK_SIGNAL and COMMTASK_PAUSE_SIGNAL are the same signal: each must have its own"};
    }
    return wrong ? refuse(COMMTASK_ERR_CONFIG, "%s", wrong->message.c_str()) : COMMTASK_OK;
}

} // namespace commtask::detail
