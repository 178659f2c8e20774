// SPDX-License-Identifier: Apache-2.0
//
// How a task ended, as a value: completed, failed with an MPI error, or canceled, with the status
// of a received message. An outcome is a copy of the C status. It is no exception, because
// successors, callbacks and coroutines read it on other threads than the posting thread.
#pragma once

#include <commtask/datatype.hpp>
#include <commtask/error.hpp>

#include <cstddef>
#include <optional>

namespace commtask {

/// The three ways in which a task ends.
enum class ending : int {
    completed = COMMTASK_STATE_COMPLETED, ///< The buffers belong to the caller again.
    failed = COMMTASK_STATE_FAILED,       ///< outcome::error_code() has the MPI error.
    canceled = COMMTASK_STATE_CANCELED,   ///< MPI never started the operation, or canceled it.
};

/// Status of a received message.
class status {
public:
    /// @param raw  the C status.
    explicit status(const commtask_status& raw) noexcept
        : source_(raw.source), tag_(raw.tag), bytes_(raw.bytes), mpi_(raw.mpi) {}

    /// Returns the rank that sent the message.
    /// @return a rank of the communicator, or MPI_PROC_NULL.
    [[nodiscard]] int source() const noexcept { return source_; }

    /// Returns the tag.
    /// @return the tag; MPI_ANY_TAG for a receive from MPI_PROC_NULL.
    [[nodiscard]] int tag() const noexcept { return tag_; }

    /// Returns the length of the message.
    /// @return bytes of the elements, without gaps of a derived datatype.
    [[nodiscard]] MPI_Count size_bytes() const noexcept { return bytes_; }

    /// Returns the number of elements of a type that MPI stores without gaps.
    /// @return the number; nothing if the message is no whole number of elements.
    template <typename T>
        requires plain_element<T>
    [[nodiscard]] std::optional<std::size_t> count() const noexcept {
        const auto bytes = static_cast<std::size_t>(bytes_);
        if (bytes % sizeof(T) != 0) return std::nullopt;
        return bytes / sizeof(T);
    }

    /// Returns MPI's own status, for MPI_Get_elements and derived datatypes.
    /// @return a reference that lives as long as this object.
    [[nodiscard]] const MPI_Status& mpi() const noexcept { return mpi_; }

private:
    int source_;
    int tag_;
    MPI_Count bytes_;
    MPI_Status mpi_;
};

/// How a task ended. Converts to true only if it completed.
class [[nodiscard]] outcome {
public:
    /// Makes the outcome of an empty handle: completed.
    outcome() noexcept { raw_.state = COMMTASK_STATE_COMPLETED; }

    /// @param raw  the C status.
    explicit outcome(const commtask_status& raw) noexcept : raw_(raw) {}

    /// Returns how the task ended.
    /// @return completed, failed or canceled.
    [[nodiscard]] commtask::ending ending() const noexcept { return static_cast<commtask::ending>(raw_.state); }

    /// Tells whether the operation was carried out.
    /// @return true: the buffers have the results.
    [[nodiscard]] bool is_completed() const noexcept { return raw_.state == COMMTASK_STATE_COMPLETED; }

    /// Tells whether MPI reported an error.
    /// @return true: error_code() and error_class() have it.
    [[nodiscard]] bool is_failed() const noexcept { return raw_.state == COMMTASK_STATE_FAILED; }

    /// Tells whether the task was canceled, by the caller, by the failure of a predecessor or by
    /// commtask_finalize.
    /// @return true: MPI never started the operation, or canceled it.
    [[nodiscard]] bool is_canceled() const noexcept { return raw_.state == COMMTASK_STATE_CANCELED; }

    /// Same as is_completed().
    explicit operator bool() const noexcept { return is_completed(); }

    /// Returns the MPI error.
    /// @return an MPI error code; MPI_SUCCESS unless failed.
    [[nodiscard]] int error_code() const noexcept { return raw_.error; }

    /// Returns the class of the MPI error, which is portable.
    /// @return MPI_ERR_TRUNCATE, ...; MPI_SUCCESS unless failed.
    [[nodiscard]] int error_class() const noexcept { return raw_.error_class; }

    /// Returns the status of the received message; without meaning for other operations.
    /// @return source, tag and length.
    [[nodiscard]] commtask::status status() const noexcept { return commtask::status{raw_}; }

    /// Returns the C form.
    /// @return a reference that lives as long as this object.
    [[nodiscard]] const commtask_status& native() const noexcept { return raw_; }

    /// Returns the C form, for functions that fill it in.
    /// @return a reference that lives as long as this object.
    [[nodiscard]] commtask_status& native() noexcept { return raw_; }

private:
    commtask_status raw_ = COMMTASK_STATUS_INIT;
};

} // namespace commtask
