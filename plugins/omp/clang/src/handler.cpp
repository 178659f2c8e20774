// SPDX-License-Identifier: Apache-2.0
//
// The steps for a line: read, divide into clauses, check, generate. A wrong line gets one error and
// is replaced by an empty statement, so that the parser reports no further error.
#include "handler.hpp"

#include "comm_clause.hpp"
#include "directive.hpp"
#include "finding.hpp"
#include "generate.hpp"
#include "rules.hpp"

#include "clang/Basic/DiagnosticParse.h"
#include "clang/Lex/MacroInfo.h"
#include "clang/Sema/Sema.h"

#include <memory>

namespace commtask::clause {

using clang::Token;
namespace tok = clang::tok;

namespace {

/// Turns C's warnings for a wrong argument into errors between the two locations of a line.
class strict_region {
public:
    strict_region(clang::Preprocessor& preprocessor, const directive& line)
        : diagnostics_(preprocessor.getDiagnostics()) {
        const clang::SourceManager& sources = preprocessor.getSourceManager();
        begin_ = sources.getExpansionLoc(line.begin());
        end_ = sources.getExpansionRange(line.end()).getEnd();
        // In a macro all directives share one expansion location, and clang requires the changes in
        // the order of the text.
        is_open_ = begin_.isValid() && line.begin().isFileID() && line.end().isFileID();
        if (!is_open_) return;
        diagnostics_.pushMappings(begin_);
        for (const llvm::StringRef group : wrong_argument_groups) {
            diagnostics_.setSeverityForGroup(clang::diag::Flavor::WarningOrError, group, clang::diag::Severity::Error,
                                             begin_);
        }
    }
    ~strict_region() {
        if (is_open_) diagnostics_.popMappings(end_);
    }
    strict_region(const strict_region&) = delete;
    strict_region& operator=(const strict_region&) = delete;

private:
    clang::DiagnosticsEngine& diagnostics_;
    clang::SourceLocation begin_;
    clang::SourceLocation end_;
    bool is_open_ = false;
};

/// The first comm clause; null if there is none.
const clause* find_comm(const directive& line, llvm::ArrayRef<clause> clauses) {
    for (const clause& each : clauses) {
        if (name_of(line.tokens[each.all.begin]) == "comm") return &each;
    }
    return nullptr;
}

bool is_function_macro(const clang::Preprocessor& preprocessor, const Token& name) {
    const clang::MacroInfo* const macro = preprocessor.getMacroInfo(name.getIdentifierInfo());
    return macro != nullptr && macro->isFunctionLike();
}

} // namespace

void omp_handler::HandlePragma(clang::Preprocessor& preprocessor, clang::PragmaIntroducer introducer, Token& first) {
    if (preprocessor.getLangOpts().OpenMP == 0) {
        ignore_line(preprocessor, first);
        return;
    }
    ++n_being_read_;
    const directive line = read_directive(preprocessor, introducer.Loc);
    --n_being_read_;
    // A directive inside another directive is an error that clang reports.
    if (sema_ == nullptr || n_being_read_ > 0 || line.tokens.size() < 3) {
        give_back(preprocessor, line);
    } else if (name_of(line.tokens[1]) == "task") {
        handle_task(preprocessor, line, introducer.Kind != clang::PIK_HashPragma);
    } else {
        handle_other(preprocessor, line);
    }
}

void omp_handler::handle_task(clang::Preprocessor& preprocessor, const directive& line, bool is_operator) {
    const operations known(*sema_);
    clang::DiagnosticsEngine& diagnostics = preprocessor.getDiagnostics();
    const clang::LangOptions& language = preprocessor.getLangOpts();
    const Token* stray = nullptr;
    const auto clauses = find_clauses(line, 2, stray);
    const clause* const comm = find_comm(line, clauses);
    objection wrong;
    communication what;
    if (comm == nullptr) {
        wrong = find_misspelt(line, clauses, known);
        if (!wrong) {
            give_back(preprocessor, line);
            return;
        }
    } else {
        const clang::SourceLocation where = line.tokens[comm->all.begin].getLocation();
        wrong = check_unit(language, known, where);
        if (wrong && has_refused_unit_) {
            wrong.reset();
            enter_empty_statement(preprocessor, where);
            return;
        }
        has_refused_unit_ = wrong.has_value();
        if (!wrong) wrong = check_place(*sema_, line.begin(), where);
        if (!wrong && line.hiding_macro.isValid()) {
            wrong = finding{where,
                            "the macro 'comm' takes arguments and hides the clause; give it another name",
                            {},
                            {{line.hiding_macro, "the macro is defined here"}}};
        }
        if (!wrong) wrong = check_brackets(line, clauses);
        if (!wrong) wrong = read_comm_clauses(line, clauses, known, language.CPlusPlus, what);
        if (!wrong) wrong = check_neighbours(line, clauses, stray);
    }
    const bool has_semicolon = take_semicolon(preprocessor, line, is_operator);
    if (wrong) {
        report(diagnostics, *wrong);
        const bool is_in_file = sema_->CurContext != nullptr && sema_->CurContext->getRedeclContext()->isFileContext();
        if (!is_in_file) enter_empty_statement(preprocessor, line.end());
        return;
    }
    followers_.expect(preprocessor, line.begin(), has_semicolon);
    hints_.watch(diagnostics, line, what);
    const strict_region region(preprocessor, line);
    enter_communication(preprocessor, line, clauses, what);
}

void omp_handler::handle_other(clang::Preprocessor& preprocessor, const directive& line) {
    token_range unwanted;
    const objection wrong = find_misplaced(line, unwanted);
    if (!wrong) {
        give_back(preprocessor, line);
        return;
    }
    report(preprocessor.getDiagnostics(), *wrong);
    // A metadirective would be incomplete; any other directive is valid without the clause, if it
    // has its statement.
    if (name_of(line.tokens[1]) == "metadirective" || name_of(line.tokens[1]) == "begin") return;
    if (lacks_statement(preprocessor, line)) {
        enter_empty_statement(preprocessor, line.end());
        return;
    }
    directive rest;
    rest.tokens.append(line.tokens.begin(), line.tokens.begin() + unwanted.begin);
    rest.tokens.append(line.tokens.begin() + unwanted.end, line.tokens.end());
    give_back(preprocessor, rest);
}

/// Without OpenMP a line is skipped, and clang warns once if that warning is enabled. Here the
/// first line of a program with communication is an error.
void omp_handler::ignore_line(clang::Preprocessor& preprocessor, const Token& first) {
    clang::DiagnosticsEngine& diagnostics = preprocessor.getDiagnostics();
    Token token;
    Token comm;
    comm.startToken();
    int depth = 0;
    bool is_clause = false;
    do {
        preprocessor.LexUnexpandedToken(token);
        is_clause = is_clause || (depth == 0 && token.is(tok::l_paren) && name_of(comm) == "comm" &&
                                  !is_function_macro(preprocessor, comm));
        if (!is_clause) comm = token;
        depth += token.is(tok::l_paren) ? 1 : token.is(tok::r_paren) ? -1 : 0;
    } while (token.isNot(tok::eod) && token.isNot(tok::eof));

    const bool is_communication = is_clause || (sema_ != nullptr && operations(*sema_).is_header_seen());
    if (is_communication) {
        if (has_refused_unit_) return;
        has_refused_unit_ = true;
        report(diagnostics, {is_clause ? comm.getLocation() : first.getLocation(),
                             is_clause ? "the comm clause needs OpenMP: compile with -fopenmp"
                                       : "communication tasks need OpenMP: compile with -fopenmp",
                             {},
                             {}});
        return;
    }
    if (!diagnostics.isIgnored(clang::diag::warn_pragma_omp_ignored, first.getLocation())) {
        preprocessor.Diag(first, clang::diag::warn_pragma_omp_ignored);
        diagnostics.setSeverity(clang::diag::warn_pragma_omp_ignored, clang::diag::Severity::Ignored,
                                clang::SourceLocation());
    }
}

} // namespace commtask::clause
