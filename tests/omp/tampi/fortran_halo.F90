! SPDX-License-Identifier: Apache-2.0
!
! A halo as Fortran programs have it that were written for TAMPI: wrappers with requests, a wait for all of them that does
! nothing, and dependent tasks; and requests of the program's own, which TAMPI_Iwait and TAMPI_Iwaitall bind.
#include "TAMPIf.h"
program halo
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 8, n_steps = 30
  double precision :: senddata(n, 2), recvdata(n, 2), sum_here, sum_all
  integer :: requests(4), statuses(MPI_STATUS_SIZE, 4), own_status(MPI_STATUS_SIZE), both(2), both_statuses(MPI_STATUS_SIZE, 2)
  integer :: neighbour(2), others(n), own(1), mine(1), rank, n_ranks, side, step, provided, err, n_wrong, total, ones

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, err)
  if (provided /= MPI_THREAD_MULTIPLE) error stop 'MPI_THREAD_MULTIPLE is not supported'
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, err)
  neighbour = [modulo(rank - 1, n_ranks), modulo(rank + 1, n_ranks)]
  n_wrong = 0
  total = 0
  ones = 1
  recvdata = -1
  !$omp parallel
  !$omp single
  do step = 1, n_steps
    do side = 1, 2
      !$omp task depend(out: senddata(:, side)) firstprivate(step, side) shared(senddata)
      senddata(:, side) = 1000 * step + 10 * rank + side
      !$omp end task
      !$omp task depend(in: senddata(:, side)) firstprivate(side) private(err) shared(senddata, requests)
      call TAMPI_Isend(senddata(:, side), n, MPI_DOUBLE_PRECISION, neighbour(side), side, MPI_COMM_WORLD, requests(side), err)
      !$omp end task
      !$omp task depend(out: recvdata(:, side)) firstprivate(side) private(err) shared(recvdata, requests, statuses)
      call TAMPI_Irecv(recvdata(:, side), n, MPI_DOUBLE_PRECISION, neighbour(side), 3 - side, MPI_COMM_WORLD, &
                       requests(2 + side), statuses(:, 2 + side), err)
      !$omp end task
      !$omp task depend(inout: recvdata(:, side)) firstprivate(step, side) shared(recvdata, statuses, n_wrong)
      if (any(recvdata(:, side) /= 1000 * step + 10 * neighbour(side) + 3 - side) .or. &
          statuses(MPI_SOURCE, 2 + side) /= neighbour(side) .or. statuses(MPI_TAG, 2 + side) /= 3 - side) then
        !$omp atomic
        n_wrong = n_wrong + 1
      end if
      recvdata(:, side) = -1
      !$omp end task
    end do
    call TAMPI_Waitall(4, requests, statuses, err)
  end do
  !$omp task depend(out: own) private(requests, err) shared(own, mine, own_status)
  call MPI_Irecv(own, 1, MPI_INTEGER, neighbour(1), 50, MPI_COMM_WORLD, requests(1), err)
  call TAMPI_Iwait(requests(1), own_status, err)
  if (requests(1) /= MPI_REQUEST_NULL) error stop 'TAMPI_Iwait leaves its request'
  mine(1) = rank
  call MPI_Isend(mine, 1, MPI_INTEGER, neighbour(2), 50, MPI_COMM_WORLD, requests(1), err)
  call TAMPI_Iwait(requests(1), MPI_STATUS_IGNORE, err)
  !$omp end task
  !$omp task depend(out: others) private(both, err) shared(others, mine, both_statuses)
  both(1) = MPI_REQUEST_NULL
  call MPI_Iallreduce(ones, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, both(2), err)
  call TAMPI_Iwaitall(2, both, MPI_STATUSES_IGNORE, err)
  !$omp end task
  !$omp task depend(in: own, others) shared(own, own_status, total, n_wrong)
  if (own(1) /= neighbour(1) .or. own_status(MPI_SOURCE) /= neighbour(1) .or. total /= n_ranks) then
    !$omp atomic
    n_wrong = n_wrong + 1
  end if
  !$omp end task
  !$omp end single
  !$omp end parallel

  sum_here = n_wrong
  call MPI_Allreduce(sum_here, sum_all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, err)
  call MPI_Finalize(err)
  if (sum_all > 0) error stop 'wrong results'
  if (rank == 0) print '(a, i0, a)', 'halo of ', n_ranks, ' ranks: right'
end program halo
