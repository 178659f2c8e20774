// SPDX-License-Identifier: Apache-2.0
//
// Scenarios about several lanes that need a program of their own: what cannot be had is refused on all ranks, and the lists and
// the statistics name the lane.
#include "scenario.hpp"

#include <cstdlib>

namespace commtask::test {

// scenario_test.py sets what needs more, COMMTASK_LANES=2 or COMMTASK_NODE_ANNOUNCE_BYTES.
void serialized() {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    if (provided == MPI_THREAD_MULTIPLE) std::exit(77); // this MPI gives more than it is asked for
    CHECK(commtask_init(nullptr) == COMMTASK_ERR_THREAD_LEVEL);
    CHECK(last_error_names("MPI_THREAD_MULTIPLE"));
    MPI_Finalize();
}

// The number is each rank's own affair until they meet.
void lanes_differ() {
    const int rank = begin_mpi();
    commtask_config config = COMMTASK_CONFIG_INIT;
    config.lanes = rank == 0 ? 1 : 3;
    CHECK(commtask_init(&config) == COMMTASK_ERR_CONFIG);
    CHECK(last_error_names(rank == 0 ? "is 1 on this rank" : "is 3 on this rank"));
    CHECK(last_error_names("from 1 to 3"));
    config.lanes = 2;
    CHECK(commtask_init(&config) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

// scenario_test.py sets COMMTASK_LANES=2; what each lane cannot end is listed under its number.
void lanes_unfinished() {
    begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    MPI_Comm comms[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
    CHECK(commtask_comm_split_lanes(MPI_COMM_WORLD, 2, comms) == COMMTASK_OK);
    static int never[2];
    for (int lane = 0; lane < 2; ++lane) {
        const commtask_op receive = commtask_op_recv(&never[lane], 1, MPI_INT, 0, 70 + lane, comms[lane]);
        CHECK(commtask_post_operation(&receive, nullptr, nullptr) == COMMTASK_OK);
    }
    commtask_options after = COMMTASK_OPTIONS_INIT;
    commtask_t first = COMMTASK_NULL;
    CHECK(commtask_post(commtask_op_recv(&never[0], 1, MPI_INT, 0, 80, comms[0]), nullptr, &first) == COMMTASK_OK);
    after.after = &first;
    after.n_after = 1;
    CHECK(commtask_post(commtask_op_noop(comms[1]), &after, nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_ERR_UNFINISHED);
    MPI_Finalize();
}

// scenario_test.py sets COMMTASK_LANES=2 and COMMTASK_STALL_S, and says "go on" once it has seen what hangs on both, twice.
void lanes_watchdog() {
    const int rank = begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    MPI_Comm comms[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
    CHECK(commtask_comm_split_lanes(MPI_COMM_WORLD, 2, comms) == COMMTASK_OK);
    int received[2] = {};
    commtask_t receives[2] = {COMMTASK_NULL, COMMTASK_NULL};
    if (rank == 0) {
        for (int lane = 0; lane < 2; ++lane) {
            const commtask_op receive = commtask_op_recv(&received[lane], 1, MPI_INT, 0, 70 + lane, comms[lane]);
            CHECK(commtask_post_operation(&receive, nullptr, &receives[lane]) == COMMTASK_OK);
        }
        wait_for_go_on();
        const int sent = 1;
        for (int lane = 0; lane < 2; ++lane) {
            CHECK(commtask_post(commtask_op_send(&sent, 1, MPI_INT, 0, 70 + lane, comms[lane]), nullptr, nullptr) ==
                  COMMTASK_OK);
        }
        CHECK(commtask_wait_all(2, receives, nullptr) == COMMTASK_OK);
        CHECK(received[0] == 1 && received[1] == 1);
    }
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

// scenario_test.py sets COMMTASK_LANES=2 and COMMTASK_STATS=1 and reads a line for each lane.
void lanes_stats() {
    const int rank = begin_mpi();
    int n_ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    MPI_Comm comms[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
    CHECK(commtask_comm_split_lanes(MPI_COMM_WORLD, 2, comms) == COMMTASK_OK);
    for (int lane = 0; lane < 2; ++lane) {
        int sent = rank;
        int received = -1;
        const int n_messages = lane == 0 ? 3 : 5;
        for (int i = 0; i < n_messages; ++i) {
            commtask_t task = COMMTASK_NULL;
            const commtask_op both = commtask_op_sendrecv(&sent, 1, MPI_INT, (rank + 1) % n_ranks, i, &received, 1,
                                                          MPI_INT, (rank + n_ranks - 1) % n_ranks, i, comms[lane]);
            CHECK(commtask_post_operation(&both, nullptr, &task) == COMMTASK_OK);
            CHECK(commtask_wait(&task, nullptr) == COMMTASK_OK);
        }
    }
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

} // namespace commtask::test
