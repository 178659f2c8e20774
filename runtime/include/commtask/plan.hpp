// SPDX-License-Identifier: Apache-2.0
//
// A plan, owned by one object: the posts of a function are recorded once, and then started any
// number of times, each time by one post. The program may call record() in every iteration: later
// calls run the body only for a comparison, if COMMTASK_PLAN_CHECK=1 is set.
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

/// An open recording; the destructor drops it unless end() was called.
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
        is_open_ = code == COMMTASK_ERR_WORKER_THREAD; // with any other code the recording has ended
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

/// Recorded posts. Move-only; an empty plan has no posts. The object must outlive its runs.
class plan {
public:
    /// Makes an empty plan.
    plan() noexcept = default;
    /// Records the posts of `body` on this thread.
    /// @param body  calls post(), with after() for handles of the same recording. If it throws, the
    ///              exception is passed on and the recording is dropped.
    /// @throws error  if a post cannot be recorded, or MPI cannot make a member.
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
    /// @return this plan; its previous plan is released.
    plan& operator=(plan&& other) noexcept {
        plan taken{std::move(other)};
        std::swap(on_member_, taken.on_member_);
        std::swap(handle_, taken.handle_);
        return *this;
    }
    /// Releases the plan. If the plan still runs, commtask_finalize releases it, with the handler
    /// of on_member().
    ~plan() {
        if (handle_ == COMMTASK_PLAN_NULL) return;
        if (!frontend::has_let_go(commtask_plan_release(&handle_))) static_cast<void>(on_member_.release());
    }

    /// Records the posts of `body` if the plan is empty. Otherwise, if COMMTASK_PLAN_CHECK=1 is
    /// set, runs the body and compares its posts with the plan.
    /// @param body  as for the constructor.
    /// @throws error  as the constructor; or if the posts of the body differ from the plan.
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

    /// Whether the plan has a recording.
    explicit operator bool() const noexcept { return handle_ != COMMTASK_PLAN_NULL; }

    /// Returns the number of members: the recorded posts 0, 1, 2, ... in their order.
    /// @return the number.
    [[nodiscard]] std::size_t size() const noexcept { return commtask_plan_size(handle_); }

    /// Returns the start of the plan as an operation, for post(), co_await perform() and nodes of a
    /// flow graph.
    /// @return the operation.
    [[nodiscard]] operation run() const noexcept { return operation{commtask_op_plan(handle_)}; }

    /// Starts a run: one post to the worker, whatever the size of the plan.
    /// @param options  after(), then(), run_after_failure, report_to().
    /// @return the run, which ends when every member has ended.
    /// @throws error  if the last run has not ended, or a communicator was freed.
    template <posting_option... Options>
    [[nodiscard]] task start(Options&&... options) {
        return post(run(), std::forward<Options>(options)...);
    }

    /// Starts a run without a handle.
    /// @param options  as for start().
    /// @throws error  as start().
    template <posting_option... Options>
    void start_detached(Options&&... options) {
        post_detached(run(), std::forward<Options>(options)...);
    }

    /// Replaces a member's send buffer, effective with the next run.
    /// @param member  number of the member.
    /// @param buffer  as large as the previous buffer.
    /// @throws error  if the plan runs, or there is no such member or buffer.
    void rebind_send(std::size_t member, const void* buffer) {
        frontend::check(commtask_plan_rebind(handle_, member, buffer, nullptr));
    }
    /// Replaces a member's receive buffer, effective with the next run.
    /// @param member  number of the member.
    /// @param buffer  as large as the previous buffer.
    /// @throws error  if the plan runs, or there is no such member or buffer.
    void rebind_recv(std::size_t member, void* buffer) {
        frontend::check(commtask_plan_rebind(handle_, member, nullptr, buffer));
    }

    /// Sets a handler: effective with the next run, `handler(number, outcome)` is called on the
    /// worker for each member that ends, after the member's own callback. The handler may signal,
    /// post and mark members ready; it must not wait and should not compute.
    /// @param handler  replaces the previous handler; the plan owns it.
    /// @throws error if the plan runs or is empty.
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

    /// Defers a member: effective with the next run, the member waits for pready() in every run.
    /// @param member  number of the member.
    /// @throws error  if the plan runs, or there is no such member.
    void defer(std::size_t member) { frontend::check(commtask_plan_defer(handle_, member)); }

    /// Marks a deferred member ready, once in every run, on any thread.
    /// @param member  number of the member.
    /// @throws error  if it is not deferred, or was marked ready before in this run.
    void pready(std::size_t member) { frontend::check(commtask_plan_pready(handle_, member)); }

    /// Marks a deferred member ready, without an exception.
    /// @param member  number of the member.
    /// @return false if it is not deferred, or was marked ready before in this run.
    [[nodiscard]] bool try_pready(std::size_t member) noexcept {
        return commtask_plan_pready(handle_, member) == COMMTASK_OK;
    }

    /// Marks partitions of a psend() ready, each once in every run, on any thread.
    /// @param member  number of the member.
    /// @param first  the first partition.
    /// @param count  number of partitions.
    /// @throws error  if there is no such member or partition, or some were marked ready before in
    ///                this run.
    void pready_range(std::size_t member, int first, int count = 1) {
        frontend::check(commtask_plan_pready_range(handle_, member, first, count));
    }

    /// Tests whether a partition has ended in the last run.
    /// @param member  number of a precv() or psend().
    /// @param partition  number of the partition.
    /// @return true if it has ended, whatever its state.
    /// @throws error  if there is no such member or partition.
    [[nodiscard]] bool parrived(std::size_t member, int partition) const {
        const int answer = commtask_plan_parrived(handle_, member, partition);
        if (answer < 0) frontend::refuse(answer);
        return answer == 1;
    }

    /// Tests whether a member has ended in the last run.
    /// @param member  number of the member.
    /// @return true if it has ended, whatever its state.
    /// @throws error  if there is no such member.
    [[nodiscard]] bool parrived(std::size_t member) const {
        const int answer = commtask_plan_parrived(handle_, member, COMMTASK_ALL_PARTITIONS);
        if (answer < 0) frontend::refuse(answer);
        return answer == 1;
    }

    /// Returns a handle of a member in the last run, or in the first run if the plan was never
    /// started. Wait for the handle, or use it in after().
    /// @param number  number of the member.
    /// @return its handle.
    /// @throws error if there is no such member.
    [[nodiscard]] task member(std::size_t number) const {
        commtask_t handle = COMMTASK_NULL;
        frontend::check(commtask_plan_member(handle_, number, &handle));
        return task::adopt(handle);
    }

    /// Returns the C handle.
    /// @return a handle that this object still owns.
    [[nodiscard]] commtask_plan_t native() const noexcept { return handle_; }

private:
    frontend::owned_function on_member_ = frontend::no_function();
    commtask_plan_t handle_ = COMMTASK_PLAN_NULL;
};

} // namespace commtask
