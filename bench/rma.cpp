// SPDX-License-Identifier: Apache-2.0
//
// Question: does a one-sided operation wait for a target that computes? Two ranks, a window over memory of their own, the
// operation and its flush measured at the origin: with a target that waits in the library, with one that computes elsewhere
// (a timed sleep, as when an accelerator computes), with one that computes on the core that its worker shares, and the same
// by MPI alone, with the window not registered. Goal: a target that computes elsewhere answers within twice the time of one
// that waits. Then a put with its notification beside a message by tasks: goal 1.3.
#include "harness/alternate.h"
#include "harness/clock.h"
#include "harness/report.h"
#include "harness/session.h"

#include <time.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace commtask::bench;

constexpr std::int64_t computing_ns = 3'000'000;
constexpr int most_bytes = 256 << 10;

enum class target_does : std::uint8_t { wait, compute_elsewhere, compute_here };

/// What one sample is about.
struct question {
    std::string name;
    commtask_op (*make)(void* buffer, int bytes, MPI_Win window);
    int bytes;
};

const std::vector<question> questions{
    {"accumulate 8 B",
     [](void* buffer, int bytes, MPI_Win window) {
         return commtask_op_accumulate(buffer, bytes / 8, MPI_INT64_T, 1, 0, bytes / 8, MPI_INT64_T, MPI_SUM, window);
     },
     8},
    {"accumulate 64 KiB",
     [](void* buffer, int bytes, MPI_Win window) {
         return commtask_op_accumulate(buffer, bytes / 8, MPI_INT64_T, 1, 0, bytes / 8, MPI_INT64_T, MPI_SUM, window);
     },
     64 << 10},
    {"get 256 KiB",
     [](void* buffer, int bytes, MPI_Win window) {
         return commtask_op_get(buffer, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, window);
     },
     256 << 10}};

void run(const commtask_op& op) {
    commtask_t task = COMMTASK_NULL;
    require(commtask_post(&op, nullptr, &task), "commtask_post");
    require(commtask_wait(&task, nullptr), "commtask_wait");
}

void compute(target_does what) {
    if (what == target_does::wait) return;
    if (what == target_does::compute_elsewhere) {
        timespec left{0, computing_ns};
        while (nanosleep(&left, &left) != 0) {}
        return;
    }
    for (const std::uint64_t begin = ticks(); ns_between(begin, ticks()) < static_cast<double>(computing_ns);) {}
}

class pair_of_ranks {
public:
    explicit pair_of_ranks(int rank) : rank_(rank), exposed_(most_bytes), buffer_(most_bytes) {
        MPI_Win_create(exposed_.data(), most_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_);
    }
    pair_of_ranks(const pair_of_ranks&) = delete;
    pair_of_ranks& operator=(const pair_of_ranks&) = delete;
    ~pair_of_ranks() { MPI_Win_free(&window_); }

    void sample_tasks(const question& asked, target_does what, int n_samples, round_samples& out) {
        require(commtask_win_register(window_, MPI_COMM_WORLD), "commtask_win_register");
        for (int i = -1; i < n_samples; ++i) {
            run(commtask_op_barrier(MPI_COMM_WORLD));
            const std::uint64_t begin = ticks();
            if (rank_ == 0) {
                run(asked.make(buffer_.data(), asked.bytes, window_));
                run(commtask_op_flush(1, window_));
            } else {
                compute(what);
            }
            if (i >= 0) out.push_back(ns_between(begin, ticks()) / 1e3);
        }
        run(commtask_op_barrier(MPI_COMM_WORLD));
        require(commtask_win_unregister(window_), "commtask_win_unregister");
    }

    void sample_mpi(const question& asked, target_does what, int n_samples, round_samples& out) {
        let_the_worker_sleep();
        const commtask_op op = asked.make(buffer_.data(), asked.bytes, window_);
        MPI_Win_lock_all(0, window_);
        for (int i = -1; i < n_samples; ++i) {
            MPI_Barrier(MPI_COMM_WORLD);
            const std::uint64_t begin = ticks();
            if (rank_ == 0) {
                if (op.kind == COMMTASK_OP_GET) {
                    MPI_Get(buffer_.data(), asked.bytes, MPI_BYTE, 1, 0, asked.bytes, MPI_BYTE, window_);
                } else {
                    MPI_Accumulate(buffer_.data(), asked.bytes / 8, MPI_INT64_T, 1, 0, asked.bytes / 8, MPI_INT64_T,
                                   MPI_SUM, window_);
                }
                MPI_Win_flush(1, window_);
            } else {
                compute(what);
            }
            if (i >= 0) out.push_back(ns_between(begin, ticks()) / 1e3);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_unlock_all(window_);
    }

    /// There and back, by halves.
    template <typename Send, typename Receive>
    void sample_hops(Send send, Receive receive, int n_samples, round_samples& out) {
        require(commtask_win_register(window_, MPI_COMM_WORLD), "commtask_win_register");
        run(commtask_op_barrier(MPI_COMM_WORLD));
        for (int i = -2; i < n_samples; ++i) {
            const std::uint64_t begin = ticks();
            if (rank_ == 0) run(send(1));
            run(receive(1 - rank_));
            if (rank_ == 1) run(send(0));
            if (i >= 0) out.push_back(ns_between(begin, ticks()) / 2e3);
        }
        require(commtask_win_unregister(window_), "commtask_win_unregister");
    }

    void sample_notified_puts(int bytes, int n_samples, round_samples& out) {
        sample_hops(
            [&](int to) {
                return commtask_op_put_notify(buffer_.data(), bytes, MPI_BYTE, to, 0, bytes, MPI_BYTE, 1, window_);
            },
            [&](int from) { return commtask_op_await_notify(1, 1, from, window_); }, n_samples, out);
    }
    void sample_messages(int bytes, int n_samples, round_samples& out) {
        sample_hops(
            [&](int to) { return commtask_op_send(buffer_.data(), bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD); },
            [&](int from) { return commtask_op_recv(exposed_.data(), bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD); },
            n_samples, out);
    }

private:
    int rank_;
    MPI_Win window_ = MPI_WIN_NULL;
    std::vector<char> exposed_;
    std::vector<char> buffer_;
};

void ask(session& here, const options& given) {
    int n_ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (n_ranks != 2) throw std::runtime_error("bench_rma needs two ranks");
    pair_of_ranks both{here.rank()};
    std::vector<side> sides;
    for (const question& asked : questions) {
        const auto add = [&](const char* whose, auto sample, target_does what) {
            sides.push_back(
                {.name = asked.name + ", " + whose, .unit = "us", .measure = [&, sample, what](round_samples& out) {
                     (both.*sample)(asked, what, 5, out);
                 }});
        };
        add("target waits", &pair_of_ranks::sample_tasks, target_does::wait);
        add("target computes elsewhere", &pair_of_ranks::sample_tasks, target_does::compute_elsewhere);
        add("target computes here", &pair_of_ranks::sample_tasks, target_does::compute_here);
        add("MPI alone, target computes", &pair_of_ranks::sample_mpi, target_does::compute_elsewhere);
    }
    for (const int bytes : {8, 64 << 10}) {
        const std::string size = bytes < 1024 ? std::to_string(bytes) + " B" : std::to_string(bytes >> 10) + " KiB";
        sides.push_back({.name = "message " + size, .unit = "us", .measure = [&, bytes](round_samples& out) {
                             both.sample_messages(bytes, 50, out);
                         }});
        sides.push_back({.name = "put_notify " + size, .unit = "us", .measure = [&, bytes](round_samples& out) {
                             both.sample_notified_puts(bytes, 50, out);
                         }});
    }
    const std::vector<series> all = alternate(sides, given.rounds(30));
    if (here.rank() != 0) return;
    report out("rma", "crowded", here.machine());
    const auto at_most = [](double limit) {
        return std::vector<goal>{{.of = goal::field::ratio, .kind = goal::bound::at_most, .limit = limit}};
    };
    std::size_t row = 0;
    for (std::size_t i = 0; i < questions.size(); ++i, row += 4) {
        out.add(all[row]);
        out.add(all[row + 1], all[row], at_most(2));
        out.add(all[row + 2], all[row]);
        out.add(all[row + 3], all[row]);
    }
    for (; row < all.size(); row += 2) {
        out.add(all[row]);
        out.add(all[row + 1], all[row], at_most(1.3));
    }
    out.publish(given.json_file);
}

} // namespace

int main(int argc, char** argv) {
    return run_benchmark(argc, argv, "Whether a one-sided operation waits for a target that computes.", ask);
}
