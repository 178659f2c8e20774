// SPDX-License-Identifier: Apache-2.0
//
// Scenarios about the beginning and the end of the library: called too early, too late, twice, at a thread level that it
// cannot work with, and with settings that it does not know. Every one ends in a code and a sentence.
#include "scenario.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace commtask::test {
namespace {

/// Every function that needs the library says that it is not there.
void check_not_initialized() {
    CHECK(commtask_is_initialized() == 0);
    const commtask_op noop = commtask_op_noop(MPI_COMM_WORLD);
    commtask_t task = COMMTASK_NULL;
    CHECK(commtask_post_operation(&noop, nullptr, &task) == COMMTASK_ERR_NOT_INITIALIZED);
    CHECK(task == COMMTASK_NULL);
    CHECK(last_error_names("commtask_init"));
    CHECK(commtask_comm_register(MPI_COMM_WORLD) == COMMTASK_ERR_NOT_INITIALIZED);
    commtask_ticket ticket{};
    CHECK(commtask_ticket_take(&noop, &ticket) == COMMTASK_ERR_NOT_INITIALIZED);
    CHECK(commtask_ticket_drop(MPI_COMM_WORLD, ticket) == COMMTASK_ERR_NOT_INITIALIZED);
    commtask_event_t event = COMMTASK_EVENT_NULL;
    CHECK(commtask_event_create(1, &event) == COMMTASK_ERR_NOT_INITIALIZED);
    CHECK(event == COMMTASK_EVENT_NULL);
    commtask_info info{};
    info.struct_size = sizeof info;
    CHECK(commtask_get_info(&info) == COMMTASK_ERR_NOT_INITIALIZED);
    CHECK(commtask_finalize() == COMMTASK_ERR_NOT_INITIALIZED);
    CHECK(last_error_names("commtask_init"));
}

} // namespace

/// What commtask_lanes_prepare leaves: MPICHs from 4.1 on have several network contexts, if they are asked to in time.
static void check_contexts(const char* expected) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    const bool has_several = std::strstr(text, "MPICH Version:") != nullptr && std::strstr(text, "\t4.0") == nullptr;
    const char* const found = std::getenv("MPIR_CVAR_CH4_NUM_VCIS");
    CHECK(has_several ? found != nullptr && std::strcmp(found, expected) == 0 : found == nullptr);
}

void before_mpi() {
    check_not_initialized();
    CHECK(commtask_init(nullptr) == COMMTASK_ERR_MPI_STATE);
    CHECK(last_error_names("MPI_Init_thread"));
    CHECK(commtask_lanes_prepare(2) == COMMTASK_OK);
    check_contexts("2");
    begin_mpi();
    CHECK(commtask_lanes_prepare(3) == COMMTASK_ERR_MPI_STATE);
    CHECK(last_error_names("before MPI_Init"));
    check_contexts("2");
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
    CHECK(commtask_init(nullptr) == COMMTASK_ERR_MPI_STATE);
    CHECK(last_error_names("finalised"));
    check_not_initialized();
}

void thread_level() {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    if (provided < MPI_THREAD_SERIALIZED) {
        CHECK(commtask_init(nullptr) == COMMTASK_ERR_THREAD_LEVEL);
        CHECK(last_error_names("MPI_THREAD_SERIALIZED"));
        CHECK(last_error_names("MPI_THREAD_FUNNELED"));
        check_not_initialized();
    }
    MPI_Finalize();
    if (provided >= MPI_THREAD_SERIALIZED) std::exit(77);
}

void init_twice() {
    begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    CHECK(commtask_init(nullptr) == COMMTASK_ERR_ALREADY_INITIALIZED);
    CHECK(commtask_is_initialized() == 1);
    commtask_t task = COMMTASK_NULL;
    CHECK(commtask_post(commtask_op_barrier(MPI_COMM_WORLD), nullptr, &task) == COMMTASK_OK);
    CHECK(commtask_wait(&task, nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

void after_finalize() {
    begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    CHECK(commtask_post(commtask_op_barrier(MPI_COMM_WORLD), nullptr, nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    check_not_initialized();
    MPI_Finalize();
}

// One rank alone is wrong: all must come back.
void bad_field() {
    const int rank = begin_mpi();
    commtask_config config = COMMTASK_CONFIG_INIT;
    if (rank == 0) config.queue_capacity = 100;
    CHECK(commtask_init(&config) == COMMTASK_ERR_CONFIG);
    if (rank == 0) CHECK(last_error_names("COMMTASK_QUEUE_CAPACITY"));
    if (rank == 0) CHECK(last_error_names("power of two"));
    CHECK(commtask_last_error()[0] != '\0');
    CHECK(commtask_is_initialized() == 0);
    commtask_config other = COMMTASK_CONFIG_INIT;
    other.idle = "sometimes";
    CHECK(commtask_init(&other) == COMMTASK_ERR_CONFIG);
    CHECK(last_error_names("COMMTASK_IDLE"));
    CHECK(last_error_names("reserved"));
    commtask_config without_lanes = COMMTASK_CONFIG_INIT;
    without_lanes.lanes = COMMTASK_ZERO;
    CHECK(commtask_init(&without_lanes) == COMMTASK_ERR_CONFIG);
    CHECK(last_error_names("COMMTASK_LANES=0"));
    commtask_config negative = COMMTASK_CONFIG_INIT;
    negative.stall_s = -3;
    CHECK(commtask_init(&negative) == COMMTASK_ERR_CONFIG);
    CHECK(last_error_names("COMMTASK_STALL_S=-3"));
    commtask_config unsized{};
    CHECK(commtask_init(&unsized) == COMMTASK_ERR_CONFIG);
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

// scenario_test.py sets COMMTASK_IDLE=reservd.
void bad_variable() {
    begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_ERR_CONFIG);
    CHECK(last_error_names("COMMTASK_IDLE"));
    CHECK(last_error_names("reservd"));
    CHECK(last_error_names("reserved"));
    MPI_Finalize();
}

// scenario_test.py sets COMMTASK_QUEUE_CAPCITY=128 and reads the warning.
void misspelt_variable() {
    begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

// scenario_test.py sets COMMTASK_IDLE=shared, which goes over the field.
void good_variable() {
    begin_mpi();
    commtask_config config = COMMTASK_CONFIG_INIT;
    config.idle = "reserved";
    CHECK(commtask_init(&config) == COMMTASK_OK);
    commtask_info info{};
    info.struct_size = sizeof info;
    CHECK(commtask_get_info(&info) == COMMTASK_OK);
    CHECK(info.worker_is_reserved == 0);
    CHECK(info.lanes == 1);
    CHECK(info.thread_level >= MPI_THREAD_SERIALIZED);
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

// scenario_test.py sets COMMTASK_STATS=1 and reads the table.
void stats() {
    const int rank = begin_mpi();
    int n_ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    static char out[1000];
    static char in[1000];
    for (int i = 0; i < 10; ++i) {
        commtask_t receive = COMMTASK_NULL;
        const commtask_op recv =
            commtask_op_recv(in, 1000, MPI_CHAR, (rank + n_ranks - 1) % n_ranks, 0, MPI_COMM_WORLD);
        CHECK(commtask_post_operation(&recv, nullptr, &receive) == COMMTASK_OK);
        const commtask_op send = commtask_op_send(out, 1000, MPI_CHAR, (rank + 1) % n_ranks, 0, MPI_COMM_WORLD);
        CHECK(commtask_post_operation(&send, nullptr, nullptr) == COMMTASK_OK);
        CHECK(commtask_wait(&receive, nullptr) == COMMTASK_OK);
        // Nothing goes to nobody, and nothing comes from there.
        const commtask_op nowhere = commtask_op_ssend(out, 1000, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
        CHECK(commtask_post_operation(&nowhere, nullptr, nullptr) == COMMTASK_OK);
        commtask_t half = COMMTASK_NULL;
        commtask_status status = COMMTASK_STATUS_INIT;
        const commtask_op one_way =
            commtask_op_sendrecv(out, 1000, MPI_CHAR, rank, 1, in, 1000, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
        commtask_t other_half = COMMTASK_NULL;
        const commtask_op other_way =
            commtask_op_sendrecv(out, 1000, MPI_CHAR, MPI_PROC_NULL, 1, in, 1000, MPI_CHAR, rank, 1, MPI_COMM_WORLD);
        CHECK(commtask_post_operation(&other_way, nullptr, &other_half) == COMMTASK_OK);
        CHECK(commtask_post_operation(&one_way, nullptr, &half) == COMMTASK_OK);
        CHECK(commtask_wait(&half, &status) == COMMTASK_OK);
        CHECK(status.bytes == 0);
        CHECK(commtask_wait(&other_half, nullptr) == COMMTASK_OK);
    }
    // One that fails, one that is canceled, and one that another one started.
    const commtask_op wrong = commtask_op_call([](void*) -> int { return MPI_ERR_OTHER; }, nullptr, MPI_COMM_WORLD);
    const commtask_op from_nobody = commtask_op_recv(in + 1, 1, MPI_CHAR, rank, 2, MPI_COMM_WORLD);
    const commtask_op wanted = commtask_op_barrier(MPI_COMM_WORLD);
    commtask_t failing = COMMTASK_NULL;
    commtask_t unwanted = COMMTASK_NULL;
    commtask_t first = COMMTASK_NULL;
    commtask_t second = COMMTASK_NULL;
    CHECK(commtask_post_operation(&wrong, nullptr, &failing) == COMMTASK_OK);
    CHECK(commtask_wait(&failing, nullptr) == COMMTASK_FAILED);
    CHECK(commtask_post_operation(&from_nobody, nullptr, &unwanted) == COMMTASK_OK);
    CHECK(commtask_cancel(unwanted) == COMMTASK_OK);
    CHECK(commtask_wait(&unwanted, nullptr) == COMMTASK_CANCELED);
    CHECK(commtask_post_operation(&wanted, nullptr, &first) == COMMTASK_OK);
    commtask_options after_first = COMMTASK_OPTIONS_INIT;
    after_first.after = &first;
    after_first.n_after = 1;
    CHECK(commtask_post_operation(&wanted, &after_first, &second) == COMMTASK_OK);
    CHECK(commtask_wait(&second, nullptr) == COMMTASK_OK);
    CHECK(commtask_release(&first) == COMMTASK_OK);
    // Nobody waits in the library for this one, so it is the worker that is busy.
    std::atomic<bool> has_run{false};
    commtask_options by_the_worker = COMMTASK_OPTIONS_INIT;
    by_the_worker.callback = [](const commtask_status*, void* flag) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{30};
        while (std::chrono::steady_clock::now() < end) {}
        *static_cast<std::atomic<bool>*>(flag) = true;
    };
    by_the_worker.callback_argument = &has_run;
    const commtask_op nothing = commtask_op_noop(MPI_COMM_WORLD);
    CHECK(commtask_post_operation(&nothing, &by_the_worker, nullptr) == COMMTASK_OK);
    while (!has_run) std::this_thread::yield();
    // A collective's bytes are what each rank gives, whatever the collective.
    const int is_periodic = 1;
    MPI_Comm ring = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &n_ranks, &is_periodic, 0, &ring);
    commtask_t gather = COMMTASK_NULL;
    const commtask_op allgather = commtask_op_neighbor_allgather(out, 400, MPI_CHAR, in, 400, MPI_CHAR, ring);
    CHECK(commtask_post_operation(&allgather, nullptr, &gather) == COMMTASK_OK);
    CHECK(commtask_wait(&gather, nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Comm_free(&ring);
    MPI_Finalize();
}

} // namespace commtask::test
