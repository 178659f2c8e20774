// SPDX-License-Identifier: Apache-2.0
//
// Uses Linux system calls and /proc/self/task: pthread calls would need the pthread_t of threads
// that other libraries created, and cpu_set_t ends at 1024 CPUs.
#include "node/affinity.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace commtask::detail {

namespace {

constexpr std::size_t mask_words = (highest_cpu + 1) / (8 * sizeof(unsigned long));
using mask_array = std::array<unsigned long, mask_words>;

/// Calls `visit(int id)` for every thread of the process. Does not throw std::bad_alloc, since a
/// destructor restores masks.
template <typename Visit>
void for_each_thread(Visit&& visit) {
    const std::unique_ptr<DIR, int (*)(DIR*)> folder{opendir("/proc/self/task"), &closedir};
    if (folder == nullptr) return;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the folder is this call's own
    while (const dirent* const entry = readdir(folder.get())) {
        const std::string_view name{entry->d_name};
        int id = 0;
        const auto [stop, bad] = std::from_chars(name.data(), name.data() + name.size(), id);
        if (bad == std::errc{} && stop == name.data() + name.size()) visit(id);
    }
}

/// Whether libomp was initialized. To detect a second copy in the process, libomp registers itself
/// in a shared-memory file, or in an environment variable without shared memory. The check does not
/// initialize libomp.
bool has_llvm_openmp_run() {
    const std::string process = std::to_string(getpid());
    const std::string name = "__KMP_REGISTERED_LIB_" + process;
    const std::string name_with_user = name + "_" + std::to_string(getuid());
    for (const std::string& folder : {std::string{"/dev/shm/"}, std::string{"/tmp/"}})
        if (access((folder + name_with_user).c_str(), F_OK) == 0) return true;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): called once while the library is set up
    return std::getenv(name.c_str()) != nullptr || std::getenv(name_with_user.c_str()) != nullptr;
}

/// libomp's omp_get_num_procs; null if the process has another OpenMP runtime or none.
int (*llvm_openmp_processors())() {
    void* const address = dlsym(RTLD_DEFAULT, "omp_get_num_procs");
    Dl_info info{};
    if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fname == nullptr) return nullptr;
    const std::string_view file{info.dli_fname};
    const bool is_llvm =
        file.find("libomp") != std::string_view::npos || file.find("libiomp") != std::string_view::npos;
    return is_llvm ? reinterpret_cast<int (*)()>(address) : nullptr;
}

} // namespace

std::optional<cpu_set> thread_cpus(int thread_id) {
    mask_array mask{};
    // A direct system call, since the C library's wrapper takes a cpu_set_t.
    if (syscall(SYS_sched_getaffinity, thread_id, sizeof mask, mask.data()) < 0) return std::nullopt;
    cpu_set cpus;
    if (hwloc_bitmap_from_ulongs(cpus.native(), mask_words, mask.data()) != 0) return std::nullopt;
    return cpus;
}

std::error_code set_thread_cpus(const cpu_set& cpus, int thread_id) {
    mask_array mask{};
    if (hwloc_bitmap_to_ulongs(cpus.native(), mask_words, mask.data()) != 0)
        return std::make_error_code(std::errc::invalid_argument);
    if (syscall(SYS_sched_setaffinity, thread_id, sizeof mask, mask.data()) < 0)
        return {errno, std::generic_category()};
    return {};
}

cpu_set process_cpus() {
    cpu_set cpus = thread_cpus().value_or(cpu_set{});
    if (has_llvm_openmp_run()) {
        for_each_thread([&](int id) {
            if (const auto others = thread_cpus(id)) cpus |= *others;
        });
    }
    return cpus;
}

process_narrowing::process_narrowing(cpu_set from, cpu_set to) : from_(std::move(from)), to_(std::move(to)) {
    if (from_ == to_ || to_.is_empty()) return;
    is_narrowed_ = true;
    move_all(from_, to_);
}

void process_narrowing::change_to(cpu_set to) {
    if (!is_narrowed_ || to == to_) return;
    move_all(to_, to);
    to_ = std::move(to);
}

void process_narrowing::restore() {
    if (!is_narrowed_) return;
    is_narrowed_ = false;
    move_all(to_, from_);
}

void process_narrowing::move_all(const cpu_set& from, const cpu_set& to) {
    // Repeats until no thread is left: a thread that is not moved yet may have just created another
    // thread with its own mask.
    constexpr int most_rounds = 8;
    for (int round = 0; round < most_rounds; ++round) {
        bool has_moved = false;
        for_each_thread([&](int id) {
            const auto cpus = thread_cpus(id);
            if (!cpus || !(*cpus == from)) return;
            const std::error_code refusal = set_thread_cpus(to, id);
            if (!refusal) has_moved = true;
            if (refusal && refusal != std::errc::no_such_process) failure_ = refusal;
        });
        if (!has_moved) return;
    }
}

std::error_code bind_worker(const rank_placement& placement, std::size_t lane) {
    const int cpu = placement.lane_cpus.at(lane);
    return set_thread_cpus(cpu == no_cpu ? placement.compute_cpus : cpu_set{cpu});
}

std::optional<std::string> openmp_started_too_early(const rank_placement& placement) {
    if (placement.compute_cpus == placement.all_cpus || !has_llvm_openmp_run()) return std::nullopt;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): called once while the library is set up
    const char* const affinity = std::getenv("KMP_AFFINITY");
    if (affinity != nullptr && std::string_view{affinity}.find("disabled") != std::string_view::npos)
        // libomp then binds nothing, and its threads keep the mask that they inherit
        return std::nullopt;
    int (*const processors)() = llvm_openmp_processors();
    if (processors == nullptr) return std::nullopt;
    const int counted = processors();
    if (counted <= placement.compute_cpus.size()) return std::nullopt;
    return "OpenMP was initialized before commtask_init, and uses " + std::to_string(counted) +
           " CPUs, including the worker's, instead of " + std::to_string(placement.compute_cpus.size()) + " (" +
           placement.compute_cpus.text() +
           "): its threads can delay the worker; call commtask_init before the first OpenMP construct.";
}

} // namespace commtask::detail
