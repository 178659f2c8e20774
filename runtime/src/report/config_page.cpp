// SPDX-License-Identifier: Apache-2.0
//
// The rows of config_table.def and the columns of COMMTASK_STATS as they are: whoever adds one has documented it, and a
// test compares the page with this text.
#include "report/config_page.hpp"

#include "config/config.hpp"
#include "report/stats_table.hpp"

namespace commtask::detail {

std::string config_markdown() {
    std::string page = R"(# Configuration

<!-- Made from runtime/src/config/config_table.def by `commtask-info --config-markdown`; a test compares the two. -->

Every setting has a default. A program may set it in the `commtask_config` that it gives to `commtask_init`, where 0 and
null mean "not set" and `COMMTASK_ZERO` is 0; a
`COMMTASK_*` variable in the environment of the process overrides both, so that a user can change the settings of a
program without its source. A variable that is set but empty counts as not set.

A value that is not accepted makes `commtask_init` return `COMMTASK_ERR_CONFIG` with a sentence that names the nearest
valid value. An unknown `COMMTASK_` name is only warned about, with the nearest valid name. `commtask-info` shows the
values in force and where each comes from.

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
            page += name + accepted_text(field) + " | `" + value_text(defaults, field) + "` | " +
                    std::string{field.description} + " |\n";
    }
    page += R"(
What a trace costs an event, a task and a whole program is
[measured](performance.md#what-does-one-message-or-task-cost): little, but for programs of very short tasks whose
cores are all taken.

With `COMMTASK_STATS=1` rank 0 prints a line per rank and their sum, and the tasks by kind. Times are in microseconds: the
mean, what about 99 % of them do not exceed, and the longest.

| column | what it says |
| --- | --- |
)";
    for (const stats_column& column : stats_columns())
        page += "| " + std::string{column.name} + " | " + std::string{column.meaning} + " |\n";
    return page + "\nThe library accepts these names without reading them:\n\n| variable | read by |\n| --- | --- |\n" +
           others;
}

} // namespace commtask::detail
