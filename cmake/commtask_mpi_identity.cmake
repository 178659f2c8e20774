# SPDX-License-Identifier: Apache-2.0
# commtask_identify_mpi(PREFIX): identifies the MPI behind MPI::MPI_C by its own header and library.
# Sets in the caller <PREFIX>_FAMILY (mpich, intel, openmpi, abi: the standard's own ABI, or other),
# <PREFIX>_VERSION, <PREFIX>_LIBRARY (the file) and <PREFIX>_SONAME (the name by which the loader
# knows it). This project and the installed package use the same file, and the package compares the
# two results.

function(commtask_identify_mpi prefix)
    list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND "-I" OUTPUT_VARIABLE includes)
    set(question "${CMAKE_BINARY_DIR}/CMakeFiles/commtask_mpi_identity.c")
    # Intel's header has MPICH's macros, too. With -DMPI_ABI, the header of any MPI is the
    # standard's.
    file(WRITE "${question}" "#include <mpi.h>
#if defined(MPI_ABI)
commtask_says abi MPI_ABI_VERSION.MPI_ABI_SUBVERSION
#elif defined(I_MPI_VERSION)
commtask_says intel I_MPI_VERSION
#elif defined(MPICH_VERSION)
commtask_says mpich MPICH_VERSION
#elif defined(OMPI_MAJOR_VERSION)
commtask_says openmpi OMPI_MAJOR_VERSION.OMPI_MINOR_VERSION.OMPI_RELEASE_VERSION
#endif
")
    separate_arguments(options UNIX_COMMAND "${CMAKE_C_FLAGS} ${MPI_C_COMPILE_OPTIONS}")
    execute_process(
        COMMAND "${CMAKE_C_COMPILER}" ${options} ${includes} -E -P "${question}"
        OUTPUT_VARIABLE answer
        ERROR_VARIABLE trouble
        RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "${MPI_C_COMPILER}: the compiler cannot read its mpi.h:\n${trouble}")
    endif()
    set(family other)
    set(version "")
    if(answer MATCHES "commtask_says ([a-z]+) ([^\n]*)")
        set(family "${CMAKE_MATCH_1}")
        string(REGEX REPLACE "[\" ]" "" version "${CMAKE_MATCH_2}")
    endif()

    # Intel's wrapper names several libraries; the library that has MPI's functions decides.
    set(library "")
    foreach(candidate IN LISTS MPI_C_LIBRARIES)
        if(candidate MATCHES "/lib(mpi|mpich)(_abi|_[a-z0-9]+)?\\.(so|a|dylib)[.0-9]*$")
            set(library "${candidate}")
            break()
        endif()
    endforeach()
    set(soname "")
    if(library)
        # PyPI's libmpi.so is a linker script that names the file beside it.
        file(READ "${library}" magic LIMIT 4 HEX)
        if(NOT magic STREQUAL "7f454c46")
            file(STRINGS "${library}" script LIMIT_COUNT 5)
            if(script MATCHES "(lib[a-z_]*mpi[a-z_]*\\.so[.0-9]*)")
                get_filename_component(folder "${library}" DIRECTORY)
                set(library "${folder}/${CMAKE_MATCH_1}")
            endif()
        endif()
        get_filename_component(library "${library}" REALPATH)
        if(CMAKE_READELF)
            execute_process(COMMAND "${CMAKE_READELF}" -d "${library}" OUTPUT_VARIABLE dynamic ERROR_QUIET)
            if(dynamic MATCHES "SONAME\\)[^[]*\\[([^]]*)\\]")
                set(soname "${CMAKE_MATCH_1}")
            endif()
        endif()
        if(NOT soname)
            get_filename_component(soname "${library}" NAME)
        endif()
    endif()
    set(${prefix}_FAMILY "${family}" PARENT_SCOPE)
    set(${prefix}_VERSION "${version}" PARENT_SCOPE)
    set(${prefix}_LIBRARY "${library}" PARENT_SCOPE)
    set(${prefix}_SONAME "${soname}" PARENT_SCOPE)
endfunction()
