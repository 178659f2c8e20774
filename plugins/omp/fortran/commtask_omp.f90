! SPDX-License-Identifier: Apache-2.0
!
! Communication as OpenMP tasks, for Fortran. Installed as a source, since module files belong to one compiler: compile it
! with your program. MPI handles are the integers of mpif.h and `use mpi` (of mpi_f08: the component %MPI_VAL). Buffers are
! C addresses, c_loc(x) of a variable with the target attribute, which also is what dependences match by. A buffer belongs
! to the operation until its task has completed, so it must not be a temporary copy.
module commtask_omp
  use, intrinsic :: iso_c_binding
  implicit none
  private

  public :: commtask_init, commtask_finalize, commtask_last_error
  public :: commtask_omp_check, commtask_omp_wait_all, commtask_omp_progress, commtask_omp_error_count
  public :: comm_task_in_place
  public :: comm_task_send, comm_task_ssend, comm_task_recv, comm_task_sendrecv
  public :: comm_task_barrier, comm_task_bcast, comm_task_reduce, comm_task_allreduce
  public :: comm_task_gather, comm_task_scatter, comm_task_allgather, comm_task_alltoall

  integer(c_int), parameter, public :: COMMTASK_OK = 0
  integer(c_int), parameter, public :: COMMTASK_NONE = 0, COMMTASK_ORDERED = 1, COMMTASK_UNORDERED = 2

  ! commtask_omp_fortran_clauses of commtask/omp_fortran.h, field by field.
  type, bind(c) :: clauses
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: flags = COMMTASK_NONE
    integer(c_int) :: priority = 0
    integer(c_size_t) :: n_in = 0
    type(c_ptr) :: in = c_null_ptr
    integer(c_size_t) :: n_out = 0
    type(c_ptr) :: out = c_null_ptr
    integer(c_size_t) :: n_inout = 0
    type(c_ptr) :: inout = c_null_ptr
  end type clauses

  interface
    ! The contracts of these are in commtask/commtask.h and commtask/omp.h. config: c_null_ptr for the defaults.
    integer(c_int) function commtask_init(config) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: config
    end function commtask_init
    integer(c_int) function commtask_finalize() bind(c)
      import :: c_int
    end function commtask_finalize
    integer(c_int) function commtask_omp_check() bind(c)
      import :: c_int
    end function commtask_omp_check
    integer(c_int) function commtask_omp_wait_all() bind(c)
      import :: c_int
    end function commtask_omp_wait_all
    integer(c_int) function commtask_omp_progress() bind(c)
      import :: c_int
    end function commtask_omp_progress
    integer(c_int64_t) function commtask_omp_error_count() bind(c)
      import :: c_int64_t
    end function commtask_omp_error_count

    ! To be given as a send buffer; MPI_IN_PLACE of Fortran is something else.
    type(c_ptr) function comm_task_in_place() bind(c, name="commtask_omp_fortran_in_place")
      import :: c_ptr
    end function comm_task_in_place

    type(c_ptr) function c_last_error() bind(c, name="commtask_omp_last_error")
      import :: c_ptr
    end function c_last_error
    integer(c_size_t) function c_strlen(text) bind(c, name="strlen")
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
    end function c_strlen

    integer(c_int) function c_send(buffer, count, datatype, dest, tag, comm, given) &
        bind(c, name="commtask_omp_fortran_send")
      import :: c_int, c_ptr, c_int64_t, clauses
      type(c_ptr), value :: buffer
      integer(c_int64_t), value :: count
      integer(c_int), value :: datatype, dest, tag, comm
      type(clauses), intent(in) :: given
    end function c_send
    integer(c_int) function c_recv(buffer, count, datatype, source, tag, comm, given) &
        bind(c, name="commtask_omp_fortran_recv")
      import :: c_int, c_ptr, c_int64_t, clauses
      type(c_ptr), value :: buffer
      integer(c_int64_t), value :: count
      integer(c_int), value :: datatype, source, tag, comm
      type(clauses), intent(in) :: given
    end function c_recv
    integer(c_int) function c_barrier(comm, given) bind(c, name="commtask_omp_fortran_barrier")
      import :: c_int, clauses
      integer(c_int), value :: comm
      type(clauses), intent(in) :: given
    end function c_barrier
    integer(c_int) function c_bcast(buffer, count, datatype, root, comm, given) &
        bind(c, name="commtask_omp_fortran_bcast")
      import :: c_int, c_ptr, c_int64_t, clauses
      type(c_ptr), value :: buffer
      integer(c_int64_t), value :: count
      integer(c_int), value :: datatype, root, comm
      type(clauses), intent(in) :: given
    end function c_bcast
    integer(c_int) function c_allreduce(send_buffer, recv_buffer, count, datatype, reduction, comm, given) &
        bind(c, name="commtask_omp_fortran_allreduce")
      import :: c_int, c_ptr, c_int64_t, clauses
      type(c_ptr), value :: send_buffer, recv_buffer
      integer(c_int64_t), value :: count
      integer(c_int), value :: datatype, reduction, comm
      type(clauses), intent(in) :: given
    end function c_allreduce
    integer(c_int) function c_alltoall(send_buffer, send_count, send_type, recv_buffer, recv_count, recv_type, comm, given) &
        bind(c, name="commtask_omp_fortran_alltoall")
      import :: c_int, c_ptr, c_int64_t, clauses
      type(c_ptr), value :: send_buffer, recv_buffer
      integer(c_int64_t), value :: send_count, recv_count
      integer(c_int), value :: send_type, recv_type, comm
      type(clauses), intent(in) :: given
    end function c_alltoall
    integer(c_int) function c_ssend(buffer, count, datatype, dest, tag, comm, given) &
        bind(c, name="commtask_omp_fortran_ssend")
      import :: c_int, c_ptr, c_int64_t, clauses
      type(c_ptr), value :: buffer
      integer(c_int64_t), value :: count
      integer(c_int), value :: datatype, dest, tag, comm
      type(clauses), intent(in) :: given
    end function c_ssend
    integer(c_int) function c_sendrecv(send_buffer, send_count, send_type, dest, send_tag, recv_buffer, recv_count, &
        recv_type, source, recv_tag, comm, given) &
        bind(c, name="commtask_omp_fortran_sendrecv")
      import :: c_int, c_ptr, c_int64_t, clauses
      type(c_ptr), value :: send_buffer, recv_buffer
      integer(c_int64_t), value :: send_count, recv_count
      integer(c_int), value :: send_type, dest, send_tag, recv_type, source, recv_tag, comm
      type(clauses), intent(in) :: given
    end function c_sendrecv
    integer(c_int) function c_gather(send_buffer, send_count, send_type, recv_buffer, recv_count, recv_type, root, &
        comm, given) &
        bind(c, name="commtask_omp_fortran_gather")
      import :: c_int, c_ptr, c_int64_t, clauses
      type(c_ptr), value :: send_buffer, recv_buffer
      integer(c_int64_t), value :: send_count, recv_count
      integer(c_int), value :: send_type, recv_type, root, comm
      type(clauses), intent(in) :: given
    end function c_gather
    integer(c_int) function c_scatter(send_buffer, send_count, send_type, recv_buffer, recv_count, recv_type, root, &
        comm, given) &
        bind(c, name="commtask_omp_fortran_scatter")
      import :: c_int, c_ptr, c_int64_t, clauses
      type(c_ptr), value :: send_buffer, recv_buffer
      integer(c_int64_t), value :: send_count, recv_count
      integer(c_int), value :: send_type, recv_type, root, comm
      type(clauses), intent(in) :: given
    end function c_scatter
    integer(c_int) function c_allgather(send_buffer, send_count, send_type, recv_buffer, recv_count, recv_type, &
        comm, given) &
        bind(c, name="commtask_omp_fortran_allgather")
      import :: c_int, c_ptr, c_int64_t, clauses
      type(c_ptr), value :: send_buffer, recv_buffer
      integer(c_int64_t), value :: send_count, recv_count
      integer(c_int), value :: send_type, recv_type, comm
      type(clauses), intent(in) :: given
    end function c_allgather
    integer(c_int) function c_reduce(send_buffer, recv_buffer, count, datatype, reduction, root, comm, given) &
        bind(c, name="commtask_omp_fortran_reduce")
      import :: c_int, c_ptr, c_int64_t, clauses
      type(c_ptr), value :: send_buffer, recv_buffer
      integer(c_int64_t), value :: count
      integer(c_int), value :: datatype, reduction, root, comm
      type(clauses), intent(in) :: given
    end function c_reduce
  end interface

contains

  ! Every comm_task_ subroutine takes, after the arguments of its MPI namesake: dependences in, out and inout (arrays of
  ! addresses), flags, priority, and ierror, which is COMMTASK_OK or why no task was created; errors are reported in any case.

  subroutine comm_task_send(buffer, count, datatype, dest, tag, comm, in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: buffer
    integer, intent(in) :: count, datatype, dest, tag, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call tell(c_send(buffer, int(count, c_int64_t), datatype, dest, tag, comm, &
                     clauses_of(in, out, inout, flags, priority)), ierror)
  end subroutine comm_task_send

  subroutine comm_task_recv(buffer, count, datatype, source, tag, comm, in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: buffer
    integer, intent(in) :: count, datatype, source, tag, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call tell(c_recv(buffer, int(count, c_int64_t), datatype, source, tag, comm, &
                     clauses_of(in, out, inout, flags, priority)), ierror)
  end subroutine comm_task_recv

  subroutine comm_task_barrier(comm, in, out, inout, flags, priority, ierror)
    integer, intent(in) :: comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call tell(c_barrier(comm, clauses_of(in, out, inout, flags, priority)), ierror)
  end subroutine comm_task_barrier

  subroutine comm_task_bcast(buffer, count, datatype, root, comm, in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: buffer
    integer, intent(in) :: count, datatype, root, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call tell(c_bcast(buffer, int(count, c_int64_t), datatype, root, comm, &
                      clauses_of(in, out, inout, flags, priority)), ierror)
  end subroutine comm_task_bcast

  subroutine comm_task_allreduce(send_buffer, recv_buffer, count, datatype, reduction, comm, in, out, inout, flags, &
                                 priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer
    integer, intent(in) :: count, datatype, reduction, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call tell(c_allreduce(send_buffer, recv_buffer, int(count, c_int64_t), datatype, reduction, comm, &
                          clauses_of(in, out, inout, flags, priority)), ierror)
  end subroutine comm_task_allreduce

  subroutine comm_task_alltoall(send_buffer, send_count, send_type, recv_buffer, recv_count, recv_type, comm, &
                                in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer
    integer, intent(in) :: send_count, send_type, recv_count, recv_type, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call tell(c_alltoall(send_buffer, int(send_count, c_int64_t), send_type, recv_buffer, &
                         int(recv_count, c_int64_t), recv_type, comm, &
                         clauses_of(in, out, inout, flags, priority)), ierror)
  end subroutine comm_task_alltoall

  subroutine comm_task_ssend(buffer, count, datatype, dest, tag, comm, in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: buffer
    integer, intent(in) :: count, datatype, dest, tag, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call tell(c_ssend(buffer, int(count, c_int64_t), datatype, dest, tag, comm, &
        clauses_of(in, out, inout, flags, priority)), ierror)
  end subroutine comm_task_ssend

  subroutine comm_task_sendrecv(send_buffer, send_count, send_type, dest, send_tag, recv_buffer, recv_count, &
      recv_type, source, recv_tag, comm, in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer
    integer, intent(in) :: send_count, send_type, dest, send_tag, recv_count, recv_type, source, recv_tag, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call tell(c_sendrecv(send_buffer, int(send_count, c_int64_t), send_type, dest, send_tag, recv_buffer, &
        int(recv_count, c_int64_t), recv_type, source, recv_tag, comm, &
        clauses_of(in, out, inout, flags, priority)), ierror)
  end subroutine comm_task_sendrecv

  subroutine comm_task_gather(send_buffer, send_count, send_type, recv_buffer, recv_count, recv_type, root, comm, &
      in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer
    integer, intent(in) :: send_count, send_type, recv_count, recv_type, root, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call tell(c_gather(send_buffer, int(send_count, c_int64_t), send_type, recv_buffer, int(recv_count, c_int64_t), &
        recv_type, root, comm, clauses_of(in, out, inout, flags, priority)), ierror)
  end subroutine comm_task_gather

  subroutine comm_task_scatter(send_buffer, send_count, send_type, recv_buffer, recv_count, recv_type, root, comm, &
      in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer
    integer, intent(in) :: send_count, send_type, recv_count, recv_type, root, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call tell(c_scatter(send_buffer, int(send_count, c_int64_t), send_type, recv_buffer, int(recv_count, c_int64_t), &
        recv_type, root, comm, clauses_of(in, out, inout, flags, priority)), ierror)
  end subroutine comm_task_scatter

  subroutine comm_task_allgather(send_buffer, send_count, send_type, recv_buffer, recv_count, recv_type, comm, in, &
      out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer
    integer, intent(in) :: send_count, send_type, recv_count, recv_type, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call tell(c_allgather(send_buffer, int(send_count, c_int64_t), send_type, recv_buffer, &
        int(recv_count, c_int64_t), recv_type, comm, clauses_of(in, out, inout, flags, priority)), ierror)
  end subroutine comm_task_allgather

  subroutine comm_task_reduce(send_buffer, recv_buffer, count, datatype, reduction, root, comm, in, out, inout, &
      flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer
    integer, intent(in) :: count, datatype, reduction, root, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call tell(c_reduce(send_buffer, recv_buffer, int(count, c_int64_t), datatype, reduction, root, comm, &
        clauses_of(in, out, inout, flags, priority)), ierror)
  end subroutine comm_task_reduce

  ! The sentence of the last code that was not COMMTASK_OK on this thread.
  function commtask_last_error() result(sentence)
    character(len=:), allocatable :: sentence
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(c_last_error(), letters, [c_strlen(c_last_error())])
    allocate(character(len=size(letters)) :: sentence)
    do i = 1, size(letters)
      sentence(i:i) = letters(i)
    end do
  end function commtask_last_error

  function clauses_of(in, out, inout, flags, priority) result(given)
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    type(clauses) :: given
    given%struct_size = c_sizeof(given)
    if (present(flags)) given%flags = flags
    if (present(priority)) given%priority = priority
    call put(in, given%n_in, given%in)
    call put(out, given%n_out, given%out)
    call put(inout, given%n_inout, given%inout)
  end function clauses_of

  subroutine put(addresses, n, list)
    type(c_ptr), intent(in), optional, target, contiguous :: addresses(:)
    integer(c_size_t), intent(inout) :: n
    type(c_ptr), intent(inout) :: list
    if (.not. present(addresses)) return
    n = size(addresses, kind=c_size_t)
    if (n > 0) list = c_loc(addresses)
  end subroutine put

  subroutine tell(code, ierror)
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: ierror
    if (present(ierror)) ierror = code
  end subroutine tell

end module commtask_omp
