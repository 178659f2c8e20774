// SPDX-License-Identifier: Apache-2.0
//
// How a task ended, as a value: completed, failed with an MPI error, or canceled; and what is known of the message that
// it received. A value instead of an exception, because successors, callbacks and coroutines meet it on other threads
// than the one that posted. Asking costs nothing: it is the C status, copied once.
#pragma once

#include <commtask/datatype.hpp>
#include <commtask/error.hpp>

#include <cstddef>
#include <optional>

namespace commtask {

/// The three ways in which a task ends.
enum class ending : int {
    completed = COMMTASK_STATE_COMPLETED, ///< The buffers are the caller's again.
    failed = COMMTASK_STATE_FAILED,       ///< outcome::error_code() says why.
    canceled = COMMTASK_STATE_CANCELED,   ///< MPI never saw the operation, or gave it back unmatched.
};

/// What is known of a message that was received.
class status {
public:
    /// @param raw  as the C interface gives it.
    explicit status(const commtask_status& raw) noexcept
        : source_(raw.source), tag_(raw.tag), bytes_(raw.bytes), mpi_(raw.mpi) {}

    /// Who sent it.
    /// @return a rank of the communicator, or MPI_PROC_NULL.
    [[nodiscard]] int source() const noexcept { return source_; }

    /// With which tag.
    /// @return the tag, or MPI_ANY_TAG from MPI_PROC_NULL.
    [[nodiscard]] int tag() const noexcept { return tag_; }

    /// How long it was.
    /// @return bytes of the elements, without gaps of a derived datatype.
    [[nodiscard]] MPI_Count size_bytes() const noexcept { return bytes_; }

    /// How many elements of a type that MPI stores without gaps.
    /// @return the number; nothing if the message has no whole number of them.
    template <typename T>
        requires plain_element<T>
    [[nodiscard]] std::optional<std::size_t> count() const noexcept {
        const auto bytes = static_cast<std::size_t>(bytes_);
        if (bytes % sizeof(T) != 0) return std::nullopt;
        return bytes / sizeof(T);
    }

    /// MPI's own status, for MPI_Get_elements and derived datatypes.
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
    /// The outcome of nothing, which is what waiting for an empty handle gives: completed.
    outcome() noexcept { raw_.state = COMMTASK_STATE_COMPLETED; }

    /// @param raw  as the C interface gives it.
    explicit outcome(const commtask_status& raw) noexcept : raw_(raw) {}

    /// Which of the three.
    /// @return completed, failed or canceled.
    [[nodiscard]] commtask::ending ending() const noexcept { return static_cast<commtask::ending>(raw_.state); }

    /// Whether the operation was carried out.
    /// @return true: the buffers hold what they should.
    [[nodiscard]] bool is_completed() const noexcept { return raw_.state == COMMTASK_STATE_COMPLETED; }

    /// Whether MPI reported an error.
    /// @return true: error_code() and error_class() have it.
    [[nodiscard]] bool is_failed() const noexcept { return raw_.state == COMMTASK_STATE_FAILED; }

    /// Whether it was canceled, by the caller, by a predecessor's failure or at the end of the library.
    /// @return true: MPI never saw the operation, or gave it back unmatched.
    [[nodiscard]] bool is_canceled() const noexcept { return raw_.state == COMMTASK_STATE_CANCELED; }

    /// Same as is_completed().
    explicit operator bool() const noexcept { return is_completed(); }

    /// The MPI error.
    /// @return an MPI error code; MPI_SUCCESS unless failed.
    [[nodiscard]] int error_code() const noexcept { return raw_.error; }

    /// The class of the MPI error, which is portable.
    /// @return MPI_ERR_TRUNCATE, ...; MPI_SUCCESS unless failed.
    [[nodiscard]] int error_class() const noexcept { return raw_.error_class; }

    /// The message that was received; of no meaning for other operations.
    /// @return who sent it, with which tag, how long it was.
    [[nodiscard]] commtask::status status() const noexcept { return commtask::status{raw_}; }

    /// The C form.
    /// @return a reference that lives as long as this object.
    [[nodiscard]] const commtask_status& native() const noexcept { return raw_; }

    /// The C form, for functions that fill it in.
    /// @return a reference that lives as long as this object.
    [[nodiscard]] commtask_status& native() noexcept { return raw_; }

private:
    commtask_status raw_ = COMMTASK_STATUS_INIT;
};

} // namespace commtask
