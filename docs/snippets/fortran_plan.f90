! SPDX-License-Identifier: Apache-2.0
!
! The halo exchange of docs/plans.md in Fortran: the program of plan_omp.c. Ends with 1 if a cell of any rank is not what it is in a
! rod in one piece.
program fortran_plan
  use, intrinsic :: iso_c_binding
  use commtask_omp
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 1000, n_steps = 50
  double precision, target :: u(0:n + 1, 0:1)
  integer, target :: n_wrong_here, n_wrong
  type(commtask_plan) :: halo(0:1)
  integer :: rank, n_ranks, left, right, a, b, i, s, provided, error

  call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, error)
  if (commtask_init(c_null_ptr) /= COMMTASK_OK) error stop commtask_last_error()
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank + 1 < n_ranks)
  do s = 0, 1
    u(:, s) = [(at_first(rank * n + i), i = 0, n + 1)]
    halo(s) = recorded(s)
  end do

  !$omp parallel
  !$omp single
  do s = 1, n_steps
    a = mod(s + 1, 2)
    b = mod(s, 2)
    ! [start]
    call comm_task_plan(halo(a), in=[c_loc(u(1, a)), c_loc(u(n, a))], out=[c_loc(u(0, a)), c_loc(u(n + 1, a))])
    ! [start]
    !$omp task depend(in: u(1, a), u(2, a), u(n, a)) depend(out: u(2, b)) firstprivate(a, b)
    call step(u(:, b), u(:, a), 2, n - 1) ! the inner cells wait for no message
    !$omp end task
    !$omp task depend(in: u(0, a), u(1, a), u(2, a)) depend(out: u(1, b)) firstprivate(a, b)
    call step(u(:, b), u(:, a), 1, 1)
    !$omp end task
    !$omp task depend(in: u(2, a), u(n, a), u(n + 1, a)) depend(out: u(n, b)) firstprivate(a, b)
    call step(u(:, b), u(:, a), n, n)
    !$omp end task
  end do
  !$omp taskwait
  n_wrong_here = wrong_cells()
  call comm_task_allreduce(c_loc(n_wrong_here), c_loc(n_wrong), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  !$omp end single
  !$omp end parallel

  do s = 0, 1
    if (commtask_plan_release(halo(s)) /= COMMTASK_OK) error stop commtask_last_error()
  end do
  if (commtask_finalize() /= COMMTASK_OK) error stop 'commtask_finalize'
  call MPI_Finalize(error)
  if (n_wrong /= 0) error stop 'wrong results'

contains

  double precision function at_first(cell)
    integer, intent(in) :: cell
    at_first = mod(cell * 37, 101)
  end function at_first

  integer function wrong_cells()
    double precision :: rod(0:n_ranks * n + 1)
    integer :: i
    rod = [(at_first(i), i = 0, n_ranks * n + 1)]
    do i = 1, n_steps
      rod(1:n_ranks * n) = 0.5d0 * (rod(0:n_ranks * n - 1) + rod(2:n_ranks * n + 1))
    end do
    wrong_cells = count(u(1:n, mod(n_steps, 2)) /= rod(rank * n + 1:rank * n + n))
  end function wrong_cells

  subroutine step(to, from, first, last)
    double precision, intent(inout) :: to(0:n + 1)
    double precision, intent(in) :: from(0:n + 1)
    integer, intent(in) :: first, last
    to(first:last) = 0.5d0 * (from(first - 1:last - 1) + from(first + 1:last + 1))
  end subroutine step

  ! [record]
  type(commtask_plan) function recorded(s)
    integer, intent(in) :: s
    if (commtask_record_begin() /= COMMTASK_OK) error stop commtask_last_error()
    call comm_task_recv(c_loc(u(0, s)), 1, MPI_DOUBLE_PRECISION, left, 0, MPI_COMM_WORLD)
    call comm_task_recv(c_loc(u(n + 1, s)), 1, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD)
    call comm_task_send(c_loc(u(1, s)), 1, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD)
    call comm_task_send(c_loc(u(n, s)), 1, MPI_DOUBLE_PRECISION, right, 0, MPI_COMM_WORLD)
    if (commtask_record_end(recorded) /= COMMTASK_OK) error stop commtask_last_error()
  end function recorded
  ! [record]

end program fortran_plan
