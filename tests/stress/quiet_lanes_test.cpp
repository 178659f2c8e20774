// SPDX-License-Identifier: Apache-2.0
//
// Who asks whether all lanes are quiet looks at one after the other. A task that goes to and fro between two lanes, its callback
// posting the next one to the other lane, can always be on the one that is not looked at: so all are looked at twice.
#include "../unit/fake_transport.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <thread>

namespace commtask::detail::testing {
namespace {

/// Posts its successor until enough have been posted.
struct wanderer {
    lanes_bench<2>& bench;
    int n_left;
    std::atomic<bool> is_last_posted{false};

    void go_on() {
        if (n_left == 1) is_last_posted.store(true);
        if (--n_left < 0) return;
        const auto step = [](const commtask_status* /*status*/, void* self) { static_cast<wanderer*>(self)->go_on(); };
        const std::size_t on = static_cast<std::size_t>(n_left) % 2;
        bench.post_unheld(on, {.tag = fake_transport::completes_at_once, .callback = step, .argument = this});
    }
};

TEST(QuietLanes, AreNotQuietWhileATaskGoesToAndFro) {
    for (int round = 0; round < 200; ++round) {
        lanes_bench<2> bench;
        bench.lanes().watch_drain();
        bench.run();
        ASSERT_TRUE(bench.lanes().is_quiet());
        wanderer task{bench, 2000};
        task.go_on();
        std::atomic<bool> is_over{false};
        std::array<std::thread, 2> drivers;
        for (std::size_t which = 0; which < drivers.size(); ++which) {
            drivers[which] = std::thread([&, which] {
                lane& mine = bench.lanes()[which];
                while (!is_over.load()) {
                    if (!mine.engine.lock.try_acquire()) continue;
                    while (mine.engine.progress()) {}
                    mine.engine.lock.release();
                    std::this_thread::
                        yield(); // the next step is the other driver's, which beside load may have no core
                }
            });
        }
        bool was_quiet_too_early = false;
        while (!task.is_last_posted.load()) {
            const bool is_quiet = bench.lanes().is_quiet();
            was_quiet_too_early = was_quiet_too_early || (is_quiet && !task.is_last_posted.load());
            std::this_thread::yield();
        }
        is_over.store(true);
        for (std::thread& driver : drivers) driver.join();
        ASSERT_FALSE(was_quiet_too_early) << "round " << round;
        bench.run();
        EXPECT_TRUE(bench.lanes().is_quiet());
    }
}

} // namespace
} // namespace commtask::detail::testing
