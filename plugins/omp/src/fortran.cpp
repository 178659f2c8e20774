// SPDX-License-Identifier: Apache-2.0
//
// The C side of the Fortran module: builds a C operation from Fortran's description, and creates
// its task. The arguments are checked where the operation is posted, as for C programs.
#include "errors.hpp"
#include "fortran_recording.hpp"

#include <commtask/omp.h>
#include <commtask/omp_fortran.h>

#include <cstdint>
#include <cstring>
#include <span>

using namespace commtask::omp;

namespace {

commtask_side side_of(const commtask_omp_fortran_side& given) noexcept {
    commtask_side side{};
    side.buffer = given.buffer;
    if (given.counts != nullptr) {
        side.counts = given.counts;
    } else {
        side.count = given.count;
    }
    side.displs = given.displs;
    if (given.displacement != 0) commtask_op_keep_displacement_(&side.displs, given.displacement);
    if (given.has_type != 0) side.type = MPI_Type_f2c(given.type);
    return side;
}

commtask_op operation_of(const commtask_omp_fortran_operation& given) noexcept {
    if (given.plan != COMMTASK_PLAN_NULL) return commtask_op_plan(given.plan);
    commtask_op op = commtask_op_noop(MPI_Comm_f2c(given.comm));
    op.kind = static_cast<std::uint16_t>(given.kind);
    if (given.send.counts != nullptr || given.recv.counts != nullptr) op.array_form = COMMTASK_COUNTS_INT;
    op.send = side_of(given.send);
    op.recv = side_of(given.recv);
    op.peer = given.peer;
    op.source = given.source;
    op.send_tag = given.send_tag;
    op.recv_tag = given.recv_tag;
    if (given.has_reduction != 0) op.reduction = MPI_Op_f2c(given.reduction);
    if (given.dests != nullptr) op.dests = given.dests; // a union with fields of other operations
    if (given.sources != nullptr) op.sources = given.sources;
    if (given.has_window != 0) {
        MPI_Win window = MPI_Win_f2c(given.window);
        commtask_op_keep_handle_(&op.result, &window, sizeof window);
        op.comm = MPI_COMM_NULL; // the window has its own
    }
    if (given.has_group != 0) {
        const MPI_Group group = MPI_Group_f2c(given.group);
        std::memcpy(static_cast<void*>(&op.send.displs), static_cast<const void*>(&group), sizeof group);
    }
    if (given.has_file != 0) {
        MPI_File file = MPI_File_f2c(given.file);
        commtask_op_keep_handle_(&op.result, static_cast<void*>(&file), sizeof file);
    }
    return op;
}

} // namespace

extern "C" {

void* commtask_omp_fortran_in_place(void) noexcept { return MPI_IN_PLACE; }

int commtask_omp_fortran_spawn(const commtask_omp_fortran_operation* operation,
                               const commtask_omp_fortran_clauses* clauses) noexcept {
    // The module belongs to another release of this library: programs compile the module from
    // source.
    if (operation->struct_size != sizeof *operation || clauses->struct_size != sizeof *clauses) {
        return report_refusal(
            COMMTASK_ERR_ARGUMENT, nullptr, COMMTASK_OMP_OPTIONS_INIT,
            "the Fortran module commtask_omp that the program was compiled with is not this library's: "
            "compile share/commtask/commtask_omp.f90 of this installation");
    }
    commtask_omp_options options = COMMTASK_OMP_OPTIONS_INIT;
    options.flags = clauses->flags | (clauses->has_ierror != 0 ? flag_caller_looks : 0U);
    options.priority = clauses->priority;
    options.status = clauses->status;
    const commtask_op op = operation_of(*operation);
    if (fortran_recording* const recording = fortran_recording::of_this_thread(); recording != nullptr) {
        return recording->record(op, options, *clauses);
    }
    if (clauses->bind != 0) {
        if (clauses->n_in + clauses->n_out + clauses->n_inout != 0 || clauses->priority != 0) {
            return report_refusal(
                COMMTASK_ERR_ARGUMENT, &op, options,
                "bind=.true. makes no task: in, out, inout and priority are for the task that calls it");
        }
        return commtask_omp_bind_operation(&op, &options);
    }
    return commtask_omp_spawn(&op, &options, clauses->n_in, clauses->in, clauses->n_out, clauses->out, clauses->n_inout,
                              clauses->inout);
}

int commtask_omp_fortran_listen(MPI_Fint comm, int tag, size_t max_bytes, size_t n_slots,
                                commtask_message_handler handler, void* argument,
                                commtask_listener_t* listener) noexcept {
    return commtask_omp_fortran_note(
        commtask_listen(MPI_Comm_f2c(comm), tag, max_bytes, n_slots, handler, argument, listener));
}

int commtask_omp_fortran_win_register(MPI_Fint window, MPI_Fint comm) noexcept {
    return commtask_omp_fortran_note(commtask_win_register(MPI_Win_f2c(window), MPI_Comm_f2c(comm)));
}

int commtask_omp_fortran_win_register_epochs(MPI_Fint window, MPI_Fint comm) noexcept {
    return commtask_omp_fortran_note(commtask_win_register_epochs(MPI_Win_f2c(window), MPI_Comm_f2c(comm)));
}

int commtask_omp_fortran_win_unregister(MPI_Fint window) noexcept {
    return commtask_omp_fortran_note(commtask_win_unregister(MPI_Win_f2c(window)));
}

int commtask_omp_fortran_file_close(MPI_Fint* file, MPI_Fint comm) noexcept {
    MPI_File handle = MPI_File_f2c(*file);
    const int code = commtask_omp_fortran_note(commtask_file_close(&handle, MPI_Comm_f2c(comm)));
    *file = MPI_File_c2f(handle);
    return code;
}

int commtask_omp_fortran_bind_requests(size_t n_requests, MPI_Fint* requests) noexcept {
    int code = COMMTASK_OK;
    for (MPI_Fint& each : std::span(requests, n_requests)) {
        MPI_Request request = MPI_Request_f2c(each);
        code = commtask_omp_bind_request(&request);
        each = MPI_Request_c2f(request);
        if (code != COMMTASK_OK) break;
    }
    return code;
}
}
