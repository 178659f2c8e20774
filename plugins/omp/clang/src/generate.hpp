// SPDX-License-Identifier: Apache-2.0
//
// What a comm clause stands for, as tokens for the parser. This is the detach form that a user would write by hand, so
// it costs the same. Arguments keep their own locations and everything else has that of a word of the user's: an error
// never points into text that nobody wrote.
//
//     { omp_event_handle_t event = none;
//       commtask_omp_task prepared =
//           commtask_omp_prepare_at(operation(arguments), order, sized(status), __FILE__, __LINE__);
//       #pragma omp task untied detach(event) firstprivate(event, prepared) <the user's other clauses>
//       commtask_omp_start_prepared(&prepared, event); }
//
// Where the operation has a turn, mutexinoutset becomes inout, also in the objects of depend(depobj: ...).
#pragma once

#include "comm_clause.hpp"
#include "directive.hpp"

namespace commtask::clause {

/// Hands the tokens of a directive with a comm clause to the parser.
void enter_communication(clang::Preprocessor& preprocessor, const directive& line, llvm::ArrayRef<clause> clauses,
                         const communication& what);

/// Hands `;` to the parser: what stands for a directive that was refused.
void enter_empty_statement(clang::Preprocessor& preprocessor, clang::SourceLocation where);

} // namespace commtask::clause
