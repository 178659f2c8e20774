// SPDX-License-Identifier: Apache-2.0
//
// The only exception of the C++ interface: a call could not be carried out. How a task ended is a
// value (outcome.hpp) and no exception, since the program often decides about a failed message far
// from its post.
#pragma once

#include <commtask/commtask.h>
#include <commtask/cpp20.hpp>

#include <stdexcept>
#include <string>

namespace commtask {

/// A call could not be carried out and has changed nothing. what() is a message that names the
/// argument.
class error : public std::runtime_error {
public:
    /// @param code  a negative commtask_code.
    /// @param message  the text of what().
    error(int code, const std::string& message) : std::runtime_error(message), code_(code) {}

    /// Returns the code of the call.
    /// @return a commtask_code, e.g. COMMTASK_ERR_RANK.
    [[nodiscard]] int code() const noexcept { return code_; }

private:
    int code_;
};

/// @cond
namespace frontend {

[[noreturn]] inline void refuse(int code) {
    const std::string message = commtask_last_error();
    throw error{code, message.empty() ? commtask_error_string(code) : message};
}

/// Throws if a function returned a negative code.
inline void check(int code) {
    if (code != COMMTASK_OK) refuse(code);
}

} // namespace frontend
/// @endcond

} // namespace commtask
