// SPDX-License-Identifier: Apache-2.0
//
// A name gets its number when it is first called; the number is the same in every trace of the
// process. Does nothing without a trace.
#include "traced_call.hpp"

#include "core/operation_traits.hpp"
#include "mpi/counts.hpp"
#include "own.hpp"

#include <commtask/trace.h>

#include <array>
#include <atomic>

namespace commtask::interposer {
namespace {

using detail::trace::record_type;

[[nodiscard]] std::uint32_t name_of(unsigned number) noexcept {
    static std::array<std::atomic<std::uint32_t>, n_wrappers> known{};
    std::atomic<std::uint32_t>& mine = known[number];
    // relaxed: another thread finds the same number.
    if (mine.load(std::memory_order_relaxed) == 0) {
        mine.store(detail::tracer::number_of(wrapper_names[number]), std::memory_order_relaxed);
    }
    return mine.load(std::memory_order_relaxed);
}

void write(std::uint64_t time_ns, record_type type, std::uint32_t name) noexcept {
    if (detail::tracer* const records = detail::tracer::current()) {
        records->write({time_ns, 0, 0, {name, type, 0, COMMTASK_TRACE_REGION_MPI}});
    }
}

} // namespace

traced_call::traced_call(unsigned number) noexcept : named_(number) {
    if (detail::tracer::current() == nullptr) return;
    name_ = name_of(number);
    write(detail::now_ns(), record_type::region_begin, name_);
}

traced_call::~traced_call() {
    if (name_ != 0) write(detail::now_ns(), record_type::region_end, name_);
}

traced_test::traced_test(unsigned number) noexcept : named_(number) {
    if (detail::tracer::current() == nullptr) return;
    number_ = number;
    begin_ns_ = detail::now_ns();
}

traced_test::~traced_test() {
    if (begin_ns_ == 0) return;
    const std::uint64_t now = detail::now_ns();
    if (now - begin_ns_ < detail::trace::shortest_ns) return;
    const std::uint32_t name = name_of(number_);
    write(begin_ns_, record_type::region_begin, name);
    write(now, record_type::region_end, name);
}

void traced_passing::begin() noexcept {
    detail::context* const runtime = detail::context::running();
    if (runtime == nullptr || runtime->trace_if_kept() == nullptr) return;
    // Before the call starts, since the worker must register an unknown communicator.
    int code = COMMTASK_OK;
    if (runtime->queue_of(op_.comm, code) == nullptr) return;
    traced_ = runtime->trace_if_kept();
    begin_ns_ = detail::now_ns();
}

void traced_passing::write(const MPI_Status* status) noexcept {
    detail::context* const runtime = detail::context::running();
    const detail::comm_queue* const queue = runtime == nullptr ? nullptr : runtime->comms().find(op_.comm);
    if (queue == nullptr) return;
    detail::task_result how;
    how.source = -1;
    if (detail::operation_of(op_.kind).receives && status != MPI_STATUS_IGNORE) {
        MPI_Count received = 0;
        how.source = status->MPI_SOURCE;
        how.tag = status->MPI_TAG;
        if (MPI_Get_elements_x(status, MPI_BYTE, &received) == MPI_SUCCESS && received > 0) how.bytes = received;
    }
    traced_->passed(op_, *queue, begin_ns_, how, detail::payload_bytes(op_));
}

} // namespace commtask::interposer
