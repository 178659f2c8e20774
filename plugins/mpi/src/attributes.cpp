// SPDX-License-Identifier: Apache-2.0
//
// MPI has no function that lists the attributes of a communicator, so the wrappers record the keys
// that are set on MPI_COMM_SELF. MPI's own libraries set their keys through the same functions.
// Attributes that Fortran code sets are not recorded, and remain until MPI's MPI_Finalize.
#include "attributes.hpp"

#include "mpi/errors.hpp"
#include "own.hpp"
#include "sections.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace commtask::interposer {
namespace {

struct key_list {
    std::mutex mutex; // guards keys
    std::vector<int> keys;
};
key_list& keys_of_self() {
    static key_list* const made = new key_list; // never destroyed: calls may come during exit
    return *made;
}

void forget_key(MPI_Comm comm, int key) {
    if (comm != MPI_COMM_SELF) return;
    key_list& list = keys_of_self();
    const std::lock_guard guard{list.mutex};
    std::erase(list.keys, key);
}

void record_key(MPI_Comm comm, int key) {
    if (comm != MPI_COMM_SELF) return;
#ifdef OMPI_MAJOR_VERSION
    // Open MPI moves an attribute with a new value to the end of its list; MPICH keeps its
    // position.
    forget_key(comm, key);
#endif
    key_list& list = keys_of_self();
    const std::lock_guard guard{list.mutex};
    const auto found = std::find(list.keys.begin(), list.keys.end(), key);
    if (found == list.keys.end()) list.keys.push_back(key);
}

/// @return false if the list is empty
[[nodiscard]] bool take_last_key(int& key) {
    key_list& list = keys_of_self();
    const std::lock_guard guard{list.mutex};
    if (list.keys.empty()) return false;
    key = list.keys.back();
    list.keys.pop_back();
    return true;
}

/// Whether MPI still has the attribute: it may have been deleted by a call that no wrapper sees.
[[nodiscard]] bool has_attribute(int key) {
    const detail::errors_return scope;
    void* value = nullptr;
    int is_there = 0;
    const int code = commtask_real_MPI_Comm_get_attr(MPI_COMM_SELF, key, static_cast<void*>(&value), &is_there);
    return scope.code_of(code) == MPI_SUCCESS && is_there != 0;
}

/// Deletes one attribute. An error of its delete callback is left to MPI_Finalize and is not
/// reported to the handler of MPI_COMM_SELF: MPICH then keeps the attribute and reports the error
/// in MPI_Finalize, Open MPI ignores it.
void delete_attribute(int key) {
    MPI_Errhandler programs = MPI_ERRHANDLER_NULL;
    const bool is_known = commtask_real_MPI_Comm_get_errhandler(MPI_COMM_SELF, &programs) == MPI_SUCCESS;
    if (is_known) commtask_real_MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    commtask_real_MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    if (!is_known) return;
    commtask_real_MPI_Comm_set_errhandler(MPI_COMM_SELF, programs);
    if (programs != MPI_ERRORS_ARE_FATAL && programs != MPI_ERRORS_RETURN) {
        // MPI_Comm_get_errhandler added this reference.
        commtask_real_MPI_Errhandler_free(&programs);
    }
}

} // namespace

void delete_attributes_of_self() {
    for (int key = MPI_KEYVAL_INVALID; take_last_key(key);) {
        const blocking_section section;
        if (has_attribute(key)) delete_attribute(key);
    }
}

int own_MPI_Comm_set_attr(MPI_Comm comm, int key, void* value) {
    return inside<blocking_section>([&] {
        const int code = commtask_real_MPI_Comm_set_attr(comm, key, value);
        if (code == MPI_SUCCESS) record_key(comm, key);
        return code;
    });
}

int own_MPI_Attr_put(MPI_Comm comm, int key, void* value) { return own_MPI_Comm_set_attr(comm, key, value); }

int own_MPI_Comm_delete_attr(MPI_Comm comm, int key) {
    return inside<blocking_section>([&] {
        const int code = commtask_real_MPI_Comm_delete_attr(comm, key);
        if (code == MPI_SUCCESS) forget_key(comm, key);
        return code;
    });
}

int own_MPI_Attr_delete(MPI_Comm comm, int key) { return own_MPI_Comm_delete_attr(comm, key); }

} // namespace commtask::interposer
