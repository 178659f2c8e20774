// SPDX-License-Identifier: Apache-2.0
//
// Name lookup at file scope. The lookup uses Sema, not the list of declarations, since only Sema
// finds the declarations of a precompiled header without reading all of it.
#include "operations.hpp"

#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/Lookup.h"

#include <algorithm>
#include <memory>

namespace commtask::clause {

namespace {

constexpr llvm::StringLiteral prefix = "commtask_op_";

} // namespace

clang::NamedDecl* operations::find_declaration(llvm::StringRef name) const {
    if (sema_.TUScope == nullptr) return nullptr;
    const clang::DeclarationName wanted(sema_.getPreprocessor().getIdentifierInfo(name));
    clang::LookupResult found(sema_, wanted, clang::SourceLocation(), clang::Sema::LookupOrdinaryName);
    found.suppressDiagnostics();
    sema_.LookupName(found, sema_.TUScope);
    return found.getAsSingle<clang::NamedDecl>();
}

const clang::FunctionDecl* operations::find_function(llvm::StringRef name) const {
    return llvm::dyn_cast_or_null<clang::FunctionDecl>(find_declaration(name));
}

bool operations::is_event_known() const { return find_declaration("omp_event_handle_t") != nullptr; }

bool operations::is_header_seen() const { return find_function("commtask_omp_start_prepared") != nullptr; }

const clang::FunctionDecl* operations::find(llvm::StringRef name) const {
    // A name that ends in '_' is internal to the header.
    if (name.empty() || name.back() == '_') return nullptr;
    return find_function((prefix + name).str());
}

std::vector<std::string> operations::names() const {
    std::vector<std::string> result;
    const auto consider = [&](llvm::StringRef identifier) {
        llvm::StringRef name = identifier;
        if (name.consume_front(prefix) && find(name) != nullptr) result.push_back(name.str());
    };
    // A lookup adds identifiers, so the table is copied first.
    std::vector<std::string> candidates;
    clang::IdentifierTable& table = sema_.getPreprocessor().getIdentifierTable();
    for (const auto& entry : table) {
        if (entry.getKey().substr(0, prefix.size()) == prefix) candidates.push_back(entry.getKey().str());
    }
    if (clang::IdentifierInfoLookup* const external = table.getExternalIdentifierLookup()) {
        const std::unique_ptr<clang::IdentifierIterator> each(external->getIdentifiers());
        for (llvm::StringRef name = each->Next(); !name.empty(); name = each->Next()) {
            if (name.substr(0, prefix.size()) == prefix) candidates.push_back(name.str());
        }
    }
    for (const std::string& candidate : candidates) consider(candidate);
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
}

std::string operations::nearest(llvm::StringRef wrong) const {
    const std::string lower = wrong.lower();
    unsigned best = 1 + static_cast<unsigned>(wrong.size()) / 3;
    std::string result;
    for (const std::string& name : names()) {
        const unsigned distance = llvm::StringRef(lower).edit_distance(name);
        if (distance <= best && (result.empty() || distance < best)) {
            best = distance;
            result = name;
        }
    }
    return result;
}

std::string operations::list() const {
    std::string result;
    for (const std::string& name : names()) result += (result.empty() ? "" : ", ") + name;
    return result;
}

std::string expected_form(llvm::StringRef name, const clang::FunctionDecl& function) {
    std::string form = ("comm(" + name + ": ").str();
    for (unsigned i = 0; i < function.getNumParams(); ++i) {
        form += (i == 0 ? "" : ", ") + function.getParamDecl(i)->getName().str();
    }
    return form + ")";
}

} // namespace commtask::clause
