// SPDX-License-Identifier: Apache-2.0
//
// Posts on windows. If the program manages the epochs of the window, the operation is entered in
// the window's epoch log, which orders it. Such an operation can have no other order, and cannot be
// a member of a plan.
#include "api/post_window.hpp"

#include "api/posting.hpp"
#include "base/last_error.hpp"
#include "mpi/groups.hpp"
#include "mpi/one_sided.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace commtask::detail {
namespace {

[[nodiscard]] std::shared_ptr<const served_window> window_in(context& runtime, const commtask_op& op) noexcept {
    return operation_of(op.kind).takes_window ? runtime.windows().find(window_of(op)) : nullptr;
}

/// The ranks, in the window, of the group of win_post or win_start. Called before the log's mutex
/// is locked: a function that MPI calls may post, so MPI's lock must not be taken under this mutex.
[[nodiscard]] int read_group(const commtask_op& op, const served_window& window, std::vector<int>& ranks) noexcept {
    ranks.clear();
    if (group_of(op) == MPI_GROUP_NULL) return COMMTASK_OK;
    try {
        if (!read_ranks_in(window.channel, group_of(op), ranks))
            return refuse(COMMTASK_ERR_ARGUMENT, "group is not a group, or was freed");
        const auto outsider = std::ranges::find(ranks, MPI_UNDEFINED);
        if (outsider != ranks.end()) {
            return refuse(COMMTASK_ERR_RANK, "rank %d of group is not a rank of %s",
                          static_cast<int>(outsider - ranks.begin()), window.name.c_str());
        }
        return COMMTASK_OK;
    } catch (const std::bad_alloc&) {
        return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for the ranks of group");
    }
}

/// @param enter  int(std::span<const int> group)
template <typename Enter>
[[nodiscard]] int enter_with_group(const commtask_op& op, const served_window& window, Enter&& enter) noexcept {
    if (!takes_group(op)) return enter(std::span<const int>{});
    std::vector<int> ranks = window.epochs->log.lend_memory();
    int code = read_group(op, window, ranks);
    if (code == COMMTASK_OK) code = enter(std::span<const int>{ranks});
    window.epochs->log.take_back_memory(std::move(ranks));
    return code;
}

/// Enters the operation in the log of the program's epochs, and adds COMMTASK_ORDERED. Does nothing
/// for other windows.
/// @param has_order  whether the caller asked for another order
/// @return COMMTASK_OK, or an error code if the operation is not allowed now
[[nodiscard]] int enter_epoch(context& runtime, const commtask_op& op, bool has_order, std::uint32_t& flags) noexcept {
    const auto window = window_in(runtime, op);
    if (window == nullptr || !window->epochs) return COMMTASK_OK;
    if (has_order) return check_order(runtime, op);
    flags |= COMMTASK_ORDERED;
    return enter_with_group(op, *window, [&](std::span<const int> group) noexcept {
        return window->epochs->log.enter(op, window->name, group);
    });
}

} // namespace

int refuse_unregistered() noexcept {
    return refuse(
        COMMTASK_ERR_WINDOW,
        "window is not registered, or was freed: call commtask_win_register or commtask_win_register_epochs first");
}

int give_channel(context& runtime, commtask_op& op) noexcept {
    if (!operation_of(op.kind).takes_window) return COMMTASK_OK;
    const auto window = runtime.windows().find(window_of(op));
    if (window == nullptr) return refuse_unregistered();
    op.comm = window->channel;
    return COMMTASK_OK;
}

int check_order(context& runtime, const commtask_op& op) noexcept {
    const auto window = window_in(runtime, op);
    if (window == nullptr || !window->epochs) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_ARGUMENT,
                  "operations on %s run in the order in which they are posted, as its epochs do: plans, COMMTASK_TRY "
                  "and COMMTASK_UNORDERED are not allowed",
                  window->name.c_str());
}

int take_place(context& runtime, const commtask_op& op, std::uint32_t flags, const source_location& where,
               comm_queue& queue, std::uint64_t& number) noexcept {
    const auto window = window_in(runtime, op);
    bool has_memory = true;
    const auto take = [&]() noexcept {
        const program_order::ticket taken = queue.order.make_and_keep(op, flags, where);
        has_memory = taken.has_memory;
        return number = taken.number;
    };
    if (window != nullptr && window->epochs) {
        return enter_with_group(op, *window, [&](std::span<const int> group) noexcept {
            return window->epochs->log.enter_for_later(op, window->name, group, take);
        });
    }
    static_cast<void>(take());
    return has_memory ? COMMTASK_OK : refuse(COMMTASK_ERR_NO_MEMORY, "no memory for  a ticket");
}

void settle_place(context& runtime, MPI_Comm channel, std::uint64_t number, bool is_posted) noexcept {
    const auto window = runtime.windows().find_by_channel(channel);
    if (window == nullptr || !window->epochs) return;
    if (is_posted) {
        window->epochs->log.was_posted(number);
    } else {
        window->epochs->log.was_dropped(number);
    }
}

int post_on_window(posting& made) noexcept {
    if (const int code = made.begin(); code != COMMTASK_OK) return code;
    if (const int code = made.make_turn(made.flags | COMMTASK_ORDERED); code != COMMTASK_OK) return code;
    const bool has_order = !made.may_wait() || (made.flags & COMMTASK_UNORDERED) != 0;
    if (const int code = enter_epoch(made.runtime, made.op, has_order, made.flags); code != COMMTASK_OK) return code;
    if (!can_have_turn(made.kind, made.flags)) made.unmake_turn();
    const int code = made.write();
    return code == COMMTASK_OK ? made.hand_over() : code;
}

} // namespace commtask::detail
