// SPDX-License-Identifier: Apache-2.0
//
// A plan, owned by one object: what a function posts is recorded once and then started again and again by one post. The same
// body may be given to record() in every iteration: it runs the first time, and later only where COMMTASK_PLAN_CHECK=1 asks for
// a comparison.
#pragma once

#include <commtask/closure.hpp>
#include <commtask/error.hpp>
#include <commtask/operation.hpp>
#include <commtask/outcome.hpp>
#include <commtask/post.hpp>
#include <commtask/task.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace commtask {

/// @cond
namespace frontend {

/// A recording that is dropped unless it comes to its end.
class open_recording {
public:
    open_recording() { check(commtask_record_begin()); }
    open_recording(const open_recording&) = delete;
    open_recording& operator=(const open_recording&) = delete;
    ~open_recording() {
        if (is_open_) static_cast<void>(commtask_record_end(nullptr));
    }
    [[nodiscard]] commtask_plan_t end() {
        commtask_plan_t made = COMMTASK_PLAN_NULL;
        const int code = commtask_record_end(&made);
        is_open_ = code == COMMTASK_ERR_WORKER_THREAD; // else it is over, whatever became of it
        check(code);
        return made;
    }
    void compare_with(commtask_plan_t plan) {
        is_open_ = false;
        check(commtask_record_check(plan));
    }

private:
    bool is_open_ = true;
};

} // namespace frontend
/// @endcond

/// Recorded posts. Move-only; an empty one has nothing recorded. The object outlives its runs.
class plan {
public:
    /// An empty one.
    plan() noexcept = default;
    /// Records what `body` posts on this thread.
    /// @param body  calls post(), with after() for handles of the same recording; what it throws is passed on, and nothing is kept.
    /// @throws error  if something cannot be recorded, or MPI cannot make a member.
    template <std::invocable Body>
    explicit plan(Body&& body) {
        record(std::forward<Body>(body));
    }
    plan(const plan&) = delete;
    plan& operator=(const plan&) = delete;
    /// @param other  is empty afterwards.
    plan(plan&& other) noexcept
        : on_member_(std::move(other.on_member_)), handle_(std::exchange(other.handle_, COMMTASK_PLAN_NULL)) {}
    /// @param other  is empty afterwards.
    /// @return this plan; what it had before is given back.
    plan& operator=(plan&& other) noexcept {
        plan taken{std::move(other)};
        std::swap(on_member_, taken.on_member_);
        std::swap(handle_, taken.handle_);
        return *this;
    }
    /// Gives the plan back. One that still runs is left to commtask_finalize, with the handler of on_member().
    ~plan() {
        if (handle_ == COMMTASK_PLAN_NULL) return;
        if (!frontend::has_let_go(commtask_plan_release(&handle_))) static_cast<void>(on_member_.release());
    }

    /// Records what `body` posts, if nothing is recorded yet. Else the body runs only if COMMTASK_PLAN_CHECK=1 is set, and is compared.
    /// @param body  as for the constructor.
    /// @throws error  as the constructor; or if the body would post something else than the plan has.
    template <std::invocable Body>
    void record(Body&& body) {
        const bool is_new = handle_ == COMMTASK_PLAN_NULL;
        if (!is_new && commtask_plan_is_checked() == 0) return;
        frontend::open_recording recording;
        {
            const frontend::in_owner members_outlive_it{nullptr};
            std::forward<Body>(body)();
        }
        if (is_new) {
            handle_ = recording.end();
        } else {
            recording.compare_with(handle_);
        }
    }

    /// Whether something is recorded.
    explicit operator bool() const noexcept { return handle_ != COMMTASK_PLAN_NULL; }

    /// How many posts were recorded: members 0, 1, 2, ... in their order.
    /// @return the number.
    [[nodiscard]] std::size_t size() const noexcept { return commtask_plan_size(handle_); }

    /// The start of the plan as an operation, for post(), co_await perform() and nodes of a flow graph.
    /// @return the operation.
    [[nodiscard]] operation run() const noexcept { return operation{commtask_op_plan(handle_)}; }

    /// Starts it: one post to the worker, whatever its size.
    /// @param options  after(), then(), run_after_failure, report_to().
    /// @return the run, which ends when every member has.
    /// @throws error  if the last run has not ended, or a communicator is gone.
    template <posting_option... Options>
    [[nodiscard]] task start(Options&&... options) {
        return post(run(), std::forward<Options>(options)...);
    }

    /// Starts it without a handle.
    /// @param options  as for start().
    /// @throws error  as start().
    template <posting_option... Options>
    void start_detached(Options&&... options) {
        post_detached(run(), std::forward<Options>(options)...);
    }

    /// Gives a member another buffer to send from, between two runs.
    /// @param member  its number.
    /// @param buffer  as large as the one before.
    /// @throws error  if the plan runs, or there is no such member or buffer.
    void rebind_send(std::size_t member, const void* buffer) {
        frontend::check(commtask_plan_rebind(handle_, member, buffer, nullptr));
    }
    /// Gives a member another buffer to receive into, between two runs.
    /// @param member  its number.
    /// @param buffer  as large as the one before.
    /// @throws error  if the plan runs, or there is no such member or buffer.
    void rebind_recv(std::size_t member, void* buffer) {
        frontend::check(commtask_plan_rebind(handle_, member, nullptr, buffer));
    }

    /// From the next run on calls `handler(number, ended)` for each member that ends, after its own callback: on the worker, where it
    /// may signal, post and let members go, must not wait and should not compute.
    /// @param handler  in place of the one before; the plan keeps it.
    /// @throws error  if the plan runs, or nothing is recorded.
    template <typename Handler>
        requires std::is_nothrow_invocable_v<Handler&, std::size_t, const outcome&>
    void on_member(Handler handler) {
        const auto call = [](std::size_t number, const commtask_status* status, void* self) noexcept {
            (*static_cast<Handler*>(self))(number, outcome{*status});
        };
        frontend::owned_function owned = frontend::own_function(std::move(handler));
        frontend::check(commtask_plan_on_member(handle_, +call, owned.get()));
        on_member_ = std::move(owned);
    }

    /// From the next run on the member waits for pready() in every run.
    /// @param member  its number.
    /// @throws error  if the plan runs, or there is no such member.
    void defer(std::size_t member) { frontend::check(commtask_plan_defer(handle_, member)); }

    /// Lets a deferred member go, once in every run; any thread.
    /// @param member  its number.
    /// @throws error  if it is not deferred, or was made ready before.
    void pready(std::size_t member) { frontend::check(commtask_plan_pready(handle_, member)); }

    /// The same for places that must not throw.
    /// @param member  its number.
    /// @return false if it is not deferred, or was made ready before.
    [[nodiscard]] bool try_pready(std::size_t member) noexcept {
        return commtask_plan_pready(handle_, member) == COMMTASK_OK;
    }

    /// Lets partitions of a psend() go, each once in every run; any thread.
    /// @param member  its number.
    /// @param first  the first of them.
    /// @param count  how many.
    /// @throws error  if there is no such member or partition, or some were made ready before.
    void pready_range(std::size_t member, int first, int count = 1) {
        frontend::check(commtask_plan_pready_range(handle_, member, first, count));
    }

    /// Whether a partition has been received, or sent, in the run that was started last.
    /// @param member  the number of a precv() or psend().
    /// @param partition  which one.
    /// @return so it is, in whatever way.
    /// @throws error  if there is no such member or partition.
    [[nodiscard]] bool parrived(std::size_t member, int partition) const {
        const int answer = commtask_plan_parrived(handle_, member, partition);
        if (answer < 0) frontend::refuse(answer);
        return answer == 1;
    }

    /// Whether a member has ended in the run that was started last.
    /// @param member  its number.
    /// @return so it is, in whatever way it ended.
    /// @throws error  if there is no such member.
    [[nodiscard]] bool parrived(std::size_t member) const {
        const int answer = commtask_plan_parrived(handle_, member, COMMTASK_ALL_PARTITIONS);
        if (answer < 0) frontend::refuse(answer);
        return answer == 1;
    }

    /// A member in the run that was started last, to wait for or to be after(); of the first run if there was none.
    /// @param number  of the member.
    /// @return its handle.
    /// @throws error  if there is no such member.
    [[nodiscard]] task member(std::size_t number) const {
        commtask_t handle = COMMTASK_NULL;
        frontend::check(commtask_plan_member(handle_, number, &handle));
        return task::adopt(handle);
    }

    /// The C handle.
    /// @return a handle that this object keeps.
    [[nodiscard]] commtask_plan_t native() const noexcept { return handle_; }

private:
    frontend::owned_function on_member_ = frontend::no_function();
    commtask_plan_t handle_ = COMMTASK_PLAN_NULL;
};

} // namespace commtask
