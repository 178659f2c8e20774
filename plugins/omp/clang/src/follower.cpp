// SPDX-License-Identifier: Apache-2.0
//
// To find a ';' after a line, the text of the file is inspected instead of the next token: lexing
// the next token could read the next directive, and thousands of consecutive directives would nest
// as deeply. After a _Pragma, often inside a macro, there may be no text, so the next token is
// lexed and put back; the nesting depth is limited.
#include "follower.hpp"

#include "clang/Lex/Lexer.h"
#include "llvm/ADT/FunctionExtras.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace commtask::clause {

using clang::Token;
namespace tok = clang::tok;

namespace {

/// clang's preprocessor has one token watcher and no accessor for it. Under -fcoverage-mapping the
/// watcher is the compiler's own, which must continue to watch. The member is private, and only an
/// explicit instantiation may name it.
using token_watcher = llvm::unique_function<void(const Token&)>;
token_watcher& watcher_of(clang::Preprocessor& preprocessor);

template <token_watcher clang::Preprocessor::* Member>
struct watcher_access {
    friend token_watcher& watcher_of(clang::Preprocessor& preprocessor) { return preprocessor.*Member; }
};
template struct watcher_access<&clang::Preprocessor::OnToken>;

/// Whether the first token after a line is a ';'; line markers of preprocessed text are skipped.
bool is_semicolon_behind(const clang::Preprocessor& preprocessor, clang::SourceLocation line_end) {
    const clang::SourceManager& sources = preprocessor.getSourceManager();
    const auto place = sources.getDecomposedExpansionLoc(line_end);
    bool is_invalid = false;
    const llvm::StringRef text = sources.getBufferData(place.first, &is_invalid);
    if (is_invalid || place.second >= text.size()) return false;
    clang::Lexer lexer(sources.getLocForStartOfFile(place.first), preprocessor.getLangOpts(), text.begin(),
                       text.begin() + place.second, text.end());
    Token token;
    lexer.LexFromRawLexer(token);
    while (token.is(tok::hash) && token.isAtStartOfLine()) {
        lexer.LexFromRawLexer(token);
        const bool is_marker =
            token.is(tok::numeric_constant) || (token.is(tok::raw_identifier) && token.getRawIdentifier() == "line");
        if (!is_marker) return false;
        do {
            lexer.LexFromRawLexer(token);
        } while (token.isNot(tok::eof) && !token.isAtStartOfLine());
    }
    return token.is(tok::semi);
}

/// The nesting depth of directives that inspect the token after them.
thread_local int n_looking = 0;
constexpr int most_looking = 100;

Token peek_token(clang::Preprocessor& preprocessor) {
    Token next;
    ++n_looking;
    preprocessor.Lex(next);
    --n_looking;
    return next;
}

/// Directives without a statement, by their first word.
bool is_standalone(llvm::StringRef directive) {
    static constexpr llvm::StringLiteral names[] = {"barrier", "taskwait",     "taskyield", "flush",        "cancel",
                                                    "declare", "cancellation", "depobj",    "interop",      "scan",
                                                    "end",     "error",        "requires",  "threadprivate"};
    return std::find(std::begin(names), std::end(names), directive) != std::end(names);
}

/// Whether a token cannot begin the body of a task: it ends an enclosing statement, jumps, or
/// belongs to another directive.
bool cannot_begin_body(const Token& token) {
    return token.isAnnotation() ||
           token.isOneOf(tok::semi, tok::r_brace, tok::eof, tok::kw_else, tok::kw_case, tok::kw_default, tok::kw_break,
                         tok::kw_continue, tok::kw_goto, tok::kw_return, tok::kw_co_return);
}

} // namespace

bool take_semicolon(clang::Preprocessor& preprocessor, const directive& line, bool is_operator) {
    if (is_operator ? n_looking >= most_looking : !is_semicolon_behind(preprocessor, line.end())) return false;
    const Token next = peek_token(preprocessor);
    if (next.is(tok::semi)) return true;
    preprocessor.EnterToken(next, /*IsReinject=*/false);
    return false;
}

bool lacks_statement(clang::Preprocessor& preprocessor, const directive& line) {
    const llvm::StringRef second = name_of(line.tokens[2]);
    const bool is_target_data = second == "enter" || second == "exit" || second == "update";
    if (is_standalone(name_of(line.tokens[1])) || is_target_data || n_looking >= most_looking) return false;
    const Token next = peek_token(preprocessor);
    bool lacks = next.isOneOf(tok::r_brace, tok::eof, tok::kw_else);
    if (next.is(tok::annot_pragma_openmp)) {
        const Token name = peek_token(preprocessor);
        lacks = is_standalone(name_of(name));
        preprocessor.EnterToken(name, /*IsReinject=*/false);
    }
    preprocessor.EnterToken(next, /*IsReinject=*/false);
    return lacks;
}

void follower_watch::expect(clang::Preprocessor& preprocessor, clang::SourceLocation directive, bool may_be_followed) {
    begins_.insert(directive.getRawEncoding());
    if (!may_be_followed) is_open_.insert(directive.getRawEncoding());
    n_errors_before_ = preprocessor.getDiagnostics().getClient()->getNumErrors();
    if (is_watching_) return;
    is_watching_ = true;
    n_tokens_ = preprocessor.getTokenCount();
    preprocessor.setTokenWatcher(
        [this, &preprocessor, others = std::move(watcher_of(preprocessor))](const Token& token) mutable {
            if (others) others(token);
            see(preprocessor, token);
        });
}

void follower_watch::see(clang::Preprocessor& preprocessor, const Token& token) {
    // Under -fcoverage-mapping the tokens of preprocessor directives and the arguments of macros
    // are reported here too. They do not go to the parser, and are not counted.
    if (preprocessor.getTokenCount() == n_tokens_) return;
    n_tokens_ = preprocessor.getTokenCount();
    const clang::SourceLocation directive = just_ended_;
    just_ended_ = {};
    if (directive.isValid() && !cannot_begin_body(token) &&
        !(token.is(tok::l_brace) && begins_.count(token.getLocation().getRawEncoding()) != 0) &&
        preprocessor.getDiagnostics().getClient()->getNumErrors() == n_errors_before_) {
        const char* const what = token.is(tok::l_brace) ? "a block" : "a statement";
        report(preprocessor.getDiagnostics(),
               {token.getLocation(),
                std::string(what) + " cannot follow a directive with a comm clause, which has no statement of its own; "
                                    "expected ';' after the directive",
                {},
                {{directive, "the directive is here; its communication is the task's body"}}});
    }
    if (token.is(tok::r_brace) && is_open_.erase(token.getLocation().getRawEncoding())) {
        just_ended_ = token.getLocation();
    }
}

} // namespace commtask::clause
