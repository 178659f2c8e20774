// SPDX-License-Identifier: Apache-2.0
// What the distributed transforms need of an FFT on one rank: two kinds of plan, execute, destroy, alignment. FFTW is
// behind it (local_fft_fftw.cpp); another engine needs that file only. Forward is sign -1; nothing is scaled.
#pragma once

#include <complex>
#include <memory>

namespace soi {

/// How hard the engine searches when it plans.
enum class rigor { estimate, measure, patient };

/// Plans are made on one thread; execute() may be called by any number of threads at once, on other arrays than the
/// plan was made for, of the same alignment.
template <class Real>
class local_fft {
public:
    virtual ~local_fft() = default;
    /// `in` is kept only where it is `out`.
    virtual void execute(const std::complex<Real>* in, std::complex<Real>* out) const = 0;
};

/// One transform of `n` points, out of place or in place.
template <class Real>
std::unique_ptr<local_fft<Real>> plan_one(int n, int sign, bool in_place, rigor effort);

/// `count` transforms of `n` points, out of place: point p of transform q is in[q * in_distance + p] and goes to
/// out[p * count + q].
template <class Real>
std::unique_ptr<local_fft<Real>> plan_transposing(int n, int count, int in_distance, int sign, rigor effort);

} // namespace soi
