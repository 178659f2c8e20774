// SPDX-License-Identifier: Apache-2.0
// Counts instead of all samples: a report stays small enough to be gathered from every rank. Two digits of a time are what
// anyone reads of a lateness. The first million samples are enough; a longer run does not make the report larger.
#include "delayed/direction_seen.h"

#include <cmath>
#include <map>

namespace commtask::bench {
namespace {

/// To two significant digits, and to a microsecond below ten.
std::int64_t rounded(double late_us) {
    std::int64_t unit = 1;
    while (std::abs(late_us) / static_cast<double>(unit) >= 99.5) unit *= 10;
    return std::llround(late_us / static_cast<double>(unit)) * unit;
}

} // namespace

nlohmann::ordered_json describe(const direction_seen& seen) {
    std::map<std::int64_t, std::size_t> counts;
    for (const double value : seen.late_us) ++counts[rounded(value)];
    nlohmann::ordered_json out;
    out["frames"] = seen.n_frames;
    out["bytes"] = seen.n_bytes;
    out["dropped"] = seen.n_dropped;
    out["late_us"] = nlohmann::ordered_json::array();
    for (const auto& [late_us, n_frames] : counts) out["late_us"].push_back({late_us, n_frames});
    return out;
}

} // namespace commtask::bench
