// SPDX-License-Identifier: Apache-2.0
//
// The record of communication tasks that went wrong. Failures are rare and may come from any thread at once, so one
// lock guards the record; the handler and the printing happen outside it, since a handler may call back.
#include "errors.hpp"

#include "bridge.hpp"

#include <commtask/unfinished.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string_view>

namespace commtask::omp {
namespace {

constexpr std::size_t n_codes = 32; ///< More than there are: codes are 0 to -27.

/// What is printed once: by kind and code, and one sentence that has nothing to do with either.
constexpr std::size_t n_places = COMMTASK_OP_END * n_codes + 1;
constexpr std::size_t place_of_not_waited_for = n_places - 1;

std::size_t place_of(int code, unsigned kind) noexcept {
    const auto column = std::min<std::size_t>(static_cast<std::size_t>(-code), n_codes - 1);
    return (kind < COMMTASK_OP_END ? kind : 0) * n_codes + column;
}

using sentence_buffer = std::array<char, 512>;

struct error_record {
    std::mutex lock;
    commtask_omp_error_handler handler = nullptr;
    void* argument = nullptr;
    std::uint64_t count = 0;
    int first_code = COMMTASK_OK;
    sentence_buffer first_sentence{};
    std::bitset<n_places> printed;
};

/// One for the process: OpenMP, too, has one runtime for all of it. Never destroyed: the worker may outlive main().
error_record& record() noexcept {
    static auto* const the_record = new error_record;
    return *the_record;
}

sentence_buffer& last_sentence() noexcept {
    thread_local sentence_buffer sentence{};
    return sentence;
}

void copy_sentence(sentence_buffer& to, std::string_view from) noexcept {
    const std::size_t n = std::min(from.size(), to.size() - 1);
    std::copy_n(from.data(), n, to.data());
    to[n] = '\0';
}

void tell(const commtask_omp_error& error, std::size_t place) noexcept {
    commtask_omp_error_handler handler = nullptr;
    void* argument = nullptr;
    bool is_first_of_its_kind = false;
    {
        error_record& r = record();
        const std::scoped_lock guard(r.lock);
        handler = r.handler;
        argument = r.argument;
        if (r.count++ == 0) {
            r.first_code = error.code;
            copy_sentence(r.first_sentence, error.sentence);
        }
        // How an operation ended is the status's to tell. Where there was none, nobody may look at the status before the
        // program hangs: peers wait for what was never posted.
        const bool was_posted = error.status != nullptr;
        if (handler == nullptr && (error.has_status == 0 || !was_posted)) {
            is_first_of_its_kind = !r.printed.test(place);
            r.printed.set(place);
        }
    }
    if (handler != nullptr) {
        handler(&error, argument);
    } else if (is_first_of_its_kind) {
        commtask_say(error.sentence);
    }
}

/// The class of MPI that says the same as a code of this library.
int mpi_class_of(int code) noexcept {
    switch (code) {
    case COMMTASK_ERR_COMM: return MPI_ERR_COMM;
    case COMMTASK_ERR_RANK: return MPI_ERR_RANK;
    case COMMTASK_ERR_TAG: return MPI_ERR_TAG;
    case COMMTASK_ERR_COUNT: return MPI_ERR_COUNT;
    case COMMTASK_ERR_BUFFER: return MPI_ERR_BUFFER;
    case COMMTASK_ERR_TYPE: return MPI_ERR_TYPE;
    case COMMTASK_ERR_OP: return MPI_ERR_OP;
    case COMMTASK_ERR_ARGUMENT: return MPI_ERR_ARG;
    default: return MPI_ERR_OTHER;
    }
}

} // namespace

const char* name_of_kind(unsigned kind) noexcept {
    const commtask_kind_info* const known = commtask_kind_describe(static_cast<int>(kind));
    return known != nullptr ? known->name : "communication";
}

const char* article_of_kind(unsigned kind) noexcept {
    const std::string_view name = name_of_kind(kind);
    // "an ssend": the letter is spoken by itself.
    const bool has_letter_of_its_own = name == "ssend" || name == "rsend" || name == "mprobe" || name == "mrecv";
    return has_letter_of_its_own || std::string_view("aeiou").find(name.front()) != std::string_view::npos ? "an" : "a";
}

int set_last_error(int code, const char* sentence) noexcept {
    copy_sentence(last_sentence(), sentence);
    return code;
}

int set_last_objection(int code, const std::string& objection) noexcept {
    sentence_buffer sentence{};
    if (!objection.empty()) {
        std::snprintf(sentence.data(), sentence.size(), "commtask: %s", objection.c_str());
    }
    return set_last_error(code, sentence.data());
}

const char* objection_to(const commtask_omp_options& options) noexcept {
    constexpr std::uint32_t known_flags = COMMTASK_ORDERED | COMMTASK_UNORDERED;
    const std::uint32_t flags = options.flags & ~flag_parent_is_implicit;
    if (options.struct_size < offsetof(commtask_omp_options, ticket)) {
        return "the size of its options is not set: start from COMMTASK_OMP_OPTIONS_INIT";
    }
    if ((flags & ~known_flags) != 0) {
        return "its flags have unknown bits: they may be COMMTASK_ORDERED, COMMTASK_UNORDERED or COMMTASK_NONE";
    }
    if (flags == known_flags) {
        return "it is to be ordered and unordered: say one of them";
    }
    if (options.status != nullptr && options.status->struct_size < offsetof(commtask_status, mpi)) {
        return "the size of its status is not set: start from COMMTASK_STATUS_INIT";
    }
    return nullptr;
}

int report_refusal(int code, unsigned kind, commtask_status* status, const char* reason, source_place where) noexcept {
    sentence_buffer sentence{};
    if (where.file != nullptr) {
        std::snprintf(sentence.data(), sentence.size(), "commtask: %s %s task was refused: %s (%s:%d)",
                      article_of_kind(kind), name_of_kind(kind), reason, where.file, where.line);
    } else {
        std::snprintf(sentence.data(), sentence.size(), "commtask: %s %s task was refused: %s", article_of_kind(kind),
                      name_of_kind(kind), reason);
    }
    if (status != nullptr) {
        status->state = COMMTASK_STATE_FAILED;
        status->error = mpi_class_of(code);
        status->error_class = status->error;
        status->source = MPI_ANY_SOURCE;
        status->tag = MPI_ANY_TAG;
        status->bytes = 0;
    }
    set_last_error(code, sentence.data());
    tell({sizeof(commtask_omp_error), code, static_cast<commtask_kind>(kind), nullptr, status != nullptr,
          sentence.data()},
         place_of(code, kind));
    return code;
}

void report_not_waited_for(unsigned kind, const char* sentence) noexcept {
    tell({sizeof(commtask_omp_error), COMMTASK_ERR_UNFINISHED, static_cast<commtask_kind>(kind), nullptr, 0, sentence},
         place_of_not_waited_for);
}

void report_ending(unsigned kind, const commtask_status& status, bool has_status) noexcept {
    sentence_buffer sentence{};
    if (status.state == COMMTASK_STATE_CANCELED) {
        std::snprintf(sentence.data(), sentence.size(),
                      "commtask: %s %s task was canceled; the tasks that depend on it run without its data.",
                      article_of_kind(kind), name_of_kind(kind));
    } else {
        char text[MPI_MAX_ERROR_STRING] = "";
        int length = 0;
        // The callback runs on the thread that may call MPI at this moment.
        if (MPI_Error_string(status.error, text, &length) != MPI_SUCCESS) {
            std::strcpy(text, "unknown MPI error");
        }
        std::replace(text, text + std::strlen(text), '\n', ' ');
        std::snprintf(sentence.data(), sentence.size(),
                      "commtask: %s %s task failed: %.300s; the tasks that depend on it run without its data.",
                      article_of_kind(kind), name_of_kind(kind), text);
    }
    const int code = status.state == COMMTASK_STATE_CANCELED ? COMMTASK_CANCELED : COMMTASK_FAILED;
    tell({sizeof(commtask_omp_error), code, static_cast<commtask_kind>(kind), &status, has_status, sentence.data()},
         place_of(code, kind));
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
        std::snprintf(text, size_bytes, "%s", r.first_sentence.data());
    }
    return r.first_code;
}

void commtask_omp_clear_errors(void) noexcept {
    error_record& r = record();
    const std::scoped_lock guard(r.lock);
    r.count = 0;
    r.first_code = COMMTASK_OK;
    r.first_sentence = {};
    r.printed.reset();
}

const char* commtask_omp_last_error(void) noexcept { return last_sentence().data(); }
}
