// SPDX-License-Identifier: Apache-2.0
// FFTW behind local_fft.hpp. FFTW's functions for the two precisions differ by a prefix only; `api` gives them one name.
// Plans are made on scratch arrays, since planning overwrites them, and run by the new-array functions.
#include "aligned.hpp"
#include "local_fft.hpp"

#include <fftw3.h>

#include <algorithm>
#include <stdexcept>

namespace soi {

namespace {

template <class Real>
struct api;

template <>
struct api<double> {
    using plan = fftw_plan;
    using complex = fftw_complex;
    static constexpr auto many = fftw_plan_many_dft;
    static constexpr auto execute = fftw_execute_dft;
    static constexpr auto destroy = fftw_destroy_plan;
};

template <>
struct api<float> {
    using plan = fftwf_plan;
    using complex = fftwf_complex;
    static constexpr auto many = fftwf_plan_many_dft;
    static constexpr auto execute = fftwf_execute_dft;
    static constexpr auto destroy = fftwf_destroy_plan;
};

unsigned flags_of(rigor effort) {
    switch (effort) {
    case rigor::estimate: return FFTW_ESTIMATE;
    case rigor::patient: return FFTW_PATIENT;
    case rigor::measure: break;
    }
    return FFTW_MEASURE;
}

template <class Real>
class fftw_engine final : public local_fft<Real> {
    using complex = typename api<Real>::complex;

public:
    struct layout {
        int n;
        int count;
        int in_stride;
        int in_distance;
        int out_stride;
        int out_distance;
    };

    fftw_engine(const layout& of, int sign, bool in_place, rigor effort) {
        const auto extent = [&](int stride, int distance) {
            return static_cast<std::size_t>(of.n - 1) * static_cast<std::size_t>(stride) +
                   static_cast<std::size_t>(of.count - 1) * static_cast<std::size_t>(distance) + 1;
        };
        aligned_array<std::complex<Real>> in(extent(of.in_stride, of.in_distance));
        aligned_array<std::complex<Real>> out(in_place ? 0 : extent(of.out_stride, of.out_distance));
        std::ranges::fill(in, std::complex<Real>{});
        std::ranges::fill(out, std::complex<Real>{});
        auto* const from = reinterpret_cast<complex*>(in.data());
        auto* const to = in_place ? from : reinterpret_cast<complex*>(out.data());
        plan_ = api<Real>::many(1, &of.n, of.count, from, nullptr, of.in_stride, of.in_distance, to, nullptr,
                                of.out_stride, of.out_distance, sign, flags_of(effort));
        if (plan_ == nullptr) throw std::runtime_error("FFTW gave no plan for " + std::to_string(of.n) + " points");
    }
    ~fftw_engine() override { api<Real>::destroy(plan_); }
    fftw_engine(const fftw_engine&) = delete;
    fftw_engine& operator=(const fftw_engine&) = delete;

    void execute(const std::complex<Real>* in, std::complex<Real>* out) const override {
        // FFTW takes the input as writable; complex transforms without FFTW_DESTROY_INPUT leave it alone.
        api<Real>::execute(plan_, reinterpret_cast<complex*>(const_cast<std::complex<Real>*>(in)),
                           reinterpret_cast<complex*>(out));
    }

private:
    typename api<Real>::plan plan_;
};

} // namespace

template <class Real>
std::unique_ptr<local_fft<Real>> plan_one(int n, int sign, bool in_place, rigor effort) {
    return std::make_unique<fftw_engine<Real>>(typename fftw_engine<Real>::layout{n, 1, 1, n, 1, n}, sign, in_place,
                                               effort);
}

template <class Real>
std::unique_ptr<local_fft<Real>> plan_transposing(int n, int count, int in_distance, int sign, rigor effort) {
    return std::make_unique<fftw_engine<Real>>(typename fftw_engine<Real>::layout{n, count, 1, in_distance, count, 1},
                                               sign, false, effort);
}

template std::unique_ptr<local_fft<double>> plan_one(int, int, bool, rigor);
template std::unique_ptr<local_fft<float>> plan_one(int, int, bool, rigor);
template std::unique_ptr<local_fft<double>> plan_transposing(int, int, int, int, rigor);
template std::unique_ptr<local_fft<float>> plan_transposing(int, int, int, int, rigor);

} // namespace soi
