// SPDX-License-Identifier: Apache-2.0
//
// Looking ahead. Behind a line the text of the file is looked at, not the next token: reading that could run into the
// next directive, and thousands of them in a row would nest as deep. Behind a _Pragma, often inside a macro, there may
// be no text, so there the next token is read and put back; the nesting is bounded.
#include "follower.hpp"

#include "clang/Lex/Lexer.h"

namespace commtask::clause {

using clang::Token;
namespace tok = clang::tok;

namespace {

/// The kind of the first token behind a line; line markers of preprocessed text are passed over.
tok::TokenKind kind_behind(const clang::Preprocessor& preprocessor, clang::SourceLocation line_end) {
    const clang::SourceManager& sources = preprocessor.getSourceManager();
    const auto place = sources.getDecomposedExpansionLoc(line_end);
    bool is_invalid = false;
    const llvm::StringRef text = sources.getBufferData(place.first, &is_invalid);
    if (is_invalid || place.second >= text.size()) return tok::eof;
    clang::Lexer lexer(sources.getLocForStartOfFile(place.first), preprocessor.getLangOpts(), text.begin(),
                       text.begin() + place.second, text.end());
    Token token;
    lexer.LexFromRawLexer(token);
    while (token.is(tok::hash) && token.isAtStartOfLine()) {
        lexer.LexFromRawLexer(token);
        const bool is_marker =
            token.is(tok::numeric_constant) || (token.is(tok::raw_identifier) && token.getRawIdentifier() == "line");
        if (!is_marker) return tok::hash;
        do {
            lexer.LexFromRawLexer(token);
        } while (token.isNot(tok::eof) && !token.isAtStartOfLine());
    }
    return token.getKind();
}

objection block_follows(clang::SourceLocation where, const directive& line) {
    return complaint{where,
                     "a block cannot follow a directive with a comm clause: the communication is the task's body; "
                     "write ';' behind the directive if the block is no part of it",
                     {},
                     {{line.begin(), "the directive is here"}}};
}

} // namespace

objection take_follower(clang::Preprocessor& preprocessor, const directive& line, bool is_operator) {
    static thread_local int nesting = 0;
    constexpr int most_nesting = 100;
    if (is_operator) {
        if (nesting >= most_nesting) return std::nullopt;
    } else {
        const tok::TokenKind next = kind_behind(preprocessor, line.end());
        if (next != tok::semi && next != tok::l_brace) return std::nullopt;
    }
    Token next;
    ++nesting;
    preprocessor.Lex(next);
    --nesting;
    if (next.is(tok::semi)) return std::nullopt;
    // A nested directive begins with a brace as well, but that one has the location of its line.
    const bool is_block =
        next.is(tok::l_brace) && !preprocessor.getSourceManager().isMacroBodyExpansion(next.getLocation());
    const bool is_written =
        is_block && clang::Lexer::getSpelling(next, preprocessor.getSourceManager(), preprocessor.getLangOpts()) == "{";
    preprocessor.EnterToken(next, /*IsReinject=*/false);
    if (is_written) return block_follows(next.getLocation(), line);
    return std::nullopt;
}

} // namespace commtask::clause
