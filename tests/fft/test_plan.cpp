// SPDX-License-Identifier: Apache-2.0
// A plan as an object: the bits do not depend on chunks or pieces, a plan serves many times and in place, arrays and
// sizes that cannot work are refused before anything is allocated, with something that works.
#include "distributed_fft.hpp"
#include "presets.hpp"
#include "six_step.hpp"
#include "virtual_ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

using namespace soi;
using namespace soi::test;

namespace {

using complex = std::complex<double>;

transform_options options_of(index_type n_points, int n_ranks, int n_segments, int n_chunks = 0, int n_pieces = 1) {
    transform_options options;
    options.sizes = {n_points, n_ranks, n_segments, n_chunks, n_pieces, find_preset("full")->window};
    return options;
}

bool same_bits(const std::vector<complex>& a, const std::vector<complex>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(complex)) == 0;
}

TEST(Plan, GivesTheSameBitsForEveryNumberOfChunksAndPieces) {
    constexpr index_type n = 1 << 18;
    const auto x = random_input<double>(n);
    const auto right = virtual_soi<double>(options_of(n, 2, 4, 1)).transform(x);
    // Three and seven do not divide the number of tiles; a thousand are more than there are.
    for (const int chunks : {2, 3, 7, 8, 1000}) {
        for (const int pieces : {1, 2, 5}) {
            virtual_soi<double> soi(options_of(n, 2, 4, chunks, pieces));
            EXPECT_TRUE(same_bits(soi.transform(x), right)) << chunks << " chunks, " << pieces << " pieces";
            EXPECT_LE(soi.sizes().n_chunks(), soi.sizes().n_tiles);
        }
    }
}

TEST(Plan, ServesAHundredTimesOutOfPlaceAndInPlace) {
    constexpr index_type n = 1 << 13;
    const auto x = random_input<double>(n);
    virtual_soi<double> soi(options_of(n, 2, 2));
    const auto right = soi.transform(x);
    for (int round = 0; round < 100; ++round) {
        auto y = x;
        soi.transform(y, y);
        ASSERT_TRUE(same_bits(y, right)) << "in place, round " << round;
    }
    EXPECT_TRUE(same_bits(soi.transform(x), right));
}

TEST(Plan, TwoPlansDoNotDisturbEachOther) {
    const auto a = random_input<double>(1 << 13, 1);
    const auto b = random_input<double>(1 << 14, 2);
    virtual_soi<double> first(options_of(1 << 13, 2, 2));
    const auto right = first.transform(a);
    virtual_soi<double> second(options_of(1 << 14, 4, 2));
    static_cast<void>(second.transform(b));
    EXPECT_TRUE(same_bits(first.transform(a), right));
}

TEST(Plan, OneNaNBecomesNaNInEveryBin) {
    auto x = random_input<double>(1 << 12);
    x[100] = std::numeric_limits<double>::quiet_NaN();
    for (const complex& c : virtual_soi<double>(options_of(1 << 12, 1, 4)).transform(x)) {
        ASSERT_TRUE(std::isnan(c.real()) && std::isnan(c.imag()));
    }
}

TEST(Plan, RefusesArraysThatCannotBeMeant) {
    soi_transform<double> soi([] {
        transform_options options = options_of(1 << 12, 1, 4);
        options.effort = rigor::estimate;
        return options;
    }());
    std::vector<complex> x(1 << 13);
    EXPECT_THROW(soi.bind(nullptr, x.data()), std::invalid_argument);
    EXPECT_THROW(soi.bind(x.data(), nullptr), std::invalid_argument);
    EXPECT_THROW(soi.bind(x.data(), x.data() + 1), std::invalid_argument);
    EXPECT_THROW(soi.bind(x.data() + 4000, x.data()), std::invalid_argument);
    const auto* odd = reinterpret_cast<const complex*>(reinterpret_cast<const char*>(x.data()) + 1);
    EXPECT_THROW(soi.bind(odd, x.data()), std::invalid_argument);
    EXPECT_NO_THROW(soi.bind(x.data(), x.data()));
    EXPECT_NO_THROW(soi.bind(x.data(), x.data() + (1 << 12)));
    EXPECT_THROW(soi_transform<double>(options_of(1000, 2, 8)), std::invalid_argument);
}

TEST(Plan, TablesOfALargePlanAreQuick) {
    // What is allocated is in proportion to the input: no table has N entries.
    const shape s = make_shape(options_of(1 << 24, 2, 8).sizes, sizeof(complex));
    const double v = 16.0 * (1 << 23);
    EXPECT_LT(memory_bytes(s, sizeof(complex), false), 4.5 * v);
    EXPECT_LT(memory_bytes(s, sizeof(complex), true), 3.5 * v);
}

struct refused {
    problem asked;
    const char* sentence;
};

class Refusals : public testing::TestWithParam<refused> {};

TEST_P(Refusals, SayWhatWouldWork) { EXPECT_THAT(refusal(GetParam().asked), testing::HasSubstr(GetParam().sentence)); }

const window_parameters full{};
window_parameters with(int n, int d, int width = 36, double tau = 0.9, double b = 34) {
    return {n, d, width, window_family::kaiser_bessel, tau, b};
}

INSTANTIATE_TEST_SUITE_P(All, Refusals,
                         testing::Values(refused{{0, 2, 8, 0, 1, full}, "the least that works here is 1152"},
                                         refused{{-5, 2, 8, 0, 1, full}, "--n must be between"},
                                         refused{{index_type{1} << 59, 2, 8, 0, 1, full}, "--n must be between"},
                                         refused{{1 << 20, 2, 0, 0, 1, full}, "choose 8"},
                                         refused{{1 << 20, 1, 1, 0, 1, full}, "choose --segments 2"},
                                         refused{{1000000, 2, 8, 0, 1, full}, "nearest that works: --n 1000064"},
                                         refused{{1000000, 2, 12, 0, 1, full}, "or --segments 10"},
                                         refused{{1024, 2, 8, 0, 1, full}, "the least that works: --n 1152"},
                                         refused{{1 << 20, 3, 8, 0, 1, full}, "nearest that works"},
                                         refused{{1 << 20, 2, 8, -1, 1, full}, "choose 8"},
                                         refused{{1 << 20, 2, 8, 0, 1, with(4, 4)}, "5/4"},
                                         refused{{1 << 20, 2, 8, 0, 1, with(4, 5)}, "5/4"},
                                         refused{{1 << 20, 2, 8, 0, 1, with(4, 3)}, "odd d"},
                                         refused{{1 << 20, 2, 8, 0, 1, with(5, 4, 1)}, "choose 36"},
                                         refused{{1 << 20, 2, 8, 0, 1, with(5, 4, 36, 1.4)}, "near 0.9"},
                                         refused{{1 << 20, 2, 8, 0, 1, with(5, 4, 36, std::nan(""))}, "near 0.9"},
                                         refused{{1 << 20, 2, 8, 0, 1, with(5, 4, 36, 0.9, -1)}, "near 34"},
                                         refused{{1 << 20, 2, 8, 0, 1, with(5, 4, 36, 0.9, std::nan(""))}, "near 34"}));

TEST(RefusedSizes, NameSizesThatWork) {
    for (const index_type n : {1, 999, 12345, 1000000, 1234567}) {
        for (const int ranks : {1, 2, 3, 5, 8}) {
            for (const int segments : {2, 3, 8}) {
                const problem asked{n, ranks, segments, 0, 1, full};
                const std::string no = refusal(asked);
                if (no.empty()) continue;
                const std::size_t at = no.find("works: --n ");
                ASSERT_NE(at, std::string::npos) << no;
                problem instead = asked;
                instead.n_points = std::stoll(no.substr(at + 11));
                EXPECT_EQ(refusal(instead), "") << no;
                if (const std::size_t or_k = no.find("or --segments "); or_k != std::string::npos) {
                    problem other = asked;
                    other.n_segments = std::stoi(no.substr(or_k + 14));
                    EXPECT_EQ(refusal(other), "") << no;
                }
            }
        }
    }
}

TEST(SixStep, IsAnOrdinaryFftOnAnyNumberOfRanks) {
    struct size_case {
        index_type n_points;
        int n_ranks;
        int n_chunks;
    };
    for (const auto& [n, n_ranks, n_chunks] :
         {size_case{1 << 12, 1, 1}, size_case{1 << 14, 2, 3}, size_case{36864, 3, 2}, size_case{1 << 16, 8, 8},
          size_case{76800, 5, 100}, size_case{1 << 17, 4, 4}}) {
        for (const int sign : {-1, 1}) {
            ASSERT_EQ(refusal(method::six_step, {n, n_ranks, 8, 0, 1, {}}), "");
            std::vector<std::unique_ptr<six_step<double>>> ranks;
            const auto x = random_input<double>(n);
            std::vector<complex> y(x.size());
            const std::size_t own = x.size() / static_cast<std::size_t>(n_ranks);
            for (int rank = 0; rank < n_ranks; ++rank) {
                ranks.push_back(std::make_unique<six_step<double>>(
                    transform_options{{n, n_ranks, 8, n_chunks, 2, {}}, rank, 1, sign, 1, rigor::estimate}));
                ranks.back()->bind(x.data() + static_cast<std::size_t>(rank) * own,
                                   y.data() + static_cast<std::size_t>(rank) * own);
            }
            for (std::size_t stage = 0; stage < 3; ++stage) {
                std::vector<tiled::work*> all;
                for (const auto& rank : ranks) all.push_back(rank->exchanges()[stage]);
                run_together(all);
            }
            EXPECT_LT(compare(y, reference_transform(widened(x), sign)).l2, 2e-15) << n << " on " << n_ranks;
        }
    }
    EXPECT_THAT(refusal(method::six_step, {1001, 2, 8, 0, 1, {}}), testing::HasSubstr("nearest that works: --n 1000"));
}

} // namespace
