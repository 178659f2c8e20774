// SPDX-License-Identifier: Apache-2.0
//
// The expected form behind clang's own errors. Types and names are checked by the compiler, at the user's argument; it
// does not know that the argument stands in a clause, so a note behind its error says how the clause is written.
#pragma once

#include "comm_clause.hpp"
#include "directive.hpp"

#include <array>

namespace commtask::clause {

/// Warnings of C that mean a wrong argument; in a clause they are errors.
inline constexpr std::array<llvm::StringLiteral, 3> wrong_argument_groups = {
    llvm::StringLiteral("incompatible-pointer-types"),
    llvm::StringLiteral("incompatible-pointer-types-discards-qualifiers"), llvm::StringLiteral("int-conversion")};

class hinting_consumer;

/// Adds the notes. It steps between the compiler and its printer of diagnostics with the first clause, so that a
/// program without one has the printer alone.
class form_hints {
public:
    /// From now on, the first error at one of the arguments of `what` has a note.
    void watch(clang::DiagnosticsEngine& diagnostics, const directive& line, const communication& what);

private:
    hinting_consumer* consumer_ = nullptr; ///< Owned by the compiler.
};

} // namespace commtask::clause
