// SPDX-License-Identifier: Apache-2.0
//
// Escapes names from the program or another process, such as a communicator's name, for text that a
// terminal shows. Control characters, and bytes that are not UTF-8, are escaped as \x1b and so on.
// So no name moves the cursor or begins a new line. The library and commtask-report use the same
// escapes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace commtask::detail {

inline constexpr std::size_t escape_bytes = 4; ///< The length of an escaped byte, such as "\x1b".

/// Whether a terminal would execute the character instead of showing it. Includes the control
/// characters of ASCII and Latin-1, and characters that end a line or change the direction of text.
[[nodiscard]] constexpr bool is_control(std::uint32_t code) noexcept {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200e || code == 0x200f ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

/// The number of bytes of the first UTF-8 character; 0 if its first byte must be escaped.
[[nodiscard]] inline std::size_t shown_bytes(std::string_view text) noexcept {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return is_control(lead) ? 0 : 1;
    const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return 0;
    std::uint32_t code = lead & (0xffU >> (size + 1));
    for (std::size_t at = 1; at < size; ++at) {
        if ((byte(at) & 0xc0U) != 0x80) return 0;
        code = code << 6 | (byte(at) & 0x3fU);
    }
    constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = code >= 0xd800 && code < 0xe000;
    return code < least[size] || code > 0x10ffff || is_surrogate || is_control(code) ? 0 : size;
}

/// Writes the escaped text, cut to the size of `to`.
/// @return the number of bytes written
inline std::size_t write_printable(std::string_view text, std::span<char> to) noexcept {
    constexpr std::string_view digits = "0123456789abcdef";
    std::size_t end = 0;
    while (!text.empty()) {
        const std::size_t shown = shown_bytes(text);
        if (to.size() - end < (shown == 0 ? escape_bytes : shown)) break;
        if (shown == 0) {
            const auto byte = static_cast<unsigned char>(text[0]);
            for (const char each : {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]}) to[end++] = each;
        } else {
            end += text.copy(to.data() + end, shown);
        }
        text.remove_prefix(shown == 0 ? 1 : shown);
    }
    return end;
}

[[nodiscard]] inline std::string printable(std::string_view name) {
    std::string shown(escape_bytes * name.size(), '\0');
    shown.resize(write_printable(name, shown));
    return shown;
}

} // namespace commtask::detail
