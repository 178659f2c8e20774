// SPDX-License-Identifier: Apache-2.0
//
// The C side of the Fortran module: the inline operations of the C headers, made here from Fortran's handles, and
// spawned. Nothing is decided here.
#include <commtask/omp.h>
#include <commtask/omp_fortran.h>

namespace {

int spawn(const commtask_op& operation, const commtask_omp_fortran_clauses* given) noexcept {
    commtask_omp_options options = COMMTASK_OMP_OPTIONS_INIT;
    options.flags = given->flags;
    options.priority = given->priority;
    return commtask_omp_spawn(&operation, &options, given->n_in, given->in, given->n_out, given->out, given->n_inout,
                              given->inout);
}

} // namespace

extern "C" {

void* commtask_omp_fortran_in_place(void) noexcept { return MPI_IN_PLACE; }

int commtask_omp_fortran_send(const void* buffer, MPI_Count count, MPI_Fint type, int dest, int tag, MPI_Fint comm,
                              const commtask_omp_fortran_clauses* clauses) noexcept {
    return spawn(commtask_op_send(buffer, count, MPI_Type_f2c(type), dest, tag, MPI_Comm_f2c(comm)), clauses);
}

int commtask_omp_fortran_recv(void* buffer, MPI_Count count, MPI_Fint type, int source, int tag, MPI_Fint comm,
                              const commtask_omp_fortran_clauses* clauses) noexcept {
    return spawn(commtask_op_recv(buffer, count, MPI_Type_f2c(type), source, tag, MPI_Comm_f2c(comm)), clauses);
}

int commtask_omp_fortran_barrier(MPI_Fint comm, const commtask_omp_fortran_clauses* clauses) noexcept {
    return spawn(commtask_op_barrier(MPI_Comm_f2c(comm)), clauses);
}

int commtask_omp_fortran_bcast(void* buffer, MPI_Count count, MPI_Fint type, int root, MPI_Fint comm,
                               const commtask_omp_fortran_clauses* clauses) noexcept {
    return spawn(commtask_op_bcast(buffer, count, MPI_Type_f2c(type), root, MPI_Comm_f2c(comm)), clauses);
}

int commtask_omp_fortran_allreduce(const void* send_buffer, void* recv_buffer, MPI_Count count, MPI_Fint type,
                                   MPI_Fint reduction, MPI_Fint comm,
                                   const commtask_omp_fortran_clauses* clauses) noexcept {
    return spawn(commtask_op_allreduce(send_buffer, recv_buffer, count, MPI_Type_f2c(type), MPI_Op_f2c(reduction),
                                       MPI_Comm_f2c(comm)),
                 clauses);
}

int commtask_omp_fortran_alltoall(const void* send_buffer, MPI_Count send_count, MPI_Fint send_type, void* recv_buffer,
                                  MPI_Count recv_count, MPI_Fint recv_type, MPI_Fint comm,
                                  const commtask_omp_fortran_clauses* clauses) noexcept {
    return spawn(commtask_op_alltoall(send_buffer, send_count, MPI_Type_f2c(send_type), recv_buffer, recv_count,
                                      MPI_Type_f2c(recv_type), MPI_Comm_f2c(comm)),
                 clauses);
}

int commtask_omp_fortran_ssend(const void* buffer, MPI_Count count, MPI_Fint type, int dest, int tag, MPI_Fint comm,
                               const commtask_omp_fortran_clauses* clauses) noexcept {
    return spawn(commtask_op_ssend(buffer, count, MPI_Type_f2c(type), dest, tag, MPI_Comm_f2c(comm)), clauses);
}

int commtask_omp_fortran_sendrecv(const void* send_buffer, MPI_Count send_count, MPI_Fint send_type, int dest,
                                  int send_tag, void* recv_buffer, MPI_Count recv_count, MPI_Fint recv_type, int source,
                                  int recv_tag, MPI_Fint comm, const commtask_omp_fortran_clauses* clauses) noexcept {
    return spawn(commtask_op_sendrecv(send_buffer, send_count, MPI_Type_f2c(send_type), dest, send_tag, recv_buffer,
                                      recv_count, MPI_Type_f2c(recv_type), source, recv_tag, MPI_Comm_f2c(comm)),
                 clauses);
}

int commtask_omp_fortran_gather(const void* send_buffer, MPI_Count send_count, MPI_Fint send_type, void* recv_buffer,
                                MPI_Count recv_count, MPI_Fint recv_type, int root, MPI_Fint comm,
                                const commtask_omp_fortran_clauses* clauses) noexcept {
    return spawn(commtask_op_gather(send_buffer, send_count, MPI_Type_f2c(send_type), recv_buffer, recv_count,
                                    MPI_Type_f2c(recv_type), root, MPI_Comm_f2c(comm)),
                 clauses);
}

int commtask_omp_fortran_scatter(const void* send_buffer, MPI_Count send_count, MPI_Fint send_type, void* recv_buffer,
                                 MPI_Count recv_count, MPI_Fint recv_type, int root, MPI_Fint comm,
                                 const commtask_omp_fortran_clauses* clauses) noexcept {
    return spawn(commtask_op_scatter(send_buffer, send_count, MPI_Type_f2c(send_type), recv_buffer, recv_count,
                                     MPI_Type_f2c(recv_type), root, MPI_Comm_f2c(comm)),
                 clauses);
}

int commtask_omp_fortran_allgather(const void* send_buffer, MPI_Count send_count, MPI_Fint send_type, void* recv_buffer,
                                   MPI_Count recv_count, MPI_Fint recv_type, MPI_Fint comm,
                                   const commtask_omp_fortran_clauses* clauses) noexcept {
    return spawn(commtask_op_allgather(send_buffer, send_count, MPI_Type_f2c(send_type), recv_buffer, recv_count,
                                       MPI_Type_f2c(recv_type), MPI_Comm_f2c(comm)),
                 clauses);
}

int commtask_omp_fortran_reduce(const void* send_buffer, void* recv_buffer, MPI_Count count, MPI_Fint type,
                                MPI_Fint reduction, int root, MPI_Fint comm,
                                const commtask_omp_fortran_clauses* clauses) noexcept {
    return spawn(commtask_op_reduce(send_buffer, recv_buffer, count, MPI_Type_f2c(type), MPI_Op_f2c(reduction), root,
                                    MPI_Comm_f2c(comm)),
                 clauses);
}
}
