// SPDX-License-Identifier: Apache-2.0
//
// Reads the values of the configuration table and explains errors. Every message about an invalid
// value ends with the nearest valid value, so that a user can repair a job script without the
// documentation.
#include "config/config.hpp"

#include "base/cpu_set.hpp"
#include "base/nearest.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

namespace commtask::detail {

namespace {

constexpr std::array<config_field, config_field_count> fields{{
#define COMMTASK_CONFIG_NUMBER(name, variable, value, lowest, highest, rule, text)                                     \
    config_field{variable, config_rule::rule, lowest, highest, {}, text, &config::name},
#define COMMTASK_CONFIG_SECONDS(name, variable, value, lowest, highest, text)                                          \
    config_field{variable, config_rule::seconds, lowest, highest, {}, text, &config::name},
#define COMMTASK_CONFIG_SIZE(name, variable, value, lowest, highest, text)                                             \
    config_field{variable, config_rule::kibibytes, lowest, highest, {}, text, &config::name},
#define COMMTASK_CONFIG_CHOICE(name, variable, type, value, words, text)                                               \
    config_field{variable, config_rule::choice, 0, 0, words, text, &config::name},
#define COMMTASK_CONFIG_CPUS(name, variable, value, text)                                                              \
    config_field{variable, config_rule::cpu_list, 0, 0, "auto|none", text, &config::name},
#define COMMTASK_CONFIG_FOLDER(name, variable, text)                                                                   \
    config_field{variable, config_rule::folder, 0, 0, {}, text, &config::name},
#define COMMTASK_CONFIG_ELSEWHERE(variable, text)                                                                      \
    config_field{variable, config_rule::elsewhere, 0, 0, {}, text, std::monostate{}},
#include "config/config_table.def"
}};

constexpr std::string_view prefix = "COMMTASK_";

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
    Number value{};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// Like OMP_STACKSIZE: `64M`, `64 m`, `65536`. Bytes are rounded up.
std::optional<std::int64_t> parse_kibibytes(std::string_view text) {
    constexpr std::string_view units = "BKMG";
    std::size_t unit = 1;
    if (!text.empty()) {
        unit = units.find(static_cast<char>(text.back() & ~0x20)); // upper case
        if (unit != std::string_view::npos) text.remove_suffix(1);
        while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    }
    const auto number = parse_number<std::int64_t>(text);
    if (!number || *number < 0) return std::nullopt;
    if (unit == 0) return *number / 1024 + (*number % 1024 != 0 ? 1 : 0);
    const unsigned shift = unit == std::string_view::npos ? 0 : 10 * static_cast<unsigned>(unit - 1);
    // more than any machine has; no overflow below
    if (*number > (std::int64_t{1} << 40U)) return std::nullopt;
    return *number << shift;
}

std::string number_text(double value) {
    std::array<char, 32> buffer{};
    const auto [end, failure] =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
    return failure == std::errc{} ? std::string(buffer.data(), end) : std::string{"?"};
}

bool accepts(const config_field& field, double value) {
    if (!(value >= field.lowest && value <= field.highest)) return false; // also refuses NaN
    if (field.rule == config_rule::seconds) return true;
    const auto whole = static_cast<std::uint64_t>(value);
    return field.rule != config_rule::power_of_two || (whole & (whole - 1)) == 0;
}

/// The valid number nearest to the number at the beginning of the text; words for yes and no count
/// as 1 and 0.
std::string nearest_number(const config_field& field, std::string_view text) {
    double value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure == std::errc::result_out_of_range) value = text.starts_with('-') ? field.lowest : field.highest;
    if (failure == std::errc::invalid_argument) {
        constexpr std::array<std::string_view, 6> yes_and_no{"yes", "true", "on", "no", "false", "off"};
        const std::string_view word = nearest_word(text, yes_and_no);
        const bool is_yes = edit_distance(text, word) == 0 && word != "no" && word != "false" && word != "off";
        const config defaults;
        value = edit_distance(text, word) == 0 ? (is_yes ? 1.0 : 0.0)
                                               : parse_number<double>(value_text(defaults, field)).value_or(0);
    }
    value = std::isnan(value) ? field.lowest : std::clamp(value, field.lowest, field.highest);
    if (field.rule == config_rule::whole_number || field.rule == config_rule::kibibytes) value = std::round(value);
    if (field.rule == config_rule::power_of_two) value = std::exp2(std::round(std::log2(std::max(1.0, value))));
    return number_text(value);
}

/// The valid CPUs of an invalid list, or the more similar of the words.
std::string nearest_cpus(const config_field& field, std::string_view text) {
    std::string kept;
    for (const std::string_view item : split(text, ',')) {
        const std::string longer = kept.empty() ? std::string{item} : kept + ',' + std::string{item};
        if (parse_cpu_list(longer)) kept = longer;
    }
    return kept.empty() ? std::string{nearest_word(text, split(field.words, '|'))} : kept;
}

config_problem bad_value(const config_field& field, std::string_view text, const std::string& nearest) {
    return {false, std::string{field.variable} + "=" + std::string{text} + " is not valid: it must be " +
                       accepted_text(field) + "; the nearest valid value is " + nearest + "."};
}

/// Settings that had another name before 0.1.0. The old names end with version 0.2.
struct renamed_setting {
    std::string_view old_name;
    std::string_view name;
};
constexpr std::array<renamed_setting, 2> renamed_settings{
    {{"COMMTASK_NAP_MAX_US", "COMMTASK_WAIT_MAX_US"}, {"COMMTASK_NODE_BELL", "COMMTASK_NODE_DOORBELLS"}}};

config_problem unknown_name(std::string_view name) {
    std::vector<std::string_view> names;
    for (const config_field& field : fields)
        if (field.rule != config_rule::elsewhere) names.push_back(field.variable);
    return {true, std::string{name} + " is no setting of commtask and has no effect; the nearest name is " +
                      std::string{nearest_word(name, names)} + "."};
}

} // namespace

std::span<const config_field, config_field_count> config_fields() { return fields; }

const config_field* find_config_field(std::string_view variable) {
    const auto found = std::ranges::find(fields, variable, &config_field::variable);
    return found == fields.end() ? nullptr : &*found;
}

std::optional<config_problem> apply(config& target, const config_field& field, std::string_view text,
                                    config_source source) {
    switch (field.rule) {
    case config_rule::whole_number:
    case config_rule::power_of_two: {
        const auto value = parse_number<std::int64_t>(text);
        if (!value || !accepts(field, static_cast<double>(*value)))
            return bad_value(field, text, nearest_number(field, text));
        target.*std::get<std::int64_t config::*>(field.member) = *value;
        break;
    }
    case config_rule::kibibytes: {
        const auto value = parse_kibibytes(text);
        if (!value || !accepts(field, static_cast<double>(*value)))
            return bad_value(field, text, nearest_number(field, text));
        target.*std::get<std::int64_t config::*>(field.member) = *value;
        break;
    }
    case config_rule::seconds: {
        const auto value = parse_number<double>(text);
        if (!value || !accepts(field, *value)) return bad_value(field, text, nearest_number(field, text));
        target.*std::get<double config::*>(field.member) = *value;
        break;
    }
    case config_rule::choice: {
        const auto words = split(field.words, '|');
        const auto found = std::ranges::find(words, text);
        if (found == words.end()) return bad_value(field, text, std::string{nearest_word(text, words)});
        const auto index = static_cast<int>(found - words.begin());
        if (const auto* const idle = std::get_if<idle_policy config::*>(&field.member)) {
            target.** idle = static_cast<idle_policy>(index);
        } else if (const auto* const keep = std::get_if<kept_records config::*>(&field.member)) {
            target.** keep = static_cast<kept_records>(index);
        } else if (const auto* const bell = std::get_if<doorbell_use config::*>(&field.member)) {
            target.** bell = static_cast<doorbell_use>(index);
        } else {
            target.*std::get<report_signal config::*>(field.member) = static_cast<report_signal>(index);
        }
        break;
    }
    case config_rule::cpu_list: {
        const auto words = split(field.words, '|');
        if (std::ranges::find(words, text) == words.end() && !parse_cpu_list(text))
            return bad_value(field, text, nearest_cpus(field, text));
        target.*std::get<std::string config::*>(field.member) = std::string{text};
        break;
    }
    case config_rule::folder: target.*std::get<std::string config::*>(field.member) = std::string{text}; break;
    case config_rule::elsewhere: return std::nullopt;
    }
    target.sources[static_cast<std::size_t>(&field - fields.data())] = source;
    return std::nullopt;
}

/// Whether the environment sets a variable to a non-empty value.
static bool has_value(const char* const* environment, std::string_view variable) {
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        const std::string_view entry{*environment};
        if (entry.starts_with(variable) && entry.size() > variable.size() + 1 && entry[variable.size()] == '=')
            return true;
    }
    return false;
}

std::vector<config_problem> apply_environment(config& target, const char* const* environment) {
    std::vector<config_problem> problems;
    const char* const* const all = environment;
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        const std::string_view entry{*environment};
        if (!entry.starts_with(prefix)) continue;
        const std::size_t equals = entry.find('=');
        if (equals == std::string_view::npos) continue;
        const std::string_view name = entry.substr(0, equals);
        const std::string_view text = entry.substr(equals + 1);
        const config_field* field = find_config_field(name);
        const auto* const renamed = std::ranges::find(renamed_settings, name, &renamed_setting::old_name);
        if (renamed != renamed_settings.end() && !text.empty()) {
            if (has_value(all, renamed->name)) continue; // the new name takes precedence
            field = find_config_field(renamed->name);
            problems.push_back({true, std::string{name} + " is called " + std::string{renamed->name} +
                                          " now; the next version will not accept the old name."});
        }
        // an empty value counts as not set
        if (field == nullptr && renamed != renamed_settings.end()) continue;
        if (field == nullptr) {
            problems.push_back(unknown_name(name));
        } else if (!text.empty()) {
            if (auto problem = apply(target, *field, text, config_source::environment))
                problems.push_back(std::move(*problem));
        }
    }
    return problems;
}

std::string value_text(const config& from, const config_field& field) {
    struct writer {
        const config& from;
        const config_field& field;
        std::string operator()(std::monostate) const { return {}; }
        std::string operator()(std::int64_t config::* member) const { return std::to_string(from.*member); }
        std::string operator()(double config::* member) const { return number_text(from.*member); }
        std::string operator()(std::string config::* member) const { return from.*member; }
        std::string operator()(idle_policy config::* member) const { return word(static_cast<int>(from.*member)); }
        std::string operator()(kept_records config::* member) const { return word(static_cast<int>(from.*member)); }
        std::string operator()(doorbell_use config::* member) const { return word(static_cast<int>(from.*member)); }
        std::string operator()(report_signal config::* member) const { return word(static_cast<int>(from.*member)); }
        [[nodiscard]] std::string word(int place) const {
            return std::string{split(field.words, '|').at(static_cast<std::size_t>(place))};
        }
    };
    return std::visit(writer{from, field}, field.member);
}

std::string accepted_text(const config_field& field) {
    const std::string lowest = number_text(field.lowest);
    const std::string highest = number_text(field.highest);
    switch (field.rule) {
    case config_rule::whole_number:
        if (field.lowest == field.highest) return lowest;
        if (field.highest == field.lowest + 1) return lowest + " or " + highest;
        return "a whole number from " + lowest + " to " + highest;
    case config_rule::power_of_two: return "a power of two from " + lowest + " to " + highest;
    case config_rule::kibibytes:
        return "a whole number of KiB from " + lowest + " to " + highest + ", or one with B, K, M or G";
    case config_rule::seconds: return "a number of seconds from " + lowest + " to " + highest;
    case config_rule::cpu_list: return "auto, none or a list of different CPU numbers such as 3,7-9";
    case config_rule::folder: return "a path";
    case config_rule::elsewhere: return "anything";
    case config_rule::choice: break;
    }
    std::string phrase;
    const auto words = split(field.words, '|');
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) phrase += i + 1 == words.size() ? " or " : ", ";
        phrase += words[i];
    }
    return phrase;
}

} // namespace commtask::detail
