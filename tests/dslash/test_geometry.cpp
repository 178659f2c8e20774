// SPDX-License-Identifier: Apache-2.0
// Cutting and refusing lattices, without MPI messages: every site has one place, and every refusal names what works.
// A wrong neighbour here would show as a wrong number elsewhere, where it is hard to find.
#include "layout.hpp"
#include "options.hpp"
#include "reduction.hpp"
#include "stencil.hpp"

#include "common/peak.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

using namespace dslash;
using testing::HasSubstr;

namespace {

TEST(Layout, GivesEverySiteOnePlaceAndFindsItAgain) {
    for (const coordinates& lattice : {coordinates{8, 4, 12, 6}, coordinates{6, 10, 4, 4}, coordinates{16, 8, 4, 4}}) {
        const geometry geom = make_geometry(lattice, {1, 1, 1, 1}, 0, false);
        for (const int n_lanes : {1, 2, 4, 8, 16}) {
            if (!choose_lanes(geom, n_lanes)) continue;
            const layout shape = make_layout(geom, n_lanes, 0, 0, 1);
            std::set<std::tuple<int, int, int>> places;
            coordinates site{};
            for (std::int64_t k = 0; k < geom.local_volume(); ++k) {
                site = miniapp::place_of(static_cast<int>(k), lattice);
                const site_place place = shape.place(site);
                EXPECT_EQ(place.parity, (site[0] + site[1] + site[2] + site[3]) % 2);
                EXPECT_EQ(shape.local_site(place.parity, place.vector_site, place.lane), site);
                places.insert({place.parity, place.vector_site, place.lane});
            }
            EXPECT_EQ(static_cast<std::int64_t>(places.size()), geom.local_volume());
        }
    }
}

TEST(Layout, PutsEverySiteIntoOneTile) {
    const geometry geom = make_geometry({8, 8, 8, 8}, {1, 1, 1, 1}, 0, true);
    const layout shape = make_layout(geom, 8, 2, 2, 2);
    for (const parity_layout& table : shape.parity) {
        std::set<std::int32_t> seen;
        std::size_t n = 0;
        for (const tile& t : table.tiles) {
            seen.insert(t.sites.begin(), t.sites.end());
            n += t.sites.size();
        }
        EXPECT_EQ(n, seen.size());
        EXPECT_EQ(n, static_cast<std::size_t>(shape.n_sites));
    }
}

TEST(Width, IsTheWidestThatTheLocalExtentsHold) {
    const auto widest = [](const coordinates& lattice, precision real) {
        return widest_fit(make_geometry(lattice, {1, 1, 1, 1}, 0, false), real, 64);
    };
    EXPECT_EQ(widest({8, 8, 8, 8}, precision::double_), 64);
    EXPECT_EQ(widest({8, 8, 8, 8}, precision::single), 64);
    EXPECT_EQ(widest({4, 4, 4, 4}, precision::double_), 64);
    EXPECT_EQ(widest({4, 4, 4, 4}, precision::single), 32);
    EXPECT_EQ(widest({4, 4, 6, 4}, precision::double_), 32);
    EXPECT_EQ(widest({4, 6, 6, 4}, precision::double_), 16);
    EXPECT_EQ(widest({6, 6, 6, 8}, precision::double_), 8);
    EXPECT_EQ(widest({6, 6, 6, 8}, precision::single), 4);
}

TEST(Width, IsThatOfTheRegistersByDefault) {
    const geometry geom = make_geometry({8, 8, 8, 8}, {1, 1, 1, 1}, 0, false);
    EXPECT_EQ(make_stencil(geom, {})->width_bytes(), miniapp::vector_register_bytes());
}

TEST(Refusal, NamesTheNearestLatticeThatWorks) {
    EXPECT_EQ(refusal({8, 8, 8, 8}, {1, 1, 1, 2}, 2), "");
    EXPECT_THAT(refusal({7, 8, 8, 8}, {1, 1, 1, 2}, 2), HasSubstr("is odd"));
    EXPECT_THAT(refusal({7, 8, 8, 8}, {1, 1, 1, 2}, 2), HasSubstr("--lattice 8.8.8.8 --grid 1.1.1.2"));
    EXPECT_THAT(refusal({8, 8, 8, 9}, {1, 1, 1, 2}, 2), HasSubstr("cannot be divided"));
    EXPECT_THAT(refusal({8, 8, 8, 4}, {1, 1, 1, 2}, 2), HasSubstr("below 4"));
    EXPECT_THAT(refusal({8, 8, 8, 4}, {1, 1, 1, 2}, 2), HasSubstr("--lattice 8.8.8.8"));
    EXPECT_THAT(refusal({8, 8, 8, 8}, {1, 1, 2, 2}, 2), HasSubstr("--grid 1.1.1.2"));
    EXPECT_THAT(refusal({8, 8, 8, 8}, {1, 1, 2, 2}, 2), HasSubstr("needs 4 ranks"));
}

TEST(Refusal, OffersOnlyLatticesThatAreAccepted) {
    for (const coordinates& grid : {coordinates{1, 1, 1, 1}, coordinates{1, 2, 1, 3}, coordinates{4, 1, 1, 1}}) {
        for (const coordinates& bad : {coordinates{1, 2, 3, 4}, coordinates{13, 7, 9, 31}, coordinates{6, 6, 6, 6}}) {
            EXPECT_EQ(refusal(nearest_lattice(bad, grid), grid, grid[0] * grid[1] * grid[2] * grid[3]), "");
        }
    }
}

parsed_options parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "lqcd_dslash");
    return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(Options, RefuseEachBadValueWithASentence) {
    const std::vector<std::pair<std::vector<const char*>, const char*>> cases{
        {{"--lattice", "8.8.8"}, "--lattice 8.8.8 is not"},
        {{"--lattice", "8.8.8.-8"}, "is not 4 numbers from 1"},
        {{"--grid", "a.b.c.d"}, "--grid a.b.c.d"},
        {{"--precision", "half"}, "choose double|single"},
        {{"--mode", "fast"}, "choose plain|baseline"},
        {{"--check", "maybe"}, "none|golden|full"},
        {{"--threads", "0"}, "--threads"},
        {{"--threads", "many"}, "--threads"},
        {{"--iterations", "0"}, "--iterations"},
        {{"--links", "9"}, "choose 18|12"},
        {{"--width", "wide"}, "--width wide"},
        {{"--tile", "2"}, "--tile 2"},
        {{"--nonsense"}, "--help"},
    };
    for (const auto& [arguments, sentence] : cases) {
        const parsed_options parsed = parse(arguments);
        EXPECT_EQ(parsed.exit_code, 2) << sentence;
        EXPECT_THAT(parsed.message, HasSubstr(sentence));
        EXPECT_EQ(parsed.message.find('\n'), std::string::npos) << "one sentence: " << parsed.message;
    }
}

TEST(Options, RefuseALatticeBeforeAnythingStarts) {
    const auto settled = [](std::vector<const char*> arguments, int n_ranks) {
        parsed_options parsed = parse(std::move(arguments));
        EXPECT_EQ(parsed.message, "");
        return settle(parsed.values, n_ranks);
    };
    EXPECT_EQ(settled({}, 1), "");
    EXPECT_EQ(settled({}, 6), "");
    EXPECT_EQ(settled({"--lattice", "8.8.8.8"}, 4), "");
    EXPECT_THAT(settled({"--lattice", "8.8.8.8"}, 3), HasSubstr("nearest that works"));
    EXPECT_THAT(settled({"--lattice", "6.6.6.6", "--width", "64"}, 1), HasSubstr("the widest that fits is 8"));
    EXPECT_THAT(settled({"--lattice", "8.8.8.8", "--width", "24"}, 1), HasSubstr("choose 64, 32, 16 or 8"));
    EXPECT_THAT(settled({"--lattice", "128.128.128.258"}, 1), HasSubstr("more ranks"));
    EXPECT_THAT(settled({"--grid", "2147483647.1.1.1"}, 1), HasSubstr("nearest that works: --grid 1.1.1.1"));
}

TEST(Options, TellWhatARankAllocates) {
    parsed_options parsed = parse({"--lattice", "8.8.8.8", "--iterations", "1"});
    ASSERT_EQ(settle(parsed.values, 1), "");
    const double links_and_fields = 4096.0 * 8 * (8 * 18 + 5 * 24);
    EXPECT_GE(memory(parsed.values).bytes, links_and_fields);
    EXPECT_LE(memory(parsed.values).bytes, 1.1 * links_and_fields);
}

TEST(Product, OfLargeExtentsIsTheLargestNumber) {
    EXPECT_EQ(saturating_product({1 << 15, 1 << 15, 1 << 15, 1 << 15}), std::int64_t{1} << 60);
    EXPECT_EQ(saturating_product({1 << 16, 1 << 16, 1 << 16, 1 << 16}), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(saturating_product({1 << 30, 1 << 30, 1 << 30, 1 << 30}), std::numeric_limits<std::int64_t>::max());
}

TEST(FixedSum, DoesNotDependOnOrder) {
    fixed_sum forward;
    fixed_sum backward;
    for (int k = 0; k < 1000; ++k) {
        forward.add(uniform(static_cast<std::uint64_t>(k)) * 1e4);
        backward.add(uniform(static_cast<std::uint64_t>(999 - k)) * 1e4);
    }
    EXPECT_EQ(forward.value(), backward.value());
    fixed_sum small;
    small.add(-0x1p-75);
    small.add(3.25);
    EXPECT_EQ(small.value(), 3.25 - 0x1p-75);
    fixed_sum too_large;
    too_large.add(1e300);
    EXPECT_TRUE(std::isnan(too_large.value()));
}

} // namespace
