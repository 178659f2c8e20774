// SPDX-License-Identifier: Apache-2.0
//
// The text of docs/configuration.md, generated from the rows of config_table.def and the columns of
// COMMTASK_STATS. A test compares the page with this text.
#include "report/config_page.hpp"

#include "config/config.hpp"
#include "report/stats_table.hpp"

#include <string_view>

namespace commtask::detail {

namespace {

/// The accepted values, without the words that the other cells of the row contain.
std::string accepted_cell(const config_field& field) {
    std::string text = accepted_text(field);
    for (const std::string_view words : {"a whole number from ", "a number of "})
        if (text.starts_with(words)) text.erase(0, words.size());
    return text;
}

} // namespace

std::string config_markdown() {
    std::string page = R"(# Configuration

<!-- Made from runtime/src/config/config_table.def by `commtask-info --config-markdown`; a test compares the two. -->

Every setting has a default. A program may set some of them in the `commtask_config` of `commtask_init`, where 0 and null mean
"not set" and `COMMTASK_ZERO` is 0. An environment variable overrides the program; an empty one counts as not set. Numbers are whole
unless they are seconds.

A value that is not accepted makes `commtask_init` return `COMMTASK_ERR_CONFIG`, with the nearest valid value in the sentence. An unknown
`COMMTASK_` name gets a warning. `commtask-info` shows the values in force and their origin.

| variable | accepts | default | meaning |
| --- | --- | --- | --- |
)";
    const config defaults;
    std::string others;
    for (const config_field& field : config_fields()) {
        const std::string name = "| `" + std::string{field.variable} + "` | ";
        if (field.rule == config_rule::elsewhere)
            others += name + std::string{field.description} + " |\n";
        else
            page += name + accepted_cell(field) + " | `" + value_text(defaults, field) + "` | " +
                    std::string{field.description} + " |\n";
    }
    page += R"(
With `COMMTASK_STATS=1` rank 0 prints a line per rank and their sum, and the tasks by kind. Times are in microseconds: the mean, the 99th
percentile (about), and the longest.

| column | meaning |
| --- | --- |
)";
    for (const stats_column& column : stats_columns())
        page += "| " + std::string{column.name} + " | " + std::string{column.meaning} + " |\n";
    return page + "\nThe library accepts these names without reading them:\n\n| variable | read by |\n| --- | --- |\n" +
           others;
}

} // namespace commtask::detail
