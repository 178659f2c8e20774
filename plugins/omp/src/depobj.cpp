// SPDX-License-Identifier: Apache-2.0
//
// Dependence objects of the comm clause. Tasks of a mutexinoutset run in any order, one at a time.
// A task that has the mutex could wait for the turn of a task that waits for the mutex. For one
// task, such an object is therefore replaced by a copy of kind inout; other tasks may use the
// program's own object, which keeps its kind.
#include "kmp.hpp"

#include <commtask/omp.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace commtask::omp {
namespace {

static_assert(sizeof(kmp_depend) == 24, "clang and libomp lay out a dependence object as an array of these");

/// A copy, and a link to the previous copy. As in the program's own object, the first entry
/// contains the number of entries.
struct copied_object {
    copied_object* next;
    omp_depend_t object;
};

/// The entries of an object; the entry before the first contains their number.
[[nodiscard]] kmp_depend* entries_of(const omp_depend_t& object) noexcept {
    kmp_depend* entries = nullptr;
    std::memcpy(&entries, &object, sizeof entries);
    return entries;
}

} // namespace
} // namespace commtask::omp

using namespace commtask::omp;

extern "C" {

omp_depend_t* commtask_omp_depobj_in_turn_(void** copies, const omp_depend_t* object) noexcept {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): a depend clause only reads it
    auto* const unchanged = const_cast<omp_depend_t*>(object);
    const kmp_depend* const given = object != nullptr ? entries_of(*object) : nullptr;
    if (given == nullptr) {
        return unchanged;
    }
    const auto n = static_cast<std::size_t>(given[-1].address);
    const auto is_exclusive = [](const kmp_depend& entry) { return entry.kind == kmp_depend_mutexinoutset; };
    if (std::none_of(given, given + n, is_exclusive)) {
        return unchanged;
    }
    void* const memory = ::operator new(sizeof(copied_object) + (n + 1) * sizeof(kmp_depend), std::nothrow);
    if (memory == nullptr) {
        // the dependences are valid; a possible deadlock shows in the list of incomplete tasks
        return unchanged;
    }
    auto* const copy = ::new (memory) copied_object{static_cast<copied_object*>(*copies), {}};
    auto* const entries = reinterpret_cast<kmp_depend*>(copy + 1);
    std::copy(given - 1, given + n, entries);
    for (std::size_t i = 1; i <= n; ++i) {
        if (is_exclusive(entries[i])) {
            entries[i].kind = kmp_depend_inout;
        }
    }
    const kmp_depend* const first = entries + 1;
    std::memcpy(&copy->object, &first, sizeof first);
    *copies = copy;
    return &copy->object;
}

void commtask_omp_drop_depobjs_(void* copies) noexcept {
    for (auto* copy = static_cast<copied_object*>(copies); copy != nullptr;) {
        copied_object* const next = copy->next;
        ::operator delete(copy);
        copy = next;
    }
}
}
