// SPDX-License-Identifier: Apache-2.0
//
// A clause that clang knows but does not permit on a task is left to clang's own error. A clause
// that clang does not know must be refused here, since clang would ignore it with the rest of the
// line, including the communication.
#include "rules.hpp"

#include "clang/Lex/Lexer.h"
#include "clang/Lex/MacroInfo.h"
#include "llvm/Frontend/OpenMP/OMPConstants.h"

namespace commtask::clause {

using clang::Token;
namespace tok = clang::tok;

namespace {

bool is_clause_of_openmp(llvm::StringRef name) {
    return llvm::omp::getOpenMPClauseKind(name) != llvm::omp::Clause::OMPC_unknown;
}

/// Why a clause of OpenMP is not permitted together with comm; null if it is permitted.
const char* reason_against(llvm::StringRef name) {
    if (name == "detach") return "the communication itself completes the task, so the event is in use";
    if (name == "mergeable") return "a merged task has no event that the communication could complete";
    if (name == "if" || name == "final") {
        return "a task that is not deferred cannot wait for its communication, and its dependences would be lost; "
               "write an if statement around the directive";
    }
    return nullptr;
}

std::string nearest_clause(llvm::StringRef wrong) {
    static constexpr const char* clauses[] = {"affinity", "allocate",     "comm",         "default",
                                              "depend",   "firstprivate", "in_reduction", "priority",
                                              "private",  "shared",       "untied"};
    const std::string lower = wrong.lower();
    std::string result;
    unsigned best = 1 + static_cast<unsigned>(wrong.size()) / 3;
    for (const char* name : clauses) {
        const unsigned distance = llvm::StringRef(lower).edit_distance(name);
        if (distance < best || (distance == best && result.empty())) {
            best = distance;
            result = name;
        }
    }
    return result;
}

/// Whether the tokens between the brackets of a clause begin like an operation: "send:".
bool begins_like_operation(const directive& line, token_range arguments, const operations& known) {
    unsigned i = arguments.begin;
    while (i + 1 < arguments.end && line.tokens[i + 1].is(tok::comma)) i += 2;
    return i + 1 < arguments.end && line.tokens[i + 1].is(tok::colon) &&
           (known.find(name_of(line.tokens[i])) != nullptr || name_of(line.tokens[i]) == "status");
}

/// Whether a comm clause is among tokens that were parsed as the arguments of another clause.
bool has_communication(const directive& line, token_range range, const operations& known) {
    for (unsigned i = range.begin; i + 1 < range.end; ++i) {
        if (name_of(line.tokens[i]) == "comm" && line.tokens[i + 1].is(tok::l_paren) &&
            begins_like_operation(line, {i + 2, range.end}, known)) {
            return true;
        }
    }
    return false;
}

/// Whether a macro may expand to a brace, also through another macro.
bool may_hide_brace(clang::Preprocessor& preprocessor, clang::IdentifierInfo* name, int depth = 0) {
    if (!name->hasMacroDefinition()) return false;
    const clang::MacroInfo* const macro = preprocessor.getMacroInfo(name);
    if (macro == nullptr || depth > 8) return true;
    for (const Token& token : macro->tokens()) {
        if (token.isOneOf(tok::l_brace, tok::r_brace)) return true;
        clang::IdentifierInfo* const inner = token.isAnyIdentifier() ? token.getIdentifierInfo() : nullptr;
        if (inner != nullptr && inner != name && may_hide_brace(preprocessor, inner, depth + 1)) return true;
    }
    return false;
}

/// The number of braces opened after `from` that are open at `until`; -1: not known.
int open_braces(clang::Preprocessor& preprocessor, clang::SourceLocation from, clang::SourceLocation until) {
    const clang::SourceManager& sources = preprocessor.getSourceManager();
    const auto start = sources.getDecomposedExpansionLoc(from);
    const auto stop = sources.getDecomposedExpansionLoc(until);
    if (start.first != stop.first || start.second > stop.second) return -1;
    bool is_invalid = false;
    const llvm::StringRef text = sources.getBufferData(start.first, &is_invalid);
    if (is_invalid) return -1;
    clang::Lexer lexer(sources.getLocForStartOfFile(start.first), preprocessor.getLangOpts(), text.begin(),
                       text.begin() + start.second, text.end());
    int open = 0;
    Token token;
    lexer.LexFromRawLexer(token);
    while (token.isNot(tok::eof) && sources.getFileOffset(token.getLocation()) < stop.second) {
        if (token.is(tok::l_brace)) ++open;
        if (token.is(tok::r_brace)) --open;
        const bool is_name = token.is(tok::raw_identifier);
        if (is_name && may_hide_brace(preprocessor, preprocessor.LookUpIdentifierInfo(token))) return -1;
        const bool is_directive = token.is(tok::hash) && token.isAtStartOfLine();
        lexer.LexFromRawLexer(token);
        if (!is_directive) continue;
        // A conditional directive may skip a brace; braces in a pragma do not count.
        if (token.isNot(tok::raw_identifier) || token.getRawIdentifier() != "pragma") return -1;
        while (token.isNot(tok::eof) && !token.isAtStartOfLine()) lexer.LexFromRawLexer(token);
    }
    return open;
}

} // namespace

objection check_unit(const clang::LangOptions& language, const operations& known, clang::SourceLocation where) {
    if (language.OpenMPSimd) {
        return finding{where, "the comm clause needs -fopenmp: -fopenmp-simd makes no tasks", {}, {}};
    }
    if (language.OpenMP < 50) {
        return finding{where, "the comm clause needs OpenMP 5.0: compile with -fopenmp-version=50 or newer", {}, {}};
    }
    if (!known.is_header_seen()) {
        return finding{where, "the comm clause needs the header: #include <commtask/omp.h>", {}, {}};
    }
    if (!known.is_event_known()) {
        return finding{where, "the comm clause needs LLVM's <omp.h>; this one has no omp_event_handle_t", {}, {}};
    }
    return std::nullopt;
}

objection check_place(clang::Sema& sema, clang::SourceLocation line_start, clang::SourceLocation where) {
    const clang::DeclContext* const around = sema.CurContext != nullptr ? sema.CurContext->getRedeclContext() : nullptr;
    if (around == nullptr) return std::nullopt;
    // Templates whose bodies are parsed at the end of the file are lexed before their function
    // begins.
    const clang::LangOptions& language = sema.getLangOpts();
    bool is_outside = around->isFileContext() && !language.DelayedTemplateParsing;
    if (const auto* const record = llvm::dyn_cast<clang::TagDecl>(around)) {
        // The bodies of member functions are lexed before they begin too; only the braces show
        // whether the directive is inside.
        is_outside = !language.CPlusPlus || open_braces(sema.getPreprocessor(), record->getBeginLoc(), line_start) == 1;
    }
    if (!is_outside) return std::nullopt;
    return finding{where, "a directive with a comm clause creates a task, so it must be inside a function", {}, {}};
}

objection check_brackets(const directive& line, llvm::ArrayRef<clause> clauses) {
    const auto end = static_cast<unsigned>(line.tokens.size()) - 1;
    for (const clause& each : clauses) {
        if (each.is_closed) continue;
        const unsigned open = each.all.begin + 1;
        if (const auto wrong = find_wrong_bracket(line.tokens, open, end)) {
            const Token& opened = line.tokens[wrong->open];
            const std::string partner = opened.is(tok::l_paren) ? ")" : opened.is(tok::l_square) ? "]" : "}";
            return finding{line.tokens[wrong->close].getLocation(),
                           "expected '" + partner + "'",
                           {},
                           {{opened.getLocation(),
                             std::string("to match this '") + tok::getPunctuatorSpelling(opened.getKind()) + "'"}}};
        }
        const llvm::StringRef name = name_of(line.tokens[each.all.begin]);
        const std::string which = name == "comm" ? "comm clause" : "clause '" + name.str() + "'";
        return finding{line.tokens[open].getLocation(), "this '(' of the " + which + " is never closed", {}, {}};
    }
    return std::nullopt;
}

objection check_neighbours(const directive& line, llvm::ArrayRef<clause> clauses, const Token* stray) {
    for (const clause& each : clauses) {
        const Token& word = line.tokens[each.all.begin];
        const llvm::StringRef name = name_of(word);
        if (name == "comm") continue;
        if (const char* const reason = reason_against(name)) {
            return finding{
                word.getLocation(), ("'" + name + "' is not allowed together with comm: " + reason).str(), {}, {}};
        }
        if (!is_clause_of_openmp(name)) {
            finding wrong{word.getLocation(), ("unknown clause '" + name + "' on '#pragma omp task'").str(), {}, {}};
            wrong.replacement = nearest_clause(name);
            if (!wrong.replacement.empty()) wrong.message += "; did you mean '" + wrong.replacement + "'?";
            return wrong;
        }
    }
    if (stray != nullptr) {
        return finding{stray->getLocation(),
                       stray->is(tok::semi) ? "a ';' is not allowed on the directive's line; write it on the next line"
                                            : "expected a clause or the end of the line",
                       {},
                       {}};
    }
    return std::nullopt;
}

objection find_misspelt(const directive& line, llvm::ArrayRef<clause> clauses, const operations& known) {
    for (const clause& each : clauses) {
        const Token& word = line.tokens[each.all.begin];
        const llvm::StringRef name = name_of(word);
        if (!each.is_closed && has_communication(line, each.arguments, known)) return check_brackets(line, each);
        if (!each.has_brackets || is_clause_of_openmp(name)) continue;
        if (llvm::StringRef(name.lower()).edit_distance("comm") <= 1 ||
            begins_like_operation(line, each.arguments, known)) {
            return finding{word.getLocation(),
                           ("unknown clause '" + name + "' on '#pragma omp task'; did you mean 'comm'?").str(),
                           "comm",
                           {}};
        }
    }
    // A macro called comm in text that was preprocessed without the plugin leaves
    // "((MPI_Comm)1)(send: ...)".
    const auto end = static_cast<unsigned>(line.tokens.size()) - 1;
    for (unsigned i = 2; i < end; ++i) {
        if (line.tokens[i].isNot(tok::l_paren)) continue;
        const unsigned close = find_partner(line.tokens, i, end);
        const bool follows_clause_name = !name_of(line.tokens[i - 1]).empty();
        if (!follows_clause_name && begins_like_operation(line, {i + 1, close}, known)) {
            return finding{line.tokens[i].getLocation(),
                           "a macro has replaced the word 'comm' before this; in text that is preprocessed separately, "
                           "no macro may be named comm",
                           {},
                           {}};
        }
        i = close;
    }
    return std::nullopt;
}

objection find_misplaced(const directive& line, token_range& clause_to_drop) {
    const auto end = static_cast<unsigned>(line.tokens.size()) - 1;
    const llvm::StringRef name = end > 1 ? name_of(line.tokens[1]) : llvm::StringRef();
    const bool is_meta = name == "metadirective" || (name == "begin" && end > 2 && name_of(line.tokens[2]) == name);
    for (unsigned i = 2; i + 1 < end; ++i) {
        if (line.tokens[i].is(tok::l_paren) && !is_meta) {
            i = find_partner(line.tokens, i, end);
            continue;
        }
        if (name_of(line.tokens[i]) != "comm" || line.tokens[i + 1].isNot(tok::l_paren)) continue;
        const unsigned close = find_partner(line.tokens, i + 1, end);
        // Inside a metadirective an expression may call a function named comm.
        const unsigned last_colon = std::min(close, i + 6);
        bool has_colon = !is_meta;
        for (unsigned k = i + 2; k < last_colon; ++k) has_colon = has_colon || line.tokens[k].is(tok::colon);
        if (!has_colon) continue;
        clause_to_drop = {i, std::min(close + 1, end)};
        return finding{line.tokens[i].getLocation(),
                       ("the comm clause belongs on '#pragma omp task', not on '#pragma omp " + name + "'").str(),
                       {},
                       {}};
    }
    return std::nullopt;
}

} // namespace commtask::clause
