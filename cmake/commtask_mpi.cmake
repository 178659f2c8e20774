# SPDX-License-Identifier: Apache-2.0
# Chooses the MPI. Debian installs MPICH and Open MPI side by side and points plain `mpicc` at either of them, so the
# family is asked for by name (COMMTASK_MPI) and checked against mpi.h: a library of one family that runs under the
# launcher of the other starts N programs of one rank each, which looks like a hang or like wrong numbers.
# Gives MPI::MPI_C (C bindings only) and the MPIEXEC_* variables of FindMPI.

if(NOT COMMTASK_MPI MATCHES "^(mpich|openmpi)$")
    message(FATAL_ERROR "COMMTASK_MPI is '${COMMTASK_MPI}'; it must be mpich or openmpi.")
endif()

# FindMPI keeps what it found; without this a build folder would stay with its first MPI.
if(DEFINED COMMTASK_MPI_FOUND_FOR AND NOT COMMTASK_MPI_FOUND_FOR STREQUAL COMMTASK_MPI)
    get_cmake_property(cached_names CACHE_VARIABLES)
    foreach(name IN LISTS cached_names)
        if(name MATCHES "^MPI_|^MPIEXEC_|^COMMTASK_MPI_IS_")
            unset(${name} CACHE)
        endif()
    endforeach()
endif()
set(COMMTASK_MPI_FOUND_FOR "${COMMTASK_MPI}" CACHE INTERNAL "The MPI that the cached MPI_* variables describe")

find_program(MPI_C_COMPILER NAMES mpicc.${COMMTASK_MPI} mpicc DOC "MPI compiler wrapper for C")
find_program(MPIEXEC_EXECUTABLE NAMES mpiexec.${COMMTASK_MPI} mpiexec DOC "MPI program launcher")
set(commtask_mpi_advice
    "On Debian install libmpich-dev and mpich, or libopenmpi-dev and openmpi-bin; elsewhere pass "
    "-DMPI_C_COMPILER=/path/to/mpicc -DMPIEXEC_EXECUTABLE=/path/to/mpiexec of that MPI.")
string(CONCAT commtask_mpi_advice ${commtask_mpi_advice})
if(NOT MPI_C_COMPILER OR NOT MPIEXEC_EXECUTABLE)
    message(FATAL_ERROR "COMMTASK_MPI=${COMMTASK_MPI}: no MPI compiler wrapper or no launcher. ${commtask_mpi_advice}")
endif()

find_package(MPI 3.1 REQUIRED COMPONENTS C)
target_compile_definitions(MPI::MPI_C INTERFACE MPICH_SKIP_MPICXX=1 OMPI_SKIP_MPICXX=1)

include(CheckSymbolExists)
include(CMakePushCheckState)
cmake_push_check_state(RESET)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
set(CMAKE_REQUIRED_QUIET ON)
check_symbol_exists(MPICH_VERSION mpi.h COMMTASK_MPI_IS_mpich)
check_symbol_exists(OMPI_MAJOR_VERSION mpi.h COMMTASK_MPI_IS_openmpi)
cmake_pop_check_state()
if(NOT COMMTASK_MPI_IS_${COMMTASK_MPI})
    message(FATAL_ERROR "COMMTASK_MPI=${COMMTASK_MPI}, but ${MPI_C_COMPILER} belongs to another MPI. "
                        "${commtask_mpi_advice}")
endif()

# The macro by which an installed package recognises the same family.
if(COMMTASK_MPI STREQUAL "openmpi")
    set(COMMTASK_MPI_MACRO OMPI_MAJOR_VERSION)
else()
    set(COMMTASK_MPI_MACRO MPICH_VERSION)
endif()

# Words for mpiexec that every run needs, whatever the program.
if(COMMTASK_MPI STREQUAL "openmpi")
    set(COMMTASK_MPIEXEC_FLAGS --allow-run-as-root --oversubscribe --bind-to none)
else()
    set(COMMTASK_MPIEXEC_FLAGS "")
endif()
message(STATUS "commtask: MPI ${COMMTASK_MPI} (${MPI_C_COMPILER}), launcher ${MPIEXEC_EXECUTABLE}")
