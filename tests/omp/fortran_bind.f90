! SPDX-License-Identifier: Apache-2.0
!
! Tasks of Fortran that are held by what they start: operations, and requests of the program's own. Ends with 1 if a task that
! depends on one of them runs too early, or if what cannot be held is not refused.
program fortran_bind
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use commtask_omp
  implicit none
  integer, parameter :: n_rounds = 20
  integer, target :: edge(2), ghost(2), total, everywhere, number, ghosts(2)
  integer :: mine(2, n_rounds), theirs(2, n_rounds)
  type(MPI_Request) :: requests(4)
  type(commtask_status), target :: arrived
  integer :: rank, n_ranks, left, right, neighbour(2), side, round, provided, error, n_wrong

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks)
  if (commtask_init(c_null_ptr) /= COMMTASK_OK) error stop commtask_last_error()
  if (commtask_omp_bind_check() /= COMMTASK_OK) error stop commtask_last_error()
  left = modulo(rank - 1, n_ranks)
  right = modulo(rank + 1, n_ranks)
  neighbour = [left, right]
  number = rank
  n_wrong = 0
  total = 0
  everywhere = 0
  ghost = -1
  theirs = -1

  !$omp parallel
  !$omp single
  !$omp taskgroup
  do round = 1, n_rounds
    ! One task for both messages.
    !$omp task depend(out: ghost) depend(inout: edge) shared(edge, ghost, arrived) private(error)
    edge = [rank, round]
    call comm_task_recv(c_loc(ghost), 2, MPI_INTEGER, left, 7, MPI_COMM_WORLD, status=arrived, bind=.true.)
    call comm_task_send(c_loc(edge), 2, MPI_INTEGER, right, 7, MPI_COMM_WORLD, bind=.true., ierror=error)
    if (error /= COMMTASK_OK) error stop commtask_last_error()
    !$omp end task
    !$omp task depend(in: ghost) depend(inout: total) firstprivate(round) shared(ghost, total, arrived)
    if (any(ghost /= [left, round]) .or. arrived%source /= left .or. arrived%bytes /= 8) call complain(2)
    total = total + ghost(1)
    ghost = -1
    !$omp end task
  end do
  !$omp task depend(in: total) depend(out: everywhere) shared(total, everywhere)
  call comm_task_allreduce(c_loc(total), c_loc(everywhere), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, bind=.true.)
  !$omp end task

  !$omp task depend(in: number) depend(out: ghosts) private(side)
  do side = 1, 2
    call comm_task_recv(c_loc(ghosts(side)), 1, MPI_INTEGER, neighbour(side), 2 - side, MPI_COMM_WORLD, bind=.true.)
    call comm_task_send(c_loc(number), 1, MPI_INTEGER, neighbour(side), side - 1, MPI_COMM_WORLD, bind=.true.)
  end do
  !$omp end task
  !$omp task depend(in: ghosts)
  print '(3(a, i0))', 'rank ', rank, ' is between ', ghosts(1), ' and ', ghosts(2)
  !$omp end task

  do round = 1, n_rounds
    mine(:, round) = [rank, round]
    !$omp task depend(out: theirs(1, round)) firstprivate(round) private(requests) shared(mine, theirs)
    call MPI_Irecv(theirs(:, round), 2, MPI_INTEGER, left, 100 + round, MPI_COMM_WORLD, requests(1))
    requests(2) = MPI_REQUEST_NULL
    call MPI_Isend(mine(:, round), 2, MPI_INTEGER, right, 100 + round, MPI_COMM_WORLD, requests(3))
    if (commtask_omp_bind_requests(requests(1:3)) /= COMMTASK_OK) call complain(3)
    if (any(requests(1:3)%MPI_VAL /= MPI_REQUEST_NULL%MPI_VAL)) call complain(4)
    !$omp end task
    !$omp task depend(in: theirs(1, round)) firstprivate(round) shared(theirs)
    if (any(theirs(:, round) /= [left, round])) call complain(5)
    !$omp end task
  end do
  !$omp end taskgroup
  !$omp end single
  !$omp end parallel
  if (everywhere /= n_rounds * n_ranks * (n_ranks - 1) / 2) call complain(6)
  if (any(ghosts /= neighbour)) call complain(8)

  ! An operation that holds a task has no dependences of its own.
  call comm_task_barrier(MPI_COMM_WORLD, in=[c_loc(total)], bind=.true., ierror=error)
  if (error == COMMTASK_OK .or. index(commtask_last_error(), 'bind=.true.') == 0) call complain(7)

  if (commtask_finalize() /= COMMTASK_OK) error stop 'commtask_finalize'
  call MPI_Finalize()
  if (n_wrong > 0) error stop 'wrong results'

contains

  subroutine complain(number)
    integer, intent(in) :: number
    print '(a, i0)', 'wrong: expectation ', number
    !$omp atomic
    n_wrong = n_wrong + 1
  end subroutine complain

end program fortran_bind
