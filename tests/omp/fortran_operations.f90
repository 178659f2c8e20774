! SPDX-License-Identifier: Apache-2.0
!
! The operations of the Fortran module that the ring of the documentation does not use, each with a dependent task that
! looks at its result: a wrong order of arguments between Fortran and C would show here.
program fortran_operations
  use, intrinsic :: iso_c_binding
  use commtask_omp
  implicit none
  include 'mpif.h'
  integer, target :: sent(64), swapped(2), synchronous(2), sums(2), gathered(128), scattered(2), everybody(128)
  integer :: rank, n_ranks, left, right, provided, error, n_wrong, i

  call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, error)
  if (commtask_init(c_null_ptr) /= COMMTASK_OK) error stop 'commtask_init'
  left = modulo(rank - 1, n_ranks)
  right = modulo(rank + 1, n_ranks)
  sent = [(10 * rank + i, i = 1, 64)]
  swapped = -1
  synchronous = -1
  sums = -1
  gathered = -1
  scattered = -1
  everybody = -1
  n_wrong = 0

  !$omp parallel
  !$omp single
  !$omp taskgroup
  call comm_task_sendrecv(c_loc(sent(1)), 2, MPI_INTEGER, right, 5, c_loc(swapped(1)), 2, MPI_INTEGER, left, 5, &
                          MPI_COMM_WORLD, in=[c_loc(sent(1))], out=[c_loc(swapped(1))])
  !$omp task depend(in: swapped(1)) shared(swapped, n_wrong)
  call expect(swapped == [10 * left + 1, 10 * left + 2])
  !$omp end task
  call comm_task_recv(c_loc(synchronous(1)), 2, MPI_INTEGER, left, 6, MPI_COMM_WORLD, out=[c_loc(synchronous(1))])
  call comm_task_ssend(c_loc(sent(1)), 2, MPI_INTEGER, right, 6, MPI_COMM_WORLD, in=[c_loc(sent(1))])
  !$omp task depend(in: synchronous(1)) shared(synchronous, n_wrong)
  call expect(synchronous == [10 * left + 1, 10 * left + 2])
  !$omp end task
  call comm_task_reduce(c_loc(sent(1)), c_loc(sums(1)), 2, MPI_INTEGER, MPI_SUM, n_ranks - 1, MPI_COMM_WORLD, &
                        in=[c_loc(sent(1))], out=[c_loc(sums(1))])
  !$omp task depend(in: sums(1)) shared(sums, n_wrong)
  if (rank == n_ranks - 1) call expect(sums == [(5 * n_ranks * (n_ranks - 1) + i * n_ranks, i = 1, 2)])
  !$omp end task
  call comm_task_gather(c_loc(sent(1)), 2, MPI_INTEGER, c_loc(gathered(1)), 2, MPI_INTEGER, 0, MPI_COMM_WORLD, &
                        in=[c_loc(sent(1))], out=[c_loc(gathered(1))])
  !$omp task depend(in: gathered(1)) shared(gathered, n_wrong)
  if (rank == 0) call expect(gathered(1:2 * n_ranks:2) == [(10 * i + 1, i = 0, n_ranks - 1)])
  !$omp end task
  call comm_task_scatter(c_loc(gathered(1)), 2, MPI_INTEGER, c_loc(scattered(1)), 2, MPI_INTEGER, 0, MPI_COMM_WORLD, &
                         in=[c_loc(gathered(1))], out=[c_loc(scattered(1))])
  !$omp task depend(in: scattered(1)) shared(scattered, n_wrong)
  call expect(scattered == [10 * rank + 1, 10 * rank + 2])
  !$omp end task
  call comm_task_allgather(c_loc(sent(1)), 2, MPI_INTEGER, c_loc(everybody(1)), 2, MPI_INTEGER, MPI_COMM_WORLD, &
                           in=[c_loc(sent(1))], out=[c_loc(everybody(1))])
  !$omp task depend(in: everybody(1)) shared(everybody, n_wrong)
  call expect(everybody(2:2 * n_ranks:2) == [(10 * i + 2, i = 0, n_ranks - 1)])
  !$omp end task
  if (commtask_omp_wait_all() /= COMMTASK_OK) error stop 'commtask_omp_wait_all'
  !$omp end taskgroup
  !$omp end single
  !$omp end parallel

  if (commtask_omp_error_count() /= 0) n_wrong = n_wrong + 1
  if (commtask_finalize() /= COMMTASK_OK) error stop 'commtask_finalize'
  call MPI_Finalize(error)
  if (n_wrong > 0) error stop 'wrong results'

contains

  subroutine expect(is_right)
    logical, intent(in) :: is_right(:)
    if (all(is_right)) return
    !$omp atomic
    n_wrong = n_wrong + 1
  end subroutine expect

end program fortran_operations
