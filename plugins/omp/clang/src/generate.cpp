// SPDX-License-Identifier: Apache-2.0
//
// Writes the tokens. clang requires two properties: it reads the names of clauses from the text at
// a token's location, so generated names need text of their own; and it drops the rest of a line
// after an unknown clause, so the generated clauses come first.
#include "generate.hpp"

#include "clang/Basic/LangOptions.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/SmallString.h"

#include <algorithm>
#include <memory>
#include <string>

namespace commtask::clause {

using clang::Token;
namespace tok = clang::tok;

namespace {

constexpr const char* event_name = "commtask_event_";
constexpr const char* prepared_name = "commtask_prepared_";
constexpr const char* copies_name = "commtask_copies_";

/// Appends tokens at one location in the user's text, which can be changed.
class token_writer {
public:
    token_writer(clang::Preprocessor& preprocessor, const Token& here) : preprocessor_(preprocessor), here_(here) {}

    /// From here on, tokens have the location of this token.
    token_writer& at(const Token& here) {
        here_ = here;
        return *this;
    }
    token_writer& put(tok::TokenKind kind) {
        Token token;
        token.startToken();
        token.setKind(kind);
        token.setLocation(here_.getLocation());
        token.setLength(1);
        tokens_.push_back(token);
        return *this;
    }
    token_writer& mark(const Token& annotation) {
        tokens_.push_back(annotation);
        return *this;
    }
    token_writer& name(llvm::StringRef text) {
        Token token;
        token.startToken();
        clang::IdentifierInfo* const info = preprocessor_.getIdentifierInfo(text);
        token.setKind(info->getTokenID());
        token.setIdentifierInfo(info);
        token.setLocation(here_.getLocation());
        token.setLength(here_.isAnnotation() ? 1 : here_.getLength());
        tokens_.push_back(token);
        return *this;
    }
    /// A name whose text clang reads again at its location.
    token_writer& clause_name(llvm::StringRef text) {
        Token token;
        token.startToken();
        clang::IdentifierInfo* const info = preprocessor_.getIdentifierInfo(text);
        token.setKind(info->getTokenID());
        token.setIdentifierInfo(info);
        preprocessor_.CreateString(text, token, here_.getLocation(), here_.getLocation());
        tokens_.push_back(token);
        return *this;
    }
    token_writer& number(unsigned value) { return literal(tok::numeric_constant, std::to_string(value)); }
    token_writer& text(llvm::StringRef value) {
        return literal(tok::string_literal, '"' + clang::Lexer::Stringify(value) + '"');
    }
    token_writer& copy(llvm::ArrayRef<Token> users) {
        tokens_.append(users.begin(), users.end());
        return *this;
    }

    void enter() {
        auto stream = std::make_unique<Token[]>(tokens_.size());
        std::copy(tokens_.begin(), tokens_.end(), stream.get());
        preprocessor_.EnterTokenStream(std::move(stream), static_cast<unsigned>(tokens_.size()),
                                       /*DisableMacroExpansion=*/false, /*IsReinject=*/false);
    }

private:
    token_writer& literal(tok::TokenKind kind, const std::string& spelling) {
        Token token;
        token.startToken();
        token.setKind(kind);
        preprocessor_.CreateString(spelling, token, here_.getLocation(), here_.getLocation());
        tokens_.push_back(token);
        return *this;
    }

    clang::Preprocessor& preprocessor_;
    Token here_;
    llvm::SmallVector<Token, 96> tokens_;
};

/// The function of a call. In C++ the call uses a function pointer, so that clang reports a wrong
/// argument at the argument. Otherwise it would report "no matching function" with a name that is
/// not in the user's text. The generated code is the same.
void put_callee(token_writer& to, llvm::StringRef function, bool is_cplusplus) {
    if (is_cplusplus) {
        to.put(tok::l_paren).put(tok::plus).name(function).put(tok::r_paren);
    } else {
        to.name(function);
    }
}

token_writer& put_null(token_writer& to, bool is_cplusplus) { return is_cplusplus ? to.name("nullptr") : to.number(0); }

/// The values of __FILE__ and __LINE__: in preprocessed text these names are no longer macros.
void put_place(token_writer& to, clang::Preprocessor& preprocessor, const Token& pragma) {
    const clang::SourceManager& sources = preprocessor.getSourceManager();
    const clang::PresumedLoc place = sources.getPresumedLoc(sources.getExpansionRange(pragma.getLocation()).getEnd());
    llvm::SmallString<256> file(place.isValid() ? place.getFilename() : "");
    preprocessor.getLangOpts().remapPathPrefix(file);
    to.text(file).put(tok::comma).number(place.isValid() ? place.getLine() : 0);
}

void put_preparation(token_writer& to, clang::Preprocessor& preprocessor, const directive& line,
                     const communication& what) {
    const bool is_cplusplus = preprocessor.getLangOpts().CPlusPlus;
    const Token& pragma = line.tokens.front();
    to.at(pragma).name("omp_event_handle_t").name(event_name).put(tok::equal);
    if (is_cplusplus) {
        to.name("omp_event_handle_t").put(tok::l_paren).put(tok::r_paren);
    } else {
        to.put(tok::l_paren).name("omp_event_handle_t").put(tok::r_paren).number(0);
    }
    to.put(tok::semi);

    to.name("commtask_omp_task").name(prepared_name).put(tok::equal);
    put_callee(to, "commtask_omp_prepare_at", is_cplusplus);
    to.put(tok::l_paren).at(what.operation);
    put_callee(to, what.function->getName(), is_cplusplus);
    to.put(tok::l_paren).copy(line.in(what.arguments)).at(what.close).put(tok::r_paren).put(tok::comma);
    switch (what.place) {
    case communication::order::usual: to.name("COMMTASK_NONE"); break;
    case communication::order::ordered: to.name("COMMTASK_ORDERED"); break;
    case communication::order::unordered: to.name("COMMTASK_UNORDERED"); break;
    }
    to.put(tok::comma);
    if (what.status.begin != what.status.end) {
        put_callee(to, "commtask_omp_sized_status_", is_cplusplus);
        to.put(tok::l_paren).copy(line.in(what.status)).put(tok::r_paren);
    } else {
        put_null(to, is_cplusplus);
    }
    put_place(to.put(tok::comma).at(pragma), preprocessor, pragma);
    to.put(tok::r_paren).put(tok::semi);
}

/// The ':' after a word of a depend clause at the clause's own level, as in depend(iterator(i = 0 :
/// n), depobj : d[i]); 0: none.
unsigned find_colon(llvm::ArrayRef<Token> tokens, llvm::StringRef word) {
    for (unsigned i = 2; i + 1 < tokens.size(); ++i) {
        if (tokens[i].is(tok::l_paren)) {
            i = find_partner(tokens, i, static_cast<unsigned>(tokens.size()));
        } else if (name_of(tokens[i]) == word && tokens[i + 1].is(tok::colon)) {
            return i + 1;
        }
    }
    return 0;
}

/// The objects of a depend clause, after the ':', each as an argument of the function that replaces
/// mutexinoutset by inout.
void put_objects(token_writer& to, llvm::ArrayRef<Token> tokens, bool is_cplusplus) {
    const auto end = static_cast<unsigned>(tokens.size()) - 1;
    for (unsigned begin = 0; begin < end;) {
        unsigned behind = begin;
        while (behind < end && tokens[behind].isNot(tok::comma)) {
            const bool opens = tokens[behind].isOneOf(tok::l_paren, tok::l_square, tok::l_brace);
            behind = (opens ? std::min(find_partner(tokens, behind, end), end - 1) : behind) + 1;
        }
        to.at(tokens[begin]).put(tok::star);
        put_callee(to, "commtask_omp_depobj_in_turn_", is_cplusplus);
        to.put(tok::l_paren).put(tok::amp).name(copies_name).put(tok::comma).put(tok::amp).put(tok::l_paren);
        to.copy(tokens.slice(begin, behind - begin)).put(tok::r_paren).put(tok::r_paren);
        if (behind < end) to.copy(tokens[behind]);
        begin = behind + 1;
    }
    to.copy(tokens.back());
}

/// A depend clause. Tasks of a mutexinoutset run in any order, one at a time: a task that has the
/// mutex could wait for its turn in program order behind a task that waits for the mutex. With
/// inout they run in the order of their creation, which is one of the permitted orders.
void put_depend(token_writer& to, llvm::ArrayRef<Token> tokens, bool is_cplusplus) {
    if (const unsigned colon = find_colon(tokens, "mutexinoutset"); colon != 0) {
        to.copy(tokens.slice(0, colon - 1)).at(tokens[colon - 1]).clause_name("inout").copy(tokens.slice(colon));
    } else if (const unsigned objects = find_colon(tokens, "depobj"); objects != 0) {
        to.copy(tokens.slice(0, objects + 1));
        put_objects(to, tokens.slice(objects + 1), is_cplusplus);
    } else {
        to.copy(tokens);
    }
}

} // namespace

void enter_communication(clang::Preprocessor& preprocessor, const directive& line, llvm::ArrayRef<clause> clauses,
                         const communication& what) {
    const Token& pragma = line.tokens.front();
    const bool is_cplusplus = preprocessor.getLangOpts().CPlusPlus;
    bool is_untied = false;
    bool has_objects = false;
    for (const clause& each : clauses) {
        const llvm::StringRef name = name_of(line.tokens[each.all.begin]);
        is_untied = is_untied || name == "untied";
        has_objects = has_objects || (name == "depend" && what.place != communication::order::unordered &&
                                      find_colon(line.in(each.all), "depobj") != 0);
    }
    token_writer to(preprocessor, pragma);
    to.put(tok::l_brace);
    put_preparation(to, preprocessor, line, what);
    if (has_objects)
        put_null(to.name("void").put(tok::star).name(copies_name).put(tok::equal), is_cplusplus).put(tok::semi);

    // Untied: if they were tied, a task that starts communication and a task that waits for it
    // could block each other for ever.
    to.at(pragma).mark(pragma).copy(line.in({1, 2}));
    if (!is_untied) to.clause_name("untied");
    to.clause_name("detach").put(tok::l_paren).name(event_name).put(tok::r_paren);
    to.clause_name("firstprivate").put(tok::l_paren).name(event_name).put(tok::comma).name(prepared_name);
    to.put(tok::r_paren);
    for (const clause& each : clauses) {
        const llvm::StringRef name = name_of(line.tokens[each.all.begin]);
        if (name == "depend" && what.place != communication::order::unordered) {
            put_depend(to, line.in(each.all), is_cplusplus);
        } else if (name != "comm") {
            to.copy(line.in(each.all));
        }
    }
    to.mark(line.tokens.back());

    to.name("commtask_omp_start_prepared").put(tok::l_paren).put(tok::amp).name(prepared_name).put(tok::comma);
    to.name(event_name).put(tok::r_paren).put(tok::semi);
    if (has_objects) {
        put_callee(to, "commtask_omp_drop_depobjs_", is_cplusplus);
        to.put(tok::l_paren).name(copies_name).put(tok::r_paren).put(tok::semi);
    }
    to.put(tok::r_brace);
    to.enter();
}

void enter_empty_statement(clang::Preprocessor& preprocessor, clang::SourceLocation where) {
    auto stream = std::make_unique<Token[]>(1);
    stream[0].startToken();
    stream[0].setKind(tok::semi);
    stream[0].setLocation(where);
    stream[0].setLength(1);
    preprocessor.EnterTokenStream(std::move(stream), 1, /*DisableMacroExpansion=*/false, /*IsReinject=*/false);
}

} // namespace commtask::clause
