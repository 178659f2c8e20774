// SPDX-License-Identifier: Apache-2.0
//
// The contents of comm(...): modifiers, operation, arguments; or comm(status: pointer). Only the
// tokens are checked here. clang checks the types, since it sees the arguments at the user's
// location.
#pragma once

#include "directive.hpp"
#include "finding.hpp"
#include "operations.hpp"

namespace commtask::clause {

/// The contents of all comm clauses of one directive.
struct communication {
    clang::Token operation;                        ///< The word in the user's text.
    const clang::FunctionDecl* function = nullptr; ///< The function that makes the operation.
    token_range arguments;                         ///< Of the operation, with their commas.
    clang::Token close;                            ///< The ')' after the arguments.
    enum class order { usual, ordered, unordered } place = order::usual;
    token_range status; ///< The pointer; empty if there is none.
};

/// The form of the clause with a status.
constexpr const char* status_form = "comm(status: pointer to a commtask_status)";

/// Reads the comm clauses among the clauses of a directive.
/// @param result  written if there is no error
/// @return the error of the first wrong clause.
objection read_comm_clauses(const directive& line, llvm::ArrayRef<clause> clauses, const operations& known,
                            bool is_cplusplus, communication& result);

} // namespace commtask::clause
