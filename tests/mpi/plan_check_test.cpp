// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.plans: with COMMTASK_PLAN_CHECK=1 what a program would post is compared with its plan, and the first difference is
// named, whichever it is.
#include "plan_fixture.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace commtask::test {
namespace {

class PlanCheck : public Runtime {
protected:
    void SetUp() override {
        setenv("COMMTASK_PLAN_CHECK", "1", 1);
        Runtime::SetUp();
    }
    void TearDown() override {
        Runtime::TearDown();
        unsetenv("COMMTASK_PLAN_CHECK");
    }
    /// What commtask_record_check says of a recording.
    template <typename Body>
    static int check(const plan& against, Body&& body) {
        EXPECT_EQ(commtask_record_begin(), COMMTASK_OK) << commtask_last_error();
        body();
        return commtask_record_check(against.get());
    }
    template <typename Body>
    static void expect_difference(const plan& against, const char* words, Body&& body) {
        EXPECT_EQ(check(against, body), COMMTASK_ERR_ARGUMENT) << words;
        EXPECT_NE(std::strstr(commtask_last_error(), words), nullptr) << commtask_last_error();
    }
};

TEST_F(PlanCheck, NamesTheFirstDifference) {
    EXPECT_EQ(commtask_plan_is_checked(), 1);
    std::array<int, 8> data{};
    std::array<int, 8> other{};
    const auto send = [&](int count, int tag, int* from) {
        post_detached(commtask_op_send(from, count, MPI_INT, MPI_PROC_NULL, tag, comm_));
    };
    const auto right = [&] {
        send(3, 1, data.data());
        commtask_t first = post(commtask_op_recv(data.data(), 2, MPI_INT, MPI_PROC_NULL, 5, comm_));
        options how;
        post_detached(commtask_op_allreduce(&data[3], &data[4], 1, MPI_INT, MPI_SUM, comm_), how.after({first}).get());
        EXPECT_EQ(commtask_release(&first), COMMTASK_OK);
    };
    plan made{right};
    EXPECT_EQ(check(made, right), COMMTASK_OK) << commtask_last_error();
    const auto expect = [&](const char* words, auto&& body) { expect_difference(made, words, body); };
    expect("member 0 (send): send count 4 where the plan has 3", [&] { send(4, 1, data.data()); });
    expect("member 0 (send): send tag 2 where the plan has 1", [&] { send(3, 2, data.data()); });
    expect("member 0 (send): another send buffer", [&] { send(3, 1, other.data()); });
    expect("member 0 (send): barrier where the plan has send", [&] { post_detached(commtask_op_barrier(comm_)); });
    expect("number of members: 1 where the plan has 3", [&] { send(3, 1, data.data()); });
    expect("member 2 (allreduce): other predecessors", [&] {
        send(3, 1, data.data());
        post_detached(commtask_op_recv(data.data(), 2, MPI_INT, MPI_PROC_NULL, 5, comm_));
        post_detached(commtask_op_allreduce(&data[3], &data[4], 1, MPI_INT, MPI_SUM, comm_));
    });
    EXPECT_EQ(commtask_plan_rebind(made.get(), 0, other.data(), nullptr), COMMTASK_OK);
    expect("member 0 (send): another send buffer", right);
    EXPECT_EQ(commtask_record_check(made.get()), COMMTASK_ERR_ARGUMENT) << "nothing is recorded";
    made.run();
}

/// Who does not ask for the code finds it there.
TEST_F(PlanCheck, SaysTheFirstDifferenceOnStderr) {
    std::array<int, 4> data{};
    struct how {
        bool is_ssend;
        int peer;
        int tag;
        int count;
        std::size_t from;
    };
    const how right{false, MPI_PROC_NULL, 1, 2, 0};
    const auto by = [&](how its) {
        return [&data, its, this] {
            int* const buffer = &data.at(its.from);
            post_detached(its.is_ssend ? commtask_op_ssend(buffer, its.count, MPI_INT, its.peer, its.tag, comm_)
                                       : commtask_op_send(buffer, its.count, MPI_INT, its.peer, its.tag, comm_));
        };
    };
    plan made{by(right)};
    const auto said_of = [&](how its) {
        ::testing::internal::CaptureStderr();
        static_cast<void>(check(made, by(its)));
        return ::testing::internal::GetCapturedStderr();
    };
    EXPECT_EQ(said_of(right), "");
    const auto expect = [&](const std::string& words, auto&& change) {
        how changed = right;
        change(changed);
        const std::string said = said_of(changed);
        EXPECT_NE(said.find("the program's posts differ from the plan: member 0 (send): " + words + "\n"),
                  std::string::npos)
            << said;
    };
    const std::string nobody = std::to_string(MPI_PROC_NULL);
    expect("ssend where the plan has send", [](how& its) { its.is_ssend = true; });
    expect("dest 0 where the plan has " + nobody, [](how& its) { its.peer = 0; });
    expect("send tag 2 where the plan has 1", [](how& its) { its.tag = 2; });
    expect("send count 1 where the plan has 2", [](how& its) { its.count = 1; });
    expect("another send buffer", [](how& its) { its.from = 1; });
}

TEST_F(PlanCheck, NamesWhatIsOtherInAMessage) {
    int sent = 0;
    int got = 0;
    struct how {
        int dest;
        int source;
        int recv_count;
        int recv_tag;
        MPI_Datatype type;
        MPI_Comm comm;
        std::uint32_t flags;
    };
    const how right{0, MPI_PROC_NULL, 1, 7, MPI_INT, comm_, COMMTASK_NONE};
    const auto exchange = [&](const how& its) {
        options ordered;
        ordered.flags(its.flags);
        post_detached(commtask_op_sendrecv(&sent, 1, its.type, its.dest, 6, &got, its.recv_count, MPI_INT, its.source,
                                           its.recv_tag, its.comm),
                      ordered.get());
    };
    const auto by = [&](how changed) { return [&exchange, changed] { exchange(changed); }; };
    plan made{by(right)};
    EXPECT_EQ(check(made, by(right)), COMMTASK_OK) << commtask_last_error();
    const auto expect = [&](const char* words, auto&& change) {
        how changed = right;
        change(changed);
        expect_difference(made, words, by(changed));
    };
    const std::string nobody = std::to_string(MPI_PROC_NULL);
    expect(("dest " + nobody + " where the plan has 0").c_str(), [](how& its) { its.dest = MPI_PROC_NULL; });
    expect(("source 0 where the plan has " + nobody).c_str(), [](how& its) { its.source = 0; });
    expect("receive count 0 where the plan has 1", [](how& its) { its.recv_count = 0; });
    expect("receive tag 8 where the plan has 7", [](how& its) { its.recv_tag = 8; });
    expect("another send datatype", [](how& its) { its.type = MPI_UNSIGNED; });
    expect("another communicator", [](how& its) { its.comm = MPI_COMM_SELF; });
    expect("order 1 where the plan has 0", [](how& its) { its.flags = COMMTASK_ORDERED; });
}

TEST_F(PlanCheck, ComparesListsAndArraysByWhatTheyHold) {
    const int nobody = MPI_PROC_NULL;
    std::array<int, 3> dests{nobody, 0, nobody};
    std::array<int, 3> same{dests};
    std::array<int, 3> counts{0, 1, 0};
    std::array<int, 3> displs{};
    std::array<int, 8> data{};
    std::array<int, 8> into{};
    const auto cast = [&](const std::array<int, 3>& to) {
        post_detached(commtask_op_multicast(data.data(), 1, MPI_INT, to.data(), 3, 2, comm_));
    };
    plan sends{[&] { cast(dests); }};
    EXPECT_EQ(check(sends, [&] { cast(same); }), COMMTASK_OK) << commtask_last_error();
    dests[2] = 0; // in place: the plan's requests go where they went
    expect_difference(sends, "member 0 (multicast): dests[2] 0 where the plan has", [&] { cast(dests); });
    same[1] = nobody;
    expect_difference(sends, "dests[1]", [&] { cast(same); });
    expect_difference(sends, "number of dests 2 where the plan has 3",
                      [&] { post_detached(commtask_op_multicast(data.data(), 1, MPI_INT, same.data(), 2, 2, comm_)); });

    const std::array<int, 3> nobodies{nobody, nobody, nobody};
    const std::array<int, 3> other_sources{nobody, 0, nobody};
    const auto many = [&](const std::array<int, 3>& its_counts, const std::array<int, 3>& its_sources) {
        post_detached(commtask_op_many_to_many_int(data.data(), its_counts.data(), displs.data(), MPI_INT,
                                                   nobodies.data(), 3, into.data(), its_counts.data(), displs.data(),
                                                   MPI_INT, its_sources.data(), 3, 4, comm_));
    };
    plan pairs{[&] { many(counts, nobodies); }};
    std::array<int, 3> other{counts};
    EXPECT_EQ(check(pairs, [&] { many(other, nobodies); }), COMMTASK_OK) << commtask_last_error();
    other[0] = 2;
    expect_difference(pairs, "send counts[0] 2 where the plan has 0", [&] { many(other, nobodies); });
    expect_difference(pairs, "sources[1]", [&] { many(counts, other_sources); });

    std::vector<MPI_Count> blocks(static_cast<std::size_t>(n_ranks_), 1);
    std::vector<MPI_Aint> places(static_cast<std::size_t>(n_ranks_), 0);
    const auto gather = [&](const std::vector<MPI_Count>& its_blocks) {
        post_detached(commtask_op_allgatherv(data.data(), 1, MPI_INT, into.data(), its_blocks.data(), places.data(),
                                             MPI_INT, comm_));
    };
    plan all{[&] { gather(blocks); }};
    std::vector<MPI_Count> others{blocks};
    EXPECT_EQ(check(all, [&] { gather(others); }), COMMTASK_OK) << commtask_last_error();
    others.back() = 2;
    expect_difference(all, "member 0 (allgatherv): receive counts[", [&] { gather(others); });
}

/// Whatever their handles are by now.
TEST_F(PlanCheck, ComparesDatatypesByHowTheyWereMade) {
    std::array<int, 8> data{};
    const auto vector = [](int stride, MPI_Datatype of) {
        MPI_Datatype made = MPI_DATATYPE_NULL;
        MPI_Type_vector(2, 1, stride, of, &made);
        MPI_Type_commit(&made);
        return made;
    };
    const auto send = [&](MPI_Datatype type) {
        post_detached(commtask_op_send(data.data(), 1, type, MPI_PROC_NULL, 1, comm_));
    };
    const auto send_made = [&](int stride, MPI_Datatype of) {
        MPI_Datatype made = vector(stride, of);
        send(made);
        EXPECT_EQ(MPI_Type_free(&made), MPI_SUCCESS);
    };
    MPI_Datatype pairs = vector(1, MPI_INT);
    plan sends{[&] { send_made(2, pairs); }};
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(check(sends, [&] { send_made(2, pairs); }), COMMTASK_OK) << commtask_last_error();
    }
    MPI_Datatype same_pairs = vector(1, MPI_INT);
    EXPECT_EQ(check(sends, [&] { send_made(2, same_pairs); }), COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(MPI_Type_free(&same_pairs), MPI_SUCCESS);
    const char* const words = "member 0 (send): another send datatype";
    expect_difference(sends, words, [&] { send_made(3, pairs); });
    expect_difference(sends, words, [&] { send_made(2, MPI_INT); });
    expect_difference(sends, words, [&] { send(MPI_INT); });
    EXPECT_EQ(MPI_Type_free(&pairs), MPI_SUCCESS);

    const auto n = static_cast<std::size_t>(n_ranks_);
    const std::vector<int> counts(n, 1);
    const std::vector<int> displs(n, 0);
    std::vector<int> into(4 * n);
    const auto exchange = [&](int stride) {
        std::vector<MPI_Datatype> types(n, vector(2, MPI_INT));
        MPI_Datatype last = vector(stride, MPI_INT);
        MPI_Datatype first = types[0];
        types.back() = last;
        post_detached(commtask_op_alltoallw_int(data.data(), counts.data(), displs.data(), types.data(), into.data(),
                                                counts.data(), displs.data(), types.data(), comm_));
        EXPECT_EQ(MPI_Type_free(&first), MPI_SUCCESS);
        EXPECT_EQ(MPI_Type_free(&last), MPI_SUCCESS);
    };
    plan all{[&] { exchange(2); }};
    EXPECT_EQ(check(all, [&] { exchange(2); }), COMMTASK_OK) << commtask_last_error();
    expect_difference(all, ("another send datatypes[" + std::to_string(n - 1) + "]").c_str(), [&] { exchange(3); });
}

} // namespace
} // namespace commtask::test
