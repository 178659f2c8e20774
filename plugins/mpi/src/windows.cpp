// SPDX-License-Identifier: Apache-2.0
//
// A program has few windows, so they are kept in a list that is searched linearly. The list's mutex
// is not locked during MPI calls. Operations on a window go directly to MPI if the window is not in
// the list, for example because a callback created it.
#include "windows.hpp"

#include "core/operation_traits.hpp"
#include "mpi/one_sided.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

namespace commtask::interposer::windows {
namespace {

/// Entry in the list of locked ranks that means all ranks.
constexpr int every_rank = -1;

struct window {
    MPI_Win handle = MPI_WIN_NULL;
    int n_ranks = 0;
    bool has_programs_handler = false;
    std::vector<int> locked{}; ///< Ranks with an open passive epoch, or every_rank.
};

std::mutex mutex;

/// The caller has locked the mutex.
[[nodiscard]] std::vector<window>& all() {
    // Never destroyed: calls may come during exit.
    static auto* const made = new std::vector<window>;
    return *made;
}

/// The caller has locked the mutex.
/// @return null if the window is not in the list
[[nodiscard]] window* find(MPI_Win handle) {
    const auto found = std::ranges::find(all(), handle, &window::handle);
    return found == all().end() ? nullptr : &*found;
}

/// From here on, other processes need this one's progress, or need it no longer.
void attend(const window& which, int change) {
    if (which.n_ranks < 2) return;
    if (detail::lane_set* const lanes = active_lanes()) (*lanes)[0].count_windows(change);
}

[[nodiscard]] int count_ranks(MPI_Win handle) {
    const detail::errors_return scope;
    const progress_section section;
    MPI_Group group = MPI_GROUP_NULL;
    int n_ranks = 0;
    if (scope.code_of(commtask_real_MPI_Win_get_group(handle, &group)) != MPI_SUCCESS) return 0;
    MPI_Group_size(group, &n_ranks);
    commtask_real_MPI_Group_free(&group);
    return n_ranks;
}

/// Whether the reduction is predefined; windows do not accept the program's own.
[[nodiscard]] bool is_predefined(MPI_Op reduction) {
    const std::array predefined{MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,  MPI_LAND,   MPI_LOR,
                                MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
    return std::ranges::find(predefined, reduction) != predefined.end();
}

[[nodiscard]] bool is_side_good(const commtask_side& side, bool has_buffer) {
    return side.count >= 0 && known::is_type_good(side.type) &&
           (!has_buffer || side.buffer != nullptr || side.count == 0);
}

[[nodiscard]] bool are_sides_good(const commtask_op& op) {
    const detail::operation_traits& kind = detail::operation_of(op.kind);
    const commtask_side& there = kind.has_recv_side ? op.send : op.recv;
    const commtask_side& here = kind.has_recv_side ? op.recv : op.send;
    if (!is_side_good(here, true) || !is_side_good(there, false) || detail::displacement_of(there) < 0) return false;
    if (!kind.takes_reduction || op.reduction == MPI_REPLACE) return true;
    if (op.reduction == MPI_NO_OP) return kind.has_recv_side;
    return is_predefined(op.reduction) && known::is_reduction_good(op.reduction, here.type);
}

} // namespace

void add(MPI_Win made) {
    const int n_ranks = count_ranks(made);
    const std::lock_guard guard{mutex};
    all().push_back({made, n_ranks});
    attend(all().back(), 1);
}

bool remove(MPI_Win freed) {
    const std::lock_guard guard{mutex};
    const window* const found = find(freed);
    if (found == nullptr) return false;
    attend(*found, -1);
    std::erase_if(all(), [freed](const window& each) { return each.handle == freed; });
    return true;
}

void record_lock(MPI_Win handle, int rank) {
    const std::lock_guard guard{mutex};
    if (window* const found = find(handle)) found->locked.push_back(rank);
}

void record_unlock(MPI_Win handle, int rank) {
    const std::lock_guard guard{mutex};
    if (window* const found = find(handle)) std::erase(found->locked, rank);
}

void record_lock_all(MPI_Win handle) { record_lock(handle, every_rank); }
void record_unlock_all(MPI_Win handle) { record_unlock(handle, every_rank); }

void record_handler(MPI_Win handle, MPI_Errhandler handler) {
    const std::lock_guard guard{mutex};
    window* const found = find(handle);
    if (found != nullptr) {
        found->has_programs_handler = handler != MPI_ERRORS_ARE_FATAL && handler != MPI_ERRORS_RETURN;
    }
}

bool is_known(MPI_Win handle) {
    const std::lock_guard guard{mutex};
    return find(handle) != nullptr;
}

bool is_good(const commtask_op& op) {
    {
        const std::lock_guard guard{mutex};
        const window* const found = find(detail::window_of(op));
        if (found == nullptr || found->has_programs_handler) return false;
        // For MPI_PROC_NULL, the first test must find the request complete, as with MPI's own
        // request.
        if (op.peer < 0 || op.peer >= found->n_ranks) return false;
        const bool is_locked =
            std::ranges::any_of(found->locked, [&op](int rank) { return rank == every_rank || rank == op.peer; });
        if (!is_locked) return false;
    }
    return are_sides_good(op);
}

} // namespace commtask::interposer::windows
