// SPDX-License-Identifier: Apache-2.0
//
// Snippets of docs/cpp.md about co_await. Each marked part stands in the page word for word; the rest makes it a program
// that checks itself.
#include <commtask/commtask.hpp>

#include <array>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

using namespace commtask;

// [routine]
routine<double> exchange(double mine, int left, int right, MPI_Comm comm) {
    double theirs = 0;
    task received = post(recv(one(theirs), left, 0, comm));
    const outcome sent = co_await perform(send(one(mine), right, 0, comm)); // posted here, no handle
    const outcome ended = co_await received;                                // posted above
    co_return sent&& ended ? theirs : -1;
}

routine<> relax(double& value, int left, int right, MPI_Comm comm) {
    for (int sweep = 0; sweep < 10; ++sweep) {
        value = 0.5 * (value + co_await exchange(value, left, right, comm));
    }
}
// [routine]

/// Hands ready coroutines to a pool; here the pool is any thread that calls run_some().
class pool_executor final : public executor {
public:
    void resume_later(resumption& ready) noexcept override { // on the worker: hand over, no more
        const std::lock_guard guard{mutex_};
        ready.next = first_;
        first_ = &ready;
    }
    void run_some() {
        resumption* ready = take_all();
        while (ready != nullptr) {
            resumption* const next = ready->next;
            ready->resume(); // its frame may be gone now
            ready = next;
        }
    }

private:
    resumption* take_all() {
        const std::lock_guard guard{mutex_};
        return std::exchange(first_, nullptr);
    }
    std::mutex mutex_;
    resumption* first_ = nullptr;
};

// A coroutine of another library, as far as this example needs it.
struct detached {
    struct promise_type {
        detached get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { failure = std::current_exception(); }
        static inline std::exception_ptr failure;
    };
};

// [resume_on]
detached in_another_library(pool_executor& pool, MPI_Comm comm, bool& is_done) {
    const outcome ended = co_await resume_on(pool, perform(barrier(comm)));
    is_done = ended.is_completed();
}
// [resume_on]

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    int rank = 0;
    int n_ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    bool is_right = true;
    {
        const MPI_Comm comm = MPI_COMM_WORLD;
        const int left = (rank + n_ranks - 1) % n_ranks;
        const int right = (rank + 1) % n_ranks;
        runtime library;

        // [loop]
        double value = rank;
        run_loop loop;
        loop.start(relax(value, left, right, comm));
        loop.run(); // this thread resumes routines that are ready, until all have ended
        // [loop]
        is_right = value >= 0 && value <= n_ranks;

        pool_executor pool;
        bool is_done = false;
        in_another_library(pool, comm, is_done);
        while (!is_done && !detached::promise_type::failure) pool.run_some();
        if (detached::promise_type::failure) std::rethrow_exception(std::exchange(detached::promise_type::failure, {}));
        is_right = library.finalize() && is_right;
    }
    MPI_Finalize();
    return is_right ? 0 : 1;
}
