// SPDX-License-Identifier: Apache-2.0
//
// The steps of commtask_init. Under commtask-run MPI_Init starts the runtime, and the program's
// commtask_init must refuse and report as the library's own does.
#pragma once

#include "base/last_error.hpp"

#include <commtask/commtask.h>

#include <cstdint>
#include <new>
#include <system_error>

namespace commtask::detail {

/// The result of a start on this rank. If it was refused, the error message is set.
struct start_outcome {
    int code;
    bool has_reason; ///< This rank is the first with an error of its own, and prints it.
    std::int64_t verbose;
};

/// Starts the runtime on all ranks, or on none. Collective.
[[nodiscard]] start_outcome collective_start(const commtask_config* given);

/// Runs one step of the start.
/// @return the step's code, or the code for an exception, with an error message
template <typename Step>
[[nodiscard]] int guarded(Step&& step) {
    try {
        return step();
    } catch (const std::bad_alloc&) {
        return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for  the worker");
    } catch (const std::system_error& error) {
        return refuse(COMMTASK_ERR_NO_MEMORY, "cannot start the worker's thread: %s", error.what());
    }
}

/// Builds the error message if the reason is another rank's. @return the code for this rank
[[nodiscard]] int refuse_with_all(int worst_code, int its_rank, int my_code) noexcept;

/// Stores the refusal for later calls, and prints it if the settings ask for that. @return the code
int conclude_init(const start_outcome& how) noexcept;

} // namespace commtask::detail
