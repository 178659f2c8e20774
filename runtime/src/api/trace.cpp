// SPDX-License-Identifier: Apache-2.0
//
// Records that front ends and programs add to a trace. The calling threads may call without a
// runtime, or while the runtime ends: the functions use the trace in force instead of the context.
#include "base/system.hpp"
#include "core/task.hpp"
#include "core/tracer.hpp"

#include <commtask/trace.h>

#include <cstddef>
#include <string_view>

namespace commtask::detail {
namespace {

void write(std::uint64_t id, std::uint64_t value, const trace::record_tail& tail) noexcept {
    if (tracer* const records = tracer::current()) records->write({now_ns(), id, value, tail});
}

// Fixed numbers, since readers of traces do not include the public header, which needs mpi.h.
static_assert(static_cast<int>(trace::compute_model::openmp) == COMMTASK_TRACE_OPENMP &&
              static_cast<int>(trace::compute_model::node) == COMMTASK_TRACE_NODE &&
              static_cast<int>(trace::region_owner::mpi) == COMMTASK_TRACE_REGION_MPI &&
              static_cast<int>(trace::region_owner::onetbb) == COMMTASK_TRACE_REGION_TBB &&
              trace::body_is_done == COMMTASK_TRACE_BODY_DONE && trace::is_fulfilled == COMMTASK_TRACE_FULFILLED);

} // namespace
} // namespace commtask::detail

using namespace commtask::detail;
using trace::record_type;

int commtask_trace_is_on(void) noexcept { return tracer::current() != nullptr ? 1 : 0; }

uint32_t commtask_trace_text(const char* text) noexcept {
    constexpr std::size_t most_bytes = 4096;
    return text == nullptr ? 0 : tracer::number_of(std::string_view{text}.substr(0, most_bytes));
}

uint64_t commtask_trace_compute_created(int model, uint32_t name, uint64_t parent) noexcept {
    tracer* const records = tracer::current();
    if (records == nullptr) return 0;
    const std::uint64_t id = records->new_id();
    records->write({now_ns(), id, parent, {name, record_type::compute_created, 0, static_cast<std::uint8_t>(model)}});
    return id;
}

uint64_t commtask_trace_running(void) noexcept {
    tracer* const records = tracer::current();
    return records == nullptr ? 0 : records->running_compute();
}

void commtask_trace_compute_begin(uint64_t id) noexcept {
    tracer* const records = tracer::current();
    if (records == nullptr || id == 0) return;
    records->set_running_compute(id);
    records->write({now_ns(), id, 0, {0, record_type::compute_begin}});
}

void commtask_trace_compute_end(uint64_t id, int how) noexcept {
    tracer* const records = tracer::current();
    if (records == nullptr || id == 0) return;
    if (how != COMMTASK_TRACE_FULFILLED) records->set_running_compute(0);
    records->write({now_ns(), id, 0, {0, record_type::compute_end, 0, static_cast<std::uint8_t>(how)}});
}

uint64_t commtask_trace_task(commtask_t task) noexcept {
    return task == COMMTASK_NULL || tracer::current() == nullptr ? 0 : task->trace_id;
}

uint64_t commtask_trace_ended(void) noexcept {
    tracer* const records = tracer::current();
    return records == nullptr ? 0 : records->last_ended();
}

void commtask_trace_after(uint64_t id, uint64_t before) noexcept {
    tracer* const records = tracer::current();
    if (records == nullptr || id == 0 || before == 0) return;
    // The time matters only for a task that has begun. Programs have many edges, and reading the
    // clock is most of a record's cost.
    const std::uint64_t at_ns = records->running_compute() == id ? now_ns() : records->last_time_ns();
    records->write({at_ns, id, before, {0, record_type::after}});
}

void commtask_trace_region_begin(int region, uint32_t name) noexcept {
    write(0, 0, {name, record_type::region_begin, 0, static_cast<std::uint8_t>(region)});
}

void commtask_trace_region_end(int region, uint32_t name) noexcept {
    write(0, 0, {name, record_type::region_end, 0, static_cast<std::uint8_t>(region)});
}
