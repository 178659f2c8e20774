// SPDX-License-Identifier: Apache-2.0
//
// One `#pragma omp` line as the user wrote it: its tokens after macro expansion, divided into
// clauses. Only brackets are interpreted here; other files interpret the clauses. Every token keeps
// the user's location, so that errors are shown there.
#pragma once

#include "clang/Basic/SourceLocation.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/Token.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace commtask::clause {

using token_list = llvm::SmallVector<clang::Token, 64>;

/// A range of tokens: [begin, end) of the directive's list.
struct token_range {
    unsigned begin = 0;
    unsigned end = 0;
};

/// `name` or `name(arguments)` at the outermost level.
struct clause {
    token_range all;       ///< With name and brackets, without a following comma.
    token_range arguments; ///< Inside the brackets; empty if there are none.
    bool has_brackets;     ///< Whether a '(' follows the name.
    bool is_closed;        ///< Whether its ')' exists, and all brackets inside match.
};

/// One line. tokens[0] is clang's annotation of the beginning; the last token is the annotation of
/// the end.
struct directive {
    token_list tokens;
    /// A function-like macro named comm, if the clause looks like a call of it.
    clang::SourceLocation hiding_macro;

    llvm::ArrayRef<clang::Token> in(token_range range) const {
        return llvm::ArrayRef<clang::Token>(tokens).slice(range.begin, range.end - range.begin);
    }
    clang::SourceLocation begin() const { return tokens.front().getLocation(); }
    clang::SourceLocation end() const { return tokens.back().getLocation(); }
};

/// The name of an identifier or keyword; empty for any other token.
llvm::StringRef name_of(const clang::Token& token);

/// Reads the rest of the line as clang's own handler does, with one exception: a macro called
/// `comm` is not expanded where a clause may be, since `#define comm MPI_COMM_WORLD` would hide the
/// clause. A macro with parameters is expanded unless its arguments have the form of a clause,
/// `comm(send: ...)`.
/// @param start  the beginning of the line
/// @return the directive.
directive read_directive(clang::Preprocessor& preprocessor, clang::SourceLocation start);

/// Passes a directive to the parser as clang's own handler would.
void give_back(clang::Preprocessor& preprocessor, const directive& line);

/// Finds the bracket that closes the bracket at `open`: its index, or `end` if there is none or a
/// bracket between them does not match.
unsigned find_partner(llvm::ArrayRef<clang::Token> tokens, unsigned open, unsigned end);

/// A closing bracket of the wrong kind, and the bracket that it should close.
struct wrong_bracket {
    unsigned open;
    unsigned close;
};

/// The first wrong bracket between the bracket at `open` and its partner.
std::optional<wrong_bracket> find_wrong_bracket(llvm::ArrayRef<clang::Token> tokens, unsigned open, unsigned end);

/// Finds the clauses of a directive, from the token at `first` on.
/// @param stray  receives the first token that belongs to no clause; unchanged if there is none
/// @return the clauses before that token.
llvm::SmallVector<clause, 8> find_clauses(const directive& line, unsigned first, const clang::Token*& stray);

} // namespace commtask::clause
