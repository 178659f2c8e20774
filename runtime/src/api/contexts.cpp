// SPDX-License-Identifier: Apache-2.0
//
// Several lanes go on side by side only if MPI_Init makes a network context for each, and a program that sets COMMTASK_LANES has no
// place to say so. So the library says it when it is loaded, which is before main(). What the user has set himself stays.
#include "mpi/identity.hpp"
#include "mpi/lanes_below.hpp"

#include "config/config.hpp"

#include <cstdlib>
#include <new>

#include <unistd.h>

namespace commtask::detail {
namespace {

[[gnu::constructor]] void ask_for_contexts() noexcept {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): before main()
    if (std::getenv("COMMTASK_LANES") == nullptr) return;
    try {
        config settings;
        static_cast<void>(apply_environment(settings, environ));      // what is wrong commtask_init says
        const char* const said = std::getenv(reserved_variable);      // NOLINT(concurrency-mt-unsafe)
        const int n_reserved = said == nullptr ? 0 : std::atoi(said); // NOLINT(cert-err34-c): as MPICH reads it
        const auto setting = setting_for_lanes(mpi_at_run_time(), static_cast<int>(settings.lanes), n_reserved);
        if (setting) setenv(setting->variable.c_str(), setting->value.c_str(), 0); // NOLINT(concurrency-mt-unsafe)
    } catch (const std::bad_alloc&) { // then lanes take turns, and commtask_init says so
    }
}

} // namespace
} // namespace commtask::detail
