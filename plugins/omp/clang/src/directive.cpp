// SPDX-License-Identifier: Apache-2.0
//
// Reads a line and divides it into clauses. A line without a comm clause must reach the parser as
// if this plugin did not exist. The code therefore does the same steps as clang's own handler
// (PragmaOpenMPHandler in its Parser).
#include "directive.hpp"

#include "clang/Basic/DiagnosticParse.h"
#include "clang/Lex/MacroInfo.h"

#include <algorithm>
#include <memory>

namespace commtask::clause {

using clang::Token;
namespace tok = clang::tok;

namespace {

/// While an object exists, the macro `comm` is not expanded.
class comm_guard {
public:
    comm_guard(clang::Preprocessor& preprocessor, bool is_wanted) {
        clang::IdentifierInfo* const name = preprocessor.getIdentifierInfo("comm");
        if (!is_wanted || !name->hasMacroDefinition()) return;
        clang::MacroInfo* const macro = preprocessor.getMacroInfo(name);
        if (macro == nullptr || !macro->isEnabled()) return;
        macro_ = macro;
        macro_->DisableMacro();
    }
    ~comm_guard() {
        if (macro_ != nullptr) macro_->EnableMacro();
    }
    const clang::MacroInfo* macro() const { return macro_; }
    comm_guard(const comm_guard&) = delete;
    comm_guard& operator=(const comm_guard&) = delete;

private:
    clang::MacroInfo* macro_ = nullptr;
};

bool is_kept_macro(const Token& token) { return token.isExpandDisabled() && name_of(token) == "comm"; }

int change_of_depth(const Token& token) {
    if (token.isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) return 1;
    if (token.isOneOf(tok::r_paren, tok::r_square, tok::r_brace)) return -1;
    return 0;
}

bool fit(const Token& open, const Token& close) {
    switch (open.getKind()) {
    case tok::l_paren: return close.is(tok::r_paren);
    case tok::l_square: return close.is(tok::r_square);
    default: return close.is(tok::r_brace);
    }
}

/// Finds the partner of the bracket at `open`, or the first bracket that does not match, which is
/// stored in `wrong`.
/// @return its index; `end` if there is neither.
unsigned walk_brackets(llvm::ArrayRef<Token> tokens, unsigned open, unsigned end, std::optional<wrong_bracket>& wrong) {
    llvm::SmallVector<unsigned, 8> is_open;
    for (unsigned i = open; i < end; ++i) {
        const int change = change_of_depth(tokens[i]);
        if (change > 0) is_open.push_back(i);
        if (change >= 0) continue;
        if (!fit(tokens[is_open.back()], tokens[i])) {
            wrong = {is_open.back(), i};
            return i;
        }
        is_open.pop_back();
        if (is_open.empty()) return i;
    }
    return end;
}

/// Lexes tokens again; `comm` among them is expanded if that is permitted.
void read_again(clang::Preprocessor& preprocessor, llvm::ArrayRef<Token> tokens) {
    auto again = std::make_unique<Token[]>(tokens.size());
    std::copy(tokens.begin(), tokens.end(), again.get());
    preprocessor.EnterTokenStream(std::move(again), static_cast<unsigned>(tokens.size()),
                                  /*DisableMacroExpansion=*/false, /*IsReinject=*/false);
}

/// The expansion of a macro was prevented without need: lexes the macro and the tokens after it
/// again, with expansion.
void expand_after_all(clang::Preprocessor& preprocessor, Token macro, llvm::ArrayRef<Token> behind, Token& next) {
    macro.clearFlag(Token::DisableExpand);
    llvm::SmallVector<Token, 16> again{macro};
    again.append(behind.begin(), behind.end());
    read_again(preprocessor, again);
    preprocessor.Lex(next);
}

/// Whether the tokens after a '(' begin as in a clause: "send:" or "ordered, send:".
bool begin_like_clause(llvm::ArrayRef<Token> tokens) {
    std::size_t i = 0;
    while (i + 1 < tokens.size() && !name_of(tokens[i]).empty() && tokens[i + 1].is(tok::comma)) i += 2;
    return i + 1 < tokens.size() && !name_of(tokens[i]).empty() && tokens[i + 1].is(tok::colon);
}

/// `comm(` where comm is a macro with parameters: either a clause that the macro would hide, or a
/// call of the macro.
/// @param open  the '('; on return the next token
/// @return whether it is a clause.
bool is_clause_all_the_same(clang::Preprocessor& preprocessor, directive& line, Token& open) {
    llvm::SmallVector<Token, 32> call{open};
    for (int depth = 1; depth > 0 && !call.back().isOneOf(tok::eod, tok::eof);) {
        Token token;
        preprocessor.LexUnexpandedToken(token);
        depth += change_of_depth(token);
        call.push_back(token);
    }
    if (begin_like_clause(llvm::ArrayRef<Token>(call).drop_front())) {
        read_again(preprocessor, llvm::ArrayRef<Token>(call).drop_front());
        return true;
    }
    expand_after_all(preprocessor, line.tokens.pop_back_val(), call, open);
    return false;
}

/// A pragma inside the line, from a _Pragma: clang reports an error and continues after it.
void refuse_inner_directive(clang::Preprocessor& preprocessor, Token& token) {
    preprocessor.Diag(token, clang::diag::err_omp_unexpected_directive) << 0;
    for (unsigned open = 1; open != 0;) {
        preprocessor.Lex(token);
        if (token.is(tok::annot_pragma_openmp)) ++open;
        if (token.is(tok::annot_pragma_openmp_end)) --open;
    }
    preprocessor.Lex(token);
}

} // namespace

llvm::StringRef name_of(const Token& token) {
    if (token.isAnnotation() || token.isLiteral()) return {};
    const clang::IdentifierInfo* const info = token.getIdentifierInfo();
    return info != nullptr ? info->getName() : llvm::StringRef();
}

directive read_directive(clang::Preprocessor& preprocessor, clang::SourceLocation start) {
    directive line;
    Token token;
    token.startToken();
    token.setKind(tok::annot_pragma_openmp);
    token.setLocation(start);
    int depth = 0;
    while (token.isNot(tok::eod) && token.isNot(tok::eof)) {
        line.tokens.push_back(token);
        depth = std::max(0, depth + change_of_depth(token));
        const clang::MacroInfo* kept = nullptr;
        {
            const comm_guard guard(preprocessor, depth == 0);
            if (line.tokens.size() > 1 && is_kept_macro(line.tokens.back())) kept = guard.macro();
            preprocessor.Lex(token);
        }
        if (kept != nullptr && token.isNot(tok::l_paren)) {
            expand_after_all(preprocessor, line.tokens.pop_back_val(), token, token);
        } else if (kept != nullptr && kept->isFunctionLike() && is_clause_all_the_same(preprocessor, line, token)) {
            line.hiding_macro = kept->getDefinitionLoc();
        }
        if (token.is(tok::annot_pragma_openmp)) refuse_inner_directive(preprocessor, token);
    }
    const clang::SourceLocation end = token.getLocation();
    token.startToken();
    token.setKind(tok::annot_pragma_openmp_end);
    token.setLocation(end);
    line.tokens.push_back(token);
    // If an unexpanded macro turns out to be no clause, the parser's lexer expands it.
    for (unsigned i = 1; i + 1 < line.tokens.size(); ++i) {
        Token& inside = line.tokens[i];
        if (name_of(inside) != "comm" || !inside.isExpandDisabled()) continue;
        const clang::MacroInfo* const macro = preprocessor.getMacroInfo(inside.getIdentifierInfo());
        if (macro != nullptr && macro->isEnabled()) inside.clearFlag(Token::DisableExpand);
    }
    return line;
}

void give_back(clang::Preprocessor& preprocessor, const directive& line) { read_again(preprocessor, line.tokens); }

unsigned find_partner(llvm::ArrayRef<Token> tokens, unsigned open, unsigned end) {
    std::optional<wrong_bracket> wrong;
    const unsigned found = walk_brackets(tokens, open, end, wrong);
    return wrong ? end : found;
}

std::optional<wrong_bracket> find_wrong_bracket(llvm::ArrayRef<Token> tokens, unsigned open, unsigned end) {
    std::optional<wrong_bracket> wrong;
    walk_brackets(tokens, open, end, wrong);
    return wrong;
}

llvm::SmallVector<clause, 8> find_clauses(const directive& line, unsigned first, const Token*& stray) {
    llvm::SmallVector<clause, 8> clauses;
    const auto end = static_cast<unsigned>(line.tokens.size()) - 1;
    unsigned i = first;
    while (i < end) {
        if (line.tokens[i].is(tok::comma) && !clauses.empty()) {
            ++i;
            continue;
        }
        if (name_of(line.tokens[i]).empty()) {
            stray = &line.tokens[i];
            break;
        }
        clause found = {{i, i + 1}, {i + 1, i + 1}, false, true};
        if (i + 1 < end && line.tokens[i + 1].is(tok::l_paren)) {
            const unsigned close = find_partner(line.tokens, i + 1, end);
            found.has_brackets = true;
            found.is_closed = close < end;
            found.arguments = {i + 2, close};
            found.all.end = std::min(close + 1, end);
        }
        clauses.push_back(found);
        i = found.all.end;
    }
    return clauses;
}

} // namespace commtask::clause
