// SPDX-License-Identifier: Apache-2.0
// CLI11 does the words; its own messages can have several lines, a refusal here has one.
// Nothing is printed: under mpiexec every rank would say it.
#include "common/command_line.hpp"

#include <mpi.h>

#include <algorithm>

namespace miniapp {

namespace {

/// Of "--mode,--schedule".
std::string first_of(const std::string& option) { return option.substr(0, option.find(',')); }

} // namespace

std::pair<std::string, int> command_line::parse(int argc, const char* const* argv) {
    const std::string says = app_.get_name() + ": ";
    try {
        app_.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        return {app_.help(), 0};
    } catch (const CLI::ParseError& error) {
        std::string text = error.what();
        std::ranges::replace(text, '\n', ' ');
        text.erase(text.find_last_not_of(' ') + 1);
        return {says + text + "; --help lists the options.", 2};
    }
    for (const auto& check : checks_) {
        if (const std::string no = check(); !no.empty()) return {says + no, 2};
    }
    return {};
}

CLI::Option* command_line::number(const char* option, int& into, int least, int most, const std::string& text) {
    CLI::Option* const added = app_.add_option(option, into, text);
    if (into >= least) added->capture_default_str();
    checks_.push_back([=, &into]() -> std::string {
        if (added->count() == 0 || (into >= least && into <= most)) return {};
        return first_of(option) + " " + std::to_string(into) + " is not between " + std::to_string(least) + " and " +
               std::to_string(most) + "; choose one that is.";
    });
    return added;
}

std::shared_ptr<std::optional<std::string>> command_line::add_text(const char* option, const std::string& text) {
    auto said = std::make_shared<std::optional<std::string>>();
    app_.add_option_function<std::string>(option, [said](const std::string& given) { *said = given; }, text);
    return said;
}

CLI::Option* command_line::add_word(const char* option, const std::vector<std::string>& names, std::size_t usual,
                                    const std::string& text, std::function<void(std::size_t)> set) {
    const auto said = add_text(option, CLI::detail::join(names, "|") + ": " + text);
    checks_.push_back([=]() -> std::string {
        if (!*said) return {};
        const auto place = static_cast<std::size_t>(std::ranges::find(names, **said) - names.begin());
        if (place == names.size())
            return first_of(option) + " " + **said + " is unknown; choose " + CLI::detail::join(names, "|") + ".";
        set(place);
        return {};
    });
    return app_.get_option(first_of(option))->default_str(names.at(usual));
}

void command_line::add_usual(usual_options& o, const std::vector<mode_facts>& modes, int most_lanes,
                             const char* mode_option, const char* repeat_option) {
    std::vector<std::string> names, with_worker;
    for (const mode_facts& each : modes) {
        names.emplace_back(each.name);
        if (each.has_worker) with_worker.emplace_back(each.name);
    }
    word(mode_option, o.mode, names, "the threads that compute and communicate");
    number("--threads", o.n_cores, 1, 4096, "Cores per rank, including communication threads");
    if (most_lanes > 1)
        number("--lanes", o.n_lanes, 1, most_lanes,
               "Number of lanes; commtask_lanes_choose selects how many carry messages, by COMMTASK_LANE_TABLE; "
               "without a table one");
    number(repeat_option, o.repeats, 1, 10'000, "Timed runs; the median is reported");
    file("--json", o.json_file, "Write all results to this file");
    checks_.push_back([=, &o]() -> std::string {
        const mode_facts& how = modes[static_cast<std::size_t>(o.mode)];
        o.has_worker = how.has_worker;
        o.thread_level = o.n_lanes > 1 ? MPI_THREAD_MULTIPLE : how.thread_level;
        if (o.n_lanes == 1 || o.has_worker) return {};
        return "--lanes needs a mode with a worker; choose " + CLI::detail::join(with_worker, ", ") + ".";
    });
}

std::string command_line::refuse_extents(const std::string& option, const std::string& said, std::size_t n, int most,
                                         const std::string& example) {
    return option + " " + said + " is not " + std::to_string(n) + " numbers from 1 to " + std::to_string(most) +
           "; choose, for example, " + example + ".";
}

} // namespace miniapp
