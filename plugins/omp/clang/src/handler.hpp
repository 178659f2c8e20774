// SPDX-License-Identifier: Apache-2.0
//
// The handler of `#pragma omp` that replaces clang's own for one translation unit. It receives
// every such line, also in programs without comm clauses, and must not change lines without one.
#pragma once

#include "follower.hpp"
#include "hints.hpp"
#include "operations.hpp"

#include "clang/Lex/Pragma.h"

namespace clang {
class Sema;
}

namespace commtask::clause {

/// Reads every `#pragma omp` line. A line without a comm clause goes to the parser unchanged.
class omp_handler final : public clang::PragmaHandler {
public:
    omp_handler() : PragmaHandler("omp") {}

    /// Sema is created after the handler and destroyed before it; null otherwise.
    void set_sema(clang::Sema* sema) { sema_ = sema; }

    void HandlePragma(clang::Preprocessor& preprocessor, clang::PragmaIntroducer introducer,
                      clang::Token& first) override;

private:
    void handle_task(clang::Preprocessor& preprocessor, const directive& line, bool is_operator);
    void handle_other(clang::Preprocessor& preprocessor, const directive& line);
    void ignore_line(clang::Preprocessor& preprocessor, const clang::Token& first);

    clang::Sema* sema_ = nullptr;
    follower_watch followers_;
    form_hints hints_;
    int n_being_read_ = 0;
    bool has_refused_unit_ = false;
};

} // namespace commtask::clause
