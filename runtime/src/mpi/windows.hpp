// SPDX-License-Identifier: Apache-2.0
//
// The windows that the library serves. Each has a communicator of its own, a duplicate of the one that it was registered
// with: its queue is the window's, and notifications travel on it. Its passive epoch towards all ranks is the library's from
// the registration on. An operation is given its window's communicator when it is posted, and is one of that queue from
// then on. MPI tells of a window that the program frees through an attribute, as for communicators.
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

/// What a rank exposes.
struct window_part {
    std::int64_t bytes = 0;
    std::int64_t unit_bytes = 1; ///< Displacements count in it.
};

struct served_window {
    MPI_Win handle = MPI_WIN_NULL;
    MPI_Comm channel = MPI_COMM_NULL; ///< Its own.
    MPI_Errhandler handler_before = MPI_ERRHANDLER_NULL;
    bool is_dynamic = false;        ///< Displacements are addresses, and nobody knows which are good.
    std::vector<window_part> parts; ///< By rank.
    std::string name;
    /// Whether other processes need this one's progress.
    [[nodiscard]] bool has_others() const noexcept { return parts.size() > 1; }
    /// Of a window that the program synchronises itself; null in the library's epoch.
    struct own_epochs {
        own_epochs(lane_set& lanes, std::function<void()> on_start, std::size_t stack_bytes)
            : thread(lanes, std::move(on_start), stack_bytes) {}
        epoch_book book;
        blocking_lane thread;
        std::atomic<const transport*> serves{nullptr}; ///< The one whose tasks it has.
    };
    std::unique_ptr<own_epochs> epochs;
};

class mpi_windows {
public:
    mpi_windows() = default;
    mpi_windows(const mpi_windows&) = delete;
    mpi_windows& operator=(const mpi_windows&) = delete;
    /// Windows that are still registered keep their epoch; MPI tells this object of them no more.
    ~mpi_windows();

    /// Any thread. Null if the window is not registered, or was freed.
    [[nodiscard]] std::shared_ptr<const served_window> find(MPI_Win window) noexcept;
    /// Any thread. By its own communicator. Null if that is none of a window.
    [[nodiscard]] std::shared_ptr<const served_window> find_by_channel(MPI_Comm channel) noexcept;

    /// A driver. Makes errors of the window come back, and opens its epoch. @return an MPI error code, and a sentence
    [[nodiscard]] int open(served_window& made, window_part& mine, std::string& why);
    /// A driver. Undoes open(), once nothing is in flight on the window anywhere. @return an MPI error code
    [[nodiscard]] int close(const served_window& opened) noexcept;

    /// Any thread. Posts find it from here on. @return false without memory
    [[nodiscard]] bool add(std::shared_ptr<const served_window> opened) noexcept;
    /// Any thread. Posts do not find it any more. @return whether they did
    bool remove(MPI_Win window) noexcept;

    /// Any thread.
    [[nodiscard]] std::vector<std::string> names();

    // A driver:
    /// @return whether the task's window has a thread, or had one until it was freed: that has the task now
    [[nodiscard]] bool start_elsewhere(task& which, const transport& of) noexcept;
    /// @return whether the program has freed the window since the task was posted, and no thread of the window's has the task
    [[nodiscard]] bool has_lost(const task& which) noexcept;
    /// @return a task that such a thread has ended for that transport; null if there is none
    [[nodiscard]] task* take_ended(const transport& of) noexcept;
    /// @return whether one of them had it
    bool forget(const task& which) noexcept;

    /// Called when the program frees a registered window of several ranks.
    void (*on_lost)(void* argument) = nullptr;
    void* on_lost_argument = nullptr;

private:
    void lose(MPI_Win window) noexcept;
    static int on_free(MPI_Win window, int keyval, void* attribute, void* self) noexcept;

    int keyval_ = MPI_KEYVAL_INVALID;
    std::atomic<int> n_threads_{0};
    std::atomic<MPI_Win> closing_{MPI_WIN_NULL}; ///< Its attribute goes by our own doing. The driver writes it.
    std::mutex mutex_;                           ///< MPI is never called with it held.
    std::vector<std::shared_ptr<const served_window>> open_; ///< Few: searched from the front.
    /// The program has freed them: their tasks must end, and start nothing. They are known by their channels, which therefore stay: a
    /// later window that got the handle of one would be taken for lost.
    std::vector<std::shared_ptr<const served_window>> lost_;
    std::atomic<bool> has_lost_any_{false};
};

} // namespace commtask::detail
