// SPDX-License-Identifier: Apache-2.0
// Every rank leaves with the same status and only rank 0 speaks, whatever went wrong before the run.
// After that a rank that fails alone can only abort the job.
#include "common/program.hpp"

#include "common/report_json.hpp"
#include "common/runtime_session.hpp"
#include "common/whole_file.hpp"

#include <commtask/commtask.h>

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <thread>

namespace miniapp {

namespace {

/// Takes the numbers 0, 1 and 2 where they are closed, so that writing to them fails: the next file opened would get its number, and what is
/// printed.
void hold_standard_descriptors() {
    for (int descriptor = 0; descriptor <= 2; ++descriptor) {
        // The lowest free number is the one that is closed. The direction is wrong on purpose.
        if (::fcntl(descriptor, F_GETFD) < 0 && ::open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) < 0) return;
    }
}

/// After the last output: why some of it was lost, in words; empty when all of it was taken.
std::string why_output_was_lost() {
    const bool was_lost = std::ferror(stdout) != 0;
    // An end of line more asks for the reason of what failed before.
    if (std::fflush(stdout) == 0 && (!was_lost || ::write(STDOUT_FILENO, "\n", 1) == 1))
        return was_lost ? "writing failed" : "";
    return errno == EBADF ? "it is closed" : std::strerror(errno);
}

/// True when standard output took everything; says so otherwise.
bool said_all(const program& what) {
    const std::string why = why_output_was_lost();
    if (!why.empty()) std::fprintf(stderr, "%s: standard output was lost: %s.\n", what.name, why.c_str());
    return why.empty();
}

int leave(const program& what, int rank, const std::string& message, int exit_code) {
    if (rank == 0) {
        std::fprintf(exit_code == 0 ? stdout : stderr, "%s\n", message.c_str());
        if (!said_all(what)) exit_code = exit_code == 0 ? 1 : exit_code;
    }
    MPI_Finalize();
    return exit_code;
}

/// Collective: the text of rank 0 on all ranks.
std::string from_rank_0(std::string text) {
    int length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    text.resize(static_cast<std::size_t>(length));
    MPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
    return text;
}

output_file report_of(const program& what) { return {"--json", what.usual.json_file}; }

/// Of rank 0.
std::string refuse_files(const program& what) {
    std::vector<output_file> files = what.files;
    files.push_back(report_of(what));
    for (const auto& [option, file] : files) {
        if (file.empty()) continue;
        if (const std::string why = why_not_writable(file); !why.empty()) {
            return "cannot write " + std::string(option) + " " + file + ": " + why +
                   "; choose a file in a folder that is there.";
        }
    }
    return what.look_at_files ? what.look_at_files() : std::string{};
}

/// Rank 0's last words; true when nothing of them was lost.
bool has_told(const program& what, outcome& end) {
    print_checks(end.checks);
    const output_file report = report_of(what);
    const std::string why_not = report.name.empty() ? "" : write_report(std::move(end.told), end.checks, report.name);
    const bool are_written = was_written(what.name, report, why_not) && end.are_written;
    return said_all(what) && are_written;
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
    hold_standard_descriptors();
    const std::string says = std::string(what.name) + ": ";
    const unsigned long long words = hash_of(argc, argv);
    // Without memory for it the lanes take turns.
    if (what.usual.n_lanes > 1) static_cast<void>(commtask_lanes_prepare(what.usual.n_lanes));
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, what.usual.thread_level, &provided);
    int rank = 0;
    int n_ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (!all_have(words))
        return leave(what, rank, says + "the ranks were given different command lines; choose one.", 2);
    if (!what.leaves.message.empty()) return leave(what, rank, what.leaves.message, what.leaves.exit_code);
    if (provided < what.usual.thread_level) {
        return leave(what, rank, says + "this MPI does not give the thread level that the mode needs.", 2);
    }
    std::string refusal = what.settle(n_ranks);
    memory_need need;
    if (refusal.empty()) {
        need = what.memory(rank, n_ranks);
        refusal = refuse_memory(need, available_memory_bytes(), MPI_COMM_WORLD);
    }
    if (refusal.empty()) refusal = from_rank_0(rank == 0 ? refuse_files(what) : std::string{});
    if (!refusal.empty()) return leave(what, rank, says + refusal, 2);
    try {
        if (what.before_runtime) what.before_runtime(rank);
        outcome end;
        {
            const runtime_session runtime(what.usual.has_worker, what.usual.n_lanes);
            end = what.run(rank);
        }
        const bool is_good = (rank != 0 || has_told(what, end)) && all_passed(end.checks);
        MPI_Finalize();
        return is_good ? 0 : 1;
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "%s: rank %d: %s\n", what.name, rank, out_of_memory(need).c_str());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: rank %d: %s\n", what.name, rank, error.what());
    }
    // A launcher that sees the job end at once may drop what was just said: MPICH's did in 2 of 22 runs of two ranks.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
}

bool was_written(const char* name, const output_file& file, const std::string& why_not) {
    if (!why_not.empty()) {
        std::fprintf(stderr, "%s: writing %s %s failed: %s.\n", name, file.option, file.name.c_str(), why_not.c_str());
    }
    return why_not.empty();
}

} // namespace miniapp
