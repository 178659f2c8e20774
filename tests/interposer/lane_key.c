// SPDX-License-Identifier: Apache-2.0
//
// The info key that chooses the lane of a duplicate, under commtask-run with two lanes: that MPI forgets the key must not matter.
// The program asks the library where its communicators are; in turn they would be on lanes 1, 0, 1, 0.
#include "probe.h"

#include <commtask/commtask.h>

static MPI_Comm duplicate(const char* value) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, COMMTASK_LANE_KEY, value);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &made);
    MPI_Info_free(&info);
    return made;
}

static void exchange(MPI_Comm comm) {
    int received = -1;
    MPI_Sendrecv(&me, 1, MPI_INT, next_rank(), 0, &received, 1, MPI_INT, previous_rank(), 0, comm, MPI_STATUS_IGNORE);
    EXPECT(received == previous_rank());
}

static void by_number(const char* value, int expected) {
    MPI_Comm made = duplicate(value);
    int lane = -1;
    EXPECT(commtask_comm_lane(made, &lane) == COMMTASK_OK);
    EXPECT(lane == expected);
    exchange(made);
    MPI_Comm_free(&made);
}

static void by_thread(void) {
    MPI_Comm made = duplicate("thread");
    EXPECT(commtask_comm_stripe(made, COMMTASK_STRIPE_BY_MESSAGE) == COMMTASK_ERR_ARGUMENT);
    EXPECT(strstr(commtask_last_error(), "by threads already") != NULL);
    exchange(made);
    MPI_Comm_free(&made);
}

static void by_nonsense(void) {
    MPI_Comm made = duplicate("2"); // names no lane, which rank 0 hears: the first serves it
    int lane = -1;
    EXPECT(commtask_comm_lane(made, &lane) == COMMTASK_OK);
    EXPECT(lane == 0);
    exchange(made);
    MPI_Comm_free(&made);
}

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE) return 77;
    probe_start();
    EXPECT(commtask_init(NULL) >= 0);
    by_number("0", 0);
    by_number("0", 0);
    by_number("1", 1);
    by_number("1", 1);
    by_thread();
    by_nonsense();
    EXPECT(commtask_finalize() >= 0);
    MPI_Finalize();
    return probe_result();
}
