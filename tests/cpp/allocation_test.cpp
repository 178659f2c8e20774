// SPDX-License-Identifier: Apache-2.0
//
// What the C++ face allocates: nothing for a post with predecessors, flags and a small closure, nothing for co_await, nor for the
// group of an epoch.
// operator new of this program counts the calls of each thread; what the worker does is not the submitter's cost.
#include "cpp_front_end.hpp"

#include <array>
#include <cstdlib>
#include <new>
#include <tuple>

namespace {
thread_local long n_allocations = 0;
} // namespace

void* operator new(std::size_t size) {
    ++n_allocations;
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace commtask::test {
namespace {

class CppAllocation : public CppFace {};

TEST_F(CppAllocation, PostingAllocatesNothingOnceWarm) {
    const auto round = [this] {
        event go;
        std::array<int, 4> buffer{rank_, 0, 0, 0};
        task first = post(call([&buffer] { buffer[1] = 1; }, comm_), after(go));
        std::array<task, 3> tasks{post(noop(comm_), after(first, go), ordered),
                                  post(noop(comm_), then([&buffer](const outcome&) noexcept { buffer[2] = 1; })),
                                  post(allreduce(in_place, one(buffer[3]), MPI_SUM, comm_))};
        go.signal();
        EXPECT_EQ(wait_all(tasks), ending::completed);
        std::ignore = first.wait();
    };
    // Slots keep the room for their edges; every slot of the pool must have been used once.
    for (int i = 0; i < 500; ++i) round();
    const long before = n_allocations;
    for (int i = 0; i < 100; ++i) round();
    EXPECT_EQ(n_allocations, before);
}

TEST_F(CppAllocation, AwaitingAllocatesNothing) {
    const auto main = [this]() -> routine<long> {
        event go;
        go.signal();
        long before = 0;
        for (int i = 0; i < 600; ++i) {
            if (i == 500) before = n_allocations;
            task posted = post(noop(comm_));
            std::ignore = co_await perform(noop(comm_), after(posted));
            std::ignore = co_await posted;
            co_await go;
        }
        co_return n_allocations - before;
    };
    run_loop loop;
    EXPECT_EQ(loop.run(main()), 0);
}

TEST_F(CppAllocation, EpochsOfGroupsAllocateNothingOnceWarm) {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "a thread for the window needs MPI_THREAD_MULTIPLE";
    double* exposed = nullptr;
    MPI_Win handle = MPI_WIN_NULL;
    MPI_Group all = MPI_GROUP_NULL;
    ASSERT_EQ(MPI_Win_allocate(64 * sizeof(double), sizeof(double), MPI_INFO_NULL, comm_, static_cast<void*>(&exposed),
                               &handle),
              MPI_SUCCESS);
    MPI_Comm_group(comm_, &all);
    window<double> shared{handle, comm_, epochs::of_program};
    int n_bad = 0;
    const auto round = [&](bool has_place) {
        std::ignore = post(shared.post(all));
        commtask_op start = commtask_op_win_start(all, 0, handle);
        commtask_options how = COMMTASK_OPTIONS_INIT;
        if (has_place) n_bad += commtask_ticket_take(&start, &how.ticket) != COMMTASK_OK;
        n_bad += commtask_post_operation(&start, &how, nullptr) != COMMTASK_OK;
        std::ignore = post(shared.complete());
        run(shared.wait());
    };
    for (int i = 0; i < 500; ++i) round(i % 2 == 0);
    const long before = n_allocations;
    for (int i = 0; i < 100; ++i) round(i % 2 == 0);
    EXPECT_EQ(n_allocations, before);
    EXPECT_EQ(n_bad, 0);
    MPI_Group_free(&all);
    shared.unregister();
    EXPECT_EQ(MPI_Win_free(&handle), MPI_SUCCESS);
}

} // namespace
} // namespace commtask::test
