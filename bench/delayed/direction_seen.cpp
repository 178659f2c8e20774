// SPDX-License-Identifier: Apache-2.0
// Quantiles and counts instead of all samples: a report stays small enough to be gathered from every rank.
// The first million samples are enough for a percentile; a longer run does not make the report larger.
#include "delayed/direction_seen.h"

#include <algorithm>
#include <string>

#include "harness/statistics.h"

namespace commtask::bench {

nlohmann::ordered_json describe(const direction_seen& seen) {
    const summary late = summarize(seen.late_us);
    nlohmann::ordered_json out;
    out["frames"] = seen.n_frames;
    out["bytes"] = seen.n_bytes;
    out["dropped"] = seen.n_dropped;
    out["late_us"] = {{"median", late.median}, {"p90", late.p90}, {"p99", late.p99}};
    for (const int limit : {20, 50, 200}) {
        out["later_than_us"][std::to_string(limit)] =
            std::ranges::count_if(seen.late_us, [&](double value) { return value > limit; });
    }
    return out;
}

} // namespace commtask::bench
