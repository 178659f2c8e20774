// SPDX-License-Identifier: Apache-2.0
//
// Requests that advance only when a call tests that very request. In MPICH these are the requests
// of nonblocking collective file operations that are not tasks, and generalized requests with a
// poll function. No other MPI call advances them, not even MPI_Request_get_status. MPICH waits for
// them first and one after the other, and programs rely on that: the steps of a collective write
// are collectives and must be in the same order on all ranks.
//
// A request is in the list from its creation until its handle is null. Independent file operations
// are not in the list: they advance by themselves, and MPICH cannot test one again after its
// completion.
#pragma once

#include "sections.hpp"

#include <mpi.h>

#include <atomic>
#include <vector>

namespace commtask::interposer {
namespace polled {

/// Number of polled requests. If it is zero, no list is searched.
inline std::atomic<int> count{0};

/// Any thread.
void add(MPI_Request request);

/// The polled requests among those that an MPI call is about to complete. The destructor removes
/// the requests whose handles the call has set to null. Any thread.
class among {
public:
    among(int count, const MPI_Request* requests);
    among(const among&) = delete;
    among& operator=(const among&) = delete;
    ~among();

    [[nodiscard]] bool has_any() const noexcept { return !handles_.empty(); }
    [[nodiscard]] bool has(int index) const noexcept {
        return has_any() && handles_[static_cast<std::size_t>(index)] != MPI_REQUEST_NULL;
    }

private:
    const MPI_Request* const requests_;
    /// The handles before the call, null for other requests; empty if none is polled.
    std::vector<MPI_Request> handles_;
};

/// Whether a request has completed or failed. Does not change it. The caller must be allowed to
/// call MPI.
[[nodiscard]] bool is_over(MPI_Request request);

/// Polls an incomplete polled request once. The caller must be allowed to call MPI.
/// @return MPI_SUCCESS, and the request is unchanged; or its error: then the request is null, and
///     `status` has the details
[[nodiscard]] int poll(MPI_Request& request, MPI_Status& status);

/// Makes an MPI call that completes no request. The caller must be allowed to call MPI.
void make_progress();

/// A generalized request that never completes. The caller must be allowed to call MPI.
[[nodiscard]] MPI_Request start_generalized();

/// Called before MPI_Finalize.
void finalize();

} // namespace polled

/// @param code  of the call that made the request
inline int record_polled(const MPI_Request* request, int code) {
    if (code == MPI_SUCCESS && request != nullptr && *request != MPI_REQUEST_NULL) polled::add(*request);
    return code;
}

/// The wrappers of MPICH's own generalized requests.
template <typename Section, typename Make>
int make_polled(const MPI_Request* request, Make&& make) {
    return record_polled(request, inside<Section>(make));
}

} // namespace commtask::interposer
