// SPDX-License-Identifier: Apache-2.0
//
// A program has few files open, so they are kept in a list that is searched linearly. The list's
// mutex is not locked during MPI calls. Operations on a file go directly to MPI if their validity
// cannot be established.
#include "files.hpp"

#include "core/operation_traits.hpp"
#include "mpi/one_sided.hpp"
#include "mpi/open_files.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace commtask::interposer::files {
namespace {

struct file {
    MPI_File handle = MPI_FILE_NULL;
    int mode = 0;
    bool has_programs_handler = false;
    /// The size of the view's element type; accesses are multiples of it. 0: not known.
    int element_bytes = 1;
};

std::mutex mutex;
bool new_ones_have_programs_handler = false; ///< Guarded by the mutex.

/// The caller has locked the mutex.
[[nodiscard]] std::vector<file>& all() {
    static auto* const made = new std::vector<file>; // never destroyed: calls may come during exit
    return *made;
}

/// The caller has locked the mutex.
/// @return null if the file is not in the list
[[nodiscard]] file* find(MPI_File handle) {
    const auto found = std::ranges::find(all(), handle, &file::handle);
    return found == all().end() ? nullptr : &*found;
}

[[nodiscard]] bool is_allowed(const commtask_op& op, int mode) {
    if ((mode & MPI_MODE_SEQUENTIAL) != 0) return false; // MPI decides which calls that permits
    const bool reads = detail::operation_of(op.kind).has_recv_side;
    return (mode & (reads ? MPI_MODE_WRONLY : MPI_MODE_RDONLY)) == 0;
}

} // namespace

void add(MPI_File opened, int mode) {
    // an entry that remains after commtask_file_close, which calls MPI below the wrappers
    remove(opened);
    const std::lock_guard guard{mutex};
    all().push_back({opened, mode, new_ones_have_programs_handler});
}

void remove(MPI_File closed) {
    const std::lock_guard guard{mutex};
    std::erase_if(all(), [closed](const file& each) { return each.handle == closed; });
}

void record_view(MPI_File handle, MPI_Datatype element) {
    int bytes = 0;
    MPI_Type_size(element, &bytes);
    const std::lock_guard guard{mutex};
    if (file* const found = find(handle)) found->element_bytes = std::max(bytes, 0);
}

void record_handler(MPI_File handle, MPI_Errhandler handler) {
    const bool is_programs = handler != MPI_ERRORS_ARE_FATAL && handler != MPI_ERRORS_RETURN;
    const std::lock_guard guard{mutex};
    if (handle == MPI_FILE_NULL) new_ones_have_programs_handler = is_programs;
    if (file* const found = find(handle)) found->has_programs_handler = is_programs;
}

bool is_known(MPI_File handle) {
    const std::lock_guard guard{mutex};
    return find(handle) != nullptr;
}

void end_tasks(MPI_File handle) {
    if (!is_known(handle)) return;
    poll_until([handle] {
        detail::lane_set* const lanes = active_lanes();
        return !has_lock(lanes) || detail::count_tasks_of(handle, *lanes) == 0;
    });
}

bool is_good(const commtask_op& op) {
    const detail::operation_traits& kind = detail::operation_of(op.kind);
    if (kind.ordered_in == detail::order_class::collectives) return false;
    const commtask_side& here = kind.has_recv_side ? op.recv : op.send;
    const commtask_side& there = kind.has_recv_side ? op.send : op.recv;
    if (kind.has_offset && detail::displacement_of(there) < 0) return false;
    if (here.count < 0 || (here.buffer == nullptr && here.count > 0) || !known::is_type_good(here.type)) return false;
    int type_bytes = 0;
    MPI_Type_size(here.type, &type_bytes);
    const std::lock_guard guard{mutex};
    const file* const found = find(detail::file_of(op));
    return found != nullptr && !found->has_programs_handler && is_allowed(op, found->mode) &&
           found->element_bytes > 0 && type_bytes >= 0 && here.count * type_bytes % found->element_bytes == 0;
}

} // namespace commtask::interposer::files
