// SPDX-License-Identifier: Apache-2.0
// The same plan is run by the serial schedule first and by the chosen one afterwards: their results must be the same to
// the last bit. FFTW may choose other plans in other processes, so bits are compared within one.
#include "driver.hpp"

#include "common/clock.hpp"
#include "common/runtime_session.hpp"
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

template <class Real>
void run_in(const options& o, MPI_Comm comm, run_report& report) {
    using complex = std::complex<Real>;
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    miniapp::lane_comms lanes{comm, o.n_lanes};
    const int n_threads = tiled::compute_threads_of(o.which, o.n_cores);
    const double scale = o.sign < 0 ? 1.0 : 1.0 / static_cast<double>(o.n_points);
    const double planning = miniapp::seconds();
    const auto fft =
        make_fft<Real>(o.by, {o.sizes(report.n_ranks), rank, std::max(1, n_threads), o.sign, scale, o.effort});
    report.plan_seconds = miniapp::seconds() - planning;
    report.table_seconds = fft->table_seconds();
    report.traffic = fft->expected_traffic();
    const tiled::layout& sizes = fft->exchanges()[0]->sizes();
    report.n_chunks = sizes.n_chunks();
    for (int chunk = 0; chunk < sizes.n_chunks(); ++chunk) {
        const auto c = static_cast<std::size_t>(chunk);
        const auto rows = static_cast<std::size_t>(sizes.chunk_rows[c + 1] - sizes.chunk_rows[c]);
        report.message_bytes = std::max(report.message_bytes, rows * sizes.cell_bytes);
    }

    const auto n = static_cast<std::size_t>(o.n_points / report.n_ranks);
    aligned_array<complex> x(n);
    aligned_array<complex> separate(o.in_place ? 0 : n);
    complex* const y = o.in_place ? x.data() : separate.data();
    fill(x, rank);
    std::fill_n(y, o.in_place ? 0 : n, complex{});
    fft->bind(x.data(), y);

    const preset* const named = find_preset(o.preset_name);
    const bool is_soi = o.by == method::soi;
    const double plain_error = o.real == precision::double_ ? 2e-15 : 6e-7;
    const checker<Real> checks{comm,
                               o.n_points,
                               o.sign,
                               scale,
                               is_soi ? allowed_error(named, report.quality, o.real) : plain_error,
                               !is_soi            ? "an ordinary FFT"
                               : named != nullptr ? "preset " + o.preset_name
                                                  : "explicit window"};
    std::uint64_t expected = 0;
    std::uint64_t expected_messages = 0;
    if (o.check != check_level::none) {
        const auto serial = tiled::make_schedule(tiled::mode::serial, {.comm = comm});
        fft->run(*serial);
        expected = miniapp::sum_of(checks.local_fingerprint({y, n}), comm);
        expected_messages = miniapp::sum_of(print_of_messages(*fft), comm);
        fill(x, rank);
    }
    report.message_seconds = fft->message_seconds(comm);

    std::vector<miniapp::phase_times> times;
    miniapp::run_prints prints;
    miniapp::run_prints messages;
    tiled::traffic counted;
    {
        // A chunk's messages are ready at once.
        const auto n_messages = static_cast<std::size_t>(std::max(1, sizes.n_segments * sizes.n_peers()));
        std::vector<MPI_Comm> of_messages = lanes.spread(report.message_bytes, n_messages, true);
        const auto active = tiled::make_schedule(o.which, {.comm = comm,
                                                           .n_cores = lanes.beside_lanes(o.n_cores),
                                                           .at_once = o.at_once,
                                                           .probe_every = o.probe_every,
                                                           .has_plan = o.has_plan,
                                                           .lanes = std::move(of_messages)});
        report.compute_threads = active->compute_threads();
        report.cores = active->cores() + lanes.n_more_lanes();
        for (int k = -1; k < o.repeats; ++k) {
            if (o.in_place) fill(x, rank);
            const bool is_last = k + 1 == o.repeats;
            if (is_last && !o.trace_file.empty()) active->trace_to(&report.trace);
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
    report.repeats = miniapp::per_step(times, 1, comm);
    report.checks.push_back(miniapp::time_passed(report.repeats, report.gflops(report.median())));
    prints.sum(comm);
    messages.sum(comm);
    report.fingerprint = prints.last();
    report.checks.push_back(checks.traffic_is(counted, report.traffic));
    const bool has_expected = o.check != check_level::none;
    report.checks.push_back(has_expected ? prints.compare(expected, "mode serial's") : prints.compare());
    report.checks.push_back(has_expected ? messages.compare(expected_messages, "mode serial's messages")
                                         : messages.compare());
    if (o.check == check_level::none) return;
    aligned_array<complex> input(o.in_place ? n : 0);
    if (o.in_place) fill(input, rank);
    const std::span<const complex> in(o.in_place ? input.data() : x.data(), n);
    const index_type segment = is_soi ? report.sizes.segment_points : o.n_points / 2;
    report.checks.push_back(checks.spot_bins(in, {y, n}, segment));
    report.checks.push_back(checks.parseval(in, {y, n}));
    if (o.check == check_level::full) {
        const auto full = checks.against_reference(in, {y, n});
        report.checks.insert(report.checks.end(), full.begin(), full.end());
    }
}

} // namespace

double run_report::gflops(const timing& t) const {
    const auto n = static_cast<double>(settings.n_points);
    return 5 * n * std::log2(n) / t.slowest_total / 1e9;
}

run_report run(const options& settings, MPI_Comm comm) {
    run_report report;
    report.settings = settings;
    MPI_Comm_size(comm, &report.n_ranks);
    if (!settings.wisdom_file.empty()) load_wisdom(settings.wisdom_file);
    if (settings.by == method::soi) {
        report.quality = assess(settings.window);
        report.sizes = make_shape(settings.sizes(report.n_ranks), settings.real == precision::double_ ? 16 : 8);
    }
    if (settings.real == precision::double_) {
        run_in<double>(settings, comm, report);
    } else {
        run_in<float>(settings, comm, report);
    }
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    if (!settings.wisdom_file.empty() && rank == 0) report.no_wisdom = save_wisdom(settings.wisdom_file);
    return report;
}

} // namespace soi
