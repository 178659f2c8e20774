// SPDX-License-Identifier: Apache-2.0
// NAS Parallel Benchmark FT, from its public specification (RNR-94-007): random points, their evolution by the heat equation in
// the spectrum, and the published checksums of classes S, W and A, which no code of this project has made.
#pragma once

#include "transform.hpp"

namespace fft3d::npb {

struct problem {
    const char* name;
    extents points;
    std::array<complex, 6> checksums; ///< Of the iterations.
};
std::span<const problem> problems();

/// The line along x at y and z of the whole: a part of one sequence of random numbers for any number of ranks.
void make_line(const extents& points, int y, int z, complex* to);

/// A filter: the spectrum after one iteration more than `turn`.
class evolution {
public:
    evolution(const extents& points, int n_iterations);
    void operator()(const spectrum_line& line) const;

private:
    extents points_;
    std::array<std::vector<double>, 3> factors_; ///< Of each axis, for all iterations.
};

/// This rank's part of the checksum.
complex checksum(const extents& points, transform& of);

} // namespace fft3d::npb
