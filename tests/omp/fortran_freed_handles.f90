! SPDX-License-Identifier: Apache-2.0
!
! Datatypes and communicators that a Fortran program frees as soon as comm_task_… has returned, while the operation waits for its
! dependence: a message to itself, sent when everything was freed and MPI has given the handles to others. With bind=.true. the
! task frees what its own operations use.
program fortran_freed_handles
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use commtask_omp
  implicit none
  integer, parameter :: n_rounds = 20, n = 24
  integer, target :: gate, word, sums(1), everybody(64), out(n), in(n), held(n)
  type(MPI_Comm) :: comm
  type(MPI_Datatype) :: column
  integer :: rank, n_ranks, left, right, provided, round, n_wrong, i

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  if (provided < MPI_THREAD_MULTIPLE) error stop 'MPI_THREAD_MULTIPLE is not supported'
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks)
  if (commtask_init(c_null_ptr) /= COMMTASK_OK) error stop commtask_last_error()
  if (commtask_omp_bind_check() /= COMMTASK_OK) error stop commtask_last_error()
  left = modulo(rank - 1, n_ranks)
  right = modulo(rank + 1, n_ranks)
  word = 1
  n_wrong = 0

  do round = 1, n_rounds
    out = [(1000 * rank + i, i = 1, n)]
    in = -1
    held = -1
    sums = -1
    everybody = -1
    !$omp parallel
    !$omp single
    !$omp taskgroup
    call make(2 + modulo(round, 2))
    call comm_task_recv(c_loc(gate), 1, MPI_INTEGER, rank, 9, MPI_COMM_WORLD, out=[c_loc(gate)])
    call comm_task_recv(c_loc(in(1)), 1, column, left, 1, comm, in=[c_loc(gate)])
    call comm_task_send(c_loc(out(1)), 1, column, right, 1, comm, in=[c_loc(gate)])
    call comm_task_allreduce(c_loc(out(1)), c_loc(sums(1)), 1, MPI_INTEGER, MPI_MAX, comm, in=[c_loc(gate)])
    call comm_task_allgather(c_loc(out(2)), 1, MPI_INTEGER, c_loc(everybody(1)), 1, MPI_INTEGER, comm) ! behind it
    call free()
    call comm_task_send(c_loc(word), 1, MPI_INTEGER, rank, 9, MPI_COMM_WORLD)

    !$omp task shared(held, out)
    call make(4)
    call comm_task_recv(c_loc(held(1)), 1, column, left, 2, comm, bind=.true.)
    call comm_task_send(c_loc(out(1)), 1, column, right, 2, comm, bind=.true.)
    call free()
    !$omp end task
    !$omp end taskgroup
    !$omp end single
    !$omp end parallel
    call expect(1, in, 2 + modulo(round, 2))
    call expect(2, held, 4)
    if (sums(1) /= 1000 * (n_ranks - 1) + 1) call complain(3)
    if (any(everybody(1:n_ranks) /= [(1000 * i + 2, i = 0, n_ranks - 1)])) call complain(4)
  end do

  if (commtask_finalize() /= COMMTASK_OK) error stop 'commtask_finalize'
  call MPI_Finalize()
  if (n_wrong > 0) error stop 'wrong results'

contains

  subroutine make(stride)
    integer, intent(in) :: stride
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Type_vector(n / stride, 1, stride, MPI_INTEGER, column)
    call MPI_Type_commit(column)
  end subroutine make

  ! MPI gives the handles to others.
  subroutine free()
    type(MPI_Comm) :: other_comm
    type(MPI_Datatype) :: other
    call MPI_Type_free(column)
    call MPI_Comm_free(comm)
    call MPI_Type_contiguous(5, MPI_CHARACTER, other)
    call MPI_Type_commit(other)
    call MPI_Comm_dup(MPI_COMM_SELF, other_comm)
    call MPI_Type_free(other)
    call MPI_Comm_free(other_comm)
  end subroutine free

  subroutine expect(number, came, stride)
    integer, intent(in) :: number, came(n), stride
    integer :: k
    do k = 1, n
      if (came(k) /= merge(1000 * left + k, -1, modulo(k - 1, stride) == 0)) call complain(number)
    end do
  end subroutine expect

  subroutine complain(number)
    integer, intent(in) :: number
    print '(a, i0)', 'wrong: expectation ', number
    n_wrong = n_wrong + 1
  end subroutine complain

end program fortran_freed_handles
