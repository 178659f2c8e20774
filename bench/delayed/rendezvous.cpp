// SPDX-License-Identifier: Apache-2.0
//
// An announcement is a small message on a communicator of our own. The data goes by MPI's own message, through shared memory
// and mostly while it is being "pulled"; the program's receive is a generalized request around MPI's, which ends when both
// are over. MPI may call the functions of such a request with its own lock held, so nothing here waits for a lock.
#include "delayed/rendezvous.h"

#include <algorithm>
#include <deque>
#include <span>

#include "delayed/adapter.h"

namespace commtask::bench {
namespace {

/// Owned by its request.
struct reception {
    MPI_Request outer = MPI_REQUEST_NULL; ///< The generalized request that the program holds.
    MPI_Request inner = MPI_REQUEST_NULL;
    int own_rank = MPI_PROC_NULL; ///< Whose messages are not announced; of an intercommunicator: nobody.
    MPI_Status status{};
    std::int64_t due_ns = 0;
    bool is_there = false;  ///< MPI has it.
    bool is_timed = false;  ///< `due_ns` says when it has been pulled.
    bool has_ended = false; ///< Both, and the program has been told.
    int result = MPI_SUCCESS;
};

struct pulled {
    announcement what;
    std::int64_t due_ns;
};

MPIX_Grequest_class reception_class = 0;
MPI_Comm announcements = MPI_COMM_NULL; ///< Between begin and end.
std::mutex guard;                       // of the next
std::deque<pulled> found;               ///< Announced, and not yet received.

/// Looks up when the message of `one` will have been pulled. The first of several that look alike is the earlier one.
void look_up(reception& one, std::size_t size_bytes) {
    const std::unique_lock hold(guard, std::try_to_lock);
    if (!hold) {
        return; // next time
    }
    const auto it = std::ranges::find_if(found, [&](const pulled& each) {
        return each.what.source == one.status.MPI_SOURCE && each.what.tag == one.status.MPI_TAG &&
               each.what.size_bytes == size_bytes;
    });
    if (it == found.end()) {
        return;
    }
    one.due_ns = it->due_ns;
    one.is_timed = true;
    found.erase(it);
}

int query_reception(void* state, MPI_Status* status) {
    const auto& one = *static_cast<reception*>(state);
    *status = one.status;
    return one.result;
}

int free_reception(void* state) {
    const std::unique_ptr<reception> one(static_cast<reception*>(state));
    if (one->inner != MPI_REQUEST_NULL) {
        the_adapter->discard(one->inner);
    }
    return MPI_SUCCESS;
}

int poll_reception(void* state, MPI_Status* /*status*/) {
    auto& one = *static_cast<reception*>(state);
    if (one.has_ended) {
        return MPI_SUCCESS;
    }
    find_announced();
    if (!one.is_there) {
        int has_come = 0;
        one.result = PMPI_Test(&one.inner, &has_come, &one.status);
        one.is_there = has_come != 0 || one.result != MPI_SUCCESS;
    }
    if (one.is_there && !one.is_timed) {
        MPI_Count size_bytes = 0;
        PMPI_Get_elements_x(&one.status, MPI_BYTE, &size_bytes);
        const auto size = static_cast<std::size_t>(size_bytes);
        if (one.result != MPI_SUCCESS || one.status.MPI_SOURCE == one.own_rank ||
            !the_adapter->goes_by_rendezvous(size)) {
            one.is_timed = true; // it came when it came
        } else {
            look_up(one, size);
        }
    }
    if (one.is_timed && now_ns() >= one.due_ns) {
        one.has_ended = true;
        PMPI_Grequest_complete(one.outer);
    }
    return MPI_SUCCESS;
}

/// What MPI_Waitall calls, of MPICH 4.0 once for each request.
int wait_for_receptions(int count, void** states, double /*limit_s*/, MPI_Status* status) {
    for (void* const state : std::span(states, static_cast<std::size_t>(count))) {
        while (!static_cast<reception*>(state)->has_ended) {
            poll_reception(state, status);
        }
    }
    return MPI_SUCCESS;
}

} // namespace

void begin_rendezvous() {
    PMPIX_Grequest_class_create(query_reception, free_reception, ignore_cancel, poll_reception, wait_for_receptions,
                                &reception_class);
    PMPI_Comm_dup(MPI_COMM_WORLD, &announcements);
}

void end_rendezvous() {
    if (announcements != MPI_COMM_NULL) {
        PMPI_Comm_free(&announcements);
    }
}

void announce(const announcement& what, int to) {
    PMPI_Send(&what, static_cast<int>(sizeof what), MPI_BYTE, to, 0, announcements);
}

void find_announced() {
    if (announcements == MPI_COMM_NULL) {
        return;
    }
    const std::unique_lock hold(guard, std::try_to_lock);
    int is_there = hold ? 1 : 0; // who has it, looks
    while (is_there != 0) {
        PMPI_Iprobe(MPI_ANY_SOURCE, 0, announcements, &is_there, MPI_STATUS_IGNORE);
        if (is_there != 0) {
            announcement what{};
            PMPI_Recv(&what, static_cast<int>(sizeof what), MPI_BYTE, MPI_ANY_SOURCE, 0, announcements,
                      MPI_STATUS_IGNORE);
            found.push_back({what, the_adapter->pull(what.size_bytes)});
        }
    }
}

int receive_by_rendezvous(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                          MPI_Request* request) {
    auto own = std::make_unique<reception>();
    if (!is_intercommunicator(comm)) {
        PMPI_Comm_rank(comm, &own->own_rank);
    }
    if (const int code = PMPI_Irecv(buffer, count, type, from, tag, comm, &own->inner); code != MPI_SUCCESS) {
        return code;
    }
    if (const int code = PMPIX_Grequest_class_allocate(reception_class, own.get(), &own->outer); code != MPI_SUCCESS) {
        PMPI_Cancel(&own->inner);
        PMPI_Request_free(&own->inner);
        return code;
    }
    *request = own.release()->outer; // free_reception's from here on
    return MPI_SUCCESS;
}

} // namespace commtask::bench
