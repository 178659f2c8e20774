// SPDX-License-Identifier: Apache-2.0
//
// The token after a directive. A directive with a comm clause has no statement, but readers and
// tools expect a body after a task directive. A statement there is therefore an error: otherwise a
// receive with its "body" would compile into a race. A ';' ends the directive and is removed, since
// `if (c) DIRECTIVE ; else` would not parse otherwise. A token that cannot begin a body, such as
// the end of the block or another directive, may follow.
#pragma once

#include "directive.hpp"
#include "finding.hpp"

#include "llvm/ADT/DenseSet.h"

namespace commtask::clause {

/// Removes a ';' after the directive that was just read.
/// @param is_operator  whether the directive was written as _Pragma
/// @return whether there was one.
bool take_semicolon(clang::Preprocessor& preprocessor, const directive& line, bool is_operator);

/// Whether a directive that needs a statement has none after it: the user assumed that it needs
/// none.
bool lacks_statement(clang::Preprocessor& preprocessor, const directive& line);

/// Watches the tokens that go to the parser, for the token after each directive. There is no other
/// way to find that token: it may come from a macro or after an #if, and a look-ahead would nest
/// consecutive directives.
class follower_watch {
public:
    /// Called before the tokens of a directive go to the parser: from a '{' to a '}', both with the
    /// location of the directive's beginning.
    /// @param may_be_followed  whether a statement may follow
    void expect(clang::Preprocessor& preprocessor, clang::SourceLocation directive, bool may_be_followed);

private:
    using raw_location = clang::SourceLocation::UIntTy;

    void see(clang::Preprocessor& preprocessor, const clang::Token& token);

    unsigned n_tokens_ = 0;                ///< The parser's token count when the last token was seen.
    llvm::DenseSet<raw_location> begins_;  ///< The locations of directives with a comm clause.
    llvm::DenseSet<raw_location> is_open_; ///< Directives whose '}' has not been seen yet.
    clang::SourceLocation just_ended_;     ///< The directive whose '}' was the last token.
    /// The error count before the last directive, since one error per directive is enough.
    unsigned n_errors_before_ = 0;
    bool is_watching_ = false;
};

} // namespace commtask::clause
