// SPDX-License-Identifier: Apache-2.0
//
// The requests of an array. The vectors live for one call: a program that waits for thousands of
// requests at once pays for one allocation, not for one per request.
#include "requests.hpp"

namespace commtask::interposer {

batch::batch(int count, MPI_Request* requests) : requests_(requests), tracked_(static_cast<std::size_t>(count)) {
    for (std::size_t i = 0; i < tracked_.size(); ++i) {
        tracked_[i] = tracked(requests[i]);
        if (tracked_[i].task != COMMTASK_NULL) {
            ++n_tasks_;
        } else if (requests[i] != MPI_REQUEST_NULL) {
            natives_.push_back(requests[i]);
            places_.push_back(static_cast<int>(i));
        }
    }
}

bool batch::have_all_ended() noexcept {
    while (first_open_ < tracked_.size() &&
           (tracked_[first_open_].task == COMMTASK_NULL || has_ended(tracked_[first_open_].task))) {
        ++first_open_;
    }
    return first_open_ == tracked_.size();
}

int batch::first_ended() const noexcept {
    for (std::size_t i = 0; i < tracked_.size(); ++i) {
        if (tracked_[i].task != COMMTASK_NULL && has_ended(tracked_[i].task)) return static_cast<int>(i);
    }
    return count();
}

void batch::return_natives() noexcept {
    for (std::size_t i = 0; i < natives_.size(); ++i) requests_[places_[i]] = natives_[i];
}

int batch::collect(int index, MPI_Status* status, error_owner& owner_of_error) {
    tracked_request& of = tracked_[static_cast<std::size_t>(index)];
    write_status(*of.task, status);
    detail::raise_flags(of.task->result.flags);
    const int error = error_of(*of.task);
    if (error != MPI_SUCCESS) owner_of_error = owner_of_one_of_several(*of.task);
    detail::task_pool::drop(of.task);
    let_go(of, requests_[index]);
    of = {};
    return error;
}

} // namespace commtask::interposer
