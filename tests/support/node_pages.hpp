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

/// Large messages of other nodes that were announced to the node's rank in this place, of one lane, less those that have ended there.
/// @return nothing if the process has no such memory
[[nodiscard]] inline std::optional<std::int32_t> announced_to(std::size_t place) {
    std::ifstream file{"/proc/self/maps"};
    for (std::string line; std::getline(file, line);) {
        if (line.find("commtask-node") == std::string::npos) continue;
        auto* const pages = reinterpret_cast<void*>(std::strtoull(line.c_str(), nullptr, 16));
        return node_bells{pages, {}, place, 1}.announced_to_me().load();
    }
    return {};
}

} // namespace commtask::detail::testing
