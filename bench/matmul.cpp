// SPDX-License-Identifier: Apache-2.0
//
// Question: does a matrix product in blocks that are got from other ranks wait for them? CP2K's pattern: every rank owns rows of
// A, B and C, exposes its rows of B in a window, and gets the others' block by block into a few buffers, one multiplied while
// the next are on their way. The owners compute as well, so MPI alone moves what comes while they are inside MPI. The sides:
// MPI_Rget with two buffers, tasks with one to four; multiplied here, and elsewhere for as long (a timed sleep, as when an
// accelerator multiplies). Of every product three rows are compared with the exact ones.
#include "harness/alternate.h"
#include "harness/clock.h"
#include "harness/own_window.h"
#include "harness/report.h"
#include "harness/session.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace commtask::bench;

constexpr int n_own = 256;     ///< Rows of a rank.
constexpr int n_block = 32;    ///< Rows of B in a block.
constexpr int n_columns = 512; ///< Of B and C.
constexpr int block_size = n_block * n_columns;
constexpr int most_buffers = 4;

/// Small integers, so that sums are exact and all orders of them equal.
double a_at(int row, int k) { return (row * 3 + k * 5) % 7; }
double b_at(int k, int column) { return (k * 11 + column) % 5; }

enum class multiplied : unsigned char { here, elsewhere };

class product {
public:
    product() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &n_ranks_);
        a_.resize(static_cast<std::size_t>(n_own * n_all()));
        c_.resize(static_cast<std::size_t>(n_own) * n_columns);
        for (int row = 0; row < n_own; ++row) {
            for (int k = 0; k < n_all(); ++k)
                a_[static_cast<std::size_t>(row * n_all() + k)] = a_at(rank_ * n_own + row, k);
        }
        constexpr MPI_Aint size = n_own * n_columns * sizeof(double);
        b_.resize(static_cast<std::size_t>(n_own) * n_columns);
        double* b = b_.data();
        window_ = make_own_window(b, size, sizeof(double), MPI_COMM_WORLD);
        if (window_ == MPI_WIN_NULL)
            MPI_Win_allocate(size, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&b), &window_);
        for (int i = 0; i < n_own * n_columns; ++i) b[i] = b_at(rank_ * n_own + i / n_columns, i % n_columns);
        for (auto& one : buffers_) one.resize(block_size);
        MPI_Barrier(MPI_COMM_WORLD);
        const std::uint64_t begin = ticks();
        for (int block = 0; block < 4; ++block) multiply(buffers_[0].data(), block);
        block_ns_ = static_cast<long>(ns_between(begin, ticks()) / 4);
        MPI_Bcast(&block_ns_, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    }
    product(const product&) = delete;
    product& operator=(const product&) = delete;
    ~product() { MPI_Win_free(&window_); }

    void sample_tasks(int n_buffers, multiplied where, round_samples& out) {
        require(commtask_win_register(window_, MPI_COMM_WORLD), "commtask_win_register");
        const commtask_op together = commtask_op_barrier(MPI_COMM_WORLD);
        commtask_t waited = COMMTASK_NULL;
        require(commtask_post(&together, nullptr, &waited), "commtask_post");
        require(commtask_wait(&waited, nullptr), "commtask_wait");
        std::array<commtask_t, most_buffers> gets{};
        out.push_back(run(
            n_buffers, where,
            [&](int block, int buffer) {
                const commtask_op get =
                    commtask_op_get(buffers_[static_cast<std::size_t>(buffer)].data(), block_size, MPI_DOUBLE,
                                    owner(block), place(block), block_size, MPI_DOUBLE, window_);
                require(commtask_post(&get, nullptr, &gets[static_cast<std::size_t>(buffer)]), "commtask_post");
            },
            [&](int buffer) {
                require(commtask_wait(&gets[static_cast<std::size_t>(buffer)], nullptr), "commtask_wait");
            }));
        require(commtask_win_unregister(window_), "commtask_win_unregister"); // all ranks have ended
        check(where);
    }

    void sample_mpi(int n_buffers, multiplied where, round_samples& out) {
        let_the_worker_sleep();
        MPI_Win_lock_all(0, window_);
        MPI_Barrier(MPI_COMM_WORLD);
        std::array<MPI_Request, most_buffers> gets{};
        out.push_back(run(
            n_buffers, where,
            [&](int block, int buffer) {
                MPI_Rget(buffers_[static_cast<std::size_t>(buffer)].data(), block_size, MPI_DOUBLE, owner(block),
                         place(block), block_size, MPI_DOUBLE, window_, &gets[static_cast<std::size_t>(buffer)]);
            },
            [&](int buffer) { MPI_Wait(&gets[static_cast<std::size_t>(buffer)], MPI_STATUS_IGNORE); }));
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_unlock_all(window_);
        check(where);
    }

private:
    [[nodiscard]] int n_all() const { return n_own * n_ranks_; }
    [[nodiscard]] int n_blocks() const { return n_all() / n_block; }
    [[nodiscard]] static int owner(int block) { return block * n_block / n_own; }
    [[nodiscard]] static MPI_Aint place(int block) {
        return static_cast<MPI_Aint>(block * n_block % n_own) * n_columns;
    }

    /// C += (a column of A's blocks) * (a block of B).
    void multiply(const double* b, int block) {
        for (int row = 0; row < n_own; ++row) {
            double* const c = &c_[static_cast<std::size_t>(row * n_columns)];
            for (int k = 0; k < n_block; ++k) {
                const double a = a_[static_cast<std::size_t>(row * n_all() + block * n_block + k)];
                for (int column = 0; column < n_columns; ++column) c[column] += a * b[k * n_columns + column];
            }
        }
    }

    /// Microseconds of one product. Every rank begins with the next one's blocks, so that nobody is asked by all.
    template <typename Get, typename Wait>
    double run(int n_buffers, multiplied where, Get get, Wait wait) {
        std::fill(c_.begin(), c_.end(), 0);
        const auto block_of = [&](int turn) {
            return ((rank_ + 1) % n_ranks_ * (n_own / n_block) + turn) % n_blocks();
        };
        const std::uint64_t begin = ticks();
        for (int turn = 0; turn < n_buffers; ++turn) get(block_of(turn), turn);
        for (int turn = 0; turn < n_blocks(); ++turn) {
            const int buffer = turn % n_buffers;
            wait(buffer);
            if (where == multiplied::here) {
                multiply(buffers_[static_cast<std::size_t>(buffer)].data(), block_of(turn));
            } else {
                sleep_for(static_cast<double>(block_ns_));
            }
            if (turn + n_buffers < n_blocks()) get(block_of(turn + n_buffers), buffer);
        }
        return ns_between(begin, ticks()) / 1e3;
    }

    void check(multiplied where) const {
        if (where != multiplied::here) return;
        for (const int row : {0, n_own / 2, n_own - 1}) {
            for (int column = 0; column < n_columns; ++column) {
                double exact = 0;
                for (int k = 0; k < n_all(); ++k) exact += a_at(rank_ * n_own + row, k) * b_at(k, column);
                if (c_[static_cast<std::size_t>(row * n_columns + column)] != exact)
                    throw std::runtime_error("the product is wrong");
            }
        }
    }

    int rank_ = 0;
    int n_ranks_ = 1;
    long block_ns_ = 0; ///< To multiply one.
    MPI_Win window_ = MPI_WIN_NULL;
    std::vector<double> a_, b_, c_;
    std::array<std::vector<double>, most_buffers> buffers_;
};

void ask(session& here, const options& given) {
    product of;
    std::vector<side> sides;
    for (const multiplied where : {multiplied::here, multiplied::elsewhere}) {
        const std::string place = where == multiplied::here ? "multiplied here, " : "multiplied elsewhere, ";
        sides.push_back({.name = place + "MPI_Rget, 2 buffers",
                         .unit = "us",
                         .measure = [&of, where](round_samples& out) { of.sample_mpi(2, where, out); }});
        for (const int n : {1, 2, most_buffers}) {
            sides.push_back({.name = place + "tasks, " + std::to_string(n) + (n == 1 ? " buffer" : " buffers"),
                             .unit = "us",
                             .measure = [&of, where, n](round_samples& out) { of.sample_tasks(n, where, out); }});
        }
    }
    const std::vector<series> all = alternate(sides, given.rounds(30));
    if (here.rank() != 0) return;
    report out("matmul", "crowded", here.machine());
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i % 4 == 0) {
            out.add(all[i]);
        } else {
            out.add(all[i], all[i - i % 4]);
        }
    }
    out.publish(given.json_file);
}

} // namespace

int main(int argc, char** argv) {
    return run_benchmark(argc, argv, "Whether a product in blocks waits for the blocks that are got from other ranks.",
                         ask);
}
