// SPDX-License-Identifier: Apache-2.0
// The command line. Words are checked when it is parsed, before MPI starts; what they mean together (N, ranks, segments,
// window, precision, memory) in settle(), before anything is allocated.
#pragma once

#include "common/memory.hpp"
#include "common/parsed.hpp"
#include "distributed_fft.hpp"
#include "presets.hpp"

namespace soi {

enum class check_level { none, spot, full };

struct options : miniapp::usual_options {
    options() { repeats = 15; }
    index_type n_points = 1 << 20;
    method by = method::soi;
    precision real = precision::double_;
    std::string preset_name; ///< Empty: an explicit window.
    window_parameters window;
    bool is_strict = false;
    int n_segments = 8;
    int n_chunks = 0;
    int n_pieces = 0;
    tiled::mode which = tiled::mode::baseline;
    int probe_every = 1;
    int at_once = 4;
    bool has_plan = false; ///< Modes offload, omp, tbb.
    int sign = -1;
    bool in_place = false;
    check_level check = check_level::spot;
    rigor effort = rigor::measure;
    std::string wisdom_file;
    std::string trace_file;

    problem sizes(int n_ranks) const;
};

using parsed_options = miniapp::parsed<options>;

parsed_options parse_options(int argc, const char* const* argv);

/// The refusal for `n_ranks`, empty when all is well.
std::string settle(const options& values, int n_ranks);

/// What this rank allocates; of settled options.
miniapp::memory_need memory(const options& values, int rank, int n_ranks);

/// N as 1048576 or 2^20; 0 for anything else, also for what is larger than 64 bits.
index_type parse_points(const std::string& text);

const char* name_of(check_level level);
const char* name_of(precision real);
const char* name_of(method by);

} // namespace soi
