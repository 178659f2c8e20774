// SPDX-License-Identifier: Apache-2.0
//
// commtask-info: shows the machine, the map of workers, the MPI and the settings in force, as a
// program that is started in the same way would find them. Run it alone, or under mpiexec with the
// options of the real job. Exit status: 1 if commtask_init would fail there or the output was lost,
// 2 if an option is wrong.
#include "calibrate.hpp"
#include "info.hpp"

#include "config/config.hpp"
#include "report/config_page.hpp"

#include <commtask/commtask.h>

#include <mpi.h>

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

namespace {

/// The rank on the node before MPI is initialised, from the launcher's environment. One rank
/// reports wrong options.
bool speaks_for_node() {
    for (const char* name : {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "PALS_LOCAL_RANKID"}) {
        if (const char* const number = std::getenv(name)) return std::string_view(number) == "0";
    }
    return true;
}

/// Prints to standard output; returns the exit status.
int print(const std::string& text) {
    if (std::cout << text << std::flush) return 0;
    std::cerr << "commtask-info: standard output was lost\n";
    return 1;
}

std::string version() {
    return "commtask-info " + std::to_string(COMMTASK_VERSION_MAJOR) + "." + std::to_string(COMMTASK_VERSION_MINOR) +
           "." + std::to_string(COMMTASK_VERSION_PATCH);
}

/// Prints help, the version or a refusal; returns the exit status.
int leave(const CLI::App& app, const CLI::ParseError& reason) {
    constexpr int refused = 2;
    const bool is_refusal = reason.get_exit_code() != 0;
    if (!speaks_for_node()) return is_refusal ? refused : 0;
    if (!is_refusal) return print(reason.get_name() == "CallForVersion" ? version() + "\n" : app.help());
    std::cerr << "commtask-info: " << reason.what() << "; --help lists the options.\n";
    return refused;
}

/// @param table  where to write what lanes gain; empty: the report is wanted
int run(bool wants_json, const std::string& table) {
    int thread_level = MPI_THREAD_SINGLE;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &thread_level) != MPI_SUCCESS) {
        std::cerr << "commtask-info: MPI_Init_thread failed\n";
        return 1;
    }
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    int is_bad = 0;
    nlohmann::json report;
    if (table.empty()) {
        report = commtask::info::collective_report(comm, thread_level);
    } else {
        is_bad = commtask::info::collective_calibrate(comm, table);
    }
    if (rank == 0 && table.empty()) {
        const int is_lost = print(wants_json ? report.dump(2) + "\n" : commtask::info::as_text(report));
        is_bad = is_lost != 0 || commtask::info::has_errors(report) ? 1 : 0;
    }
    MPI_Bcast(&is_bad, 1, MPI_INT, 0, comm); // so that all ranks have the same exit status
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return is_bad;
}

} // namespace

int main(int argc, char** argv) try {
    CLI::App app{"Shows the machine, the workers' cores, the MPI and the settings, as a program sees them.\n"
                 "Start it like the program, with the launcher of the program's MPI, for example: mpiexec.mpich -n 4 "
                 "commtask-info"};
    bool wants_json = false;
    bool wants_page = false;
    std::string table;
    CLI::Option* const json = app.add_flag("--json", wants_json, "Print one JSON object");
    CLI::Option* const page =
        app.add_flag("--config-markdown", wants_page, "Print the page docs/configuration.md and exit")->excludes(json);
    app.add_option("--calibrate", table,
                   "Measure the message rates of lanes, on two ranks or one, and write the table for "
                   "COMMTASK_LANE_TABLE to this file")
        ->type_name("FILE")
        ->check(CLI::Validator{
            [](const std::string& file) { return std::string{file.empty() ? "the file has no name" : ""}; }, ""})
        ->excludes(json)
        ->excludes(page);
    app.set_version_flag("--version", version());
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& reason) {
        return leave(app, reason);
    }
    if (wants_page) return speaks_for_node() ? print(commtask::detail::config_markdown()) : 0;
    return run(wants_json, table);
} catch (const std::exception& failure) {
    std::cerr << "commtask-info: " << failure.what() << "\n";
    return 1;
}
