// SPDX-License-Identifier: Apache-2.0
//
// Programs look up MPI functions by name: ctypes, MPI.jl, plugins. With the handle of the MPI
// library the loader would return MPI's own functions, whose calls then run concurrently with the
// worker. dlsym and dlvsym are therefore defined here and return the wrappers. They forward every
// other name by a tail call, since the loader's result depends on its caller. The loader's own
// functions are found in the symbol tables of the libraries after this one, since dlsym cannot look
// itself up.
#include "lookups.hpp"

#include "own.hpp"
#include "resolve.hpp"
#include "sections.hpp"

#include "base/log.hpp"

#include <commtask/types.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

// In a tail call, the caller's frame is gone when the loader's function runs.
#if defined(__clang__)
#define COMMTASK_TAIL_CALL [[clang::musttail]] return
#define COMMTASK_MAKES_TAIL_CALLS
#else
#define COMMTASK_TAIL_CALL return
#define COMMTASK_MAKES_TAIL_CALLS __attribute__((optimize("O2")))
#endif

namespace commtask::interposer {
namespace {

using dlsym_function = void*(void*, const char*);
using dlvsym_function = void*(void*, const char*, const char*);
using dlopen_function = void*(const char*, int);

/// The loaded object that contains this address; null if there is none.
[[nodiscard]] const link_map* object_of(const void* address) noexcept {
    Dl_info information{};
    void* found = nullptr;
    if (address == nullptr || dladdr1(address, &information, &found, RTLD_DL_LINKMAP) == 0) return nullptr;
    return static_cast<const link_map*>(found);
}

/// The symbol tables of a loaded object, for the functions that it defines.
class symbol_table {
public:
    explicit symbol_table(const link_map& object) noexcept : base_(object.l_addr) {
        for (const ElfW(Dyn)* each = object.l_ld; each != nullptr && each->d_tag != DT_NULL; ++each) {
            // On some systems these addresses are not relocated.
            const ElfW(Addr) address = each->d_un.d_ptr < base_ ? each->d_un.d_ptr + base_ : each->d_un.d_ptr;
            if (each->d_tag == DT_SYMTAB) symbols_ = reinterpret_cast<const ElfW(Sym)*>(address);
            if (each->d_tag == DT_STRTAB) names_ = reinterpret_cast<const char*>(address);
            if (each->d_tag == DT_GNU_HASH) hashes_ = reinterpret_cast<const std::uint32_t*>(address);
            if (each->d_tag == DT_VERSYM) versions_ = reinterpret_cast<const ElfW(Versym)*>(address);
        }
    }

    /// The default version of a function.
    /// @return null if it is not defined here
    [[nodiscard]] void* find(const char* name) const noexcept {
        if (symbols_ == nullptr || names_ == nullptr || hashes_ == nullptr || hashes_[0] == 0) return nullptr;
        const std::uint32_t n_buckets = hashes_[0];
        const std::uint32_t first_hashed = hashes_[1];
        const std::uint32_t* const buckets = hashes_ + 4 + hashes_[2] * (sizeof(ElfW(Addr)) / sizeof *hashes_);
        const std::uint32_t* const chain = buckets + n_buckets;
        const std::uint32_t wanted = hash_of(name);
        for (std::uint32_t i = buckets[wanted % n_buckets]; i >= first_hashed && i != 0; ++i) {
            const std::uint32_t hash = chain[i - first_hashed];
            const bool is_hidden = versions_ != nullptr && (versions_[i] & 0x8000U) != 0;
            if ((hash | 1U) == (wanted | 1U) && !is_hidden && symbols_[i].st_shndx != SHN_UNDEF &&
                std::strcmp(names_ + symbols_[i].st_name, name) == 0) {
                return reinterpret_cast<void*>(base_ + symbols_[i].st_value);
            }
            if ((hash & 1U) != 0) break;
        }
        return nullptr;
    }

private:
    [[nodiscard]] static std::uint32_t hash_of(const char* name) noexcept {
        std::uint32_t hash = 5381;
        for (; *name != 0; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
        return hash;
    }

    ElfW(Addr) base_;
    const ElfW(Sym) * symbols_ = nullptr;
    const char* names_ = nullptr;
    const std::uint32_t* hashes_ = nullptr;
    const ElfW(Versym) * versions_ = nullptr;
};

/// The function that the program would call without this library. May be called before any
/// constructor has run.
template <typename Function>
[[nodiscard]] Function* loaders_function(const char* name, std::atomic<Function*>& kept) noexcept {
    // relaxed: another thread finds the same function.
    if (Function* const found = kept.load(std::memory_order_relaxed)) return found;
    static const char in_this_library = 0;
    void* found = nullptr;
    const link_map* each = object_of(&in_this_library);
    while (each != nullptr && found == nullptr) {
        each = each->l_next;
        if (each != nullptr) found = symbol_table{*each}.find(name);
    }
    kept.store(reinterpret_cast<Function*>(found), std::memory_order_relaxed);
    return reinterpret_cast<Function*>(found);
}

constinit std::atomic<dlsym_function*> kept_dlsym{nullptr};
constinit std::atomic<dlvsym_function*> kept_dlvsym{nullptr};
constinit std::atomic<dlopen_function*> kept_dlopen{nullptr};
constinit std::atomic<bool> bypassed{false};

/// The wrapper that profiling tools do not see: a program that gets MPI's own function from the
/// loader bypasses the tools as well.
/// @return null if no wrapper has this name
[[nodiscard]] void* wrapper_of(const char* name) noexcept {
    if (name == nullptr) return nullptr;
    if (*name == 'P') ++name;
    if (std::strncmp(name, "MPI", 3) != 0) return nullptr;
    const auto is_before = [](const char* one, const char* other) { return std::strcmp(one, other) < 0; };
    const char* const* const end = wrapper_names + n_wrappers;
    const char* const* const found = std::lower_bound(wrapper_names, end, name, is_before);
    if (found == end || std::strcmp(*found, name) != 0) return nullptr;
    return wrapper_addresses[found - wrapper_names];
}

[[nodiscard]] const link_map* mpis_object() noexcept {
    if (commtask_real_MPI_Init == nullptr) resolve_all();
    return object_of(reinterpret_cast<const void*>(commtask_real_MPI_Init));
}

/// For a caller in a library after this one in the loader's order, for example a tool that is
/// linked to the program: the next definition of the function after that library.
/// @return null: the loader's own result is right
[[nodiscard]] void* next_after(const void* caller, const char* name) noexcept {
    const link_map* const ours = object_of(reinterpret_cast<const void*>(wrapper_addresses[0]));
    const link_map* const theirs = object_of(caller);
    const link_map* const mpis = mpis_object();
    if (ours == nullptr || theirs == nullptr || mpis == nullptr) return nullptr;
    for (const link_map* each = theirs; each != nullptr; each = each->l_next) {
        if (each == ours) return nullptr;
    }
    // A library that defines the function stands between the wrappers and MPI.
    if (symbol_table{*theirs}.find(*name == 'P' ? name : (std::string{"P"} + name).c_str()) != nullptr) return nullptr;
    for (const link_map* each = theirs->l_next; each != nullptr; each = each->l_next) {
        if (each == mpis) return wrapper_of(name);
        if (void* const found = symbol_table{*each}.find(name)) return found;
    }
    return nullptr;
}

/// The wrapper, if the loader found MPI's own function; otherwise the function that the loader
/// found.
[[nodiscard]] void* wrapper_instead_of(void* found, void* wrapper) noexcept {
    const link_map* const object = object_of(found);
    return object != nullptr && object == mpis_object() ? wrapper : found;
}

/// With RTLD_DEEPBIND, a library's symbols are looked up first in the library and in the libraries
/// that it is linked to. Its MPI calls then bypass the wrappers.
void warn_if_bypassed(void* handle, const char* file) noexcept {
    const link_map* const mpis = mpis_object();
    if (mpis == nullptr || handle == mpis) return; // its functions are looked up by name
    if (object_of(lookups::find(handle, "MPI_Init")) != mpis || bypassed.exchange(true)) return;
    if (current.state.load() == workers::none || current.has_thread_multiple) return;
    detail::say("warning: %s was opened with RTLD_DEEPBIND: its MPI calls bypass commtask-run and may disturb the "
                "worker; open it before MPI_Init, request MPI_THREAD_MULTIPLE, or omit RTLD_DEEPBIND",
                file);
}

} // namespace

void* lookups::find(void* handle, const char* name) noexcept {
    dlsym_function* const loaders = loaders_function("dlsym", kept_dlsym);
    return loaders == nullptr ? nullptr : loaders(handle, name);
}

bool lookups::are_bypassed() noexcept { return bypassed.load(); }

} // namespace commtask::interposer

using namespace commtask::interposer;

extern "C" {

COMMTASK_API COMMTASK_MAKES_TAIL_CALLS void* commtask_dlsym(void* handle, const char* name) {
    dlsym_function* const loaders = loaders_function("dlsym", kept_dlsym);
    if (void* const wrapper = wrapper_of(name)) {
        if (handle != RTLD_NEXT) return wrapper_instead_of(loaders(handle, name), wrapper);
        if (void* const next = next_after(__builtin_return_address(0), name)) return next;
    }
    COMMTASK_TAIL_CALL loaders(handle, name);
}

COMMTASK_API COMMTASK_MAKES_TAIL_CALLS void* commtask_dlvsym(void* handle, const char* name, const char* version) {
    dlvsym_function* const loaders = loaders_function("dlvsym", kept_dlvsym);
    if (void* const wrapper = wrapper_of(name)) {
        if (handle != RTLD_NEXT) return wrapper_instead_of(loaders(handle, name, version), wrapper);
        if (void* const next = next_after(__builtin_return_address(0), name)) return next;
    }
    COMMTASK_TAIL_CALL loaders(handle, name, version);
}

COMMTASK_API COMMTASK_MAKES_TAIL_CALLS void* commtask_dlopen(const char* file, int flags) {
    dlopen_function* const loaders = loaders_function("dlopen", kept_dlopen);
    if (file != nullptr && (flags & RTLD_DEEPBIND) != 0) {
        // This call does not use the caller's own search path. The call below does, if this one
        // finds nothing.
        if (void* const handle = loaders(file, flags)) {
            warn_if_bypassed(handle, file);
            return handle;
        }
    }
    COMMTASK_TAIL_CALL loaders(file, flags);
}
}

// The symbols have no version: a reference to one of the C library's versions may be bound to them.
__asm__(".symver commtask_dlsym,dlsym@@");
__asm__(".symver commtask_dlvsym,dlvsym@@");
__asm__(".symver commtask_dlopen,dlopen@@");
