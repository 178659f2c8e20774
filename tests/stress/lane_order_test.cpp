// SPDX-License-Identifier: Apache-2.0
//
// Order on several lanes against MPI: two ranks, three threads on each, streams of messages from 0 B to beyond what MPI sends at
// once, drawn from a seed. Whatever spreads a communicator, each stream must arrive complete and in the order in which it was
// posted: what was sent is the reference, and every element is compared. Wildcards where the way of spreading allows them.
// COMMTASK_TEST_SEED repeats a round that failed.
#include "../mpi/runtime_test.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>

namespace commtask::test {
namespace {

constexpr int n_threads = 3;
constexpr int n_streams = 3;   ///< Of each thread.
constexpr int n_messages = 25; ///< Of each stream to each rank.

/// What keeps messages apart, and what a receive may leave open.
enum class policy {
    by_thread,  ///< One communicator, lanes by threads; a thread's receives take messages of any rank.
    by_message, ///< One communicator, lanes by ranks and tags; no wildcards.
    by_ranks,   ///< The same by ranks alone; receives take messages of any tag.
    by_tag,     ///< The same by tags alone; receives take messages of any rank.
    by_comm,    ///< A communicator on each lane, streams in turn; receives take messages of any rank.
};

struct setting {
    policy by;
    int n_lanes;
};

class LaneOrder : public testing::TestWithParam<setting> {
protected:
    void SetUp() override {
        const char* given = std::getenv("COMMTASK_TEST_SEED");
        seed_ = given != nullptr ? static_cast<unsigned>(std::stoul(given)) : std::random_device{}();
        MPI_Bcast(&seed_, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &n_ranks_);
        MPI_Info info = MPI_INFO_NULL;
        MPI_Info_create(&info);
        const policy by = GetParam().by;
        if (by == policy::by_message || by == policy::by_ranks) MPI_Info_set(info, "mpi_assert_no_any_source", "true");
        if (by == policy::by_message || by == policy::by_tag) MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
        MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm_);
        MPI_Info_free(&info);
        commtask_config settings = COMMTASK_CONFIG_INIT;
        settings.lanes = static_cast<unsigned>(GetParam().n_lanes);
        settings.verbose = COMMTASK_ZERO;
        ASSERT_EQ(commtask_init(&settings), COMMTASK_OK) << commtask_last_error();
        on_lanes_.assign(static_cast<std::size_t>(GetParam().n_lanes), comm_);
        if (by == policy::by_comm) {
            ASSERT_EQ(commtask_comm_split_lanes(comm_, GetParam().n_lanes, on_lanes_.data()), COMMTASK_OK);
        } else {
            const commtask_striping how =
                by == policy::by_thread ? COMMTASK_STRIPE_BY_THREAD : COMMTASK_STRIPE_BY_MESSAGE;
            ASSERT_EQ(commtask_comm_stripe(comm_, how), COMMTASK_OK) << commtask_last_error();
        }
    }
    void TearDown() override {
        EXPECT_EQ(commtask_finalize(), COMMTASK_OK) << commtask_last_error();
        if (GetParam().by == policy::by_comm) {
            for (MPI_Comm& each : on_lanes_) MPI_Comm_free(&each);
        }
        MPI_Comm_free(&comm_);
        if (HasFailure()) std::fprintf(stderr, "COMMTASK_TEST_SEED=%u\n", seed_);
    }

    [[nodiscard]] MPI_Comm comm_of(int stream) const {
        return on_lanes_[static_cast<std::size_t>(stream) % on_lanes_.size()];
    }

    /// What a message holds: the same for who sends and who compares.
    [[nodiscard]] std::vector<int> message(int from, int to, int stream, int number) const {
        std::minstd_rand random{seed_ + static_cast<unsigned>(((from * 7 + to) * 101 + stream) * 1009 + number)};
        static_cast<void>(random());
        const auto draw = random() % 16;
        const std::size_t size = draw == 0  ? 20'000 + random() % 1000
                                 : draw < 4 ? 2000 + random() % 1000
                                            : random() % 40;
        std::vector<int> content(size);
        for (int& each : content) each = static_cast<int>(random());
        return content;
    }

    struct arrival {
        std::vector<int> buffer;
        commtask_status status = COMMTASK_STATUS_INIT;
        int stream = -1; ///< -1: its tag says it.
        int source = -1; ///< -1: its status says it.
    };

    void run_thread(int thread);
    void compare(std::vector<arrival>& arrivals, int first_stream);

    unsigned seed_ = 0;
    int rank_ = 0;
    int n_ranks_ = 0;
    MPI_Comm comm_ = MPI_COMM_NULL;
    std::vector<MPI_Comm> on_lanes_;
};

/// Posts all that a thread sends and receives, in an order of its own, and compares what has come.
void LaneOrder::run_thread(int thread) {
    constexpr std::size_t most_ints = 21'000;
    const policy by = GetParam().by;
    const int first_stream = thread * n_streams;
    std::minstd_rand random{seed_ * 31U + static_cast<unsigned>(thread)};
    struct half {
        bool sends;
        int peer, stream;
    };
    std::vector<half> turns;
    for (int peer = 0; peer < n_ranks_; ++peer) {
        for (int stream = first_stream; stream < first_stream + n_streams; ++stream) {
            turns.insert(turns.end(), n_messages, {true, peer, stream});
            turns.insert(turns.end(), n_messages, {false, peer, stream});
        }
    }
    std::ranges::shuffle(turns, random);
    std::vector<std::vector<int>> sent;
    std::vector<arrival> arrivals;
    sent.reserve(turns.size());
    arrivals.reserve(turns.size());
    std::vector<int> next(static_cast<std::size_t>(n_ranks_) * n_streams);
    std::vector<commtask_t> tasks;
    for (const half& turn : turns) {
        if (turn.sends) {
            int& number = next[static_cast<std::size_t>(turn.peer * n_streams + turn.stream - first_stream)];
            sent.push_back(message(rank_, turn.peer, turn.stream, number++));
            tasks.push_back(post(commtask_op_send(sent.back().data(), static_cast<int>(sent.back().size()), MPI_INT,
                                                  turn.peer, turn.stream, comm_of(turn.stream))));
            continue;
        }
        // By ranks alone no tag may be left open here: threads share the communicator, and would take each other's messages.
        const bool takes_any_rank = by == policy::by_thread || by == policy::by_tag || by == policy::by_comm;
        arrivals.push_back(
            {std::vector<int>(most_ints), COMMTASK_STATUS_INIT, turn.stream, takes_any_rank ? -1 : turn.peer});
        arrival& mine = arrivals.back();
        options how;
        how.report_to(mine.status);
        tasks.push_back(
            post(commtask_op_recv(mine.buffer.data(), most_ints, MPI_INT, takes_any_rank ? MPI_ANY_SOURCE : turn.peer,
                                  turn.stream, comm_of(turn.stream)),
                 how));
    }
    ASSERT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
    compare(arrivals, first_stream);
}

/// Receives of a stream were posted in order: each must have the next message of its sender.
void LaneOrder::compare(std::vector<arrival>& arrivals, int first_stream) {
    std::vector<int> next(static_cast<std::size_t>(n_ranks_) * n_streams);
    for (arrival& each : arrivals) {
        ASSERT_EQ(each.status.tag, each.stream);
        if (each.source >= 0) ASSERT_EQ(each.status.source, each.source);
        int& number = next[static_cast<std::size_t>(each.status.source * n_streams + each.stream - first_stream)];
        const std::vector<int> expected = message(each.status.source, rank_, each.stream, number);
        each.buffer.resize(static_cast<std::size_t>(each.status.bytes) / sizeof(int));
        ASSERT_EQ(each.buffer == expected, true)
            << "message " << number << " of stream " << each.stream << " from rank " << each.status.source;
        ++number;
    }
    for (const int each : next) EXPECT_EQ(each, n_messages);
}

TEST_P(LaneOrder, EveryStreamArrivesAsItWasSent) {
    std::array<std::thread, n_threads> threads;
    for (int thread = 0; thread < n_threads; ++thread) {
        threads[static_cast<std::size_t>(thread)] = std::thread{[this, thread] { run_thread(thread); }};
    }
    for (std::thread& each : threads) each.join();
}

/// Where the tag is no key. One thread posts, so the order of posting is the order of all its messages.
class OpenTags : public LaneOrder {};

TEST_P(OpenTags, TakeMessagesInTheOrderOfSending) {
    constexpr std::size_t n_all = 200;
    const int peer = n_ranks_ - 1 - rank_;
    std::vector<std::vector<int>> sent;
    std::vector<std::array<int, 3000>> received(n_all);
    std::vector<commtask_status> statuses(n_all, COMMTASK_STATUS_INIT);
    std::vector<commtask_t> tasks;
    for (std::size_t i = 0; i < n_all; ++i) {
        sent.push_back(message(rank_, peer, 0, static_cast<int>(i)));
        sent.back().resize(std::min<std::size_t>(sent.back().size(), 2999));
        sent.back().push_back(static_cast<int>(i));
        options how;
        how.report_to(statuses[i]);
        tasks.push_back(post(commtask_op_recv(received[i].data(), 3000, MPI_INT, peer, MPI_ANY_TAG, comm_), how));
        tasks.push_back(post(commtask_op_send(sent.back().data(), static_cast<int>(sent.back().size()), MPI_INT, peer,
                                              static_cast<int>(i % 5), comm_)));
    }
    ASSERT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
    for (std::size_t i = 0; i < n_all; ++i) {
        ASSERT_EQ(statuses[i].tag, static_cast<int>(i % 5));
        ASSERT_EQ(received[i][static_cast<std::size_t>(statuses[i].bytes) / sizeof(int) - 1], static_cast<int>(i));
    }
}

std::vector<setting> all_settings() {
    std::vector<setting> all;
    for (const int n_lanes : {1, 2, 3, 4}) {
        for (const policy by :
             {policy::by_thread, policy::by_message, policy::by_ranks, policy::by_tag, policy::by_comm}) {
            all.push_back({by, n_lanes});
        }
    }
    return all;
}

std::string name_of(const testing::TestParamInfo<setting>& parameter) {
    const std::array<const char*, 5> names{"by_thread", "by_message", "by_ranks", "by_tag", "by_comm"};
    return std::string{names.at(static_cast<std::size_t>(parameter.param.by))} + "_" +
           std::to_string(parameter.param.n_lanes);
}

INSTANTIATE_TEST_SUITE_P(Lanes, LaneOrder, testing::ValuesIn(all_settings()), name_of);
INSTANTIATE_TEST_SUITE_P(Lanes, OpenTags,
                         testing::Values(setting{policy::by_ranks, 2}, setting{policy::by_ranks, 4},
                                         setting{policy::by_thread, 2}, setting{policy::by_thread, 4}),
                         name_of);

} // namespace
} // namespace commtask::test
