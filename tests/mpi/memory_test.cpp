// SPDX-License-Identifier: Apache-2.0
//
// mpi.memory: steady state allocates nothing, on the thread that posts and on the worker, and posting makes no system
// call while the worker is awake. malloc is replaced in this program by one that counts, and a seccomp filter counts
// system calls; both come from the benchmarks' harness. The tasks are noops with events and dependences, because what an
// MPI allocates for a message is its own affair.
#include "harness/allocation_count.h"
#include "harness/syscall_count.h"
#include "runtime_test.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>

namespace commtask::test {
namespace {

/// One worker stays awake, so that a submitter never has to wake it. Several would take the core from each other.
class Memory : public Runtime {
protected:
    [[nodiscard]] static bool has_one_lane() { return std::getenv("COMMTASK_LANES") == nullptr; }
    [[nodiscard]] commtask_config configuration() const override {
        commtask_config config = COMMTASK_CONFIG_INIT;
        if (!has_one_lane()) return config;
        config.idle = "reserved";
        config.spin_us = 10'000'000;
        return config;
    }
    /// Communicators of two lanes, where there are two.
    [[nodiscard]] std::array<MPI_Comm, 2> both() const { return {MPI_COMM_WORLD, comm_}; }
    void SetUp() override {
        Runtime::SetUp();
        record_plan();
    }
    void TearDown() override {
        EXPECT_EQ(commtask_plan_release(&plan_), COMMTASK_OK);
        Runtime::TearDown();
    }
    /// A plan with members after others, in order, called back for and held, on both communicators.
    void record_plan() {
        const auto add = [&](std::size_t which, const commtask_options* how, commtask_t* task) {
            const commtask_op noop = commtask_op_noop(both()[which]);
            n_bad_ += commtask_post_operation(&noop, how, task) != COMMTASK_OK;
        };
        n_bad_ += commtask_record_begin() != COMMTASK_OK;
        std::array<commtask_t, 2> first{};
        for (std::size_t i = 0; i < first.size(); ++i) add(i, nullptr, &first.at(i));
        options later;
        add(0, later.after({first[0], first[1]}).flags(COMMTASK_ORDERED).call(&count, &n_callbacks_).get(), nullptr);
        add(1, nullptr, nullptr);
        n_bad_ += commtask_record_end(&plan_) != COMMTASK_OK;
        for (commtask_t& each : first) n_bad_ += commtask_release(&each) != COMMTASK_OK;
        n_bad_ += commtask_plan_defer(plan_, held) != COMMTASK_OK;
    }
    /// A run, waited for as a whole and by one of its members.
    void one_run() {
        commtask_t run = COMMTASK_NULL;
        commtask_t member = COMMTASK_NULL;
        n_bad_ += commtask_plan_start(plan_, nullptr, &run) != COMMTASK_OK;
        n_bad_ += commtask_plan_member(plan_, held, &member) != COMMTASK_OK;
        n_bad_ += commtask_plan_pready(plan_, held) != COMMTASK_OK;
        n_bad_ += commtask_wait(&member, nullptr) != COMMTASK_OK;
        n_bad_ += commtask_wait(&run, nullptr) != COMMTASK_OK;
    }
    static void count(const commtask_status* /*status*/, void* n) { ++*static_cast<std::atomic<int>*>(n); }
    /// One round of what a program does in steady state: events, joins, callbacks, tickets, waits, a run of a plan.
    void one_round() {
        constexpr std::size_t width = 16;
        std::array<commtask_t, width> tasks{};
        std::array<commtask_event_t, width> gates{};
        const commtask_op noop = commtask_op_noop(comm_);
        for (std::size_t i = 0; i < width; ++i) {
            n_bad_ += commtask_event_create(1, &gates[i]) != COMMTASK_OK;
            commtask_options how = COMMTASK_OPTIONS_INIT;
            how.events = &gates[i];
            how.n_events = 1;
            how.flags = i % 2 == 0 ? COMMTASK_ORDERED : COMMTASK_NONE;
            how.callback = &count;
            how.callback_argument = &n_callbacks_;
            const commtask_op one_of_both = commtask_op_noop(both()[i / 2 % 2]);
            n_bad_ += commtask_post_operation(&one_of_both, &how, &tasks[i]) != COMMTASK_OK;
        }
        const std::array nobody{MPI_PROC_NULL, MPI_PROC_NULL, MPI_PROC_NULL}; // copied by the post
        commtask_t multicast = COMMTASK_NULL;
        const commtask_op to_nobody =
            commtask_op_multicast(nullptr, 0, MPI_INT, nobody.data(), nobody.size(), 1, MPI_COMM_WORLD);
        n_bad_ += commtask_post_operation(&to_nobody, nullptr, &multicast) != COMMTASK_OK;
        n_bad_ += commtask_wait(&multicast, nullptr) != COMMTASK_OK;
        commtask_ticket ticket{};
        n_bad_ += commtask_ticket_take(&noop, &ticket) != COMMTASK_OK;
        commtask_options join_how = COMMTASK_OPTIONS_INIT;
        join_how.after = tasks.data();
        join_how.n_after = tasks.size();
        join_how.ticket = ticket;
        commtask_t join = COMMTASK_NULL;
        n_bad_ += commtask_post_operation(&noop, &join_how, &join) != COMMTASK_OK;
        for (std::size_t i = width; i-- > 0;) {
            n_bad_ += commtask_event_signal(gates[i]) != COMMTASK_OK;
            n_bad_ += commtask_event_release(&gates[i]) != COMMTASK_OK;
        }
        n_bad_ += commtask_wait(&join, nullptr) != COMMTASK_OK;
        n_bad_ += commtask_wait_all(tasks.size(), tasks.data(), nullptr) != COMMTASK_OK;
        one_run();
    }

    static constexpr std::size_t held = 3; ///< The plan's last member.
    commtask_plan_t plan_ = COMMTASK_PLAN_NULL;
    std::atomic<int> n_callbacks_{0};
    /// Whether some hundred rounds go by without a call of malloc or free. Memory grows with the largest number of tasks
    /// that were ever unfinished at once, which depends on the scheduler, so a few rounds may still add to it; what
    /// allocates in every round never passes. `count_calls()` reads those so far.
    template <typename Count>
    bool comes_to_rest(Count count_calls) {
        for (int attempt = 0; attempt < 20; ++attempt) {
            const std::uint64_t before = count_calls();
            for (int i = 0; i < 250; ++i) one_round();
            if (count_calls() == before && attempt > 0) return true;
        }
        return false;
    }
    int n_bad_ = 0;
};

struct worker_count {
    std::uint64_t allocations = 0;
    std::thread::id thread;
};
int read_count(void* argument) {
    auto* const count = static_cast<worker_count*>(argument);
    count->allocations = bench::allocation_calls_of_this_thread();
    count->thread = std::this_thread::get_id();
    return MPI_SUCCESS;
}

TEST_F(Memory, TheInstrumentSeesAllocations) {
    const std::uint64_t before = bench::allocation_calls_of_this_thread();
    const auto memory = std::make_unique<std::string>(1000, 'x');
    EXPECT_GT(bench::allocation_calls_of_this_thread(), before) << memory->size();
}

TEST_F(Memory, SteadyStateAllocatesNothingOnTheThreadThatPosts) {
    EXPECT_TRUE(comes_to_rest(bench::allocation_calls_of_this_thread));
    EXPECT_EQ(n_bad_, 0);
}

TEST_F(Memory, SteadyStateAllocatesNothingOnTheWorkers) {
    // Read by tasks that nobody waits for in the library: a waiting thread might drive in a worker's place, and count for
    // itself.
    std::array<worker_count, 2> counts;
    EXPECT_TRUE(comes_to_rest([&] {
        for (std::size_t i = 0; i < counts.size(); ++i) {
            std::atomic<bool> has_ended{false};
            options how;
            how.call([](const commtask_status* /*status*/,
                        void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); },
                     &has_ended);
            const commtask_op call = commtask_op_call(read_count, &counts[i], both()[i]);
            n_bad_ += commtask_post_operation(&call, how.get(), nullptr) != COMMTASK_OK;
            while (!has_ended) std::this_thread::yield();
            EXPECT_NE(counts[i].thread, std::this_thread::get_id());
        }
        return counts[0].allocations + counts[1].allocations;
    }));
    EXPECT_EQ(n_bad_, 0);
    EXPECT_EQ(counts[0].thread == counts[1].thread, has_one_lane());
}

TEST_F(Memory, PostingMakesNoSystemCall) {
    if (n_ranks_ > 1 || !has_one_lane()) GTEST_SKIP() << "one rank with one lane: more leave no core to the worker";
    std::string cannot;
    std::uint64_t n_while_posting = 0;
    std::uint64_t n_after_one = 0;
    int last_call = -1;
    ASSERT_EQ(commtask_comm_register(comm_), COMMTASK_OK);
    std::thread submitter{[&] {
        const commtask_op noop = commtask_op_noop(comm_);
        // The first open task of a communicator that the program has made costs a call of MPI.
        const commtask_op barrier = commtask_op_barrier(MPI_COMM_WORLD);
        std::array<commtask_t, 8> tasks{};
        const auto burst = [&] {
            for (commtask_t& task : tasks) n_bad_ += commtask_post_operation(&noop, nullptr, &task) != COMMTASK_OK;
            n_bad_ += commtask_post_operation(&barrier, nullptr, nullptr) != COMMTASK_OK;
            for (commtask_t& task : tasks) {
                int ended = 0;
                while (ended == 0) n_bad_ += commtask_test(&task, &ended, nullptr) != COMMTASK_OK;
            }
        };
        for (int i = 0; i < 100; ++i) burst();
        cannot = bench::watch_system_calls_of_this_thread();
        if (!cannot.empty()) return;
        const std::uint64_t before = bench::system_calls_seen();
        for (int i = 0; i < 1000; ++i) burst();
        n_while_posting = bench::system_calls_seen() - before;
        last_call = bench::last_system_call_seen();
        std::this_thread::yield();
        n_after_one = bench::system_calls_seen() - before - n_while_posting;
    }};
    submitter.join();
    EXPECT_EQ(n_bad_, 0);
    if (!cannot.empty()) GTEST_SKIP() << cannot;
    EXPECT_EQ(n_while_posting, 0U) << "the last was system call " << last_call;
    EXPECT_EQ(n_after_one, 1U) << "the instrument sees a call that is made";
}

} // namespace
} // namespace commtask::test
