// SPDX-License-Identifier: Apache-2.0
//
// The handler of `#pragma omp` that takes the place of clang's own for one translation unit. It sees every such line,
// so that a program without comm clauses passes through here too, and must come out as it went in.
#pragma once

#include "follower.hpp"
#include "hints.hpp"
#include "operations.hpp"

#include "clang/Lex/Pragma.h"

namespace clang {
class Sema;
}

namespace commtask::clause {

/// Reads every `#pragma omp` line. Those without a comm clause go on to the parser as they are.
class omp_handler final : public clang::PragmaHandler {
public:
    omp_handler() : PragmaHandler("omp") {}

    /// Sema comes into being after the handler and ends before it; null meanwhile.
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
