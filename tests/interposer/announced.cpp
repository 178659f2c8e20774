// SPDX-License-Identifier: Apache-2.0
//
// Every way of sending to every way of receiving, of another node: what is announced to a rank is also counted when it has come, so that
// nothing is left of the count. Natively there is no count, and the same program.
#include "node_pages.hpp"
#include "patience.hpp"
#include "probe.h"

#include <array>
#include <vector>

#include <dlfcn.h>

namespace {

constexpr int sender = 2;
constexpr int receiver = 1;
constexpr int n_numbers = 1 << 15;

void send(const int* from) { MPI_Send(from, n_numbers, MPI_INT, receiver, 0, MPI_COMM_WORLD); }
void isend(const int* from) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(from, n_numbers, MPI_INT, receiver, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
void ssend(const int* from) { MPI_Ssend(from, n_numbers, MPI_INT, receiver, 0, MPI_COMM_WORLD); }
void sendrecv(const int* from) {
    MPI_Sendrecv(from, n_numbers, MPI_INT, receiver, 0, nullptr, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

void recv(int* into) { MPI_Recv(into, n_numbers, MPI_INT, sender, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
void irecv(int* into) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(into, n_numbers, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
void mrecv(int* into) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Mprobe(sender, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(into, n_numbers, MPI_INT, &message, MPI_STATUS_IGNORE);
}
void probe_and_recv(int* into) {
    MPI_Probe(sender, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    recv(into);
}

constexpr std::array ways_to_send{send, isend, ssend, sendrecv};
constexpr std::array ways_to_receive{recv, irecv, mrecv, probe_and_recv};

/// The receiver has everything when its watcher, whose rank is in the barrier then, has heard of it.
void nothing_is_left() {
    using commtask::detail::testing::announced_to;
    const bool is_interposed = dlsym(RTLD_DEFAULT, "commtask_init") != nullptr;
    if (me != receiver || !is_interposed) return;
    EXPECT(announced_to(receiver).has_value());
    if (!commtask::detail::testing::comes_true([] { return announced_to(receiver) == 0; })) {
        probe_fault(__FILE__, __LINE__, "the count is 0 again");
        std::fprintf(stderr, "it is %d\n", announced_to(receiver).value_or(-1));
    }
}

void every_way(bool sender_is_late) {
    std::vector<int> numbers(n_numbers);
    for (const auto way_to_send : ways_to_send) {
        for (const auto way_to_receive : ways_to_receive) {
            if (me == (sender_is_late ? sender : receiver))
                MPI_Recv(nullptr, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (me == 0) {
                for (const double begin = MPI_Wtime(); MPI_Wtime() - begin < 0.002;) {}
                MPI_Send(nullptr, 0, MPI_INT, sender_is_late ? sender : receiver, 1, MPI_COMM_WORLD);
            }
            if (me == sender) way_to_send(numbers.data());
            if (me == receiver) way_to_receive(numbers.data());
            nothing_is_left();
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    say("every way");
}

void receiver_early() { every_way(true); }
void sender_early() { every_way(false); }

} // namespace

int main(int argc, char** argv) {
    const std::array<probe_case, 2> cases{{{"receiver_early", receiver_early, 3}, {"sender_early", sender_early, 3}}};
    return probe_main(argc, argv, cases.data(), cases.size());
}
