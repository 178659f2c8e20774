// SPDX-License-Identifier: Apache-2.0
// Both methods under one face: plan, bind arrays, run under a schedule, say what was promised and what must be sent.
// The driver, the tests and the benchmark need not know how many exchanges a method has.
#pragma once

#include "aligned.hpp"
#include "exchange/schedule.hpp"
#include "local_fft.hpp"
#include "shape.hpp"

namespace soi {

enum class method { soi, six_step };

struct transform_options {
    problem sizes;
    int rank = 0;
    int n_workers = 1; ///< Threads that may call produce() and consume() at once.
    int sign = -1;     ///< -1 forward, +1 inverse.
    double scale = 1;  ///< Of the result; 1 / N makes the inverse undo the forward transform.
    rigor effort = rigor::measure;
};

template <class Real>
class distributed_fft {
public:
    virtual ~distributed_fft() = default;
    /// N / P points in natural order each; `y` may be `x`.
    virtual void bind(const std::complex<Real>* x, std::complex<Real>* y) = 0;
    /// In the order of a transform; each is run once.
    virtual std::vector<tiled::work*> exchanges() = 0;
    /// Seconds that the tables took; FFTW's planning is not in it.
    virtual double table_seconds() const { return 0; }

    /// One transform. Collective.
    tiled::phase_times run(tiled::schedule& under) {
        tiled::phase_times all;
        for (tiled::work* const one : exchanges()) all += under.run(*one);
        return all;
    }
    /// What one rank must hand to MPI for one transform, by the formulas.
    tiled::traffic expected_traffic() {
        tiled::traffic all;
        for (tiled::work* const one : exchanges()) {
            all += tiled::expected_traffic(one->sizes(), one->neighbour().size_bytes);
        }
        return all;
    }
    double message_seconds(MPI_Comm comm) {
        double all = 0;
        for (tiled::work* const one : exchanges()) all += tiled::measure_messages(*one, comm);
        return all;
    }
};

/// Why this method cannot do this problem, with what can; empty when it can.
std::string refusal(method by, const problem& asked);

/// `options.sizes` must have passed refusal(); six_step ignores the window.
template <class Real>
std::unique_ptr<distributed_fft<Real>> make_fft(method by, const transform_options& options);

} // namespace soi
