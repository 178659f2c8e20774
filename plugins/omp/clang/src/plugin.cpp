// SPDX-License-Identifier: Apache-2.0
//
// The plugin: clang -fplugin=libcommtask_clause.so. It runs before the compiler's own actions and
// replaces the parser's handler of `#pragma omp`. clang has no interface for that. The replacement
// works since the parser registers its handler by name before the first file is entered, and
// removes it by name at its end.
#include "handler.hpp"

#include "clang/AST/ASTConsumer.h"
#include "clang/Basic/Version.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Sema/SemaConsumer.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace commtask::clause {
namespace {

/// clang silently loads a plugin that was built for another clang and never calls it, which would
/// drop the communication. So the plugin tests the version of its host when it is loaded.
int major_of_host() {
    const std::string text = clang::getClangFullVersion();
    const std::size_t at = text.find("version ");
    return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + 8);
}

const bool is_host_right = [] {
    const int host = major_of_host();
    if (host != CLANG_VERSION_MAJOR) {
        std::fprintf(stderr,
                     "error: this libcommtask_clause.so was built for clang %d, but clang %d has loaded it; "
                     "use the plugin in the folder clang-%d, or commtask-clang, which finds the right one\n",
                     CLANG_VERSION_MAJOR, host, host);
        std::exit(1); // lint-allow(ending): a compiler that went on would drop communication silently
    }
    return true;
}();

/// Replaces the handler when the first file is entered, after the parser has registered its own.
class handler_swap final : public clang::PPCallbacks {
public:
    handler_swap(clang::Preprocessor& preprocessor, omp_handler& handler)
        : preprocessor_(preprocessor), handler_(handler) {}

    void FileChanged(clang::SourceLocation, FileChangeReason, clang::SrcMgr::CharacteristicKind,
                     clang::FileID) override {
        if (is_done_) return;
        is_done_ = true;
        // Only the name is used. The parser owns its handler, and removes this plugin's handler by
        // name at its end.
        clang::EmptyPragmaHandler named_omp("omp");
        preprocessor_.RemovePragmaHandler(&named_omp);
        preprocessor_.AddPragmaHandler(&handler_);
    }

private:
    clang::Preprocessor& preprocessor_;
    omp_handler& handler_;
    bool is_done_ = false;
};

/// Processes no declarations; a plugin gets Sema through a consumer. It outlives the parser, so it
/// owns the handler.
class consumer final : public clang::SemaConsumer {
public:
    explicit consumer(clang::Preprocessor& preprocessor) {
        preprocessor.addPPCallbacks(std::make_unique<handler_swap>(preprocessor, handler_));
    }
    void InitializeSema(clang::Sema& sema) override { handler_.set_sema(&sema); }
    void ForgetSema() override { handler_.set_sema(nullptr); }

private:
    omp_handler handler_;
};

class clause_action final : public clang::PluginASTAction {
protected:
    std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler, llvm::StringRef) override {
        return std::make_unique<consumer>(compiler.getPreprocessor());
    }
    bool ParseArgs(const clang::CompilerInstance&, const std::vector<std::string>&) override { return is_host_right; }
    ActionType getActionType() override { return AddBeforeMainAction; }
};

const clang::FrontendPluginRegistry::Add<clause_action> registered("commtask-clause",
                                                                   "communication as a clause of OpenMP tasks");

} // namespace
} // namespace commtask::clause
