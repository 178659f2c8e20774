// SPDX-License-Identifier: Apache-2.0
//
// The list of polled requests, and the poll of one request that does not complete it. MPI_Testall
// polls all of its requests and completes none unless all are complete. The poll therefore gives
// MPI_Testall the request and one that never completes.
#include "polled.hpp"

#include "mpi/errors.hpp"
#include "real_mpi.hpp"

#include <array>
#include <mutex>
#include <unordered_set>

namespace commtask::interposer::polled {
namespace {

struct table {
    std::mutex mutex; // guards requests
    /// MPI may reuse a handle before the thread that completed it has removed it; the handle is
    /// then here twice.
    std::unordered_multiset<MPI_Request> requests;
    MPI_Request never = MPI_REQUEST_NULL; ///< Used by the thread that may call MPI.
};
table& all() {
    static table* const made = new table; // never destroyed: calls may come during exit
    return *made;
}

/// A request that completes in finalize().
[[nodiscard]] MPI_Request never() {
    MPI_Request& made = all().never;
    if (made == MPI_REQUEST_NULL) made = start_generalized();
    return made;
}

} // namespace

MPI_Request start_generalized() {
    MPI_Request made = MPI_REQUEST_NULL;
    commtask_real_MPI_Grequest_start([](void* /*state*/, MPI_Status* /*status*/) { return MPI_SUCCESS; },
                                     [](void* /*state*/) { return MPI_SUCCESS; },
                                     [](void* /*state*/, int /*is_over*/) { return MPI_SUCCESS; }, nullptr, &made);
    return made;
}

void add(MPI_Request request) {
    table& known = all();
    const std::lock_guard guard{known.mutex};
    known.requests.insert(request);
    count.store(static_cast<int>(known.requests.size()), std::memory_order_relaxed);
}

among::among(int n_requests, const MPI_Request* requests) : requests_(requests) {
    // relaxed: a thread of the program gets the request only after it was added.
    if (count.load(std::memory_order_relaxed) == 0 || requests == nullptr || n_requests <= 0) return;
    table& known = all();
    const std::lock_guard guard{known.mutex};
    for (int i = 0; i < n_requests; ++i) {
        if (!known.requests.contains(requests[i])) continue;
        handles_.resize(static_cast<std::size_t>(n_requests), MPI_REQUEST_NULL);
        handles_[static_cast<std::size_t>(i)] = requests[i];
    }
}

among::~among() {
    if (!has_any()) return;
    table& known = all();
    const std::lock_guard guard{known.mutex};
    for (std::size_t i = 0; i < handles_.size(); ++i) {
        if (handles_[i] == MPI_REQUEST_NULL || requests_[i] == handles_[i]) continue;
        if (const auto found = known.requests.find(handles_[i]); found != known.requests.end()) {
            known.requests.erase(found);
        }
    }
    count.store(static_cast<int>(known.requests.size()), std::memory_order_relaxed);
}

bool is_over(MPI_Request request) {
    const detail::errors_return scope;
    int has_come = 0;
    return commtask_real_MPI_Request_get_status(request, &has_come, MPI_STATUS_IGNORE) != MPI_SUCCESS || has_come != 0;
}

int poll(MPI_Request& request, MPI_Status& status) {
    const detail::errors_return scope;
    std::array<MPI_Request, 2> both{request, never()};
    std::array<MPI_Status, 2> statuses{current.empty_status, current.empty_status};
    int are_over = 0;
    const int code = commtask_real_MPI_Testall(2, both.data(), &are_over, statuses.data());
    // The error is reported when the request is completed.
    if (both[0] != MPI_REQUEST_NULL) return MPI_SUCCESS;
    request = MPI_REQUEST_NULL;
    status = statuses[0];
    return code == MPI_SUCCESS ? MPI_ERR_OTHER : status.MPI_ERROR;
}

void make_progress() {
    int is_over = 0;
    MPI_Request request = never();
    commtask_real_MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
}

void finalize() {
    MPI_Request& made = all().never;
    if (made == MPI_REQUEST_NULL) return;
    commtask_real_MPI_Grequest_complete(made);
    commtask_real_MPI_Request_free(&made);
}

} // namespace commtask::interposer::polled
