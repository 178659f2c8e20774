! SPDX-License-Identifier: Apache-2.0
!
! Fortran with the module mpi_f08: handles are types, buffers may be asynchronous array sections, ierror may be left out,
! procedures are passed with explicit interfaces.
module operations
    use mpi_f08
    use iso_c_binding, only: c_ptr, c_f_pointer
    implicit none
    integer :: n_handled = 0
contains
    subroutine largest(in, inout, n, datatype)
        type(c_ptr), value :: in, inout
        integer :: n
        type(MPI_Datatype) :: datatype
        integer, pointer :: left(:), right(:)
        call c_f_pointer(in, left, [n])
        call c_f_pointer(inout, right, [n])
        if (datatype == MPI_INTEGER) right = max(left, right)
    end subroutine

    subroutine handled(comm, code)
        type(MPI_Comm) :: comm
        integer :: code
        if (comm /= MPI_COMM_NULL .and. code /= MPI_SUCCESS) n_handled = n_handled + 1
    end subroutine
end module

program fortran_f08
    use mpi_f08
    use operations
    implicit none
    integer, parameter :: n = 1000
    integer :: me, n_ranks, next, previous, i, index, count, best, total, code
    type(MPI_Request) :: requests(3), sum_request
    type(MPI_Status) :: statuses(3), status
    type(MPI_Op) :: op
    type(MPI_Comm) :: comm
    type(MPI_Message) :: message
    type(MPI_Errhandler) :: handler
    logical :: flag
    integer, asynchronous :: in(n), out(n)
    integer, allocatable :: grid(:, :)

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, me)
    call MPI_Comm_size(MPI_COMM_WORLD, n_ranks)
    next = mod(me + 1, n_ranks)
    previous = mod(me + n_ranks - 1, n_ranks)

    requests(1) = MPI_REQUEST_NULL
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    out = [(me*n + i, i=1, n)]
    call MPI_Irecv(in, n, MPI_INTEGER, previous, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(out, n, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2))
    requests(3) = MPI_REQUEST_NULL
    call MPI_Waitall(3, requests, statuses)
    call MPI_Get_count(statuses(1), MPI_INTEGER, count)
    write (*, '("[", i0, "] waitall: source ", i0, ", tag ", i0, ", count ", i0, ", right ", l1, ", reset ", l1)') me, &
        statuses(1)%MPI_SOURCE, statuses(1)%MPI_TAG, count, all(in == [(previous*n + i, i=1, n)]), &
        requests(1) == MPI_REQUEST_NULL .and. requests(2) == MPI_REQUEST_NULL

    allocate (grid(n, 4))
    grid = me
    call MPI_Irecv(in, n, MPI_INTEGER, previous, 2, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(grid(:, 2), n, MPI_INTEGER, next, 2, MPI_COMM_WORLD, requests(2))
    do i = 1, 2
        call MPI_Waitany(3, requests, index, status)
    end do
    call MPI_Testany(3, requests, index, flag, status)
    write (*, '("[", i0, "] waitany: right ", l1, ", ends ", l1)') me, all(in == previous), &
        flag .and. index == MPI_UNDEFINED

    call MPI_Isend(out, 5, MPI_INTEGER, next, 3, MPI_COMM_WORLD, requests(1))
    call MPI_Mprobe(previous, 3, MPI_COMM_WORLD, message, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call MPI_Imrecv(in, count, MPI_INTEGER, message, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    write (*, '("[", i0, "] mprobe: count ", i0, ", first ", i0)') me, count, in(1)

    call MPI_Op_create(largest, .true., op)
    call MPI_Allreduce(me, best, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
    total = me
    call MPI_Iallreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, sum_request)
    call MPI_Op_free(op)
    call MPI_Wait(sum_request, MPI_STATUS_IGNORE)
    write (*, '("[", i0, "] best ", i0, ", total ", i0)') me, best, total

    call MPI_Comm_split(MPI_COMM_WORLD, mod(me, 2), me, comm)
    call MPI_Comm_create_errhandler(handled, handler)
    call MPI_Comm_set_errhandler(comm, handler)
    call MPI_Send(me, 1, MPI_INTEGER, 1000, 1, comm, code)
    write (*, '("[", i0, "] handled ", i0, ", code ", l1)') me, n_handled, code /= MPI_SUCCESS
    call MPI_Errhandler_free(handler)
    call MPI_Comm_free(comm)

    call MPI_Recv_init(in, n, MPI_INTEGER, previous, 4, MPI_COMM_WORLD, requests(1))
    call MPI_Send_init(out, n, MPI_INTEGER, next, 4, MPI_COMM_WORLD, requests(2))
    do i = 1, 3
        out = me + i
        call MPI_Startall(2, requests)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
        if (any(in /= previous + i)) write (*, '("[", i0, "] FAULT: persistent")') me
    end do
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
    call MPI_Finalize()
end program
