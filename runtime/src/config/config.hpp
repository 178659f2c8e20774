// SPDX-License-Identifier: Apache-2.0
//
// The configuration of one runtime. Every value has a default. The program may set some values in
// commtask_config. The environment overrides both, since a user often cannot change the program.
// Nothing here prints or exits: errors are returned as messages, and the caller decides how to
// report them (an unknown name is only a warning).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace commtask::detail {

/// How an idle worker waits. In the order of the words in config_table.def.
enum class idle_policy : int {
    /// `auto`: reserved if placement gives the worker a core of its own, otherwise shared.
    automatic,
    reserved, ///< The worker spins on its own core.
    shared,   ///< The worker spins briefly, then yields, then blocks for increasing, limited times.
};

/// The signal that requests the list of incomplete tasks. In the order of the words in
/// config_table.def.
enum class report_signal : int { none, usr1, usr2 };

/// Whether the ranks of a node use doorbells. In the order of the words in config_table.def.
enum class doorbell_use : int { automatic, on, off };

/// The records that a full trace keeps. In the order of the words in config_table.def.
enum class kept_records : int { oldest, newest };

enum class config_source : std::uint8_t { built_in, program, environment };

/// The type of a field, which determines the values that it accepts.
enum class config_rule : std::uint8_t {
    whole_number, ///< lowest <= value <= highest
    power_of_two, ///< lowest <= value <= highest, and a power of two
    kibibytes,    ///< like whole_number, for a size, which may have a unit
    seconds,      ///< lowest <= value <= highest, fractions allowed
    choice,       ///< one of the field's words
    cpu_list,     ///< `auto`, `none` or a list of CPU numbers
    folder,       ///< any text; tested when the path is used
    elsewhere,    ///< read by another part of the project, which also checks it
};

inline constexpr std::size_t config_field_count = 0
#define COMMTASK_CONFIG_NUMBER(member, variable, value, lowest, highest, rule, text) +1
#define COMMTASK_CONFIG_SECONDS(member, variable, value, lowest, highest, text) +1
#define COMMTASK_CONFIG_SIZE(member, variable, value, lowest, highest, text) +1
#define COMMTASK_CONFIG_CHOICE(member, variable, type, value, words, text) +1
#define COMMTASK_CONFIG_CPUS(member, variable, value, text) +1
#define COMMTASK_CONFIG_FOLDER(member, variable, text) +1
#define COMMTASK_CONFIG_ELSEWHERE(variable, text) +1
#include "config/config_table.def"
    ;

/// Every value in force: first the defaults, then changed by `apply`, then by `apply_environment`.
struct config {
#define COMMTASK_CONFIG_NUMBER(member, variable, value, lowest, highest, rule, text) std::int64_t member = value;
#define COMMTASK_CONFIG_SECONDS(member, variable, value, lowest, highest, text) double member = value;
#define COMMTASK_CONFIG_SIZE(member, variable, value, lowest, highest, text) std::int64_t member = value;
#define COMMTASK_CONFIG_CHOICE(member, variable, type, value, words, text) type member = value;
#define COMMTASK_CONFIG_CPUS(member, variable, value, text) std::string member = value;
#define COMMTASK_CONFIG_FOLDER(member, variable, text) std::string member;
#define COMMTASK_CONFIG_ELSEWHERE(variable, text)
#include "config/config_table.def"
    /// The origin of each value, in the order of `config_fields()`.
    std::array<config_source, config_field_count> sources{};
};

/// One row of the table.
struct config_field {
    std::string_view variable;
    config_rule rule;
    double lowest;
    double highest;
    std::string_view words; ///< The words of a choice, separated by '|'.
    std::string_view description;
    std::variant<std::monostate, std::int64_t config::*, double config::*, idle_policy config::*,
                 report_signal config::*, kept_records config::*, doorbell_use config::*, std::string config::*>
        member;
};

/// An error in a setting. The message names the variable and gives a valid value.
struct config_problem {
    bool is_warning; ///< An unknown name: the run can continue. False for an invalid value.
    std::string message;
};

[[nodiscard]] std::span<const config_field, config_field_count> config_fields();

/// The field of a variable, or null.
[[nodiscard]] const config_field* find_config_field(std::string_view variable);

/// Sets one value from its text. On an error the config does not change.
[[nodiscard]] std::optional<config_problem> apply(config& target, const config_field& field, std::string_view text,
                                                  config_source source);

/// Sets every COMMTASK_* entry of a null-terminated list like `environ`. Valid values are set even
/// if other values are invalid. An empty value counts as not set.
[[nodiscard]] std::vector<config_problem> apply_environment(config& target, const char* const* environment);

/// The value as the user would write it.
[[nodiscard]] std::string value_text(const config& from, const config_field& field);

/// A description of the accepted values: "a whole number from 0 to 2".
[[nodiscard]] std::string accepted_text(const config_field& field);

} // namespace commtask::detail
