! SPDX-License-Identifier: Apache-2.0
!
! The operations of the Fortran module that the ring of the documentation does not use, each with a dependent task that
! looks at its result: an argument in a wrong field would show here.
program fortran_operations
  use, intrinsic :: iso_c_binding
  use commtask_omp
  implicit none
  include 'mpif.h'
  integer, target :: sent(64), swapped(2), synchronous(2), sums(2), gathered(128), scattered(2), everybody(128)
  integer, target :: buffered(2), ready(2), replaced(2), gathered_v(128), scattered_v(2), everybody_v(128), swapped_v(128)
  integer, target :: scattered_sums(1), block_sum(1), prefix(2), prefix_before(2)
  integer, target :: near(2), near_v(3), near_swapped(2), near_swapped_v(5)
  integer, target :: twos(64), by_threes(64), by_ones(64), ones(64)
  integer :: buffer_of_bsend(1024), request, ring
  integer :: rank, n_ranks, left, right, provided, error, n_wrong, i

  call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, error)
  if (commtask_init(c_null_ptr) /= COMMTASK_OK) error stop 'commtask_init'
  left = modulo(rank - 1, n_ranks)
  right = modulo(rank + 1, n_ranks)
  sent = [(10 * rank + i, i = 1, 64)]
  swapped = -1
  synchronous = -1
  sums = -1
  gathered = -1
  scattered = -1
  everybody = -1
  n_wrong = 0
  buffered = -1
  ready = -1
  replaced = sent(1:2)
  gathered_v = -1
  scattered_v = -1
  everybody_v = -1
  swapped_v = -1
  scattered_sums = -1
  block_sum = -1
  prefix = -1
  prefix_before = -1
  near = -1
  near_v = -1
  near_swapped = -1
  near_swapped_v = -1
  twos = 2
  ones = 1
  ! Counts and displacements, of both sides, that cannot be taken for each other.
  by_threes = [(3 * (i - 1), i = 1, 64)]
  by_ones = [(i - 1, i = 1, 64)]
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [left], MPI_UNWEIGHTED, 1, [right], MPI_UNWEIGHTED, &
                                      MPI_INFO_NULL, .false., ring, error)
  call MPI_Buffer_attach(buffer_of_bsend, 4096, error)
  call MPI_Irecv(ready, 2, MPI_INTEGER, left, 9, MPI_COMM_WORLD, request, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)

  !$omp parallel
  !$omp single
  !$omp taskgroup
  call comm_task_sendrecv(c_loc(sent(1)), 2, MPI_INTEGER, right, 50 + rank, c_loc(swapped(1)), 1, MPI_2INTEGER, left, &
                          50 + left, MPI_COMM_WORLD, in=[c_loc(sent(1))], out=[c_loc(swapped(1))])
  !$omp task depend(in: swapped(1)) shared(swapped, n_wrong)
  call expect(swapped == [10 * left + 1, 10 * left + 2])
  !$omp end task
  call comm_task_recv(c_loc(synchronous(1)), 2, MPI_INTEGER, left, 6, MPI_COMM_WORLD, out=[c_loc(synchronous(1))])
  call comm_task_ssend(c_loc(sent(1)), 2, MPI_INTEGER, right, 6, MPI_COMM_WORLD, in=[c_loc(sent(1))])
  !$omp task depend(in: synchronous(1)) shared(synchronous, n_wrong)
  call expect(synchronous == [10 * left + 1, 10 * left + 2])
  !$omp end task
  call comm_task_reduce(c_loc(sent(1)), c_loc(sums(1)), 2, MPI_INTEGER, MPI_SUM, n_ranks - 1, MPI_COMM_WORLD, &
                        in=[c_loc(sent(1))], out=[c_loc(sums(1))])
  !$omp task depend(in: sums(1)) shared(sums, n_wrong)
  if (rank == n_ranks - 1) call expect(sums == [(5 * n_ranks * (n_ranks - 1) + i * n_ranks, i = 1, 2)])
  !$omp end task
  call comm_task_gather(c_loc(sent(1)), 2, MPI_INTEGER, c_loc(gathered(1)), 1, MPI_2INTEGER, 0, MPI_COMM_WORLD, &
                        in=[c_loc(sent(1))], out=[c_loc(gathered(1))])
  !$omp task depend(in: gathered(1)) shared(gathered, n_wrong)
  if (rank == 0) call expect(gathered(1:2 * n_ranks:2) == [(10 * i + 1, i = 0, n_ranks - 1)])
  !$omp end task
  call comm_task_scatter(c_loc(gathered(1)), 1, MPI_2INTEGER, c_loc(scattered(1)), 2, MPI_INTEGER, 0, MPI_COMM_WORLD, &
                         in=[c_loc(gathered(1))], out=[c_loc(scattered(1))])
  !$omp task depend(in: scattered(1)) shared(scattered, n_wrong)
  call expect(scattered == [10 * rank + 1, 10 * rank + 2])
  !$omp end task
  call comm_task_allgather(c_loc(sent(1)), 2, MPI_INTEGER, c_loc(everybody(1)), 1, MPI_2INTEGER, MPI_COMM_WORLD, &
                           in=[c_loc(sent(1))], out=[c_loc(everybody(1))])
  !$omp task depend(in: everybody(1)) shared(everybody, n_wrong)
  call expect(everybody(2:2 * n_ranks:2) == [(10 * i + 2, i = 0, n_ranks - 1)])
  !$omp end task
  call comm_task_recv(c_loc(buffered(1)), 2, MPI_INTEGER, left, 7, MPI_COMM_WORLD, out=[c_loc(buffered(1))])
  call comm_task_bsend(c_loc(sent(1)), 2, MPI_INTEGER, right, 7, MPI_COMM_WORLD, in=[c_loc(sent(1))])
  !$omp task depend(in: buffered(1)) shared(buffered, n_wrong)
  call expect(buffered == [10 * left + 1, 10 * left + 2])
  !$omp end task
  call comm_task_rsend(c_loc(sent(3)), 2, MPI_INTEGER, right, 9, MPI_COMM_WORLD, in=[c_loc(sent(3))])
  call comm_task_sendrecv_replace(c_loc(replaced(1)), 2, MPI_INTEGER, right, 80 + rank, left, 80 + left, MPI_COMM_WORLD, &
                                  inout=[c_loc(replaced(1))])
  !$omp task depend(in: replaced(1)) shared(replaced, n_wrong)
  call expect(replaced == [10 * left + 1, 10 * left + 2])
  !$omp end task
  call comm_task_gatherv(c_loc(sent(1)), 2, MPI_INTEGER, c_loc(gathered_v(1)), c_loc(twos(1)), c_loc(by_threes(1)), &
                         MPI_INTEGER, 0, MPI_COMM_WORLD, in=[c_loc(sent(1))], out=[c_loc(gathered_v(1))])
  !$omp task depend(in: gathered_v(1)) shared(gathered_v, n_wrong)
  if (rank == 0) call expect(gathered_v(2:3 * n_ranks:3) == [(10 * i + 2, i = 0, n_ranks - 1)])
  !$omp end task
  call comm_task_scatterv(c_loc(gathered_v(1)), c_loc(twos(1)), c_loc(by_threes(1)), MPI_INTEGER, c_loc(scattered_v(1)), &
                          2, MPI_INTEGER, 0, MPI_COMM_WORLD, in=[c_loc(gathered_v(1))], out=[c_loc(scattered_v(1))])
  !$omp task depend(in: scattered_v(1)) shared(scattered_v, n_wrong)
  call expect(scattered_v == [10 * rank + 1, 10 * rank + 2])
  !$omp end task
  call comm_task_allgatherv(c_loc(sent(1)), 2, MPI_INTEGER, c_loc(everybody_v(1)), c_loc(twos(1)), c_loc(by_threes(1)), &
                            MPI_INTEGER, MPI_COMM_WORLD, in=[c_loc(sent(1))], out=[c_loc(everybody_v(1))])
  !$omp task depend(in: everybody_v(1)) shared(everybody_v, n_wrong)
  call expect(everybody_v(1:3 * n_ranks:3) == [(10 * i + 1, i = 0, n_ranks - 1)])
  !$omp end task
  call comm_task_alltoallv(c_loc(sent(1)), c_loc(twos(1)), c_loc(by_threes(1)), MPI_INTEGER, c_loc(swapped_v(1)), &
                           c_loc(ones(1)), c_loc(by_ones(1)), MPI_2INTEGER, MPI_COMM_WORLD, in=[c_loc(sent(1))], &
                           out=[c_loc(swapped_v(1))])
  !$omp task depend(in: swapped_v(1)) shared(swapped_v, n_wrong)
  call expect(swapped_v(2:2 * n_ranks:2) == [(10 * i + 2 + 3 * rank, i = 0, n_ranks - 1)])
  !$omp end task
  call comm_task_reduce_scatter(c_loc(sent(1)), c_loc(scattered_sums(1)), c_loc(ones(1)), MPI_INTEGER, MPI_SUM, &
                                MPI_COMM_WORLD, in=[c_loc(sent(1))], out=[c_loc(scattered_sums(1))])
  !$omp task depend(in: scattered_sums(1)) shared(scattered_sums, n_wrong)
  call expect(scattered_sums == [5 * n_ranks * (n_ranks - 1) + (rank + 1) * n_ranks])
  !$omp end task
  call comm_task_reduce_scatter_block(c_loc(sent(1)), c_loc(block_sum(1)), 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, &
                                      in=[c_loc(sent(1))], out=[c_loc(block_sum(1))])
  !$omp task depend(in: block_sum(1)) shared(block_sum, n_wrong)
  call expect(block_sum == [10 * (n_ranks - 1) + rank + 1])
  !$omp end task
  call comm_task_scan(c_loc(sent(1)), c_loc(prefix(1)), 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, in=[c_loc(sent(1))], &
                      out=[c_loc(prefix(1))])
  !$omp task depend(in: prefix(1)) shared(prefix, n_wrong)
  call expect(prefix == [(5 * rank * (rank + 1) + i * (rank + 1), i = 1, 2)])
  !$omp end task
  call comm_task_exscan(c_loc(sent(1)), c_loc(prefix_before(1)), 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
                        in=[c_loc(sent(1))], out=[c_loc(prefix_before(1))])
  !$omp task depend(in: prefix_before(1)) shared(prefix_before, n_wrong)
  if (rank > 0) call expect(prefix_before == [(5 * rank * (rank - 1) + i * rank, i = 1, 2)])
  !$omp end task
  call comm_task_neighbor_allgather(c_loc(sent(1)), 2, MPI_INTEGER, c_loc(near(1)), 1, MPI_2INTEGER, ring, &
                                    in=[c_loc(sent(1))], out=[c_loc(near(1))])
  !$omp task depend(in: near(1)) shared(near, n_wrong)
  call expect(near == [10 * left + 1, 10 * left + 2])
  !$omp end task
  call comm_task_neighbor_allgatherv(c_loc(sent(1)), 2, MPI_INTEGER, c_loc(near_v(1)), c_loc(twos(1)), c_loc(ones(1)), &
                                     MPI_INTEGER, ring, in=[c_loc(sent(1))], out=[c_loc(near_v(1))])
  !$omp task depend(in: near_v(1)) shared(near_v, n_wrong)
  call expect(near_v == [-1, 10 * left + 1, 10 * left + 2])
  !$omp end task
  call comm_task_neighbor_alltoall(c_loc(sent(1)), 2, MPI_INTEGER, c_loc(near_swapped(1)), 1, MPI_2INTEGER, ring, &
                                   in=[c_loc(sent(1))], out=[c_loc(near_swapped(1))])
  !$omp task depend(in: near_swapped(1)) shared(near_swapped, n_wrong)
  call expect(near_swapped == [10 * left + 1, 10 * left + 2])
  !$omp end task
  call comm_task_neighbor_alltoallv(c_loc(sent(1)), c_loc(twos(1)), c_loc(ones(1)), MPI_INTEGER, &
                                    c_loc(near_swapped_v(1)), c_loc(twos(1)), c_loc(by_threes(2)), MPI_INTEGER, ring, &
                                    in=[c_loc(sent(1))], out=[c_loc(near_swapped_v(1))])
  !$omp task depend(in: near_swapped_v(1)) shared(near_swapped_v, n_wrong)
  call expect(near_swapped_v == [-1, -1, -1, 10 * left + 2, 10 * left + 3])
  !$omp end task
  if (commtask_omp_wait_all() /= COMMTASK_OK) error stop 'commtask_omp_wait_all'
  !$omp end taskgroup
  !$omp end single
  !$omp end parallel

  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call expect(ready == [10 * left + 3, 10 * left + 4])
  call MPI_Buffer_detach(buffer_of_bsend, i, error)
  call MPI_Comm_free(ring, error)
  if (commtask_omp_error_count() /= 0) n_wrong = n_wrong + 1
  if (commtask_finalize() /= COMMTASK_OK) error stop 'commtask_finalize'
  call MPI_Finalize(error)
  if (n_wrong > 0) error stop 'wrong results'

contains

  subroutine expect(is_right)
    logical, intent(in) :: is_right(:)
    if (all(is_right)) return
    !$omp atomic
    n_wrong = n_wrong + 1
  end subroutine expect

end program fortran_operations
