// SPDX-License-Identifier: Apache-2.0
//
// commtask-info: shows the machine, the map of workers, the MPI and the settings in force, as a program started in the
// same way would find them. Run it alone or under mpiexec with the options of the real job; it exits with 1 if
// commtask_init would fail there.
#include "info.hpp"

#include "config.hpp"

#include <mpi.h>

#include <CLI/CLI.hpp>

#include <exception>
#include <iostream>

namespace {

int run(bool wants_json) {
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
    const nlohmann::json report = commtask::info::collective_report(comm, thread_level);
    if (rank == 0) {
        std::cout << (wants_json ? report.dump(2) + "\n" : commtask::info::as_text(report)) << std::flush;
        is_bad = commtask::info::has_errors(report) ? 1 : 0;
    }
    MPI_Bcast(&is_bad, 1, MPI_INT, 0, comm); // so that every rank exits alike
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return is_bad;
}

} // namespace

int main(int argc, char** argv) try {
    CLI::App app{"Shows the machine, the workers' cores, the MPI and the settings that commtask finds here.\n"
                 "Start it like the program in question, with the launcher of its MPI, for example: mpiexec.mpich -n 4 "
                 "commtask-info"};
    bool wants_json = false;
    bool wants_page = false;
    app.add_flag("--json", wants_json, "Print one JSON object");
    app.add_flag("--config-markdown", wants_page, "Print the page docs/configuration.md and exit");
    CLI11_PARSE(app, argc, argv);
    if (wants_page) {
        std::cout << commtask::detail::config_markdown();
        return 0;
    }
    return run(wants_json);
} catch (const std::exception& failure) {
    std::cerr << "commtask-info: " << failure.what() << "\n";
    return 1;
}
