// SPDX-License-Identifier: Apache-2.0
//
// commtask-trace-convert: traces of COMMTASK_TRACE in the formats of other programs. commtask-report calls it; which formats it
// was built with is told by --formats.
#include "model.hpp"

#ifdef COMMTASK_WITH_PERFETTO
#include "perfetto.hpp"
#endif
#ifdef COMMTASK_WITH_OTF2
#include "otf2.hpp"
#endif

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

using commtask::tools::run;
using commtask::tools::trace_error;

void convert_to_perfetto([[maybe_unused]] const run& from, [[maybe_unused]] const std::string& path) {
#ifdef COMMTASK_WITH_PERFETTO
    write_perfetto(from, path);
#else
    throw trace_error{"this commtask-trace-convert was built without --perfetto: install protozero (Debian: "
                      "libprotozero-dev), configure and build again"};
#endif
}

void convert_to_otf2([[maybe_unused]] const run& from, [[maybe_unused]] const std::string& folder) {
#ifdef COMMTASK_WITH_OTF2
    write_otf2(from, folder);
#else
    throw trace_error{"this commtask-trace-convert was built without --otf2: install OTF2 (Debian: "
                      "libopen-trace-format2-dev), configure and build again"};
#endif
}

void print_formats() {
#ifdef COMMTASK_WITH_PERFETTO
    std::puts("perfetto");
#endif
#ifdef COMMTASK_WITH_OTF2
    std::puts("otf2");
#endif
}

void print_what_was_read(const run& read) {
    for (const auto& each : read.ranks) {
        std::printf("rank %d: %zu tasks, %zu threads, clock: %s", each.rank(), each.tasks.size(), each.threads.size(),
                    each.clock.c_str());
        if (each.header.n_dropped > 0) {
            std::printf("; %llu records lost", static_cast<unsigned long long>(each.header.n_dropped));
        }
        std::puts("");
    }
    std::printf("%zu messages are on both ranks\n", read.n_messages);
}

/// What could not be printed stdio says at the end only.
[[nodiscard]] bool is_output_whole() {
    if (std::ferror(stdout) == 0 && std::fflush(stdout) == 0) return true;
    std::fputs("commtask-trace-convert: standard output was lost\n", stderr);
    return false;
}

} // namespace

int main(int argc, char** argv) {
    std::vector<std::string> traces;
    std::string perfetto;
    std::string otf2;
    bool asks_formats = false;
    CLI::App app{"Converts traces that COMMTASK_TRACE wrote."};
    const CLI::Validator named{
        [](const std::string& name) { return std::string{name.empty() ? "a name must not be empty" : ""}; }, ""};
    app.add_option("traces", traces, "files, or the folder that COMMTASK_TRACE named")->check(named);
    app.add_option("--perfetto", perfetto, "write this file for ui.perfetto.dev")->check(named);
    app.add_option("--otf2", otf2, "make this folder, an archive for Vampir and Scalasca")->check(named);
    app.add_flag("--formats", asks_formats, "print which of the two this program was built with");
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& wants_help) {
        app.exit(wants_help);
        return is_output_whole() ? 0 : 1;
    } catch (const CLI::ParseError& reason) {
        std::fprintf(stderr, "commtask-trace-convert: %s; --help lists the options.\n", reason.what());
        return 2;
    }
    if (asks_formats) {
        print_formats();
        return is_output_whole() ? 0 : 1;
    }
    try {
        const run read = commtask::tools::read_run(traces);
        if (!perfetto.empty()) convert_to_perfetto(read, perfetto);
        if (!otf2.empty()) convert_to_otf2(read, otf2);
        print_what_was_read(read);
        return is_output_whole() ? 0 : 1;
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "commtask-trace-convert: %s\n", failure.what());
        return 2;
    }
}
