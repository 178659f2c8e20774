// SPDX-License-Identifier: Apache-2.0
//
// A program's array of requests is a mixture: handles of tasks, persistent requests whose task is on its way, and
// requests of the MPI's own (generalized, file, one-sided, inactive, null). This says which is which, and completes them.
#pragma once

#include "handles.hpp"
#include "persistent.hpp"
#include "status.hpp"

#include <mpi.h>

#include <vector>

namespace commtask::interposer {

/// What is known of a request. The task is null if MPI has to be asked.
struct tracked_request {
    commtask_t task = COMMTASK_NULL;
    slot* holder = nullptr;     ///< Of a handle of ours.
    persistent* kept = nullptr; ///< Of an active persistent request.
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

/// The program's handle after its task has ended: null, or inactive.
inline void let_go(const tracked_request& of, MPI_Request& request) noexcept {
    if (of.holder != nullptr) {
        of.holder->task = COMMTASK_NULL;
        handles::release(of.holder);
        request = MPI_REQUEST_NULL;
    } else {
        of.kept->task = COMMTASK_NULL;
    }
}

/// An array, the task of each of its requests, and the requests that are the MPI's own side by side for its functions.
class batch {
public:
    batch(int count, MPI_Request* requests);

    [[nodiscard]] bool has_tasks() const noexcept { return n_tasks_ > 0; }
    [[nodiscard]] bool has_natives() const noexcept { return !natives_.empty(); }
    [[nodiscard]] int count() const noexcept { return static_cast<int>(tracked_.size()); }
    [[nodiscard]] const tracked_request& at(int index) const noexcept {
        return tracked_[static_cast<std::size_t>(index)];
    }

    /// Whether all tasks have ended. Looks on where it stopped.
    [[nodiscard]] bool have_all_ended() noexcept;
    /// The first task that has ended; count() if none has.
    [[nodiscard]] int first_ended() const noexcept;

    /// The requests of MPI itself, null ones left out; and where each came from.
    [[nodiscard]] std::vector<MPI_Request>& natives() noexcept { return natives_; }
    [[nodiscard]] int place_of_native(int which) const noexcept { return places_[static_cast<std::size_t>(which)]; }
    /// Writes what MPI made of its requests back into the program's array.
    void return_natives() noexcept;

    /// Collects the task at `index`. @return its error code; its handler is not called.
    [[nodiscard]] int collect(int index, MPI_Status* status, error_home& home_of_error);

private:
    MPI_Request* requests_;
    std::vector<tracked_request> tracked_;
    std::vector<MPI_Request> natives_;
    std::vector<int> places_;
    std::size_t n_tasks_ = 0;
    std::size_t first_open_ = 0;
};

} // namespace commtask::interposer
