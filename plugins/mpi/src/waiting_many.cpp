// SPDX-License-Identifier: Apache-2.0
//
// Arrays of requests. MPI's functions get all native requests of an array together, so that MPI
// fills statuses, calls handlers and decides the results for inactive and null requests. An array
// without tasks goes to MPI unchanged.
#include "own.hpp"
#include "polled.hpp"
#include "requests.hpp"
#include "sections.hpp"

#include <algorithm>

namespace commtask::interposer {
namespace {

[[nodiscard]] bool is_array(int count, const MPI_Request* requests) noexcept {
    return count > 0 && requests != nullptr;
}

[[nodiscard]] bool is_in_status(int code) noexcept {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    return error_class == MPI_ERR_IN_STATUS;
}

/// The program's array of statuses, or none.
class status_array {
public:
    explicit status_array(MPI_Status* first) noexcept : first_(first == MPI_STATUSES_IGNORE ? nullptr : first) {}
    [[nodiscard]] MPI_Status* at(int index) const noexcept {
        return first_ == nullptr ? MPI_STATUS_IGNORE : first_ + index;
    }
    /// The initial value of a status that MPI's function gets: for a send, MPI may write nothing.
    [[nodiscard]] MPI_Status copy_of(int index) const noexcept {
        return first_ == nullptr ? current.empty_status : first_[index];
    }
    /// MPI_Waitall has completed the request at this index, and all others, without an error.
    void set_success(int index) const noexcept {
        if (current.waitall_writes_success) set_error(index, MPI_SUCCESS);
    }
    void set_error(int index, int error) const noexcept {
        if (first_ != nullptr) first_[index].MPI_ERROR = error;
    }

private:
    MPI_Status* first_;
};

/// The errors of several requests that ended in one call.
class outcome_of_many {
public:
    /// The first error counts; no handler has been called.
    void add(int error, const error_owner& owner) noexcept {
        if (error == MPI_SUCCESS || has_error()) return;
        code_ = MPI_ERR_IN_STATUS;
        home_ = owner;
    }
    /// @param code  the result of MPI's function for the native requests
    void add_of_natives(int code) noexcept {
        if (code != MPI_SUCCESS && !has_error()) code_ = code;
    }
    [[nodiscard]] bool has_error() const noexcept { return code_ != MPI_SUCCESS; }
    /// Calls the handler.
    /// @return the result of the MPI function
    [[nodiscard]] int raised() const { return has_error() ? raise(home_, code_) : MPI_SUCCESS; }

private:
    int code_ = MPI_SUCCESS;
    error_owner home_{};
};

/// Completes all requests of an array: the tasks have ended, and MPI has completed the native
/// requests into `statuses_of_natives`.
/// @param native_code  the result of MPI's function; no handler has been called
[[nodiscard]] int collect_all(batch& all, const status_array& statuses, int native_code,
                              const std::vector<MPI_Status>& statuses_of_natives, bool is_waitall) {
    outcome_of_many outcome;
    outcome.add_of_natives(native_code);
    std::vector<int> errors(static_cast<std::size_t>(all.count()), MPI_SUCCESS);
    std::vector<bool> is_native(static_cast<std::size_t>(all.count()));
    std::vector<bool> was_task(static_cast<std::size_t>(all.count()));
    for (std::size_t i = 0; i < statuses_of_natives.size(); ++i) {
        const int place = all.place_of_native(static_cast<int>(i));
        is_native[static_cast<std::size_t>(place)] = true;
        copy_but_error(statuses_of_natives[i], statuses.at(place));
        if (native_code != MPI_SUCCESS) errors[static_cast<std::size_t>(place)] = statuses_of_natives[i].MPI_ERROR;
    }
    all.return_natives();
    for (int i = 0; i < all.count(); ++i) {
        if (all.at(i).task != COMMTASK_NULL) {
            error_owner owner;
            const int error = all.collect(i, statuses.at(i), owner);
            was_task[static_cast<std::size_t>(i)] = true;
            errors[static_cast<std::size_t>(i)] = error;
            outcome.add(error, owner);
        } else if (!is_native[static_cast<std::size_t>(i)]) {
            copy_but_error(current.empty_status, statuses.at(i));
        }
    }
    for (int i = 0; i < all.count(); ++i) {
        if (outcome.has_error()) {
            statuses.set_error(i, errors[static_cast<std::size_t>(i)]);
        } else if (is_waitall && (is_native[static_cast<std::size_t>(i)] || was_task[static_cast<std::size_t>(i)])) {
            statuses.set_success(i);
        }
    }
    return outcome.raised();
}

/// The statuses that MPI's function gets for the native requests.
[[nodiscard]] std::vector<MPI_Status> statuses_for_natives(batch& all, const status_array& statuses) {
    std::vector<MPI_Status> copies(all.natives().size());
    for (std::size_t i = 0; i < copies.size(); ++i) {
        copies[i] = statuses.copy_of(all.place_of_native(static_cast<int>(i)));
    }
    return copies;
}

/// MPI_Waitall for native requests. A test of one request advances all requests but the polled ones
/// (polled.hpp), so two requests are tested in turn: the first open one of each kind.
/// @return MPI_ERR_IN_STATUS if one has failed: all have ended, and each status has its error. No
///     handler has been called.
[[nodiscard]] int wait_for_natives(int count, MPI_Request* requests, const status_array& statuses) {
    std::vector<int> errors(static_cast<std::size_t>(count), MPI_SUCCESS);
    for (int i = 0; i < count; ++i) {
        if (requests[i] == MPI_REQUEST_NULL) {
            copy_but_error(current.empty_status, statuses.at(i));
        } else {
            statuses.set_success(i);
        }
    }
    const polled::among looked_at{count, requests};
    int refusal = MPI_SUCCESS; // a handle is invalid
    bool has_failed = false;
    const auto is_over = [&](int index) {
        const detail::errors_return scope;
        int n_ended = 0;
        int which = 0;
        MPI_Status status = statuses.copy_of(index);
        status.MPI_ERROR = MPI_SUCCESS;
        // MPI_Testsome of one request reports its error in the status, as MPI_Waitall does.
        const int code = scope.code_of(commtask_real_MPI_Testsome(1, &requests[index], &n_ended, &which, &status));
        if (code == MPI_SUCCESS && n_ended == 0) return false;
        copy_but_error(n_ended == 1 ? status : current.empty_status, statuses.at(index));
        if (code != MPI_SUCCESS && !is_in_status(code)) refusal = code;
        if (code == MPI_SUCCESS && status.MPI_ERROR == MPI_SUCCESS) return true;
        has_failed = true;
        // Some MPI implementations do not report the error of a persistent request.
        errors[static_cast<std::size_t>(index)] = status.MPI_ERROR == MPI_SUCCESS ? MPI_ERR_OTHER : status.MPI_ERROR;
        return true;
    };
    const auto are_over = [&](int& next, bool are_polled) {
        for (; next < count && refusal == MPI_SUCCESS; ++next) {
            if (looked_at.has(next) == are_polled && !is_over(next)) return false;
        }
        return true;
    };
    int next_polled = 0;
    int next_other = 0;
    poll_until([&] {
        const bool are_polled_over = are_over(next_polled, true);
        return are_over(next_other, false) && are_polled_over;
    });
    if (refusal != MPI_SUCCESS) return refusal;
    if (!has_failed) return MPI_SUCCESS;
    for (int i = 0; i < count; ++i) statuses.set_error(i, errors[static_cast<std::size_t>(i)]);
    return MPI_ERR_IN_STATUS;
}

/// How far poll_once() must search an array.
enum class until : std::uint8_t { all_polled, one_is_open, one_has_ended };

/// For poll_once(): the tasks of an array that have not ended.
[[nodiscard]] auto tasks_of(const batch& all, until end) {
    return [&all, end](auto&& poll) {
        for (int i = 0; i < all.count(); ++i) {
            if (all.at(i).task == COMMTASK_NULL || has_ended(all.at(i).task)) continue;
            const bool is_ended_now = poll(*all.at(i).task);
            if (end == (is_ended_now ? until::one_has_ended : until::one_is_open)) return;
        }
    };
}

/// Whether every request of the array is a task's handle or null.
[[nodiscard]] bool are_tasks(int count, const MPI_Request* requests) noexcept {
    return std::all_of(requests, requests + count, [](MPI_Request request) {
        return request == MPI_REQUEST_NULL || (handles::is_ours(request) && handles::slot_of(request)->task != nullptr);
    });
}

/// MPI_Waitall for the usual case, tasks only, without allocating memory.
/// @return false if one has failed: all have ended, and none is completed for the program
[[nodiscard]] bool wait_for_handles(int count, MPI_Request* requests, const status_array& statuses) {
    const auto task_of = [&](int index) {
        return requests[index] == MPI_REQUEST_NULL ? COMMTASK_NULL : handles::slot_of(requests[index])->task;
    };
    int next = 0;
    wait_for_tasks([&] {
        while (next < count && (task_of(next) == COMMTASK_NULL || has_ended(task_of(next)))) ++next;
        return next == count;
    });
    for (int i = 0; i < count; ++i) {
        if (task_of(i) != COMMTASK_NULL && error_of(*task_of(i)) != MPI_SUCCESS) return false;
    }
    for (int i = 0; i < count; ++i) {
        const commtask_t task = task_of(i);
        MPI_Status* const status = statuses.at(i);
        if (task == COMMTASK_NULL) {
            copy_but_error(current.empty_status, status);
            continue;
        }
        write_status(*task, status);
        statuses.set_success(i);
        detail::task_pool::drop(task);
        let_go({task, handles::slot_of(requests[i]), nullptr}, requests[i]);
    }
    return true;
}

} // namespace

int own_MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    if (!is_array(count, requests)) {
        return inside<progress_section>([&] { return commtask_real_MPI_Waitall(count, requests, statuses); });
    }
    if (are_tasks(count, requests) && wait_for_handles(count, requests, status_array{statuses})) return MPI_SUCCESS;
    batch all{count, requests};
    if (!all.has_tasks()) {
        if (goes_to_mpi()) {
            const polled::among completed{count, requests};
            return commtask_real_MPI_Waitall(count, requests, statuses);
        }
        const int code = wait_for_natives(count, requests, status_array{statuses});
        return code == MPI_SUCCESS ? code : raise(error_owner{}, code);
    }
    std::vector<MPI_Status> statuses_of_natives = statuses_for_natives(all, status_array{statuses});
    int code = MPI_SUCCESS;
    // first, since only MPI knows them; the lanes make progress at the same time
    if (all.has_natives()) {
        code = wait_for_natives(static_cast<int>(all.natives().size()), all.natives().data(),
                                status_array{statuses_of_natives.data()});
    }
    wait_for_tasks([&] { return all.have_all_ended(); });
    return collect_all(all, status_array{statuses}, code, statuses_of_natives, true);
}

namespace {

/// Advances the native requests and completes none.
/// @param failed  the index of a request that has failed and is null now; otherwise count()
/// @return whether all polled requests are complete
[[nodiscard]] bool test_natives(batch& all, const polled::among& which, MPI_Status& status, int& failed) {
    std::vector<MPI_Request>& natives = all.natives();
    failed = all.count();
    bool are_over = true;
    for (std::size_t i = 0; which.has_any() && i < natives.size(); ++i) {
        if (!which.has(static_cast<int>(i)) || polled::is_over(natives[i])) continue;
        if (polled::poll(natives[i], status) != MPI_SUCCESS) {
            failed = all.place_of_native(static_cast<int>(i));
            return true;
        }
        are_over = polled::is_over(natives[i]) && are_over;
    }
    polled::make_progress();
    return are_over;
}

/// MPI_Testall when a request has failed while others are open: MPI reports that at once.
[[nodiscard]] int one_has_failed(batch& all, int failed, const MPI_Status& how, const status_array& statuses) {
    all.return_natives();
    copy_but_error(how, statuses.at(failed));
    for (int i = 0; i < all.count(); ++i) statuses.set_error(i, i == failed ? how.MPI_ERROR : MPI_ERR_PENDING);
    return raise(error_owner{}, MPI_ERR_IN_STATUS);
}

} // namespace

int own_MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
    if (!is_array(count, requests) || flag == nullptr) {
        return inside<progress_section>([&] { return commtask_real_MPI_Testall(count, requests, flag, statuses); });
    }
    batch all{count, requests};
    if (!all.has_tasks()) {
        const polled::among completed{count, requests};
        return inside<progress_section>([&] { return commtask_real_MPI_Testall(count, requests, flag, statuses); });
    }
    poll_once([&] { return all.have_all_ended(); }, tasks_of(all, until::one_is_open));
    *flag = all.have_all_ended() ? 1 : 0;
    std::vector<MPI_Status> statuses_of_natives = statuses_for_natives(all, status_array{statuses});
    int code = MPI_SUCCESS;
    if (all.has_natives()) {
        const polled::among which{static_cast<int>(all.natives().size()), all.natives().data()};
        const progress_section section;
        // Even if tasks are open: other ranks may wait for operations that only a test here
        // advances.
        MPI_Status how = current.empty_status;
        int failed = 0;
        if (!test_natives(all, which, how, failed)) *flag = 0;
        if (failed < count) return one_has_failed(all, failed, how, status_array{statuses});
        if (*flag != 0) {
            const detail::errors_return scope; // one handler call reports all errors
            code = scope.code_of(commtask_real_MPI_Testall(static_cast<int>(all.natives().size()), all.natives().data(),
                                                           flag, statuses_of_natives.data()));
        }
    }
    if (*flag == 0 && code == MPI_SUCCESS) return MPI_SUCCESS;
    return collect_all(all, status_array{statuses}, code, statuses_of_natives, false);
}

namespace {

/// One poll of an array with tasks, for MPI_Waitany and MPI_Testany.
/// @return whether a request was found; `index` and `code` have its index and result
[[nodiscard]] bool find_ended(batch& all, int* index, MPI_Status* status, int& code, error_owner& owner,
                              bool& must_raise) {
    const int ended = all.first_ended();
    if (ended < all.count()) {
        *index = ended;
        code = all.collect(ended, status, owner);
        must_raise = code != MPI_SUCCESS;
        return true;
    }
    if (!all.has_natives()) return false;
    int has_come = 0;
    int which = MPI_UNDEFINED;
    MPI_Status own_status = status == MPI_STATUS_IGNORE ? current.empty_status : *status;
    const polled::among completed{static_cast<int>(all.natives().size()), all.natives().data()};
    const progress_section section;
    code = commtask_real_MPI_Testany(static_cast<int>(all.natives().size()), all.natives().data(), &which, &has_come,
                                     &own_status);
    all.return_natives();
    if (has_come == 0 || which == MPI_UNDEFINED) {
        *index = MPI_UNDEFINED;
        // Without an error, all native requests may be inactive: then only the tasks count.
        return code != MPI_SUCCESS;
    }
    *index = all.place_of_native(which);
    if (status != MPI_STATUS_IGNORE) *status = own_status;
    return true;
}

} // namespace

int own_MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
    if (!is_array(count, requests) || index == nullptr) {
        return inside<progress_section>([&] { return commtask_real_MPI_Waitany(count, requests, index, status); });
    }
    batch all{count, requests};
    if (!all.has_tasks()) {
        const polled::among completed{count, requests};
        if (goes_to_mpi()) return commtask_real_MPI_Waitany(count, requests, index, status);
        int code = MPI_SUCCESS;
        poll_until([&] {
            int has_come = 0;
            code = commtask_real_MPI_Testany(count, requests, index, &has_come, status);
            return code != MPI_SUCCESS || has_come != 0;
        });
        // MPI_Testany may then leave the status unchanged, unlike MPI_Waitany.
        if (code == MPI_SUCCESS && *index == MPI_UNDEFINED) copy_but_error(current.empty_status, status);
        return code;
    }
    int code = MPI_SUCCESS;
    bool must_raise = false;
    error_owner owner;
    if (!all.has_natives()) {
        wait_for_tasks([&] { return all.first_ended() < all.count(); });
        static_cast<void>(find_ended(all, index, status, code, owner, must_raise));
    } else {
        poll_until([&] { return find_ended(all, index, status, code, owner, must_raise); });
    }
    return must_raise ? raise(owner, code) : code;
}

int own_MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
    if (!is_array(count, requests) || index == nullptr || flag == nullptr) {
        return inside<progress_section>(
            [&] { return commtask_real_MPI_Testany(count, requests, index, flag, status); });
    }
    batch all{count, requests};
    if (!all.has_tasks()) {
        const polled::among completed{count, requests};
        return inside<progress_section>(
            [&] { return commtask_real_MPI_Testany(count, requests, index, flag, status); });
    }
    poll_once([&] { return all.first_ended() < all.count(); }, tasks_of(all, until::one_has_ended));
    int code = MPI_SUCCESS;
    bool must_raise = false;
    error_owner owner;
    *flag = find_ended(all, index, status, code, owner, must_raise) ? 1 : 0;
    if (*flag == 0) *index = MPI_UNDEFINED;
    return must_raise ? raise(owner, code) : code;
}

namespace {

/// Completes the requests that have ended, for MPI_Waitsome and MPI_Testsome on an array with
/// tasks.
[[nodiscard]] int collect_some(batch& all, int* n_ended, int* indices, MPI_Status* statuses_of_program) {
    const status_array statuses{statuses_of_program};
    outcome_of_many outcome;
    std::vector<int> errors;
    *n_ended = 0;
    const auto add = [&](int index, int error) {
        indices[(*n_ended)++] = index;
        errors.push_back(error);
    };
    for (int i = 0; i < all.count(); ++i) {
        if (all.at(i).task == COMMTASK_NULL || !has_ended(all.at(i).task)) continue;
        error_owner owner;
        const int error = all.collect(i, statuses.at(*n_ended), owner);
        outcome.add(error, owner);
        add(i, error);
    }
    if (all.has_natives()) {
        const int n_natives = static_cast<int>(all.natives().size());
        const polled::among completed{n_natives, all.natives().data()};
        std::vector<int> ended(static_cast<std::size_t>(n_natives));
        std::vector<MPI_Status> their_statuses(static_cast<std::size_t>(n_natives));
        for (int i = 0; i < n_natives; ++i) {
            their_statuses[static_cast<std::size_t>(i)] = statuses.copy_of(*n_ended + i);
        }
        int n_of_them = 0;
        const int code = inside<progress_section>([&] {
            const detail::errors_return scope; // one handler call reports all errors
            return scope.code_of(commtask_real_MPI_Testsome(n_natives, all.natives().data(), &n_of_them, ended.data(),
                                                            their_statuses.data()));
        });
        outcome.add_of_natives(code);
        for (int i = 0; i < (n_of_them == MPI_UNDEFINED ? 0 : n_of_them); ++i) {
            const MPI_Status& theirs = their_statuses[static_cast<std::size_t>(i)];
            copy_but_error(theirs, statuses.at(*n_ended));
            add(all.place_of_native(ended[static_cast<std::size_t>(i)]), code == MPI_SUCCESS ? code : theirs.MPI_ERROR);
        }
        all.return_natives();
    }
    if (!outcome.has_error()) return MPI_SUCCESS;
    for (int i = 0; i < *n_ended; ++i) statuses.set_error(i, errors[static_cast<std::size_t>(i)]);
    return outcome.raised();
}

} // namespace

int own_MPI_Waitsome(int count, MPI_Request* requests, int* n_ended, int* indices, MPI_Status* statuses) {
    if (!is_array(count, requests) || n_ended == nullptr || indices == nullptr) {
        return inside<progress_section>(
            [&] { return commtask_real_MPI_Waitsome(count, requests, n_ended, indices, statuses); });
    }
    batch all{count, requests};
    int code = MPI_SUCCESS;
    if (!all.has_tasks()) {
        const polled::among completed{count, requests};
        if (goes_to_mpi()) return commtask_real_MPI_Waitsome(count, requests, n_ended, indices, statuses);
        poll_until([&] {
            code = commtask_real_MPI_Testsome(count, requests, n_ended, indices, statuses);
            return code != MPI_SUCCESS || *n_ended != 0;
        });
        return code;
    }
    if (!all.has_natives()) {
        wait_for_tasks([&] { return all.first_ended() < all.count(); });
        poll_once([&] { return all.have_all_ended(); },
                  tasks_of(all, until::all_polled)); // finds requests that ended with the first
        return collect_some(all, n_ended, indices, statuses);
    }
    poll_once([&] { return all.have_all_ended(); }, tasks_of(all, until::all_polled));
    poll_until([&] {
        code = collect_some(all, n_ended, indices, statuses);
        return code != MPI_SUCCESS || *n_ended > 0;
    });
    return code;
}

int own_MPI_Testsome(int count, MPI_Request* requests, int* n_ended, int* indices, MPI_Status* statuses) {
    if (!is_array(count, requests) || n_ended == nullptr || indices == nullptr) {
        return inside<progress_section>(
            [&] { return commtask_real_MPI_Testsome(count, requests, n_ended, indices, statuses); });
    }
    batch all{count, requests};
    if (!all.has_tasks()) {
        const polled::among completed{count, requests};
        return inside<progress_section>(
            [&] { return commtask_real_MPI_Testsome(count, requests, n_ended, indices, statuses); });
    }
    poll_once([&] { return all.have_all_ended(); }, tasks_of(all, until::all_polled));
    return collect_some(all, n_ended, indices, statuses);
}

} // namespace commtask::interposer
