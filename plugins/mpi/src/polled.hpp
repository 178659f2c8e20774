// SPDX-License-Identifier: Apache-2.0
//
// Requests that move only when somebody looks at just them: in MPICH those of nonblocking collective file operations that are no
// tasks, and generalized requests with a poll function. No other call of MPI brings them forward, not even MPI_Request_get_status. MPICH
// waits for them first and one after the other, and programs rely on that: the steps of a collective write are collectives, and
// must come in the same order on all ranks. They are known from their creation until they are null. (Independent file operations
// go on by themselves, and MPICH cannot look again at one that is over: they are like any other request.)
#pragma once

#include "sections.hpp"

#include <mpi.h>

#include <atomic>
#include <vector>

namespace commtask::interposer {
namespace polled {

/// How many there are; nobody looks for one where there is none.
inline std::atomic<int> count{0};

/// Any thread.
void add(MPI_Request request);

/// Those among the requests that a call of MPI's is about to complete: what is null after the call is forgotten. Any thread.
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
    std::vector<MPI_Request> handles_; ///< As they were, null for those of other kinds; empty if there is none.
};

/// Whether a request has come to its end, or is wrong; leaves it in place. The caller may call MPI.
[[nodiscard]] bool is_over(MPI_Request request);

/// One step of a polled request that is not over. The caller may call MPI.
/// @return MPI_SUCCESS, and the request is as it was; or how it failed: then it is null, and `status` says more.
[[nodiscard]] int poll(MPI_Request& request, MPI_Status& status);

/// A call of MPI that completes nothing. The caller may call MPI.
void make_progress();

/// A generalized request that does nothing. The caller may call MPI.
[[nodiscard]] MPI_Request start_generalized();

/// Before MPI_Finalize.
void finalize();

} // namespace polled

/// @param code  of the call that made the request
inline int note_polled(const MPI_Request* request, int code) {
    if (code == MPI_SUCCESS && request != nullptr && *request != MPI_REQUEST_NULL) polled::add(*request);
    return code;
}

/// The wrappers of MPICH's own generalized requests.
template <typename Section, typename Make>
int make_polled(const MPI_Request* request, Make&& make) {
    return note_polled(request, inside<Section>(make));
}

} // namespace commtask::interposer
