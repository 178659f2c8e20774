// SPDX-License-Identifier: Apache-2.0
//
// Random message programs, each run twice: by MPI_Isend, MPI_Irecv and MPI_Waitall in program order, and line by line as
// communication tasks that become ready in another order. All buffers must be equal. Programs reuse tags, receive by
// wildcards where only one sender fits, and mix short messages with long ones. The ways to create the tasks take turns:
// OpenMP tasks, posts after events, and a plan with deferred members. COMMTASK_TEST_PROGRAMS says how many programs to run.
#include "omp_fixture.hpp"

#include <commtask/plan.h>

#include <array>
#include <deque>
#include <thread>
#include <vector>

namespace {

using omp_test::random_number;

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library);

constexpr int n_comms = 3; ///< Of several lanes, where COMMTASK_LANES says so.

/// One line of a rank's program.
struct line {
    bool sends = false;
    int comm = 0;
    int peer = 0; ///< Or MPI_ANY_SOURCE.
    int tag = 0;  ///< Or MPI_ANY_TAG.
    int count = 1;
    int value = 0; ///< What a send carries: its own.
};

/// The program of one rank. All ranks draw the same messages, then each its own order.
[[nodiscard]] std::vector<line> draw(unsigned seed, int rank, int n_ranks) {
    random_number shared(seed);
    const int n_messages = 1 + shared.below(24);
    const int n_channels = 1 + shared.below(3); // of each pair of ranks: few, so that tags are reused
    std::vector<line> mine;
    for (int i = 0; i < n_messages; ++i) {
        const int from = shared.below(n_ranks);
        const int to = shared.below(n_ranks);
        const int comm = shared.below(n_comms);
        // Of one sender each, so that a receive from any source has one.
        const int tag = from * n_channels + shared.below(n_channels);
        const int count = shared.below(12) == 0 ? 20'000 : 1 + shared.below(8);
        const int wild = shared.below(6);
        if (from == rank) mine.push_back({true, comm, to, tag, count, 0});
        if (to != rank) continue;
        // A channel's receives have room for any of its messages.
        line receive{false, comm, from, tag, 20'000, 0};
        if (wild == 0 || wild == 1) receive.peer = MPI_ANY_SOURCE;
        if (n_channels == 1 && (wild == 1 || wild == 2)) receive.tag = MPI_ANY_TAG;
        if (receive.peer == MPI_ANY_SOURCE && receive.tag == MPI_ANY_TAG && n_ranks > 1) receive.tag = tag;
        mine.push_back(receive);
    }
    random_number own(seed * 31 + static_cast<unsigned>(rank));
    for (std::size_t i = mine.size(); i > 1; --i)
        std::swap(mine[i - 1], mine[static_cast<std::size_t>(own.below(static_cast<int>(i)))]);
    for (std::size_t i = 0; i < mine.size(); ++i)
        mine[i].value = static_cast<int>(seed) * 1000 + rank * 100 + static_cast<int>(i);
    return mine;
}

using buffers = std::vector<std::vector<int>>;

[[nodiscard]] buffers make_buffers(const std::vector<line>& program, bool is_filled) {
    buffers made;
    for (const line& each : program) {
        made.emplace_back(static_cast<std::size_t>(each.count), each.sends && is_filled ? each.value : -1);
    }
    return made;
}

class RandomPrograms : public omp_test::ring {
protected:
    static void SetUpTestSuite() {
        for (MPI_Comm& each : comms) MPI_Comm_dup(MPI_COMM_WORLD, &each);
    }
    static void TearDownTestSuite() {
        for (MPI_Comm& each : comms) MPI_Comm_free(&each);
    }

    [[nodiscard]] static buffers run_by_mpi(const std::vector<line>& program) {
        buffers used = make_buffers(program, true);
        std::vector<MPI_Request> requests(program.size());
        for (std::size_t i = 0; i < program.size(); ++i) {
            const line& each = program[i];
            MPI_Comm on = comms[static_cast<std::size_t>(each.comm)];
            each.sends ? MPI_Isend(used[i].data(), each.count, MPI_INT, each.peer, each.tag, on, &requests[i])
                       : MPI_Irecv(used[i].data(), each.count, MPI_INT, each.peer, each.tag, on, &requests[i]);
        }
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        return used;
    }

    [[nodiscard]] static commtask_op operation_of(const line& each, std::vector<int>& buffer) {
        MPI_Comm on = comms[static_cast<std::size_t>(each.comm)];
        return each.sends ? commtask_op_send(buffer.data(), each.count, MPI_INT, each.peer, each.tag, on)
                          : commtask_op_recv(buffer.data(), each.count, MPI_INT, each.peer, each.tag, on);
    }

    /// Compute tasks, which take differently long, write what is sent, and hold up what is received.
    [[nodiscard]] static buffers run_by_openmp(const std::vector<line>& program, unsigned seed) {
        buffers used = make_buffers(program, false);
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        {
            random_number random(seed);
            for (std::size_t i = 0; i < program.size(); ++i) {
                const line each = program[i];
                int* const buffer = used[i].data();
                const int work = random.below(4) == 0 ? random.below(200'000) : 0;
                if (each.sends || random.below(2) == 0) {
#pragma omp task depend(out : *buffer) firstprivate(buffer, each, work)
                    {
                        omp_test::compute(work);
                        if (each.sends) std::fill_n(buffer, each.count, each.value);
                    }
                }
                const commtask_op op = operation_of(each, used[i]);
                const void* const address = buffer;
                const int code = each.sends ? commtask_omp_spawn(&op, nullptr, 1, &address, 0, nullptr, 0, nullptr)
                                            : commtask_omp_spawn(&op, nullptr, 0, nullptr, 1, &address, 0, nullptr);
                EXPECT_EQ(code, COMMTASK_OK) << commtask_omp_last_error();
            }
        }
        return used;
    }

    /// Some wait for an event; threads signal those in an order of their own.
    [[nodiscard]] static buffers run_by_posts(const std::vector<line>& program, unsigned seed) {
        buffers used = make_buffers(program, true);
        random_number random(seed);
        std::vector<commtask_t> tasks(program.size());
        std::vector<commtask_event_t> gates;
        for (std::size_t i = 0; i < program.size(); ++i) {
            commtask_options options = COMMTASK_OPTIONS_INIT;
            if (random.below(2) == 0) {
                gates.emplace_back();
                EXPECT_EQ(commtask_event_create(1, &gates.back()), COMMTASK_OK);
                options.events = &gates.back();
                options.n_events = 1;
            }
            const commtask_op op = operation_of(program[i], used[i]);
            EXPECT_EQ(commtask_post_operation(&op, &options, &tasks[i]), COMMTASK_OK) << commtask_last_error();
        }
        for (std::size_t i = gates.size(); i > 1; --i)
            std::swap(gates[i - 1], gates[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
        {
            const std::size_t n_threads = 1 + static_cast<std::size_t>(random.below(3));
            std::vector<std::jthread> threads;
            for (std::size_t which = 0; which < n_threads; ++which) {
                threads.emplace_back([&, which] {
                    for (std::size_t i = which; i < gates.size(); i += n_threads)
                        EXPECT_EQ(commtask_event_signal(gates[i]), COMMTASK_OK);
                });
            }
        }
        EXPECT_EQ(commtask_wait_all(tasks.size(), tasks.data(), nullptr), COMMTASK_OK);
        for (commtask_event_t& each : gates) commtask_event_release(&each);
        return used;
    }

    /// Two runs of a plan of which some members are deferred.
    [[nodiscard]] static buffers run_by_plan(const std::vector<line>& program, unsigned seed) {
        buffers used = make_buffers(program, true);
        random_number random(seed);
        commtask_plan_t plan = COMMTASK_PLAN_NULL;
        EXPECT_EQ(commtask_record_begin(), COMMTASK_OK);
        for (std::size_t i = 0; i < program.size(); ++i) {
            const commtask_op op = operation_of(program[i], used[i]);
            EXPECT_EQ(commtask_post_operation(&op, nullptr, nullptr), COMMTASK_OK) << commtask_last_error();
        }
        EXPECT_EQ(commtask_record_end(&plan), COMMTASK_OK);
        std::vector<std::size_t> deferred;
        for (std::size_t i = 0; i < program.size(); ++i) {
            if (random.below(3) != 0) continue;
            EXPECT_EQ(commtask_plan_defer(plan, i), COMMTASK_OK);
            deferred.push_back(i);
        }
        for (int run = 0; run < 2; ++run) {
            for (std::size_t i = 0; i < program.size(); ++i) {
                if (!program[i].sends) std::ranges::fill(used[i], -1);
            }
            commtask_t started = COMMTASK_NULL;
            EXPECT_EQ(commtask_plan_start(plan, nullptr, &started), COMMTASK_OK) << commtask_last_error();
            for (std::size_t i = deferred.size(); i > 1; --i)
                std::swap(deferred[i - 1], deferred[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
            for (const std::size_t each : deferred)
                EXPECT_EQ(commtask_plan_pready(plan, each), COMMTASK_OK) << commtask_last_error();
            EXPECT_EQ(commtask_wait(&started, nullptr), COMMTASK_OK);
        }
        EXPECT_EQ(commtask_plan_release(&plan), COMMTASK_OK);
        return used;
    }

    static std::array<MPI_Comm, n_comms> comms;
};

std::array<MPI_Comm, n_comms> RandomPrograms::comms{};

TEST_F(RandomPrograms, DoAsTasksWhatTheyDoByMpiInProgramOrder) {
    const char* const text = std::getenv("COMMTASK_TEST_PROGRAMS");
    const unsigned n_programs = text != nullptr ? static_cast<unsigned>(std::atoi(text)) : 90;
    for (unsigned number = 1; number <= n_programs; ++number) {
        SCOPED_TRACE(testing::Message() << "program " << number);
        const std::vector<line> program = draw(number, rank, n_ranks);
        MPI_Barrier(comm); // a program's wildcards must not see the next one's messages
        const buffers expected = run_by_mpi(program);
        MPI_Barrier(comm);
        const buffers seen = number % 3 == 0   ? run_by_plan(program, number)
                             : number % 3 == 1 ? run_by_openmp(program, number)
                                               : run_by_posts(program, number);
        for (std::size_t i = 0; i < program.size(); ++i) {
            ASSERT_EQ(seen[i], expected[i]) << "line " << i;
        }
    }
}

} // namespace
