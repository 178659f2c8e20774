/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether one of MPI's descriptors becomes readable when a message comes (docs/adr/0114): all that the process has after its first
 * messages, and had not before MPI_Init, are waited on, with a receive in flight that was tested for a while. Two ranks; one sends. */
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

enum { most = 1024, n_messages = 20, large_bytes = 100000 };
static const double tested_s = 0.02, send_after_s = 0.07;
static const int patience_ms = 200;

static void wait_for(double seconds, MPI_Request* request) {
    int has_come = 0;
    for (const double begin = MPI_Wtime(); MPI_Wtime() - begin < seconds;) {
        if (request != NULL) MPI_Test(request, &has_come, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char** argv) {
    static char buffer[2 * large_bytes];
    static unsigned char was_open[most];
    struct pollfd made[most];
    int rank = 0, n_made = 0, n_always = 0, n_told = 0;
    for (int i = 0; i < most; ++i) was_open[i] = fcntl(i, F_GETFD) >= 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Sendrecv(buffer, large_bytes, MPI_BYTE, 1 - rank, 0, buffer + large_bytes, large_bytes, MPI_BYTE, 1 - rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* some connect no sooner */
    for (int i = 0; i < most; ++i) {
        if (!was_open[i] && fcntl(i, F_GETFD) >= 0) made[n_made++] = (struct pollfd){.fd = i, .events = POLLIN};
    }
    for (int i = 0; i < n_messages; ++i) {
        MPI_Request request = MPI_REQUEST_NULL;
        const int n_bytes = i % 2 == 0 ? 8 : large_bytes;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) {
            wait_for(send_after_s, NULL);
            MPI_Send(buffer, n_bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        } else if (rank == 0) {
            MPI_Irecv(buffer, n_bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
            wait_for(tested_s, &request);
            poll(made, (nfds_t)n_made, 0);
            for (int at = 0; at < n_made;) { /* these say nothing */
                if (made[at].revents == 0)
                    ++at;
                else
                    made[at] = made[--n_made], ++n_always;
            }
            n_told += poll(made, (nfds_t)n_made, patience_ms) > 0;
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    if (rank == 0)
        printf("descriptors %d, readable without a message %d, messages that made one readable %d of %d\n",
               n_made + n_always, n_always, n_told, n_messages);
    return MPI_Finalize();
}
