// SPDX-License-Identifier: Apache-2.0
//
// The tokens that replace a comm clause for the parser: the detach form that a user would write by
// hand, so it has the same cost. Arguments keep their own locations, and every other token has the
// location of a word in the user's text, so no error points into generated text.
//
//     { omp_event_handle_t event = none;
//       commtask_omp_task prepared =
//           commtask_omp_prepare_at(operation(arguments), order, sized(status), __FILE__,
//           __LINE__);
//       #pragma omp task untied detach(event) firstprivate(event, prepared) <the user's other
//       clauses>
//       commtask_omp_start_prepared(&prepared, event); }
//
// If the operation is ordered, mutexinoutset becomes inout, also in the objects of depend(depobj:
// ...).
#pragma once

#include "comm_clause.hpp"
#include "directive.hpp"

namespace commtask::clause {

/// Passes the tokens of a directive with a comm clause to the parser.
void enter_communication(clang::Preprocessor& preprocessor, const directive& line, llvm::ArrayRef<clause> clauses,
                         const communication& what);

/// Passes `;` to the parser, in place of a directive with an error.
void enter_empty_statement(clang::Preprocessor& preprocessor, clang::SourceLocation where);

} // namespace commtask::clause
