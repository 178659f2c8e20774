// SPDX-License-Identifier: Apache-2.0
// Training of a convolutional network, hybrid parallel. Advantage: exchanges of two kinds, those that may be late, since a layer's new
// weights are needed in the next step, and those that the next layer waits for. Disadvantage: one small network on generated digits.
// Exit status: 0 all checks passed, 1 a check failed or output was lost, 2 the command line was refused.
#include "common/command_line.hpp"
#include "common/program.hpp"
#include "common/report_json.hpp"
#include "common/runner.hpp"
#include "training.hpp"

#include <cmath>
#include <limits>

namespace {

using namespace cnn;
using miniapp::to_string;

constexpr double gradient_tolerance = 1e-4; ///< Of a layer's largest number that is tried.
constexpr double change = 3e-8;             ///< Of a weight: smaller rounds, larger meets the corners of ReLU.
constexpr double loss_tolerance = 1e-9;     ///< Other sums of the same numbers, and what the steps make of that.
constexpr double learned = 0.95;            ///< What may be left of the loss of guessing.
constexpr int n_tried = 4;                  ///< Numbers of a layer's gradient.

struct options : miniapp::usual_options {
    problem whole;
    bool has_plan = false;
};

miniapp::parsed<options> parse_options(int argc, const char* const* argv) {
    miniapp::parsed<options> parsed;
    options& o = parsed.values;
    miniapp::command_line line("cnn", "Training of a convolutional network on MPI ranks; every run checks itself.");
    line.extents("--channels", o.whole.channels, 1024, "16.32.64",
                 "Planes of the three convolutions; default 16.32.64");
    line.number("--hidden", o.whole.hidden, 8, 1 << 16, "Units of the dense layer; default: 64 per rank");
    line.number("--batch", o.whole.batch, n_lanes, 1 << 20, "Images of a step; default: 64 per rank");
    line.number("--chunks", o.whole.n_chunks, 1, 1024, "Messages in which a rank's activations travel to each peer");
    line.number("--steps", o.whole.n_steps, 20, 1'000'000, "Of training, per timed run");
    line.usual(o, miniapp::modes(), 1);
    line.word("--plan", o.has_plan, {"off", "on"}, "modes offload, omp and tbb start an exchange by one post");
    line.parse_into(parsed, argc, argv, [&]() -> std::string {
        if (o.has_plan && !o.has_worker)
            return "--plan on works with modes that have a worker; choose --mode offload, omp or tbb.";
        for (const int n : o.whole.channels) {
            if (n % 4 != 0)
                return "--channels " + to_string(o.whole.channels) + ": " + std::to_string(n) +
                       " is no multiple of 4; choose such, as 16.32.64.";
        }
        return {};
    });
    return parsed;
}

std::string settle(options& o, int n_ranks) {
    const auto cut = [&](const char* option, int& value, int each) -> std::string {
        if (value == 0) value = 64 * n_ranks;
        const int least = each * n_ranks;
        if (value % least == 0) return {};
        return std::string(option) + " " + std::to_string(value) + " cannot be cut among " + std::to_string(n_ranks) +
               " ranks into multiples of " + std::to_string(each) + "; choose a multiple of " + std::to_string(least) +
               ".";
    };
    const std::string no = cut("--batch", o.whole.batch, n_lanes);
    return no.empty() ? cut("--hidden", o.whole.hidden, 8) : no;
}

miniapp::memory_need memory(const options& o, int /*rank*/) {
    double numbers = 3.0 * o.whole.n_features() + 2.0 * o.whole.hidden + 3 * n_classes, n_weights = 0; // of an image
    for (int t = 0; t < n_tensors; ++t) n_weights += static_cast<double>(o.whole.n_weights(t));
    for (int l = 0; l < n_layers; ++l) {
        const layer of = o.whole.convolution(l);
        numbers += of.plane() * (of.n_out + (l == 0 ? n_batches + 1.0 : 2.0) * of.n_in);
    }
    // Every rank has its part, twice, and trains alone in the end.
    return {sizeof(double) * 3 * (numbers * o.whole.batch + 4 * n_weights),
            "cnn with --batch " + std::to_string(o.whole.batch), "use more nodes or a smaller batch"};
}

double sum_of(double mine, MPI_Comm comm) {
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, comm);
    return mine;
}

/// Numbers of a tensor of `n`, spread over it.
long tried(int k, long n) { return k * (n - 1) / (n_tried - 1); }

/// How far gradients of the first step are from finite differences by a rank alone, relative to the largest of their layer that is
/// tried. Each rank tries some.
double gradient_error(const std::vector<double>& gradients, network& alone, int rank, int n_ranks) {
    double worst = 0;
    for (int j = rank; j < n_tensors * n_tried; j += n_ranks) {
        const int t = j / n_tried;
        double largest = 0;
        for (int k = 0; k < n_tried; ++k) largest = std::max(largest, std::abs(gradients[t * n_tried + k]));
        const long number = tried(j % n_tried, alone.whole.n_weights(t));
        const double slope = (alone.loss_with(t, number, change) - alone.loss_with(t, number, -change)) / (2 * change);
        const double error = std::abs(slope - gradients[j]) / largest;
        worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
    }
    return miniapp::largest_of(worst, MPI_COMM_WORLD);
}

miniapp::outcome run(const options& o, int rank) {
    const miniapp::mode& how = miniapp::modes()[static_cast<std::size_t>(o.mode)];
    const MPI_Comm comm = MPI_COMM_WORLD;
    training on(o.whole, comm, o.has_plan);
    const auto with = how.make(on.items, o.n_cores);
    with->run(on.items.n_stages()); // warms up, and is the step whose gradients are tried
    std::vector<double> gradients;
    for (int j = 0; j < n_tensors * n_tried; ++j) {
        const int t = j / n_tried;
        gradients.push_back(sum_of(on.net.first_gradient(t, tried(j % n_tried, o.whole.n_weights(t))), comm));
    }
    std::vector<miniapp::phase_times> times;
    miniapp::run_prints prints, messages;
    const int n_stages = o.whole.n_steps * on.items.n_stages(), last_step = o.whole.n_steps - 1;
    for (int k = 0; k < o.repeats; ++k) {
        on.net.reset();
        MPI_Barrier(comm);
        times.push_back(with->run(n_stages));
        prints.add(on.net.fingerprint());
        messages.add(on.net.left);
    }
    const auto runs = miniapp::per_step(times, o.whole.n_steps, comm);
    prints.sum(comm);
    messages.sum(comm);
    const double first = sum_of(on.net.loss_of(0), comm), last = sum_of(on.net.loss_of(last_step), comm);
    // Last, so that nothing of it is left where the mode's runs are timed.
    training plain(o.whole, comm, false), alone(o.whole, MPI_COMM_SELF, false);
    miniapp::make_baseline(plain.items, o.n_cores)->run(n_stages);
    const std::uint64_t expected = miniapp::sum_of(plain.net.fingerprint(), comm);
    const double off = gradient_error(gradients, alone.net, rank, on.net.n_ranks);
    alone.net.reset();
    if (rank == 0) miniapp::make_plain(alone.items, 1)->run(o.whole.n_steps * alone.items.n_stages());
    const double last_alone = sum_of(rank == 0 ? alone.net.loss_of(last_step) : 0, comm);
    const double images_per_s = o.whole.batch / runs[runs.size() / 2].slowest_total;
    miniapp::outcome end{
        {miniapp::time_passed(runs, images_per_s),
         messages.nothing_changed(),
         prints.compare(expected, "by plain messages"),
         {"gradients: as finite differences", off, gradient_tolerance},
         {"loss: after the last step as one rank's alone", std::abs(last / last_alone - 1), loss_tolerance},
         {"loss: what training leaves of it", last / std::log(n_classes), learned}}};
    if (rank != 0) return end;
    std::uint64_t bytes = 0;
    for (const miniapp::item& each : plain.items.items())
        if (each.is_message() && each.through->what == miniapp::message::kind::send)
            bytes += static_cast<std::uint64_t>(each.through->operation.send.count) * sizeof(double);
    end.told = {{"program", "cnn"},
                {"channels", o.whole.channels},
                {"hidden", o.whole.hidden},
                {"batch", o.whole.batch},
                {"chunks", on.net.n_chunks},
                {"steps", o.whole.n_steps},
                {"plan", o.has_plan},
                {"ranks", on.net.n_ranks},
                {"compute_threads", with->compute_threads()},
                {"messages", plain.items.n_messages() / 2},
                {"bytes", bytes},
                {"losses", {first, last}},
                {"images_per_s", images_per_s},
                {"fingerprint", miniapp::fingerprint_text(prints.last())}};
    miniapp::tell_times(end.told, how.name, runs, 0, {.external = "external"});
    return end;
}

} // namespace

int main(int argc, char** argv) {
    auto parsed = parse_options(argc, argv);
    return miniapp::run_program(argc, argv, "cnn", parsed, settle, memory, run);
}
