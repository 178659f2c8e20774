! SPDX-License-Identifier: Apache-2.0
!
! Fortran with the module mpi: a halo exchange of a two-dimensional array with subarray types that are freed at once, on
! a Cartesian communicator; a window; attributes with functions in Fortran; a file.
module callbacks
    use mpi
    implicit none
    integer :: n_deletes = 0
contains
    subroutine count_delete(comm, key, value, extra, ierr)
        integer :: comm, key, ierr
        integer(kind=MPI_ADDRESS_KIND) :: value, extra
        n_deletes = n_deletes + 1
        ierr = MPI_SUCCESS + int(0*(value + extra)) + 0*(comm + key)
    end subroutine
end module

program fortran_module
    use mpi
    use callbacks
    implicit none
    integer, parameter :: n = 16
    integer :: me, n_ranks, ierr, i, turn
    integer :: cart, left, right, requests(4), types(4), faults
    integer :: key, window, file, got(8), data(8), status(MPI_STATUS_SIZE), count
    integer(kind=MPI_ADDRESS_KIND) :: bytes, value
    integer(kind=MPI_OFFSET_KIND) :: place
    logical :: flag
    double precision :: field(0:n + 1, n)

    faults = 0
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, ierr)
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [n_ranks], [.true.], .false., cart, ierr)
    call MPI_Cart_shift(cart, 0, 1, left, right, ierr)
    do turn = 1, 10
        field = -1
        do i = 1, n
            field(1:n, i) = me*1000 + turn*100 + i
        end do
        do i = 1, 4
            call MPI_Type_create_subarray(2, [n + 2, n], [1, n], [merge(0, merge(n + 1, merge(1, n, i == 3), i == 2), i == 1), 0], &
                                          MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, types(i), ierr)
            call MPI_Type_commit(types(i), ierr)
        end do
        call MPI_Irecv(field, 1, types(1), left, 1, cart, requests(1), ierr)
        call MPI_Irecv(field, 1, types(2), right, 2, cart, requests(2), ierr)
        call MPI_Isend(field, 1, types(4), right, 1, cart, requests(3), ierr)
        call MPI_Isend(field, 1, types(3), left, 2, cart, requests(4), ierr)
        do i = 1, 4
            call MPI_Type_free(types(i), ierr)
        end do
        call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierr)
        do i = 1, n
            if (nint(field(0, i)) /= left*1000 + turn*100 + i) faults = faults + 1
            if (nint(field(n + 1, i)) /= right*1000 + turn*100 + i) faults = faults + 1
        end do
    end do
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_delete, key, 0_MPI_ADDRESS_KIND, ierr)
    call MPI_Comm_set_attr(cart, key, 42_MPI_ADDRESS_KIND, ierr)
    call MPI_Comm_get_attr(cart, key, value, flag, ierr)
    if (.not. flag .or. value /= 42) faults = faults + 1
    call MPI_Comm_free(cart, ierr)
    call MPI_Comm_free_keyval(key, ierr)
    write (*, '("[", i0, "] halos: faults ", i0, ", deletes ", i0)') me, faults, n_deletes

    data = me
    got = -1
    place = me*32
    call MPI_File_open(MPI_COMM_WORLD, 'probe.fortran', MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
                       MPI_INFO_NULL, file, ierr)
    call MPI_File_write_at_all(file, place, data, 8, MPI_INTEGER, status, ierr)
    call MPI_File_read_at_all(file, place, got, 8, MPI_INTEGER, status, ierr)
    call MPI_Get_count(status, MPI_INTEGER, count, ierr)
    call MPI_File_close(file, ierr)
    write (*, '("[", i0, "] file: count ", i0, ", right ", l1)') me, count, all(got == me)

    if (command_argument_count() > 0) then
        bytes = 8*4
        call MPI_Win_create(data, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, ierr)
        call MPI_Win_fence(0, window, ierr)
        call MPI_Put([me + 50], 1, MPI_INTEGER, mod(me + 1, n_ranks), 3_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window, ierr)
        call MPI_Win_fence(0, window, ierr)
        call MPI_Win_free(window, ierr)
        write (*, '("[", i0, "] window: right ", l1)') me, data(4) == mod(me + n_ranks - 1, n_ranks) + 50
    end if
    call MPI_Finalize(ierr)
    if (faults > 0) error stop 'FAULT'
end program
