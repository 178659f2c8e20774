// SPDX-License-Identifier: Apache-2.0
//
// An array of requests can mix handles of tasks, active persistent requests, and native requests:
// those of MPI itself (generalized, file, one-sided, inactive, null). This module separates the
// three kinds and completes them.
#pragma once

#include "handles.hpp"
#include "persistent.hpp"
#include "status.hpp"

#include <mpi.h>

#include <vector>

namespace commtask::interposer {

/// The task and the owner of a request. The task is null if MPI must be queried.
struct tracked_request {
    commtask_t task = COMMTASK_NULL;
    slot* holder = nullptr;     ///< Set if it is a handle of the interposer.
    persistent* kept = nullptr; ///< Set if it is an active persistent request.
};

[[nodiscard]] inline tracked_request tracked(MPI_Request request) noexcept {
    if (request == MPI_REQUEST_NULL) return {};
    if (handles::is_ours(request)) {
        slot* const holder = handles::slot_of(request);
        return {holder->task, holder, nullptr};
    }
    persistent* const kept = persistents::find(request);
    if (kept == nullptr || kept->task == COMMTASK_NULL) return {};
    return {kept->task, nullptr, kept};
}

/// Sets the program's handle after its task has ended: to null, or to inactive.
inline void let_go(const tracked_request& of, MPI_Request& request) noexcept {
    if (of.holder != nullptr) {
        of.holder->task = COMMTASK_NULL;
        handles::release(of.holder);
        request = MPI_REQUEST_NULL;
    } else {
        of.kept->task = COMMTASK_NULL;
    }
}

/// An array of requests: the task of each, and the native requests as a contiguous array for MPI's
/// functions.
class batch {
public:
    batch(int count, MPI_Request* requests);

    [[nodiscard]] bool has_tasks() const noexcept { return n_tasks_ > 0; }
    [[nodiscard]] bool has_natives() const noexcept { return !natives_.empty(); }
    [[nodiscard]] int count() const noexcept { return static_cast<int>(tracked_.size()); }
    [[nodiscard]] const tracked_request& at(int index) const noexcept {
        return tracked_[static_cast<std::size_t>(index)];
    }

    /// Whether all tasks have ended. Each call continues where the previous one stopped.
    [[nodiscard]] bool have_all_ended() noexcept;
    /// The index of the first task that has ended; count() if none has.
    [[nodiscard]] int first_ended() const noexcept;

    /// The native requests without null ones, and the index of each in the program's array.
    [[nodiscard]] std::vector<MPI_Request>& natives() noexcept { return natives_; }
    [[nodiscard]] int place_of_native(int which) const noexcept { return places_[static_cast<std::size_t>(which)]; }
    /// Copies the native requests, as MPI has changed them, back into the program's array.
    void return_natives() noexcept;

    /// Completes the request of the ended task at `index`.
    /// @return the task's error code; no handler is called
    [[nodiscard]] int collect(int index, MPI_Status* status, error_owner& owner_of_error);

private:
    MPI_Request* requests_;
    std::vector<tracked_request> tracked_;
    std::vector<MPI_Request> natives_;
    std::vector<int> places_;
    std::size_t n_tasks_ = 0;
    std::size_t first_open_ = 0;
};

} // namespace commtask::interposer
