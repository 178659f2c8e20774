// SPDX-License-Identifier: Apache-2.0
//
// What comes behind a directive. It has no statement of its own, but behind every other task directive stands the task's
// body, and people and tools read it so. So what could be a body is an error there: a receive with its "body" behind it
// would otherwise compile into a race. A ';' ends the directive, and is swallowed, or `if (c) DIRECTIVE ; else` would not
// parse; what cannot be a body, such as the end of the block or another directive, may follow at once.
#pragma once

#include "complaint.hpp"
#include "directive.hpp"

#include "llvm/ADT/DenseSet.h"

namespace commtask::clause {

/// Swallows a ';' behind the directive that was just read.
/// @param is_operator  whether it was written as _Pragma
/// @return whether there was one.
bool take_semicolon(clang::Preprocessor& preprocessor, const directive& line, bool is_operator);

/// Whether a directive that needs a statement has none behind it: its writer took it for complete.
bool lacks_statement(clang::Preprocessor& preprocessor, const directive& line);

/// Watches the tokens on their way to the parser for the one behind each directive. That token is found in no other way:
/// it may come out of a macro or behind an #if, and looking ahead for it would nest directives in a row.
class follower_watch {
public:
    /// The tokens of a directive are about to go to the parser: from a '{' to a '}' that both stand where it begins.
    /// @param may_be_followed  whether nothing is wrong about a statement behind it
    void expect(clang::Preprocessor& preprocessor, clang::SourceLocation directive, bool may_be_followed);

private:
    using raw_location = clang::SourceLocation::UIntTy;

    void see(clang::Preprocessor& preprocessor, const clang::Token& token);

    unsigned n_passed_ = 0;                ///< Tokens that the parser has had when the last one was seen.
    llvm::DenseSet<raw_location> begins_;  ///< Where directives with a comm clause are.
    llvm::DenseSet<raw_location> is_open_; ///< Those whose '}' has yet to pass.
    clang::SourceLocation just_ended_;     ///< The directive whose '}' was the last token.
    unsigned n_errors_before_ = 0;         ///< Of the compiler, before the last directive: one for each is enough.
    bool is_watching_ = false;
};

} // namespace commtask::clause
