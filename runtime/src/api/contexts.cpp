// SPDX-License-Identifier: Apache-2.0
//
// Lanes run in parallel only if MPI_Init creates a network context for each of them. If a user sets
// COMMTASK_LANES, the program does not ask MPI for network contexts, so the library asks when it is
// loaded, before main(). A program that chooses the number of lanes itself calls
// commtask_lanes_prepare. Variables that the user has set are not changed.
#include "mpi/identity.hpp"
#include "mpi/lanes_below.hpp"

#include "api/starting.hpp"
#include "base/last_error.hpp"
#include "config/config.hpp"

#include <commtask/commtask.h>

#include <cstdlib>
#include <new>

#include <unistd.h>

namespace commtask::detail {
namespace {

/// Before MPI_Init. @throws std::bad_alloc
void ask_for_contexts(int n_lanes) {
    const char* const said = std::getenv(reserved_variable);      // NOLINT(concurrency-mt-unsafe)
    const int n_reserved = said == nullptr ? 0 : std::atoi(said); // NOLINT(cert-err34-c): as MPICH reads it
    const auto setting = setting_for_lanes(mpi_at_run_time(), n_lanes, n_reserved);
    if (setting) setenv(setting->variable.c_str(), setting->value.c_str(), 0); // NOLINT(concurrency-mt-unsafe)
}

// NOLINTNEXTLINE(concurrency-mt-unsafe): before MPI_Init
[[nodiscard]] bool has_user_chosen() noexcept { return std::getenv("COMMTASK_LANES") != nullptr; }

[[gnu::constructor]] void ask_when_loaded() noexcept {
    if (!has_user_chosen()) return;
    try {
        config settings;
        // commtask_init reports wrong settings
        static_cast<void>(apply_environment(settings, environ));
        ask_for_contexts(static_cast<int>(settings.lanes));
    } catch (const std::bad_alloc&) { // then lanes serialize in MPI, and commtask_init reports it
    }
}

} // namespace
} // namespace commtask::detail

using namespace commtask::detail;

int commtask_lanes_prepare(int n_lanes) noexcept {
    int is_initialized = 0;
    MPI_Initialized(&is_initialized);
    if (is_initialized != 0) {
        return refuse(COMMTASK_ERR_MPI_STATE,
                      "MPI is initialised already: call commtask_lanes_prepare before MPI_Init");
    }
    if (has_user_chosen()) return COMMTASK_OK; // the library asked when it was loaded
    return guarded([&] {
        ask_for_contexts(n_lanes);
        return static_cast<int>(COMMTASK_OK);
    });
}
