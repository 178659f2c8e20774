// SPDX-License-Identifier: Apache-2.0
// The same plan is run by the serial schedule first and by the chosen one afterwards: their results must be the same to
// the last bit. FFTW may choose other plans in other processes, so bits are compared within one.
#include "driver.hpp"

#include "common/clock.hpp"
#include "common/report_json.hpp"
#include "common/runtime_session.hpp"
#include "common/whole_file.hpp"
#include "exchange/messages.hpp"
#include "reference.hpp"
#include "verify.hpp"
#include "wisdom.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace soi {

namespace {

int rank_in(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

int size_of(MPI_Comm comm) {
    int n = 1;
    MPI_Comm_size(comm, &n);
    return n;
}

template <class Real>
void fill(aligned_array<std::complex<Real>>& x, int rank) {
    const auto n = static_cast<index_type>(x.size());
#pragma omp parallel for schedule(static)
    for (index_type j = 0; j < n; ++j) {
        x[static_cast<std::size_t>(j)] = std::complex<Real>(random_point(rank * n + j));
    }
}

/// A fingerprint of the messages that came last in a run, as it left them: rounding swallows low bits of theirs in the result, and the
/// window takes the ends of a halo times almost nothing.
template <class Real>
std::uint64_t print_of_messages(distributed_fft<Real>& fft) {
    std::uint64_t bits = 0;
    std::uint64_t place = 0;
    const auto add = [&](const tiled::incoming_message& one) {
        for (MPI_Count k = 0; k < one.size_bytes; k += MPI_Count{sizeof(double)}) {
            double each = 0;
            std::memcpy(&each, one.data + k, sizeof each);
            bits += miniapp::print_of(each, place++);
        }
    };
    for (tiled::work* const one : fft.exchanges()) {
        if (tiled::halo_travels(*one)) add(tiled::incoming_halo(*one));
    }
    tiled::for_each_incoming(*fft.exchanges().back(), add);
    return bits;
}

/// Every rank's timeline as one document, by rank 0; why it could not be written. Collective.
std::string write_trace(const std::vector<tiled::span>& mine, const options& o, MPI_Comm comm) {
    static_assert(std::is_trivially_copyable_v<tiled::span>);
    const int own = static_cast<int>(mine.size() * sizeof(tiled::span));
    std::vector<int> sizes(static_cast<std::size_t>(size_of(comm)));
    MPI_Gather(&own, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, comm);
    std::vector<int> offsets(sizes.size(), 0);
    for (std::size_t k = 1; k < sizes.size(); ++k) offsets[k] = offsets[k - 1] + sizes[k - 1];
    std::vector<tiled::span> all(static_cast<std::size_t>(offsets.back() + sizes.back()) / sizeof(tiled::span));
    MPI_Gatherv(mine.data(), own, MPI_BYTE, all.data(), sizes.data(), offsets.data(), MPI_BYTE, 0, comm);
    if (rank_in(comm) != 0) return {};
    constexpr std::array kinds{"produce", "consume", "wait"};
    nlohmann::json spans = nlohmann::json::array();
    for (std::size_t of = 0; of < sizes.size(); ++of) {
        const auto first = static_cast<std::size_t>(offsets[of]) / sizeof(tiled::span);
        for (std::size_t k = 0; k < static_cast<std::size_t>(sizes[of]) / sizeof(tiled::span); ++k) {
            const tiled::span& s = all[first + k];
            spans.push_back({{"rank", of},
                             {"worker", s.worker},
                             {"what", kinds[static_cast<std::size_t>(s.what)]},
                             {"number", s.number},
                             {"begin_us", s.begin * 1e6},
                             {"end_us", s.end * 1e6}});
        }
    }
    const nlohmann::json document{{"mode", tiled::describe(o.which).name}, {"n", o.n_points}, {"spans", spans}};
    return miniapp::write_whole(o.trace_file, document.dump() + "\n");
}

nlohmann::ordered_json tell_window(const options& o, const window_quality& quality) {
    return {{"preset", o.preset_name},
            {"n", o.window.n},
            {"d", o.window.d},
            {"B", o.window.width},
            {"family", o.window.family == window_family::gauss ? "gauss" : "kb"},
            {"tau", o.window.tau},
            {"b", o.window.shape},
            {"predicted_error", quality.predicted(epsilon(o.real))},
            {"alias_rms", quality.alias_rms},
            {"alias_max", quality.alias_max},
            {"kappa", quality.kappa}};
}

template <class Real>
miniapp::outcome run_in(const options& o, MPI_Comm comm) {
    using complex = std::complex<Real>;
    const int rank = rank_in(comm);
    const int n_ranks = size_of(comm);
    const bool is_soi = o.by == method::soi;
    const window_quality quality = is_soi ? assess(o.window) : window_quality{};
    miniapp::lane_comms lanes{comm, o.n_lanes};
    const int n_threads = tiled::compute_threads_of(o.which, o.n_cores);
    const double scale = o.sign < 0 ? 1.0 : 1.0 / static_cast<double>(o.n_points);
    const double planning = miniapp::seconds();
    const auto fft = make_fft<Real>(o.by, {o.sizes(n_ranks), rank, std::max(1, n_threads), o.sign, scale, o.effort});
    const double plan_seconds = miniapp::seconds() - planning;
    const tiled::traffic traffic = fft->expected_traffic();
    const tiled::layout& sizes = fft->exchanges()[0]->sizes();
    std::size_t message_bytes = 0; // of the largest
    for (std::size_t c = 0; c + 1 < sizes.chunk_rows.size(); ++c) {
        const auto rows = static_cast<std::size_t>(sizes.chunk_rows[c + 1] - sizes.chunk_rows[c]);
        message_bytes = std::max(message_bytes, rows * sizes.cell_bytes);
    }

    const auto n = static_cast<std::size_t>(o.n_points / n_ranks);
    aligned_array<complex> x(n);
    aligned_array<complex> separate(o.in_place ? 0 : n);
    complex* const y = o.in_place ? x.data() : separate.data();
    fill(x, rank);
    std::fill_n(y, o.in_place ? 0 : n, complex{});
    fft->bind(x.data(), y);

    const preset* const named = find_preset(o.preset_name);
    const double plain_error = o.real == precision::double_ ? 2e-15 : 6e-7;
    const checker<Real> checks{comm,
                               o.n_points,
                               o.sign,
                               scale,
                               is_soi ? allowed_error(named, quality, o.real) : plain_error,
                               !is_soi            ? "an ordinary FFT"
                               : named != nullptr ? "preset " + o.preset_name
                                                  : "explicit window"};
    const bool is_checked = o.check != check_level::none;
    std::uint64_t expected = 0;
    std::uint64_t expected_messages = 0;
    if (is_checked) {
        const auto serial = tiled::make_schedule(tiled::mode::serial, {.comm = comm});
        fft->run(*serial);
        expected = miniapp::sum_of(checks.local_fingerprint({y, n}), comm);
        expected_messages = miniapp::sum_of(print_of_messages(*fft), comm);
        fill(x, rank);
    }
    const double message_seconds = fft->message_seconds(comm);

    std::vector<miniapp::phase_times> times;
    miniapp::run_prints prints;
    miniapp::run_prints messages;
    tiled::traffic counted;
    std::vector<tiled::span> trace; // of the last run
    int compute_threads = 1;
    int cores = 1;
    {
        // A chunk's messages are ready at once.
        const auto n_messages = static_cast<std::size_t>(std::max(1, sizes.n_segments * sizes.n_peers()));
        std::vector<MPI_Comm> of_messages = lanes.spread(message_bytes, n_messages, true);
        const auto active = tiled::make_schedule(o.which, {.comm = comm,
                                                           .n_cores = lanes.beside_lanes(o.n_cores),
                                                           .at_once = o.at_once,
                                                           .probe_every = o.probe_every,
                                                           .has_plan = o.has_plan,
                                                           .lanes = std::move(of_messages)});
        compute_threads = active->compute_threads();
        cores = active->cores() + lanes.n_more_lanes();
        for (int k = -1; k < o.repeats; ++k) {
            if (o.in_place) fill(x, rank);
            if (k + 1 == o.repeats && !o.trace_file.empty()) active->trace_to(&trace);
            active->barrier();
            const tiled::phase_times one = fft->run(*active);
            if (k >= 0) {
                times.push_back(one);
                prints.add(checks.local_fingerprint({y, n}));
                messages.add(print_of_messages(*fft));
            }
            counted = one.sent;
        }
        active->barrier();
    }
    const std::vector<miniapp::timing> runs = miniapp::per_step(times, 1, comm);
    // 5 N log2 N per transform, as everybody counts, whatever was computed.
    const auto points = static_cast<double>(o.n_points);
    const auto speed = [&](const miniapp::timing& one) {
        return nlohmann::ordered_json{{"gflops", 5 * points * std::log2(points) / one.slowest_total / 1e9}};
    };
    prints.sum(comm);
    messages.sum(comm);
    miniapp::outcome all{
        {miniapp::time_passed(runs, speed(runs[runs.size() / 2])["gflops"]), checks.traffic_is(counted, traffic),
         is_checked ? prints.compare(expected, "mode serial's") : prints.compare(),
         is_checked ? messages.compare(expected_messages, "mode serial's messages") : messages.compare()}};
    if (is_checked) {
        aligned_array<complex> input(o.in_place ? n : 0);
        if (o.in_place) fill(input, rank);
        const std::span<const complex> in(o.in_place ? input.data() : x.data(), n);
        all.checks.push_back(
            checks.spot_bins(in, {y, n}, is_soi ? o.n_points / (o.n_segments * n_ranks) : o.n_points / 2));
        all.checks.push_back(checks.parseval(in, {y, n}));
        if (o.check == check_level::full) {
            const auto full = checks.against_reference(in, {y, n});
            all.checks.insert(all.checks.end(), full.begin(), full.end());
        }
    }
    if (!o.trace_file.empty()) {
        const std::string why = write_trace(trace, o, comm);
        all.are_written = rank != 0 || miniapp::was_written("fft_soi", {"--trace", o.trace_file}, why);
    }
    if (rank != 0) return all;

    all.told = {
        {"program", "fft_soi"},
        {"n", o.n_points},
        {"method", name_of(o.by)},
        {"precision", name_of(o.real)},
        {"sign", o.sign},
        {"in_place", o.in_place},
        {"ranks", n_ranks},
        {"compute_threads", compute_threads},
        {"cores", cores},
        {"segments", o.n_segments},
        {"chunks", sizes.n_chunks()},
        {"message_bytes", message_bytes},
        {"traffic", {{"messages", traffic.messages}, {"bytes", traffic.bytes}, {"halo_bytes", traffic.halo_bytes}}},
        {"messages_us", message_seconds * 1e6},
        {"plan_s", plan_seconds},
        {"tables_s", fft->table_seconds()},
        {"check", name_of(o.check)},
        {"fingerprint", miniapp::fingerprint_text(prints.last())}};
    if (o.n_chunks > sizes.n_chunks()) all.told["warning"].push_back("more chunks than tiles were asked for");
    if (is_soi) {
        const shape s = make_shape(o.sizes(n_ranks), sizeof(complex));
        all.told["window"] = tell_window(o, quality);
        all.told["sizes"] = {{"S", s.all_segments}, {"M", s.segment_points}, {"M'", s.long_segment}, {"L", s.rows}};
        if (!(quality.predicted(epsilon(o.real)) <= 1e-3))
            all.told["warning"].push_back("this window's result is hardly a spectrum; --strict would refuse it");
    }
    miniapp::tell_times(all.told, tiled::describe(o.which).name, runs, traffic.messages > 0 ? message_seconds : 0,
                        {.step = "FFT", .internal = "produce", .external = "consume", .unit = 1e-3}, speed);
    return all;
}

} // namespace

miniapp::outcome run(const options& settings, MPI_Comm comm) {
    if (!settings.wisdom_file.empty()) load_wisdom(settings.wisdom_file);
    miniapp::outcome all =
        settings.real == precision::double_ ? run_in<double>(settings, comm) : run_in<float>(settings, comm);
    if (!settings.wisdom_file.empty() && rank_in(comm) == 0) {
        const std::string why = save_wisdom(settings.wisdom_file);
        all.are_written = miniapp::was_written("fft_soi", {"--wisdom", settings.wisdom_file}, why) && all.are_written;
    }
    return all;
}

} // namespace soi
