// SPDX-License-Identifier: Apache-2.0
//
// Datatypes. known.hpp records the valid ones, from MPI_Type_commit, or MPI_Type_dup of a valid
// one, until MPI_Type_free.
#include "known.hpp"
#include "own.hpp"
#include "sections.hpp"

namespace commtask::interposer {

int own_MPI_Type_commit(MPI_Datatype* type) {
    const int code = inside<progress_section>([&] { return commtask_real_MPI_Type_commit(type); });
    if (code == MPI_SUCCESS) known::type_was_committed(*type);
    return code;
}

int own_MPI_Type_dup(MPI_Datatype type, MPI_Datatype* copy) {
    const int code = inside<blocking_section>([&] { return commtask_real_MPI_Type_dup(type, copy); });
    if (code == MPI_SUCCESS && !goes_to_mpi() && known::is_type_good(type)) known::type_was_committed(*copy);
    return code;
}

int own_MPI_Type_free(MPI_Datatype* type) {
    if (type != nullptr) known::type_is_freed(*type);
    return inside<blocking_section>([&] { return commtask_real_MPI_Type_free(type); });
}

} // namespace commtask::interposer
