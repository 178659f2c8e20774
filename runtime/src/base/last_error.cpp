// SPDX-License-Identifier: Apache-2.0
//
// Error texts: the fixed text of each code, and the message of the last error of this thread, which
// names the wrong argument.
#include "base/last_error.hpp"

#include <commtask/commtask.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <mutex>

namespace commtask::detail {
namespace {
thread_local std::array<char, 1024> message{};

/// Why the last commtask_init failed; empty if it succeeded. One for the process, since there is no
/// context then.
std::mutex refusal_mutex;
std::array<char, 512> refusal{};
} // namespace

int refuse(int code, const char* format, ...) noexcept {
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(message.data(), message.size(), format, arguments);
    va_end(arguments);
    return code;
}

void remember_init(int code) noexcept {
    const std::lock_guard guard{refusal_mutex};
    std::snprintf(refusal.data(), refusal.size(), "%s", code == COMMTASK_OK ? "" : message.data());
}

int refuse_without_runtime() noexcept {
    const std::lock_guard guard{refusal_mutex};
    if (refusal[0] == '\0')
        return refuse(COMMTASK_ERR_NOT_INITIALIZED,
                      "commtask_init was not called, or commtask_finalize was called already");
    return refuse(COMMTASK_ERR_NOT_INITIALIZED, "commtask_init was refused: %s", refusal.data());
}

const char* last_message() noexcept { return message.data(); }

} // namespace commtask::detail

const char* commtask_last_error(void) noexcept { return commtask::detail::last_message(); }

const char* commtask_error_string(int code) noexcept {
    switch (code) {
    case COMMTASK_OK: return "success";
    case COMMTASK_AGAIN: return "try again: the queue is full, or the communicator is not registered yet";
    case COMMTASK_TIMEOUT: return "the timeout has passed, and the task is incomplete";
    case COMMTASK_FAILED: return "the task ended with an MPI error";
    case COMMTASK_CANCELED: return "the task was canceled";
    case COMMTASK_ERR_NOT_INITIALIZED: return "commtask is not initialized";
    case COMMTASK_ERR_ALREADY_INITIALIZED: return "commtask is initialized already";
    case COMMTASK_ERR_MPI_STATE: return "MPI is not initialized, or finalized already";
    case COMMTASK_ERR_THREAD_LEVEL: return "the thread level of MPI is too low";
    case COMMTASK_ERR_CONFIG: return "a setting has an invalid value";
    case COMMTASK_ERR_ARGUMENT: return "an argument is invalid";
    case COMMTASK_ERR_COMM: return "the communicator is invalid";
    case COMMTASK_ERR_RANK: return "a rank is outside the communicator";
    case COMMTASK_ERR_TAG: return "a tag is outside its range";
    case COMMTASK_ERR_COUNT: return "a count is negative, too large for this MPI, or does not match the other side";
    case COMMTASK_ERR_BUFFER: return "a buffer is null";
    case COMMTASK_ERR_TYPE: return "a datatype is null, or does not match the other side of a reduction";
    case COMMTASK_ERR_OP: return "a reduction operation is null";
    case COMMTASK_ERR_NO_MEMORY: return "the system gave no memory or no thread";
    case COMMTASK_ERR_WORKER_THREAD: return "a blocking call was made on the communication worker";
    case COMMTASK_ERR_UNFINISHED: return "tasks could not complete and were abandoned";
    case COMMTASK_ERR_RUNTIME: return "the OpenMP runtime of this process cannot be used";
    case COMMTASK_ERR_MPI_LIBRARY:
        return "this process runs with another MPI library than the one commtask was built for";
    case COMMTASK_ERR_RUNNING: return "the plan's run, or a task of the window or file, has not ended";
    case COMMTASK_ERR_WINDOW: return "the window is not registered, or cannot be registered";
    case COMMTASK_ERR_DISPLACEMENT: return "a displacement is negative, or outside of the window";
    case COMMTASK_ERR_FILE: return "the file is null";
    default: return "not a commtask code";
    }
}
