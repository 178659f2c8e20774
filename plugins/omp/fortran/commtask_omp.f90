! SPDX-License-Identifier: Apache-2.0
!
! Communication as OpenMP tasks, for Fortran. Installed as a source, since module files belong to one compiler: compile it
! with your program. MPI handles are the integers of mpif.h and `use mpi` (of mpi_f08: the component %MPI_VAL). Buffers are
! C addresses, c_loc(x) of a variable with the target attribute, which also is what dependences match by; arrays of counts
! and displacements, of default integers, are addresses too. What lies there belongs to the operation until its task has
! completed, so it must not be a temporary copy.
module commtask_omp
  use, intrinsic :: iso_c_binding
  implicit none
  private

  public :: commtask_init, commtask_finalize, commtask_last_error
  public :: commtask_omp_check, commtask_omp_wait_all, commtask_omp_wait_some, commtask_omp_progress
  public :: commtask_omp_error_count
  public :: comm_task_in_place
  public :: comm_task_send, comm_task_ssend, comm_task_bsend, comm_task_rsend, comm_task_recv
  public :: comm_task_sendrecv, comm_task_sendrecv_replace, comm_task_barrier, comm_task_bcast
  public :: comm_task_gather, comm_task_gatherv, comm_task_scatter, comm_task_scatterv, comm_task_allgather
  public :: comm_task_allgatherv, comm_task_alltoall, comm_task_alltoallv, comm_task_reduce
  public :: comm_task_allreduce, comm_task_reduce_scatter, comm_task_reduce_scatter_block, comm_task_scan
  public :: comm_task_exscan, comm_task_neighbor_allgather, comm_task_neighbor_allgatherv
  public :: comm_task_neighbor_alltoall, comm_task_neighbor_alltoallv

  integer(c_int), parameter, public :: COMMTASK_OK = 0
  integer(c_int), parameter, public :: COMMTASK_NONE = 0, COMMTASK_ORDERED = 1, COMMTASK_UNORDERED = 2

  ! commtask_kind of commtask/operation.h, value by value.
  integer(c_int), parameter :: kind_send = 1, kind_ssend = 2, kind_bsend = 3, kind_rsend = 4, kind_recv = 5
  integer(c_int), parameter :: kind_sendrecv = 6, kind_sendrecv_replace = 7, kind_barrier = 10, kind_bcast = 11
  integer(c_int), parameter :: kind_gather = 12, kind_gatherv = 13, kind_scatter = 14, kind_scatterv = 15
  integer(c_int), parameter :: kind_allgather = 16, kind_allgatherv = 17, kind_alltoall = 18
  integer(c_int), parameter :: kind_alltoallv = 19, kind_reduce = 21, kind_allreduce = 22
  integer(c_int), parameter :: kind_reduce_scatter = 23, kind_reduce_scatter_block = 24, kind_scan = 25
  integer(c_int), parameter :: kind_exscan = 26, kind_neighbor_allgather = 27, kind_neighbor_allgatherv = 28
  integer(c_int), parameter :: kind_neighbor_alltoall = 29, kind_neighbor_alltoallv = 30

  ! commtask_omp_fortran_side and commtask_omp_fortran_operation of commtask/omp_fortran.h, field by field.
  type, bind(c) :: side_of_operation
    type(c_ptr) :: buffer = c_null_ptr
    integer(c_int64_t) :: count = 0
    type(c_ptr) :: counts = c_null_ptr
    type(c_ptr) :: displs = c_null_ptr
    integer(c_int) :: datatype = 0
    integer(c_int) :: has_type = 0
  end type side_of_operation
  type, bind(c) :: operation
    integer(c_size_t) :: struct_size = 0
    integer(c_int) :: kind = 0
    integer(c_int) :: comm = 0
    type(side_of_operation) :: send = side_of_operation()
    type(side_of_operation) :: recv = side_of_operation()
    integer(c_int) :: peer = 0
    integer(c_int) :: source = 0
    integer(c_int) :: send_tag = 0
    integer(c_int) :: recv_tag = 0
    integer(c_int) :: reduction = 0
    integer(c_int) :: has_reduction = 0
  end type operation

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
    integer(c_int) function commtask_omp_wait_some(most_open) bind(c)
      import :: c_int, c_size_t
      integer(c_size_t), value :: most_open
    end function commtask_omp_wait_some
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

    integer(c_int) function c_spawn(given, options) bind(c, name="commtask_omp_fortran_spawn")
      import :: c_int, operation, clauses
      type(operation), intent(in) :: given
      type(clauses), intent(in) :: options
    end function c_spawn
  end interface

contains

  ! Every comm_task_ subroutine takes, after the arguments of its MPI namesake: dependences in, out and inout (arrays of
  ! addresses), flags, priority, and ierror, which is COMMTASK_OK or why no task was created; errors are reported in any
  ! case.

  subroutine comm_task_send(buffer, count, datatype, dest, tag, comm, in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: buffer
    integer, intent(in) :: count, datatype, dest, tag, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_send, comm=comm, send=side(buffer, count, datatype), peer=dest, send_tag=tag), &
        in, out, inout, flags, priority, ierror)
  end subroutine comm_task_send

  subroutine comm_task_ssend(buffer, count, datatype, dest, tag, comm, in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: buffer
    integer, intent(in) :: count, datatype, dest, tag, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_ssend, comm=comm, send=side(buffer, count, datatype), peer=dest, send_tag=tag), &
        in, out, inout, flags, priority, ierror)
  end subroutine comm_task_ssend

  subroutine comm_task_bsend(buffer, count, datatype, dest, tag, comm, in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: buffer
    integer, intent(in) :: count, datatype, dest, tag, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_bsend, comm=comm, send=side(buffer, count, datatype), peer=dest, send_tag=tag), &
        in, out, inout, flags, priority, ierror)
  end subroutine comm_task_bsend

  subroutine comm_task_rsend(buffer, count, datatype, dest, tag, comm, in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: buffer
    integer, intent(in) :: count, datatype, dest, tag, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_rsend, comm=comm, send=side(buffer, count, datatype), peer=dest, send_tag=tag), &
        in, out, inout, flags, priority, ierror)
  end subroutine comm_task_rsend

  subroutine comm_task_recv(buffer, count, datatype, source, tag, comm, in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: buffer
    integer, intent(in) :: count, datatype, source, tag, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_recv, comm=comm, recv=side(buffer, count, datatype), source=source, &
        recv_tag=tag), in, out, inout, flags, priority, ierror)
  end subroutine comm_task_recv

  subroutine comm_task_sendrecv(send_buffer, send_count, send_type, dest, send_tag, recv_buffer, recv_count, &
      recv_type, source, recv_tag, comm, in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer
    integer, intent(in) :: send_count, send_type, dest, send_tag, recv_count, recv_type, source, recv_tag, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_sendrecv, comm=comm, send=side(send_buffer, send_count, send_type), &
        recv=side(recv_buffer, recv_count, recv_type), peer=dest, source=source, send_tag=send_tag, &
        recv_tag=recv_tag), in, out, inout, flags, priority, ierror)
  end subroutine comm_task_sendrecv

  subroutine comm_task_sendrecv_replace(buffer, count, datatype, dest, send_tag, source, recv_tag, comm, in, out, &
      inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: buffer
    integer, intent(in) :: count, datatype, dest, send_tag, source, recv_tag, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_sendrecv_replace, comm=comm, recv=side(buffer, count, datatype), peer=dest, &
        source=source, send_tag=send_tag, recv_tag=recv_tag), in, out, inout, flags, priority, ierror)
  end subroutine comm_task_sendrecv_replace

  subroutine comm_task_barrier(comm, in, out, inout, flags, priority, ierror)
    integer, intent(in) :: comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_barrier, comm=comm), in, out, inout, flags, priority, ierror)
  end subroutine comm_task_barrier

  subroutine comm_task_bcast(buffer, count, datatype, root, comm, in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: buffer
    integer, intent(in) :: count, datatype, root, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_bcast, comm=comm, recv=side(buffer, count, datatype), peer=root), in, out, inout, &
        flags, priority, ierror)
  end subroutine comm_task_bcast

  subroutine comm_task_gather(send_buffer, send_count, send_type, recv_buffer, recv_count, recv_type, root, comm, &
      in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer
    integer, intent(in) :: send_count, send_type, recv_count, recv_type, root, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_gather, comm=comm, send=side(send_buffer, send_count, send_type), &
        recv=side(recv_buffer, recv_count, recv_type), peer=root), in, out, inout, flags, priority, ierror)
  end subroutine comm_task_gather

  subroutine comm_task_gatherv(send_buffer, send_count, send_type, recv_buffer, recv_counts, recv_displs, recv_type, &
      root, comm, in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer, recv_counts, recv_displs
    integer, intent(in) :: send_count, send_type, recv_type, root, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_gatherv, comm=comm, send=side(send_buffer, send_count, send_type), &
        recv=sides(recv_buffer, recv_counts, recv_displs, recv_type), peer=root), in, out, inout, flags, priority, &
        ierror)
  end subroutine comm_task_gatherv

  subroutine comm_task_scatter(send_buffer, send_count, send_type, recv_buffer, recv_count, recv_type, root, comm, &
      in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer
    integer, intent(in) :: send_count, send_type, recv_count, recv_type, root, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_scatter, comm=comm, send=side(send_buffer, send_count, send_type), &
        recv=side(recv_buffer, recv_count, recv_type), peer=root), in, out, inout, flags, priority, ierror)
  end subroutine comm_task_scatter

  subroutine comm_task_scatterv(send_buffer, send_counts, send_displs, send_type, recv_buffer, recv_count, &
      recv_type, root, comm, in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, send_counts, send_displs, recv_buffer
    integer, intent(in) :: send_type, recv_count, recv_type, root, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_scatterv, comm=comm, send=sides(send_buffer, send_counts, send_displs, &
        send_type), recv=side(recv_buffer, recv_count, recv_type), peer=root), in, out, inout, flags, priority, &
        ierror)
  end subroutine comm_task_scatterv

  subroutine comm_task_allgather(send_buffer, send_count, send_type, recv_buffer, recv_count, recv_type, comm, in, &
      out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer
    integer, intent(in) :: send_count, send_type, recv_count, recv_type, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_allgather, comm=comm, send=side(send_buffer, send_count, send_type), &
        recv=side(recv_buffer, recv_count, recv_type)), in, out, inout, flags, priority, ierror)
  end subroutine comm_task_allgather

  subroutine comm_task_allgatherv(send_buffer, send_count, send_type, recv_buffer, recv_counts, recv_displs, &
      recv_type, comm, in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer, recv_counts, recv_displs
    integer, intent(in) :: send_count, send_type, recv_type, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_allgatherv, comm=comm, send=side(send_buffer, send_count, send_type), &
        recv=sides(recv_buffer, recv_counts, recv_displs, recv_type)), in, out, inout, flags, priority, ierror)
  end subroutine comm_task_allgatherv

  subroutine comm_task_alltoall(send_buffer, send_count, send_type, recv_buffer, recv_count, recv_type, comm, in, &
      out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer
    integer, intent(in) :: send_count, send_type, recv_count, recv_type, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_alltoall, comm=comm, send=side(send_buffer, send_count, send_type), &
        recv=side(recv_buffer, recv_count, recv_type)), in, out, inout, flags, priority, ierror)
  end subroutine comm_task_alltoall

  subroutine comm_task_alltoallv(send_buffer, send_counts, send_displs, send_type, recv_buffer, recv_counts, &
      recv_displs, recv_type, comm, in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, send_counts, send_displs, recv_buffer, recv_counts, recv_displs
    integer, intent(in) :: send_type, recv_type, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_alltoallv, comm=comm, send=sides(send_buffer, send_counts, send_displs, &
        send_type), recv=sides(recv_buffer, recv_counts, recv_displs, recv_type)), in, out, inout, flags, priority, &
        ierror)
  end subroutine comm_task_alltoallv

  subroutine comm_task_reduce(send_buffer, recv_buffer, count, datatype, reduction, root, comm, in, out, inout, &
      flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer
    integer, intent(in) :: count, datatype, reduction, root, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_reduce, comm=comm, send=side(send_buffer), recv=side(recv_buffer, count, &
        datatype), reduction=reduction, has_reduction=1, peer=root), in, out, inout, flags, priority, ierror)
  end subroutine comm_task_reduce

  subroutine comm_task_allreduce(send_buffer, recv_buffer, count, datatype, reduction, comm, in, out, inout, flags, &
      priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer
    integer, intent(in) :: count, datatype, reduction, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_allreduce, comm=comm, send=side(send_buffer), recv=side(recv_buffer, count, &
        datatype), reduction=reduction, has_reduction=1), in, out, inout, flags, priority, ierror)
  end subroutine comm_task_allreduce

  subroutine comm_task_reduce_scatter(send_buffer, recv_buffer, recv_counts, datatype, reduction, comm, in, out, &
      inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer, recv_counts
    integer, intent(in) :: datatype, reduction, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_reduce_scatter, comm=comm, send=side(send_buffer), recv=sides(recv_buffer, &
        recv_counts, c_null_ptr, datatype), reduction=reduction, has_reduction=1), in, out, inout, flags, priority, &
        ierror)
  end subroutine comm_task_reduce_scatter

  subroutine comm_task_reduce_scatter_block(send_buffer, recv_buffer, recv_count, datatype, reduction, comm, in, &
      out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer
    integer, intent(in) :: recv_count, datatype, reduction, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_reduce_scatter_block, comm=comm, send=side(send_buffer), recv=side(recv_buffer, &
        recv_count, datatype), reduction=reduction, has_reduction=1), in, out, inout, flags, priority, ierror)
  end subroutine comm_task_reduce_scatter_block

  subroutine comm_task_scan(send_buffer, recv_buffer, count, datatype, reduction, comm, in, out, inout, flags, &
      priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer
    integer, intent(in) :: count, datatype, reduction, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_scan, comm=comm, send=side(send_buffer), recv=side(recv_buffer, count, datatype), &
        reduction=reduction, has_reduction=1), in, out, inout, flags, priority, ierror)
  end subroutine comm_task_scan

  subroutine comm_task_exscan(send_buffer, recv_buffer, count, datatype, reduction, comm, in, out, inout, flags, &
      priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer
    integer, intent(in) :: count, datatype, reduction, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_exscan, comm=comm, send=side(send_buffer), recv=side(recv_buffer, count, &
        datatype), reduction=reduction, has_reduction=1), in, out, inout, flags, priority, ierror)
  end subroutine comm_task_exscan

  subroutine comm_task_neighbor_allgather(send_buffer, send_count, send_type, recv_buffer, recv_count, recv_type, &
      comm, in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer
    integer, intent(in) :: send_count, send_type, recv_count, recv_type, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_neighbor_allgather, comm=comm, send=side(send_buffer, send_count, send_type), &
        recv=side(recv_buffer, recv_count, recv_type)), in, out, inout, flags, priority, ierror)
  end subroutine comm_task_neighbor_allgather

  subroutine comm_task_neighbor_allgatherv(send_buffer, send_count, send_type, recv_buffer, recv_counts, &
      recv_displs, recv_type, comm, in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer, recv_counts, recv_displs
    integer, intent(in) :: send_count, send_type, recv_type, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_neighbor_allgatherv, comm=comm, send=side(send_buffer, send_count, send_type), &
        recv=sides(recv_buffer, recv_counts, recv_displs, recv_type)), in, out, inout, flags, priority, ierror)
  end subroutine comm_task_neighbor_allgatherv

  subroutine comm_task_neighbor_alltoall(send_buffer, send_count, send_type, recv_buffer, recv_count, recv_type, &
      comm, in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, recv_buffer
    integer, intent(in) :: send_count, send_type, recv_count, recv_type, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_neighbor_alltoall, comm=comm, send=side(send_buffer, send_count, send_type), &
        recv=side(recv_buffer, recv_count, recv_type)), in, out, inout, flags, priority, ierror)
  end subroutine comm_task_neighbor_alltoall

  subroutine comm_task_neighbor_alltoallv(send_buffer, send_counts, send_displs, send_type, recv_buffer, &
      recv_counts, recv_displs, recv_type, comm, in, out, inout, flags, priority, ierror)
    type(c_ptr), intent(in) :: send_buffer, send_counts, send_displs, recv_buffer, recv_counts, recv_displs
    integer, intent(in) :: send_type, recv_type, comm
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    call spawn(operation(kind=kind_neighbor_alltoallv, comm=comm, send=sides(send_buffer, send_counts, send_displs, &
        send_type), recv=sides(recv_buffer, recv_counts, recv_displs, recv_type)), in, out, inout, flags, priority, &
        ierror)
  end subroutine comm_task_neighbor_alltoallv

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

  ! A side with one count, or with a buffer alone.
  function side(buffer, count, datatype)
    type(c_ptr), intent(in) :: buffer
    integer, intent(in), optional :: count, datatype
    type(side_of_operation) :: side
    side%buffer = buffer
    if (present(count)) side%count = count
    if (present(datatype)) side%datatype = datatype
    if (present(datatype)) side%has_type = 1
  end function side

  ! A side with a count for each rank.
  function sides(buffer, counts, displs, datatype)
    type(c_ptr), intent(in) :: buffer, counts, displs
    integer, intent(in) :: datatype
    type(side_of_operation) :: sides
    sides = side(buffer, datatype=datatype)
    sides%counts = counts
    sides%displs = displs
  end function sides

  subroutine spawn(given, in, out, inout, flags, priority, ierror)
    type(operation), intent(in) :: given
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    integer, intent(out), optional :: ierror
    type(operation) :: op
    integer(c_int) :: code
    op = given
    op%struct_size = c_sizeof(op)
    code = c_spawn(op, clauses_of(in, out, inout, flags, priority))
    if (present(ierror)) ierror = code
  end subroutine spawn

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

end module commtask_omp
