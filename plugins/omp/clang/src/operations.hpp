// SPDX-License-Identifier: Apache-2.0
//
// The operations of comm(...), from the program's declarations: an operation is a function
// commtask_op_<name> that the program has included, and its parameter names are the expected form.
// So a new operation of the library is available as a clause without a change here.
#pragma once

#include "clang/AST/Decl.h"
#include "clang/Basic/SourceLocation.h"
#include "clang/Sema/Sema.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace commtask::clause {

/// The operations of one translation unit. The results may change with every line, so nothing is
/// cached.
class operations {
public:
    explicit operations(clang::Sema& sema) : sema_(sema) {}

    /// Whether <commtask/omp.h> has been included, also through a precompiled header or a
    /// preprocessed file.
    bool is_header_seen() const;

    /// Whether the included <omp.h> has events of detached tasks.
    bool is_event_known() const;

    /// @return the function of an operation; null if there is no such operation.
    const clang::FunctionDecl* find(llvm::StringRef name) const;

    /// The operation with the name most similar to a wrong one; empty if none is similar.
    std::string nearest(llvm::StringRef wrong) const;

    /// All names, e.g. "recv, send"; sorted.
    std::string list() const;

private:
    clang::NamedDecl* find_declaration(llvm::StringRef name) const;
    const clang::FunctionDecl* find_function(llvm::StringRef name) const;
    std::vector<std::string> names() const;

    clang::Sema& sema_;
};

/// The form of an operation, e.g. "comm(send: buffer, count, type, dest, tag, comm)".
std::string expected_form(llvm::StringRef name, const clang::FunctionDecl& function);

} // namespace commtask::clause
