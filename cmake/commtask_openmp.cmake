# SPDX-License-Identifier: Apache-2.0
# The OpenMP runtime. Both compilers use libomp: gcc's own libgomp loses or deadlocks detached
# tasks, so code compiled by gcc is linked with libomp, which has the same entry points. Only the
# compiler gets the flag; the library is linked by its path, so that gcc's linker driver never adds
# libgomp.
#
# Gives the target commtask_openmp and the path COMMTASK_LIBOMP.

set(commtask_llvm_dirs /usr/lib/llvm-19/lib)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    execute_process(
        COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libomp.so
        OUTPUT_VARIABLE commtask_printed_libomp
        OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(IS_ABSOLUTE "${commtask_printed_libomp}")
        get_filename_component(commtask_printed_dir "${commtask_printed_libomp}" DIRECTORY)
        list(PREPEND commtask_llvm_dirs "${commtask_printed_dir}")
    endif()
endif()
find_library(COMMTASK_LIBOMP NAMES omp PATHS ${commtask_llvm_dirs} DOC "LLVM's OpenMP runtime (19 or newer)")
if(NOT COMMTASK_LIBOMP)
    message(FATAL_ERROR "LLVM's OpenMP runtime was not found. On Debian install libomp-19-dev; "
                        "elsewhere pass -DCOMMTASK_LIBOMP=/path/to/libomp.so.")
endif()
get_filename_component(COMMTASK_LIBOMP_DIR "${COMMTASK_LIBOMP}" DIRECTORY)
# Its header, for clangs of other releases, which have none of their own.
file(GLOB commtask_omp_h_dirs "${COMMTASK_LIBOMP_DIR}/clang/*/include")
find_path(COMMTASK_OMP_H_DIR omp.h PATHS ${commtask_omp_h_dirs} DOC "The folder of LLVM's omp.h")
# The header of libomp's tool interface, which gcc does not have.
file(GLOB commtask_clang_dirs "${COMMTASK_LIBOMP_DIR}/clang/*/include" "${COMMTASK_LIBOMP_DIR}/../lib/clang/*/include"
     "/usr/lib/llvm-*/lib/clang/*/include")
find_path(COMMTASK_OMP_TOOLS_DIR omp-tools.h PATHS ${commtask_clang_dirs} REQUIRED DOC "Where libomp's omp-tools.h is")

add_library(commtask_openmp INTERFACE)
target_compile_options(commtask_openmp INTERFACE -fopenmp)
# An installed package searches for libomp on the machine where it is used (commtaskConfig.cmake).
target_link_libraries(commtask_openmp INTERFACE "$<BUILD_INTERFACE:${COMMTASK_LIBOMP}>")
set_target_properties(commtask_openmp PROPERTIES EXPORT_NAME openmp)

# Archer tells TSan about the synchronization of OpenMP; without it, a thread-omp run has false
# reports. In other builds one test uses it.
get_filename_component(commtask_libomp_dir "${COMMTASK_LIBOMP}" REALPATH)
get_filename_component(commtask_libomp_dir "${commtask_libomp_dir}" DIRECTORY)
set(commtask_archer_required "")
if(COMMTASK_SANITIZE STREQUAL "thread-omp")
    set(commtask_archer_required REQUIRED)
endif()
find_library(COMMTASK_LIBARCHER NAMES archer PATHS ${commtask_llvm_dirs} "${commtask_libomp_dir}" ${commtask_archer_required}
             DOC "Archer, which tells TSan about OpenMP")
mark_as_advanced(COMMTASK_LIBARCHER)
