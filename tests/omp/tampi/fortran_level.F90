! SPDX-License-Identifier: Apache-2.0
!
! A program that asks for the blocking mode, which Fortran has not: it is told so by the level that MPI gives, and what holds
! tasks works all the same. With COMMTASK_TEST_F08 by the module mpi_f08, through which MPI starts by other names.
#include "TAMPIf.h"
program level
#ifdef COMMTASK_TEST_F08
  use mpi_f08
  implicit none
  type(MPI_Request) :: request
#else
  implicit none
  include 'mpif.h'
  integer :: request
#endif
  integer :: rank, n_ranks, came, mine, provided, known, err

  call MPI_Init_thread(MPI_TASK_MULTIPLE, provided, err)
  call MPI_Query_thread(known, err)
  if (provided /= MPI_THREAD_MULTIPLE) error stop 'the level is not MPI_THREAD_MULTIPLE'
  if (known /= provided) error stop 'MPI_Query_thread says something else'
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, err)
  mine = rank
  came = -1
  !$omp parallel
  !$omp single
  !$omp task depend(out: came) private(request, err) shared(came, mine, rank, n_ranks)
  call MPI_Irecv(came, 1, MPI_INTEGER, modulo(rank - 1, n_ranks), 0, MPI_COMM_WORLD, request, err)
  call TAMPI_Iwait(request, MPI_STATUS_IGNORE, err)
  if (err /= MPI_SUCCESS) error stop 'the receive holds no task'
  call TAMPI_Isend(mine, 1, MPI_INTEGER, modulo(rank + 1, n_ranks), 0, MPI_COMM_WORLD, request, err)
  if (err /= MPI_SUCCESS) error stop 'the send holds no task'
  !$omp end task
  !$omp task depend(in: came) shared(came, rank, n_ranks)
  if (came /= modulo(rank - 1, n_ranks)) error stop 'the dependent task ran before the message came'
  !$omp end task
  !$omp end single
  !$omp end parallel
  call MPI_Finalize(err)
end program level
