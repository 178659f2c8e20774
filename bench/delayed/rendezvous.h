// SPDX-License-Identifier: Apache-2.0
//
// Messages that go by rendezvous: the sender announces them, and the receiver's adapter pulls them from the moment at which
// the receiver, in whatever call of MPI, finds the announcement. A rank that computes and does not call MPI finds nothing,
// which is what overlap is about on most networks.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace commtask::bench {

/// All ranks, before the first message, and after the last.
void begin_rendezvous();
void end_rendezvous();

struct announcement {
    std::size_t size_bytes;
    int source; ///< The sender's rank in the message's communicator.
    int tag;
};

/// Before the message is given to MPI, any thread. @param to  in MPI_COMM_WORLD
void announce(const announcement& what, int to);

/// MPI_Irecv of what may be announced. Its request ends when the message is there and has been pulled. Not to be cancelled.
[[nodiscard]] int receive_by_rendezvous(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                                        MPI_Request* request);

/// Any thread: what every call of MPI does by the way. Nothing without begin_rendezvous().
void find_announced();

} // namespace commtask::bench
