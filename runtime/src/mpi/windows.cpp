// SPDX-License-Identifier: Apache-2.0
//
// The library's epoch is opened with MPI_MODE_NOCHECK, so that no rank requests a lock or waits for
// one. That is correct as long as no rank locks a registered window exclusively. MPICH deletes
// attributes before the window, and refuses to free a window with an open epoch; Open MPI deletes
// them after it, when the epoch can no longer be closed.
#include "mpi/windows.hpp"

#include "base/printable.hpp"
#include "mpi/errors.hpp"
#include "mpi/one_sided.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace commtask::detail {
namespace {

[[nodiscard]] bool get_attribute(MPI_Win window, int keyval, void*& value) noexcept {
    int is_set = 0;
    return MPI_Win_get_attr(window, keyval, static_cast<void*>(&value), &is_set) == MPI_SUCCESS && is_set != 0;
}

[[nodiscard]] int query(served_window& made, window_part& mine, std::string& why) {
    void* value = nullptr;
    if (get_attribute(made.handle, MPI_WIN_CREATE_FLAVOR, value)) {
        made.is_dynamic = *static_cast<int*>(value) == MPI_WIN_FLAVOR_DYNAMIC;
    }
    if (get_attribute(made.handle, MPI_WIN_SIZE, value)) mine.bytes = *static_cast<MPI_Aint*>(value);
    if (get_attribute(made.handle, MPI_WIN_DISP_UNIT, value)) mine.unit_bytes = *static_cast<int*>(value);
    MPI_Group of_window = MPI_GROUP_NULL;
    MPI_Group of_comm = MPI_GROUP_NULL;
    int result = MPI_UNEQUAL;
    int code = MPI_Win_get_group(made.handle, &of_window);
    if (code == MPI_SUCCESS) code = MPI_Comm_group(made.channel, &of_comm);
    if (code == MPI_SUCCESS) code = MPI_Group_compare(of_window, of_comm, &result);
    if (of_window != MPI_GROUP_NULL) MPI_Group_free(&of_window);
    if (of_comm != MPI_GROUP_NULL) MPI_Group_free(&of_comm);
    if (code == MPI_SUCCESS && result != MPI_IDENT) {
        why = "comm does not have the ranks of the window, in their order";
        return MPI_ERR_COMM;
    }
    std::array<char, MPI_MAX_OBJECT_NAME> chars{};
    int length = 0;
    if (MPI_Win_get_name(made.handle, chars.data(), &length) == MPI_SUCCESS) made.name = printable(chars.data());
    return code;
}

/// Frees a handler that MPI_Win_get_errhandler returned.
void free_handler(MPI_Errhandler handler) noexcept {
    if (handler != MPI_ERRORS_ARE_FATAL && handler != MPI_ERRORS_RETURN) MPI_Errhandler_free(&handler);
}

} // namespace

mpi_windows::~mpi_windows() {
    if (keyval_ == MPI_KEYVAL_INVALID) return;
    const errors_return scope;
    for (const auto& each : open_) {
        closing_ = each->handle;
        MPI_Win_delete_attr(each->handle, keyval_);
    }
    MPI_Win_free_keyval(&keyval_);
}

std::shared_ptr<const served_window> mpi_windows::find(MPI_Win window) noexcept {
    const std::lock_guard guard{mutex_};
    const auto found = std::ranges::find(open_, window, [](const auto& each) { return each->handle; });
    return found == open_.end() ? nullptr : *found;
}

std::shared_ptr<const served_window> mpi_windows::find_by_channel(MPI_Comm channel) noexcept {
    const std::lock_guard guard{mutex_};
    const auto found = std::ranges::find(open_, channel, [](const auto& each) { return each->channel; });
    return found == open_.end() ? nullptr : *found;
}

int mpi_windows::open(served_window& made, window_part& mine, std::string& why) {
    const errors_return scope;
    if (keyval_ == MPI_KEYVAL_INVALID) {
        const int code = MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, &mpi_windows::on_free, &keyval_, this);
        if (code != MPI_SUCCESS) return code;
    }
    int code = MPI_Win_get_errhandler(made.handle, &made.handler_before);
    if (code != MPI_SUCCESS) return code;
    code = MPI_Win_set_errhandler(made.handle, MPI_ERRORS_RETURN);
    if (code != MPI_SUCCESS) {
        free_handler(made.handler_before);
        return code;
    }
    code = query(made, mine, why);
    if (code == MPI_SUCCESS && !made.epochs) {
        code = MPI_Win_lock_all(MPI_MODE_NOCHECK, made.handle);
        if (code != MPI_SUCCESS) why = "the program has an open epoch on the window: end it first";
    }
    if (code == MPI_SUCCESS) {
        code = MPI_Win_set_attr(made.handle, keyval_, this);
        if (code != MPI_SUCCESS && !made.epochs) MPI_Win_unlock_all(made.handle);
    }
    if (code != MPI_SUCCESS) {
        MPI_Win_set_errhandler(made.handle, made.handler_before);
        free_handler(made.handler_before);
    }
    return code;
}

int mpi_windows::close(const served_window& opened) noexcept {
    const errors_return scope;
    closing_ = opened.handle;
    MPI_Win_delete_attr(opened.handle, keyval_);
    closing_ = MPI_WIN_NULL;
    const int code = opened.epochs ? MPI_SUCCESS : MPI_Win_unlock_all(opened.handle);
    MPI_Win_set_errhandler(opened.handle, opened.handler_before);
    free_handler(opened.handler_before);
    return code;
}

bool mpi_windows::add(std::shared_ptr<const served_window> opened) noexcept {
    try {
        const std::lock_guard guard{mutex_};
        freed_.reserve(freed_.size() + open_.size() + 1); // lose() must not allocate
        open_.push_back(std::move(opened));
        if (open_.back()->epochs) n_threads_.fetch_add(1, std::memory_order_relaxed);
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

bool mpi_windows::remove(MPI_Win window) noexcept {
    // The window's thread ends after the mutex is unlocked.
    std::shared_ptr<const served_window> removed;
    const std::lock_guard guard{mutex_};
    const auto found = std::ranges::find(open_, window, [](const auto& each) { return each->handle; });
    if (found == open_.end()) return false;
    removed = std::move(*found);
    open_.erase(found);
    if (removed->epochs) n_threads_.fetch_sub(1, std::memory_order_relaxed);
    return true;
}

/// The program has freed the window: its posted tasks end with an error.
void mpi_windows::lose(MPI_Win window) noexcept {
    const std::lock_guard guard{mutex_};
    const auto found = std::ranges::find(open_, window, [](const auto& each) { return each->handle; });
    if (found == open_.end()) return;
    if ((*found)->epochs) (*found)->epochs->thread.window_was_freed();
    freed_.push_back(std::move(*found));
    open_.erase(found);
    has_freed_any_.store(true, std::memory_order_relaxed);
}

bool mpi_windows::start_elsewhere(task& which, const transport& of) noexcept {
    // relaxed: a thread that posts to a window has seen it added.
    if (n_threads_.load(std::memory_order_relaxed) == 0) return false;
    const std::lock_guard guard{mutex_};
    // By the communicator: MPI may have reused the handle of a freed window.
    const auto start_in = [&](const auto& each) {
        if (each->channel != which.op.comm || !each->epochs) return false;
        each->epochs->serves = &of;
        each->epochs->thread.start(which);
        return true;
    };
    return std::ranges::any_of(open_, start_in) || std::ranges::any_of(freed_, start_in);
}

bool mpi_windows::was_freed(const task& which) noexcept {
    // relaxed: the program decides whether a start comes before or after its call that frees the
    // window.
    if (!has_freed_any_.load(std::memory_order_relaxed)) return false;
    const std::lock_guard guard{mutex_};
    return std::ranges::any_of(freed_, [&](const auto& each) { return each->channel == which.op.comm; });
}

task* mpi_windows::take_ended(const transport& of) noexcept {
    const std::lock_guard guard{mutex_};
    for (const auto* const list : {&open_, &freed_}) {
        for (const auto& each : *list) {
            if (!each->epochs || each->epochs->serves != &of) continue;
            if (task* const ended = each->epochs->thread.take_ended()) return ended;
        }
    }
    return nullptr;
}

bool mpi_windows::forget(const task& which) noexcept {
    const std::lock_guard guard{mutex_};
    const auto had_it = [&which](const auto& each) { return each->epochs && each->epochs->thread.forget(which); };
    return std::ranges::any_of(open_, had_it) || std::ranges::any_of(freed_, had_it);
}

std::vector<std::string> mpi_windows::names() {
    const std::lock_guard guard{mutex_};
    std::vector<std::string> found;
    for (const auto& each : open_) found.push_back(each->name);
    return found;
}

int mpi_windows::on_free(MPI_Win window, int /*keyval*/, void* /*attribute*/, void* self) noexcept {
    auto& mine = *static_cast<mpi_windows*>(self);
    if (mine.closing_ == window) return MPI_SUCCESS;
    const auto freed = mine.find(window);
    if (freed == nullptr) return MPI_SUCCESS;
    mine.lose(window);
#ifndef OPEN_MPI
    if (!freed->epochs) MPI_Win_unlock_all(window);
#endif
    free_handler(freed->handler_before);
    if (mine.on_early_free != nullptr && freed->has_others()) mine.on_early_free(mine.on_early_free_argument);
    return MPI_SUCCESS;
}

} // namespace commtask::detail
