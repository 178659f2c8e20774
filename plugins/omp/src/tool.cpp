// SPDX-License-Identifier: Apache-2.0
//
// The OMPT tool that libomp starts. Another tool is started as libomp would have started it, and
// gets its task events from this tool. The other tool stores its data in libomp's task data, and so
// do the records, so the two exclude each other: the other tool has priority, unless the check was
// requested.
//
// Task events are requested only when a part of this library needs them, so programs with reserved
// workers have no callbacks. Taskgroups are counted from the start: the count shows whether a
// taskgroup encloses a task that began before the records.
#include "tool.hpp"

#include "announce.hpp"
#include "check.hpp"
#include "kmp_task.hpp"
#include "waits.hpp"

#include <commtask/commtask.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace commtask::omp {
namespace {

using start_function = ompt_start_tool_result_t* (*)(unsigned, const char*);

tool_events of_records;
tool_events of_trace;
tool_events of_other;
ompt_start_tool_result_t* other = nullptr;
ompt_function_lookup_t real_lookup = nullptr;
ompt_set_callback_t real_set_callback = nullptr;

void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned size,
                      unsigned index, int flags) {
    for (const tool_events* each : {&of_other, &of_records, &of_trace}) {
        if (each->implicit_task != nullptr) {
            each->implicit_task(endpoint, parallel, task, size, index, flags);
        }
    }
}

void on_task_create(ompt_data_t* creator, const ompt_frame_t* frame, ompt_data_t* task, int flags, int has_dependences,
                    const void* where) {
    for (const tool_events* each : {&of_other, &of_records, &of_trace}) {
        if (each->task_create != nullptr) {
            each->task_create(creator, frame, task, flags, has_dependences, where);
        }
    }
    // Not the announced task, but a waiting construct that libomp implements as a task.
    if ((static_cast<unsigned>(flags) & (ompt_task_taskwait | ompt_task_target)) == 0) {
        tool::announced = tool::a_users_task;
    }
}

void on_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
    // The trace first: the other receivers may free their data of the task.
    for (const tool_events* each : {&of_trace, &of_other, &of_records}) {
        if (each->task_schedule != nullptr) {
            each->task_schedule(prior, status, next);
        }
    }
}

void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task,
                    const void* where) {
    for (const tool_events* each : {&of_other, &of_records, &of_trace}) {
        if (each->sync_region != nullptr) {
            each->sync_region(kind, endpoint, parallel, task, where);
        }
    }
}

void on_task_dependence(ompt_data_t* before, ompt_data_t* after) {
    for (const tool_events* each : {&of_other, &of_records, &of_trace}) {
        if (each->task_dependence != nullptr) {
            each->task_dependence(before, after);
        }
    }
}

/// The other tool's function for requesting events.
ompt_set_result_t set_for_other(ompt_callbacks_t event, ompt_callback_t callback) {
    switch (event) {
    case ompt_callback_implicit_task:
        of_other.implicit_task = reinterpret_cast<ompt_callback_implicit_task_t>(callback);
        return ompt_set_always;
    case ompt_callback_task_create:
        of_other.task_create = reinterpret_cast<ompt_callback_task_create_t>(callback);
        return ompt_set_always;
    case ompt_callback_task_schedule:
        of_other.task_schedule = reinterpret_cast<ompt_callback_task_schedule_t>(callback);
        return ompt_set_always;
    case ompt_callback_sync_region:
        of_other.sync_region = reinterpret_cast<ompt_callback_sync_region_t>(callback);
        return ompt_set_always;
    case ompt_callback_task_dependence:
        of_other.task_dependence = reinterpret_cast<ompt_callback_task_dependence_t>(callback);
        return ompt_set_always;
    default: return real_set_callback(event, callback);
    }
}

ompt_interface_fn_t lookup_for_other(const char* name) {
    if (std::string_view(name) == "ompt_set_callback") {
        return reinterpret_cast<ompt_interface_fn_t>(&set_for_other);
    }
    return real_lookup(name);
}

/// Removes the first word of `left`.
std::string_view take_word(std::string_view& left, char separator) {
    const std::string_view word = left.substr(0, left.find(separator));
    left.remove_prefix(std::min(word.size() + 1, left.size()));
    return word;
}

std::string_view environment(const char* name) {
    const char* const value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): while libomp starts
    return value != nullptr ? value : "";
}

/// Calls `take` for tools in the order in which libomp would have searched them: the next in the
/// process, the user's, and Archer, until `take` accepts one. Loads them.
template <class Take>
void for_each_tool(Take&& take) {
    const auto ask = [&](void* library) {
        void* const start = library != nullptr ? dlsym(library, "ompt_start_tool") : nullptr;
        const bool is_taken = start != nullptr && take(reinterpret_cast<start_function>(start));
        if (!is_taken && library != nullptr && library != RTLD_NEXT) {
            dlclose(library);
        }
        return is_taken;
    };
    if (ask(RTLD_NEXT)) {
        return;
    }
    for (std::string_view left = environment("OMP_TOOL_LIBRARIES"); !left.empty();) {
        const std::string path(take_word(left, ':'));
        if (!path.empty() && ask(dlopen(path.c_str(), RTLD_LAZY))) {
            return;
        }
    }
    ask(dlopen("libarcher.so", RTLD_LAZY));
}

/// The tool that libomp would have started. Without ThreadSanitizer, Archer is no tool.
ompt_start_tool_result_t* find_other(unsigned version, const char* runtime) {
    ompt_start_tool_result_t* found = nullptr;
    for_each_tool([&](start_function start) {
        found = start(version, runtime);
        return found != nullptr;
    });
    return found;
}

/// Parsed like Archer's own: separated by spaces, the last one counts.
bool archer_is_off() {
    constexpr std::string_view name = "enable=";
    bool is_off = false;
    for (std::string_view left = environment("ARCHER_OPTIONS"); !left.empty();) {
        const std::string_view word = take_word(left, ' ');
        int value = 0;
        if (word.starts_with(name) &&
            std::from_chars(word.data() + name.size(), word.data() + word.size(), value).ec == std::errc{}) {
            is_off = value == 0;
        }
    }
    return is_off;
}

/// Without Archer, ThreadSanitizer reports false races, which do not point to the setting that
/// causes them.
void warn_if_archer_is_shut_out() {
    if (dlsym(RTLD_DEFAULT, "__tsan_init") == nullptr || archer_is_off()) {
        return;
    }
    // libomp has a function of that name too, which is no tool.
    Dl_info libomp{};
    const bool libomp_is_known = dladdr(dlsym(RTLD_DEFAULT, "__kmpc_fork_call"), &libomp) != 0;
    // Identified by its library: calling the function would start the tool.
    for_each_tool([&](start_function start) {
        Dl_info where{};
        const bool is_known = dladdr(reinterpret_cast<void*>(start), &where) != 0;
        if (is_known && libomp_is_known && where.dli_fbase == libomp.dli_fbase) {
            return false;
        }
        if (is_known && std::string_view(where.dli_fname).find("libarcher") != std::string_view::npos) {
            commtask_print(
                "warning: COMMTASK_OMP_CHECK=1 takes the place of Archer, so ThreadSanitizer does not know how "
                "OpenMP orders tasks, and may report races that are none: use one of the two at a time.");
        }
        return true;
    });
}

template <class Callback>
bool register_callback(ompt_callbacks_t event, Callback callback) noexcept {
    return real_set_callback(event, reinterpret_cast<ompt_callback_t>(callback)) == ompt_set_always;
}

/// Requests the events that records and trace need.
bool register_task_callbacks() noexcept {
    const bool has_all = register_callback(ompt_callback_implicit_task, &on_implicit_task) &&
                         register_callback(ompt_callback_task_create, &on_task_create) &&
                         register_callback(ompt_callback_task_schedule, &on_task_schedule) &&
                         register_callback(ompt_callback_sync_region, &on_sync_region);
    tool::is_there.store(has_all, std::memory_order_relaxed);
    return has_all;
}

bool keep_records() noexcept {
    const bool keeps = records::begin(real_lookup, of_records);
    check::is_watching.store(keeps, std::memory_order_relaxed);
    return keeps;
}

/// Starts the records, if they are not kept yet.
/// @return false: another tool is active
bool begin_records() noexcept {
    (void)__kmpc_global_thread_num(&task_ident); // libomp and its tool have started after this call
    static const bool is_begun =
        real_set_callback != nullptr && other == nullptr &&
        (check::is_watching.load(std::memory_order_relaxed) || (keep_records() && register_task_callbacks()));
    return is_begun;
}

int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t* /*tool*/) {
    real_lookup = lookup;
    real_set_callback = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
    if (real_set_callback == nullptr) {
        return 0;
    }
    if (other != nullptr && other->initialize(&lookup_for_other, device, &other->tool_data) == 0) {
        other = nullptr;
        of_other = {};
    }
    const bool traces = tracing::is_asked_for();
    if (traces) {
        tracing::begin(other != nullptr, of_trace);
    }
    tool::is_records_only.store(!traces && other == nullptr, std::memory_order_relaxed);
    if (!traces && !check::is_asked_for()) {
        const bool may_check = other == nullptr && !check::is_off() && records::begin(real_lookup, of_records);
        if (may_check && register_callback(ompt_callback_sync_region, &on_sync_region)) {
            records::count_groups();
        }
        return 1;
    }
    if (other == nullptr && !keep_records()) {
        return 0;
    }
    register_callback(ompt_callback_task_dependence, &on_task_dependence); // without it the trace has no edges
    return register_task_callbacks() ? 1 : 0;
}

void finalize(ompt_data_t* /*tool*/) {
    if (other != nullptr) {
        other->finalize(&other->tool_data);
    }
}

} // namespace
} // namespace commtask::omp

void commtask::omp::tool::begin_waits_now() noexcept {
    static const bool is_begun =
        begin_records() && register_callback(ompt_callback_sync_region_wait, &waits::on_wait) && begin_mutexes();
    (void)is_begun;
    waits_are_begun.store(true, std::memory_order_relaxed);
}

void commtask::omp::tool::begin_check_now() noexcept {
    (void)(check::is_off() || begin_records());
    check_is_begun.store(true, std::memory_order_relaxed);
}

bool commtask::omp::tool::begin_mutexes() noexcept {
    (void)__kmpc_global_thread_num(&task_ident);
    static const bool is_begun = real_set_callback != nullptr && other == nullptr &&
                                 register_callback(ompt_callback_mutex_acquired, &waits::on_mutex_acquired) &&
                                 register_callback(ompt_callback_mutex_released, &waits::on_mutex_released);
    return is_begun;
}

/// When libomp starts, it calls the first function of this name that it finds. If there is another
/// tool and this library needs no events, the function returns the other tool, which this library
/// would hide otherwise.
extern "C" __attribute__((visibility("default"))) ompt_start_tool_result_t* ompt_start_tool(unsigned version,
                                                                                            const char* runtime) {
    using namespace commtask::omp;
    static ompt_start_tool_result_t tool{&initialize, &finalize, {}};
    if (check::is_asked_for()) {
        warn_if_archer_is_shut_out();
        return &tool;
    }
    ompt_start_tool_result_t* const found = find_other(version, runtime);
    if (found != nullptr && !tracing::is_asked_for()) {
        return found;
    }
    other = found;
    return &tool;
}
