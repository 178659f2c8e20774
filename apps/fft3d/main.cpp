// SPDX-License-Identifier: Apache-2.0
// A 3-D FFT by pencils. A step is an iteration of NPB FT, or a forward and an inverse transform. Advantage: five ways of the same
// exchange, in each mode. Disadvantage: complex numbers in double precision only, and sizes that the grid of ranks divides.
// Exit status: 0 all checks passed, 1 a check failed or output was lost, 2 the command line or the grid was refused.
#include "common/command_line.hpp"
#include "common/program.hpp"
#include "common/report_json.hpp"
#include "npb.hpp"

#include <cmath>
#include <optional>

namespace {

using namespace fft3d;
using miniapp::part;
using miniapp::to_string;

constexpr int most_points = 1024; // of an axis: MPI counts the points of a rank in an int
constexpr double tolerance = 1e-12;
const std::vector<std::string> schedule_names{"alltoallv", "alltoall", "many_to_many", "plan", "pipeline"};

struct options : miniapp::usual_options {
    shape of;
    const npb::problem* problem = nullptr; ///< Null: pairs of transforms.
    int n_steps = 6;
};

miniapp::parsed<options> parse_options(int argc, const char* const* argv) {
    miniapp::parsed<options> parsed;
    options& o = parsed.values;
    std::vector<std::string> classes;
    for (const npb::problem& each : npb::problems()) classes.emplace_back(each.name);
    std::size_t which = 0;
    int n_batches = 4;
    miniapp::command_line line("fft3d", "A 3-D FFT over MPI ranks by pencils; every run checks itself.");
    const auto* const said_class =
        line.word("--class", which, classes, "NPB FT of 64.64.64, 128.128.32 or 256.256.128 points");
    line.extents("--points", o.of.points, most_points, "128.128.128", "Pairs of transforms instead of a class");
    line.extents("--grid", o.of.grid, 1 << 15, "2.1", "Ranks of a row and of a column; default: as square as it goes");
    line.word("--schedule", o.of.by, schedule_names, "how blocks travel");
    const auto* const said_batches =
        line.number("--batches", n_batches, 1, most_points, "Of an exchange of --schedule pipeline");
    line.usual(o, miniapp::modes(), 1);
    line.number("--steps", o.n_steps, 1, 10'000, "Iterations or pairs of a run; checksums are known of six iterations");
    line.parse_into(parsed, argc, argv, [&]() -> std::string {
        const bool is_pipeline = o.of.by == schedule::pipeline;
        if (o.of.points[0] == 0) {
            o.problem = &npb::problems()[which];
            o.of.points = o.problem->points;
        } else if (said_class->count() > 0) {
            return "--class and --points are two problems; choose one.";
        }
        if (!is_pipeline && said_batches->count() > 0) return "--batches are of --schedule pipeline; choose that.";
        if (o.of.by == schedule::plan && !o.has_worker)
            return "--schedule plan records communication tasks; choose --mode offload, omp or tbb.";
        o.of.n_batches = is_pipeline ? n_batches : 1;
        o.of.n_pieces = (4 * o.n_cores + o.of.n_batches - 1) / o.of.n_batches;
        return {};
    });
    return parsed;
}

/// A transform, and what a step is made of.
class program {
public:
    program(const options& o, const shape& of, bool by_worker)
        : o_(o), evolve_(of.points, o.problem != nullptr ? o.n_steps : 0), on_(of, MPI_COMM_WORLD, by_worker) {
        on_.add_forward(first_);
        first_.end(false);
        const double scale = 1.0 / (static_cast<double>(of.points[0]) * of.points[1] * of.points[2]);
        for (int round = 0; round < 2; ++round) {
            if (o.problem == nullptr) {
                on_.add_forward(steps_);
                on_.add_inverse(steps_, [scale, n = of.points[2]](const spectrum_line& line) {
                    for (int z = 0; z < n; ++z) line.to[z] = line.from[z] * scale;
                });
            } else {
                on_.add_inverse(steps_, std::ref(evolve_));
                const auto add_checksum = [this] { checksums_.push_back(npb::checksum(o_.of.points, on_)); };
                on_.reads_points(steps_, steps_.add(part::core, add_checksum));
                steps_.end_stage();
            }
        }
        steps_.end(true);
    }
    void end() {
        with_.reset();
        on_.end();
    }

    /// Prepares the runs: NPB FT needs the first spectrum.
    void begin(const miniapp::mode& how) {
        make_points();
        if (o_.problem != nullptr) how.make(first_, o_.n_cores)->run(first_.n_stages());
        with_ = how.make(steps_, o_.n_cores);
    }
    miniapp::phase_times run() {
        if (o_.problem == nullptr) make_points();
        on_.restart();
        on_.left_of_messages();
        checksums_.clear();
        MPI_Barrier(MPI_COMM_WORLD);
        return with_->run(o_.n_steps * steps_.n_stages());
    }

    [[nodiscard]] double message_seconds() const {
        return miniapp::message_seconds(steps_, MPI_COMM_WORLD) * steps_.n_stages();
    }
    [[nodiscard]] std::uint64_t left_of_messages() { return on_.left_of_messages(); }

    /// Of this rank's points.
    [[nodiscard]] std::uint64_t fingerprint() {
        std::uint64_t bits = 0;
        each_line([&](int y, int z, complex* points) {
            auto place = 2 * static_cast<std::uint64_t>(miniapp::index_of(extents{0, y, z}, o_.of.points));
            for (const complex& each : std::span(points, static_cast<std::size_t>(o_.of.points[0]))) {
                bits += miniapp::print_of(each.real(), place) + miniapp::print_of(each.imag(), place + 1);
                place += 2;
            }
        });
        return bits;
    }

    /// Of the last run: the largest distance of points from the first ones, or of checksums, in parts of the published ones.
    [[nodiscard]] double error() {
        double most = 0;
        const auto add = [&](double off) { most = off <= most ? most : std::isnan(off) ? 1 : off; };
        if (o_.problem == nullptr) {
            std::vector<complex> first(static_cast<std::size_t>(o_.of.points[0]));
            each_line([&](int y, int z, const complex* points) {
                npb::make_line(o_.of.points, y, z, first.data());
                for (std::size_t x = 0; x < first.size(); ++x) add(std::abs(points[x] - first[x]));
            });
            return miniapp::largest_of(most, MPI_COMM_WORLD);
        }
        checksums_.resize(std::min(checksums_.size(), o_.problem->checksums.size()));
        MPI_Allreduce(MPI_IN_PLACE, checksums_.data(), static_cast<int>(checksums_.size()), MPI_C_DOUBLE_COMPLEX,
                      MPI_SUM, MPI_COMM_WORLD);
        for (std::size_t k = 0; k < checksums_.size(); ++k) {
            const complex& right = o_.problem->checksums[k];
            add(std::abs(checksums_[k].real() / right.real() - 1));
            add(std::abs(checksums_[k].imag() / right.imag() - 1));
        }
        return most;
    }

private:
    template <class Visit>
    void each_line(Visit&& visit) {
        const box here = on_.points_box();
        for (int z = 0; z < here.count[2]; ++z) {
            for (int y = 0; y < here.count[1]; ++y) visit(here.first[1] + y, here.first[2] + z, on_.points_line(y, z));
        }
    }
    void make_points() {
        each_line([&](int y, int z, complex* points) { npb::make_line(o_.of.points, y, z, points); });
    }

    const options& o_;
    npb::evolution evolve_;
    transform on_;
    miniapp::item_list first_, steps_;
    std::vector<complex> checksums_; ///< This rank's parts.
    std::unique_ptr<miniapp::runner> with_;
};

miniapp::outcome run(const options& o, int rank) {
    const miniapp::mode& how = miniapp::modes()[static_cast<std::size_t>(o.mode)];
    std::uint64_t expected = 0;
    double alone = 0;
    { // First, so that the memory of two transforms is never needed at once.
        shape simple = o.of;
        simple.by = schedule::many_to_many;
        simple.n_batches = 1;
        program plain(o, simple, false);
        alone = plain.message_seconds();
        plain.begin(miniapp::modes().front());
        plain.run();
        expected = miniapp::sum_of(plain.fingerprint(), MPI_COMM_WORLD);
        plain.end();
    }
    std::vector<miniapp::phase_times> mine;
    miniapp::run_prints prints;
    miniapp::run_prints messages;
    program of(o, o.of, how.has_worker);
    of.begin(how);
    of.run();
    for (int k = 0; k < o.repeats; ++k) {
        mine.push_back(of.run());
        prints.add(of.fingerprint());
        messages.add(of.left_of_messages());
    }
    const auto all = miniapp::per_step(mine, o.n_steps, MPI_COMM_WORLD);
    const double n = o.of.n_points() * o.of.grid[0] * o.of.grid[1];
    const double gflops = (o.problem != nullptr ? 1 : 2) * 5e-9 * n * std::log2(n) / all[all.size() / 2].slowest_total;
    prints.sum(MPI_COMM_WORLD);
    messages.sum(MPI_COMM_WORLD);
    const std::string result = o.problem != nullptr
                                   ? std::string("checksums: as published for class ") + o.problem->name
                                   : "round trip: the points are as before";
    miniapp::outcome end{{miniapp::time_passed(all, gflops),
                          messages.nothing_changed(),
                          prints.compare(expected, "by plain messages"),
                          {result, of.error(), tolerance}}};
    of.end();
    if (rank != 0) return end;
    std::array<long long, 2> bytes{};
    for (int d = 0; d < 2; ++d) {
        if (o.of.grid[d] > 1)
            bytes[d] = static_cast<long long>(o.of.n_points() * sizeof(complex)) / o.of.grid[d] / o.of.n_batches;
    }
    end.told = {{"program", "fft3d"},
                {"class", o.problem != nullptr ? o.problem->name : "none"},
                {"points", o.of.points},
                {"grid", o.of.grid},
                {"ranks", o.of.grid[0] * o.of.grid[1]},
                {"schedule", schedule_names[static_cast<std::size_t>(o.of.by)]},
                {"batches", o.of.n_batches},
                {"steps", o.n_steps},
                {"cores", o.n_cores},
                {"message_bytes", bytes},
                {"messages_us", alone * 1e6},
                {"gflops", gflops},
                {"fingerprint", miniapp::fingerprint_text(prints.last())}};
    miniapp::tell_times(end.told, how.name, all, alone, {.external = "external"});
    return end;
}

} // namespace

int main(int argc, char** argv) {
    auto parsed = parse_options(argc, argv);
    return miniapp::run_program(
        argc, argv, "fft3d", parsed, [](options& o, int n_ranks) { return settle_grid(o.of, n_ranks); },
        [](const options& o, int /*rank*/) {
            return miniapp::memory_need{o.of.bytes(), to_string(o.of.points) + " points",
                                        "use more nodes or fewer points"};
        },
        run);
}
