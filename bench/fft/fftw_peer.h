// SPDX-License-Identifier: Apache-2.0
//
// FFTW-MPI and serial FFTW as sides of the comparison: in place, planned by measuring, natural order. Measuring ends after a time limit, with the
// best plan so far: on a busy machine it would take ten minutes at N = 2^24. All ranks stop at the same moment.
#pragma once

#include "aligned.hpp"

#include <fftw3.h>
#include <mpi.h>

#include <algorithm>
#include <complex>
#include <cstdint>

namespace commtask::bench {

/// Of each plan.
inline constexpr double planning_limit_s = 150;

class fftw_mpi_peer {
public:
    /// Once, after MPI has started and before wisdom is read.
    static void start();

    fftw_mpi_peer(std::int64_t n, MPI_Comm comm);
    ~fftw_mpi_peer() { fftw_destroy_plan(plan_); }
    fftw_mpi_peer(const fftw_mpi_peer&) = delete;
    fftw_mpi_peer& operator=(const fftw_mpi_peer&) = delete;

    void fill(const soi::aligned_array<std::complex<double>>& x) {
        std::copy_n(x.data(), std::min(own_, x.size()), array_.data());
    }
    void run() { fftw_execute(plan_); }

private:
    soi::aligned_array<std::complex<double>> array_;
    std::size_t own_ = 0;
    fftw_plan plan_ = nullptr;
};

class fftw_serial_peer {
public:
    explicit fftw_serial_peer(std::int64_t n) : in_(static_cast<std::size_t>(n)) {
        auto* const data = reinterpret_cast<fftw_complex*>(in_.data());
        plan_ = fftw_plan_dft_1d(static_cast<int>(n), data, data, FFTW_FORWARD, FFTW_MEASURE);
        std::fill(in_.begin(), in_.end(), std::complex<double>{});
    }
    ~fftw_serial_peer() { fftw_destroy_plan(plan_); }
    fftw_serial_peer(const fftw_serial_peer&) = delete;
    fftw_serial_peer& operator=(const fftw_serial_peer&) = delete;
    void run() { fftw_execute(plan_); }

private:
    soi::aligned_array<std::complex<double>> in_;
    fftw_plan plan_;
};

} // namespace commtask::bench
