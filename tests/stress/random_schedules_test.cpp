// SPDX-License-Identifier: Apache-2.0
//
// Random schedules against MPI: several posting threads, several communicators, random graphs over tasks and events,
// failures, cancellations, messages to oneself, and an end at a random point. Every round is a runtime of its own with a
// small queue and a small test window. COMMTASK_TEST_SEED repeats a round that failed; the sanitizers look on.
#include "schedule.hpp"

#include <cstdlib>
#include <string>
#include <thread>

namespace commtask::stress {
namespace {

constexpr int n_threads = 3;

class Stress : public testing::Test {
protected:
    void SetUp() override {
        const char* given = std::getenv("COMMTASK_TEST_SEED");
        seed_ = given != nullptr ? static_cast<unsigned>(std::stoul(given)) : std::random_device{}();
        MPI_Bcast(&seed_, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
        for (MPI_Comm& each : shared_) MPI_Comm_dup(MPI_COMM_WORLD, &each);
        for (MPI_Comm& each : own_) MPI_Comm_dup(MPI_COMM_WORLD, &each);
    }
    void TearDown() override {
        for (MPI_Comm& each : shared_) MPI_Comm_free(&each);
        for (MPI_Comm& each : own_) MPI_Comm_free(&each);
        if (HasFailure()) std::fprintf(stderr, "COMMTASK_TEST_SEED=%u\n", seed_);
    }

    /// A worker with a core of its own or without, few cells, few requests per look.
    [[nodiscard]] static config settings_of(unsigned round) {
        config settings;
        settings.queue_capacity = round % 2 == 0 ? 64 : 4096;
        settings.test_window = round % 3 == 0 ? 4 : 64;
        settings.core = round % 4 < 2 ? "auto" : "none";
        settings.idle = round % 4 < 2 ? "auto" : "shared";
        settings.spin_us = round % 5 == 0 ? 1 : 50;
        settings.finalize_timeout_s = 60;
        return settings;
    }

    void make_schedules(std::deque<schedule>& schedules, unsigned round) {
        for (int t = 0; t < n_threads; ++t) {
            schedules.emplace_back(seed_ + round, t, shared_, own_[static_cast<std::size_t>(t)], counts_);
        }
    }

    template <typename Body>
    static void on_threads(Body&& body) {
        std::array<std::thread, n_threads> threads;
        for (int t = 0; t < n_threads; ++t) {
            threads[static_cast<std::size_t>(t)] = std::thread{[&body, t] { body(t); }};
        }
        for (std::thread& each : threads) each.join();
    }

    unsigned seed_ = 0;
    std::array<MPI_Comm, 2> shared_{};
    std::array<MPI_Comm, n_threads> own_{};
    counters counts_;
};

TEST_F(Stress, EveryTaskEndsAsTheModelSays) {
    for (unsigned round = 0; round < 4; ++round) {
        std::deque<schedule> schedules; // nobody waits for the sends: the buffers live until the library has ended
        runtime library{settings_of(round)};
        make_schedules(schedules, round);
        on_threads([&](int thread) {
            schedule& mine = schedules[static_cast<std::size_t>(thread)];
            mine.post_all(250);
            mine.settle();
        });
        EXPECT_TRUE(library.finalize());
        EXPECT_EQ(counts_.posted, counts_.ended);
    }
}

TEST_F(Stress, FinalizeAtARandomPointWaitsForAll) {
    for (unsigned round = 0; round < 6; ++round) {
        std::deque<schedule> schedules; // the buffers live until the library has ended
        runtime library{settings_of(round)};
        make_schedules(schedules, 100 + round);
        on_threads([&](int thread) {
            schedule& mine = schedules[static_cast<std::size_t>(thread)];
            mine.post_all(30 + 10 * static_cast<int>(round));
            mine.signal_all();
            mine.drop_handles();
        });
        EXPECT_TRUE(library.finalize());
        EXPECT_EQ(counts_.posted, counts_.ended);
    }
}

TEST_F(Stress, FinalizeGivesUpWhatNobodySignalsAndEveryCallbackRunsOnce) {
    for (unsigned round = 0; round < 3; ++round) {
        std::deque<schedule> schedules;
        config settings = settings_of(round);
        settings.finalize_timeout_s = 0.02;
        runtime library{settings};
        event never;
        make_schedules(schedules, 200 + round);
        on_threads([&](int thread) {
            ++counts_.posted;
            post_detached(noop(own_[static_cast<std::size_t>(thread)]), after(never),
                          then([counts = &counts_]() noexcept { ++counts->ended; }));
            schedules[static_cast<std::size_t>(thread)].post_all(60, true);
        });
        EXPECT_FALSE(library.finalize());
        EXPECT_EQ(counts_.posted, counts_.ended);
    }
}

/// Coroutines on loops of several threads, interleaved with cancellation from another thread.
routine<> rounds(MPI_Comm comm, int thread, int rank, int n_ranks, std::atomic<int>& n_wrong) {
    const int partner = n_ranks > 1 ? rank ^ 1 : rank;
    for (int i = 0; i < 100; ++i) {
        int received = -1;
        task receive = post(recv(one(received), partner, thread, comm));
        const outcome sent = co_await perform(send(one(i), partner, thread, comm));
        const outcome arrived = co_await receive;
        if (!sent || !arrived || received != i) ++n_wrong;
        event go;
        task waiting = post(noop(comm), after(go));
        if (i % 2 == 0) waiting.cancel();
        go.signal();
        const outcome either = co_await waiting;
        if (either.is_failed()) ++n_wrong;
    }
}

TEST_F(Stress, CoroutinesOnSeveralLoops) {
    int rank = 0;
    int n_ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    std::atomic<int> n_wrong{0};
    for (unsigned round = 0; round < 4; ++round) {
        runtime library{settings_of(round)};
        on_threads([&](int thread) {
            run_loop loop;
            for (int i = 0; i < 3; ++i) loop.start(rounds(shared_[0], 10 * thread + i, rank, n_ranks, n_wrong));
            loop.run();
        });
        EXPECT_TRUE(library.finalize());
    }
    EXPECT_EQ(n_wrong, 0);
}

} // namespace
} // namespace commtask::stress
