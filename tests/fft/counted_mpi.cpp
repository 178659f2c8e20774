// SPDX-License-Identifier: Apache-2.0
// MPI's profiling interface: the functions by which the schedules and the communication worker send, each with its PMPI
// twin. Visible from outside, since the library's calls must end here too.
#include "counted_mpi.hpp"

#include <mpi.h>

#include <atomic>
#include <map>
#include <mutex>

namespace soi::test {

namespace {

std::atomic<std::int64_t> n_messages{0};
std::atomic<std::int64_t> n_bytes{0};
std::atomic<bool> is_next_spoilt{false};
std::atomic<int> sends_until_spoilt{0};

std::int64_t bytes_of(std::int64_t count, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return count * size;
}

void add_message(std::int64_t count, MPI_Datatype type) {
    n_messages += 1;
    n_bytes += bytes_of(count, type);
}

void add_to_others(const int* counts, MPI_Datatype type, MPI_Comm comm) {
    int n_ranks = 0;
    PMPI_Comm_size(comm, &n_ranks);
    for (int rank = 0; rank < n_ranks; ++rank) n_bytes += bytes_of(counts[rank], type);
}

/// Of persistent requests, by their handle: what each start of them sends.
std::mutex guard;
std::map<MPI_Request, std::int64_t> bytes_of_start;

void will_send(MPI_Request request, std::int64_t bytes) {
    const std::scoped_lock hold(guard);
    bytes_of_start[request] = bytes;
}

void add_start(MPI_Request request) {
    const std::scoped_lock hold(guard);
    const auto found = bytes_of_start.find(request);
    if (found == bytes_of_start.end()) return;
    n_messages += 1;
    n_bytes += found->second;
}

void add_free(MPI_Request request) {
    const std::scoped_lock hold(guard);
    bytes_of_start.erase(request); // the handle may come again, for a receive
}

template <class Count>
Count spoilt(Count count) {
    return is_next_spoilt.exchange(false) ? count - 1 : count;
}

} // namespace

void spoil_next_receive() { is_next_spoilt = true; }
void spoil_send(int n) { sends_until_spoilt = n; }

counted counted_so_far() { return {n_messages, n_bytes}; }

} // namespace soi::test

using namespace soi::test;

#define COUNTED_VISIBLE extern "C" __attribute__((visibility("default")))

COUNTED_VISIBLE int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                              MPI_Request* request) {
    add_message(count, type);
    const int code = PMPI_Isend(buffer, count, type, dest, tag, comm, request);
    if (sends_until_spoilt <= 0 || --sends_until_spoilt != 0) return code;
    PMPI_Request_free(request);
    return MPI_ERR_INTERN;
}

#if MPI_VERSION >= 4
COUNTED_VISIBLE int MPI_Isend_c(const void* buffer, MPI_Count count, MPI_Datatype type, int dest, int tag,
                                MPI_Comm comm, MPI_Request* request) {
    add_message(count, type);
    return PMPI_Isend_c(buffer, count, type, dest, tag, comm, request);
}
#endif

COUNTED_VISIBLE int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                              MPI_Request* request) {
    return PMPI_Irecv(buffer, spoilt(count), type, source, tag, comm, request);
}

#if MPI_VERSION >= 4
COUNTED_VISIBLE int MPI_Irecv_c(void* buffer, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                MPI_Request* request) {
    return PMPI_Irecv_c(buffer, spoilt(count), type, source, tag, comm, request);
}
#endif

COUNTED_VISIBLE int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                                  MPI_Request* request) {
    const int code = PMPI_Send_init(buffer, count, type, dest, tag, comm, request);
    will_send(*request, bytes_of(count, type));
    return code;
}

#if MPI_VERSION >= 4
COUNTED_VISIBLE int MPI_Psend_init(const void* buffer, int partitions, MPI_Count count, MPI_Datatype type, int dest,
                                   int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    const int code = PMPI_Psend_init(buffer, partitions, count, type, dest, tag, comm, info, request);
    will_send(*request, partitions * bytes_of(count, type));
    return code;
}
#endif

COUNTED_VISIBLE int MPI_Start(MPI_Request* request) {
    add_start(*request);
    return PMPI_Start(request);
}

COUNTED_VISIBLE int MPI_Startall(int count, MPI_Request* requests) {
    for (int k = 0; k < count; ++k) add_start(requests[k]);
    return PMPI_Startall(count, requests);
}

COUNTED_VISIBLE int MPI_Request_free(MPI_Request* request) {
    add_free(*request);
    return PMPI_Request_free(request);
}

COUNTED_VISIBLE int MPI_Sendrecv(const void* send, int send_count, MPI_Datatype send_type, int dest, int send_tag,
                                 void* receive, int receive_count, MPI_Datatype receive_type, int source,
                                 int receive_tag, MPI_Comm comm, MPI_Status* status) {
    add_message(send_count, send_type);
    return PMPI_Sendrecv(send, send_count, send_type, dest, send_tag, receive, receive_count, receive_type, source,
                         receive_tag, comm, status);
}

COUNTED_VISIBLE int MPI_Alltoallv(const void* send, const int* send_counts, const int* send_offsets,
                                  MPI_Datatype send_type, void* receive, const int* receive_counts,
                                  const int* receive_offsets, MPI_Datatype receive_type, MPI_Comm comm) {
    add_to_others(send_counts, send_type, comm);
    return PMPI_Alltoallv(send, send_counts, send_offsets, send_type, receive, receive_counts, receive_offsets,
                          receive_type, comm);
}

COUNTED_VISIBLE int MPI_Ialltoallv(const void* send, const int* send_counts, const int* send_offsets,
                                   MPI_Datatype send_type, void* receive, const int* receive_counts,
                                   const int* receive_offsets, MPI_Datatype receive_type, MPI_Comm comm,
                                   MPI_Request* request) {
    add_to_others(send_counts, send_type, comm);
    return PMPI_Ialltoallv(send, send_counts, send_offsets, send_type, receive, receive_counts, receive_offsets,
                           receive_type, comm, request);
}
