// SPDX-License-Identifier: Apache-2.0
//
// Tests whether operations can be bound to tasks of this process: libcommtask-omp-bind must be
// loaded before the OpenMP runtime, and the runtime must be a tested one. The dynamic linker
// decides which functions a program calls.
#include "binding.hpp"
#include "bound_task.hpp"
#include "errors.hpp"

#include <commtask/omp.h>
#include <commtask/omp_entries.h>

#include <dlfcn.h>

namespace commtask::omp {
namespace {

const void* inside_of_binder = nullptr; // written once, while libcommtask-omp-bind is loaded

Dl_info object_of(const void* address) noexcept {
    Dl_info info{};
    if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
        info = {"the OpenMP runtime", nullptr, nullptr, nullptr};
    }
    return info;
}

/// A function of libomp since LLVM 19, the first release in which teams of one thread support
/// detachable tasks, and of Intel's runtime since 2025.0. Intel's 2024.2 has other functions of
/// LLVM 19, but its barriers do not wait for a bound task in such a team.
constexpr const char* witness_of_release = "__kmpc_dispatch_deinit";

std::string find_objection() {
    if (!runtime_objection().empty()) {
        return runtime_objection();
    }
    if (inside_of_binder == nullptr) {
        return "the tasks of this program are not bound: link it with libcommtask-omp-bind (the flags of `pkg-config "
               "--libs "
               "commtask-omp-bind`, or CMake's commtask::omp_bind), or run it with LD_PRELOAD=libcommtask-omp-bind.so";
    }
    const Dl_info reached = object_of(dlsym(RTLD_DEFAULT, "__kmpc_omp_task_alloc"));
    if (reached.dli_fbase != object_of(inside_of_binder).dli_fbase) {
        return std::string("libcommtask-omp-bind comes after ") + reached.dli_fname +
               " in symbol lookup, so it sees no task: put it first on the link line of the program, or run with "
               "LD_PRELOAD=libcommtask-omp-bind.so";
    }
    if (dlsym(RTLD_DEFAULT, witness_of_release) == nullptr) {
        return std::string(object_of(reinterpret_cast<const void*>(entries_of_runtime().task_alloc)).dli_fname) +
               " is older than LLVM 19, whose OpenMP runtime is the first in which tasks of a team of one thread can "
               "wait for "
               "an event: run with a newer libomp";
    }
    return {};
}

} // namespace

const std::string& binding_objection() noexcept {
    static const auto* const objection = new std::string(find_objection());
    return *objection;
}

} // namespace commtask::omp

using namespace commtask::omp;

const commtask_omp_entries* commtask_omp_bind_(const commtask_omp_entries* runtime, const void* inside) noexcept {
    inside_of_binder = inside;
    set_entries_of_runtime(*runtime);
    return binding_objection().empty() ? &bound_entries() : &entries_of_runtime();
}

int commtask_omp_bind_check(void) noexcept {
    const std::string& objection = binding_objection();
    return objection.empty() ? COMMTASK_OK : set_last_objection(COMMTASK_ERR_RUNTIME, objection);
}
