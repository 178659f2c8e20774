! SPDX-License-Identifier: Apache-2.0
!
! A task of Fortran frees its datatype, communicator and reduction operation right after TAMPI's calls, and others take their
! handles: TAMPI's calls have given the operations to MPI when they return.
#include "TAMPIf.h"
program freed
  implicit none
  include 'mpif.h'
  integer, parameter :: n_steps = 20, n = 24
  integer :: outgoing(n), incoming(n), mine(1), largest(1)
  integer :: rank, n_ranks, left, right, provided, step, i, err, n_wrong, all_wrong
  external :: keep_larger, keep_nothing

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, err)
  if (provided /= MPI_THREAD_MULTIPLE) error stop 'MPI_THREAD_MULTIPLE is not supported'
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, err)
  left = modulo(rank - 1, n_ranks)
  right = modulo(rank + 1, n_ranks)
  mine = rank
  outgoing = [(1000 * rank + i, i = 1, n)]
  n_wrong = 0
  do step = 1, n_steps
    incoming = -1
    largest = -1
    !$omp parallel
    !$omp single
    !$omp task depend(out: incoming, largest) firstprivate(step) shared(incoming, outgoing, largest, mine)
    call exchange(2 + modulo(step, 3))
    !$omp end task
    !$omp task depend(in: incoming, largest) firstprivate(step) shared(incoming, largest, n_wrong)
    do i = 1, n
      if (incoming(i) /= merge(1000 * left + i, -1, modulo(i - 1, 2 + modulo(step, 3)) == 0)) n_wrong = n_wrong + 1
    end do
    if (largest(1) /= n_ranks - 1) n_wrong = n_wrong + 1
    !$omp end task
    !$omp end single
    !$omp end parallel
  end do

  call MPI_Allreduce(n_wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, err)
  call MPI_Finalize(err)
  if (all_wrong > 0) error stop 'wrong results'
  if (rank == 0) print '(a, i0, a)', 'freed on ', n_ranks, ' ranks: right'

contains

  subroutine exchange(stride)
    integer, intent(in) :: stride
    integer :: comm, column, larger, requests(3), error
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
    call MPI_Type_vector(n / stride, 1, stride, MPI_INTEGER, column, error)
    call MPI_Type_commit(column, error)
    call MPI_Op_create(keep_larger, .true., larger, error)
    call TAMPI_Irecv(incoming, 1, column, left, 1, comm, requests(1), MPI_STATUS_IGNORE, error)
    call TAMPI_Isend(outgoing, 1, column, right, 1, comm, requests(2), error)
    call TAMPI_Iallreduce(mine, largest, 1, MPI_INTEGER, larger, comm, requests(3), error)
    call MPI_Op_free(larger, error)
    call MPI_Type_free(column, error)
    call MPI_Comm_free(comm, error)
    call MPI_Op_create(keep_nothing, .true., larger, error)
    call MPI_Type_contiguous(5, MPI_CHARACTER, column, error)
    call MPI_Type_commit(column, error)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, error)
    call MPI_Type_free(column, error)
    call MPI_Comm_free(comm, error)
    call MPI_Op_free(larger, error)
  end subroutine exchange

end program freed

subroutine keep_larger(given, kept, n, datatype)
  implicit none
  integer :: n, datatype, given(n), kept(n)
  kept = max(given, kept)
end subroutine keep_larger

subroutine keep_nothing(given, kept, n, datatype)
  implicit none
  integer :: n, datatype, given(n), kept(n)
  kept = -99
end subroutine keep_nothing
