// SPDX-License-Identifier: Apache-2.0
//
// The registered windows. Each has a communicator of its own, a duplicate of the one that it was
// registered with. The queue of that communicator is the window's, and carries its notifications.
// From the registration on, the library keeps a passive-target epoch open towards all ranks, unless
// the program manages the epochs. A post writes the window's communicator into the operation, which
// belongs to that queue from then on. MPI reports through an attribute that the program frees a
// window.
#pragma once

#include "mpi/blocking_lane.hpp"
#include "mpi/epochs.hpp"

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace commtask::detail {

class transport;

/// The memory that a rank exposes.
struct window_part {
    std::int64_t bytes = 0;
    /// The unit of displacements.
    std::int64_t unit_bytes = 1;
};

struct served_window {
    MPI_Win handle = MPI_WIN_NULL;
    MPI_Comm channel = MPI_COMM_NULL; ///< The window's own communicator.
    MPI_Errhandler handler_before = MPI_ERRHANDLER_NULL;
    /// Displacements are addresses, and the library does not know which are valid.
    bool is_dynamic = false;
    std::vector<window_part> parts; ///< By rank.
    std::string name;
    /// Whether the window has other ranks, which may need this rank's progress.
    [[nodiscard]] bool has_others() const noexcept { return parts.size() > 1; }
    /// For a window that the program synchronises itself; null if the library manages the epoch.
    struct own_epochs {
        own_epochs(lane_set& lanes, std::function<void()> on_start, std::size_t stack_bytes)
            : thread(lanes, std::move(on_start), stack_bytes) {}
        epoch_log log;
        blocking_lane thread;
        /// The transport whose tasks the thread executes.
        std::atomic<const transport*> serves{nullptr};
    };
    std::unique_ptr<own_epochs> epochs;
};

class mpi_windows {
public:
    mpi_windows() = default;
    mpi_windows(const mpi_windows&) = delete;
    mpi_windows& operator=(const mpi_windows&) = delete;
    /// Windows that are still registered keep their epoch; MPI does not report their end to this
    /// object any more.
    ~mpi_windows();

    /// Any thread. Null if the window is not registered, or was freed.
    [[nodiscard]] std::shared_ptr<const served_window> find(MPI_Win window) noexcept;
    /// Any thread. By the window's own communicator. Null if no window has it.
    [[nodiscard]] std::shared_ptr<const served_window> find_by_channel(MPI_Comm channel) noexcept;

    /// With a progress lock. Makes MPI return the window's errors as codes, and opens its epoch.
    /// @return an MPI error code, and an error message in `why`
    [[nodiscard]] int open(served_window& made, window_part& mine, std::string& why);
    /// With a progress lock. Undoes open(), after all operations on the window have ended on all
    /// ranks.
    /// @return an MPI error code
    [[nodiscard]] int close(const served_window& opened) noexcept;

    /// Any thread. Posts find the window from here on. @return false if memory is exhausted
    [[nodiscard]] bool add(std::shared_ptr<const served_window> opened) noexcept;
    /// Any thread. Posts do not find the window any more. @return whether it was registered
    bool remove(MPI_Win window) noexcept;

    /// Any thread. The names of the registered windows.
    [[nodiscard]] std::vector<std::string> names();

    // With a progress lock:
    /// @return whether the task's window has a thread, or had one until it was freed: that thread
    /// executes the task
    [[nodiscard]] bool start_elsewhere(task& which, const transport& of) noexcept;
    /// @return whether the program has freed the window since the task was posted, and no thread of
    /// the window has the task
    [[nodiscard]] bool was_freed(const task& which) noexcept;
    /// @return a task of `of` that a window's thread has completed; null if there is none
    [[nodiscard]] task* take_ended(const transport& of) noexcept;
    /// Abandons a task. @return whether a window's thread had it
    bool forget(const task& which) noexcept;

    /// Called when the program frees a registered window of several ranks.
    void (*on_early_free)(void* argument) = nullptr;
    void* on_early_free_argument = nullptr;

private:
    void lose(MPI_Win window) noexcept;
    static int on_free(MPI_Win window, int keyval, void* attribute, void* self) noexcept;

    int keyval_ = MPI_KEYVAL_INVALID;
    std::atomic<int> n_threads_{0};
    /// The window whose attribute the library itself is deleting. Written by the progress thread.
    std::atomic<MPI_Win> closing_{MPI_WIN_NULL};
    /// Never locked during an MPI call.
    std::mutex mutex_;
    std::vector<std::shared_ptr<const served_window>> open_; ///< Few, so searched linearly.
    /// Windows that the program has freed: their tasks must end, and start nothing. They are found
    /// by their own communicators, which are therefore never freed: a later window with a reused
    /// handle would be taken for one of these.
    std::vector<std::shared_ptr<const served_window>> freed_;
    std::atomic<bool> has_freed_any_{false};
};

} // namespace commtask::detail
