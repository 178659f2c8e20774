// SPDX-License-Identifier: Apache-2.0
//
// Looks up functions in the MPI library that the process runs with. Its version can differ from the
// one that the library was compiled with, so both are shown: a function that was missing at compile
// time is not used.
#include "info.hpp"

#include "config/config.hpp"
#include "mpi/identity.hpp"
#include "mpi/network_contexts.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace commtask::info {

namespace {

struct feature {
    const char* what;
    const char* function;
};

constexpr std::array features{
    feature{"large counts", "MPI_Send_c"},
    feature{"partitioned communication", "MPI_Psend_init"},
    feature{"persistent collectives", "MPI_Allreduce_init"},
    feature{"sessions", "MPI_Session_init"},
    feature{"standard ABI", "MPI_Abi_get_version"},
    feature{"streams", "MPIX_Stream_create"},
    feature{"progress of one stream", "MPIX_Stream_progress"},
    feature{"completion without progress", "MPIX_Request_is_complete"},
    feature{"hooks in progress", "MPIX_Async_start"},
    feature{"progress thread of the MPI", "MPIX_Start_progress_thread"},
};

std::string library_version() {
    std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
    int length = 0;
    if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return "unknown";
    text.resize(static_cast<std::size_t>(length));
    text.resize(std::min(text.size(), text.find('\n')));
    for (char& c : text)
        if (c == '\t') c = ' ';
    return text;
}

const char* thread_level_name(int level) {
    switch (level) {
    case MPI_THREAD_SINGLE: return "single";
    case MPI_THREAD_FUNNELED: return "funneled";
    case MPI_THREAD_SERIALIZED: return "serialized";
    case MPI_THREAD_MULTIPLE: return "multiple";
    default: return "unknown";
    }
}

} // namespace

namespace {

/// The effect of several lanes, even if COMMTASK_LANES asks for one.
nlohmann::json describe_lanes() {
    detail::config settings;
    static_cast<void>(detail::apply_environment(settings, environ));
    const auto n_lanes = static_cast<std::size_t>(std::max<std::int64_t>(settings.lanes, 2));
    const detail::lanes_in_mpi found = detail::lanes_in_this_mpi(n_lanes);
    return {{"are_independent", found.are_independent}, {"sentence", found.message}};
}

} // namespace

nlohmann::json mpi_features(int thread_level) {
    int version = 0;
    int subversion = 0;
    MPI_Get_version(&version, &subversion);
    nlohmann::json list = nlohmann::json::array();
    for (const feature& one : features)
        list.push_back({{"feature", one.what},
                        {"function", one.function},
                        {"is_there", dlsym(RTLD_DEFAULT, one.function) != nullptr}});
    const detail::mpi_identity found = detail::mpi_at_run_time();
    const detail::mpi_identity built = detail::mpi_at_build_time();
    return {{"library", library_version()},
            {"name", found.text()},
            {"file", found.library},
            {"built_for", {{"name", built.text()}, {"file", built.library}}},
            {"is_tested", detail::is_among_tested(found, detail::tested_mpis())},
            {"tested", detail::tested_mpis()},
            {"standard", std::to_string(version) + "." + std::to_string(subversion)},
            {"compiled_against_standard", std::to_string(MPI_VERSION) + "." + std::to_string(MPI_SUBVERSION)},
            {"thread_level", thread_level_name(thread_level)},
            {"lanes", describe_lanes()},
            {"features", list}};
}

} // namespace commtask::info
