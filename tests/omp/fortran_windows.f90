! SPDX-License-Identifier: Apache-2.0
!
! Windows and files from Fortran: a window in the library's epoch with a notification that a task depends on, the operations
! that fetch, a window with fences, groups and locks, a file of all ranks, and one of each.
program fortran_windows
  use, intrinsic :: iso_c_binding
  use mpi
  use commtask_omp
  implicit none
  integer, parameter :: n = 64
  integer, pointer :: exposed(:)
  integer, target :: mine(n), one, before, swapped, wanted, read_back(n), two(2), blocks(n, 4), again(n, 4)
  character(48) :: name, own_name
  integer :: window, file, group, rank, n_ranks, left, right, provided, error, n_wrong, i, process
  integer(MPI_ADDRESS_KIND), parameter :: bytes = 4 * n
  type(c_ptr) :: base
  interface
    integer(c_int) function getpid() bind(c)
      import :: c_int
    end function getpid
  end interface
  type(commtask_status), target :: written

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, error)
  if (commtask_init(c_null_ptr) /= COMMTASK_OK) error stop 'commtask_init'
  left = modulo(rank - 1, n_ranks)
  right = modulo(rank + 1, n_ranks)
  n_wrong = 0
  one = 1
  wanted = 0
  before = -1
  swapped = -1
  mine = [(100 * rank + i, i = 1, n)]
  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, window, error)
  call c_f_pointer(base, exposed, [n])
  exposed = 0
  call MPI_Barrier(MPI_COMM_WORLD, error)
  if (commtask_win_register(window, MPI_COMM_WORLD) /= COMMTASK_OK) error stop commtask_last_error()

  !$omp parallel
  !$omp single
  !$omp taskgroup
  call comm_task_put_notify(c_loc(mine(1)), 2, MPI_INTEGER, right, 4_c_int64_t, 2, MPI_INTEGER, 7, window, &
                            in=[c_loc(mine(1))])
  call comm_task_await_notify(7, 1, left, window, out=[c_loc(exposed(5))])
  !$omp task depend(in: exposed(5)) shared(exposed, n_wrong)
  call expect(1, all(exposed(5:6) == [100 * left + 1, 100 * left + 2]))
  !$omp end task
  call comm_task_accumulate(c_loc(one), 1, MPI_INTEGER, 0, 10_c_int64_t, 1, MPI_INTEGER, MPI_SUM, window)
  call comm_task_fetch_and_op(c_loc(one), c_loc(before), MPI_INTEGER, right, 11_c_int64_t, MPI_SUM, window, &
                              out=[c_loc(before)])
  call comm_task_compare_and_swap(c_loc(one), c_loc(wanted), c_loc(swapped), MPI_INTEGER, right, 12_c_int64_t, window)
  !$omp end taskgroup
  call comm_task_flush_all(window, out=[c_loc(one)])
  call comm_task_barrier(MPI_COMM_WORLD, in=[c_loc(one)])
  !$omp end single
  !$omp end parallel
  call expect(2, before == 0 .and. swapped == 0)
  call expect(3, exposed(12) == 1 .and. exposed(13) == 1)
  if (rank == 0) call expect(4, exposed(11) == n_ranks)
  !$omp parallel
  !$omp single
  call comm_task_get_accumulate(c_loc(one), c_loc(before), 1, MPI_INTEGER, right, 13_c_int64_t, 1, MPI_INTEGER, MPI_SUM, &
                                window, inout=[c_loc(one)])
  call comm_task_get_notify(c_loc(two(1)), 2, MPI_INTEGER, right, 4_c_int64_t, 2, MPI_INTEGER, 8, window, &
                            out=[c_loc(two(1))])
  call comm_task_await_notify(8, 1, left, window)
  call comm_task_put(c_loc(mine(3)), 1, MPI_INTEGER, right, 14_c_int64_t, 1, MPI_INTEGER, window, inout=[c_loc(one)])
  call comm_task_flush(right, window, inout=[c_loc(one)])
  call comm_task_barrier(MPI_COMM_WORLD, inout=[c_loc(one)])
  call comm_task_win_sync(window, inout=[c_loc(one)])
  !$omp end single
  !$omp end parallel
  call expect(12, before == 0 .and. exposed(14) == 1)
  call expect(13, all(two == [100 * rank + 1, 100 * rank + 2]) .and. exposed(15) == 100 * left + 3)
  ! What lies outside is refused.
  !$omp parallel
  !$omp single
  call comm_task_put(c_loc(mine(1)), 1, MPI_INTEGER, right, n + 1_c_int64_t, 1, MPI_INTEGER, window, &
                     status=written)
  !$omp taskwait
  !$omp end single
  !$omp end parallel
  call expect(5, written%state == COMMTASK_STATE_FAILED)
  !$omp parallel
  !$omp single
  call comm_task_put(c_loc(mine(1)), n, MPI_INTEGER, right, 1_c_int64_t, n, MPI_INTEGER, window, status=written)
  !$omp taskwait
  !$omp end single
  !$omp end parallel
  call expect(9, written%state == COMMTASK_STATE_FAILED)
  if (commtask_win_unregister(window) /= COMMTASK_OK) error stop commtask_last_error()

  if (commtask_win_register_epochs(window, MPI_COMM_WORLD) /= COMMTASK_OK) error stop commtask_last_error()
  !$omp parallel
  !$omp single
  call comm_task_win_fence(0, window, out=[c_loc(one)])
  call comm_task_put(c_loc(mine(1)), n, MPI_INTEGER, right, 0_c_int64_t, n, MPI_INTEGER, window, in=[c_loc(one)])
  call comm_task_win_fence(MPI_MODE_NOSUCCEED, window, out=[c_loc(one)])
  !$omp end single
  !$omp end parallel
  call expect(6, all(exposed == [(100 * left + i, i = 1, n)]))
  call MPI_Comm_group(MPI_COMM_WORLD, group, error)
  !$omp parallel
  !$omp single
  call comm_task_win_post(group, 0, window, out=[c_loc(one)])
  call comm_task_win_start(group, 0, window, out=[c_loc(one)])
  call comm_task_put(c_loc(mine(2)), 1, MPI_INTEGER, right, 0_c_int64_t, 1, MPI_INTEGER, window, in=[c_loc(one)])
  call comm_task_win_complete(window, out=[c_loc(one)])
  call comm_task_win_wait(window, out=[c_loc(one)])
  !$omp end single
  !$omp end parallel
  call expect(10, exposed(1) == 100 * left + 2)
  call MPI_Group_free(group, error)
  !$omp parallel
  !$omp single
  call comm_task_win_lock(MPI_LOCK_SHARED, right, 0, window, out=[c_loc(one)])
  call comm_task_get(c_loc(before), 1, MPI_INTEGER, right, 1_c_int64_t, 1, MPI_INTEGER, window, in=[c_loc(one)])
  call comm_task_win_unlock(right, window, out=[c_loc(one)])
  !$omp end single
  !$omp end parallel
  call expect(11, before == 100 * rank + 2)
  !$omp parallel
  !$omp single
  call comm_task_win_lock_all(0, window, out=[c_loc(one)])
  call comm_task_get(c_loc(before), 1, MPI_INTEGER, right, 2_c_int64_t, 1, MPI_INTEGER, window, in=[c_loc(one)])
  call comm_task_win_unlock_all(window, out=[c_loc(one)])
  !$omp end single
  !$omp end parallel
  call expect(14, before == 100 * rank + 3)
  if (commtask_win_unregister(window) /= COMMTASK_OK) error stop commtask_last_error()
  call MPI_Win_free(window, error)

  process = getpid() ! tests of other team sizes run in the same folder at the same time
  call MPI_Bcast(process, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  write (name, '(a, i0, a)') 'fortran_windows_', process, '.data'
  call MPI_File_open(MPI_COMM_WORLD, name, ior(ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_MODE_DELETE_ON_CLOSE), &
                     MPI_INFO_NULL, file, error)
  !$omp parallel
  !$omp single
  call comm_task_file_write_at_all(rank * bytes, c_loc(mine(1)), n, MPI_INTEGER, file, MPI_COMM_WORLD, &
                                   in=[c_loc(mine(1))], out=[c_loc(read_back(1))], status=written)
  call comm_task_file_read_at(rank * bytes, c_loc(read_back(1)), n, MPI_INTEGER, file, MPI_COMM_WORLD, &
                              out=[c_loc(read_back(1))])
  !$omp task depend(in: read_back(1)) shared(read_back, mine, written, n_wrong)
  call expect(7, all(read_back == mine) .and. written%bytes == bytes)
  !$omp end task
  !$omp end single
  !$omp end parallel
  if (commtask_file_close(file, MPI_COMM_WORLD) /= COMMTASK_OK) error stop commtask_last_error()
  call expect(8, file == MPI_FILE_NULL)

  blocks = reshape([(1000 * rank + i, i = 1, 4 * n)], [n, 4])
  write (own_name, '(a, i0, a, i0, a)') 'fortran_windows_', process, '_', rank, '.data'
  call MPI_File_open(MPI_COMM_SELF, own_name, ior(ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_MODE_DELETE_ON_CLOSE), &
                     MPI_INFO_NULL, file, error)
  !$omp parallel
  !$omp single
  call comm_task_file_write(c_loc(blocks(1, 1)), n, MPI_INTEGER, file, MPI_COMM_SELF, inout=[c_loc(one)])
  call comm_task_file_write_all(c_loc(blocks(1, 2)), n, MPI_INTEGER, file, MPI_COMM_SELF, inout=[c_loc(one)])
  call comm_task_file_write_at(2 * bytes, c_loc(blocks(1, 3)), n, MPI_INTEGER, file, MPI_COMM_SELF, inout=[c_loc(one)])
  call comm_task_file_write_shared(c_loc(blocks(1, 4)), n, MPI_INTEGER, file, MPI_COMM_SELF, inout=[c_loc(one)])
  !$omp end single
  !$omp end parallel
  call MPI_File_seek(file, 0_MPI_OFFSET_KIND, MPI_SEEK_SET, error)
  !$omp parallel
  !$omp single
  call comm_task_file_read(c_loc(again(1, 1)), n, MPI_INTEGER, file, MPI_COMM_SELF, inout=[c_loc(one)])
  call comm_task_file_read_all(c_loc(again(1, 2)), n, MPI_INTEGER, file, MPI_COMM_SELF, inout=[c_loc(one)])
  call comm_task_file_read_at_all(2 * bytes, c_loc(again(1, 3)), n, MPI_INTEGER, file, MPI_COMM_SELF, inout=[c_loc(one)])
  call comm_task_file_read_shared(c_loc(again(1, 4)), n, MPI_INTEGER, file, MPI_COMM_SELF, inout=[c_loc(one)])
  !$omp end single
  !$omp end parallel
  ! The shared pointer began at the begin, so its write is in the place of the first, and its read is of the second.
  call expect(15, all(again == blocks(:, [4, 2, 3, 2])))
  if (commtask_file_close(file, MPI_COMM_SELF) /= COMMTASK_OK) error stop commtask_last_error()
  if (commtask_finalize() /= COMMTASK_OK) error stop commtask_last_error()
  call MPI_Finalize(error)
  if (n_wrong > 0) error stop 1

contains

  subroutine expect(which, is_right)
    integer, intent(in) :: which
    logical, intent(in) :: is_right
    if (is_right) return
    !$omp atomic
    n_wrong = n_wrong + 1
    print *, 'rank', rank, ': check', which, 'failed'
  end subroutine expect

end program fortran_windows
