// SPDX-License-Identifier: Apache-2.0
//
// Question: is SOI faster than the FFTs that people have? Per N: SOI and six-step on the same exchange, FFTW-MPI built
// against the same MPI, serial FFTW on one core, alternated in one process on two ranks.
#include "common/clock.hpp"
#include "common/report.hpp"
#include "common/runtime_session.hpp"
#include "distributed_fft.hpp"
#include "fft/fftw_peer.h"
#include "harness/alternate.h"
#include "harness/cores.h"
#include "harness/machine.h"
#include "harness/options.h"
#include "harness/report.h"
#include "presets.hpp"
#include "reference.hpp"
#include "wisdom.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>

namespace {

using namespace commtask::bench;
using soi::index_type;
using complex = std::complex<double>;

struct command_line {
    options shared;
    std::string wisdom_file;
    int first_log2 = 20;
    int last_log2 = 24;
    int n_segments = 8;
};

struct place {
    int rank = 0;
    int n_ranks = 1;
};

/// The schedules that are graphs of tasks.
const std::vector<std::pair<const char*, tiled::mode>> graphs{
    {"SOI omp", tiled::mode::omp},
#if MINIAPP_HAS_TBB
    {"SOI tbb", tiled::mode::tbb},
#endif
};

/// Seconds of the slowest rank.
template <class Work>
double timed(Work&& work) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = miniapp::seconds();
    work();
    double took = miniapp::seconds() - start;
    MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return took;
}

soi::transform_options options_of(const command_line& given, const place& here, index_type n) {
    soi::transform_options o;
    o.sizes = {n, here.n_ranks, given.n_segments, 0, 1, soi::find_preset("full")->window};
    o.rank = here.rank;
    return o;
}

/// All that is compared at one N. Planning is the slow part, so both methods are planned once for all schedules.
class contest {
public:
    contest(const command_line& given, const place& here, int log2)
        : here_(here), n_(index_type{1} << log2), name_(" 2^" + std::to_string(log2)),
          x_(static_cast<std::size_t>(n_ / here.n_ranks)), y_(x_.size()), peer_(n_, MPI_COMM_WORLD),
          soi_(soi::make_fft<double>(soi::method::soi, options_of(given, here, n_))),
          six_(soi::make_fft<double>(soi::method::six_step, options_of(given, here, n_))),
          alone_(here.rank == 0 ? n_ : 2) {
        for (std::size_t j = 0; j < x_.size(); ++j) {
            x_[j] = soi::random_point(here.rank * static_cast<index_type>(x_.size()) + static_cast<index_type>(j));
        }
        soi_->bind(x_.data(), y_.data());
        six_->bind(x_.data(), y_.data());
        std::vector<tiled::mode> compared{tiled::mode::serial, tiled::mode::baseline, tiled::mode::p2p,
                                          tiled::mode::offload};
        for (const auto& [name, which] : graphs) compared.push_back(which);
        for (const tiled::mode which : compared) {
            schedules_[which] = tiled::make_schedule(which, {.comm = MPI_COMM_WORLD});
        }
    }

    void run(const command_line& given, report& out) {
        // FFTW-MPI first: it is what the others are compared with.
        std::vector<side> sides{
            {.name = "FFTW-MPI" + name_, .unit = "ms", .measure = [this](round_samples& s) { sample_peer(s); }},
            {.name = "FFTW serial" + name_, .unit = "ms", .measure = [this](round_samples& s) { sample_serial(s); }},
            side_of("six-step baseline", *six_, tiled::mode::baseline),
            side_of("six-step p2p", *six_, tiled::mode::p2p),
            side_of("SOI serial", *soi_, tiled::mode::serial),
            side_of("SOI baseline", *soi_, tiled::mode::baseline),
            side_of("SOI p2p", *soi_, tiled::mode::p2p),
            side_of("SOI offload", *soi_, tiled::mode::offload)};
        for (const auto& [name, which] : graphs) sides.push_back(side_of(name, *soi_, which));
        const std::vector<series> all = alternate(sides, given.shared.rounds(n_ <= 1 << 22 ? 15 : 7));
        if (here_.rank != 0) return;
        out.add(all[0]);
        for (std::size_t i = 1; i < all.size(); ++i) out.add(all[i], all[0]);
    }

private:
    side side_of(const std::string& name, soi::distributed_fft<double>& fft, tiled::mode which) {
        return {.name = name + name_, .unit = "ms", .measure = [this, &fft, which](round_samples& samples) {
                    samples.push_back(1e3 * timed([&] { static_cast<void>(fft.run(*schedules_[which])); }));
                }};
    }

    void sample_peer(round_samples& samples) {
        peer_.fill(x_);
        samples.push_back(1e3 * timed([&] { peer_.run(); }));
    }

    void sample_serial(round_samples& samples) {
        samples.push_back(1e3 * timed([&] {
                              if (here_.rank == 0) alone_.run();
                          }));
    }

    place here_;
    index_type n_;
    std::string name_;
    soi::aligned_array<complex> x_;
    soi::aligned_array<complex> y_;
    fftw_mpi_peer peer_;
    std::unique_ptr<soi::distributed_fft<double>> soi_;
    std::unique_ptr<soi::distributed_fft<double>> six_;
    fftw_serial_peer alone_;
    std::map<tiled::mode, std::unique_ptr<tiled::schedule>> schedules_;
};

void ask(const command_line& given, const place& here) {
    nlohmann::ordered_json machine = describe_machine(miniapp::mpi_library());
    report out("fft", "crowded", machine);
    for (int log2 = given.first_log2; log2 <= given.last_log2; ++log2) {
        contest(given, here, log2).run(given, out);
        // Plans and rows are kept size by size: planning the last one is what takes longest.
        if (!given.wisdom_file.empty() && here.rank == 0) {
            const std::string why = soi::save_wisdom(given.wisdom_file);
            if (!why.empty())
                std::fprintf(stderr, "bench_fft: --wisdom %s: %s\n", given.wisdom_file.c_str(), why.c_str());
        }
        if (here.rank == 0 && !given.shared.json_file.empty()) {
            const std::string why = write_document(out.to_json(), given.shared.json_file);
            if (!why.empty())
                std::fprintf(stderr, "bench_fft: --json %s: %s\n", given.shared.json_file.c_str(), why.c_str());
        }
    }
    if (here.rank == 0) out.publish(given.shared.json_file);
}

} // namespace

int main(int argc, char** argv) {
    command_line given;
    CLI::App app{"SOI, six-step, FFTW-MPI and serial FFTW, alternated in one process."};
    given.shared.declare(app);
    app.add_option("--wisdom", given.wisdom_file, "keep FFTW's plans in this file");
    app.add_option("--first", given.first_log2, "log2 of the smallest N")->check(CLI::Range(14, 28));
    app.add_option("--last", given.last_log2, "log2 of the largest N")->check(CLI::Range(14, 28));
    app.add_option("--segments", given.n_segments, "segments per rank")->check(CLI::Range(1, 4096));
    CLI11_PARSE(app, argc, argv);
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    int status = 0;
    try {
        place here;
        MPI_Comm_rank(MPI_COMM_WORLD, &here.rank);
        MPI_Comm_size(MPI_COMM_WORLD, &here.n_ranks);
        if (here.n_ranks > 1) {
            const std::vector<int> cores = allowed_cores();
            pin_this_thread(cores[static_cast<std::size_t>(here.rank) % cores.size()]);
        }
        ::setenv("OMP_MAX_TASK_PRIORITY", "64", 0);
        const miniapp::runtime_session runtime(true);
        fftw_mpi_peer::start();
        if (!given.wisdom_file.empty()) soi::load_wisdom(given.wisdom_file);
        ask(given, here);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_fft: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
        status = 1;
    }
    MPI_Finalize();
    return status;
}
