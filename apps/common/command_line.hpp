// SPDX-License-Identifier: Apache-2.0
// The command line of a miniapp: parsed by CLI11 before MPI starts, since the mode decides the thread level; what is
// wrong with it is kept as a sentence for rank 0 to print, so that all ranks leave together with status 2. What an option may be
// is said with it, and refused in the same words by all miniapps.
#pragma once

#include "common/extents.hpp"
#include "common/parsed.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace miniapp {

class command_line {
public:
    command_line(const char* program, const char* about) : app_(about, program) {}

    /// For what is particular to a miniapp.
    CLI::App& app() { return app_; }
    /// From `least` to `most`; what `into` has is the default, which may be another.
    CLI::Option* number(const char* option, int& into, int least, int most, const std::string& text);
    /// One of `names`: the place of the name, as a value of an enumeration, or on = 1. What `into` has is the default.
    template <class Value>
    CLI::Option* word(const char* option, Value& into, const std::vector<std::string>& names, const std::string& text) {
        return add_word(option, names, static_cast<std::size_t>(into), text,
                        [&into](std::size_t k) { into = static_cast<Value>(k); });
    }
    /// Numbers with dots between them, from 1 to `most`; `into` stays as it is where nothing is said.
    template <std::size_t N>
    void extents(const char* option, std::array<int, N>& into, int most, const char* example, const std::string& text) {
        const auto said = add_text(option, text);
        checks_.push_back([=, &into]() -> std::string {
            if (!*said) return {};
            const auto read = parse_extents<N>(**said, most);
            if (read) into = *read;
            return read ? "" : refuse_extents(option, **said, N, most, example);
        });
    }
    void file(const char* option, std::string& into, const char* text) { app_.add_option(option, into, text); }
    /// --mode, --threads, --repeat, --json; and --lanes, where there can be several.
    template <class Table>
    void usual(usual_options& o, const Table& modes, int most_lanes, const char* mode_option = "--mode",
               const char* repeat_option = "--repeat") {
        add_usual(o, {modes.begin(), modes.end()}, most_lanes, mode_option, repeat_option);
    }

    /// Reads, then asks `check` for the refusal of what was read: a sentence, empty when all is well. `into.values` is what the
    /// options and `check` write to.
    template <class Options, class Check>
    void parse_into(parsed<Options>& into, int argc, const char* const* argv, Check&& check) {
        checks_.emplace_back(std::forward<Check>(check));
        std::tie(into.message, into.exit_code) = parse(argc, argv);
    }

private:
    /// What was given, once it was.
    std::shared_ptr<std::optional<std::string>> add_text(const char* option, const std::string& text);
    CLI::Option* add_word(const char* option, const std::vector<std::string>& names, std::size_t usual,
                          const std::string& text, std::function<void(std::size_t)> set);
    void add_usual(usual_options& o, const std::vector<mode_facts>& modes, int most_lanes, const char* mode_option,
                   const char* repeat_option);
    static std::string refuse_extents(const std::string& option, const std::string& said, std::size_t n, int most,
                                      const std::string& example);
    /// Message and exit code of a farewell, if there is one.
    std::pair<std::string, int> parse(int argc, const char* const* argv);

    CLI::App app_;
    std::vector<std::function<std::string()>> checks_; ///< Of what was read; each gives a refusal.
};

} // namespace miniapp
