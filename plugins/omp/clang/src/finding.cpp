// SPDX-License-Identifier: Apache-2.0
//
// Turns a finding into a clang error, with its notes and, if the right word is known, a fix that
// editors can apply.
#include "finding.hpp"

namespace commtask::clause {

void report(clang::DiagnosticsEngine& diagnostics, const finding& wrong) {
    using level = clang::DiagnosticsEngine::Level;
    {
        auto error = diagnostics.Report(wrong.where, diagnostics.getCustomDiagID(level::Error, "%0"));
        error << wrong.message;
        if (!wrong.replacement.empty()) {
            error << clang::FixItHint::CreateReplacement(clang::SourceRange(wrong.where), wrong.replacement);
        }
    }
    for (const finding::note& note : wrong.notes) {
        diagnostics.Report(note.where, diagnostics.getCustomDiagID(level::Note, "%0")) << note.message;
    }
}

} // namespace commtask::clause
