! SPDX-License-Identifier: Apache-2.0
!
! Standing receives from Fortran under mpi_f08: a handler written in Fortran sees every message of the left neighbour in the order
! of its posts, keeps one, and is told of one that is too long; what is refused comes with its sentence.
module spikes
  use, intrinsic :: iso_c_binding
  use commtask_omp
  implicit none
  integer, parameter :: n_messages = 20, most = 8
  integer :: n_seen = 0, n_long = 0, n_wrong = 0, from = -1
  type(c_ptr) :: kept = c_null_ptr
contains
  integer(c_int) function take(message, argument) bind(c) ! on the library's worker, for one message at a time
    type(commtask_message), intent(inout), target :: message
    type(c_ptr), value :: argument
    integer, pointer :: numbers(:), total
    if (message%error == 0) then
      call c_f_pointer(argument, total)
      call c_f_pointer(message%data, numbers, [message%bytes / 4])
      total = total + sum(numbers)
    end if
    take = merge(COMMTASK_MESSAGE_KEPT, COMMTASK_MESSAGE_DONE, is_to_keep(message))
  end function take

  logical function is_to_keep(message)
    type(commtask_message), intent(in), target :: message
    integer, pointer :: numbers(:)
    is_to_keep = n_seen == 0
    if (is_to_keep) kept = c_loc(message)
    if (message%error == 0) then
      call c_f_pointer(message%data, numbers, [message%bytes / 4])
      if (message%source /= from .or. size(numbers) /= modulo(n_seen, most) + 1 .or. any(numbers /= n_seen)) n_wrong = n_wrong + 1
    else
      n_long = n_long + 1
    end if
    !$omp atomic update release
    n_seen = n_seen + 1
  end function is_to_keep
end module spikes

program fortran_listen
  use mpi_f08
  use spikes
  implicit none
  integer, parameter :: tag = 7
  integer, target :: words(most, 0:n_messages), total = 0
  type(commtask_listener) :: listener
  type(commtask_message), pointer :: first
  integer, pointer :: first_word(:)
  integer :: rank, n_ranks, right, provided, i, n_here, n_too_long

  call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks)
  if (commtask_init(c_null_ptr) /= COMMTASK_OK) error stop commtask_last_error()
  from = modulo(rank - 1, n_ranks)
  right = modulo(rank + 1, n_ranks)

  call expect(1, commtask_listen(MPI_COMM_WORLD, tag, 4 * most, 0, take, c_null_ptr, listener) /= COMMTASK_OK)
  call expect(2, index(commtask_last_error(), 'n_slots') > 0)
  call expect(3, commtask_listen(MPI_COMM_WORLD, tag, 4 * most, -1, take, c_null_ptr, listener) /= COMMTASK_OK)
  call expect(4, commtask_listen(MPI_COMM_WORLD, tag, -1, 1, take, c_null_ptr, listener) /= COMMTASK_OK)
  call expect(5, .not. c_associated(listener%handle))
  if (commtask_listen(MPI_COMM_WORLD, tag, 4 * most, 3, take, c_loc(total), listener) /= COMMTASK_OK) then
    error stop commtask_last_error()
  end if
  do i = 0, n_messages - 1
    words(:, i) = i
    call comm_task_send(c_loc(words(1, i)), modulo(i, most) + 1, MPI_INTEGER, right, tag, MPI_COMM_WORLD, flags=COMMTASK_ORDERED)
  end do
  n_too_long = merge(1, 0, n_ranks > 1) ! Open MPI does not see it in a message to oneself
  do i = 1, n_too_long
    call comm_task_send(c_loc(words(1, 0)), 2 * most, MPI_INTEGER, right, tag, MPI_COMM_WORLD, flags=COMMTASK_ORDERED)
  end do
  do
    !$omp atomic read acquire
    n_here = n_seen
    if (n_here == n_messages + n_too_long) exit
    i = commtask_omp_progress()
  end do
  !$omp taskwait
  ! [unlisten]
  if (commtask_unlisten(listener) /= COMMTASK_OK) error stop commtask_last_error() ! `take` is not called any more
  ! [unlisten]
  call expect(6, .not. c_associated(listener%handle))
  call expect(7, n_long == n_too_long)
  call expect(11, total == sum([(i * (modulo(i, most) + 1), i = 0, n_messages - 1)]))
  call c_f_pointer(kept, first)
  call c_f_pointer(first%data, first_word, [1])
  call expect(8, first%source == from .and. first_word(1) == 0)
  call expect(9, commtask_message_release(kept) == COMMTASK_OK)
  call expect(10, commtask_unlisten(listener) == COMMTASK_OK) ! none: left as it is
  if (commtask_finalize() /= COMMTASK_OK) error stop 'commtask_finalize'
  call MPI_Finalize()
  if (n_wrong > 0) error stop 'wrong results'

contains

  subroutine expect(number, is_right)
    integer, intent(in) :: number
    logical, intent(in) :: is_right
    if (is_right) return
    print '(a, i0)', 'wrong: expectation ', number
    n_wrong = n_wrong + 1
  end subroutine expect

end program fortran_listen
