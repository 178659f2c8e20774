// SPDX-License-Identifier: Apache-2.0
//
// MPI as a transport: the table of the requests in flight, and how it is polled. The requests are
// contiguous, so that MPI tests a window of them in place. A poll tests the newest requests and one
// further window, so that a thousand pending receives do not slow down one completion. The calling
// thread has the progress lock of the lane.
//
// MPI has no nonblocking MPI_Mprobe, so each poll calls MPI_Improbe for a task that probes. A
// receive that was issued after an ordered mprobe, and could match the same message, is queued
// behind that mprobe: the table has MPI_REQUEST_NULL for the receive until it is started.
//
// An operation with steps (a put, then its notification) has a part for each step; a step begins
// when the previous step has ended. MPICH advances a collective file operation only in a test of
// its request alone, and the steps of such an operation are collectives. So a poll tests only the
// oldest operation of each file.
#pragma once

#include "base/system.hpp"
#include "core/plan.hpp"
#include "core/task_list.hpp"
#include "core/transport.hpp"
#include "mpi/early_ends.hpp"
#include "mpi/kept_handles.hpp"
#include "mpi/kept_lists.hpp"
#include "mpi/operations.hpp"
#include "mpi/windows.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace commtask::detail {

/// The object has cache lines of its own: the progress thread writes it, and submitters read its
/// neighbours.
class alignas(2 * cache_line_bytes) mpi_transport final : public transport {
public:
    /// `test_window`: the maximum number of requests that one MPI_Testsome call tests. A poll makes
    /// at most two such calls.
    explicit mpi_transport(std::size_t test_window);
    mpi_transport(const mpi_transport&) = delete;
    mpi_transport& operator=(const mpi_transport&) = delete;
    ~mpi_transport() override;

    /// Called before the first task. @param windows  some of them have a thread of their own
    void use_windows(mpi_windows& windows) noexcept { windows_ = &windows; }
    /// @param handles  references to the program's MPI handles, which tasks keep
    void use_handles(kept_handles& handles) noexcept { handles_ = &handles; }

    [[nodiscard]] start_result start(task& which) noexcept override;
    void start_gathered() noexcept override;
    [[nodiscard]] int prepare(plan_member& recorded) noexcept override;
    void forget(plan_member& recorded) noexcept override;
    void keep(task& which) noexcept override { handles_->keep(which); }
    void release_kept(task& which) noexcept override { handles_->let_go(which); }
    void compare_lists(task& which) noexcept override {
        if (has_changed_lists(which)) take_error(which, MPI_ERR_ARG);
    }
    [[nodiscard]] bool may_start_on_submitter(const task& which) const noexcept override;
    void poll(completion_sink& sink) noexcept override;
    [[nodiscard]] bool has_polled_all() const noexcept override { return has_polled_all_; }
    void poll_one(task& which, completion_sink& sink) noexcept override;
    void make_progress() noexcept override;
    void withdraw(task& which) noexcept override;
    void abandon(task& which) noexcept override;
    void clean_up(task& which) noexcept override;
    void show_messages(const commtask_op& op, message_visitor& visitor) const noexcept override;
    [[nodiscard]] std::int64_t given_bytes(const commtask_op& op) const noexcept override;
    [[nodiscard]] std::string describe(const task& which) const override;

private:
    /// Set in started_part::part of a send in an operation of many messages.
    static constexpr std::uint32_t is_send_part = 1U << 31U;

    /// The owner of a request in the table.
    struct started_part {
        task* of;
        /// The status of part 0 is the status of the task; the send of a sendrecv is part 1.
        std::uint32_t part;
        /// MPI has not started the request: the next poll reports the part as ended.
        bool is_refused = false;
        /// A persistent request of a plan, which is started again in each run.
        bool is_kept = false;
    };

    /// A request that a test found complete, after its removal from the table.
    struct ended_request {
        int index; ///< Relative to the tested window.
        started_part whose;
        MPI_Status* status;
    };

    void test(std::size_t first, std::size_t count, completion_sink& sink) noexcept;
    void test_one_by_one(std::size_t first, std::size_t count, completion_sink& sink) noexcept;
    [[nodiscard]] bool must_test_one_by_one(std::size_t first, std::size_t count) const noexcept;
    void report_ended(std::size_t first, std::span<ended_request> ended, int code, completion_sink& sink) noexcept;
    void request_ended(started_part ended, const MPI_Status& status, int error, completion_sink& sink) noexcept;
    void step_ended(started_part ended, const MPI_Status& status, int error, completion_sink& sink) noexcept;
    [[nodiscard]] bool start_next(task& which) noexcept;
    void poll_alone(completion_sink& sink) noexcept;
    void poll_threads(completion_sink& sink) noexcept;
    void remove(std::size_t index) noexcept;
    [[nodiscard]] bool has_status_request(const task& which) const noexcept;
    void abandon_request(std::size_t index) noexcept;
    void count_in_flight() noexcept { n_in_flight_ = requests_.size() + n_probes_ + n_elsewhere_; }
    [[nodiscard]] bool has_room_for_requests(const commtask_op& op) noexcept;
    [[nodiscard]] bool must_queue(const task& which) const noexcept;
    void poll_unmatched(completion_sink& sink) noexcept;
    /// The result of a poll of one task in unmatched_.
    enum class unmatched_state : std::uint8_t {
        stays,      ///< The task stays in the list.
        is_started, ///< The receive was started.
        is_over,    ///< Part 0 has ended.
    };
    [[nodiscard]] unmatched_state poll_unmatched_task(task& which, const task_list& earlier) noexcept;
    [[nodiscard]] bool try_match_probe(task& which) noexcept;
    [[nodiscard]] bool start_receive_of(task& which) noexcept;
    [[nodiscard]] start_result gather(task& which, const kept_requests& kept) noexcept;
    void mark_not_started(std::size_t first, int error) noexcept;
    /// If MPI freed a persistent request because it failed, its member makes new requests in the
    /// next run. Freeing such a request is an error in Open MPI 4.1.
    /// @param code  of the test of the request at `index`
    void mark_if_freed(std::size_t index, int code) noexcept;
    void report_refused(completion_sink& sink) noexcept;
    [[nodiscard]] std::string describe_posted(const task& which) const;
    [[nodiscard]] static bool is_receive(const started_part& of) noexcept;
    /// The persistent requests of a member for its current buffers, created if necessary; null with
    /// an MPI error code.
    [[nodiscard]] static const kept_requests* requests_for(plan_member& member, int& error) noexcept;
    [[nodiscard]] static int make_requests(const commtask_op& op, kept_requests& kept) noexcept;

    // Operations of many messages: many.cpp.
    [[nodiscard]] static std::size_t count_requests(const commtask_op& op) noexcept;
    [[nodiscard]] start_result start_many(task& which, bool queues) noexcept;
    [[nodiscard]] static int make_many(const commtask_op& op, kept_requests& kept) noexcept;
    static void one_of_many_ended(started_part ended, const MPI_Status& status, int error) noexcept;
    void withdraw_many(const task& which) noexcept;
    [[nodiscard]] int start_queued_receives(const task& which) noexcept;
    [[nodiscard]] bool drop_queued_receives(task& which) noexcept;
    static void take_status(task& which, const MPI_Status& status) noexcept;
    static void take_error(task& which, int error) noexcept;

    const std::size_t window_;
    std::vector<MPI_Request> requests_;
    std::vector<started_part> parts_; ///< Parallel to requests_.
    /// Mprobes that have matched no message, and receives queued behind them, in the order of
    /// issue.
    task_list unmatched_;
    task_list polled_alone_; ///< Collective file operations, in the order of issue.
    /// A generalized request that never completes: testing it makes progress and has no other
    /// effect.
    MPI_Request never_ = MPI_REQUEST_NULL;
    bool has_refused_ = false;
    std::size_t n_probes_ = 0;    ///< Started mprobes, which have no request.
    std::size_t n_elsewhere_ = 0; ///< Started operations that the thread of a window has.
    mpi_windows* windows_ = nullptr;
    kept_handles* handles_ = nullptr;
    std::size_t cursor_ = 0; ///< The beginning of the next further window.
    bool has_polled_all_ = true;
    early_ends early_ends_;
    std::vector<int> indices_;
    std::vector<MPI_Status> statuses_;
    std::vector<ended_request> ended_;
};

} // namespace commtask::detail
