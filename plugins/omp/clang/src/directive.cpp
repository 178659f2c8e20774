// SPDX-License-Identifier: Apache-2.0
//
// Reading a line and cutting it up. The reading copies clang's own handler (PragmaOpenMPHandler of its Parser) step by
// step, since a line without a comm clause must reach the parser as if this plugin were not there.
#include "directive.hpp"

#include "clang/Basic/DiagnosticParse.h"
#include "clang/Lex/MacroInfo.h"

#include <algorithm>
#include <memory>

namespace commtask::clause {

using clang::Token;
namespace tok = clang::tok;

namespace {

/// Keeps the macro `comm` from being expanded as long as it lives.
class comm_guard {
public:
    comm_guard(clang::Preprocessor& preprocessor, bool is_wanted) {
        clang::IdentifierInfo* const name = preprocessor.getIdentifierInfo("comm");
        if (!is_wanted || !name->hasMacroDefinition()) return;
        clang::MacroInfo* const macro = preprocessor.getMacroInfo(name);
        if (macro == nullptr || !macro->isObjectLike() || !macro->isEnabled()) return;
        macro_ = macro;
        macro_->DisableMacro();
    }
    ~comm_guard() {
        if (macro_ != nullptr) macro_->EnableMacro();
    }
    bool is_active() const { return macro_ != nullptr; }
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

/// A macro that was kept from expansion in vain: it, and the token behind it, are read again as they would have been.
void expand_after_all(clang::Preprocessor& preprocessor, Token macro, Token& behind) {
    macro.clearFlag(Token::DisableExpand);
    auto again = std::make_unique<Token[]>(2);
    again[0] = macro;
    again[1] = behind;
    preprocessor.EnterTokenStream(std::move(again), 2, /*DisableMacroExpansion=*/false, /*IsReinject=*/false);
    preprocessor.Lex(behind);
}

/// A pragma inside the line, from a _Pragma: clang refuses it and goes on behind it.
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
        bool is_kept = false;
        {
            const comm_guard guard(preprocessor, depth == 0);
            is_kept = guard.is_active() && line.tokens.size() > 1 && is_kept_macro(line.tokens.back());
            preprocessor.Lex(token);
        }
        if (is_kept && token.isNot(tok::l_paren)) {
            expand_after_all(preprocessor, line.tokens.pop_back_val(), token);
        }
        if (token.is(tok::annot_pragma_openmp)) refuse_inner_directive(preprocessor, token);
    }
    const clang::SourceLocation end = token.getLocation();
    token.startToken();
    token.setKind(tok::annot_pragma_openmp_end);
    token.setLocation(end);
    line.tokens.push_back(token);
    // What was kept from expansion and is no clause after all, the parser's reading expands.
    for (unsigned i = 1; i + 1 < line.tokens.size(); ++i) {
        Token& inside = line.tokens[i];
        if (name_of(inside) != "comm" || !inside.isExpandDisabled()) continue;
        const clang::MacroInfo* const macro = preprocessor.getMacroInfo(inside.getIdentifierInfo());
        if (macro != nullptr && macro->isEnabled()) inside.clearFlag(Token::DisableExpand);
    }
    return line;
}

void give_back(clang::Preprocessor& preprocessor, const directive& line) {
    auto copy = std::make_unique<Token[]>(line.tokens.size());
    std::copy(line.tokens.begin(), line.tokens.end(), copy.get());
    preprocessor.EnterTokenStream(std::move(copy), static_cast<unsigned>(line.tokens.size()),
                                  /*DisableMacroExpansion=*/false, /*IsReinject=*/false);
}

unsigned find_partner(llvm::ArrayRef<Token> tokens, unsigned open, unsigned end) {
    int depth = 0;
    for (unsigned i = open; i < end; ++i) {
        depth += change_of_depth(tokens[i]);
        if (depth == 0) return i;
    }
    return end;
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
