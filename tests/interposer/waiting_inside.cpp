// SPDX-License-Identifier: Apache-2.0
//
// A program with commtask that waits for a task inside functions that MPI calls: of attributes, errors, generalized requests and
// reductions. Under commtask-run the thread may have the worker's role at that moment, so that nobody else could end the task.
// It may be refused, but it may not hang, and what it has posted goes on. Which of both differs, so nothing is said of it.
#include <commtask/commtask.h>
#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "probe.h"

namespace {

int n_waits = 0;
bool has_threads = false; ///< MPI_THREAD_MULTIPLE.
bool would_hang = false;  ///< With MPI_THREAD_MULTIPLE MPICH has its lock in hand; natively nobody refuses the wait.

/// Messages to oneself: who is refused leaves them on their way.
struct message {
    int out = 7;
    int in = -1;
};
std::array<message, 256> messages;
std::atomic<std::size_t> n_messages{0};

/// Waits for a task that the lane ends by itself and for a message, which only MPI ends.
void wait_here() {
    if (would_hang) {
        ++n_waits;
        return;
    }
    const std::size_t number = n_messages++;
    const int tag = static_cast<int>(number);
    message& mine = messages.at(number);
    std::array<commtask_t, 3> tasks{};
    const std::array ops{commtask_op_noop(MPI_COMM_SELF), commtask_op_recv(&mine.in, 1, MPI_INT, 0, tag, MPI_COMM_SELF),
                         commtask_op_send(&mine.out, 1, MPI_INT, 0, tag, MPI_COMM_SELF)};
    for (std::size_t i = 0; i < ops.size(); ++i)
        EXPECT(commtask_post_operation(&ops[i], nullptr, &tasks[i]) == COMMTASK_OK);
    ++n_waits;
    const int code = commtask_wait_all(tasks.size(), tasks.data(), nullptr);
    EXPECT(code == COMMTASK_OK || code == COMMTASK_ERR_WORKER_THREAD);
    EXPECT(code != COMMTASK_OK || mine.in == 7);
    for (commtask_t& task : tasks) commtask_release(&task);
}

/// Waits for what cannot end meanwhile.
void expect_to_be_refused() {
    if (would_hang) return;
    commtask_event_t event = COMMTASK_EVENT_NULL;
    commtask_t held = COMMTASK_NULL;
    commtask_options how = COMMTASK_OPTIONS_INIT;
    EXPECT(commtask_event_create(1, &event) == COMMTASK_OK);
    how.events = &event;
    how.n_events = 1;
    EXPECT(commtask_post(commtask_op_noop(MPI_COMM_SELF), &how, &held) == COMMTASK_OK);
    EXPECT(commtask_wait_for(&held, 1'000'000, nullptr) == COMMTASK_ERR_WORKER_THREAD);
    EXPECT(commtask_event_signal(event) == COMMTASK_OK);
    EXPECT(commtask_event_release(&event) == COMMTASK_OK);
    EXPECT(commtask_release(&held) == COMMTASK_OK);
}

int on_delete(MPI_Comm /*comm*/, int /*key*/, void* /*value*/, void* /*extra*/) {
    wait_here();
    return MPI_SUCCESS;
}
int on_copy(MPI_Comm /*comm*/, int /*key*/, void* /*extra*/, void* value, void* copy, int* is_copied) {
    wait_here();
    std::memcpy(copy, static_cast<void*>(&value), sizeof value);
    *is_copied = 1;
    return MPI_SUCCESS;
}

void in_attribute_functions() {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_create_keyval(&on_copy, &on_delete, &key, nullptr);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_attr(comm, key, nullptr);
    MPI_Comm_dup(comm, &copy); // copies
    MPI_Comm_delete_attr(comm, key);
    MPI_Comm_set_attr(comm, key, nullptr);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&copy);
    MPI_Comm_free_keyval(&key);
    say("%d waits", n_waits);
}

void on_error(MPI_Comm* /*comm*/, int* /*code*/, ...) { wait_here(); }

void in_an_error_handler() {
    n_waits = 0;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(&on_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    int value = 0;
    MPI_Send(&value, -1, MPI_INT, me, 0, comm);
    MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
    say("%d waits", n_waits);
}

int on_query(void* /*state*/, MPI_Status* status) {
    wait_here();
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
int on_free(void* /*state*/) {
    wait_here();
    return MPI_SUCCESS;
}
int on_cancel(void* /*state*/, int /*is_over*/) {
    wait_here();
    return MPI_SUCCESS;
}

void in_functions_of_a_generalized_request() {
    n_waits = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Grequest_start(&on_query, &on_free, &on_cancel, nullptr, &request);
    MPI_Cancel(&request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("%d waits", n_waits);
}

MPI_Request unwanted = MPI_REQUEST_NULL;

/// Waits for a task whose callback cancels a request of MPI's: a thread that drives by waiting drives no pass inside that one.
int on_query_with_callback(void* state, MPI_Status* status) {
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.callback = [](const commtask_status* /*status*/, void* /*argument*/) { MPI_Cancel(&unwanted); };
    commtask_t task = COMMTASK_NULL;
    EXPECT(commtask_post(commtask_op_noop(MPI_COMM_SELF), &how, &task) == COMMTASK_OK);
    EXPECT(commtask_wait(&task, nullptr) == COMMTASK_OK);
    return on_query(state, status);
}

void in_a_callback_of_a_task() {
    if (has_threads) return; // it would be refused, or hang natively
    n_waits = 0;
    int never = 0;
    int was_cancelled = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Irecv(&never, 1, MPI_INT, me, 1000, MPI_COMM_WORLD, &unwanted);
    MPI_Grequest_start(&on_query_with_callback, &on_free, &on_cancel, nullptr, &request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&unwanted, &status);
    MPI_Test_cancelled(&status, &was_cancelled);
    say("%d waits, cancelled %d", n_waits, was_cancelled);
}

void on_reduce(void* in, void* inout, int* n, MPI_Datatype* /*type*/) {
    wait_here();
    if (has_threads) expect_to_be_refused(); // whatever call of MPI's this is in
    for (int i = 0; i < *n; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

void in_a_reduction_function() {
    n_waits = 0;
    MPI_Op add = MPI_OP_NULL;
    MPI_Op_create(&on_reduce, 1, &add);
    int sum = me;
    int one = 1;
    MPI_Reduce_local(&one, &sum, 1, MPI_INT, add);
    EXPECT(sum == me + 1);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, add, MPI_COMM_WORLD);
    EXPECT(sum == n_ranks * (n_ranks - 1) / 2);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(&me, &sum, 1, MPI_INT, add, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(sum == n_ranks * (n_ranks - 1) / 2);
    MPI_Op_free(&add);
}

/// While this rank is in a call that blocks, the other one ends a reduction with it: MPI runs the function inside that call, or
/// the worker does.
void in_a_reduction_during_a_call_that_blocks() {
    constexpr int n_turns = 30;
    MPI_Op add = MPI_OP_NULL;
    MPI_Op_create(&on_reduce, 1, &add);
    for (int turn = 0; turn < n_turns; ++turn) {
        const bool blocks_first = turn % 2 == me % 2;
        int sum = -1;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Comm part = MPI_COMM_NULL;
        MPI_Iallreduce(&me, &sum, 1, MPI_INT, add, MPI_COMM_WORLD, &request);
        if (!blocks_first) MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_split(MPI_COMM_SELF, 0, 0, &part);
        MPI_Comm_free(&part);
        MPI_Comm_split(MPI_COMM_WORLD, 0, me, &part);
        MPI_Comm_free(&part);
        if (blocks_first) MPI_Wait(&request, MPI_STATUS_IGNORE);
        EXPECT(sum == n_ranks * (n_ranks - 1) / 2);
    }
    MPI_Op_free(&add);
}

/// With MPI_THREAD_MULTIPLE what waits without saying so is refused where a wait is, and has done nothing: a first post to a
/// communicator, and commtask_finalize.
void what_waits_too() {
    say("what waits too"); // natively, and under commtask-run
    if (would_hang) return;
    static MPI_Comm fresh;
    static std::array<int, 3> codes;
    MPI_Comm_dup(MPI_COMM_SELF, &fresh);
    MPI_Op add = MPI_OP_NULL;
    MPI_Op_create(
        [](void*, void*, int*, MPI_Datatype*) {
            codes = {commtask_comm_register(fresh), commtask_post(commtask_op_noop(fresh), nullptr, nullptr),
                     commtask_finalize()};
        },
        1, &add);
    int sum = 0;
    int one = 1;
    MPI_Reduce_local(&one, &sum, 1, MPI_INT, add);
    MPI_Op_free(&add);
    for (const int code : codes) EXPECT(code == (has_threads ? COMMTASK_ERR_WORKER_THREAD : COMMTASK_OK));
    EXPECT(commtask_is_initialized() == (has_threads ? 1 : 0));
    if (!has_threads) EXPECT(commtask_init(nullptr) == COMMTASK_OK);
    EXPECT(commtask_comm_register(fresh) == COMMTASK_OK);
    MPI_Comm_free(&fresh);
}

} // namespace

int main(int argc, char** argv) {
    has_threads = argc > 1 && std::strcmp(argv[1], "multiple") == 0;
    int level = 0;
    MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED, &level);
    probe_start();
    EXPECT(commtask_init(nullptr) == COMMTASK_OK);
    in_attribute_functions();
    would_hang = has_threads && std::getenv("COMMTASK_RUN") == nullptr; // NOLINT(concurrency-mt-unsafe): one thread
    in_functions_of_a_generalized_request();
    in_a_callback_of_a_task();
    in_a_reduction_function();
    in_a_reduction_during_a_call_that_blocks();
    in_an_error_handler();
    what_waits_too();
    EXPECT(commtask_finalize() == COMMTASK_OK);
    for (std::size_t i = 0; i < n_messages; ++i) EXPECT(messages.at(i).in == 7);
    MPI_Finalize();
    return probe_result();
}
