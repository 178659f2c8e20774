// SPDX-License-Identifier: Apache-2.0
//
// Messages are written without allocating, since there are messages when there is no memory, too. A
// line that is too long is cut; the lists, which are the only long texts, are not written here.
#include "base/speech.hpp"

#include "base/printable.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>

namespace commtask::detail {
namespace {

std::array<char, 40> beginning{"commtask: "};

} // namespace

void introduce(int rank) noexcept { std::snprintf(beginning.data(), beginning.size(), "commtask: rank %d: ", rank); }

std::string_view opening() noexcept { return beginning.data(); }

void say(const char* format, ...) noexcept {
    std::array<char, 1024> text;
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text.data(), text.size(), format, arguments);
    va_end(arguments);
    std::array<char, 2 * text.size()> shown;
    const std::size_t size = write_printable(text.data(), shown);
    std::fprintf(stderr, "%s%.*s\n", beginning.data(), static_cast<int>(size), shown.data());
}

} // namespace commtask::detail
