// SPDX-License-Identifier: Apache-2.0
// How a run is told: a few lines and one table for people, everything as JSON for programs, the timeline as one JSON
// document of all ranks for the plot. What a table rounds, the JSON keeps.
#include "common/whole_file.hpp"
#include "driver.hpp"

#include <array>

namespace soi {

namespace {

const char* mode_name(const run_report& r) { return tiled::describe(r.settings.which).name; }

} // namespace

nlohmann::ordered_json tell(const run_report& r) {
    const options& o = r.settings;
    const double predicted = r.quality.predicted(epsilon(o.real));
    nlohmann::ordered_json all{
        {"program", "fft_soi"},
        {"n", o.n_points},
        {"method", name_of(o.by)},
        {"precision", name_of(o.real)},
        {"sign", o.sign},
        {"in_place", o.in_place},
        {"ranks", r.n_ranks},
        {"compute_threads", r.compute_threads},
        {"cores", r.cores},
        {"segments", o.n_segments},
        {"chunks", r.n_chunks},
        {"message_bytes", r.message_bytes},
        {"traffic",
         {{"messages", r.traffic.messages}, {"bytes", r.traffic.bytes}, {"halo_bytes", r.traffic.halo_bytes}}},
        {"messages_us", r.message_seconds * 1e6},
        {"plan_s", r.plan_seconds},
        {"tables_s", r.table_seconds},
        {"check", name_of(o.check)},
        {"fingerprint", miniapp::fingerprint_text(r.fingerprint)}};
    if (o.n_chunks > r.n_chunks) all["warning"].push_back("more chunks than tiles were asked for");
    if (o.by == method::soi) {
        const shape& s = r.sizes;
        all["window"] = {{"preset", o.preset_name},
                         {"n", o.window.n},
                         {"d", o.window.d},
                         {"B", o.window.width},
                         {"family", o.window.family == window_family::gauss ? "gauss" : "kb"},
                         {"tau", o.window.tau},
                         {"b", o.window.shape},
                         {"predicted_error", predicted},
                         {"alias_rms", r.quality.alias_rms},
                         {"alias_max", r.quality.alias_max},
                         {"kappa", r.quality.kappa}};
        all["sizes"] = {{"S", s.all_segments}, {"M", s.segment_points}, {"M'", s.long_segment}, {"L", s.rows}};
        if (!(predicted <= 1e-3))
            all["warning"].push_back("this window's result is hardly a spectrum; --strict would refuse it");
    }
    miniapp::tell_times(all, mode_name(r), r.repeats, r.traffic.messages > 0 ? r.message_seconds : 0,
                        {.step = "FFT", .internal = "produce", .external = "consume", .unit = 1e-3},
                        [&](const timing& one) { return nlohmann::ordered_json{{"gflops", r.gflops(one)}}; });
    return all;
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
