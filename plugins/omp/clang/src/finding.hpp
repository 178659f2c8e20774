// SPDX-License-Identifier: Apache-2.0
//
// An error in a directive. Checks return the error instead of printing it, so that each directive
// gets only its first error.
#pragma once

#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceLocation.h"

#include <optional>
#include <string>
#include <vector>

namespace commtask::clause {

/// An error: location, message, and a fix if there is one.
struct finding {
    clang::SourceLocation where;
    std::string message;
    /// If not empty: the replacement for the token at `where`.
    std::string replacement;
    struct note {
        clang::SourceLocation where;
        std::string message;
    };
    std::vector<note> notes;
};

/// The first error, or none.
using objection = std::optional<finding>;

/// Prints the error as clang prints its own errors.
void report(clang::DiagnosticsEngine& diagnostics, const finding& wrong);

} // namespace commtask::clause
