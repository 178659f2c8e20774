// SPDX-License-Identifier: Apache-2.0
//
// Tests whether one OpenMP runtime serves the whole process. If both libgomp and libomp are loaded,
// each knows only its own tasks, and dependents of communication tasks silently start too early.
// The test uses the dynamic linker's symbol resolution, and adds no cost to tasks. It cannot detect
// a runtime that was linked statically or loaded privately.
#include "bound_task.hpp"
#include "errors.hpp"
#include "kmp.hpp"

#include <dlfcn.h>

namespace commtask::omp {
namespace {

/// The shared object that contains an address; its name is null if not known.
Dl_info object_of(const void* address) noexcept {
    Dl_info info{};
    if (address == nullptr || dladdr(address, &info) == 0) {
        info = {};
    }
    return info;
}

std::string find_objection() {
    // A function that libcommtask-omp-bind does not interpose.
    const Dl_info ours = object_of(reinterpret_cast<const void*>(&__kmpc_proxy_task_completed_ooo));
    // gcc's code calls the first two to wait for tasks and for a parallel region; code of any
    // compiler calls the third for the thread number. Each must resolve to the runtime in which
    // this library creates its tasks.
    for (const char* entry : {"GOMP_taskwait", "GOMP_parallel", "omp_get_thread_num"}) {
        const Dl_info theirs = object_of(dlsym(RTLD_DEFAULT, entry));
        if (theirs.dli_fname != nullptr && theirs.dli_fbase != ours.dli_fbase) {
            return std::string("two OpenMP runtimes are in this process: ") + theirs.dli_fname + " serves " + entry +
                   ", but communication tasks need " + (ours.dli_fname != nullptr ? ours.dli_fname : "libomp") +
                   "; link -lomp before libgomp, for example with the flags of `pkg-config --libs commtask-omp`, or "
                   "run with LD_PRELOAD=libomp.so.5";
        }
    }
    return {};
}

} // namespace

const std::string& runtime_objection() noexcept {
    static const auto* const objection = new std::string(find_objection());
    return *objection;
}

} // namespace commtask::omp

int commtask_omp_check(void) noexcept {
    using namespace commtask::omp;
    if (!runtime_objection().empty()) {
        return set_last_objection(COMMTASK_ERR_RUNTIME, runtime_objection());
    }
    // Not an error: only programs that bind operations need libcommtask-omp-bind.
    return set_last_objection(COMMTASK_OK, binding_objection());
}
