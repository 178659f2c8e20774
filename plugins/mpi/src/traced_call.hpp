// SPDX-License-Identifier: Apache-2.0
//
// The program's MPI calls in a trace (COMMTASK_TRACE): when each began and ended, and the messages
// that ended too soon to become tasks. Without a trace, a call costs one more load and branch.
#pragma once

#include "api/context.hpp"
#include "base/system.hpp"
#include "core/tracer.hpp"
#include "errors.hpp"
#include "sections.hpp"

#include <mpi.h>

#include <cstdint>
#include <utility>

namespace commtask::interposer {

/// Records which function the program called, for the message of a fatal error. Ends the program if
/// there was one.
class named_call {
public:
    explicit named_call(unsigned number) noexcept : outer_(std::exchange(mine.call, number + 1)) {}
    named_call(const named_call&) = delete;
    named_call& operator=(const named_call&) = delete;
    ~named_call() {
        if (mine.fatal_code != MPI_SUCCESS) [[unlikely]]
            end_program(mine.fatal_comm, mine.fatal_code);
        mine.call = outer_;
    }

private:
    unsigned outer_;
};

/// Records the call with this number, in the order of the wrappers. The record lasts from the
/// object's construction to its destruction.
class traced_call {
public:
    explicit traced_call(unsigned number) noexcept;
    traced_call(const traced_call&) = delete;
    traced_call& operator=(const traced_call&) = delete;
    ~traced_call();

private:
    named_call named_;
    std::uint32_t name_ = 0; ///< The name's number in traces; 0: the call is not recorded.
};

/// A call that only queries, as MPI_Test does. Programs make it so often that only long calls are
/// recorded.
class traced_test {
public:
    explicit traced_test(unsigned number) noexcept;
    traced_test(const traced_test&) = delete;
    traced_test& operator=(const traced_test&) = delete;
    ~traced_test();

private:
    named_call named_;
    unsigned number_ = 0;
    std::uint64_t begin_ns_ = 0;
};

/// A blocking call that is first tried without a task. If it ends there, the trace records it as a
/// task too, since the call of the other rank may be a task.
class traced_passing {
public:
    explicit traced_passing(const commtask_op& op) noexcept : op_(op) {
        if (detail::tracer::current() != nullptr) [[unlikely]]
            begin();
    }

    /// The status argument for MPI: the source may be known only from it.
    [[nodiscard]] MPI_Status* status_for(MPI_Status* programs) noexcept {
        return traced_ != nullptr && programs == MPI_STATUS_IGNORE ? &own_ : programs;
    }

    /// The call has succeeded.
    void ended(const MPI_Status* status) noexcept {
        if (traced_ != nullptr) [[unlikely]]
            write(status);
    }

private:
    void begin() noexcept;
    void write(const MPI_Status* status) noexcept;

    const commtask_op& op_;
    detail::task_trace* traced_ = nullptr;
    std::uint64_t begin_ns_ = 0;
    MPI_Status own_{};
};

} // namespace commtask::interposer
