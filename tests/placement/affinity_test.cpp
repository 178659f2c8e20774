// SPDX-License-Identifier: Apache-2.0
//
// Masks of real threads, read back with the C library's call. Needs two CPUs, since with one there is nothing to take
// away.
#include "node/affinity.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <unistd.h>

#include <latch>
#include <thread>

namespace commtask::detail {
namespace {

/// What the kernel says, by another way than the code under test.
cpu_set kernel_mask(int thread_id = 0) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    EXPECT_EQ(sched_getaffinity(thread_id, sizeof mask, &mask), 0);
    cpu_set cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(static_cast<std::size_t>(cpu), &mask)) cpus.insert(cpu);
    return cpus;
}

/// A thread that waits until the test ends; `bound_to` empty: it keeps the mask that it inherited.
class idle_thread {
public:
    explicit idle_thread(const cpu_set& bound_to = {}) {
        std::latch started{1};
        thread_ = std::thread{[&] {
            if (!bound_to.is_empty()) {
                EXPECT_FALSE(set_thread_cpus(bound_to));
            }
            id_ = gettid();
            started.count_down();
            stop_.wait();
        }};
        started.wait();
    }
    ~idle_thread() {
        stop_.count_down();
        thread_.join();
    }
    [[nodiscard]] int id() const { return id_; }

private:
    std::latch stop_{1};
    int id_ = 0;
    std::thread thread_;
};

class Affinity : public testing::Test {
protected:
    void SetUp() override {
        if (all_.size() < 2) GTEST_SKIP() << "needs two CPUs, this process has " << all_.size();
    }
    void TearDown() override { EXPECT_FALSE(set_thread_cpus(all_)); }

    const cpu_set all_ = kernel_mask();
    const cpu_set first_{all_.first()};
    const cpu_set rest_ = all_ - first_;
};

TEST_F(Affinity, ReadsTheMaskThatTheLauncherSet) {
    EXPECT_EQ(thread_cpus(), all_);
    EXPECT_EQ(process_cpus(), all_);
    EXPECT_FALSE(set_thread_cpus(first_));
    EXPECT_EQ(kernel_mask(), first_);
    EXPECT_EQ(process_cpus(), first_);
}

TEST_F(Affinity, ReportsWhatTheSystemRefuses) {
    EXPECT_TRUE(set_thread_cpus(cpu_set{}));
    EXPECT_TRUE(set_thread_cpus(first_, 0x3fffffff)) << "no such thread";
    EXPECT_FALSE(thread_cpus(0x3fffffff).has_value());
}

TEST_F(Affinity, NarrowsThreadsThatExistAndThoseThatComeLater) {
    const idle_thread early;
    process_narrowing narrowing{all_, rest_};
    EXPECT_FALSE(narrowing.failure());
    EXPECT_EQ(kernel_mask(), rest_);
    EXPECT_EQ(kernel_mask(early.id()), rest_);
    const idle_thread late;
    EXPECT_EQ(kernel_mask(late.id()), rest_);
    narrowing.restore();
    EXPECT_EQ(kernel_mask(), all_);
    EXPECT_EQ(kernel_mask(early.id()), all_);
    EXPECT_EQ(kernel_mask(late.id()), all_);
}

TEST_F(Affinity, LeavesThreadsAloneThatSomebodyHasBound) {
    const idle_thread bound{first_};
    process_narrowing narrowing{all_, rest_};
    EXPECT_EQ(kernel_mask(bound.id()), first_);
    EXPECT_FALSE(set_thread_cpus(first_)); // the program binds its main thread while the runtime is up
    narrowing.restore();
    EXPECT_EQ(kernel_mask(), first_) << "what the program chose later stays";
    EXPECT_EQ(kernel_mask(bound.id()), first_);
}

TEST_F(Affinity, LetsTheThreadsBackOnACoreAndOffItAgain) {
    const idle_thread early;
    const idle_thread bound{first_};
    process_narrowing narrowing{all_, rest_};
    narrowing.change_to(all_);
    EXPECT_EQ(kernel_mask(), all_);
    EXPECT_EQ(kernel_mask(early.id()), all_);
    const idle_thread late;
    narrowing.change_to(rest_);
    for (const idle_thread* each : {&early, &late}) EXPECT_EQ(kernel_mask(each->id()), rest_);
    EXPECT_EQ(kernel_mask(bound.id()), first_) << "whom somebody has bound stays";
    narrowing.change_to(all_);
    narrowing.restore();
    EXPECT_EQ(kernel_mask(), all_);
}

TEST_F(Affinity, RestoresWhenItsOwnerEndsAndOnlyOnce) {
    {
        process_narrowing narrowing{all_, rest_};
        EXPECT_EQ(kernel_mask(), rest_);
    }
    EXPECT_EQ(kernel_mask(), all_);
    process_narrowing narrowing{all_, rest_};
    narrowing.restore();
    EXPECT_FALSE(set_thread_cpus(rest_));
    narrowing.restore();
    EXPECT_EQ(kernel_mask(), rest_) << "the second restore does nothing";
}

TEST_F(Affinity, ChangesNothingWhereThereIsNothingToTakeAway) {
    const process_narrowing same{all_, all_};
    const process_narrowing none{all_, cpu_set{}};
    EXPECT_EQ(kernel_mask(), all_);
}

TEST_F(Affinity, BindsAWorkerToItsCpuWhereverItWasStarted) {
    rank_placement place{.lane_cpus = {rest_.first()}, .all_cpus = all_, .compute_cpus = all_ - cpu_set{rest_.first()}};
    EXPECT_FALSE(set_thread_cpus(first_)); // as an OpenMP thread under OMP_PROC_BIND would be
    std::thread{[&] {
        EXPECT_EQ(kernel_mask(), first_);
        EXPECT_FALSE(bind_worker(place, 0));
        EXPECT_EQ(kernel_mask(), cpu_set{rest_.first()});
    }}.join();
}

TEST_F(Affinity, GivesASharingWorkerAllComputeCpusInsteadOfItsCreatorsBinding) {
    const rank_placement place{.lane_cpus = {no_cpu}, .all_cpus = all_, .compute_cpus = all_};
    EXPECT_FALSE(set_thread_cpus(first_));
    std::thread{[&] {
        EXPECT_FALSE(bind_worker(place, 0));
        EXPECT_EQ(kernel_mask(), all_);
    }}.join();
}

TEST_F(Affinity, SaysNothingOfOpenMpInAProcessWithoutIt) {
    const rank_placement place{.lane_cpus = {first_.first()}, .all_cpus = all_, .compute_cpus = rest_};
    EXPECT_FALSE(openmp_started_too_early(place));
}

} // namespace
} // namespace commtask::detail
