// SPDX-License-Identifier: Apache-2.0
//
// Options of a task: predecessors, order, and a callback at its end. Each option is a value that
// sets its part of commtask_options; a post takes any number of options.
#pragma once

#include <commtask/event.hpp>
#include <commtask/operation.hpp>
#include <commtask/task.hpp>

#include <concepts>
#include <cstdint>
#include <ranges>
#include <type_traits>
#include <utility>

namespace commtask {

/// An option of post(): apply() sets its part of commtask_options, and was_posted() is called after
/// a successful post.
template <typename Option>
concept posting_option = requires(std::remove_cvref_t<Option>& option, commtask_options& raw) {
    { option.apply(raw) } noexcept;
    { option.was_posted() } noexcept;
};

/// A flag of the C interface as an option.
struct flag_option {
    std::uint32_t flag; ///< COMMTASK_ORDERED, ...
    /// @param raw  where the flag is set.
    void apply(commtask_options& raw) const noexcept { raw.flags |= flag; }
    /// Nothing to do.
    void was_posted() const noexcept {}
};

/// The task starts in the order of creation among all ordered tasks of its communicator, whatever
/// their ranks and tags.
inline constexpr flag_option ordered{COMMTASK_ORDERED};

/// The task starts when it is ready, even before an earlier message that could match the same
/// partner.
inline constexpr flag_option unordered{COMMTASK_UNORDERED};

/// The task starts even if a predecessor failed or was canceled.
inline constexpr flag_option run_after_failure{COMMTASK_RUN_AFTER_FAILURE};

/// The caller will make progress or wait at once, so a shared worker in a timed wait is not woken
/// for this task.
inline constexpr flag_option progress_follows{COMMTASK_PROGRESS_FOLLOWS};

/// The function of then() belongs to a layer above and only forwards the end of the task:
/// COMMTASK_CALLBACK_LIMIT_US, a limit for functions of the program, does not apply.
inline constexpr flag_option callback_relays{COMMTASK_CALLBACK_RELAYS};

/// @cond
namespace frontend {

template <typename T>
concept one_predecessor = std::same_as<std::remove_cvref_t<T>, task> || std::same_as<std::remove_cvref_t<T>, event>;
template <typename T>
concept range_of_predecessors = std::ranges::input_range<T> && one_predecessor<std::ranges::range_reference_t<T>>;

class after_option {
public:
    void add(const task& predecessor) { tasks_.add(predecessor.native()); }
    void add(const event& predecessor) { events_.add(predecessor.native()); }
    void apply(commtask_options& raw) const noexcept {
        raw.after = tasks_.data();
        raw.n_after = tasks_.size();
        raw.events = events_.data();
        raw.n_events = events_.size();
    }
    void was_posted() const noexcept {}

private:
    handle_list<commtask_t, 16> tasks_;
    handle_list<commtask_event_t, 8> events_;
};

template <typename Function>
class then_option {
public:
    explicit then_option(Function function) : function_(std::move(function)) {}
    void apply(commtask_options& /*raw*/) const noexcept {} // post_with_closures passes the closure
    void was_posted() const noexcept {}
    [[nodiscard]] Function take() && { return std::move(function_); }
    [[nodiscard]] const Function& take() const& { return function_; }

private:
    Function function_;
};

class report_option {
public:
    explicit report_option(commtask_status& target) noexcept : target_(&target) {}
    void apply(commtask_options& raw) const noexcept { raw.status = target_; }
    void was_posted() const noexcept {}

private:
    commtask_status* target_;
};

template <typename T>
inline constexpr bool is_after = std::same_as<std::remove_cvref_t<T>, after_option>;
template <typename T>
inline constexpr bool is_exactly_then = false;
template <typename Function>
inline constexpr bool is_exactly_then<then_option<Function>> = true;
template <typename T>
inline constexpr bool is_then = is_exactly_then<std::remove_cvref_t<T>>;

} // namespace frontend
/// @endcond

/// Predecessors: the task starts when all these tasks, events, and ranges of them have ended. Empty
/// handles are skipped.
/// @param predecessors  may be dropped when the task is posted.
/// @return an option for post().
template <typename... Predecessors>
    requires((frontend::one_predecessor<Predecessors> || frontend::range_of_predecessors<const Predecessors&>) && ...)
[[nodiscard]] auto after(const Predecessors&... predecessors) {
    frontend::after_option option;
    const auto add = [&option](const auto& given) {
        if constexpr (frontend::one_predecessor<decltype(given)>) {
            option.add(given);
        } else {
            for (const auto& each : given) option.add(each);
        }
    };
    (add(predecessors), ...);
    return option;
}

/// Calls a function on the worker when the task has ended, completed or not.
/// @param function  void(const outcome&) or void(), declared noexcept, since no caller could catch
///                  an exception. The function may signal events and post. It must not block and
///                  should not compute, since other tasks do not progress meanwhile.
/// @return an option for post().
template <typename Function>
    requires(std::is_invocable_v<std::decay_t<Function>&, const outcome&> ||
             std::is_invocable_v<std::decay_t<Function>&>)
[[nodiscard]] auto then(Function&& function) {
    using stored = std::decay_t<Function>;
    static_assert(std::is_nothrow_invocable_v<stored&, const outcome&> || std::is_nothrow_invocable_v<stored&>,
                  "a function for then() must be noexcept: it runs on the worker, where nobody can catch");
    return frontend::then_option<stored>{std::forward<Function>(function)};
}

/// Writes the outcome of the task before its successors start.
/// @param target  must live until the task has ended.
/// @return an option for post().
[[nodiscard]] inline auto report_to(outcome& target) noexcept { return frontend::report_option{target.native()}; }

/// A position in a communicator's order, taken when a task is created and used when it is posted.
/// The destructor releases a ticket that was not used.
class [[nodiscard]] ticket {
public:
    /// Takes the next position.
    /// @param what  the operation that will be posted; its kind decides between the order of
    ///              messages and of collectives.
    /// @throws error  if an argument of the operation is wrong.
    explicit ticket(const operation& what) : comm_(what.native().comm) {
        frontend::check(commtask_ticket_take(&what.native(), &place_));
    }
    ticket(const ticket&) = delete;
    ticket& operator=(const ticket&) = delete;
    /// @param other  is empty afterwards.
    ticket(ticket&& other) noexcept : place_(std::exchange(other.place_, {})), comm_(other.comm_) {}
    /// @param other  is empty afterwards.
    /// @return this ticket; its previous position is released.
    ticket& operator=(ticket&& other) noexcept {
        ticket taken{std::move(other)};
        std::swap(place_, taken.place_);
        std::swap(comm_, taken.comm_);
        return *this;
    }
    /// Releases the position if it was not used.
    ~ticket() {
        if (place_.number != 0) static_cast<void>(commtask_ticket_drop(comm_, place_));
    }

    /// Whether the object has a position that was not used yet.
    explicit operator bool() const noexcept { return place_.number != 0; }

    /// @param raw  where the ticket is written.
    void apply(commtask_options& raw) const noexcept { raw.ticket = place_; }
    /// Empties the ticket, since its position is used.
    void was_posted() noexcept { place_ = {}; }

private:
    commtask_ticket place_{};
    MPI_Comm comm_;
};

/// Posts the task with a ticket, at the position that the ticket has reserved.
/// @param taken  the ticket; empty after the post.
/// @return an option for post().
[[nodiscard]] inline ticket& at(ticket& taken) noexcept { return taken; }

} // namespace commtask
