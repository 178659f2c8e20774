// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.errors: wrong arguments. Each is refused when posted, with its code and a sentence that names it; nothing
// is printed, no handle is written, and the program goes on. One table; a line is one way to be wrong.
#include "runtime_test.hpp"

#include <climits>
#include <cstring>
#include <functional>
#include <string>

namespace commtask::test {
namespace {

int values[16];
const int zeros[16] = {};
const int minus_ones[16] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

int succeed_start(MPI_Request* request, void* /*argument*/) {
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

/// What an operation can be made of.
struct place {
    MPI_Comm comm;
    int rank;
    int n_ranks;
};

struct refusal {
    const char* name;
    int code;
    const char* word; ///< Must be in the sentence; several are separated by '|', one is enough.
    std::function<commtask_op(const place&)> make;
};

MPI_Message message = MPI_MESSAGE_NULL;

const refusal refusals[] = {
    {"SendToARankBeyond", COMMTASK_ERR_RANK, "dest",
     [](const place& at) { return commtask_op_send(values, 1, MPI_INT, at.n_ranks, 0, at.comm); }},
    {"SendToANegativeRank", COMMTASK_ERR_RANK, "dest",
     [](const place& at) { return commtask_op_send(values, 1, MPI_INT, -77, 0, at.comm); }},
    {"SendToAnyone", COMMTASK_ERR_RANK, "dest",
     [](const place& at) { return commtask_op_ssend(values, 1, MPI_INT, MPI_ANY_SOURCE, 0, at.comm); }},
    {"RecvFromARankBeyond", COMMTASK_ERR_RANK, "source",
     [](const place& at) { return commtask_op_recv(values, 1, MPI_INT, at.n_ranks, 0, at.comm); }},
    {"MprobeOfARankBeyond", COMMTASK_ERR_RANK, "source",
     [](const place& at) { return commtask_op_mprobe(&message, at.n_ranks, 0, at.comm); }},
    {"SendrecvToARankBeyond", COMMTASK_ERR_RANK, "dest",
     [](const place& at) {
         return commtask_op_sendrecv(values, 1, MPI_INT, at.n_ranks, 0, values + 1, 1, MPI_INT, 0, 0, at.comm);
     }},
    {"SendrecvFromARankBeyond", COMMTASK_ERR_RANK, "source",
     [](const place& at) {
         return commtask_op_sendrecv(values, 1, MPI_INT, 0, 0, values + 1, 1, MPI_INT, at.n_ranks, 0, at.comm);
     }},
    {"BcastFromARankBeyond", COMMTASK_ERR_RANK, "root",
     [](const place& at) { return commtask_op_bcast(values, 1, MPI_INT, at.n_ranks, at.comm); }},
    {"ReduceToANegativeRank", COMMTASK_ERR_RANK, "root",
     [](const place& at) { return commtask_op_reduce(values, values + 1, 1, MPI_INT, MPI_SUM, -77, at.comm); }},
    {"GatherToARankBeyond", COMMTASK_ERR_RANK, "root",
     [](const place& at) {
         return commtask_op_gather(values, 1, MPI_INT, values, 1, MPI_INT, at.n_ranks + 3, at.comm);
     }},
    {"SendWithANegativeTag", COMMTASK_ERR_TAG, "tag",
     [](const place& at) { return commtask_op_send(values, 1, MPI_INT, at.rank, -7, at.comm); }},
    {"SendWithAnyTag", COMMTASK_ERR_TAG, "tag",
     [](const place& at) { return commtask_op_send(values, 1, MPI_INT, at.rank, MPI_ANY_TAG, at.comm); }},
    {"RecvWithANegativeTag", COMMTASK_ERR_TAG, "tag",
     [](const place& at) { return commtask_op_recv(values, 1, MPI_INT, at.rank, -7, at.comm); }},
    {"SendWithANegativeCount", COMMTASK_ERR_COUNT, "count",
     [](const place& at) { return commtask_op_send(values, -1, MPI_INT, at.rank, 0, at.comm); }},
    {"RecvWithANegativeCount", COMMTASK_ERR_COUNT, "count",
     [](const place& at) { return commtask_op_recv(values, -1, MPI_INT, at.rank, 0, at.comm); }},
    {"BcastWithANegativeCount", COMMTASK_ERR_COUNT, "count",
     [](const place& at) { return commtask_op_bcast(values, -3, MPI_INT, 0, at.comm); }},
    {"AllreduceWithANegativeCount", COMMTASK_ERR_COUNT, "count",
     [](const place& at) { return commtask_op_allreduce(values, values + 1, -3, MPI_INT, MPI_SUM, at.comm); }},
    {"SendFromNowhere", COMMTASK_ERR_BUFFER, "buffer",
     [](const place& at) { return commtask_op_send(nullptr, 1, MPI_INT, at.rank, 0, at.comm); }},
    {"RecvToNowhere", COMMTASK_ERR_BUFFER, "buffer",
     [](const place& at) { return commtask_op_recv(nullptr, 1, MPI_INT, at.rank, 0, at.comm); }},
    {"BcastOfNowhere", COMMTASK_ERR_BUFFER, "buffer",
     [](const place& at) { return commtask_op_bcast(nullptr, 1, MPI_INT, 0, at.comm); }},
    {"AllreduceFromNowhere", COMMTASK_ERR_BUFFER, "buffer",
     [](const place& at) { return commtask_op_allreduce(nullptr, values, 1, MPI_INT, MPI_SUM, at.comm); }},
    {"AllgatherToNowhere", COMMTASK_ERR_BUFFER, "buffer",
     [](const place& at) { return commtask_op_allgather(values, 1, MPI_INT, nullptr, 1, MPI_INT, at.comm); }},
    {"SendOfANullType", COMMTASK_ERR_TYPE, "type",
     [](const place& at) { return commtask_op_send(values, 1, MPI_DATATYPE_NULL, at.rank, 0, at.comm); }},
    {"RecvOfANullType", COMMTASK_ERR_TYPE, "type",
     [](const place& at) { return commtask_op_recv(values, 1, MPI_DATATYPE_NULL, at.rank, 0, at.comm); }},
    {"ScanOfANullType", COMMTASK_ERR_TYPE, "type",
     [](const place& at) { return commtask_op_scan(values, values + 1, 1, MPI_DATATYPE_NULL, MPI_SUM, at.comm); }},
    {"AllreduceByANullOperation", COMMTASK_ERR_OP, "reduction|op",
     [](const place& at) { return commtask_op_allreduce(values, values + 1, 1, MPI_INT, MPI_OP_NULL, at.comm); }},
    {"ReduceScatterBlockByANullOperation", COMMTASK_ERR_OP, "reduction|op",
     [](const place& at) {
         return commtask_op_reduce_scatter_block(values, values + 8, 1, MPI_INT, MPI_OP_NULL, at.comm);
     }},
    {"SendOnTheNullCommunicator", COMMTASK_ERR_COMM, "comm",
     [](const place&) { return commtask_op_send(values, 1, MPI_INT, 0, 0, MPI_COMM_NULL); }},
    {"BarrierOnTheNullCommunicator", COMMTASK_ERR_COMM, "comm",
     [](const place&) { return commtask_op_barrier(MPI_COMM_NULL); }},
    {"NoopOnTheNullCommunicator", COMMTASK_ERR_COMM, "comm",
     [](const place&) { return commtask_op_noop(MPI_COMM_NULL); }},
    {"MprobeWithoutAMessage", COMMTASK_ERR_ARGUMENT, "message",
     [](const place& at) { return commtask_op_mprobe(nullptr, at.rank, 0, at.comm); }},
    {"MrecvWithoutAMessage", COMMTASK_ERR_ARGUMENT, "message",
     [](const place& at) { return commtask_op_mrecv(values, 1, MPI_INT, nullptr, at.comm); }},
    {"CommDupWithoutAPlace", COMMTASK_ERR_ARGUMENT, "comm",
     [](const place& at) { return commtask_op_comm_dup(nullptr, at.comm); }},
    {"StartOfNothing", COMMTASK_ERR_ARGUMENT, "function",
     [](const place& at) { return commtask_op_start(nullptr, nullptr, at.comm); }},
    {"CallOfNothing", COMMTASK_ERR_ARGUMENT, "function",
     [](const place& at) { return commtask_op_call(nullptr, nullptr, at.comm); }},
    {"AttachOfNothing", COMMTASK_ERR_ARGUMENT, "request",
     [](const place& at) { return commtask_op_attach(nullptr, at.comm); }},
    {"AllgathervWithoutCounts", COMMTASK_ERR_ARGUMENT, "recv_counts",
     [](const place& at) {
         return commtask_op_allgatherv_int(values, 1, MPI_INT, values, nullptr, zeros, MPI_INT, at.comm);
     }},
    {"AllgathervWithoutDisplacements", COMMTASK_ERR_ARGUMENT, "recv_displs",
     [](const place& at) {
         return commtask_op_allgatherv_int(values, 1, MPI_INT, values, zeros, nullptr, MPI_INT, at.comm);
     }},
    {"AlltoallvWithANegativeCount", COMMTASK_ERR_COUNT, "send_counts",
     [](const place& at) {
         return commtask_op_alltoallv_int(values, minus_ones, zeros, MPI_INT, values + 8, zeros, zeros, MPI_INT,
                                          at.comm);
     }},
    {"ReduceScatterWithoutCounts", COMMTASK_ERR_ARGUMENT, "recv_counts",
     [](const place& at) {
         return commtask_op_reduce_scatter(values, values + 8, nullptr, MPI_INT, MPI_SUM, at.comm);
     }},
    {"MulticastToARankBeyond", COMMTASK_ERR_RANK, "dests[1]",
     [](const place& at) {
         static int ranks[2];
         ranks[0] = at.rank;
         ranks[1] = at.n_ranks;
         return commtask_op_multicast(values, 1, MPI_INT, ranks, 2, 0, at.comm);
     }},
    {"MulticastToANegativeNumber", COMMTASK_ERR_COUNT, "n_dests",
     [](const place& at) { return commtask_op_multicast(values, 1, MPI_INT, zeros, -1, 0, at.comm); }},
    {"MulticastToNoList", COMMTASK_ERR_ARGUMENT, "dests",
     [](const place& at) { return commtask_op_multicast(values, 1, MPI_INT, nullptr, 1, 0, at.comm); }},
    {"MulticastWithAnyTag", COMMTASK_ERR_TAG, "tag",
     [](const place& at) { return commtask_op_multicast(values, 1, MPI_INT, zeros, 1, MPI_ANY_TAG, at.comm); }},
    {"ManyToManyFromAnyone", COMMTASK_ERR_RANK, "sources[0]",
     [](const place& at) {
         static const int anyone = MPI_ANY_SOURCE;
         return commtask_op_many_to_many_int(values, zeros, zeros, MPI_INT, zeros, 1, values + 8, zeros, zeros, MPI_INT,
                                             &anyone, 1, 0, at.comm);
     }},
    {"ManyToManyWithANegativeCount", COMMTASK_ERR_COUNT, "recv_counts[0]",
     [](const place& at) {
         return commtask_op_many_to_many_int(values, zeros, zeros, MPI_INT, zeros, 1, values + 8, minus_ones, zeros,
                                             MPI_INT, zeros, 1, 0, at.comm);
     }},
    {"ManyToManyWithoutDisplacements", COMMTASK_ERR_ARGUMENT, "send_displs",
     [](const place& at) {
         return commtask_op_many_to_many_int(values, zeros, nullptr, MPI_INT, zeros, 1, values + 8, zeros, zeros,
                                             MPI_INT, zeros, 1, 0, at.comm);
     }},
    {"ManyToManyWithoutAType", COMMTASK_ERR_TYPE, "type",
     [](const place& at) {
         return commtask_op_many_to_many_int(values, zeros, zeros, MPI_DATATYPE_NULL, zeros, 1, values + 8, zeros,
                                             zeros, MPI_INT, zeros, 1, 0, at.comm);
     }},
    {"AKindThatIsNone", COMMTASK_ERR_ARGUMENT, "kind|operation",
     [](const place& at) {
         commtask_op op = commtask_op_noop(at.comm);
         op.kind = 0;
         return op;
     }},
    {"AKindBeyondTheLast", COMMTASK_ERR_ARGUMENT, "kind|operation",
     [](const place& at) {
         commtask_op op = commtask_op_noop(at.comm);
         op.kind = COMMTASK_OP_END;
         return op;
     }},
};

bool names_one_of(const std::string& sentence, const std::string& words) {
    for (std::size_t first = 0; first <= words.size();) {
        const std::size_t end = std::min(words.find('|', first), words.size());
        if (sentence.find(words.substr(first, end - first)) != std::string::npos) return true;
        first = end + 1;
    }
    return false;
}

class Refused : public Runtime, public testing::WithParamInterface<refusal> {};

TEST_P(Refused, WithACodeAndASentenceThatNamesTheArgument) {
    const refusal& wrong = GetParam();
    const commtask_op op = wrong.make({comm_, rank_, n_ranks_});
    for (const std::uint32_t flags : {COMMTASK_NONE, COMMTASK_ORDERED, COMMTASK_TRY}) {
        options how;
        commtask_t task = COMMTASK_NULL;
        testing::internal::CaptureStderr();
        const int code = commtask_post_operation(&op, how.flags(flags).get(), &task);
        const std::string printed = testing::internal::GetCapturedStderr();
        EXPECT_EQ(code, wrong.code) << commtask_last_error();
        EXPECT_EQ(task, COMMTASK_NULL);
        EXPECT_EQ(printed, "");
        const std::string sentence = commtask_last_error();
        EXPECT_TRUE(names_one_of(sentence, wrong.word)) << sentence;
    }
    // The refused tasks left no place in the order that later ones would wait for.
    int sum = 0;
    const int one = 1;
    run(commtask_op_allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm_));
    EXPECT_EQ(sum, n_ranks_);
    options ordered;
    commtask_t noop = post(commtask_op_noop(comm_), ordered.flags(COMMTASK_ORDERED));
    EXPECT_EQ(finish(noop), COMMTASK_OK);
}

INSTANTIATE_TEST_SUITE_P(EveryWrongArgument, Refused, testing::ValuesIn(refusals),
                         [](const auto& parameter) { return std::string{parameter.param.name}; });

class Arguments : public Runtime {};

TEST_F(Arguments, ATagAboveTheUpperBoundIsRefused) {
    commtask_info info = {};
    info.struct_size = sizeof info;
    ASSERT_EQ(commtask_get_info(&info), COMMTASK_OK);
    EXPECT_GE(info.tag_upper_bound, 32767);
    if (info.tag_upper_bound == INT_MAX) GTEST_SKIP() << "every tag is good for this MPI";
    const commtask_op op = commtask_op_send(values, 1, MPI_INT, rank_, info.tag_upper_bound + 1, comm_);
    EXPECT_EQ(commtask_post_operation(&op, nullptr, nullptr), COMMTASK_ERR_TAG);
    int received = -1;
    const int sent = rank_;
    commtask_t receive = post(commtask_op_recv(&received, 1, MPI_INT, rank_, info.tag_upper_bound, comm_));
    run(commtask_op_send(&sent, 1, MPI_INT, rank_, info.tag_upper_bound, comm_));
    EXPECT_EQ(finish(receive), COMMTASK_OK);
    EXPECT_EQ(received, rank_);
}

TEST_F(Arguments, ACountThatThisMpiCannotCarryIsRefusedAndNotCutShort) {
    commtask_info info = {};
    info.struct_size = sizeof info;
    ASSERT_EQ(commtask_get_info(&info), COMMTASK_OK);
    if (info.has_large_counts != 0) GTEST_SKIP() << "this MPI carries it";
    const MPI_Count count = static_cast<MPI_Count>(INT_MAX) + 2;
    const commtask_op op = commtask_op_send(values, count, MPI_BYTE, rank_, 0, comm_);
    EXPECT_EQ(commtask_post_operation(&op, nullptr, nullptr), COMMTASK_ERR_COUNT);
    EXPECT_NE(std::strstr(commtask_last_error(), "count"), nullptr) << commtask_last_error();
}

TEST_F(Arguments, NullAndUnsizedStructsAreRefused) {
    EXPECT_EQ(commtask_post_operation(nullptr, nullptr, nullptr), COMMTASK_ERR_ARGUMENT);
    const commtask_op noop = commtask_op_noop(comm_);
    commtask_options unsized = COMMTASK_OPTIONS_INIT;
    unsized.struct_size = 0;
    EXPECT_EQ(commtask_post_operation(&noop, &unsized, nullptr), COMMTASK_ERR_ARGUMENT);
    commtask_options nowhere = COMMTASK_OPTIONS_INIT;
    nowhere.n_after = 1;
    EXPECT_EQ(commtask_post_operation(&noop, &nowhere, nullptr), COMMTASK_ERR_ARGUMENT);
    nowhere = COMMTASK_OPTIONS_INIT;
    nowhere.n_events = 1;
    EXPECT_EQ(commtask_post_operation(&noop, &nowhere, nullptr), COMMTASK_ERR_ARGUMENT);

    int ended = -1;
    EXPECT_EQ(commtask_test(nullptr, &ended, nullptr), COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(ended, -1);
    EXPECT_EQ(commtask_wait(nullptr, nullptr), COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(commtask_release(nullptr), COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(commtask_cancel(COMMTASK_NULL), COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(commtask_get_info(nullptr), COMMTASK_ERR_ARGUMENT);
    commtask_ticket ticket{};
    EXPECT_EQ(commtask_ticket_take(nullptr, &ticket), COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(commtask_ticket_take(&noop, nullptr), COMMTASK_ERR_ARGUMENT);
    const commtask_op bad = commtask_op_barrier(MPI_COMM_NULL);
    EXPECT_EQ(commtask_ticket_take(&bad, &ticket), COMMTASK_ERR_COMM);
    EXPECT_EQ(ticket.number, 0U);
    EXPECT_EQ(commtask_comm_register(MPI_COMM_NULL), COMMTASK_ERR_COMM);
}

TEST_F(Arguments, NullEntriesAmongThePredecessorsAreSkipped) {
    options how;
    commtask_t noop = post(commtask_op_noop(comm_), how.after({COMMTASK_NULL}).on({COMMTASK_EVENT_NULL}));
    EXPECT_EQ(finish(noop), COMMTASK_OK);
}

TEST_F(Arguments, AnEventIsNotSignalledMoreOftenThanItWasMadeFor) {
    commtask_event_t none = COMMTASK_EVENT_NULL;
    EXPECT_EQ(commtask_event_create(0, &none), COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(none, COMMTASK_EVENT_NULL);
    EXPECT_EQ(commtask_event_create(1, nullptr), COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(commtask_event_signal(COMMTASK_EVENT_NULL), COMMTASK_ERR_ARGUMENT);
    event twice{2};
    twice.signal();
    twice.signal();
    EXPECT_EQ(commtask_event_signal(twice.get()), COMMTASK_ERR_ARGUMENT);
    options how;
    commtask_t noop = post(commtask_op_noop(comm_), how.on({twice.get()}));
    EXPECT_EQ(finish(noop), COMMTASK_OK) << "an event that is complete already holds nobody up";
}

TEST_F(Arguments, BuffersThatAreNotSignificantMayBeNull) {
    const int mine = rank_;
    std::vector<int> all(static_cast<std::size_t>(n_ranks_), -1);
    int* const at_root = rank_ == 0 ? all.data() : nullptr;
    run(commtask_op_gather(&mine, 1, MPI_INT, at_root, 1, MPI_INT, 0, comm_));
    int back = -1;
    run(commtask_op_scatter(at_root, 1, MPI_INT, &back, 1, MPI_INT, 0, comm_));
    EXPECT_EQ(back, rank_);
    run(commtask_op_reduce(&mine, rank_ == 0 ? &back : nullptr, 1, MPI_INT, MPI_SUM, 0, comm_));
}

TEST_F(Arguments, EveryCodeHasASentence) {
    for (int code = COMMTASK_OK; code >= COMMTASK_ERR_MPI_LIBRARY; --code) {
        EXPECT_GT(std::strlen(commtask_error_string(code)), 3U) << code;
        for (int other = COMMTASK_OK; other > code; --other) {
            EXPECT_STRNE(commtask_error_string(code), commtask_error_string(other));
        }
    }
    EXPECT_NE(commtask_error_string(-12345), nullptr);
    EXPECT_NE(commtask_error_string(12345), nullptr);
}

TEST_F(Arguments, AFreedCommunicatorIsRefused) {
    MPI_Comm copy = MPI_COMM_NULL;
    ASSERT_EQ(MPI_Comm_dup(comm_, &copy), MPI_SUCCESS);
    const MPI_Comm stale = copy;
    run(commtask_op_barrier(copy));
    ASSERT_EQ(MPI_Comm_free(&copy), MPI_SUCCESS);
    for (const commtask_op& op :
         {commtask_op_send(values, 1, MPI_INT, rank_, 0, stale), commtask_op_barrier(stale), commtask_op_noop(stale)}) {
        commtask_t task = COMMTASK_NULL;
        EXPECT_EQ(commtask_post_operation(&op, nullptr, &task), COMMTASK_ERR_COMM);
        EXPECT_EQ(task, COMMTASK_NULL);
        EXPECT_NE(std::strstr(commtask_last_error(), "comm"), nullptr) << commtask_last_error();
    }
    // A new communicator may get the handle of the old one; it is as good as any.
    ASSERT_EQ(MPI_Comm_dup(comm_, &copy), MPI_SUCCESS);
    run(commtask_op_barrier(copy));
    ASSERT_EQ(MPI_Comm_free(&copy), MPI_SUCCESS);
}

TEST_F(Arguments, AFreedCommunicatorThatTheLibraryNeverSawIsRefused) {
    MPI_Comm copy = MPI_COMM_NULL;
    ASSERT_EQ(MPI_Comm_dup(comm_, &copy), MPI_SUCCESS);
    const MPI_Comm stale = copy;
    ASSERT_EQ(MPI_Comm_free(&copy), MPI_SUCCESS);
    const commtask_op op = commtask_op_barrier(stale);
    EXPECT_EQ(commtask_post_operation(&op, nullptr, nullptr), COMMTASK_ERR_COMM);
}

TEST_F(Arguments, ADatatypeThatWasNeverCommittedEndsItsOwnTask) {
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    commtask_t task = COMMTASK_NULL;
    const commtask_op op = commtask_op_send(values, 1, pair, rank_, 0, comm_);
    const int code = commtask_post_operation(&op, nullptr, &task);
    if (code == COMMTASK_OK) {
        commtask_status status = COMMTASK_STATUS_INIT;
        EXPECT_EQ(finish(task, &status), COMMTASK_FAILED);
        EXPECT_EQ(status.state, COMMTASK_STATE_FAILED);
        EXPECT_EQ(status.error_class, MPI_ERR_TYPE);
    } else {
        EXPECT_EQ(code, COMMTASK_ERR_TYPE);
    }
    MPI_Type_free(&pair);
    run(commtask_op_barrier(comm_));
}

TEST_F(Arguments, ASentenceBelongsToItsThread) {
    const commtask_op wrong = commtask_op_send(values, -1, MPI_INT, rank_, 0, comm_);
    ASSERT_EQ(commtask_post_operation(&wrong, nullptr, nullptr), COMMTASK_ERR_COUNT);
    const commtask_op start = commtask_op_start(succeed_start, nullptr, comm_);
    ASSERT_EQ(commtask_post_operation(&start, nullptr, nullptr), COMMTASK_OK);
    EXPECT_NE(std::strstr(commtask_last_error(), "count"), nullptr) << "the last negative code's, not the last call's";
}

} // namespace
} // namespace commtask::test
