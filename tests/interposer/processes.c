// SPDX-License-Identifier: Apache-2.0
//
// Processes: children by fork that use no MPI, programs that are started and read from, while messages are under way;
// processes started by MPI_Comm_spawn and met through a port. argv[1] is "child" in a spawned process, and may name a case.
#include "probe.h"

#include <sys/wait.h>
#include <unistd.h>

static int end_of(pid_t child) {
    int status = 0;
    EXPECT(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void fork_with_messages_under_way(void) {
    for (int turn = 0; turn < 5; ++turn) {
        int in = -1;
        MPI_Request requests[2];
        MPI_Irecv(&in, 1, MPI_INT, previous_rank(), turn, MPI_COMM_WORLD, &requests[0]);
        const pid_t child = fork();
        if (child == 0) {
            _exit(40 + turn);
        }
        MPI_Isend(&me, 1, MPI_INT, next_rank(), turn, MPI_COMM_WORLD, &requests[1]);
        EXPECT(end_of(child) == 40 + turn);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        EXPECT(in == previous_rank());
    }
}

static void programs(void) {
    char text[64] = "";
    EXPECT(system("exit 3") == 3 << 8);
    FILE* pipe = popen("echo from the shell", "r");
    EXPECT(pipe && fgets(text, sizeof text, pipe));
    pclose(pipe);
    say("%.14s", text);
    const pid_t child = fork();
    if (child == 0) {
        execlp("sh", "sh", "-c", "exit 7", (char*)NULL);
        _exit(1);
    }
    EXPECT(end_of(child) == 7);
    int sum = -1;
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(sum == n_ranks * (n_ranks - 1) / 2);
}

static char* own_path;
static void spawned(void) {
    enum { n_children = 2 };
    char word[] = "child";
    char* words[] = {word, NULL};
    int codes[n_children] = {-1, -1};
    int n_remote = 0;
    int sum = -1;
    MPI_Comm children;
    MPI_Comm all;
    MPI_Comm_spawn(own_path, words, n_children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, codes);
    EXPECT(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
    MPI_Comm_remote_size(children, &n_remote);
    EXPECT(n_remote == n_children);
    if (me == 0) {
        for (int i = 0; i < n_children; ++i) {
            int answer = -1;
            MPI_Status status;
            MPI_Send(&i, 1, MPI_INT, i, 1, children);
            MPI_Recv(&answer, 1, MPI_INT, i, 2, children, &status);
            say("child %d answers %d", status.MPI_SOURCE, answer);
        }
    }
    MPI_Intercomm_merge(children, 0, &all);
    MPI_Allreduce(&n_remote, &sum, 1, MPI_INT, MPI_SUM, all);
    say("sum over all %d", sum);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&children);
    EXPECT(children == MPI_COMM_NULL);
}

static int be_a_child(void) {
    MPI_Comm parent;
    MPI_Comm all;
    int value = -1;
    int sum = -1;
    const int one = 1;
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        return 1;
    }
    MPI_Recv(&value, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
    value += 100;
    MPI_Send(&value, 1, MPI_INT, 0, 2, parent);
    MPI_Intercomm_merge(parent, 1, &all);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&parent);
    return 0;
}

static void through_a_port(void) {
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half;
    MPI_Comm other;
    int rank = -1;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
    MPI_Comm_rank(half, &rank);
    if (me == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, sizeof port, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
    } else if (me == 1) {
        MPI_Recv(port, sizeof port, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (me % 2 == 0) {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &other);
    } else {
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &other);
    }
    int in = -1;
    if (rank == 0) {
        MPI_Sendrecv(&me, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, other, MPI_STATUS_IGNORE);
        EXPECT(in == 1 - me);
    }
    MPI_Comm_disconnect(&other);
    MPI_Comm_free(&half);
    if (me == 0) {
        MPI_Close_port(port);
    }
}

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {
        {"fork_with_messages_under_way", fork_with_messages_under_way, 1},
        {"programs", programs, 1},
        {"spawned", spawned, 1},
        {"through_a_port", through_a_port, 2},
    };
    if (argc > 1 && strcmp(argv[1], "child") == 0) {
        MPI_Init(&argc, &argv);
        const int result = be_a_child();
        MPI_Finalize();
        return result;
    }
    own_path = argv[0];
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}
