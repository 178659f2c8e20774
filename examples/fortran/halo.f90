! SPDX-License-Identifier: Apache-2.0
!
! Relaxation on a periodic 2-D grid that is cut among the ranks in both directions, in Fortran with OpenMP tasks and mpi_f08.
! Every step exchanges four halos as communication tasks; the inner cells are computed meanwhile, the rim when its halos are
! there. No thread waits between the steps: dependences order all of them. A wave whose decay is known checks every cell.
program halo
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use commtask_omp
  implicit none
  integer, parameter :: n = 64, n_steps = 100                ! cells of a rank in each direction
  integer, parameter :: southwards = 0, northwards = 1, eastwards = 2, westwards = 3  ! where a message goes
  real(c_double), target :: u(0:n + 1, 0:n + 1, 0:1)           ! with ghosts; for this step and for the next, in turns
  type(commtask_status), target :: arrived(0:n_steps - 1)    ! of the northern halo
  type(MPI_Comm) :: grid
  type(MPI_Datatype) :: row                                  ! along the second dimension, with gaps
  integer :: dims(2), here(2), n_ranks, rank, level, north, south, west, east, i, j, step
  real(c_double) :: a, b, decay, worst

  call MPI_Init_thread(MPI_THREAD_SERIALIZED, level)
  if (commtask_init(c_null_ptr) /= COMMTASK_OK) error stop commtask_last_error()
  if (commtask_omp_check() /= COMMTASK_OK) error stop commtask_last_error()
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks)
  dims = 0
  call MPI_Dims_create(n_ranks, 2, dims)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .true.], .true., grid)
  call MPI_Comm_rank(grid, rank)
  call MPI_Cart_coords(grid, rank, 2, here)
  call MPI_Cart_shift(grid, 0, 1, north, south)
  call MPI_Cart_shift(grid, 1, 1, west, east)
  call MPI_Type_vector(n, 1, n + 2, MPI_DOUBLE_PRECISION, row)
  call MPI_Type_commit(row)

  ! sin(ax + by) is multiplied by (cos a + cos b) / 2 in every step.
  a = 2 * acos(-1d0) / (n * dims(1))
  b = 2 * acos(-1d0) / (n * dims(2))
  decay = ((cos(a) + cos(b)) / 2)**n_steps
  do j = 1, n
    do i = 1, n
      u(i, j, 0) = wave(i, j)
    end do
  end do

  !$omp parallel
  !$omp single
  !$omp taskgroup
  do step = 0, n_steps - 1
    call create_step(step)
  end do
  !$omp end taskgroup
  !$omp end single
  !$omp end parallel

  worst = 0
  do j = 1, n
    do i = 1, n
      worst = max(worst, abs(u(i, j, mod(n_steps, 2)) - decay * wave(i, j)))
    end do
  end do
  if (any(arrived%state /= COMMTASK_STATE_COMPLETED) .or. any(arrived%source /= north)) worst = huge(worst)
  if (commtask_omp_error_count() /= 0) worst = huge(worst)
  if (commtask_finalize() /= COMMTASK_OK) worst = huge(worst)
  call MPI_Allreduce(MPI_IN_PLACE, worst, 1, MPI_DOUBLE_PRECISION, MPI_MAX, grid)
  if (rank == 0) print '(i0, a, i0, a, es8.1)', dims(1), ' x ', dims(2), ' ranks, worst error ', worst
  call MPI_Type_free(row)
  call MPI_Comm_free(grid)
  call MPI_Finalize()
  if (worst >= 1d-12) error stop 1

contains

  real(c_double) function wave(i, j)
    integer, intent(in) :: i, j
    wave = sin(a * (here(1) * n + i) + b * (here(2) * n + j))
  end function wave

  ! Creates the tasks of one step. Inner cells and rim are known to OpenMP by one cell each, a halo by its first. The next
  ! step may begin before this one ends: its messages have tags of their own.
  subroutine create_step(step)
    integer, intent(in) :: step
    integer :: now, next, tag
    now = mod(step, 2)
    next = 1 - now
    tag = 4 * step
    call comm_task_recv(c_loc(u(0, 1, now)), 1, row, north, tag + southwards, grid, out=[c_loc(u(0, 1, now))], &
                        status=arrived(step))
    call comm_task_recv(c_loc(u(n + 1, 1, now)), 1, row, south, tag + northwards, grid, out=[c_loc(u(n + 1, 1, now))])
    call comm_task_recv(c_loc(u(1, 0, now)), n, MPI_DOUBLE_PRECISION, west, tag + eastwards, grid, &
                        out=[c_loc(u(1, 0, now))])
    call comm_task_recv(c_loc(u(1, n + 1, now)), n, MPI_DOUBLE_PRECISION, east, tag + westwards, grid, &
                        out=[c_loc(u(1, n + 1, now))])
    call comm_task_send(c_loc(u(n, 1, now)), 1, row, south, tag + southwards, grid, in=[c_loc(u(1, 1, now))])
    call comm_task_send(c_loc(u(1, 1, now)), 1, row, north, tag + northwards, grid, in=[c_loc(u(1, 1, now))])
    call comm_task_send(c_loc(u(1, n, now)), n, MPI_DOUBLE_PRECISION, east, tag + eastwards, grid, in=[c_loc(u(1, 1, now))])
    call comm_task_send(c_loc(u(1, 1, now)), n, MPI_DOUBLE_PRECISION, west, tag + westwards, grid, in=[c_loc(u(1, 1, now))])
    !$omp task depend(in: u(2, 2, now), u(1, 1, now)) depend(out: u(2, 2, next)) firstprivate(now, next) shared(u)
    call relax(now, next, 2, n - 1, 2, n - 1)
    !$omp end task
    !$omp task depend(in: u(2, 2, now), u(1, 1, now), u(0, 1, now), u(n + 1, 1, now), u(1, 0, now), u(1, n + 1, now)) &
    !$omp      depend(out: u(1, 1, next)) firstprivate(now, next) shared(u)
    call relax(now, next, 1, 1, 1, n)
    call relax(now, next, n, n, 1, n)
    call relax(now, next, 2, n - 1, 1, 1)
    call relax(now, next, 2, n - 1, n, n)
    !$omp end task
  end subroutine create_step

  subroutine relax(from, to, first_i, last_i, first_j, last_j)
    integer, intent(in) :: from, to, first_i, last_i, first_j, last_j
    integer :: i, j
    do j = first_j, last_j
      do i = first_i, last_i
        u(i, j, to) = 0.25d0 * (u(i - 1, j, from) + u(i + 1, j, from) + u(i, j - 1, from) + u(i, j + 1, from))
      end do
    end do
  end subroutine relax

end program halo
