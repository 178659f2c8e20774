// SPDX-License-Identifier: Apache-2.0
//
// Messages are written without allocation, since they may report a lack of memory. A message that
// is too long is cut.
#include "base/log.hpp"

#include "base/printable.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>

namespace commtask::detail {
namespace {

std::array<char, 40> prefix{"commtask: "};

} // namespace

void set_log_rank(int rank) noexcept { std::snprintf(prefix.data(), prefix.size(), "commtask: rank %d: ", rank); }

std::string_view log_prefix() noexcept { return prefix.data(); }

void say(const char* format, ...) noexcept {
    std::array<char, 1024> text;
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text.data(), text.size(), format, arguments);
    va_end(arguments);
    std::array<char, 2 * text.size()> shown;
    const std::size_t size = write_printable(text.data(), shown);
    std::fprintf(stderr, "%s%.*s\n", prefix.data(), static_cast<int>(size), shown.data());
}

} // namespace commtask::detail
