! SPDX-License-Identifier: Apache-2.0
!
! Plans from Fortran under mpi_f08, on a ring: members that are held, asked for and given other buffers, dependences among members,
! buffers in partitions, many messages by one member, and what is refused, with its sentence.
module members
  use, intrinsic :: iso_c_binding
  use commtask_omp
  implicit none
contains
  subroutine count_end(member, status, argument) bind(c) ! on the library's worker, for one member at a time
    integer(c_size_t), value :: member
    type(commtask_status), intent(in) :: status
    type(c_ptr), value :: argument
    integer, pointer :: ends(:)
    call c_f_pointer(argument, ends, [3])
    if (status%state == COMMTASK_STATE_COMPLETED) ends(member + 1) = ends(member + 1) + 1
  end subroutine count_end
end module members

program fortran_plans
  use mpi_f08
  use members
  implicit none
  integer, parameter :: n = 48000, n_steps = 3
  integer, target :: mine(4), theirs(4), copy(4), others(2), counts(2), displs(2), blocks(2), gathered(2), word, heard(2)
  double precision, target :: out(n), in(n)
  type(commtask_plan) :: plan, no_plan
  type(commtask_status), target :: ended
  integer :: rank, n_ranks, left, right, provided, n_wrong, i, step, error

  call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks)
  n_wrong = 0
  if (commtask_init(c_null_ptr) /= COMMTASK_OK) error stop commtask_last_error()
  left = modulo(rank - 1, n_ranks)
  right = modulo(rank + 1, n_ranks)
  call hold_and_rebind()
  call go_round_twice()
  call send_in_partitions()
  call send_to_many()
  call be_refused()
  if (commtask_finalize() /= COMMTASK_OK) error stop 'commtask_finalize'
  call MPI_Finalize()
  if (n_wrong > 0) error stop 'wrong results'

contains

  ! A send that waits in each run until its buffer is filled; after two runs other buffers.
  subroutine hold_and_rebind()
    integer, target :: ends(3)
    ends = 0
    call expect(1, commtask_record_begin() == COMMTASK_OK)
    call comm_task_recv(c_loc(theirs(1)), 1, MPI_INTEGER, left, 0, MPI_COMM_WORLD)
    call comm_task_send(c_loc(mine(1)), 1, MPI_INTEGER, right, 0, MPI_COMM_WORLD)
    call comm_task_send(c_loc(mine(1)), 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD)
    call expect(2, commtask_record_end(plan) == COMMTASK_OK)
    call expect(3, commtask_plan_size(plan) == 3 .and. commtask_plan_defer(plan, 1) == COMMTASK_OK)
    call expect(13, commtask_plan_on_member(plan, count_end, c_loc(ends)) == COMMTASK_OK)
    theirs = -1
    do step = 1, n_steps
      if (step == n_steps) call expect(14, commtask_plan_on_member(plan) == COMMTASK_OK)
      i = merge(1, 2, step < n_steps)
      if (step == n_steps) then
        call expect(4, commtask_plan_rebind(plan, 0, recv=c_loc(theirs(2))) == COMMTASK_OK)
        call expect(5, commtask_plan_rebind(plan, 1, send=c_loc(mine(2))) == COMMTASK_OK)
      end if
      !$omp parallel
      !$omp single
      call comm_task_plan(plan, out=[c_loc(theirs(1))], status=ended)
      if (step == 1) then
        do while (commtask_plan_parrived(plan, 2) /= 1) ! until a thread has started it
          !$omp taskyield
        end do
        call expect(6, commtask_plan_release(plan) /= COMMTASK_OK) ! it cannot end before the send may go
        call expect(7, index(commtask_last_error(), 'has not ended') > 0)
      end if
      mine(i) = 10 * step + rank
      call expect(8, commtask_plan_pready(plan, 1) == COMMTASK_OK)
      !$omp taskwait
      !$omp end single
      !$omp end parallel
      call expect(9, ended%state == COMMTASK_STATE_COMPLETED .and. commtask_plan_parrived(plan, 0) == 1)
      call expect(10, theirs(i) == 10 * step + left)
    end do
    call expect(15, all(ends == n_steps - 1))
    call expect(11, theirs(1) == 10 * (n_steps - 1) + left)
    call expect(12, commtask_plan_release(plan) == COMMTASK_OK .and. .not. c_associated(plan%handle))
  end subroutine hold_and_rebind

  ! What comes in the first round leaves in the second: the dependence is the order of the members.
  subroutine go_round_twice()
    call expect(20, commtask_record_begin() == COMMTASK_OK)
    call comm_task_recv(c_loc(copy(1)), 4, MPI_INTEGER, left, 2, MPI_COMM_WORLD, out=[c_loc(copy(1))])
    call comm_task_recv(c_loc(theirs(1)), 4, MPI_INTEGER, left, 1, MPI_COMM_WORLD, out=[c_loc(theirs(1))])
    call comm_task_send(c_loc(theirs(1)), 4, MPI_INTEGER, right, 2, MPI_COMM_WORLD, in=[c_loc(theirs(1))])
    call comm_task_send(c_loc(mine(1)), 4, MPI_INTEGER, right, 1, MPI_COMM_WORLD, in=[c_loc(mine(1))])
    call expect(21, commtask_record_end(plan) == COMMTASK_OK)
    do step = 1, n_steps
      theirs = -1
      mine = [1, 2, 3, 4] + 100 * rank + 1000 * step
      !$omp parallel
      !$omp single
      call comm_task_plan(plan)
      !$omp taskwait
      !$omp end single
      !$omp end parallel
      call expect(22, all(copy == [1, 2, 3, 4] + 100 * modulo(rank - 2, n_ranks) + 1000 * step))
    end do
    call expect(23, commtask_plan_release(plan) == COMMTASK_OK)
  end subroutine go_round_twice

  ! Each of eight tasks lets its part go; the receiver has three parts.
  subroutine send_in_partitions()
    integer :: part
    call expect(30, commtask_record_begin() == COMMTASK_OK)
    call comm_task_precv(c_loc(in(1)), 3, n / 3, MPI_DOUBLE_PRECISION, left, 0, MPI_COMM_WORLD)
    call comm_task_psend(c_loc(out(1)), 8, n / 8, MPI_DOUBLE_PRECISION, right, 0, MPI_COMM_WORLD)
    call expect(31, commtask_record_end(plan) == COMMTASK_OK)
    in = -1
    !$omp parallel
    !$omp single
    call comm_task_plan(plan, out=[c_loc(in(1))])
    do part = 0, 7
      !$omp task firstprivate(part)
      out(part * (n / 8) + 1:(part + 1) * (n / 8)) = rank + 1
      call expect(32, commtask_plan_pready_range(plan, 1, part, 1) == COMMTASK_OK)
      !$omp end task
    end do
    !$omp taskwait
    !$omp end single
    !$omp end parallel
    call expect(33, all(in == left + 1))
    call expect(34, all([(commtask_plan_parrived(plan, 0, part) == 1, part = 0, 2)]))
    call expect(35, commtask_plan_release(plan) == COMMTASK_OK)
  end subroutine send_in_partitions

  ! A word to both neighbours, and a block to each and from each. Both may be the same rank.
  subroutine send_to_many()
    others = [left, right]
    counts = 1
    displs = [0, 1]
    word = 7 + rank
    blocks = [10 * rank + 1, 10 * rank + 2]
    call expect(40, commtask_record_begin() == COMMTASK_OK)
    call comm_task_recv(c_loc(heard(1)), 1, MPI_INTEGER, left, 3, MPI_COMM_WORLD)
    call comm_task_recv(c_loc(heard(2)), 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD)
    call comm_task_multicast(c_loc(word), 1, MPI_INTEGER, c_loc(others(1)), 2, 3, MPI_COMM_WORLD)
    call comm_task_many_to_many(c_loc(blocks(1)), c_loc(counts(1)), c_loc(displs(1)), MPI_INTEGER, c_loc(others(1)), 2, &
                                c_loc(gathered(1)), c_loc(counts(1)), c_loc(displs(1)), MPI_INTEGER, c_loc(others(1)), 2, &
                                4, MPI_COMM_WORLD)
    call expect(41, commtask_record_end(plan) == COMMTASK_OK)
    do step = 1, n_steps
      heard = -1
      gathered = -1
      !$omp parallel
      !$omp single
      call comm_task_plan(plan)
      !$omp taskwait
      !$omp end single
      !$omp end parallel
      call expect(42, all(heard == [7 + left, 7 + right]))
      call expect(43, sum(gathered) == 10 * (left + right) + 3)
    end do
    call expect(44, commtask_plan_release(plan) == COMMTASK_OK)
  end subroutine send_to_many

  subroutine be_refused()
    call expect(50, commtask_record_end(plan) /= COMMTASK_OK)
    call expect(51, index(commtask_last_error(), 'not recording') > 0)
    call expect(52, commtask_record_begin() == COMMTASK_OK .and. commtask_record_begin() /= COMMTASK_OK)
    call comm_task_send(c_loc(mine(1)), 1, MPI_INTEGER, n_ranks, 0, MPI_COMM_WORLD, status=ended, ierror=error)
    call expect(53, error /= COMMTASK_OK .and. ended%error_class == MPI_ERR_RANK)
    call comm_task_send(c_loc(mine(1)), 1, MPI_INTEGER, right, 0, MPI_COMM_WORLD, bind=.true., status=ended, ierror=error)
    call expect(54, error /= COMMTASK_OK .and. index(commtask_last_error(), 'bind') > 0)
    call comm_task_send(c_loc(mine(1)), 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD)
    call expect(55, commtask_record_check(no_plan) /= COMMTASK_OK) ! the recording goes on
    call expect(56, commtask_record_end(plan) == COMMTASK_OK .and. commtask_plan_size(plan) == 1)
    call expect(57, commtask_plan_defer(plan, 1) /= COMMTASK_OK .and. commtask_plan_pready(plan, 0) /= COMMTASK_OK)
    call expect(58, commtask_record_begin() == COMMTASK_OK)
    call comm_task_send(c_loc(mine(1)), 1, MPI_INTEGER, MPI_PROC_NULL, 5, MPI_COMM_WORLD)
    error = commtask_record_check(plan)
    call expect(59, error /= COMMTASK_OK .and. index(commtask_last_error(), 'send tag 5') > 0)
    call expect(60, commtask_plan_release(plan) == COMMTASK_OK)
    call comm_task_plan(plan, status=ended, ierror=error)
    !$omp taskwait
    call expect(61, error /= COMMTASK_OK .or. ended%state == COMMTASK_STATE_FAILED)
    call comm_task_plan(no_plan, status=ended, ierror=error)
    !$omp taskwait
    call expect(62, error /= COMMTASK_OK .or. ended%state == COMMTASK_STATE_FAILED)
  end subroutine be_refused

  subroutine expect(number, is_right)
    integer, intent(in) :: number
    logical, intent(in) :: is_right
    if (is_right) return
    print '(a, i0)', 'wrong: expectation ', number
    !$omp atomic
    n_wrong = n_wrong + 1
  end subroutine expect

end program fortran_plans
