// SPDX-License-Identifier: Apache-2.0
//
// Before the ABI of this process is known, only functions without handles are called. The functions
// of two MPIs have the same names. The loader binds all calls to the library that it found first,
// whichever library the caller was linked to.
#include "mpi/identity.hpp"

#include "mpi/build.hpp"

#include <mpi.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include <dlfcn.h>

namespace commtask::detail {
namespace {

using text_function = int (*)(char*, int*);

[[nodiscard]] std::string text_from(text_function ask) {
    // Larger than MPI_MAX_LIBRARY_VERSION_STRING of any MPI: the MPI at run time may write more
    // than this mpi.h allows.
    std::array<char, 16384> text{};
    int length = 0;
    return ask(text.data(), &length) == MPI_SUCCESS ? std::string(text.data()) : std::string();
}

[[nodiscard]] std::string file_of(const void* address) {
    Dl_info place{};
    return dladdr(address, &place) != 0 && place.dli_fname != nullptr ? place.dli_fname : "";
}

/// Whether the functions that the loader found have the standard's ABI. Uses the PMPI_ name, so
/// that no tool intercepts the call.
[[nodiscard]] bool has_standard_abi() {
    void* const found = dlsym(RTLD_DEFAULT, "PMPI_Abi_get_version");
    if (found == nullptr) return false;
    int major = -1;
    int minor = -1;
    reinterpret_cast<int (*)(int*, int*)>(found)(&major, &minor);
    return major >= 1;
}

/// The MPI that this library was linked to, if it is loaded and the loader found another one before
/// it.
[[nodiscard]] std::optional<mpi_identity> hidden_second_mpi() {
    void* const handle = dlopen(COMMTASK_MPI_SONAME, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) return std::nullopt;
    void* const found = dlsym(handle, "PMPI_Get_library_version");
    std::optional<mpi_identity> second;
    if (found != nullptr) {
        const std::string text = text_from(reinterpret_cast<text_function>(found));
        if (text != text_from(MPI_Get_library_version)) second = {parse_mpi_name(text), file_of(found)};
    }
    dlclose(handle);
    return second;
}

[[nodiscard]] std::string with_file(const mpi_identity& mpi) {
    return mpi.library.empty() ? mpi.text() : mpi.text() + " (" + mpi.library + ")";
}

/// A number that a launcher sets in the environment of its processes.
[[nodiscard]] long from_environment(const char* variable, long otherwise) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): once, in commtask_init.
    const char* const text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtol(text, nullptr, 10);
}

struct launcher {
    const char* name;
    const char* size;
    const char* rank;
    mpi_abi abi;
};

constexpr std::array launchers{
    launcher{"Open MPI's launcher", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", mpi_abi::openmpi},
    launcher{"a launcher of MPICH's family", "PMI_SIZE", "PMI_RANK", mpi_abi::mpich},
};

} // namespace

mpi_identity mpi_at_build_time() {
    return {{COMMTASK_MPI_FAMILY, COMMTASK_MPI_NAME, COMMTASK_MPI_VERSION_TEXT, mpi_abi::COMMTASK_MPI_ABI},
            COMMTASK_MPI_LIBRARY};
}

const mpi_identity& mpi_at_run_time() {
    static const mpi_identity found = [] {
        mpi_identity mpi{parse_mpi_name(text_from(MPI_Get_library_version)),
                         file_of(reinterpret_cast<const void*>(MPI_Get_library_version))};
        if (has_standard_abi()) mpi.abi = mpi_abi::standard;
        return mpi;
    }();
    return found;
}

const char* tested_mpis() noexcept { return COMMTASK_TESTED_MPIS; }

std::optional<std::string> why_mpi_does_not_fit() {
    const mpi_identity built = mpi_at_build_time();
    const mpi_identity& found = mpi_at_run_time();
    const std::string both =
        "libcommtask was built for " + with_file(built) + ", and this process runs with " + with_file(found);
    if (found.abi != mpi_abi::unknown && found.abi != built.abi) {
        const char* const which = found.abi == mpi_abi::standard ? " by the standard's ABI" : "";
        return both + which +
               ", whose handles differ: build the program with the MPI of this commtask, or use a commtask that was "
               "built for the program's MPI";
    }
    if (const auto second = hidden_second_mpi()) {
        return "this process has two MPIs: the program's calls go to " + with_file(found) +
               ", and libcommtask was linked to " + with_file(*second) + ": build both with one of them";
    }
    int version = 0;
    int subversion = 0;
    MPI_Get_version(&version, &subversion);
    if (MPI_VERSION >= 4 && version < 4) {
        return both + ", which has only the functions of MPI " + std::to_string(version) +
               " in its ABI: use a commtask that was built with it";
    }
    return std::nullopt;
}

std::optional<std::string> foreign_launcher() {
    int n_ranks = 0;
    if (MPI_Comm_size(MPI_COMM_WORLD, &n_ranks) != MPI_SUCCESS || n_ranks != 1) return std::nullopt;
    const mpi_identity& mpi = mpi_at_run_time();
    for (const launcher& own : launchers) {
        if (own.abi == mpi.abi && from_environment(own.size, 0) == 1) return std::nullopt;
    }
    for (const launcher& one : launchers) {
        const long n_processes = from_environment(one.size, 1);
        if (n_processes <= 1 || from_environment(one.rank, 0) != 0) continue;
        return std::string(one.name) + " started " + std::to_string(n_processes) + " processes of a program of " +
               with_file(mpi) +
               ", and each of them is rank 0 of 1. Start the program with the launcher of its own MPI (on Debian "
               "mpiexec.mpich or mpiexec.openmpi)";
    }
    return std::nullopt;
}

} // namespace commtask::detail
