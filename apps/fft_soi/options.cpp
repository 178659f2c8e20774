// SPDX-License-Identifier: Apache-2.0
// CLI11 does the words. A preset and an explicit window exclude each other, so that no preset's promise is held against
// another window. Every refusal names something that works.
#include "options.hpp"

#include "common/command_line.hpp"

#include <array>
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

template <class Value>
struct choice {
    const char* name;
    Value value;
};

constexpr std::array check_levels{choice<check_level>{"none", check_level::none},
                                  choice<check_level>{"spot", check_level::spot},
                                  choice<check_level>{"full", check_level::full}};
constexpr std::array precisions{choice<precision>{"double", precision::double_},
                                choice<precision>{"single", precision::single}};
constexpr std::array methods{choice<method>{"soi", method::soi}, choice<method>{"sixstep", method::six_step}};
constexpr std::array rigors{choice<rigor>{"estimate", rigor::estimate}, choice<rigor>{"measure", rigor::measure},
                            choice<rigor>{"patient", rigor::patient}};
constexpr std::array families{choice<window_family>{"kb", window_family::kaiser_bessel},
                              choice<window_family>{"gauss", window_family::gauss}};

template <class Choices>
std::string names_of(const Choices& choices) {
    std::string names;
    for (const auto& one : choices) names += (names.empty() ? "" : "|") + std::string(one.name);
    return names;
}

/// Sets `value`; gives the refusal if there is none of this name.
template <class Choices, class Value>
std::string choose(const std::string& option, const std::string& name, const Choices& choices, Value& value) {
    for (const auto& one : choices) {
        if (name == one.name) {
            value = one.value;
            return {};
        }
    }
    return option + " " + name + " is unknown; choose " + names_of(choices) + ".";
}

template <class Choices, class Value>
const char* name_in(const Choices& choices, Value value) {
    for (const auto& one : choices) {
        if (one.value == value) return one.name;
    }
    return "?";
}

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

std::string choose_mode(const std::string& name, tiled::mode& which) {
    std::string names;
    for (const tiled::mode_description& m : tiled::modes()) {
        if (name == m.name) {
            which = m.which;
            return {};
        }
        names += (names.empty() ? "" : "|") + std::string(m.name);
    }
    return "--mode " + name + " is unknown; choose " + names + ".";
}

/// Words to choose from, before they have a meaning.
struct texts {
    std::string n = "2^20";
    std::string mode = "baseline";
    std::string check = "spot";
    std::string real = "double";
    std::string by = "soi";
    std::string effort = "measure";
    std::string preset;
    std::string mu;
    std::string family = "kb";
    std::string sign = "-1";
    std::string plan = "off";
};

std::string set_window(const texts& given, bool is_explicit, options& o) {
    if (!is_explicit) {
        const char* const usual = o.real == precision::double_ ? "full" : "f32";
        o.preset_name = given.preset.empty() ? usual : given.preset;
        const preset* const named = find_preset(o.preset_name);
        if (named == nullptr) return "--preset " + o.preset_name + " is unknown; choose " + preset_names() + ".";
        o.window = named->window;
        return {};
    }
    if (!given.preset.empty()) {
        return "--preset and an explicit window (--mu, --B, --tau, --b, --window) exclude each other; choose one.";
    }
    if (!given.mu.empty()) {
        if (std::string no = parse_mu(given.mu, o.window); !no.empty()) return no;
    }
    return choose("--window", given.family, families, o.window.family);
}

} // namespace

const char* name_of(check_level level) { return name_in(check_levels, level); }
const char* name_of(precision real) { return name_in(precisions, real); }
const char* name_of(method by) { return name_in(methods, by); }

problem options::sizes(int n_ranks) const {
    const int n_threads = tiled::compute_threads_of(which, n_cores);
    // One thread needs no pieces but for probing between them; several share each chunk, with something to balance.
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
    texts given;
    std::string mode_names;
    for (const auto& m : tiled::modes()) mode_names += (mode_names.empty() ? "" : "|") + std::string(m.name);
    CLI::App app{"One-dimensional FFT over MPI ranks with one all-to-all instead of three; every run checks itself.",
                 "fft_soi"};
    app.add_option("--n", given.n, "Points, as 1048576 or 2^20")->capture_default_str();
    app.add_option("--mode,--schedule", given.mode, mode_names)->capture_default_str();
    app.add_option("--method", given.by, names_of(methods) + ": sixstep is Cooley-Tukey on the same exchange")
        ->capture_default_str();
    app.add_option("--preset", given.preset, preset_names() + "; default full, in single precision f32");
    app.add_option("--precision", given.real, names_of(precisions))->capture_default_str();
    app.add_option("--segments", o.n_segments, "Segments of the spectrum per rank")->capture_default_str();
    app.add_option("--chunks", o.n_chunks, "Chunks of the input per rank; default: messages of at least 128 KiB")
        ->check(CLI::Range(1, most_chunks));
    app.add_option("--pieces", o.n_pieces, "Pieces of a chunk; default: two per compute thread")
        ->check(CLI::Range(1, most_chunks));
    app.add_option("--threads", o.n_cores, "Cores per rank, communication thread included")->capture_default_str();
    app.add_option("--probe-every", o.probe_every, "Mode iprobe: pieces between probes")->capture_default_str();
    app.add_option("--at-once", o.at_once, "Modes offload, omp, tbb: messages in flight, the most urgent first; 0: all")
        ->check(CLI::Range(0, most_chunks))
        ->capture_default_str();
    app.add_option("--plan", given.plan,
                   "on|off: modes offload, omp and tbb start the messages of a segment by one post, and all sends")
        ->capture_default_str();
    app.add_option("--lanes", o.n_lanes, "Modes offload, omp, tbb: spread the messages over so many lanes")
        ->check(CLI::Range(1, 16))
        ->capture_default_str();
    app.add_option("--sign", given.sign, "-1: forward, 1: inverse, scaled by 1/N")->capture_default_str();
    app.add_flag("--inplace", o.in_place, "The result replaces the input");
    app.add_option("--repeat,--reps", o.repeats, "Timed transforms; the median is reported")->capture_default_str();
    app.add_option("--check", given.check, names_of(check_levels) + ": spot sums 16 bins, full gathers all (N <= 2^22)")
        ->capture_default_str();
    app.add_option("--rigor", given.effort, "FFTW's planning: " + names_of(rigors))->capture_default_str();
    app.add_option("--wisdom", o.wisdom_file, "Keep FFTW's plans in this file");
    auto* const mu = app.add_option("--mu", given.mu, "Explicit window: oversampling n/d; default 5/4");
    auto* const width = app.add_option("--B", o.window.width, "Explicit window: width in rows");
    auto* const tau = app.add_option("--tau", o.window.tau, "Explicit window: width of the passband");
    auto* const shape = app.add_option("--b", o.window.shape, "Explicit window: b of the Kaiser-Bessel, or sigma");
    auto* const family = app.add_option("--window", given.family, "Explicit window: " + names_of(families));
    app.add_flag("--strict", o.is_strict, "Refuse a window whose predicted error is above 1e-3");
    app.add_option("--trace", o.trace_file, "Write the timeline of the last run to this file");
    app.add_option("--json", o.json_file, "Write everything to this file");

    miniapp::parse_into(parsed, app, argc, argv, [&]() -> std::string {
        const bool is_explicit = *mu || *width || *tau || *shape || *family;
        if (o.n_cores < 1 || o.n_cores > 4096) return "--threads must be between 1 and 4096; choose 1.";
        if (o.repeats < 1 || o.repeats > 10'000) return "--repeat must be between 1 and 10000; choose 15.";
        if (o.probe_every < 1) return "--probe-every must be at least 1; choose 1.";
        if (given.sign != "-1" && given.sign != "1" && given.sign != "+1") {
            return "--sign " + given.sign + " is unknown; choose -1 (forward) or 1 (inverse).";
        }
        o.sign = given.sign == "-1" ? -1 : 1;
        if (given.plan != "on" && given.plan != "off") return "--plan " + given.plan + " is unknown; choose on or off.";
        o.has_plan = given.plan == "on";
        o.n_points = parse_points(given.n);
        if (o.n_points == 0) {
            return "--n " + given.n + " is not a positive number up to 2^58; choose 1048576 or 2^20.";
        }
        std::string no = choose("--precision", given.real, precisions, o.real);
        if (no.empty()) no = choose_mode(given.mode, o.which);
        if (no.empty() && o.has_plan && !tiled::describe(o.which).needs_runtime) {
            no = "--plan on is for --mode offload, omp and tbb; choose one of them, or --plan off.";
        }
        if (no.empty() && o.has_plan && o.n_lanes > 1)
            no = "--plan on sends on one lane; leave --lanes out, or --plan off.";
        if (no.empty() && o.n_lanes > 1 && !tiled::describe(o.which).needs_runtime) {
            no = "--lanes works with --mode offload, omp or tbb only; choose one.";
        }
        if (no.empty()) no = choose("--method", given.by, methods, o.by);
        if (no.empty()) no = choose("--check", given.check, check_levels, o.check);
        if (no.empty()) no = choose("--rigor", given.effort, rigors, o.effort);
        if (no.empty()) no = set_window(given, is_explicit, o);
        return no;
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
