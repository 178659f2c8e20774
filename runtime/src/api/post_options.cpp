// SPDX-License-Identifier: Apache-2.0
//
// Reads and checks the options of a post. The last fields are read by functions, since an older
// version's structure is shorter.
#include "api/posting.hpp"

#include "base/last_error.hpp"

#include <cstddef>

namespace commtask::detail {
namespace {

/// The largest reference count of a task.
constexpr std::size_t most_predecessors = (std::size_t{1} << 28U) - 1;

constexpr std::uint32_t public_flags =
    COMMTASK_ORDERED | COMMTASK_UNORDERED | COMMTASK_TRY | COMMTASK_RUN_AFTER_FAILURE | COMMTASK_PROGRESS_FOLLOWS |
    COMMTASK_CALLBACK_RELAYS | COMMTASK_CALLBACK_ONCE | COMMTASK_CALLBACK_STATE | COMMTASK_START_NOW;

} // namespace

const commtask_ticket* ticket_of(const commtask_options* options) noexcept {
    const bool has_one = options != nullptr &&
                         options->struct_size >= offsetof(commtask_options, ticket) + sizeof(commtask_ticket) &&
                         options->ticket.number != 0;
    return has_one ? &options->ticket : nullptr;
}

source_location source_of(const commtask_options* options) noexcept {
    const bool has_fields =
        options != nullptr && options->struct_size >= offsetof(commtask_options, line) + sizeof options->line;
    return has_fields ? source_location{options->file, options->line} : source_location{};
}

std::uint32_t count_predecessors(const commtask_options& options) noexcept {
    std::uint32_t count = 0;
    for_each_predecessor(options, [&](const task&) { ++count; });
    return count;
}

int check_options(const commtask_options& options, const operation_traits& operation,
                  const comm_queue& queue) noexcept {
    if (options.struct_size < offsetof(commtask_options, ticket)) {
        return refuse(COMMTASK_ERR_ARGUMENT, "options->struct_size is %zu: start from COMMTASK_OPTIONS_INIT",
                      options.struct_size);
    }
    if ((options.flags & ~public_flags) != 0) {
        return refuse(COMMTASK_ERR_ARGUMENT, "options->flags has unknown bits: 0x%x", options.flags & ~public_flags);
    }
    if ((options.flags & COMMTASK_ORDERED) != 0 && (options.flags & COMMTASK_UNORDERED) != 0) {
        return refuse(COMMTASK_ERR_ARGUMENT,
                      "options->flags has both COMMTASK_ORDERED and COMMTASK_UNORDERED: set at most one of them");
    }
    if ((options.n_after > 0 && options.after == nullptr) || (options.n_events > 0 && options.events == nullptr)) {
        return refuse(COMMTASK_ERR_ARGUMENT,
                      "options->after or options->events is null, and n_after or n_events is not 0");
    }
    if (options.status != nullptr && options.status->struct_size == 0) {
        return refuse(COMMTASK_ERR_ARGUMENT, "options->status->struct_size is 0: start from COMMTASK_STATUS_INIT");
    }
    const std::size_t n_predecessors = options.n_after + options.n_events;
    if (n_predecessors > most_predecessors || n_predecessors < options.n_after) {
        return refuse(COMMTASK_ERR_ARGUMENT,
                      "options->n_after is %zu and n_events %zu: a task has at most %zu predecessors", options.n_after,
                      options.n_events, most_predecessors);
    }
    const commtask_ticket* const ticket = ticket_of(&options);
    if (ticket == nullptr) return COMMTASK_OK;
    if (ticket->class_ != static_cast<std::uint32_t>(operation.ordered_in)) {
        return refuse(COMMTASK_ERR_ARGUMENT, "options->ticket was taken for another kind of operation");
    }
    return check_ticket(*ticket, queue);
}

} // namespace commtask::detail
