/* SPDX-License-Identifier: Apache-2.0 lint-allow(file-name): the name that programs for TAMPI include
 *
 * For Fortran programs written for TAMPI: included by the preprocessor. As in TAMPI's
 * documentation, the subroutines have no explicit interface, so that buffers of every type and rank
 * can be passed; handles are integers.
 *
 * In Fortran, blocking functions of MPI block their thread: a program that requests
 * MPI_TASK_MULTIPLE gets MPI_THREAD_MULTIPLE. Calls of TAMPI's functions that are not supported
 * here do not compile. Fortran cannot declare a subroutine as unavailable, so each such name
 * becomes a call with an argument that is a component of a nonexistent variable; the compiler
 * prints the variable's name, which says what to use instead. Fortran ignores the case of letters,
 * but the preprocessor does not: so there are the three spellings in TAMPI's documentation, and
 * capitals. */
#ifndef COMMTASK_TAMPIF_H
#define COMMTASK_TAMPIF_H
#define MPI_TASK_MULTIPLE (MPI_THREAD_MULTIPLE + 1)

/* The rest is Fortran. */
/* clang-format off */
#define TAMPI_Igather no(not_here_use_mpi_igather_then_tampi_iwait%x);call no
#define TAMPI_IGATHER TAMPI_Igather
#define TAMPI_igather TAMPI_Igather
#define tampi_igather TAMPI_Igather
#define TAMPI_Igatherv no(not_here_use_mpi_igatherv_then_tampi_iwait%x);call no
#define TAMPI_IGATHERV TAMPI_Igatherv
#define TAMPI_igatherv TAMPI_Igatherv
#define tampi_igatherv TAMPI_Igatherv
#define TAMPI_Iscatter no(not_here_use_mpi_iscatter_then_tampi_iwait%x);call no
#define TAMPI_ISCATTER TAMPI_Iscatter
#define TAMPI_iscatter TAMPI_Iscatter
#define tampi_iscatter TAMPI_Iscatter
#define TAMPI_Iscatterv no(not_here_use_mpi_iscatterv_then_tampi_iwait%x);call no
#define TAMPI_ISCATTERV TAMPI_Iscatterv
#define TAMPI_iscatterv TAMPI_Iscatterv
#define tampi_iscatterv TAMPI_Iscatterv
#define TAMPI_Iallgather no(not_here_use_mpi_iallgather_then_tampi_iwait%x);call no
#define TAMPI_IALLGATHER TAMPI_Iallgather
#define TAMPI_iallgather TAMPI_Iallgather
#define tampi_iallgather TAMPI_Iallgather
#define TAMPI_Iallgatherv no(not_here_use_mpi_iallgatherv_then_tampi_iwait%x);call no
#define TAMPI_IALLGATHERV TAMPI_Iallgatherv
#define TAMPI_iallgatherv TAMPI_Iallgatherv
#define tampi_iallgatherv TAMPI_Iallgatherv
#define TAMPI_Ialltoall no(not_here_use_mpi_ialltoall_then_tampi_iwait%x);call no
#define TAMPI_IALLTOALL TAMPI_Ialltoall
#define TAMPI_ialltoall TAMPI_Ialltoall
#define tampi_ialltoall TAMPI_Ialltoall
#define TAMPI_Ialltoallv no(not_here_use_mpi_ialltoallv_then_tampi_iwait%x);call no
#define TAMPI_IALLTOALLV TAMPI_Ialltoallv
#define TAMPI_ialltoallv TAMPI_Ialltoallv
#define tampi_ialltoallv TAMPI_Ialltoallv
#define TAMPI_Ialltoallw no(not_here_use_mpi_ialltoallw_then_tampi_iwait%x);call no
#define TAMPI_IALLTOALLW TAMPI_Ialltoallw
#define TAMPI_ialltoallw TAMPI_Ialltoallw
#define tampi_ialltoallw TAMPI_Ialltoallw
#define TAMPI_Ireduce no(not_here_use_mpi_ireduce_then_tampi_iwait%x);call no
#define TAMPI_IREDUCE TAMPI_Ireduce
#define TAMPI_ireduce TAMPI_Ireduce
#define tampi_ireduce TAMPI_Ireduce
#define TAMPI_Ireduce_scatter no(not_here_use_mpi_ireduce_scatter_then_tampi_iwait%x);call no
#define TAMPI_IREDUCE_SCATTER TAMPI_Ireduce_scatter
#define TAMPI_ireduce_scatter TAMPI_Ireduce_scatter
#define tampi_ireduce_scatter TAMPI_Ireduce_scatter
#define TAMPI_Ireduce_scatter_block no(not_here_use_mpi_ireduce_scatter_block_then_tampi_iwait%x);call no
#define TAMPI_IREDUCE_SCATTER_BLOCK TAMPI_Ireduce_scatter_block
#define TAMPI_ireduce_scatter_block TAMPI_Ireduce_scatter_block
#define tampi_ireduce_scatter_block TAMPI_Ireduce_scatter_block
#define TAMPI_Iscan no(not_here_use_mpi_iscan_then_tampi_iwait%x);call no
#define TAMPI_ISCAN TAMPI_Iscan
#define TAMPI_iscan TAMPI_Iscan
#define tampi_iscan TAMPI_Iscan
#define TAMPI_Iexscan no(not_here_use_mpi_iexscan_then_tampi_iwait%x);call no
#define TAMPI_IEXSCAN TAMPI_Iexscan
#define TAMPI_iexscan TAMPI_Iexscan
#define tampi_iexscan TAMPI_Iexscan
#define TAMPI_Ineighbor_allgather no(not_here_use_mpi_ineighbor_allgather_then_tampi_iwait%x);call no
#define TAMPI_INEIGHBOR_ALLGATHER TAMPI_Ineighbor_allgather
#define TAMPI_ineighbor_allgather TAMPI_Ineighbor_allgather
#define tampi_ineighbor_allgather TAMPI_Ineighbor_allgather
#define TAMPI_Ineighbor_allgatherv no(not_here_use_mpi_ineighbor_allgatherv_then_tampi_iwait%x);call no
#define TAMPI_INEIGHBOR_ALLGATHERV TAMPI_Ineighbor_allgatherv
#define TAMPI_ineighbor_allgatherv TAMPI_Ineighbor_allgatherv
#define tampi_ineighbor_allgatherv TAMPI_Ineighbor_allgatherv
#define TAMPI_Ineighbor_alltoall no(not_here_use_mpi_ineighbor_alltoall_then_tampi_iwait%x);call no
#define TAMPI_INEIGHBOR_ALLTOALL TAMPI_Ineighbor_alltoall
#define TAMPI_ineighbor_alltoall TAMPI_Ineighbor_alltoall
#define tampi_ineighbor_alltoall TAMPI_Ineighbor_alltoall
#define TAMPI_Ineighbor_alltoallv no(not_here_use_mpi_ineighbor_alltoallv_then_tampi_iwait%x);call no
#define TAMPI_INEIGHBOR_ALLTOALLV TAMPI_Ineighbor_alltoallv
#define TAMPI_ineighbor_alltoallv TAMPI_Ineighbor_alltoallv
#define tampi_ineighbor_alltoallv TAMPI_Ineighbor_alltoallv
#define TAMPI_Ineighbor_alltoallw no(not_here_use_mpi_ineighbor_alltoallw_then_tampi_iwait%x);call no
#define TAMPI_INEIGHBOR_ALLTOALLW TAMPI_Ineighbor_alltoallw
#define TAMPI_ineighbor_alltoallw TAMPI_Ineighbor_alltoallw
#define tampi_ineighbor_alltoallw TAMPI_Ineighbor_alltoallw
#define TAMPI_Property_set no(not_here_leave_the_property_out%x);call no
#define TAMPI_PROPERTY_SET TAMPI_Property_set
#define TAMPI_property_set TAMPI_Property_set
#define tampi_property_set TAMPI_Property_set
#define TAMPI_Property_get no(not_here_see_what_mpi_init_thread_provided%x);call no
#define TAMPI_PROPERTY_GET TAMPI_Property_get
#define TAMPI_property_get TAMPI_Property_get
#define tampi_property_get TAMPI_Property_get
#define TAMPI_Blocking_enabled no(not_here_see_what_mpi_init_thread_provided%x);call no
#define TAMPI_BLOCKING_ENABLED TAMPI_Blocking_enabled
#define TAMPI_blocking_enabled TAMPI_Blocking_enabled
#define tampi_blocking_enabled TAMPI_Blocking_enabled
#define TAMPI_Nonblocking_enabled no(not_here_see_what_mpi_init_thread_provided%x);call no
#define TAMPI_NONBLOCKING_ENABLED TAMPI_Nonblocking_enabled
#define TAMPI_nonblocking_enabled TAMPI_Nonblocking_enabled
#define tampi_nonblocking_enabled TAMPI_Nonblocking_enabled
#define TAMPI_Init no(not_here_mpi_init_thread_starts_it%x);call no
#define TAMPI_INIT TAMPI_Init
#define TAMPI_init TAMPI_Init
#define tampi_init TAMPI_Init
#define TAMPI_Finalize no(not_here_mpi_finalize_ends_it%x);call no
#define TAMPI_FINALIZE TAMPI_Finalize
#define TAMPI_finalize TAMPI_Finalize
#define tampi_finalize TAMPI_Finalize
/* clang-format on */
#endif
