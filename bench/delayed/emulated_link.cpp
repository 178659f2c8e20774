// SPDX-License-Identifier: Apache-2.0
//
// A library to preload under an MPI program: its ranks then send as if each had a network adapter and a link of given
// rate. What it delays is made by MPI's own functions when the bytes would have passed, so the link takes no processor
// time, unlike TCP; copying between processes and what it takes to find out that a message came stay the program's. Each
// mode of a miniapp runs over the same links, at the price that only the functions below are delayed.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "delayed/adapter.h"
#include "delayed/rendezvous.h"

//   EMULATED_LINK_RATE_MBS   10^6 bytes per second that one rank can send (required)
//   EMULATED_LINK_DELAY_US   added to each transfer (0)
//   EMULATED_LINK_GAP_US     a context injects one message per so many; each communicator has a context of its own (0)
//   EMULATED_LINK_EAGER_BYTES  the largest message that leaves when it is sent (none is too large)
//
// Delayed, in the order of the calls: MPI_Send, MPI_Isend, MPI_Alltoallv, MPI_Allgather, MPI_Allgatherv, MPI_Allreduce, and
// the four collectives in nonblocking form. Of the last three a rank sends its contribution to each other rank. All else passes
// at MPI's own speed, and overtakes what is still on the link: a program must not rely on the order of a delayed call and one
// that is not, on one communicator, nor free a datatype or communicator before its operations have ended, nor loop on
// MPI_Request_get_status, which in MPICH 4.0 does not poll. Collectives of intercommunicators, those in place but for reductions,
// and calls whose arguments are wrong, go straight to MPI. MPICH only: the program gets its extended generalized requests.
//
// A larger message than EMULATED_LINK_EAGER_BYTES goes by rendezvous, as in most MPIs: its announcement takes its place on the
// sender's link, with no bytes, and the receiver's adapter pulls it from when the receiver finds that: in a test or wait of a
// receive that may be of such a message, in MPI_Test of anything, or in MPI_Iprobe. Sent by MPI_Send or MPI_Isend it must be received by
// MPI_Recv or MPI_Irecv, in processes of one MPI_COMM_WORLD; such receives cannot be cancelled. Collectives have no rendezvous,
// and one rank that sends to several at once can exceed its rate, as only the receivers' sides are occupied.
namespace {

using namespace commtask::bench;

MPIX_Grequest_class transfer_class = 0;

/// What MPICH keeps with the request.
using request_state = std::shared_ptr<transfer>;

int query_transfer(void* state, MPI_Status* status) {
    PMPI_Status_set_elements_x(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return (*static_cast<request_state*>(state))->result; // MPICH makes it the request's error
}

int free_transfer(void* state) {
    const std::unique_ptr<request_state> own(static_cast<request_state*>(state));
    transfer& one = **own;
    auto expected = transfer::state::waiting;
    // acq_rel: with the link's thread, which starts it or has started it.
    if (!one.has_ended &&
        !one.now.compare_exchange_strong(expected, transfer::state::abandoned, std::memory_order_acq_rel) &&
        one.inner != MPI_REQUEST_NULL) {
        the_adapter->discard(one.inner);
    }
    return MPI_SUCCESS;
}

int poll_transfer(void* state, MPI_Status* /*status*/) {
    transfer& one = **static_cast<request_state*>(state);
    if (one.has_ended) {
        return MPI_SUCCESS;
    }
    int has_ended = 0;
    if (one.now.load(std::memory_order_acquire) == transfer::state::waiting) { // with adapter::start
        // MPICH polls without making progress; what else the program has under way must go on.
        return PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &has_ended, MPI_STATUS_IGNORE);
    }
    const int result = one.result != MPI_SUCCESS ? one.result : PMPI_Test(&one.inner, &has_ended, MPI_STATUS_IGNORE);
    if (has_ended != 0 || result != MPI_SUCCESS) {
        one.result = result;
        one.has_ended = true;
        PMPI_Grequest_complete(one.outer);
    }
    return MPI_SUCCESS; // the error is the completed request's: what a poll function gives, MPI_Waitall ignores
}

/// What MPI_Waitall calls.
int wait_for_transfers(int count, void** states, double /*limit_s*/, MPI_Status* status) {
    for (void* const state : std::span(states, static_cast<std::size_t>(count))) {
        while (!(*static_cast<request_state*>(state))->has_ended) {
            if (const int result = poll_transfer(state, status); result != MPI_SUCCESS) {
                return result;
            }
        }
    }
    return MPI_SUCCESS;
}

/// A request that ends when `start`, called by the link's thread once the bytes have passed, gave one that has ended.
int send_later(const adapter::traffic& what, std::function<int(MPI_Request*)> start, MPI_Request* request) {
    auto own = std::make_unique<request_state>(std::make_shared<transfer>());
    const request_state one = *own;
    one->start = std::move(start);
    const int result = PMPIX_Grequest_class_allocate(transfer_class, own.get(), request);
    if (result != MPI_SUCCESS) {
        return result;
    }
    static_cast<void>(own.release()); // free_transfer's
    one->outer = *request;
    the_adapter->send(what, one);
    return MPI_SUCCESS;
}

std::size_t size_of(int count, MPI_Datatype type) {
    MPI_Count size_bytes = 0;
    PMPI_Type_size_x(type, &size_bytes);
    return static_cast<std::size_t>(count) * static_cast<std::size_t>(size_bytes);
}

/// Whether the message goes to another process and has a size. Handles that are wrong end in MPI's own error here, as in
/// the call itself.
bool passes_the_link(int count, int to, MPI_Comm comm) {
    int own = 0;
    PMPI_Comm_rank(comm, &own);
    return count >= 0 && to >= 0 && (to != own || is_intercommunicator(comm));
}

int world_rank_of(int rank, MPI_Comm comm) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group all = MPI_GROUP_NULL;
    if (is_intercommunicator(comm)) {
        PMPI_Comm_remote_group(comm, &group);
    } else {
        PMPI_Comm_group(comm, &group);
    }
    PMPI_Comm_group(MPI_COMM_WORLD, &all);
    int place = MPI_UNDEFINED;
    PMPI_Group_translate_ranks(group, 1, &rank, all, &place);
    PMPI_Group_free(&group);
    PMPI_Group_free(&all);
    return place;
}

/// Whether one rank's share of a collective is known here.
bool passes_the_link(const void* from, MPI_Comm comm) { return from != MPI_IN_PLACE && !is_intercommunicator(comm); }

/// Handles are numbers here.
int context_of(MPI_Comm comm) { return static_cast<int>(comm); }

/// What leaves this rank: what it keeps for itself does not pass the link.
adapter::traffic to_others(const int* counts, MPI_Datatype type, MPI_Comm comm) {
    int own = 0;
    int n_ranks = 0;
    PMPI_Comm_rank(comm, &own);
    PMPI_Comm_size(comm, &n_ranks);
    adapter::traffic sum{.size_bytes = 0, .context = context_of(comm), .n_messages = 0};
    for (int rank = 0; rank < n_ranks; ++rank) {
        if (rank == own || counts[rank] <= 0) continue;
        sum.size_bytes += size_of(counts[rank], type);
        ++sum.n_messages;
    }
    sum.n_messages = std::max(sum.n_messages, 1);
    return sum;
}

/// What leaves a rank that contributes the same to all ranks.
adapter::traffic to_each_other(int count, MPI_Datatype type, MPI_Comm comm) {
    int n_ranks = 0;
    PMPI_Comm_size(comm, &n_ranks);
    const std::size_t n_others = n_ranks > 1 ? static_cast<std::size_t>(n_ranks) - 1 : 0;
    return {.size_bytes = n_others * size_of(count, type),
            .context = context_of(comm),
            .n_messages = std::max(n_ranks - 1, 1)};
}

/// Whether a receive can be of a message that goes by rendezvous: that depends on the buffer, so on the receiver alone.
bool may_be_pulled(int count, MPI_Datatype type, int from, MPI_Comm comm) {
    return count >= 0 && from != MPI_PROC_NULL && (from == MPI_ANY_SOURCE || passes_the_link(count, from, comm)) &&
           the_adapter->goes_by_rendezvous(size_of(count, type));
}

double number_in(const char* name, double otherwise) {
    const char* const text = std::getenv(name);
    if (text == nullptr) {
        return otherwise;
    }
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= 0)) {
        std::fprintf(stderr, "emulated link: %s=%s: a number is meant\n", name, text);
        std::exit(2);
    }
    return value;
}

void begin() {
    const double rate = number_in("EMULATED_LINK_RATE_MBS", 0);
    if (!(rate > 0)) {
        std::fprintf(stderr, "emulated link: EMULATED_LINK_RATE_MBS must say 10^6 bytes per second, more than 0\n");
        std::exit(2);
    }
    PMPIX_Grequest_class_create(query_transfer, free_transfer, ignore_cancel, poll_transfer, wait_for_transfers,
                                &transfer_class);
    const double eager_bytes = number_in("EMULATED_LINK_EAGER_BYTES", std::numeric_limits<double>::infinity());
    if (std::isfinite(eager_bytes)) {
        begin_rendezvous();
    }
    the_adapter = new adapter({.rate_mb_per_s = rate, // deleted in MPI_Finalize
                               .delay_us = number_in("EMULATED_LINK_DELAY_US", 0),
                               .gap_us = number_in("EMULATED_LINK_GAP_US", 0),
                               .eager_bytes = eager_bytes});
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    // The link's thread calls MPI beside the program's.
    const int result = PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, provided);
    if (result != MPI_SUCCESS) {
        return result;
    }
    if (*provided != MPI_THREAD_MULTIPLE) {
        std::fprintf(stderr, "emulated link: needs an MPI with MPI_THREAD_MULTIPLE\n");
        std::exit(2);
    }
    *provided = required; // what the program may do is as without this library
    begin();
    return result;
}

int MPI_Init(int* argc, char*** argv) {
    int provided = 0;
    return MPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

int MPI_Finalize() {
    the_adapter->stop();
    end_rendezvous();
    delete std::exchange(the_adapter, nullptr);
    return PMPI_Finalize();
}

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
    if (!passes_the_link(count, to, comm)) {
        return PMPI_Isend(buffer, count, type, to, tag, comm, request);
    }
    const std::size_t size_bytes = size_of(count, type);
    if (!the_adapter->goes_by_rendezvous(size_bytes)) {
        return send_later(
            {.size_bytes = size_bytes, .context = context_of(comm)},
            [=](MPI_Request* inner) { return PMPI_Isend(buffer, count, type, to, tag, comm, inner); }, request);
    }
    announcement what{.size_bytes = size_bytes, .source = 0, .tag = tag};
    PMPI_Comm_rank(comm, &what.source);
    return send_later(
        {.size_bytes = 0, .context = context_of(comm)},
        [=, place = world_rank_of(to, comm)](MPI_Request* inner) {
            announce(what, place);
            return PMPI_Isend(buffer, count, type, to, tag, comm, inner);
        },
        request);
}

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int result = MPI_Isend(buffer, count, type, to, tag, comm, &request);
    return result == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : result;
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
    if (!may_be_pulled(count, type, from, comm)) {
        return PMPI_Irecv(buffer, count, type, from, tag, comm, request);
    }
    return receive_by_rendezvous(buffer, count, type, from, tag, comm, request);
}

int MPI_Recv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
    if (!may_be_pulled(count, type, from, comm)) {
        return PMPI_Recv(buffer, count, type, from, tag, comm, status);
    }
    MPI_Request request = MPI_REQUEST_NULL;
    const int result = MPI_Irecv(buffer, count, type, from, tag, comm, &request);
    return result == MPI_SUCCESS ? MPI_Wait(&request, status) : result;
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    find_announced();
    return PMPI_Test(request, flag, status);
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
    find_announced();
    return PMPI_Iprobe(from, tag, comm, flag, status);
}

int MPI_Alltoallv(const void* from, const int* send_counts, const int* send_offsets, MPI_Datatype send_type, void* into,
                  const int* receive_counts, const int* receive_offsets, MPI_Datatype receive_type, MPI_Comm comm) {
    if (passes_the_link(from, comm)) {
        the_adapter->pass(to_others(send_counts, send_type, comm));
    }
    return PMPI_Alltoallv(from, send_counts, send_offsets, send_type, into, receive_counts, receive_offsets,
                          receive_type, comm);
}

int MPI_Ialltoallv(const void* from, const int* send_counts, const int* send_offsets, MPI_Datatype send_type,
                   void* into, const int* receive_counts, const int* receive_offsets, MPI_Datatype receive_type,
                   MPI_Comm comm, MPI_Request* request) {
    if (!passes_the_link(from, comm)) {
        return PMPI_Ialltoallv(from, send_counts, send_offsets, send_type, into, receive_counts, receive_offsets,
                               receive_type, comm, request);
    }
    return send_later(
        to_others(send_counts, send_type, comm),
        [=](MPI_Request* inner) {
            return PMPI_Ialltoallv(from, send_counts, send_offsets, send_type, into, receive_counts, receive_offsets,
                                   receive_type, comm, inner);
        },
        request);
}

int MPI_Allgather(const void* from, int count, MPI_Datatype type, void* into, int receive_count,
                  MPI_Datatype receive_type, MPI_Comm comm) {
    if (passes_the_link(from, comm)) the_adapter->pass(to_each_other(count, type, comm));
    return PMPI_Allgather(from, count, type, into, receive_count, receive_type, comm);
}

int MPI_Allgatherv(const void* from, int count, MPI_Datatype type, void* into, const int* receive_counts,
                   const int* receive_offsets, MPI_Datatype receive_type, MPI_Comm comm) {
    if (passes_the_link(from, comm)) the_adapter->pass(to_each_other(count, type, comm));
    return PMPI_Allgatherv(from, count, type, into, receive_counts, receive_offsets, receive_type, comm);
}

int MPI_Allreduce(const void* from, void* into, int count, MPI_Datatype type, MPI_Op reduction, MPI_Comm comm) {
    if (!is_intercommunicator(comm)) the_adapter->pass(to_each_other(count, type, comm));
    return PMPI_Allreduce(from, into, count, type, reduction, comm);
}

int MPI_Iallgather(const void* from, int count, MPI_Datatype type, void* into, int receive_count,
                   MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* request) {
    const auto start = [=](MPI_Request* inner) {
        return PMPI_Iallgather(from, count, type, into, receive_count, receive_type, comm, inner);
    };
    return passes_the_link(from, comm) ? send_later(to_each_other(count, type, comm), start, request) : start(request);
}

int MPI_Iallgatherv(const void* from, int count, MPI_Datatype type, void* into, const int* receive_counts,
                    const int* receive_offsets, MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* request) {
    const auto start = [=](MPI_Request* inner) {
        return PMPI_Iallgatherv(from, count, type, into, receive_counts, receive_offsets, receive_type, comm, inner);
    };
    return passes_the_link(from, comm) ? send_later(to_each_other(count, type, comm), start, request) : start(request);
}

int MPI_Iallreduce(const void* from, void* into, int count, MPI_Datatype type, MPI_Op reduction, MPI_Comm comm,
                   MPI_Request* request) {
    const auto start = [=](MPI_Request* inner) {
        return PMPI_Iallreduce(from, into, count, type, reduction, comm, inner);
    };
    return is_intercommunicator(comm) ? start(request) : send_later(to_each_other(count, type, comm), start, request);
}

} // extern "C"
#pragma GCC visibility pop
