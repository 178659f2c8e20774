// SPDX-License-Identifier: Apache-2.0
//
// The active-message handler of docs/many.md in C++: messages are moved to a thread that works on them, while the handler only takes
// them in.
#include <commtask/commtask.hpp>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    long sum = 0;
    int size = 1;
    {
        const commtask::runtime library;
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        std::mutex mutex;
        std::condition_variable changed;
        // [cpp]
        std::deque<commtask::message> inbox;
        commtask::listener numbers{MPI_COMM_WORLD, 3, 1000 * sizeof(long), 16, [&](commtask::message& come) {
                                       const std::lock_guard guard{mutex};
                                       inbox.push_back(std::move(come)); // its memory stays until it is gone from there
                                       changed.notify_one();
                                   }};
        // [cpp]
        std::thread works{[&] {
            for (int i = 0; i < size; ++i) {
                std::unique_lock guard{mutex};
                changed.wait(guard, [&] { return !inbox.empty(); });
                const commtask::message next = std::move(inbox.front());
                inbox.pop_front();
                guard.unlock();
                for (const long each : next.as<long>()) sum += each;
            }
        }};
        std::vector<long> mine(10, rank + 1);
        std::vector<int> everyone(static_cast<std::size_t>(size));
        for (int i = 0; i < size; ++i) everyone[static_cast<std::size_t>(i)] = i;
        const commtask::outcome sent = commtask::post(commtask::multicast(mine, everyone, 3, MPI_COMM_WORLD)).wait();
        works.join();
        if (!sent.is_completed()) sum = -1;
        numbers.stop();
    }
    MPI_Finalize();
    return sum == 5L * size * (size + 1) ? EXIT_SUCCESS : EXIT_FAILURE;
}
