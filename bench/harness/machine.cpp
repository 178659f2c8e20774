// SPDX-License-Identifier: Apache-2.0
//
// The machine's description from /proc, uname and the loaded libraries. The OpenMP library is found by the object that
// holds `omp_get_max_threads`: which library was linked matters less than which one runs.
#include "harness/machine.h"

#include <dlfcn.h>
#include <sys/utsname.h>

#include <filesystem>
#include <fstream>

#include "harness/cores.h"

namespace commtask::bench {
namespace {

std::string processor() {
    std::ifstream cpuinfo("/proc/cpuinfo");
    std::string model = "unknown";
    std::string family;
    for (std::string line; std::getline(cpuinfo, line) && !line.empty();) {
        const std::size_t colon = line.find(": ");
        const std::string value = colon == std::string::npos ? "" : line.substr(colon + 2);
        if (line.starts_with("model name")) {
            model = value;
        } else if (line.starts_with("cpu family")) {
            family = " family " + value;
        } else if (line.starts_with("model\t")) {
            family += " model " + value;
        }
    }
    return model + family;
}

std::string kernel() {
    utsname name{};
    return uname(&name) == 0 ? std::string(name.sysname) + " " + name.release : "unknown";
}

std::string openmp_library() {
    void* const symbol = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
    Dl_info info{};
    if (symbol == nullptr || dladdr(symbol, &info) == 0) {
        return "none";
    }
    const std::filesystem::path path = std::filesystem::weakly_canonical(info.dli_fname);
    std::string version;
    for (const auto& part : path) {
        if (part.string().starts_with("llvm-")) {
            version = " of " + part.string();
        }
    }
    return path.filename().string() + version;
}

std::string compiler() {
#if defined(__clang__)
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}

} // namespace

nlohmann::ordered_json describe_machine() {
    nlohmann::ordered_json out;
    out["cpu"] = processor();
    out["cores"] = allowed_cores().size();
    out["kernel"] = kernel();
    out["compiler"] = compiler();
#ifdef NDEBUG
    out["assertions"] = false;
#else
    out["assertions"] = true;
#endif
    out["openmp"] = openmp_library();
    return out;
}

nlohmann::ordered_json describe_machine(const std::string& mpi_library_version) {
    nlohmann::ordered_json out = describe_machine();
    std::string first_line = mpi_library_version.substr(0, mpi_library_version.find('\n'));
    for (char& letter : first_line) {
        letter = letter == '\t' ? ' ' : letter;
    }
    out["mpi"] = first_line.substr(0, first_line.find(','));
    return out;
}

} // namespace commtask::bench
