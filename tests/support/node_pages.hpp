// SPDX-License-Identifier: Apache-2.0
//
// The memory that this rank shares with its node, found among what the process has mapped, since it has no name that a test could
// open. What lies in it is read as the library's own code reads it.
#pragma once

#include "core/node_bell.hpp"

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

namespace commtask::detail::testing {

/// As the rank in this place has it, of one lane, whose watcher is the first. @return nothing if the process has no such memory
[[nodiscard]] inline std::optional<node_bells> mapped_bells(std::size_t place) {
    std::ifstream file{"/proc/self/maps"};
    for (std::string line; std::getline(file, line);) {
        if (line.find("commtask-node") == std::string::npos) continue;
        auto* const pages = reinterpret_cast<void*>(std::strtoull(line.c_str(), nullptr, 16));
        return node_bells{pages, {}, place, 1, 0};
    }
    return {};
}

/// Large messages of other nodes that were announced to the rank in this place, less those that have ended there.
[[nodiscard]] inline std::optional<std::int32_t> announced_to(std::size_t place) {
    const std::optional<node_bells> found = mapped_bells(place);
    return found ? std::optional{found->announced_to_me().load()} : std::nullopt;
}

} // namespace commtask::detail::testing
