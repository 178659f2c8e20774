// SPDX-License-Identifier: Apache-2.0
//
// An error belongs to a clause if its location is the location of a token of the clause. These
// locations are the same in every instance of a template, and different in every expansion of a
// macro.
#include "hints.hpp"

#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/DiagnosticSema.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallString.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace commtask::clause {

namespace {

using engine = clang::DiagnosticsEngine;

/// Ends the current diagnostic, if the compiler supports only one at a time (up to clang 19).
template <class Engine>
auto make_room(Engine& diagnostics, int /*preferred*/) -> decltype(diagnostics.Clear()) {
    diagnostics.Clear();
}
template <class Engine>
void make_room(Engine& /*diagnostics*/, long /*otherwise*/) {}

} // namespace

/// Forwards all diagnostics to the previous consumer, and adds the notes.
class hinting_consumer final : public clang::DiagnosticConsumer {
public:
    explicit hinting_consumer(engine& diagnostics)
        : diagnostics_(diagnostics), inner_(diagnostics.getClient()), owned_inner_(diagnostics.takeClient()) {
        NumErrors = inner_->getNumErrors();
        NumWarnings = inner_->getNumWarnings();
    }

    void watch(llvm::ArrayRef<clang::Token> tokens, clang::SourceLocation where, const std::string& form) {
        for (const clang::Token& token : tokens) clauses_[token.getLocation().getRawEncoding()] = forms_.size();
        forms_.push_back({where, form, false});
    }

    void HandleDiagnostic(engine::Level level, const clang::Diagnostic& info) override {
        const clang::SourceLocation where = info.getLocation();
        const auto found = where.isValid() ? clauses_.find(where.getRawEncoding()) : clauses_.end();
        if (found != clauses_.end() && level == engine::Warning && is_wrong_argument(info)) {
            llvm::SmallString<128> message;
            info.FormatDiagnostic(message);
            make_room(diagnostics_, 0);
            diagnostics_.Report(where, diagnostics_.getCustomDiagID(engine::Error, "%0")) << message;
            return;
        }
        DiagnosticConsumer::HandleDiagnostic(level, info);
        inner_->HandleDiagnostic(level, info);
        if (found == clauses_.end() || level != engine::Error || forms_[found->second].was_told) return;
        // Under default(none), the error may be about an enclosing directive in which the variable
        // is missing; the argument is correct.
        if (info.getID() == clang::diag::err_omp_no_dsa_for_variable) return;
        form& expected = forms_[found->second];
        expected.was_told = true;
        make_room(diagnostics_, 0);
        diagnostics_.Report(expected.where, diagnostics_.getCustomDiagID(engine::Note, "expected %0"))
            << expected.message;
    }
    void BeginSourceFile(const clang::LangOptions& language, const clang::Preprocessor* preprocessor) override {
        inner_->BeginSourceFile(language, preprocessor);
    }
    void EndSourceFile() override { inner_->EndSourceFile(); }
    void finish() override { inner_->finish(); }
    void clear() override {
        DiagnosticConsumer::clear();
        inner_->clear();
    }
    bool IncludeInDiagnosticCounts() const override { return inner_->IncludeInDiagnosticCounts(); }

private:
    /// In C a wrong argument may be only a warning. The handler turns these warnings into errors by
    /// source line, but a _Pragma in a macro has no lines.
    bool is_wrong_argument(const clang::Diagnostic& info) const {
        const llvm::StringRef group = diagnostics_.getDiagnosticIDs()->getWarningOptionForDiag(info.getID());
        return std::find(wrong_argument_groups.begin(), wrong_argument_groups.end(), group) !=
               wrong_argument_groups.end();
    }
    struct form {
        clang::SourceLocation where; ///< Of the operation's name.
        std::string message;
        bool was_told;
    };
    engine& diagnostics_;
    clang::DiagnosticConsumer* inner_;
    std::unique_ptr<clang::DiagnosticConsumer> owned_inner_; ///< Null if the compiler does not pass ownership.
    llvm::DenseMap<clang::SourceLocation::UIntTy, std::size_t> clauses_;
    std::vector<form> forms_;
};

void form_hints::watch(engine& diagnostics, const directive& line, const communication& what) {
    if (consumer_ == nullptr) {
        auto consumer = std::make_unique<hinting_consumer>(diagnostics);
        consumer_ = consumer.get();
        diagnostics.setClient(consumer.release(), /*ShouldOwnClient=*/true);
    }
    const clang::SourceLocation where = what.operation.getLocation();
    consumer_->watch(line.in(what.arguments), where, expected_form(name_of(what.operation), *what.function));
    if (what.status.begin != what.status.end) {
        // The word and its ':' precede the pointer.
        consumer_->watch(line.in(what.status), line.tokens[what.status.begin - 2].getLocation(), status_form);
    }
}

} // namespace commtask::clause
