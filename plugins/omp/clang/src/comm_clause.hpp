// SPDX-License-Identifier: Apache-2.0
//
// The inside of comm(...): modifiers, operation, arguments; or comm(status: pointer). Read and checked as far as tokens
// tell; types are left to the compiler, which sees the arguments where the user wrote them.
#pragma once

#include "complaint.hpp"
#include "directive.hpp"
#include "operations.hpp"

namespace commtask::clause {

/// All that the comm clauses of one directive say.
struct communication {
    clang::Token operation;                        ///< The user's word.
    const clang::FunctionDecl* function = nullptr; ///< What makes it.
    token_range arguments;                         ///< Of the operation, with their commas.
    clang::Token close;                            ///< The ')' behind them.
    enum class order { usual, ordered, unordered } place = order::usual;
    token_range status; ///< The pointer; empty if none was given.
};

/// How the other form of the clause is written.
constexpr const char* status_form = "comm(status: pointer to a commtask_status)";

/// Reads the comm clauses among those of a directive.
/// @param result  written if nothing is wrong
/// @return what is wrong with the first wrong one.
objection read_comm_clauses(const directive& line, llvm::ArrayRef<clause> clauses, const operations& known,
                            bool is_cplusplus, communication& result);

} // namespace commtask::clause
