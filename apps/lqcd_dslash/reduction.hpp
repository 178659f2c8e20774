// SPDX-License-Identifier: Apache-2.0
// Sums over the whole lattice that come out equal bit by bit however the lattice is cut into ranks, lanes and threads.
// Each term is rounded once to a 128-bit fixed-point number; integer addition has no order. The price is the range:
// 2^-75 is the last bit, and a sum beyond 2^51 is reported as not a number.
#pragma once

#include <complex>
#include <mpi.h>
#include <vector>

namespace dslash {

/// 128 bits, which GCC and clang have and ISO C++ does not.
__extension__ typedef unsigned __int128 wide_unsigned;
__extension__ typedef __int128 wide_signed;

class fixed_sum {
public:
    void add(double term);
    void add(const fixed_sum& other) {
        bits_ += other.bits_;
        overflow_ = overflow_ || other.overflow_;
    }
    /// NaN when a term or the sum did not fit.
    double value() const;

private:
    friend std::vector<double> reduce(const std::vector<fixed_sum>& local, MPI_Comm comm);
    wide_unsigned bits_ = 0;
    bool overflow_ = false;
};

/// The sums over all ranks of `comm`; collective.
std::vector<double> reduce(const std::vector<fixed_sum>& local, MPI_Comm comm);

} // namespace dslash
