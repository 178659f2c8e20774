// SPDX-License-Identifier: Apache-2.0
//
// The record of failed communication tasks. Failures are rare and may come from several threads at
// once, so one mutex guards the record; the handler runs without the mutex, since it may call this
// library.
#include "errors.hpp"

#include "bridge.hpp"

#include <commtask/frontend.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string_view>

namespace commtask::omp {
namespace {

using message_buffer = std::array<char, 1024>;

struct error_record {
    std::mutex lock;
    commtask_omp_error_handler handler = nullptr;
    void* argument = nullptr;
    std::uint64_t count = 0;
    int first_code = COMMTASK_OK;
    message_buffer first_message{};
};

/// One for the process, which has one OpenMP runtime. Never destroyed: the worker may outlive
/// main().
error_record& record() noexcept {
    static auto* const the_record = new error_record;
    return *the_record;
}

message_buffer& last_message() noexcept {
    thread_local message_buffer message{};
    return message;
}

void copy_message(message_buffer& to, std::string_view from) noexcept {
    const std::size_t n = std::min(from.size(), to.size() - 1);
    std::copy_n(from.data(), n, to.data());
    to[n] = '\0';
}

/// @return whether a handler was called.
bool tell(const commtask_omp_error& error) noexcept {
    commtask_omp_error_handler handler = nullptr;
    void* argument = nullptr;
    {
        error_record& r = record();
        const std::scoped_lock guard(r.lock);
        handler = r.handler;
        argument = r.argument;
        if (r.count++ == 0) {
            r.first_code = error.code;
            copy_message(r.first_message, error.message);
        }
    }
    if (handler != nullptr) {
        handler(&error, argument);
    }
    return handler != nullptr;
}

} // namespace

const char* name_of_kind(unsigned kind) noexcept {
    const commtask_kind_info* const known = commtask_kind_describe(static_cast<int>(kind));
    return known != nullptr ? known->name : "communication";
}

int set_last_error(int code, const char* message) noexcept {
    copy_message(last_message(), message);
    return code;
}

int set_last_objection(int code, const std::string& objection) noexcept {
    message_buffer message{};
    if (!objection.empty()) {
        std::snprintf(message.data(), message.size(), "commtask: %s", objection.c_str());
    }
    return set_last_error(code, message.data());
}

const char* objection_to(const commtask_omp_options& options) noexcept {
    constexpr std::uint32_t known_flags = COMMTASK_ORDERED | COMMTASK_UNORDERED;
    const std::uint32_t flags = options.flags & ~(flag_parent_is_implicit | flag_caller_looks);
    if (options.struct_size < offsetof(commtask_omp_options, ticket)) {
        return "the size of its options is not set: start from COMMTASK_OMP_OPTIONS_INIT";
    }
    if ((flags & ~known_flags) != 0) {
        return "its flags have unknown bits: they may be COMMTASK_ORDERED, COMMTASK_UNORDERED or COMMTASK_NONE";
    }
    if (flags == known_flags) {
        return "its flags have both COMMTASK_ORDERED and COMMTASK_UNORDERED: set at most one of them";
    }
    if (options.status != nullptr && options.status->struct_size < offsetof(commtask_status, mpi)) {
        return "the size of its status is not set: start from COMMTASK_STATUS_INIT";
    }
    return nullptr;
}

int report_refusal(int code, const commtask_op* operation, const commtask_omp_options& options, const char* reason,
                   source_place where) noexcept {
    if (reason != nullptr) {
        (void)commtask_frontend_set_error(code, operation, reason);
    }
    message_buffer message{};
    if (where.file != nullptr) {
        std::snprintf(message.data(), message.size(), "commtask: %.800s (%.180s:%d)", commtask_last_error(), where.file,
                      where.line);
    } else {
        std::snprintf(message.data(), message.size(), "commtask: %s", commtask_last_error());
    }
    if (commtask_status* const status = options.status; status != nullptr) {
        status->state = COMMTASK_STATE_FAILED;
        status->error = commtask_frontend_mpi_class(code);
        status->error_class = status->error;
        status->source = MPI_ANY_SOURCE;
        status->tag = MPI_ANY_TAG;
        status->bytes = 0;
    }
    set_last_error(code, message.data());
    const bool has_status = options.status != nullptr;
    const auto kind = static_cast<commtask_kind>(operation != nullptr ? operation->kind : 0);
    if (!tell({sizeof(commtask_omp_error), code, kind, nullptr, has_status, message.data()})) {
        // Also with a status: peers wait for the operation that was never posted, and the program
        // may hang before it reads the status.
        const bool is_looked_at = has_status || (options.flags & flag_caller_looks) != 0;
        commtask_frontend_report_refusal(code, operation, is_looked_at, message.data());
    }
    return code;
}

void report_not_waited_for(unsigned kind, const char* message) noexcept {
    const auto of = static_cast<commtask_kind>(kind);
    if (!tell({sizeof(commtask_omp_error), COMMTASK_ERR_UNFINISHED, of, nullptr, 0, message})) {
        commtask_frontend_report_refusal(COMMTASK_ERR_UNFINISHED, nullptr, 0, message);
    }
}

void report_ending(unsigned kind, const commtask_status& status, bool has_status) noexcept {
    message_buffer message{};
    std::snprintf(message.data(), message.size(), "commtask: %s", commtask_last_error());
    const int code = status.state == COMMTASK_STATE_CANCELED ? COMMTASK_CANCELED : COMMTASK_FAILED;
    const bool is_told =
        tell({sizeof(commtask_omp_error), code, static_cast<commtask_kind>(kind), &status, has_status, message.data()});
    commtask_frontend_failure_reported(is_told || has_status ? 1 : 0);
}

} // namespace commtask::omp

using namespace commtask::omp;

extern "C" {

void commtask_omp_set_error_handler(commtask_omp_error_handler handler, void* argument) noexcept {
    error_record& r = record();
    const std::scoped_lock guard(r.lock);
    r.handler = handler;
    r.argument = argument;
}

uint64_t commtask_omp_error_count(void) noexcept {
    error_record& r = record();
    const std::scoped_lock guard(r.lock);
    return r.count;
}

int commtask_omp_first_error(char* text, size_t size_bytes) noexcept {
    error_record& r = record();
    const std::scoped_lock guard(r.lock);
    if (text != nullptr && size_bytes > 0) {
        std::snprintf(text, size_bytes, "%s", r.first_message.data());
    }
    return r.first_code;
}

void commtask_omp_clear_errors(void) noexcept {
    error_record& r = record();
    const std::scoped_lock guard(r.lock);
    r.count = 0;
    r.first_code = COMMTASK_OK;
    r.first_message = {};
}

const char* commtask_omp_last_error(void) noexcept { return last_message().data(); }
}
