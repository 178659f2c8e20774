// SPDX-License-Identifier: Apache-2.0
//
// MPI has no list of a communicator's attributes, so the keys of those on MPI_COMM_SELF are noted as they are set. What
// libraries below attach by PMPI is not seen, and stays until MPI's own MPI_Finalize.
#include "attributes.hpp"

#include "own.hpp"
#include "session.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace commtask::interposer {
namespace {

std::mutex mutex; // guards the next
std::vector<int> keys_of_self;

void note_key(MPI_Comm comm, int key) {
    if (comm != MPI_COMM_SELF) return;
    const std::lock_guard guard{mutex};
    const auto found = std::find(keys_of_self.begin(), keys_of_self.end(), key);
    if (found == keys_of_self.end()) keys_of_self.push_back(key);
}

void forget_key(MPI_Comm comm, int key) {
    if (comm != MPI_COMM_SELF) return;
    const std::lock_guard guard{mutex};
    std::erase(keys_of_self, key);
}

/// @return whether there was one
[[nodiscard]] bool take_last_key(int& key) {
    const std::lock_guard guard{mutex};
    if (keys_of_self.empty()) return false;
    key = keys_of_self.back();
    keys_of_self.pop_back();
    return true;
}

} // namespace

void delete_attributes_of_self() {
    for (int key = MPI_KEYVAL_INVALID; take_last_key(key);) {
        const worker_section section;
        commtask_real_MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    }
}

int own_MPI_Comm_set_attr(MPI_Comm comm, int key, void* value) {
    const int code = inside<worker_section>([&] { return commtask_real_MPI_Comm_set_attr(comm, key, value); });
    if (code == MPI_SUCCESS) note_key(comm, key);
    return code;
}

int own_MPI_Attr_put(MPI_Comm comm, int key, void* value) { return own_MPI_Comm_set_attr(comm, key, value); }

int own_MPI_Comm_delete_attr(MPI_Comm comm, int key) {
    const int code = inside<worker_section>([&] { return commtask_real_MPI_Comm_delete_attr(comm, key); });
    if (code == MPI_SUCCESS) forget_key(comm, key);
    return code;
}

int own_MPI_Attr_delete(MPI_Comm comm, int key) { return own_MPI_Comm_delete_attr(comm, key); }

} // namespace commtask::interposer
