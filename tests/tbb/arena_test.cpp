// SPDX-License-Identifier: Apache-2.0
//
// Arenas that leave the worker its core, on whatever this machine gives: where the worker has a core no thread of the
// arena may be seen on it, and where it has none the arena must say so.
#include "tbb_fixture.hpp"

#include <oneapi/tbb/info.h>

#include <mutex>
#include <set>
#include <thread>

#include <sched.h>

using namespace commtask::test;

namespace {

/// CPUs on which threads of the arena may run, as the system sees it.
std::set<int> cpus_of(ct::arena& arena) {
    std::set<int> cpus;
    std::mutex lock;
    arena.execute([&] {
        ::tbb::parallel_for(0, 500, [&](int) {
            cpu_set_t mask;
            ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
            const std::lock_guard guard{lock};
            for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
                if (CPU_ISSET(cpu, &mask)) cpus.insert(cpu);
            }
        });
    });
    return cpus;
}

TEST_F(TbbFace, NoThreadOfAnArenaMayRunOnTheWorkersCore) {
    const commtask_info facts = runtime_->info();
    ct::arena arena;
    const std::set<int> cpus = cpus_of(arena);
    if (facts.worker_is_reserved != 0) {
        EXPECT_TRUE(arena.leaves_core_free()) << arena.advice();
        EXPECT_THAT(cpus, testing::Not(testing::Contains(facts.worker_cpu)));
        EXPECT_LE(arena.max_concurrency(), static_cast<int>(cpus.size()));
    } else {
        EXPECT_FALSE(arena.leaves_core_free());
        EXPECT_THAT(arena.advice(), testing::HasSubstr("no core of its own"));
    }
}

TEST_F(TbbFace, AThreadBoundToEverythingIsMovedWhenItEnters) {
    const commtask_info facts = runtime_->info();
    if (facts.worker_is_reserved == 0) GTEST_SKIP() << "the worker has no core of its own here";
    std::thread wide([&] {
        cpu_set_t all;
        CPU_ZERO(&all);
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &all);
        ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
        ct::arena arena(1);
        EXPECT_THAT(cpus_of(arena), testing::Not(testing::Contains(facts.worker_cpu)));
        EXPECT_TRUE(arena.leaves_core_free()) << arena.advice();
    });
    wide.join();
    std::thread narrow([&] {
        cpu_set_t workers;
        CPU_ZERO(&workers);
        CPU_SET(static_cast<std::size_t>(facts.worker_cpu), &workers);
        ASSERT_EQ(sched_setaffinity(0, sizeof workers, &workers), 0);
        ct::arena arena(1);
        static_cast<void>(cpus_of(arena));
        EXPECT_THAT(arena.advice(), testing::HasSubstr("bound to the worker's CPU"));
    });
    narrow.join();
}

TEST_F(TbbFace, NumaNodesAreHonoured) {
    if (COMMTASK_ADDRESS_SANITIZER) GTEST_SKIP() << "AddressSanitizer refuses how oneTBB loads its part for NUMA";
    for (const ::tbb::numa_node_id node : ::tbb::info::numa_nodes()) {
        ct::arena arena(::tbb::task_arena::constraints{}.set_numa_id(node));
        EXPECT_GE(arena.max_concurrency(), 1);
        EXPECT_LE(arena.max_concurrency(), ::tbb::info::default_concurrency(node));
        const commtask_info facts = runtime_->info();
        if (facts.worker_is_reserved != 0) {
            EXPECT_THAT(cpus_of(arena), testing::Not(testing::Contains(facts.worker_cpu)));
        }
    }
}

TEST_F(TbbFace, TooManyThreadsAreKeptButSaid) {
    ct::arena arena(64);
    EXPECT_EQ(arena.max_concurrency(), 64);
    EXPECT_FALSE(arena.leaves_core_free() && runtime_->info().worker_is_reserved != 0);
    EXPECT_THAT(arena.advice(), testing::Not(testing::IsEmpty()));
    EXPECT_EQ(code_of([] { ct::arena none(0); }), COMMTASK_ERR_ARGUMENT);
}

TEST_F(TbbFace, AnArenaNeedsTheLibrary) {
    EXPECT_TRUE(runtime_->finalize());
    runtime_.reset();
    EXPECT_EQ(code_of([] { ct::arena early; }), COMMTASK_ERR_NOT_INITIALIZED);
}

} // namespace
