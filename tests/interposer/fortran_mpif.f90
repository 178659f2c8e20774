! SPDX-License-Identifier: Apache-2.0
!
! Fortran with mpif.h, as most production codes still have it: implicit interfaces, statuses as integer arrays, requests
! as integers, functions passed back to the MPI. Also what only Fortran has: MPI_BOTTOM, MPI_IN_PLACE and
! MPI_STATUS_IGNORE as common blocks, which every wrapper library must know.
module probe
    implicit none
    integer :: me, n_ranks, next, previous, n_handled
contains
    subroutine say(what, a, b, c)
        character(len=*), intent(in) :: what
        integer, intent(in) :: a, b, c
        character(len=120) :: line
        write (line, '("[", i0, "] ", a, 3(" ", i0))') me, what, a, b, c
        write (*, '(a)') trim(line)
        flush (6)
    end subroutine

    subroutine expect(condition, what)
        logical, intent(in) :: condition
        character(len=*), intent(in) :: what
        if (.not. condition) then
            write (*, '("[", i0, "] FAULT: ", a)') me, what
            flush (6)
        end if
    end subroutine

    subroutine most_of(in, inout, n, datatype)
        integer :: n, datatype, i
        integer :: in(n), inout(n)
        do i = 1, n
            inout(i) = max(in(i), inout(i)) + 0*datatype
        end do
    end subroutine

    subroutine handled(comm, code)
        integer :: comm, code
        n_handled = n_handled + 1 + 0*(comm + code)
    end subroutine
end module

subroutine messages
    use probe
    implicit none
    include 'mpif.h'
    integer :: requests(4), statuses(MPI_STATUS_SIZE, 4), status(MPI_STATUS_SIZE), ierr, index, count, i
    logical :: flag
    integer :: out(8), in(8)

    requests(1) = MPI_REQUEST_NULL
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
    call expect(ierr == MPI_SUCCESS, 'wait on null')
    out = me*10 + [(i, i=1, 8)]
    call MPI_Irecv(in, 8, MPI_INTEGER, previous, 1, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(out, 8, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Waitall(2, requests, statuses, ierr)
    call expect(all(requests(1:2) == MPI_REQUEST_NULL), 'requests are reset')
    call MPI_Get_count(statuses(1, 1), MPI_INTEGER, count, ierr)
    call say('waitall', statuses(MPI_SOURCE, 1), statuses(MPI_TAG, 1), count)
    call expect(all(in == previous*10 + [(i, i=1, 8)]), 'the message')

    call MPI_Irecv(in, 8, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(out, 4, MPI_INTEGER, next, 2, MPI_COMM_WORLD, requests(2), ierr)
    do i = 1, 2
        call MPI_Waitany(2, requests, index, status, ierr)
        call expect(requests(index) == MPI_REQUEST_NULL, 'waitany resets')
        if (index == 1) then
            call MPI_Get_count(status, MPI_INTEGER, count, ierr)
            call say('waitany', status(MPI_SOURCE), status(MPI_TAG), count)
        end if
    end do
    call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE, ierr)
    call expect(index < 0, 'waitany on null') ! MPICH 4.0.2 gives MPI_UNDEFINED + 1

    call MPI_Irecv(in, 8, MPI_INTEGER, previous, 3, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(out, 8, MPI_INTEGER, next, 3, MPI_COMM_WORLD, requests(2), ierr)
    flag = .false.
    do while (.not. flag)
        call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE, ierr)
    end do
    call expect(all(requests(1:2) == MPI_REQUEST_NULL), 'testall resets')

    call MPI_Isend(out, 3, MPI_INTEGER, next, 4, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Probe(previous, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierr)
    call MPI_Get_count(status, MPI_INTEGER, count, ierr)
    call say('probe', status(MPI_SOURCE), status(MPI_TAG), count)
    call MPI_Recv(in, count, MPI_INTEGER, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)

    call MPI_Recv_init(in, 8, MPI_INTEGER, previous, 5, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Send_init(out, 8, MPI_INTEGER, next, 5, MPI_COMM_WORLD, requests(2), ierr)
    do i = 1, 3
        out = me + i
        call MPI_Startall(2, requests, ierr)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
        call expect(all(in == previous + i), 'persistent')
    end do
    call expect(requests(1) /= MPI_REQUEST_NULL, 'persistent requests stay')
    call MPI_Request_free(requests(1), ierr)
    call MPI_Request_free(requests(2), ierr)
    call MPI_Sendrecv_replace(out, 8, MPI_INTEGER, next, 6, previous, 6, MPI_COMM_WORLD, status, ierr)
    call expect(all(out == previous + 3), 'replaced')
end subroutine

subroutine collectives
    use probe
    implicit none
    include 'mpif.h'
    integer :: ierr, request, value, total, op, pair, address_type
    integer(kind=MPI_ADDRESS_KIND) :: place(1)
    double precision :: x(2), y(2)
    integer :: numbers(2)

    total = me + 1
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call say('in place', total, 0, 0)
    call MPI_Op_create(most_of, .true., op, ierr)
    call MPI_Allreduce(me, value, 1, MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
    call say('own operation', value, 0, 0)
    call MPI_Iallreduce(me, value, 1, MPI_INTEGER, op, MPI_COMM_WORLD, request, ierr)
    call MPI_Op_free(op, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call say('own operation, later', value, 0, 0)
    call MPI_Ibcast(total, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    x = me
    call MPI_Reduce(x, y, 2, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    call say('reduced', merge(nint(y(2)), 0, me == 0), 0, 0)

    numbers = me
    call MPI_Get_address(numbers, place(1), ierr)
    call MPI_Type_create_hindexed(1, [2], place, MPI_INTEGER, address_type, ierr)
    call MPI_Type_commit(address_type, ierr)
    call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierr)
    call MPI_Type_commit(pair, ierr)
    call MPI_Bcast(MPI_BOTTOM, 1, address_type, n_ranks - 1, MPI_COMM_WORLD, ierr)
    call MPI_Type_free(address_type, ierr)
    call MPI_Type_free(pair, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call see(numbers)
contains
    subroutine see(them)
        integer, intent(in) :: them(2)
        call say('from the bottom', them(1), them(2), 0)
    end subroutine
end subroutine

subroutine errors
    use probe
    implicit none
    include 'mpif.h'
    integer :: ierr, handler, class, code, comm

    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
    call MPI_Send(me, 1, MPI_INTEGER, n_ranks, 1, comm, code)
    call MPI_Error_class(code, class, ierr)
    call expect(class == MPI_ERR_RANK, 'the class of a wrong rank')
    call MPI_Comm_create_errhandler(handled, handler, ierr)
    call MPI_Comm_set_errhandler(comm, handler, ierr)
    n_handled = 0
    call MPI_Send(me, -1, MPI_INTEGER, next, 1, comm, ierr)
    call say('handled', n_handled, 0, 0)
    call MPI_Errhandler_free(handler, ierr)
    call MPI_Comm_free(comm, ierr)
end subroutine

program fortran_mpif
    use probe
    implicit none
    include 'mpif.h'
    integer :: ierr, level
    logical :: flag
    call MPI_Init_thread(MPI_THREAD_FUNNELED, level, ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, ierr)
    next = mod(me + 1, n_ranks)
    previous = mod(me + n_ranks - 1, n_ranks)
    call expect(level >= MPI_THREAD_FUNNELED, 'the thread level')
    call messages
    call collectives
    call errors
    call MPI_Initialized(flag, ierr)
    call expect(flag, 'initialized')
    call MPI_Finalize(ierr)
    call say('finalized', 0, 0, 0)
end program
