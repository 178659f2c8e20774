// SPDX-License-Identifier: Apache-2.0
// CLI11 does the words; its own messages can have several lines, a refusal here has one.
// Nothing is printed: under mpiexec every rank would say it.
#include "common/command_line.hpp"

namespace miniapp {

namespace {

std::string one_line(std::string text) {
    for (char& c : text) {
        if (c == '\n') c = ' ';
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    return text;
}

} // namespace

std::optional<farewell> parse(CLI::App& app, int argc, const char* const* argv) {
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        return farewell{app.help(), 0};
    } catch (const CLI::ParseError& error) {
        return farewell{app.get_name() + ": " + one_line(error.what()) + "; --help lists the options.", 2};
    }
    return std::nullopt;
}

} // namespace miniapp
