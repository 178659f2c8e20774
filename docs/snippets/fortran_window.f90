! SPDX-License-Identifier: Apache-2.0
!
! The window of docs/one-sided.md in Fortran: a halo is put into the right neighbour's window, and the task that depends on the left
! one's notification reads it. Ends with 1 if it is not the neighbour's.
program fortran_window
  use, intrinsic :: iso_c_binding
  use mpi
  use commtask_omp
  implicit none
  integer, parameter :: n = 64
  integer(MPI_ADDRESS_KIND), parameter :: bytes = 8 * n
  double precision, target :: edge(n)
  double precision, pointer :: ghost(:)
  type(c_ptr) :: base
  integer :: window, rank, n_ranks, left, right, provided, error, n_wrong

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, error)
  if (commtask_init(c_null_ptr) /= COMMTASK_OK) error stop commtask_last_error()
  left = modulo(rank - 1, n_ranks)
  right = modulo(rank + 1, n_ranks)
  edge = rank
  n_wrong = 0
  call MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, window, error)
  call c_f_pointer(base, ghost, [n])
  if (commtask_win_register(window, MPI_COMM_WORLD) /= COMMTASK_OK) error stop commtask_last_error() ! all ranks
  !$omp parallel
  !$omp single
  !$omp taskgroup
  ! [window]
  call comm_task_put_notify(c_loc(edge(1)), n, MPI_DOUBLE_PRECISION, right, 0_c_int64_t, n, MPI_DOUBLE_PRECISION, 7, window, &
                            in=[c_loc(edge(1))])
  call comm_task_await_notify(7, 1, left, window, out=[c_loc(ghost(1))])
  ! [window]
  !$omp task depend(in: ghost(1)) shared(ghost, n_wrong)
  n_wrong = count(ghost /= left)
  !$omp end task
  !$omp end taskgroup
  !$omp end single
  !$omp end parallel
  if (commtask_win_unregister(window) /= COMMTASK_OK) error stop commtask_last_error() ! all ranks
  call MPI_Win_free(window, error)
  if (commtask_finalize() /= COMMTASK_OK) n_wrong = n_wrong + 1
  call MPI_Finalize(error)
  if (n_wrong > 0) error stop 1
end program fortran_window
