! SPDX-License-Identifier: Apache-2.0
!
! A ring in Fortran: in every round each rank packs an edge, sends it to the right, and adds up what comes from the left.
! No thread waits between the rounds; the dependences order everything. Ends with 1 if a sum is wrong.
program fortran_ring
  use, intrinsic :: iso_c_binding
  use commtask_omp
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 1000, n_rounds = 20
  double precision, target :: edge(n), ghost(n), total(1), everywhere(1), last(1)
  integer, target :: mine(64), theirs(64)
  integer :: rank, n_ranks, left, right, round, provided, error, n_wrong

  call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, error)
  if (commtask_init(c_null_ptr) /= COMMTASK_OK) error stop commtask_last_error()
  if (commtask_omp_check() /= COMMTASK_OK) error stop commtask_last_error()
  left = modulo(rank - 1, n_ranks)
  right = modulo(rank + 1, n_ranks)
  total = 0
  last = 0
  mine = rank
  theirs = -1

  !$omp parallel
  !$omp single
  !$omp taskgroup
  ! [ring]
  do round = 1, n_rounds
    call comm_task_recv(c_loc(ghost(1)), n, MPI_DOUBLE_PRECISION, left, 0, MPI_COMM_WORLD, out=[c_loc(ghost(1))])
    !$omp task depend(out: edge(1)) firstprivate(round) shared(edge)
    edge = rank + 100 * round
    !$omp end task
    call comm_task_send(c_loc(edge(1)), n, MPI_DOUBLE_PRECISION, right, 0, MPI_COMM_WORLD, in=[c_loc(edge(1))])
    !$omp task depend(in: ghost(1)) depend(inout: total(1)) shared(ghost, total)
    total(1) = total(1) + sum(ghost)
    !$omp end task
  end do
  ! [ring]
  ! Collectives take their order from here, whenever they become ready.
  call comm_task_allreduce(c_loc(total(1)), c_loc(everywhere(1)), 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, &
                           in=[c_loc(total(1))], out=[c_loc(everywhere(1))])
  !$omp task depend(in: everywhere(1)) depend(out: last(1)) shared(everywhere, last)
  if (rank == 0) last(1) = 2 * everywhere(1)
  !$omp end task
  call comm_task_bcast(c_loc(last(1)), 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, inout=[c_loc(last(1))])
  call comm_task_allreduce(comm_task_in_place(), c_loc(last(1)), 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, &
                           inout=[c_loc(last(1))])
  call comm_task_alltoall(c_loc(mine(1)), 1, MPI_INTEGER, c_loc(theirs(1)), 1, MPI_INTEGER, MPI_COMM_WORLD, &
                          in=[c_loc(mine(1))], out=[c_loc(theirs(1))])
  call comm_task_barrier(MPI_COMM_WORLD, inout=[c_loc(theirs(1)), c_loc(last(1))])
  if (commtask_omp_wait_all() /= COMMTASK_OK) error stop 'commtask_omp_wait_all'
  !$omp end taskgroup
  !$omp end single
  !$omp end parallel

  n_wrong = 0
  if (total(1) /= n * (n_rounds * left + 50d0 * n_rounds * (n_rounds + 1))) n_wrong = n_wrong + 1
  if (everywhere(1) /= n * (n_rounds * n_ranks * (n_ranks - 1) / 2 + 50d0 * n_ranks * n_rounds * (n_rounds + 1))) &
      n_wrong = n_wrong + 1
  if (last(1) /= 2 * everywhere(1)) n_wrong = n_wrong + 1
  do round = 1, n_ranks
    if (theirs(round) /= round - 1) n_wrong = n_wrong + 1
  end do
  ! A wrong argument is an error, not an end.
  call comm_task_send(c_loc(edge(1)), n, MPI_DOUBLE_PRECISION, right, 0, MPI_COMM_NULL, in=[c_loc(edge(1))], &
                      flags=int(COMMTASK_ORDERED), ierror=error)
  if (error == COMMTASK_OK .or. len(commtask_last_error()) == 0) n_wrong = n_wrong + 1
  if (commtask_omp_error_count() /= 1) n_wrong = n_wrong + 1

  if (commtask_finalize() /= COMMTASK_OK) error stop 'commtask_finalize'
  call MPI_Finalize(error)
  if (n_wrong > 0) error stop 'wrong results'
  if (rank == 0) print '(a, i0, a)', 'ring of ', n_ranks, ' ranks: right'
end program fortran_ring
