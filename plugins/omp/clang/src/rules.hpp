// SPDX-License-Identifier: Apache-2.0
//
// The rules for directives with a comm clause: which directives may have one, where, and together
// with which clauses. Every refusal has a reason in its error message.
#pragma once

#include "directive.hpp"
#include "finding.hpp"
#include "operations.hpp"

namespace commtask::clause {

/// Errors of the translation unit: no OpenMP, a version of OpenMP that is too old, no header.
objection check_unit(const clang::LangOptions& language, const operations& known, clang::SourceLocation where);

/// Errors of the location: a directive outside of any function.
objection check_place(clang::Sema& sema, clang::SourceLocation line_start, clang::SourceLocation where);

/// Errors of the brackets of the clauses, including comm.
objection check_brackets(const directive& line, llvm::ArrayRef<clause> clauses);

/// Errors of the clauses other than comm, by their names.
objection check_neighbours(const directive& line, llvm::ArrayRef<clause> clauses, const clang::Token* stray);

/// For a directive without a comm clause: whether the user meant one, but misspelled it or hid it
/// by a macro or a bracket.
objection find_misspelt(const directive& line, llvm::ArrayRef<clause> clauses, const operations& known);

/// For a directive other than task: the error of the first comm clause on it, and the clause to
/// remove.
objection find_misplaced(const directive& line, token_range& clause_to_drop);

} // namespace commtask::clause
