! SPDX-License-Identifier: Apache-2.0
!
! What TAMPI has and TAMPIf.h has not, however it is written, and in programs without IMPLICIT NONE too.
! expect: 'not_here_use_mpi_igather_then_tampi_iwait'(.|\n)*'not_here_use_mpi_iscan_then_tampi_iwait'(.|\n)*'not_here_use_mpi_ireduce_scatter_block_then_tampi_iwait'
#include "../../../plugins/omp/tampi/include/TAMPIf.h"
subroutine gather(send, recv, comm)
  implicit none
  integer :: send(1), recv(:), comm, request, err
  call TAMPI_Ibcast(send, 1, 2, 0, comm, request, err)
#ifdef WRONG
  call TAMPI_Igather(send, 1, 2, recv, 1, 2, 0, comm, request, err)
  call TAMPI_iscan(send, recv, 1, 2, 3, comm, request, err)
#endif
end subroutine gather

subroutine reduce(send, recv, comm)
  integer :: send(1), recv(1), comm, request, err
#ifdef WRONG
  if (comm == 0) call tampi_ireduce_scatter_block(send, recv, 1, 2, 3, comm, request, err)
#endif
  call TAMPI_Iallreduce(send, recv, 1, 2, 3, comm, request, err)
end subroutine reduce
