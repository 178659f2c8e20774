// SPDX-License-Identifier: Apache-2.0
// Every rank leaves with the same status and only rank 0 speaks, whatever went wrong before the run.
// After that a rank that fails alone can only abort the job.
#include "common/program.hpp"

#include <mpi.h>

#include <cstdio>
#include <exception>
#include <utility>

namespace miniapp {

namespace {

int leave(int rank, const std::string& message, int exit_code) {
    if (rank == 0) std::fprintf(exit_code == 0 ? stdout : stderr, "%s\n", message.c_str());
    MPI_Finalize();
    return exit_code;
}

/// Collective.
bool can_write(int rank, const std::string& name) {
    int writable = 1;
    if (rank == 0) {
        std::FILE* file = std::fopen(name.c_str(), "a");
        writable = file != nullptr ? 1 : 0;
        if (file != nullptr) std::fclose(file);
    }
    MPI_Bcast(&writable, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return writable != 0;
}

/// FNV-1a of the words after the program's name.
unsigned long long hash_of(int argc, char** argv) {
    unsigned long long hash = 0xcbf29ce484222325U;
    for (int i = 1; i < argc; ++i) {
        for (const char* c = argv[i];; ++c) {
            hash = (hash ^ static_cast<unsigned char>(*c)) * 0x100000001b3U;
            if (*c == '\0') break;
        }
    }
    return hash;
}

/// Collective. Ranks with other words would wait for messages that never come.
bool all_have(unsigned long long hash) {
    unsigned long long least = 0;
    unsigned long long most = 0;
    MPI_Allreduce(&hash, &least, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&hash, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    return least == most;
}

} // namespace

int run_program(int& argc, char**& argv, const program& what) {
    const std::string says = std::string(what.name) + ": ";
    const unsigned long long words = hash_of(argc, argv);
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, what.thread_level, &provided);
    int rank = 0;
    int n_ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (!all_have(words)) return leave(rank, says + "the ranks were given different command lines; choose one.", 2);
    if (!what.message.empty()) return leave(rank, what.message, what.exit_code);
    if (provided < what.thread_level) {
        return leave(rank, says + "this MPI does not give the thread level that the mode needs.", 2);
    }
    const std::string refusal = what.settle(n_ranks);
    if (!refusal.empty()) return leave(rank, says + refusal, 2);
    for (const auto& [option, file] : {std::pair{"--json ", what.json_file}, {"--trace ", what.trace_file}}) {
        if (!file.empty() && !can_write(rank, file)) {
            return leave(rank, says + "cannot write " + option + file + "; choose a file in a folder that is there.",
                         2);
        }
    }
    try {
        const bool passed = what.run(rank);
        MPI_Finalize();
        return passed ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: rank %d: %s\n", what.name, rank, error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return 1;
}

bool report_written(const program& what, bool is_written) {
    if (!is_written) std::fprintf(stderr, "%s: writing %s failed.\n", what.name, what.json_file.c_str());
    return is_written;
}

} // namespace miniapp
