// SPDX-License-Identifier: Apache-2.0
// The two methods behind their common face. Six-step is given as many chunks as SOI would choose for the same problem,
// so that the comparison is of methods, not of message sizes.
#include "distributed_fft.hpp"

#include "six_step.hpp"

#include <limits>

namespace soi {

namespace {

template <class Real>
class soi_fft final : public distributed_fft<Real> {
public:
    explicit soi_fft(const transform_options& options) : transform_(options) {}
    void bind(const std::complex<Real>* x, std::complex<Real>* y) override { transform_.bind(x, y); }
    std::vector<tiled::work*> exchanges() override { return {&transform_}; }
    double table_seconds() const override { return transform_.table_seconds(); }

private:
    soi_transform<Real> transform_;
};

template <class Real>
class six_step_fft final : public distributed_fft<Real> {
public:
    explicit six_step_fft(const six_step_options& options) : transform_(options) {}
    void bind(const std::complex<Real>* x, std::complex<Real>* y) override { transform_.bind(x, y); }
    std::vector<tiled::work*> exchanges() override {
        const auto stages = transform_.stages();
        return {stages.begin(), stages.end()};
    }

private:
    six_step<Real> transform_;
};

} // namespace

std::string refusal(method by, const problem& asked) {
    if (by == method::soi) return refusal(asked);
    if (const index_type rows = six_step_rows(asked.n_points, asked.n_ranks); rows != 0) {
        if (std::max(rows, asked.n_points / rows) <= std::numeric_limits<int>::max()) return {};
        return "--n " + std::to_string(asked.n_points) +
               " has a factor longer than FFTW's int; choose an N with two factors of about the same size.";
    }
    index_type unit = asked.n_ranks % 2 == 0 ? asked.n_ranks : 2 * asked.n_ranks;
    unit *= unit;
    const index_type nearest = std::max(unit, (asked.n_points + unit / 2) / unit * unit);
    return "--n " + std::to_string(asked.n_points) +
           " has no two factors that twice the ranks divide; nearest that works: --n " + std::to_string(nearest) + ".";
}

template <class Real>
std::unique_ptr<distributed_fft<Real>> make_fft(method by, const transform_options& o) {
    if (by == method::soi) return std::make_unique<soi_fft<Real>>(o);
    int n_chunks = o.sizes.n_chunks;
    if (n_chunks == 0) {
        constexpr double good_message = 128 << 10;
        const double rank_bytes = sizeof(std::complex<Real>) * static_cast<double>(o.sizes.n_points) / o.sizes.n_ranks;
        n_chunks = 8;
        while (n_chunks > 1 && rank_bytes / o.sizes.n_ranks / o.sizes.n_segments / n_chunks < good_message)
            n_chunks /= 2;
    }
    return std::make_unique<six_step_fft<Real>>(six_step_options{o.sizes.n_points, o.sizes.n_ranks, o.rank,
                                                                 o.sizes.n_segments, n_chunks, o.sizes.n_pieces, o.sign,
                                                                 o.scale, o.effort});
}

template std::unique_ptr<distributed_fft<double>> make_fft(method, const transform_options&);
template std::unique_ptr<distributed_fft<float>> make_fft(method, const transform_options&);

} // namespace soi
