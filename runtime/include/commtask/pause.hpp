// SPDX-License-Identifier: Apache-2.0
//
// A pause of the workers as a scope: thin over pause.h, whose contracts hold. A scope cannot forget to resume, and cannot be told
// that resuming failed: it can only fail after commtask_finalize, which has resumed.
#pragma once

#include <commtask/cpp20.hpp>

#if __cplusplus >= 202002L
#include <commtask/commtask.h>
#include <commtask/error.hpp>

namespace commtask {

/// As long as one lives, the workers leave their cores to the program.
class pause_scope {
public:
    /// @throws error  outside of commtask_init and commtask_finalize.
    pause_scope() { frontend::check(commtask_pause()); }
    pause_scope(const pause_scope&) = delete;
    pause_scope& operator=(const pause_scope&) = delete;
    ~pause_scope() { static_cast<void>(commtask_resume()); }
};

} // namespace commtask

#endif
