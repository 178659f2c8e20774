// SPDX-License-Identifier: Apache-2.0
//
// The one error that a wrong directive gets. Checks return it instead of printing it, so that the first one ends the
// checking and nobody can report two.
#pragma once

#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceLocation.h"

#include <optional>
#include <string>
#include <vector>

namespace commtask::clause {

/// What is wrong, where, and what helps.
struct complaint {
    clang::SourceLocation where;
    std::string sentence;
    /// If not empty: what to write instead of the token at `where`.
    std::string replacement;
    struct note {
        clang::SourceLocation where;
        std::string sentence;
    };
    std::vector<note> notes;
};

/// Nothing wrong, or the first thing that is.
using objection = std::optional<complaint>;

/// Prints it as clang prints its own.
void report(clang::DiagnosticsEngine& diagnostics, const complaint& wrong);

} // namespace commtask::clause
