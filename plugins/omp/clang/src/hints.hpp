// SPDX-License-Identifier: Apache-2.0
//
// Notes with the expected form after clang's own errors. The compiler checks types and names at the
// user's argument, but does not know that the argument is in a clause; a note after the error shows
// the form of the clause.
#pragma once

#include "comm_clause.hpp"
#include "directive.hpp"

#include <array>

namespace commtask::clause {

/// Warnings of C for a wrong argument; in a clause they are errors.
inline constexpr std::array<llvm::StringLiteral, 3> wrong_argument_groups = {
    llvm::StringLiteral("incompatible-pointer-types"),
    llvm::StringLiteral("incompatible-pointer-types-discards-qualifiers"), llvm::StringLiteral("int-conversion")};

class hinting_consumer;

/// Adds the notes. It is inserted between the compiler and its diagnostic printer at the first
/// clause, so programs without a clause are not affected.
class form_hints {
public:
    /// From here on, the first error at an argument of `what` gets a note.
    void watch(clang::DiagnosticsEngine& diagnostics, const directive& line, const communication& what);

private:
    hinting_consumer* consumer_ = nullptr; ///< Owned by the compiler.
};

} // namespace commtask::clause
