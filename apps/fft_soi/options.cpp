// SPDX-License-Identifier: Apache-2.0
// CLI11 does the words. A preset and an explicit window exclude each other, so that no preset's promise is held against
// another window. Every refusal names something that works.
#include "options.hpp"

#include "common/command_line.hpp"

#include <algorithm>
#include <charconv>
#include <climits>
#include <cmath>
#include <sstream>

namespace soi {

namespace {

/// One rank gathers all points, twice, in long double.
constexpr index_type largest_checked = 1 << 22;

/// Of a problem that is large enough for messages of 128 KiB.
constexpr int usual_chunks = 8;

const std::vector<std::string> check_names{"none", "spot", "full"};
const std::vector<std::string> precision_names{"double", "single"};
const std::vector<std::string> method_names{"soi", "sixstep"};

std::string preset_names() {
    std::string names;
    for (const preset& p : presets()) names += (names.empty() ? "" : "|") + std::string(p.name);
    return names;
}

std::string parse_mu(const std::string& text, window_parameters& window) {
    char slash = 0;
    std::istringstream in(text);
    if (!(in >> window.n >> slash >> window.d) || slash != '/' || in.peek() != EOF) {
        return "--mu " + text + " is no fraction; choose 5/4, 3/2 or 9/8.";
    }
    return {};
}

std::string set_window(const std::string& name, const std::string& mu, bool is_explicit, options& o) {
    if (!is_explicit) {
        const char* const usual = o.real == precision::double_ ? "full" : "f32";
        o.preset_name = name.empty() ? usual : name;
        const preset* const named = find_preset(o.preset_name);
        if (named == nullptr) return "--preset " + o.preset_name + " is unknown; choose " + preset_names() + ".";
        o.window = named->window;
        return {};
    }
    if (!name.empty()) {
        return "--preset and an explicit window (--mu, --B, --tau, --b, --window) exclude each other; choose one.";
    }
    return mu.empty() ? std::string{} : parse_mu(mu, o.window);
}

} // namespace

const char* name_of(check_level level) { return check_names[static_cast<std::size_t>(level)].c_str(); }
const char* name_of(precision real) { return precision_names[static_cast<std::size_t>(real)].c_str(); }
const char* name_of(method by) { return method_names[static_cast<std::size_t>(by)].c_str(); }

problem options::sizes(int n_ranks) const {
    const int n_threads = tiled::compute_threads_of(which, n_cores);
    // As with one lane: how many are used is known later. One thread needs no pieces but for probing between them; several share each chunk, with something to balance.
    const int usual = which == tiled::mode::iprobe ? 4 : n_threads == 1 ? 1 : 2 * n_threads;
    return {n_points, n_ranks, n_segments, n_chunks, n_pieces == 0 ? usual : n_pieces, window};
}

index_type parse_points(const std::string& text) {
    const auto number = [](std::string_view digits, index_type& value) {
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        return error == std::errc{} && end == digits.data() + digits.size() && !digits.empty();
    };
    index_type base = 0;
    index_type exponent = 1;
    const std::size_t caret = text.find('^');
    if (!number(std::string_view(text).substr(0, caret), base) || base < 1) return 0;
    if (caret == std::string::npos) return base <= index_type{1} << 58 ? base : 0;
    if (!number(std::string_view(text).substr(caret + 1), exponent) || exponent < 0) return 0;
    index_type value = 1;
    for (index_type i = 0; i < exponent; ++i) {
        if (value > (index_type{1} << 58) / base || (base == 1 && i > 64)) return base == 1 ? 1 : 0;
        value *= base;
    }
    return value;
}

parsed_options parse_options(int argc, const char* const* argv) {
    parsed_options parsed;
    options& o = parsed.values;
    std::string n = "2^20", sign = "-1", preset, mu;
    miniapp::command_line line(
        "fft_soi", "One-dimensional FFT over MPI ranks with one all-to-all instead of three; every run checks itself.");
    CLI::App& app = line.app();
    app.add_option("--n", n, "Number of points, such as 1048576 or 2^20")->capture_default_str();
    o.mode = static_cast<int>(o.which);
    line.usual(o, tiled::modes(), 16, "--mode,--schedule", "--repeat,--reps");
    line.word("--method", o.by, method_names, "sixstep: Cooley-Tukey with the same exchange");
    app.add_option("--preset", preset, preset_names() + "; default full, in single precision f32");
    line.word("--precision", o.real, precision_names, "precision of the numbers");
    line.number("--segments", o.n_segments, 1, INT_MAX, "Segments of the spectrum per rank");
    line.number("--chunks", o.n_chunks, 1, most_chunks,
                "Chunks of the input per rank; default: messages of at least 128 KiB");
    line.number("--pieces", o.n_pieces, 1, most_chunks, "Pieces of a chunk; default: two per compute thread");
    line.number("--probe-every", o.probe_every, 1, INT_MAX, "Mode iprobe: pieces between probes");
    line.number("--at-once", o.at_once, 0, most_chunks,
                "Modes offload, omp, tbb: number of messages in flight, the most urgent first; 0: all");
    line.word("--plan", o.has_plan, {"off", "on"},
              "modes offload, omp and tbb: start the receives of a segment, and all sends, by one post each");
    app.add_option("--sign", sign, "-1: forward, 1: inverse, scaled by 1/N")->capture_default_str();
    app.add_flag("--inplace", o.in_place, "Store the result in the input array");
    line.word("--check", o.check, check_names, "spot: check 16 bins by direct sums; full: check all bins (N <= 2^22)");
    line.word("--rigor", o.effort, {"estimate", "measure", "patient"}, "effort of FFTW's planning");
    line.file("--wisdom", o.wisdom_file, "Keep FFTW's plans in this file");
    std::vector<CLI::Option*> of_window{
        app.add_option("--mu", mu, "Explicit window: oversampling n/d; default 5/4"),
        app.add_option("--B", o.window.width, "Explicit window: width in rows"),
        app.add_option("--tau", o.window.tau, "Explicit window: width of the passband"),
        app.add_option("--b", o.window.shape, "Explicit window: b of the Kaiser-Bessel, or sigma")};
    of_window.push_back(line.word("--window", o.window.family, {"kb", "gauss"}, "explicit window"));
    app.add_flag("--strict", o.is_strict, "Refuse a window whose predicted error is above 1e-3");
    line.file("--trace", o.trace_file, "Write the timeline of the last run to this file");

    line.parse_into(parsed, argc, argv, [&]() -> std::string {
        o.which = tiled::modes()[static_cast<std::size_t>(o.mode)].which;
        if (sign != "-1" && sign != "1" && sign != "+1") {
            return "--sign " + sign + " is unknown; choose -1 (forward) or 1 (inverse).";
        }
        o.sign = sign == "-1" ? -1 : 1;
        o.n_points = parse_points(n);
        if (o.n_points == 0) return "--n " + n + " is not a positive number up to 2^58; choose 1048576 or 2^20.";
        if (o.has_plan && !tiled::describe(o.which).has_worker)
            return "--plan on is for --mode offload, omp and tbb; choose one of them, or --plan off.";
        if (o.has_plan && o.n_lanes > 1) return "--plan on sends on one lane; leave --lanes out, or --plan off.";
        const bool is_explicit =
            std::ranges::any_of(of_window, [](const CLI::Option* one) { return one->count() > 0; });
        return set_window(preset, mu, is_explicit, o);
    });
    return parsed;
}

namespace {

std::string refuse_window_in(const options& o) {
    const window_quality quality = assess(o.window);
    const preset* const named = find_preset(o.preset_name);
    // 1 / What amplifies rounding: what single precision cannot hold must not be promised.
    const double amplified = quality.kappa * epsilon(o.real);
    if (o.real == precision::single && amplified > 4e-6) {
        std::ostringstream text;
        text << "this window amplifies rounding " << quality.kappa
             << " times, too much for single precision; choose --preset f32 or f32fat, or --precision double.";
        return text.str();
    }
    if (o.real == precision::double_ && named != nullptr && named->made_for == precision::single) {
        return "--preset " + o.preset_name + " is for single precision; choose full, d15, d14, d12, d7, thin or fat.";
    }
    if (o.is_strict && !(quality.predicted(epsilon(o.real)) <= 1e-3)) {
        std::ostringstream text;
        text << "this window's predicted error is " << quality.predicted(epsilon(o.real))
             << ", above 1e-3; choose a larger --B, or a preset.";
        return text.str();
    }
    return {};
}

std::string refuse_size(const options& o, int n_ranks) {
    const std::size_t complex_bytes = o.real == precision::double_ ? 16 : 8;
    const double per_rank = static_cast<double>(complex_bytes) * static_cast<double>(o.n_points) / n_ranks;
    if (o.by == method::soi) {
        const index_type long_segment =
            o.n_points / (static_cast<index_type>(o.n_segments) * n_ranks) / o.window.d * o.window.n;
        if (long_segment > INT_MAX / 2) return "--n needs segments longer than FFTW's int; choose more --segments.";
        const int n_chunks = o.n_chunks == 0 ? usual_chunks : o.n_chunks;
        const double message = per_rank * o.window.mu() / n_ranks / o.n_segments / n_chunks;
        if (message > INT_MAX) {
            const double enough = std::floor(message * n_chunks / INT_MAX) + 1;
            return "--chunks " + std::to_string(n_chunks) + " makes messages above 2 GiB; choose " +
                   (enough <= 1024 ? "at least --chunks " + std::to_string(static_cast<int>(enough)) : "more ranks") +
                   ".";
        }
        if (o.which == tiled::mode::seg && per_rank * o.window.mu() / static_cast<double>(complex_bytes) > INT_MAX) {
            return "--mode seg counts the numbers that a rank sends in an int; choose more ranks, or --mode p2p.";
        }
    }
    if (o.check == check_level::full && o.n_points > largest_checked) {
        return "--check full gathers all points on one rank, which works up to --n 2^22; choose --check spot.";
    }
    return {};
}

} // namespace

std::string settle(const options& o, int n_ranks) {
    // Sizes first: a window of a thousand rows takes time to assess.
    if (std::string no = refusal(o.by, o.sizes(n_ranks)); !no.empty()) return no;
    if (std::string no = refuse_size(o, n_ranks); !no.empty()) return no;
    return o.by == method::soi ? refuse_window_in(o) : std::string{};
}

miniapp::memory_need memory(const options& o, int rank, int n_ranks) {
    const std::size_t complex_bytes = o.real == precision::double_ ? 16 : 8;
    const double own = static_cast<double>(complex_bytes) * static_cast<double>(o.n_points) / n_ranks;
    // In place the input is made again for the checks.
    const bool is_one_array = o.in_place && o.check == check_level::none;
    double bytes = own * (is_one_array ? 1 : 2);
    if (o.by == method::soi) {
        const shape sizes = make_shape(o.sizes(n_ranks), complex_bytes);
        const double spectrum = static_cast<double>(complex_bytes) * static_cast<double>(sizes.long_segment);
        bytes = memory_bytes(sizes, complex_bytes, is_one_array) + o.n_cores * spectrum;
    } else {
        bytes += 4 * own; // to send, received, columns and rows
    }
    if (o.check == check_level::full && rank == 0) {
        // Input and result of all ranks, and three arrays in long double.
        bytes += static_cast<double>(o.n_points) * (2.0 * static_cast<double>(complex_bytes) + 3 * 32);
    }
    return {bytes, "--n " + std::to_string(o.n_points), "choose more nodes or a smaller N"};
}

} // namespace soi
