# SPDX-License-Identifier: Apache-2.0
# Chooses the MPI. Debian installs MPICH and Open MPI side by side and lets plain `mpicc` mean
# either of them, so the user gives the family by name (COMMTASK_MPI), and it is checked against
# mpi.h. A library of one family under the launcher of the other starts N programs of one rank each,
# which looks like a hang or like wrong numbers.
#
# Gives MPI::MPI_C (C bindings only), the MPIEXEC_* variables of FindMPI, and the package's data
# about its MPI: COMMTASK_MPI_NAME, _VERSION, _LIBRARY (the file), _SONAME, _BINDIR, _ABI and
# COMMTASK_TESTED_MPIS.


if(NOT COMMTASK_MPI MATCHES "^(mpich|openmpi|intel)$")
    message(FATAL_ERROR "COMMTASK_MPI is '${COMMTASK_MPI}'; it must be mpich, openmpi or intel.")
endif()
include(commtask_mpi_identity)
include(commtask_tested_mpis)
set(COMMTASK_MPI_NAME_mpich "MPICH")
set(COMMTASK_MPI_NAME_openmpi "Open MPI")
set(COMMTASK_MPI_NAME_intel "Intel MPI")

# FindMPI caches its result; without this code, a build folder would keep its first MPI.
set(COMMTASK_MPI_ROOT "" CACHE PATH "Where to look for the MPI: a folder with bin/mpicc and bin/mpiexec; empty: PATH")
if(DEFINED COMMTASK_MPI_FOUND_FOR AND NOT COMMTASK_MPI_FOUND_FOR STREQUAL "${COMMTASK_MPI} ${COMMTASK_MPI_ROOT}")
    get_cmake_property(cached_names CACHE_VARIABLES)
    foreach(name IN LISTS cached_names)
        if(name MATCHES "^(HAVE_)?MPI_|^MPIEXEC_")
            unset(${name} CACHE)
        endif()
    endforeach()
endif()
set(COMMTASK_MPI_FOUND_FOR "${COMMTASK_MPI} ${COMMTASK_MPI_ROOT}" CACHE INTERNAL
    "The MPI that the cached MPI_* variables describe")

set(commtask_mpi_where "")
if(COMMTASK_MPI_ROOT)
    set(commtask_mpi_where PATHS "${COMMTASK_MPI_ROOT}/bin" NO_DEFAULT_PATH)
endif()
find_program(MPI_C_COMPILER NAMES mpicc.${COMMTASK_MPI} mpicc ${commtask_mpi_where} DOC "MPI compiler wrapper for C")
find_program(MPIEXEC_EXECUTABLE NAMES mpiexec.${COMMTASK_MPI} mpiexec ${commtask_mpi_where} DOC "MPI program launcher")
# For tests; some MPIs have none.
find_program(MPI_FORTRAN_WRAPPER NAMES mpif90.${COMMTASK_MPI} mpif90 ${commtask_mpi_where} DOC "MPI wrapper for Fortran")
string(CONCAT commtask_mpi_advice
    "On Debian install libmpich-dev and mpich, or libopenmpi-dev and openmpi-bin; for the MPIs of the presets dev-mpich5 and "
    "dev-intel run scripts/get_mpi; elsewhere pass -DCOMMTASK_MPI_ROOT=/folder, which has bin/mpicc and bin/mpiexec, or "
    "-DMPI_C_COMPILER=/path/to/mpicc -DMPIEXEC_EXECUTABLE=/path/to/mpiexec of that MPI.")
if(NOT MPI_C_COMPILER OR NOT MPIEXEC_EXECUTABLE)
    message(FATAL_ERROR "COMMTASK_MPI=${COMMTASK_MPI}: no MPI compiler wrapper or no launcher. ${commtask_mpi_advice}")
endif()

find_package(MPI 3.1 REQUIRED COMPONENTS C)
target_compile_definitions(MPI::MPI_C INTERFACE MPICH_SKIP_MPICXX=1 OMPI_SKIP_MPICXX=1)

commtask_identify_mpi(commtask_found_mpi)
if(NOT commtask_found_mpi_FAMILY STREQUAL COMMTASK_MPI)
    message(FATAL_ERROR "COMMTASK_MPI=${COMMTASK_MPI}, but ${MPI_C_COMPILER} belongs to another MPI "
                        "(${commtask_found_mpi_FAMILY} ${commtask_found_mpi_VERSION}). ${commtask_mpi_advice}")
endif()
set(COMMTASK_MPI_NAME "${COMMTASK_MPI_NAME_${COMMTASK_MPI}}")
set(COMMTASK_MPI_VERSION "${commtask_found_mpi_VERSION}")
set(COMMTASK_MPI_LIBRARY "${commtask_found_mpi_LIBRARY}")
set(COMMTASK_MPI_SONAME "${commtask_found_mpi_SONAME}")
get_filename_component(COMMTASK_MPI_BINDIR "${MPI_C_COMPILER}" DIRECTORY)
get_filename_component(COMMTASK_MPIEXEC_NAME "${MPIEXEC_EXECUTABLE}" NAME)

# The properties that two MPIs must share for binary compatibility; runtime/check_mpi.h.in checks
# them when a program is compiled.
set(COMMTASK_MPI_ABI mpich)
set(COMMTASK_MPI_CONDITION "defined(MPICH_VERSION) && !defined(I_MPI_VERSION)")
if(COMMTASK_MPI STREQUAL "openmpi")
    set(COMMTASK_MPI_ABI openmpi)
    set(COMMTASK_MPI_CONDITION "defined(OMPI_MAJOR_VERSION)")
elseif(COMMTASK_MPI STREQUAL "intel")
    # False if MPI_ABI is defined.
    set(COMMTASK_MPI_CONDITION "defined(MPICH_VERSION) && defined(I_MPI_VERSION)")
endif()
include(CheckTypeSize)
include(CMakePushCheckState)
cmake_push_check_state(RESET)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
set(CMAKE_REQUIRED_QUIET ON)
set(CMAKE_EXTRA_INCLUDE_FILES mpi.h)
foreach(type IN ITEMS Comm Status Count)
    string(TOUPPER ${type} name)
    check_type_size(MPI_${type} MPI_BYTES_OF_${name} LANGUAGE C)
    set(COMMTASK_MPI_BYTES_OF_${name} ${MPI_BYTES_OF_${name}})
endforeach()
set(CMAKE_EXTRA_INCLUDE_FILES)
cmake_pop_check_state()

# Options of mpiexec that every run needs, for any program.
if(COMMTASK_MPI STREQUAL "openmpi")
    set(COMMTASK_MPIEXEC_FLAGS --allow-run-as-root --oversubscribe --bind-to none)
elseif(COMMTASK_MPI STREQUAL "intel")
    set(COMMTASK_MPIEXEC_FLAGS -genv I_MPI_PIN off) # it would bind each rank to a core
else()
    set(COMMTASK_MPIEXEC_FLAGS "")
endif()
message(STATUS "commtask: ${COMMTASK_MPI_NAME} ${COMMTASK_MPI_VERSION} (${COMMTASK_MPI_LIBRARY}, ${MPI_C_COMPILER}), "
               "launcher ${MPIEXEC_EXECUTABLE}")
commtask_warn_of_untested_mpi("${COMMTASK_MPI}" "${COMMTASK_MPI_NAME}" "${COMMTASK_MPI_VERSION}")
