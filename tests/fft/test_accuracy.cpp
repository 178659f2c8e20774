// SPDX-License-Identifier: Apache-2.0
// The transform against FFTW in long double: every preset, many sizes, ranks and segments, both directions, both
// precisions. A wrong index or a lost digit in a table shows here as an error far above the preset's promise.
#include "presets.hpp"
#include "virtual_ranks.hpp"

#include <gtest/gtest.h>

using namespace soi;
using namespace soi::test;

namespace {

transform_options options_of(index_type n_points, int n_ranks, int n_segments, const char* name = "full",
                             int sign = -1) {
    transform_options options;
    options.sizes = {n_points, n_ranks, n_segments, 0, 1, find_preset(name)->window};
    options.sign = sign;
    return options;
}

template <class Real>
errors errors_of(const transform_options& options) {
    const auto x = random_input<Real>(options.sizes.n_points);
    virtual_soi<Real> soi(options);
    return compare(soi.transform(x), reference_transform(widened(x), options.sign));
}

struct size_case {
    index_type n_points;
    int n_ranks;
    int n_segments;
};

class Sizes : public testing::TestWithParam<size_case> {};

TEST_P(Sizes, FullIsAsExactAsPromisedInBothDirections) {
    const auto [n_points, n_ranks, n_segments] = GetParam();
    for (const int sign : {-1, 1}) {
        const transform_options options = options_of(n_points, n_ranks, n_segments, "full", sign);
        ASSERT_EQ(refusal(options.sizes), "");
        const errors e = errors_of<double>(options);
        EXPECT_LE(e.l2, 2e-15);
        EXPECT_LE(e.max, 2e-14);
    }
}

// The last of the first row has as many rows as the window (L = B); S = 2; P and k that are no powers of two; sizes
// whose segments are odd multiples.
INSTANTIATE_TEST_SUITE_P(All, Sizes,
                         testing::Values(size_case{1 << 12, 1, 2}, size_case{1 << 12, 1, 4}, size_case{1 << 12, 1, 16},
                                         size_case{1 << 12, 2, 4}, size_case{1 << 14, 2, 1}, size_case{1 << 14, 4, 4},
                                         size_case{1 << 16, 2, 8}, size_case{1 << 16, 8, 4}, size_case{1 << 18, 4, 4},
                                         size_case{1 << 18, 8, 8}, size_case{1 << 18, 16, 8}, size_case{1 << 20, 2, 8},
                                         size_case{1 << 20, 16, 16}, size_case{1 << 22, 8, 16}, size_case{36864, 16, 4},
                                         size_case{36864, 3, 4}, size_case{36864, 4, 3}, size_case{62720, 7, 4},
                                         size_case{62720, 7, 8}, size_case{76800, 5, 3}, size_case{76800, 4, 15},
                                         size_case{294912, 3, 8}, size_case{430080, 4, 7}, size_case{430080, 2, 15}),
                         [](const auto& instance) {
                             return "n" + std::to_string(instance.param.n_points) + "_p" +
                                    std::to_string(instance.param.n_ranks) + "_k" +
                                    std::to_string(instance.param.n_segments);
                         });

class Presets : public testing::TestWithParam<int> {};

TEST_P(Presets, KeepTheirPromise) {
    const preset& p = presets()[static_cast<std::size_t>(GetParam())];
    for (const int sign : {-1, 1}) {
        const transform_options options = options_of(1 << 18, 4, p.window.d == 8 ? 2 : 4, p.name.data(), sign);
        ASSERT_EQ(refusal(options.sizes), "");
        const errors e = p.made_for == precision::double_ ? errors_of<double>(options) : errors_of<float>(options);
        RecordProperty("l2", std::to_string(e.l2 * 1e16));
        EXPECT_LE(e.l2, allowed_error(&p, assess(p.window), p.made_for)) << p.name;
        EXPECT_LE(e.l2, 2 * p.promised) << p.name;
        // A promise that is much too timid would hide a fault.
        EXPECT_GE(e.l2, 0.3 * p.promised) << p.name;
    }
}

INSTANTIATE_TEST_SUITE_P(All, Presets, testing::Range(0, static_cast<int>(presets().size())), [](const auto& instance) {
    return std::string(presets()[static_cast<std::size_t>(instance.param)].name);
});

TEST(Accuracy, DoublePresetsOfLowKappaServeSinglePrecision) {
    for (const char* name : {"full", "d7", "fat", "thin"}) {
        const errors e = errors_of<float>(options_of(1 << 16, 2, 4, name));
        const preset* p = find_preset(name);
        EXPECT_LE(e.l2, allowed_error(p, assess(p->window), precision::single)) << name;
    }
}

TEST(Accuracy, IsPredictedFromTheWindowAlone) {
    for (const char* name : {"full", "d14", "d12", "d7", "fat", "gauss72"}) {
        const transform_options options = options_of(1 << 16, 2, 4, name);
        const double found = errors_of<double>(options).l2;
        const double predicted = assess(options.sizes.window).predicted(epsilon(precision::double_));
        EXPECT_LE(found, 3 * predicted) << name;
        EXPECT_GE(found, predicted / 8) << name;
    }
}

TEST(Accuracy, TheWorstToneInAnotherSegmentIsNoWorseThanTheWindowSays) {
    const transform_options options = options_of(1 << 14, 2, 4, "d7");
    const window_quality quality = assess(options.sizes.window);
    EXPECT_NEAR(quality.kappa, 19, 2);
    EXPECT_LT(quality.alias_rms, quality.alias_max);
}

} // namespace
