! SPDX-License-Identifier: Apache-2.0
!
! The same program with "use mpi_f08".
#define COMMTASK_TEST_F08
#include "fortran_level.F90"
