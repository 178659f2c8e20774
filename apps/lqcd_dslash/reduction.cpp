// SPDX-License-Identifier: Apache-2.0
// The 128-bit sums travel as four 32-bit limbs in 64-bit integers, which MPI_SUM adds exactly for up to 2^31 ranks.
// Sums of integers do not depend on their order, which is what makes the result the same for every grid.
#include "reduction.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace dslash {

namespace {

constexpr int fraction_bits = 75;
constexpr double largest = 0x1p51;

} // namespace

void fixed_sum::add(double term) {
    if (!(std::abs(term) < largest)) {
        overflow_ = true;
        return;
    }
    // Two exact pieces: the part above 2^-22, and the rest.
    const double high = std::nearbyint(term * 0x1p22);
    const double low = std::nearbyint((term - high * 0x1p-22) * 0x1p75);
    bits_ += static_cast<wide_unsigned>(static_cast<wide_signed>(high)) << (fraction_bits - 22);
    bits_ += static_cast<wide_unsigned>(static_cast<wide_signed>(low));
}

double fixed_sum::value() const {
    if (overflow_) return std::numeric_limits<double>::quiet_NaN();
    return std::ldexp(static_cast<double>(static_cast<wide_signed>(bits_)), -fraction_bits);
}

std::vector<double> reduce(const std::vector<fixed_sum>& local, MPI_Comm comm) {
    constexpr std::size_t words = 5; // four limbs and the overflow count
    std::vector<std::uint64_t> limbs(local.size() * words);
    for (std::size_t k = 0; k < local.size(); ++k) {
        for (std::size_t w = 0; w < 4; ++w) {
            limbs[k * words + w] = static_cast<std::uint32_t>(local[k].bits_ >> (32 * w));
        }
        limbs[k * words + 4] = local[k].overflow_ ? 1 : 0;
    }
    MPI_Allreduce(MPI_IN_PLACE, limbs.data(), static_cast<int>(limbs.size()), MPI_UINT64_T, MPI_SUM, comm);
    std::vector<double> sums(local.size());
    for (std::size_t k = 0; k < local.size(); ++k) {
        fixed_sum total;
        for (std::size_t w = 0; w < 4; ++w) {
            total.bits_ += static_cast<wide_unsigned>(limbs[k * words + w]) << (32 * w);
        }
        total.overflow_ = limbs[k * words + 4] != 0;
        sums[k] = total.value();
    }
    return sums;
}

} // namespace dslash
