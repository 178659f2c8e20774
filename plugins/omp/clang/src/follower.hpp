// SPDX-License-Identifier: Apache-2.0
//
// What comes behind a directive. It has no statement of its own, so a ';' there is swallowed (or `if (c) DIRECTIVE ;
// else` would not parse), and a '{' is an error, since for every other task it would be the body.
#pragma once

#include "complaint.hpp"
#include "directive.hpp"

namespace commtask::clause {

/// Swallows a ';' behind the directive that was just read.
/// @param is_operator  whether it was written as _Pragma
/// @return an objection to a block behind it.
objection take_follower(clang::Preprocessor& preprocessor, const directive& line, bool is_operator);

} // namespace commtask::clause
