! SPDX-License-Identifier: Apache-2.0
!
! The Fortran module under mpi_f08: handles are given as they are, and a status says who sent, what came and what went
! wrong, before the dependent task runs.
program fortran_handles
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use commtask_omp
  implicit none
  integer, target :: mine(6), theirs(6), both(2), sums(2), short(1), everybody(64)
  type(commtask_status), target :: arrived, truncated, reduced
  type(MPI_Comm) :: comm
  type(MPI_Win) :: window
  type(MPI_File) :: file
  type(c_ptr) :: base
  type(MPI_Datatype) :: every_other
  integer :: rank, n_ranks, left, right, provided, n_wrong

  call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, n_ranks)
  call MPI_Type_vector(3, 1, 2, MPI_INTEGER, every_other)
  call MPI_Type_commit(every_other)
  n_wrong = 0
  if (commtask_init(c_null_ptr) /= COMMTASK_OK) error stop commtask_last_error()
  left = modulo(rank - 1, n_ranks)
  right = modulo(rank + 1, n_ranks)
  mine = [10 * rank + 1, 10 * rank + 2, 10 * rank + 3, 10 * rank + 4, 10 * rank + 5, 10 * rank + 6]
  theirs = -1
  sums = -1
  both = -1
  short = -1
  everybody = -1

  !$omp parallel
  !$omp single
  !$omp taskgroup
  call comm_task_recv(c_loc(theirs(1)), 6, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, out=[c_loc(theirs(1))], &
                      status=arrived)
  !$omp task depend(in: theirs(1)) shared(theirs, arrived, n_wrong)
  call expect(2, arrived%source == left .and. arrived%tag == 40 + left .and. arrived%bytes == 12)
  call expect(1, arrived%state == COMMTASK_STATE_COMPLETED .and. arrived%error == MPI_SUCCESS)
  call expect(3, all(theirs == [10 * left + 1, 10 * left + 3, 10 * left + 5, -1, -1, -1]))
  !$omp end task
  call comm_task_send(c_loc(mine(1)), 1, every_other, right, 40 + rank, comm, in=[c_loc(mine(1))])
  call comm_task_allreduce(c_loc(mine(1)), c_loc(sums(1)), 2, MPI_INTEGER, MPI_MAX, comm, in=[c_loc(mine(1))], &
                           out=[c_loc(sums(1))], status=reduced)
  !$omp task depend(in: sums(1)) shared(sums, reduced, n_wrong)
  call expect(4, reduced%state == COMMTASK_STATE_COMPLETED)
  call expect(5, all(sums == [10 * n_ranks - 9, 10 * n_ranks - 8]))
  !$omp end task
  call comm_task_allgather(c_loc(mine(1)), 1, MPI_INTEGER, c_loc(everybody(1)), 1, MPI_INTEGER, comm, &
                           in=[c_loc(mine(1))], out=[c_loc(everybody(1))])
  !$omp end taskgroup
  !$omp end single
  !$omp end parallel
  call expect(6, everybody(n_ranks) == 10 * n_ranks - 9)

  ! An operation that fails tells its status; with a status nothing is printed.
  !$omp parallel
  !$omp single
  !$omp taskgroup
  call comm_task_recv(c_loc(short(1)), 1, MPI_INTEGER, left, 3, comm, out=[c_loc(short(1))], status=truncated)
  call comm_task_send(c_loc(mine(1)), 2, MPI_INTEGER, right, 3, comm, in=[c_loc(mine(1))])
  !$omp end taskgroup
  !$omp end single
  !$omp end parallel
  ! Open MPI does not check messages to oneself.
  if (n_ranks > 1) call expect(7, truncated%state == COMMTASK_STATE_FAILED .and. truncated%error_class == MPI_ERR_TRUNCATE)

  ! One that is refused too.
  call comm_task_sendrecv(c_loc(mine(1)), 2, MPI_INTEGER, n_ranks, 3, c_loc(both(1)), 2, MPI_INTEGER, left, 3, comm, &
                          status=truncated)
  if (commtask_omp_wait_all() /= COMMTASK_OK) error stop 'commtask_omp_wait_all'
  call expect(8, truncated%state == COMMTASK_STATE_FAILED .and. truncated%error_class == MPI_ERR_RANK)

  ! A window and a file.
  call MPI_Win_allocate(256_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, comm, base, window)
  if (commtask_win_register(window, comm) /= COMMTASK_OK) error stop commtask_last_error()
  call comm_task_put(c_loc(mine(1)), 1, MPI_INTEGER, right, 0_c_int64_t, 1, MPI_INTEGER, window, status=reduced)
  if (commtask_omp_wait_all() /= COMMTASK_OK) error stop 'commtask_omp_wait_all'
  call expect(9, reduced%state == COMMTASK_STATE_COMPLETED)
  if (commtask_win_unregister(window) /= COMMTASK_OK) error stop commtask_last_error()
  call MPI_Win_free(window)
  call MPI_File_open(comm, '/dev/null', MPI_MODE_WRONLY, MPI_INFO_NULL, file)
  call comm_task_file_write_at(0_MPI_OFFSET_KIND, c_loc(mine(1)), 6, MPI_INTEGER, file, comm, status=arrived)
  if (commtask_omp_wait_all() /= COMMTASK_OK) error stop 'commtask_omp_wait_all'
  call expect(10, arrived%state == COMMTASK_STATE_COMPLETED .and. arrived%bytes == 24)
  if (commtask_file_close(file, comm) /= COMMTASK_OK) error stop commtask_last_error()

  if (commtask_finalize() /= COMMTASK_OK) error stop 'commtask_finalize'
  call MPI_Type_free(every_other)
  call MPI_Comm_free(comm)
  call MPI_Finalize()
  if (n_wrong > 0) error stop 'wrong results'

contains

  subroutine expect(number, is_right)
    integer, intent(in) :: number
    logical, intent(in) :: is_right
    if (is_right) return
    print '(a, i0)', 'wrong: expectation ', number
    !$omp atomic
    n_wrong = n_wrong + 1
  end subroutine expect

end program fortran_handles
