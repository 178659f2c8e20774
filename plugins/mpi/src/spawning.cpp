// SPDX-License-Identifier: Apache-2.0
//
// Processes that a program spawns must run under the interposer too. The interposer turns a
// blocking collective into MPI's nonblocking one, which does not match the blocking one of a
// process that calls MPI directly. The command is therefore replaced by commtask-run, with the
// command as its argument.
#include "own.hpp"
#include "sections.hpp"

#include <cstdlib>
#include <string>
#include <vector>

namespace commtask::interposer {
namespace {

/// The path of commtask-run, from the environment variable that it sets; null if the library was
/// preloaded by hand.
[[nodiscard]] const char* path_of_commtask_run() noexcept {
    // If the program changes its environment concurrently, it has that race without commtask too.
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    return std::getenv("COMMTASK_RUN");
}

/// The arguments of commtask-run: the command and its arguments.
[[nodiscard]] std::vector<char*> arguments_for(char* command, char* const* given) {
    std::vector<char*> arguments{command};
    for (; given != nullptr && *given != nullptr; ++given) arguments.push_back(*given);
    arguments.push_back(nullptr);
    return arguments;
}

/// Only the root's command is significant; on other ranks it may have any value.
[[nodiscard]] bool is_root(MPI_Comm comm, int root) noexcept {
    int rank = MPI_PROC_NULL;
    return MPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

} // namespace

int own_MPI_Comm_spawn(const char* command, char** argv, int n, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made,
                       int* codes) {
    char* const run = const_cast<char*>(path_of_commtask_run());
    return inside<blocking_section>([&] {
        if (run == nullptr || command == nullptr || !is_root(comm, root)) {
            return commtask_real_MPI_Comm_spawn(command, argv, n, info, root, comm, made, codes);
        }
        std::vector<char*> arguments =
            arguments_for(const_cast<char*>(command), argv == MPI_ARGV_NULL ? nullptr : argv);
        return commtask_real_MPI_Comm_spawn(run, arguments.data(), n, info, root, comm, made, codes);
    });
}

int own_MPI_Comm_spawn_multiple(int count, char** commands, char*** argvs, const int* n, const MPI_Info* infos,
                                int root, MPI_Comm comm, MPI_Comm* made, int* codes) {
    char* const run = const_cast<char*>(path_of_commtask_run());
    return inside<blocking_section>([&] {
        if (run == nullptr || commands == nullptr || count <= 0 || !is_root(comm, root)) {
            return commtask_real_MPI_Comm_spawn_multiple(count, commands, argvs, n, infos, root, comm, made, codes);
        }
        std::vector<char*> runs(static_cast<std::size_t>(count), run);
        std::vector<std::vector<char*>> arguments;
        std::vector<char**> rows;
        for (int i = 0; i < count; ++i) {
            arguments.push_back(arguments_for(commands[i], argvs == MPI_ARGVS_NULL ? nullptr : argvs[i]));
        }
        for (auto& row : arguments) rows.push_back(row.data());
        return commtask_real_MPI_Comm_spawn_multiple(count, runs.data(), rows.data(), n, infos, root, comm, made,
                                                     codes);
    });
}

} // namespace commtask::interposer
