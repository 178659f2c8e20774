// SPDX-License-Identifier: Apache-2.0
//
// Question: what does an exchange cost that comes again and again, and who pays? Two to eight ranks: the exchange of lattice QCD
// with 2^4, 4^4 and 8^4 sites per rank in eight directions, alone and behind a timed sleep; 16 bytes to 1, 4 and 16 destinations;
// an alltoallv in which each rank has something for one other, of 8 bytes to 64 KiB, which commtask_op_many_to_many does too. In the ways of exchange.h, for each the time until
// the poster can go on, and the time to the last arrival on any rank. And of a buffer that is filled part by part (in_parts.h).
// Goals: of the smallest lattice a plan under OpenMP costs at most 1/1.9 of a task for each message; of all lattices a plan, and one under
// OpenMP, at most 1.05 of MPI_Startall.
#include "harness/alternate.h"
#include "harness/report.h"
#include "harness/session.h"
#include "patterns/exchange.h"
#include "patterns/in_parts.h"

#include <string>
#include <vector>

namespace {

using namespace commtask::bench;

/// Faces of half spinors in double precision to both neighbours of four dimensions.
std::vector<message> faces(place here, int sites) {
    constexpr int bytes_per_site = 96;
    const int bytes = sites * sites * sites * bytes_per_site;
    std::vector<message> all;
    for (const bool is_received : {true, false}) {
        for (int d = 0; d < 8; ++d) {
            const int step = (d % 2 == 0 ? 1 : -1) * (1 << (d / 2 % 3));
            all.push_back({is_received, here.at(is_received ? -step : step), d, bytes});
        }
    }
    return all;
}

/// From rank 0 to ever more others, in turn.
std::vector<message> scattered(place here, int n_destinations) {
    std::vector<message> all;
    for (int i = 0; i < n_destinations; ++i) {
        const int to = here.n_ranks == 1 ? 0 : 1 + i % (here.n_ranks - 1);
        if (here.rank == to) all.push_back({true, 0, 100 + i, 16});
        if (here.rank == 0) all.push_back({false, to, 100 + i, 16});
    }
    return all;
}

/// What came out for one pattern and way.
struct figures {
    series poster;
    series whole;
};

/// All ways in turn; who begins moves on from round to round.
std::vector<figures> measure(exchange& what, std::size_t n_rounds, int n_samples) {
    std::vector<figures> all;
    for (const char* const by : names_of_ways) {
        all.push_back(
            {{what.name() + ", " + by + ", poster", "us", {}}, {what.name() + ", " + by + ", all", "us", {}}});
    }
    for (std::size_t round = 0; round <= n_rounds; ++round) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::size_t which = (round + i) % all.size();
            if (!what.has(static_cast<way>(which))) continue;
            round_samples poster;
            round_samples whole;
            for (int k = -2; k < n_samples; ++k) {
                const auto [its_poster, its_whole] = what.run(static_cast<way>(which));
                if (k < 0) continue;
                poster.push_back(its_poster);
                whole.push_back(its_whole);
            }
            if (round == 0) continue; // to warm up
            all[which].poster.rounds.push_back(std::move(poster));
            all[which].whole.rounds.push_back(std::move(whole));
        }
    }
    return all;
}

/// Upper bounds on ratios, where a pattern has some.
struct bounds {
    std::vector<goal> beside_startall{};
    std::vector<goal> beside_tasks{};
};

std::vector<goal> at_most(double limit) {
    return {{.of = goal::field::ratio, .kind = goal::bound::at_most, .limit = limit}};
}

/// The rows of one pattern, each way beside its posts, what OpenMP starts beside OpenMP's tasks, and plans beside MPI_Startall.
void add_rows(report& out, const std::vector<figures>& all, const bounds& goals) {
    const auto of = [&](way by) -> const figures& { return all[static_cast<std::size_t>(by)]; };
    for (const way by : {way::posts, way::mpi, way::startall, way::plan, way::many_to_many}) {
        if (of(by).whole.rounds.empty()) continue;
        if (by == way::posts) {
            out.add(of(by).poster);
            out.add(of(by).whole);
        } else {
            out.add(of(by).poster, of(way::posts).poster);
            out.add(of(by).whole, of(way::posts).whole);
        }
    }
    const auto add_beside_startall = [&](way by) {
        series again = of(by).whole;
        again.name += ", beside MPI_Startall";
        out.add(again, of(way::startall).whole, goals.beside_startall);
    };
    add_beside_startall(way::plan);
    out.add(of(way::omp_tasks).poster);
    out.add(of(way::omp_tasks).whole);
    out.add(of(way::omp_plan).poster, of(way::omp_tasks).poster);
    out.add(of(way::omp_plan).whole, of(way::omp_tasks).whole, goals.beside_tasks);
    add_beside_startall(way::omp_plan);
}

void ask(session& here, const options& given) {
    constexpr std::int64_t sleep_ns = 200'000;
    place at{here.rank(), 1};
    MPI_Comm_size(MPI_COMM_WORLD, &at.n_ranks);
    const bool are_more = at.n_ranks != 2;
    report out("patterns", are_more ? "crowded, " + std::to_string(at.n_ranks) + " ranks" : "crowded", here.machine());
    // Ranks that share a core wait for each other's turns on it, for minutes with more.
    const std::size_t n_rounds = given.rounds(are_more ? 5 : 30);
    const int n_samples = given.is_quick ? 2 : are_more ? 4 : 10;
    const auto sample = [&](exchange&& what, const bounds& goals = {}) {
        add_rows(out, measure(what, n_rounds, n_samples), goals);
    };
    for (const int sites : {2, 4, 8}) {
        const std::string name = "QCD " + std::to_string(sites) + "^4";
        sample({name, at, faces(at, sites)}, {at_most(1.05), sites == 2 ? at_most(1 / 1.9) : std::vector<goal>{}});
        sample({name + " behind 200 us", at, faces(at, sites), sleep_ns}, {at_most(1.05)});
    }
    for (const int n_destinations : {1, 4, 16}) {
        sample({"16 B to " + std::to_string(n_destinations), at, scattered(at, n_destinations)});
    }
    for (const int bytes : {8, 512, 4096, 64 << 10}) {
        exchange sparse{
            "alltoallv of " + bytes_text(bytes), at, {{true, at.at(-1), 200, bytes}, {false, at.at(1), 200, bytes}}};
        sparse.use_alltoallv(bytes);
        add_rows(out, measure(sparse, n_rounds, n_samples), {});
    }
    for (const int whole : {512 << 10, 2 << 20, 4 << 20}) ask_parts(out, at, whole, n_rounds);
    if (here.rank() == 0) out.publish(given.json_file);
}

} // namespace

int main(int argc, char** argv) {
    return run_benchmark(argc, argv, "What an exchange costs that comes again and again, and who pays.", ask);
}
