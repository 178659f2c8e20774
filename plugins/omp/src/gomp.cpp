// SPDX-License-Identifier: Apache-2.0
//
// Tasks and taskloops of code from gcc. Such code passes a function, a block of arguments, which is
// copied after the task, and dependences as an array of addresses by kind; the flags are libgomp's.
// A detach clause has no event, as in libomp itself: commtask_omp_start refuses such a task with an
// error message.
#include "gomp.hpp"

#include "binding.hpp"
#include "chunks.hpp"

#include <omp.h>

#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace commtask::omp {

extern "C" {
void __kmpc_omp_wait_deps(kmp_ident* where, std::int32_t thread, std::int32_t n_depends, kmp_depend* depends,
                          std::int32_t n_noalias, kmp_depend* noalias);
void GOMP_taskgroup_reduction_register(std::uintptr_t* data);
}

namespace {

kmp_ident ident_of_gcc{0, 2, 0, 0, ";unknown;unknown;0;0;;"};

enum gomp_flag : unsigned {
    gomp_is_untied = 1U << 0U,
    gomp_is_final = 1U << 1U,
    gomp_has_depends = 1U << 3U,
    gomp_has_priority = 1U << 4U,
    gomp_counts_up = 1U << 8U, ///< For the unsigned loop.
    gomp_has_grain = 1U << 9U,
    gomp_is_deferred = 1U << 10U, ///< For a taskloop: its if clause is true, or there is none.
    gomp_has_no_group = 1U << 11U,
    gomp_has_reduction = 1U << 12U,
    gomp_is_strict = 1U << 14U,
};

/// Stored after the runtime's task.
struct gomp_payload {
    gomp_body body;
    void* arguments;
};

gomp_payload& payload_of(kmp_task* task) noexcept { return *reinterpret_cast<gomp_payload*>(task + 1); }

std::int32_t run_gomp(std::int32_t /*thread*/, void* task) {
    const gomp_payload& payload = payload_of(static_cast<kmp_task*>(task));
    payload.body(payload.arguments);
    return 0;
}

/// The arguments of a task, as gcc passes them.
struct gomp_arguments {
    gomp_body body;
    void* given;
    gomp_copy copy; ///< Null: copied as bytes.
    std::size_t size_bytes;
    std::size_t alignment;
};

/// Allocates a task that the scheduler does not know yet.
/// @param is_copied  else the body is called while the caller's arguments are valid.
kmp_task* create(std::int32_t thread, const gomp_arguments& arguments, unsigned flags, int priority, bool is_copied) {
    std::int32_t made_with = (flags & gomp_is_untied) != 0 ? 0 : kmp_is_tied;
    made_with |= (flags & gomp_is_final) != 0 ? kmp_is_final : 0;
    made_with |= (flags & gomp_has_priority) != 0 ? kmp_has_priority : 0;
    const std::size_t size_bytes = is_copied ? arguments.size_bytes + arguments.alignment - 1 : 0;
    kmp_task* const task = bound_task_alloc(&ident_of_gcc, thread, made_with, sizeof(kmp_task) + sizeof(gomp_payload),
                                            size_bytes, &run_gomp);
    if ((flags & gomp_has_priority) != 0) {
        task->second.priority = priority;
    }
    void* place = arguments.given;
    if (is_copied) {
        place = task->shareds;
        std::size_t space = size_bytes;
        (void)std::align(arguments.alignment, arguments.size_bytes, place, space);
        if (arguments.copy != nullptr) {
            arguments.copy(place, arguments.given);
        } else {
            std::memcpy(place, arguments.given, arguments.size_bytes);
        }
    }
    payload_of(task) = {arguments.body, place};
    return task;
}

/// gcc's kinds of a depobj, which is two words: an address and a kind.
kmp_depend_kind kind_of_object(std::uintptr_t kind) noexcept {
    switch (kind) {
    case 1: return kmp_depend_in;
    case 4: return kmp_depend_mutexinoutset;
    case 5: return kmp_depend_inoutset;
    default: return kmp_depend_inout;
    }
}

/// The array before OpenMP 5: the number of addresses, the number of out addresses, then the
/// addresses, out before in. Since OpenMP 5: 0, the number of entries, the numbers of out,
/// mutexinoutset and in addresses, then the addresses in this order; the remaining entries are
/// depobj.
std::vector<kmp_depend> depends_of(void** given) {
    const auto number = [&](std::size_t i) { return reinterpret_cast<std::uintptr_t>(given[i]); };
    std::vector<kmp_depend> depends;
    const auto add = [&](void** first, std::size_t n, kmp_depend_kind kind) {
        for (void* address : std::span(first, n)) {
            depends.push_back({reinterpret_cast<std::intptr_t>(address), 1, kind});
        }
    };
    if (const std::size_t n = number(0); n != 0) {
        const std::size_t n_out = number(1);
        add(given + 2, n_out, kmp_depend_inout);
        add(given + 2 + n_out, n - n_out, kmp_depend_in);
        return depends;
    }
    const std::size_t n = number(1);
    void** next = given + 5;
    void** const end = next + n;
    std::size_t place = 2;
    for (const kmp_depend_kind kind : {kmp_depend_inout, kmp_depend_mutexinoutset, kmp_depend_in}) {
        add(next, number(place), kind);
        next += number(place++);
    }
    for (; next != end; ++next) {
        void** const object = static_cast<void**>(*next);
        add(object, 1, kind_of_object(reinterpret_cast<std::uintptr_t>(object[1])));
    }
    return depends;
}

void run_undeferred(std::int32_t thread, kmp_task* task) {
    const commtask_omp_entries& bound = bound_entries();
    bound.begin_if0(&ident_of_gcc, thread, task);
    (void)run_gomp(thread, task);
    bound.complete_if0(&ident_of_gcc, thread, task);
}

template <typename Number>
std::uint64_t iterations_of(Number first, Number end, Number step, bool counts_up) noexcept {
    // Unsigned: the distance may exceed the largest signed number.
    const auto distance = [](Number from, Number to) {
        return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
    };
    if (counts_up) {
        return first < end ? (distance(first, end) - 1) / static_cast<std::uint64_t>(step) + 1 : 0;
    }
    return end < first ? (distance(end, first) - 1) / (std::uint64_t{0} - static_cast<std::uint64_t>(step)) + 1 : 0;
}

/// The beginning of a taskloop's arguments, where gcc's code expects the bounds of its part.
template <typename Number>
struct loop_head {
    Number first;
    Number end;
    std::uintptr_t* reductions;
};

template <typename Number>
void run_taskloop(const gomp_arguments& arguments, unsigned flags, std::uint64_t size, int priority, Number first,
                  Number end, Number step, bool counts_up) {
    const std::int32_t thread = __kmpc_global_thread_num(&ident_of_gcc);
    const bool has_group = (flags & gomp_has_no_group) == 0;
    const bool is_deferred = (flags & gomp_is_deferred) != 0;
    std::uintptr_t* const reductions = has_group && (flags & gomp_has_reduction) != 0
                                           ? static_cast<loop_head<Number>*>(arguments.given)->reductions
                                           : nullptr;
    if (has_group) {
        __kmpc_taskgroup(&ident_of_gcc, thread);
    }
    if (reductions != nullptr) {
        GOMP_taskgroup_reduction_register(reductions); // the compiled code itself unregisters them
    }
    const int by = size == 0                       ? loop_cut::is_free
                   : (flags & gomp_has_grain) != 0 ? loop_cut::by_grain
                                                   : loop_cut::by_count;
    cut_loop(iterations_of(first, end, step, counts_up), {by, size, (flags & gomp_is_strict) != 0},
             static_cast<std::uint64_t>(omp_get_num_threads()), [&](std::uint64_t from, std::uint64_t length, bool) {
                 kmp_task* const task = create(thread, arguments, flags, priority, true);
                 auto& head = *static_cast<loop_head<Number>*>(payload_of(task).arguments);
                 head.first =
                     static_cast<Number>(static_cast<std::uint64_t>(first) + from * static_cast<std::uint64_t>(step));
                 head.end = static_cast<Number>(static_cast<std::uint64_t>(head.first) +
                                                length * static_cast<std::uint64_t>(step));
                 if (is_deferred) {
                     entries_of_runtime().task(&ident_of_gcc, thread, task);
                 } else {
                     run_undeferred(thread, task);
                 }
             });
    if (has_group) {
        __kmpc_end_taskgroup(&ident_of_gcc, thread);
    }
}

} // namespace

void bound_gomp_task(gomp_body body, void* given, gomp_copy copy, long size_bytes, long alignment, bool if_value,
                     unsigned flags, void** depends, int priority, void* /*detach*/) {
    const std::int32_t thread = __kmpc_global_thread_num(&ident_of_gcc);
    const gomp_arguments arguments{body, given, copy, static_cast<std::size_t>(size_bytes),
                                   static_cast<std::size_t>(alignment)};
    kmp_task* const task = create(thread, arguments, flags, priority, if_value);
    std::vector<kmp_depend> list;
    if ((flags & gomp_has_depends) != 0) {
        list = depends_of(depends);
    }
    const auto n_depends = static_cast<std::int32_t>(list.size());
    if (if_value && n_depends > 0) {
        __kmpc_omp_task_with_deps(&ident_of_gcc, thread, task, n_depends, list.data(), 0, nullptr);
    } else if (if_value) {
        entries_of_runtime().task(&ident_of_gcc, thread, task);
    } else {
        if (n_depends > 0) {
            __kmpc_omp_wait_deps(&ident_of_gcc, thread, n_depends, list.data(), 0, nullptr);
        }
        run_undeferred(thread, task);
    }
}

void bound_gomp_taskloop(gomp_body body, void* given, gomp_copy copy, long size_bytes, long alignment, unsigned flags,
                         unsigned long size, int priority, long first, long end, long step) {
    run_taskloop<long>({body, given, copy, static_cast<std::size_t>(size_bytes), static_cast<std::size_t>(alignment)},
                       flags, size, priority, first, end, step, step > 0);
}

void bound_gomp_taskloop_ull(gomp_body body, void* given, gomp_copy copy, long size_bytes, long alignment,
                             unsigned flags, unsigned long size, int priority, unsigned long long first,
                             unsigned long long end, unsigned long long step) {
    run_taskloop<unsigned long long>(
        {body, given, copy, static_cast<std::size_t>(size_bytes), static_cast<std::size_t>(alignment)}, flags, size,
        priority, first, end, step, (flags & gomp_counts_up) != 0);
}

} // namespace commtask::omp
