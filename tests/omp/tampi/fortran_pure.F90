! SPDX-License-Identifier: Apache-2.0
!
! One source for MPI with tasks and without, as TAMPI's documentation has it: here MPI is started without threads, so that the
! wrappers are MPI's own operations with their requests, TAMPI_Wait and TAMPI_Waitall wait, and TAMPI_Iwait leaves the request.
#include "TAMPIf.h"
program without_tasks
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 4
  integer :: requests(4), statuses(MPI_STATUS_SIZE, 4), status(MPI_STATUS_SIZE), sent(n), received(n), neighbour(2)
  integer :: root, sum_all, one, rank, n_ranks, err

  call MPI_Init(err)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, err)
  neighbour = [modulo(rank - 1, n_ranks), modulo(rank + 1, n_ranks)]
  sent = 100 + rank
  received = -1
  root = merge(7, -1, rank == 0)
  sum_all = -1
  one = 1
  call TAMPI_Irecv(received, n, MPI_INTEGER, neighbour(1), 5, MPI_COMM_WORLD, requests(1), statuses(:, 1), err)
  if (err /= MPI_SUCCESS .or. requests(1) == MPI_REQUEST_NULL) error stop 'TAMPI_Irecv is not MPI_Irecv'
  call TAMPI_Isend(sent, n, MPI_INTEGER, neighbour(2), 5, MPI_COMM_WORLD, requests(2), err)
  call TAMPI_Ibcast(root, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(3), err)
  call TAMPI_Iallreduce(one, sum_all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(4), err)
  call TAMPI_Waitall(4, requests, statuses, err)
  if (err /= MPI_SUCCESS .or. any(requests /= MPI_REQUEST_NULL)) error stop 'TAMPI_Waitall is not MPI_Waitall'
  if (any(received /= 100 + neighbour(1)) .or. root /= 7 .or. sum_all /= n_ranks) error stop 'wrong results'
  if (statuses(MPI_SOURCE, 1) /= neighbour(1) .or. statuses(MPI_TAG, 1) /= 5) error stop 'wrong status'

  received = -1
  call MPI_Irecv(received, n, MPI_INTEGER, neighbour(1), 6, MPI_COMM_WORLD, requests(1), err)
  call TAMPI_Iwait(requests(1), MPI_STATUS_IGNORE, err)
  if (err /= MPI_SUCCESS .or. requests(1) == MPI_REQUEST_NULL) error stop 'TAMPI_Iwait did something'
  call TAMPI_Isend(sent, n, MPI_INTEGER, neighbour(2), 6, MPI_COMM_WORLD, requests(2), err)
  call TAMPI_Wait(requests(1), status, err)
  call TAMPI_Wait(requests(2), MPI_STATUS_IGNORE, err)
  if (any(received /= 100 + neighbour(1)) .or. status(MPI_SOURCE) /= neighbour(1)) error stop 'TAMPI_Wait is not MPI_Wait'
  call MPI_Finalize(err)
  if (rank == 0) print '(a, i0, a)', 'MPI alone on ', n_ranks, ' ranks: right'
end program without_tasks
