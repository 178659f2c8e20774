// SPDX-License-Identifier: Apache-2.0
//
// Question: what does an exchange cost that comes again and again, and who pays? Two ranks: the exchange of lattice QCD with 2^4, 4^4
// and 8^4 sites per rank in eight directions; an alltoallv in which each rank has something for one other, of 8 bytes to 64 KiB, which
// commtask_op_many_to_many does too. In the ways of exchange.h, for each the time until the submitter can go on, and the time to the
// last arrival on any rank.
#include "harness/alternate.h"
#include "harness/report.h"
#include "harness/session.h"
#include "patterns/exchange.h"

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

/// What came out for one pattern and way.
struct figures {
    series submitter;
    series whole;
};

/// All ways in turn; who begins moves on from round to round.
std::vector<figures> measure(exchange& what, std::size_t n_rounds, int n_samples) {
    std::vector<figures> all;
    for (const char* const by : names_of_ways) {
        all.push_back(
            {{what.name() + ", " + by + ", submitter", "us", {}}, {what.name() + ", " + by + ", all", "us", {}}});
    }
    for (std::size_t round = 0; round <= n_rounds; ++round) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::size_t which = (round + i) % all.size();
            if (!what.has(static_cast<way>(which))) continue;
            round_samples submitter;
            round_samples whole;
            for (int k = -2; k < n_samples; ++k) {
                const auto [its_poster, its_whole] = what.run(static_cast<way>(which));
                if (k < 0) continue;
                submitter.push_back(its_poster);
                whole.push_back(its_whole);
            }
            if (round == 0) continue; // to warm up
            all[which].submitter.rounds.push_back(std::move(submitter));
            all[which].whole.rounds.push_back(std::move(whole));
        }
    }
    return all;
}

/// The rows of one pattern, each way beside its posts, what OpenMP starts beside OpenMP's tasks, and plans beside MPI_Startall.
void add_rows(report& out, const std::vector<figures>& all) {
    const auto of = [&](way by) -> const figures& { return all[static_cast<std::size_t>(by)]; };
    for (const way by : {way::posts, way::mpi, way::startall, way::plan, way::many_to_many}) {
        if (of(by).whole.rounds.empty()) continue;
        if (by == way::posts) {
            out.add(of(by).submitter);
            out.add(of(by).whole);
        } else {
            out.add(of(by).submitter, of(way::posts).submitter);
            out.add(of(by).whole, of(way::posts).whole);
        }
    }
    const auto add_beside_startall = [&](way by) {
        series again = of(by).whole;
        again.name += ", beside MPI_Startall";
        out.add(again, of(way::startall).whole);
    };
    add_beside_startall(way::plan);
    out.add(of(way::omp_tasks).submitter);
    out.add(of(way::omp_tasks).whole);
    out.add(of(way::omp_plan).submitter, of(way::omp_tasks).submitter);
    out.add(of(way::omp_plan).whole, of(way::omp_tasks).whole);
    add_beside_startall(way::omp_plan);
}

void ask(session& here, const options& given) {
    place at{here.rank(), 1};
    MPI_Comm_size(MPI_COMM_WORLD, &at.n_ranks);
    report out("patterns", "crowded", here.machine());
    const std::size_t n_rounds = given.rounds(30);
    const int n_samples = given.is_quick ? 2 : 10;
    for (const int sites : {2, 4, 8}) {
        exchange halo{"QCD " + std::to_string(sites) + "^4", at, faces(at, sites)};
        add_rows(out, measure(halo, n_rounds, n_samples));
    }
    for (const int bytes : {8, 4096, 64 << 10}) {
        exchange sparse{"alltoallv of " +
                            (bytes < 1024 ? std::to_string(bytes) + " B" : std::to_string(bytes / 1024) + " KiB"),
                        at,
                        {{true, at.at(-1), 200, bytes}, {false, at.at(1), 200, bytes}}};
        sparse.use_alltoallv(bytes);
        add_rows(out, measure(sparse, n_rounds, n_samples));
    }
    if (here.rank() == 0) out.publish(given.json_file);
}

} // namespace

int main(int argc, char** argv) {
    return run_benchmark(argc, argv, "What an exchange costs that comes again and again, and who pays.", ask);
}
