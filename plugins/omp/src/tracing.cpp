// SPDX-License-Identifier: Apache-2.0
//
// OpenMP tasks in a trace: when they are created, run, pause and end, which tasks they wait for,
// and where threads wait for each other. A task's identifier is in its record. If another tool uses
// the task data, there are no records, and a table with mutexes contains the identifiers.
#include "tracing.hpp"

#include "announce.hpp"
#include "errors.hpp"
#include "task_records.hpp"
#include "tool.hpp"

#include <commtask/commtask.h>
#include <commtask/trace.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <new>
#include <string_view>
#include <unordered_map>

namespace commtask::omp {
namespace {

/// Identifiers by task.
class task_table {
public:
    [[nodiscard]] std::uint64_t of(const ompt_data_t* task) {
        shard& mine = shard_of(task);
        const std::scoped_lock guard(mine.lock);
        const auto found = mine.ids.find(task);
        return found == mine.ids.end() ? 0 : found->second;
    }
    void set(const ompt_data_t* task, std::uint64_t id) {
        shard& mine = shard_of(task);
        const std::scoped_lock guard(mine.lock);
        mine.ids.insert_or_assign(task, id);
    }
    void forget(const ompt_data_t* task) {
        shard& mine = shard_of(task);
        const std::scoped_lock guard(mine.lock);
        mine.ids.erase(task);
    }

private:
    struct shard {
        std::mutex lock;
        std::unordered_map<const ompt_data_t*, std::uint64_t> ids;
    };
    [[nodiscard]] shard& shard_of(const ompt_data_t* task) {
        return shards_.at((reinterpret_cast<std::uintptr_t>(task) >> 6U) % shards_.size());
    }
    std::array<shard, 64> shards_;
};

bool data_is_others = false; ///< Set before the first task.

/// Never destroyed: threads of libomp outlive main().
task_table& the_table() {
    static auto* const instance = new task_table;
    return *instance;
}

std::uint64_t id_of(const ompt_data_t* task) noexcept {
    if (task == nullptr) {
        return 0;
    }
    if (data_is_others) {
        return the_table().of(task);
    }
    const task_record* const record = records::of(task);
    return record != nullptr ? record->trace_id : 0;
}

void set_id(ompt_data_t* task, std::uint64_t id) noexcept {
    if (data_is_others) {
        try {
            the_table().set(task, id);
        } catch (const std::bad_alloc&) { // a task without an identifier
        }
    } else if (task_record* const record = records::of(task); record != nullptr) {
        record->trace_id = id;
    }
}

void forget(ompt_data_t* task) noexcept {
    if (data_is_others) {
        the_table().forget(task);
    } else if (task_record* const record = records::of(task); record != nullptr) {
        record->trace_id = 0;
    }
}

/// The function that contains the address, if the program has a symbol for it; else file and
/// offset.
std::uint32_t name_of_code(const void* where) noexcept {
    struct known {
        const void* where;
        std::uint32_t text;
    };
    thread_local std::array<known, 64> remembered{};
    known& mine = remembered.at((reinterpret_cast<std::uintptr_t>(where) >> 2U) % remembered.size());
    if (mine.where == where && mine.text != 0) {
        return mine.text;
    }
    Dl_info found{};
    char text[256] = "task";
    if (where != nullptr && dladdr(where, &found) != 0) {
        if (found.dli_sname != nullptr) {
            std::snprintf(text, sizeof text, "task in %s", found.dli_sname);
        } else if (found.dli_fname != nullptr) {
            const std::string_view path = found.dli_fname;
            std::snprintf(
                text, sizeof text, "task at %s+0x%zx", found.dli_fname + path.rfind('/') + 1,
                static_cast<std::size_t>(static_cast<const char*>(where) - static_cast<const char*>(found.dli_fbase)));
        }
    }
    mine = {where, commtask_trace_text(text)};
    return mine.text;
}

std::uint32_t name_of_communication(unsigned kind) noexcept {
    static std::array<std::atomic<std::uint32_t>, 256> names{};
    std::atomic<std::uint32_t>& known = names.at(kind % names.size());
    if (const std::uint32_t text = known.load(std::memory_order_relaxed); text != 0) {
        return text;
    }
    char text[64];
    std::snprintf(text, sizeof text, "%s, posted", name_of_kind(kind));
    known.store(commtask_trace_text(text), std::memory_order_relaxed);
    return known.load(std::memory_order_relaxed);
}

// The callbacks ----------------------------------------------------------------------------------

void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* /*parallel*/, ompt_data_t* /*task*/,
                      unsigned /*size*/, unsigned /*index*/, int flags) {
    if ((static_cast<unsigned>(flags) & ompt_task_initial) != 0 || commtask_trace_is_on() == 0) {
        return;
    }
    static const std::uint32_t name = commtask_trace_text("parallel region");
    if (endpoint == ompt_scope_begin) {
        commtask_trace_region_begin(COMMTASK_TRACE_REGION_OPENMP, name);
    } else {
        commtask_trace_region_end(COMMTASK_TRACE_REGION_OPENMP, name);
    }
}

void on_task_create(ompt_data_t* creator, const ompt_frame_t* /*frame*/, ompt_data_t* task, int flags,
                    int /*has_dependences*/, const void* where) {
    const unsigned kind = tool::announced; // the tool resets it
    if ((static_cast<unsigned>(flags) & ompt_task_explicit) == 0 || kind == 0 || commtask_trace_is_on() == 0) {
        return;
    }
    const std::uint32_t name = kind == tool::a_users_task ? name_of_code(where) : name_of_communication(kind);
    set_id(task, commtask_trace_compute_created(COMMTASK_TRACE_OPENMP, name, id_of(creator)));
}

/// libomp reports each switch between tasks, including helper tasks of this library; while a helper
/// task runs, the interrupted task counts as running.
void on_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
    thread_local constinit std::uint64_t running = 0;
    const std::uint64_t before = id_of(prior);
    const std::uint64_t now = id_of(next);
    const auto leave = [&](commtask_trace_end how) {
        commtask_trace_compute_end(before, how);
        running = 0;
    };
    switch (status) {
    case ompt_task_early_fulfill: return commtask_trace_compute_end(before, COMMTASK_TRACE_FULFILLED);
    case ompt_task_late_fulfill:
        commtask_trace_compute_end(before, COMMTASK_TRACE_FULFILLED);
        if (before != 0) {
            forget(prior);
        }
        return;
    case ompt_task_complete:
    case ompt_task_cancel:
        if (before != 0) {
            leave(status == ompt_task_complete ? COMMTASK_TRACE_COMPLETED : COMMTASK_TRACE_CANCELED);
            forget(prior);
        }
        break;
    case ompt_task_detach:
        if (before != 0) {
            leave(COMMTASK_TRACE_BODY_DONE);
        }
        break;
    default: break;
    }
    if (now != 0 && now != running) {
        commtask_trace_compute_end(running, COMMTASK_TRACE_PAUSED);
        commtask_trace_compute_begin(now);
        running = now;
    }
}

void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* /*parallel*/,
                    ompt_data_t* /*task*/, const void* /*where*/) {
    if (commtask_trace_is_on() == 0) {
        return;
    }
    static const std::uint32_t barrier = commtask_trace_text("barrier");
    static const std::uint32_t taskwait = commtask_trace_text("taskwait");
    static const std::uint32_t taskgroup = commtask_trace_text("taskgroup");
    const std::uint32_t name = kind == ompt_sync_region_taskwait    ? taskwait
                               : kind == ompt_sync_region_taskgroup ? taskgroup
                               : kind == ompt_sync_region_reduction ? 0
                                                                    : barrier;
    if (name == 0) {
        return;
    }
    if (endpoint == ompt_scope_begin) {
        commtask_trace_region_begin(COMMTASK_TRACE_REGION_OPENMP, name);
    } else {
        commtask_trace_region_end(COMMTASK_TRACE_REGION_OPENMP, name);
    }
}

void on_task_dependence(ompt_data_t* before, ompt_data_t* after) { commtask_trace_after(id_of(after), id_of(before)); }

} // namespace

namespace tracing {

bool is_asked_for() noexcept {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): while libomp starts, and once when the first task is made
    const char* const folder = std::getenv("COMMTASK_TRACE");
    return folder != nullptr && folder[0] != '\0';
}

void begin(bool keeps_data, tool_events& events) noexcept {
    data_is_others = keeps_data;
    events = {&on_implicit_task, &on_task_create, &on_task_schedule, &on_sync_region, &on_task_dependence};
}

void warn_if_shut_out() noexcept {
    // relaxed: libomp initialized the tool before the first task.
    static const bool is_shut_out = is_asked_for() && !tool::is_there.load(std::memory_order_relaxed);
    static std::atomic<bool> was_said{false};
    if (!is_shut_out || commtask_trace_is_on() == 0 || was_said.exchange(true)) {
        return;
    }
    commtask_print("warning: the trace has no OpenMP tasks: OpenMP has another tool in this process (look at "
                   "LD_PRELOAD), or none is allowed (OMP_TOOL=disabled).");
}

} // namespace tracing
} // namespace commtask::omp
