// SPDX-License-Identifier: Apache-2.0
//
// The one exception of the C++ face: a call could not be carried out. How a task ended is no exception but a value
// (outcome.hpp), since a failed message is something that a program decides about, often far from where it posted it.
#pragma once

#include <commtask/commtask.h>
#include <commtask/cpp20.hpp>

#include <stdexcept>
#include <string>

namespace commtask {

/// A call could not be carried out and has changed nothing. what() is the sentence that names the argument.
class error : public std::runtime_error {
public:
    /// @param code  a negative commtask_code.
    /// @param sentence  what was wrong.
    error(int code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}

    /// Which kind of refusal it was.
    /// @return a commtask_code, e.g. COMMTASK_ERR_RANK.
    [[nodiscard]] int code() const noexcept { return code_; }

private:
    int code_;
};

/// @cond
namespace frontend {

[[noreturn]] inline void refuse(int code) {
    const std::string sentence = commtask_last_error();
    throw error{code, sentence.empty() ? commtask_error_string(code) : sentence};
}

/// For functions that either do what they are told or return the code of a refusal.
inline void check(int code) {
    if (code != COMMTASK_OK) refuse(code);
}

} // namespace frontend
/// @endcond

} // namespace commtask
