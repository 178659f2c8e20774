// SPDX-License-Identifier: Apache-2.0
//
// A hybrid program in C++ and OpenMP as users have them: an iterative stencil whose halos the master thread exchanges
// while all threads compute, whose residuals are summed over the ranks, and whose end is decided by them; then the
// same with every thread exchanging its own part under MPI_THREAD_MULTIPLE. The interposed run must give the same bits.
#include <mpi.h>
#include <omp.h>

#include <array>
#include <cmath>
#include <vector>

#include "probe.h"

namespace {

constexpr std::size_t n_rows = 66;
constexpr std::size_t n_columns = 64;

class field {
public:
    field() : values_(n_rows * n_columns) {}
    double& at(std::size_t row, std::size_t column) { return values_[row * n_columns + column]; }
    double* row(std::size_t row) { return &values_[row * n_columns]; }

private:
    std::vector<double> values_;
};

double relax(field& from, field& to, std::size_t first, std::size_t last) {
    double change = 0;
#pragma omp parallel for reduction(max : change)
    for (std::size_t row = first; row < last; ++row) {
        for (std::size_t column = 1; column + 1 < n_columns; ++column) {
            const double value = 0.25 * (from.at(row - 1, column) + from.at(row + 1, column) +
                                         from.at(row, column - 1) + from.at(row, column + 1));
            change = std::fmax(change, std::fabs(value - from.at(row, column)));
            to.at(row, column) = value;
        }
    }
    return change;
}

void start(field& values) {
    for (std::size_t row = 0; row < n_rows; ++row) {
        for (std::size_t column = 0; column < n_columns; ++column) {
            values.at(row, column) = static_cast<double>((row * 37 + column * 11) % 101) + me;
        }
    }
}

void by_the_master() {
    field now;
    field then;
    constexpr int width = static_cast<int>(n_columns);
    start(now);
    start(then);
    double residual = 1;
    int n_turns = 0;
    for (; n_turns < 200 && residual > 0.05; ++n_turns) {
        std::array<MPI_Request, 4> requests{};
        MPI_Irecv(now.row(0), width, MPI_DOUBLE, previous_rank(), 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(now.row(n_rows - 1), width, MPI_DOUBLE, next_rank(), 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(now.row(n_rows - 2), width, MPI_DOUBLE, next_rank(), 1, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(now.row(1), width, MPI_DOUBLE, previous_rank(), 2, MPI_COMM_WORLD, &requests[3]);
        double change = relax(now, then, 2, n_rows - 2);
        MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
        change = std::fmax(change, relax(now, then, 1, 2));
        change = std::fmax(change, relax(now, then, n_rows - 2, n_rows - 1));
        MPI_Allreduce(&change, &residual, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        std::swap(now, then);
    }
    double sum = 0;
    for (std::size_t row = 1; row + 1 < n_rows; ++row) {
        for (std::size_t column = 0; column < n_columns; ++column) {
            sum += now.at(row, column);
        }
    }
    say("master: %d turns, residual %.17g, sum %.17g", n_turns, residual, sum);
}

void by_every_thread() {
    constexpr int n_threads = 3;
    std::array<long, n_threads> got{};
#pragma omp parallel num_threads(n_threads)
    {
        const int thread = omp_get_thread_num();
        for (long turn = 0; turn < 100; ++turn) {
            const long out = me * 1000 + turn * n_threads + thread;
            long in = -1;
            std::array<MPI_Request, 2> requests{};
            MPI_Irecv(&in, 1, MPI_LONG, previous_rank(), thread, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(&out, 1, MPI_LONG, next_rank(), thread, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
            got[static_cast<std::size_t>(thread)] += in;
        }
    }
    say("threads: %ld %ld %ld", got[0], got[1], got[2]);
}

} // namespace

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    probe_start();
    EXPECT(level == MPI_THREAD_MULTIPLE);
    by_the_master();
    by_every_thread();
    MPI_Finalize();
    return probe_result();
}
