// SPDX-License-Identifier: Apache-2.0
// How a run is told: a few lines and one table for people, everything as JSON for programs, the timeline as one JSON
// document of all ranks for the plot. What a table rounds, the JSON keeps.
#include "common/report_json.hpp"
#include "common/whole_file.hpp"
#include "driver.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>

namespace soi {

namespace {

const char* mode_name(const run_report& r) { return tiled::describe(r.settings.which).name; }

std::string window_name(const options& o) { return o.preset_name.empty() ? "explicit" : o.preset_name; }

void print_sizes(const run_report& r) {
    const options& o = r.settings;
    std::printf("fft_soi: N = %" PRId64 " on %d ranks, %s, %s precision, %s%s, mode %s\n", o.n_points, r.n_ranks,
                o.by == method::soi ? "SOI" : "six-step", name_of(o.real), o.sign < 0 ? "forward" : "inverse",
                o.in_place ? " in place" : "", mode_name(r));
    if (o.by == method::soi) {
        const shape& s = r.sizes;
        std::printf("window %s: mu = %d/%d, B = %d; predicted error %.1e, kappa %.3g\n", window_name(o).c_str(),
                    o.window.n, o.window.d, o.window.width, r.quality.predicted(epsilon(o.real)), r.quality.kappa);
        if (!(r.quality.predicted(epsilon(o.real)) <= 1e-3)) {
            std::printf("warning: this window's result is hardly a spectrum; --strict would refuse it\n");
        }
        std::printf("sizes: S = %d segments of M = %" PRId64 " bins, M' = %" PRId64 ", L = %" PRId64
                    " rows per rank; halo %.3g %% of the all-to-all\n",
                    s.all_segments, s.segment_points, s.long_segment, s.rows,
                    100.0 * s.window.width / (s.window.mu() * static_cast<double>(s.rows)));
    }
    std::printf("messages: %d chunks%s, %" PRId64 " per rank of at most %zu bytes, %" PRId64 " bytes + halo %" PRId64
                "; %.3f ms alone\n",
                r.n_chunks, o.n_chunks > r.n_chunks ? " (more than tiles were asked for)" : "", r.traffic.messages,
                r.message_bytes, r.traffic.bytes, r.traffic.halo_bytes, r.message_seconds * 1e3);
    std::printf("%d compute threads, %d cores per rank; plan %.3f s, %.3f s of it tables; MPI: %s\n\n",
                r.compute_threads, r.cores, r.plan_seconds, r.table_seconds, r.mpi_library.c_str());
}

nlohmann::json to_json(const timing& t, const run_report& r) {
    return {{"produce_us", t.phases.produce * 1e6},
            {"consume_us", t.phases.consume * 1e6},
            {"post_us", t.phases.post * 1e6},
            {"wait_us", t.phases.wait * 1e6},
            {"misc_us", t.phases.misc() * 1e6},
            {"total_us", t.phases.total * 1e6},
            {"slowest_total_us", t.slowest_total * 1e6},
            {"overlap", r.overlap(t)},
            {"gflops", r.gflops(t)}};
}

} // namespace

void print(const run_report& r) {
    print_sizes(r);
    const timing& t = r.median();
    std::printf("per FFT [ms]   produce   consume      post      wait      misc     total   overlap\n");
    std::printf("%-12s%10.3f%10.3f%10.3f%10.3f%10.3f%10.3f", mode_name(r), t.phases.produce * 1e3,
                t.phases.consume * 1e3, t.phases.post * 1e3, t.phases.wait * 1e3, t.phases.misc() * 1e3,
                t.phases.total * 1e3);
    if (r.traffic.messages > 0) {
        std::printf("%9.0f%%\n\n", r.overlap(t) * 100);
    } else {
        std::printf("         -\n\n");
    }
    std::printf("%.2f GF/s (5 N log2 N), median of %zu runs, %.2f to %.2f\n", r.gflops(t), r.repeats.size(),
                r.gflops(r.repeats.back()), r.gflops(r.repeats.front()));
    std::printf("fingerprint %016" PRIx64 "\n", r.fingerprint);
    miniapp::print_checks(r.checks);
}

std::string write_json(const run_report& r, const std::string& file) {
    const options& o = r.settings;
    nlohmann::json all;
    all["program"] = "fft_soi";
    all["n"] = o.n_points;
    all["method"] = name_of(o.by);
    all["precision"] = name_of(o.real);
    all["mode"] = mode_name(r);
    all["sign"] = o.sign;
    all["in_place"] = o.in_place;
    all["ranks"] = r.n_ranks;
    all["compute_threads"] = r.compute_threads;
    all["cores"] = r.cores;
    all["segments"] = o.n_segments;
    all["chunks"] = r.n_chunks;
    all["mpi_library"] = r.mpi_library;
    if (o.by == method::soi) {
        all["window"] = {{"preset", o.preset_name},
                         {"n", o.window.n},
                         {"d", o.window.d},
                         {"B", o.window.width},
                         {"family", o.window.family == window_family::gauss ? "gauss" : "kb"},
                         {"tau", o.window.tau},
                         {"b", o.window.shape},
                         {"predicted_error", r.quality.predicted(epsilon(o.real))},
                         {"alias_rms", r.quality.alias_rms},
                         {"alias_max", r.quality.alias_max},
                         {"kappa", r.quality.kappa}};
    }
    all["message_bytes"] = r.message_bytes;
    all["traffic"] = {
        {"messages", r.traffic.messages}, {"bytes", r.traffic.bytes}, {"halo_bytes", r.traffic.halo_bytes}};
    all["messages_us"] = r.message_seconds * 1e6;
    all["plan_s"] = r.plan_seconds;
    all["tables_s"] = r.table_seconds;
    all["median"] = to_json(r.median(), r);
    for (const timing& t : r.repeats) all["repeats"].push_back(to_json(t, r));
    std::array<char, 17> fingerprint{};
    std::snprintf(fingerprint.data(), fingerprint.size(), "%016" PRIx64, r.fingerprint);
    all["fingerprint"] = fingerprint.data();
    all["check"] = name_of(o.check);
    return miniapp::write_report(std::move(all), r.checks, file);
}

std::string write_trace(const run_report& r, const std::string& file, MPI_Comm comm) {
    static_assert(std::is_trivially_copyable_v<tiled::span>);
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const int own = static_cast<int>(r.trace.size() * sizeof(tiled::span));
    std::vector<int> sizes(static_cast<std::size_t>(r.n_ranks));
    MPI_Gather(&own, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, comm);
    std::vector<int> offsets(sizes.size(), 0);
    for (std::size_t k = 1; k < sizes.size(); ++k) offsets[k] = offsets[k - 1] + sizes[k - 1];
    std::vector<tiled::span> all(static_cast<std::size_t>(offsets.back() + sizes.back()) / sizeof(tiled::span));
    MPI_Gatherv(r.trace.data(), own, MPI_BYTE, all.data(), sizes.data(), offsets.data(), MPI_BYTE, 0, comm);
    if (rank != 0) return {};
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
    const nlohmann::json document{{"mode", mode_name(r)}, {"n", r.settings.n_points}, {"spans", spans}};
    return miniapp::write_whole(file, document.dump() + "\n");
}

} // namespace soi
