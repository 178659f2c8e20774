// SPDX-License-Identifier: Apache-2.0
// Wilson Dslash on a grid of ranks. Advantage: a real stencil whose faces matter, checked in every run. Disadvantage:
// one operator, not a solver, so nothing here reduces over the ranks while it is timed.
// Exit status: 0 all checks passed, 1 a check failed, 2 the command line or the lattice was refused.
#include "driver.hpp"
#include "runtime_session.hpp"

#include <cstdio>
#include <exception>

namespace {

/// Every rank leaves with the same status; only rank 0 speaks.
int leave(int rank, const std::string& message, int exit_code) {
    if (rank == 0) std::fprintf(exit_code == 0 ? stdout : stderr, "%s\n", message.c_str());
    MPI_Finalize();
    return exit_code;
}

int thread_level_of(dslash::mode which) {
    for (const auto& m : dslash::modes()) {
        if (m.which == which) return m.thread_level;
    }
    return MPI_THREAD_MULTIPLE;
}

} // namespace

int main(int argc, char** argv) {
    dslash::parsed_options parsed = dslash::parse_options(argc, argv);
    dslash::options& settings = parsed.values;
    const int wanted = thread_level_of(settings.which);
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    int rank = 0;
    int n_ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (!parsed.message.empty()) return leave(rank, parsed.message, parsed.exit_code);
    if (provided < wanted) {
        return leave(rank, "lqcd_dslash: this MPI does not give the thread level that the mode needs.", 2);
    }
    const std::string refusal = dslash::settle(settings, n_ranks);
    if (!refusal.empty()) return leave(rank, "lqcd_dslash: " + refusal, 2);
    if (!settings.json_file.empty()) {
        // Tried before hours of computing, not after.
        int writable = 1;
        if (rank == 0) {
            std::FILE* file = std::fopen(settings.json_file.c_str(), "a");
            writable = file != nullptr ? 1 : 0;
            if (file != nullptr) std::fclose(file);
        }
        MPI_Bcast(&writable, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (writable == 0) return leave(rank, "lqcd_dslash: cannot write --json " + settings.json_file + ".", 2);
    }

    try {
        dslash::run_report report;
        {
            const dslash::runtime_session runtime(settings.which);
            report = dslash::run(settings, MPI_COMM_WORLD);
        }
        bool written = true;
        if (rank == 0) {
            dslash::print(report);
            if (!settings.json_file.empty()) written = dslash::write_json(report, settings.json_file);
            if (!written) std::fprintf(stderr, "lqcd_dslash: writing %s failed.\n", settings.json_file.c_str());
        }
        MPI_Finalize();
        return report.passed() && written ? 0 : 1;
    } catch (const std::exception& error) {
        // One rank alone cannot leave in order: the others wait for its messages.
        std::fprintf(stderr, "lqcd_dslash: rank %d: %s\n", rank, error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return 1;
}
