// SPDX-License-Identifier: Apache-2.0
//
// Which directives may have a comm clause, where they may stand, and which clauses may stand beside it. Every refusal
// here has a reason that the user is told.
#pragma once

#include "complaint.hpp"
#include "directive.hpp"
#include "operations.hpp"

namespace commtask::clause {

/// What is wrong with the translation unit: no OpenMP, too old a version of it, no header.
objection check_unit(const clang::LangOptions& language, const operations& known, clang::SourceLocation where);

/// What is wrong with the place: a directive outside of any function.
objection check_place(clang::Sema& sema, clang::SourceLocation line_start, clang::SourceLocation where);

/// What is wrong with the brackets of the clauses, comm among them.
objection check_brackets(const directive& line, llvm::ArrayRef<clause> clauses);

/// What is wrong with the clauses beside comm, by their names.
objection check_neighbours(const directive& line, llvm::ArrayRef<clause> clauses, const clang::Token* stray);

/// For a directive without a comm clause: whether one was meant, misspelt, hidden by a macro or by a bracket.
objection find_misspelt(const directive& line, llvm::ArrayRef<clause> clauses, const operations& known);

/// For a directive other than task: the first comm clause on it, which is one too many; with its clause.
objection find_misplaced(const directive& line, token_range& clause_to_drop);

} // namespace commtask::clause
