// SPDX-License-Identifier: Apache-2.0
//
// Uses the operation that add_operation.py has added, which exchanges blocks with the neighbors, in both forms of its
// counts, as an OpenMP task and in a node of oneTBB; and looks at what the library says about it, right and wrong.
#include <commtask/omp.h>
#include <stdio.h>
#include <string.h>

#ifdef HAVE_NODE
int swap_in_a_node(const commtask_op* swap); // added_operation_node.cpp
#endif

static int n_wrong;
static void expect(int is_right, const char* what) {
    if (is_right) return;
    fprintf(stderr, "wrong: %s\n", what);
    n_wrong += 1;
}

int main(int argc, char** argv) {
    int provided = 0;
    int n_ranks = 0;
    int rank = 0;
    const int is_periodic = 1;
    MPI_Comm ring = MPI_COMM_NULL;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &n_ranks, &is_periodic, 0, &ring);
    MPI_Comm_rank(ring, &rank);
    const int left = (rank + n_ranks - 1) % n_ranks;
    expect(commtask_init(NULL) == COMMTASK_OK, "init");

    const commtask_kind_info* const about = commtask_kind_describe(COMMTASK_OP_NEIGHBOR_SWAP);
    expect(about != NULL && strcmp(about->name, "neighbor_swap") == 0 && about->is_collective == 1,
           "what is known of it");
    expect(commtask_kind_describe(COMMTASK_OP_END) == NULL, "there is no kind behind it");

    const int mine[2] = {10 * rank, 10 * rank + 1}; // to the left, to the right
    int theirs[2] = {-1, -1};
    const int counts[2] = {1, 1};
    const int displs[2] = {0, 1};
    const commtask_op by_int =
        commtask_op_neighbor_swap_int(mine, counts, displs, MPI_INT, theirs, counts, displs, MPI_INT, ring);
    commtask_t task = COMMTASK_NULL;
    expect(commtask_post_operation(&by_int, NULL, &task) == COMMTASK_OK, commtask_last_error());
    expect(commtask_wait(&task, NULL) == COMMTASK_OK, "the int form");
    expect(theirs[0] == 10 * left + (n_ranks == 2 ? theirs[0] % 10 : 1), "what the int form brought");

    // Counts that an MPI without large counts needs narrowed, by the number of neighbors.
    int again[2] = {-1, -1};
    const MPI_Count large[2] = {1, 1};
    const MPI_Aint places[2] = {0, 1};
    const commtask_op by_count =
        commtask_op_neighbor_swap(mine, large, places, MPI_INT, again, large, places, MPI_INT, ring);
    expect(commtask_post_operation(&by_count, NULL, &task) == COMMTASK_OK, commtask_last_error());
    expect(commtask_wait(&task, NULL) == COMMTASK_OK, "the large form");
    expect(memcmp(theirs, again, sizeof again) == 0, "what the large form brought");

    const commtask_op wrong =
        commtask_op_neighbor_swap_int(mine, counts, displs, MPI_INT, theirs, NULL, displs, MPI_INT, ring);
    expect(commtask_post_operation(&wrong, NULL, NULL) == COMMTASK_ERR_ARGUMENT, "a wrong argument is refused");
    expect(strstr(commtask_last_error(), "recv_counts") != NULL, "the argument is named");

    int of_task[2] = {-1, -1};
    commtask_status ended = COMMTASK_STATUS_INIT;
    COMM_TASK(neighbor_swap_int(mine, counts, displs, MPI_INT, of_task, counts, displs, MPI_INT, ring), out(of_task),
              status(&ended));
    expect(commtask_omp_wait_all() == COMMTASK_OK && ended.state == COMMTASK_STATE_COMPLETED, "as an OpenMP task");
    expect(memcmp(theirs, of_task, sizeof of_task) == 0, "what the OpenMP task brought");
    COMM_TASK(neighbor_swap_int(mine, counts, displs, MPI_INT, of_task, NULL, displs, MPI_INT, ring), status(&ended));
    expect(strstr(commtask_omp_last_error(), ": neighbor_swap, ") != NULL, commtask_omp_last_error());

#ifdef HAVE_NODE
    int of_node[2] = {-1, -1};
    const commtask_op swap =
        commtask_op_neighbor_swap_int(mine, counts, displs, MPI_INT, of_node, counts, displs, MPI_INT, ring);
    expect(swap_in_a_node(&swap) == 1, "a oneTBB node for it takes it, and one for sends does not");
    expect(memcmp(theirs, of_node, sizeof of_node) == 0, "what the oneTBB node brought");
#endif

    expect(commtask_finalize() == COMMTASK_OK, "finalize");
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return n_wrong == 0 ? 0 : 1;
}
