// SPDX-License-Identifier: Apache-2.0
//
// One `#pragma omp` line as the user wrote it: its tokens after macro expansion, cut into clauses. Only brackets are
// understood here; what a clause means is decided by others. Everything stays a token with the user's location, so that
// whatever is wrong later is shown where the user wrote it.
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

/// A run of tokens: [begin, end) of the directive's list.
struct token_range {
    unsigned begin = 0;
    unsigned end = 0;
};

/// `name` or `name(arguments)` at the outermost level.
struct clause {
    token_range all;       ///< With name and brackets, without a comma behind.
    token_range arguments; ///< Inside the brackets; empty if there are none.
    bool has_brackets;     ///< Whether a '(' follows the name.
    bool is_closed;        ///< Whether its ')' is there, and all brackets inside fit.
};

/// One line. tokens[0] is clang's mark of the beginning, the last is its mark of the end.
struct directive {
    token_list tokens;
    clang::SourceLocation hiding_macro; ///< A function-like macro called comm that the clause looks like a call of.

    llvm::ArrayRef<clang::Token> in(token_range range) const {
        return llvm::ArrayRef<clang::Token>(tokens).slice(range.begin, range.end - range.begin);
    }
    clang::SourceLocation begin() const { return tokens.front().getLocation(); }
    clang::SourceLocation end() const { return tokens.back().getLocation(); }
};

/// The name of an identifier or keyword; empty for any other token.
llvm::StringRef name_of(const clang::Token& token);

/// Reads the rest of the line as clang's own handler does, but for one thing: a macro called `comm` is not expanded
/// where a clause may stand, or `#define comm MPI_COMM_WORLD` would hide the clause. One with parameters is expanded unless
/// its arguments read as a clause, `comm(send: ...)`.
/// @param start  where the line begins
/// @return the directive.
directive read_directive(clang::Preprocessor& preprocessor, clang::SourceLocation start);

/// Hands a directive to the parser as clang's own handler would.
void give_back(clang::Preprocessor& preprocessor, const directive& line);

/// Where the bracket at `open` is closed: the index of its partner, or `end` if it has none or one inside does not fit.
unsigned find_partner(llvm::ArrayRef<clang::Token> tokens, unsigned open, unsigned end);

/// A closing bracket of the wrong kind, and what it should close.
struct wrong_bracket {
    unsigned open;
    unsigned close;
};

/// The first wrong one from the bracket at `open` up to its partner.
std::optional<wrong_bracket> find_wrong_bracket(llvm::ArrayRef<clang::Token> tokens, unsigned open, unsigned end);

/// The clauses of a directive, from the token at `first` on.
/// @param stray  where to put the first token that belongs to no clause; it stays if there is none
/// @return those before it.
llvm::SmallVector<clause, 8> find_clauses(const directive& line, unsigned first, const clang::Token*& stray);

} // namespace commtask::clause
