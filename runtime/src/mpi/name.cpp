// SPDX-License-Identifier: Apache-2.0
//
// Every MPI writes its version in its own way. The table is searched in this order for the words
// before the number, since MPIs that are based on MPICH mention MPICH.
#include "mpi/name.hpp"

#include <algorithm>
#include <charconv>

namespace commtask::detail {
namespace {

struct way_to_say {
    std::string_view words;
    std::string_view family;
    std::string_view name;
    mpi_abi abi;
};

constexpr std::array ways{
    way_to_say{"Open MPI v", "openmpi", "Open MPI", mpi_abi::openmpi},
    way_to_say{"Intel(R) MPI Library", "intel", "Intel MPI", mpi_abi::mpich},
    way_to_say{"CRAY MPICH version", "cray", "Cray MPICH", mpi_abi::mpich},
    way_to_say{"MVAPICH", "mvapich", "MVAPICH", mpi_abi::mpich},
    way_to_say{"MPICH Version", "mpich", "MPICH", mpi_abi::mpich},
};

[[nodiscard]] bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

[[nodiscard]] bool says(std::string_view text, std::string_view words) {
    return text.find(words) != std::string_view::npos;
}

/// The number after the last occurrence of `words`, which takes effect; `otherwise` if there is
/// none.
[[nodiscard]] int number_behind(std::string_view text, std::string_view words, int otherwise) {
    const std::size_t at = text.rfind(words);
    if (at == std::string_view::npos) return otherwise;
    const std::string_view after = text.substr(at + words.size());
    // Without a number, the result is `otherwise`.
    std::from_chars(after.data(), after.data() + after.size(), otherwise);
    return otherwise;
}

/// The maximum number of contexts, from the lines of MPICH's text about its device and its
/// configuration.
[[nodiscard]] int most_contexts(const mpi_name& mpich, std::string_view library_version) {
    const auto [major, minor, patch] = mpich.numbers();
    if (major < 4 || (major == 4 && minor < 1) || !says(library_version, "ch4:")) return 1;
    constexpr std::array for_one{"--enable-thread-cs=global", "--enable-threads=single"};
    if (std::ranges::any_of(for_one, [&](const char* words) { return says(library_version, words); })) return 1;
    constexpr int most = 64; // the default for a configuration without that option
    return std::clamp(number_behind(library_version, "--with-ch4-max-vcis=", most), 1, most);
}

/// The first word of the line that begins with a digit and contains a point.
[[nodiscard]] std::string_view version_in(std::string_view line) {
    line = line.substr(0, line.find('\n'));
    constexpr std::string_view between = " \t:,v";
    while (!line.empty()) {
        const std::string_view word = line.substr(0, line.find_first_of(between));
        if (!word.empty() && is_digit(word.front()) && word.find('.') != std::string_view::npos) return word;
        line.remove_prefix(std::min(line.size(), word.size() + 1));
    }
    return {};
}

} // namespace

std::array<int, 3> mpi_name::numbers() const noexcept {
    std::array<int, 3> result{};
    const char* place = version.data();
    const char* const end = place + version.size();
    for (int& number : result) {
        const auto [after, error] = std::from_chars(place, end, number);
        if (error != std::errc{} || after == end || *after != '.') break;
        place = after + 1;
    }
    return result;
}

mpi_name parse_mpi_name(std::string_view library_version) {
    for (const way_to_say& way : ways) {
        const std::size_t at = library_version.find(way.words);
        if (at == std::string_view::npos) continue;
        const std::string_view version = version_in(library_version.substr(at + way.words.size()));
        mpi_name found{std::string(way.family), std::string(way.name), std::string(version), way.abi};
        if (found.family == "mpich") found.most_contexts = most_contexts(found, library_version);
        return found;
    }
    return {};
}

bool is_among_tested(const mpi_name& mpi, std::string_view tested) {
    const auto [major, minor, patch] = mpi.numbers();
    const std::string release = ";" + mpi.family + " " + std::to_string(major) + "." + std::to_string(minor) + ".";
    std::string list{";"};
    list += tested;
    return list.find(release) != std::string::npos;
}

} // namespace commtask::detail
