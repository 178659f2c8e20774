// SPDX-License-Identifier: Apache-2.0
//
// What comm(...) can do, read from the program itself: an operation is a function commtask_op_<name> that the program
// has seen, and its parameters' names are the expected form. So there is no list here that could grow old, and an
// operation added to the library is a clause at once.
#pragma once

#include "clang/AST/Decl.h"
#include "clang/Basic/SourceLocation.h"
#include "clang/Sema/Sema.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace commtask::clause {

/// The operations of one translation unit. What it answers may change with every line, so nothing is kept.
class operations {
public:
    explicit operations(clang::Sema& sema) : sema_(sema) {}

    /// Whether <commtask/omp.h> has been read, also through a precompiled header or a preprocessed file.
    bool is_header_seen() const;

    /// Whether <omp.h> was one that knows events of detached tasks.
    bool is_event_known() const;

    /// @return the function of an operation; null if there is no such operation.
    const clang::FunctionDecl* find(llvm::StringRef name) const;

    /// The operation whose name is most like a wrong one; empty if none is near.
    std::string nearest(llvm::StringRef wrong) const;

    /// All names, e.g. "recv, send"; sorted.
    std::string list() const;

private:
    clang::NamedDecl* find_declaration(llvm::StringRef name) const;
    const clang::FunctionDecl* find_function(llvm::StringRef name) const;
    std::vector<std::string> names() const;

    clang::Sema& sema_;
};

/// How an operation is written, e.g. "comm(send: buffer, count, type, dest, tag, comm)".
std::string expected_form(llvm::StringRef name, const clang::FunctionDecl& function);

} // namespace commtask::clause
