// SPDX-License-Identifier: Apache-2.0
//
// mpi.posting: beside a worker that shares its core a submitter makes MPI's nonblocking call itself, and nothing more: no
// function of the program's runs inside a post, and what is in flight goes on without the submitter.
#include "runtime_test.hpp"

#include <atomic>
#include <thread>

namespace commtask::test {
namespace {

thread_local bool is_in_a_post = false;
std::atomic<int> n_sent_in_posts{0};

class Posting : public Runtime {
protected:
    [[nodiscard]] commtask_config configuration() const override {
        commtask_config settings = COMMTASK_CONFIG_INIT;
        settings.idle = "shared";
        return settings;
    }
    static commtask_t post_marked(const commtask_op& operation, const commtask_options* how = nullptr) {
        is_in_a_post = true;
        const commtask_t task = post(operation, how);
        is_in_a_post = false;
        return task;
    }
};

struct seen {
    std::atomic<int> n_called{0};
    std::atomic<int> n_in_a_post{0};
    void note() {
        n_in_a_post += is_in_a_post ? 1 : 0;
        ++n_called;
    }
};

TEST_F(Posting, IsTheCallOfMpiWhereNobodyElseDrives) {
    constexpr int most_tries = 10'000;
    int sent = value_of(rank_, 0);
    int received = 0;
    const int before = n_sent_in_posts;
    int n_tries = 0;
    for (; n_sent_in_posts == before && n_tries < most_tries; ++n_tries) {
        commtask_t receive = post_marked(commtask_op_recv(&received, 1, MPI_INT, rank_, n_tries, comm_));
        commtask_t send = post_marked(commtask_op_send(&sent, 1, MPI_INT, rank_, n_tries, comm_));
        ASSERT_EQ(finish(receive), COMMTASK_OK);
        ASSERT_EQ(finish(send), COMMTASK_OK);
        ASSERT_EQ(received, sent);
    }
    EXPECT_GT(n_sent_in_posts, before) << "in " << n_tries << " tries";
}

TEST_F(Posting, RunsNoFunctionOfTheProgram) {
    constexpr int n_rounds = 200;
    seen of;
    const commtask_callback note_end = [](const commtask_status*, void* to) { static_cast<seen*>(to)->note(); };
    const auto note_call = [](void* to) {
        static_cast<seen*>(to)->note();
        return MPI_SUCCESS;
    };
    const auto note_start = [](MPI_Request* request, void* to) {
        static_cast<seen*>(to)->note();
        return MPI_Irecv(nullptr, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
    };
    int sent = value_of(rank_, 1);
    int received = 0;
    for (int round = 0; round < n_rounds; ++round) {
        options how;
        how.call(note_end, &of);
        std::vector<commtask_t> tasks{
            post_marked(commtask_op_recv(&received, 1, MPI_INT, rank_, 0, comm_), how.get()),
            post_marked(commtask_op_send(&sent, 1, MPI_INT, rank_, 0, comm_), how.get()),
            post_marked(commtask_op_noop(comm_), how.get()),
            post_marked(commtask_op_call(note_call, &of, comm_), how.get()),
            post_marked(commtask_op_start(note_start, &of, comm_), how.get()),
            post_marked(commtask_op_barrier(comm_), how.get()),
        };
        ASSERT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
    }
    EXPECT_EQ(of.n_called, 8 * n_rounds);
    EXPECT_EQ(of.n_in_a_post, 0);
}

TEST_F(Posting, LosesNothingOfATeamThatPosts) {
    constexpr int n_threads = 3;
    constexpr int n_messages = 300;
    std::vector<std::thread> team;
    std::atomic<int> n_wrong{0};
    for (int t = 0; t < n_threads; ++t) {
        team.emplace_back([&, t] {
            std::vector<int> received(n_messages, -1);
            const std::vector<int> sent = values_of(rank_, n_messages);
            std::vector<commtask_t> tasks;
            for (int i = 0; i < n_messages; ++i) {
                const auto at = static_cast<std::size_t>(i);
                tasks.push_back(post(commtask_op_recv(&received[at], 1, MPI_INT, left(), t, comm_)));
                tasks.push_back(post(commtask_op_send(&sent[at], 1, MPI_INT, right(), t, comm_)));
            }
            const bool has_ended = commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr) == COMMTASK_OK;
            // Each thread's messages have a tag of their own, so their order is the order of its posts.
            n_wrong += has_ended && received == values_of(left(), n_messages) ? 0 : 1;
        });
    }
    for (std::thread& each : team) each.join();
    EXPECT_EQ(n_wrong, 0);
}

} // namespace
} // namespace commtask::test

/// In place of MPI's own, for all of this process: the library's calls come here too.
extern "C" [[gnu::visibility("default")]] int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to,
                                                        int tag, MPI_Comm comm, MPI_Request* request) {
    commtask::test::n_sent_in_posts += commtask::test::is_in_a_post ? 1 : 0;
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}
