# SPDX-License-Identifier: Apache-2.0
# Installs the project. Each folder calls commtask_install_library() for its library; the top level
# calls commtask_install_package() once, which writes commtaskConfig.cmake with one component per
# library. Everything installed is relocatable: it contains no path of the build or of the first
# prefix, only the path of the MPI.
include(CMakePackageConfigHelpers)

set(COMMTASK_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/commtask")
set(COMMTASK_CLAUSE_INSTALL_DIR "${CMAKE_INSTALL_LIBDIR}/commtask")

# The relative path from the pkg-config files to the prefix.
file(RELATIVE_PATH COMMTASK_PC_UP "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" COMMTASK_PC_UP "${COMMTASK_PC_UP}")
# Programs find the libraries where they were linked, without LD_LIBRARY_PATH. The system's own
# folder needs no run path.
set(COMMTASK_PC_RPATH "-Wl,-rpath,\${libdir}")
set(COMMTASK_PC_LIBOMP_RPATH "-Wl,-rpath,${COMMTASK_LIBOMP_DIR}")
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(COMMTASK_PC_RPATH "")
endif()
# The headers are system headers, so that a program's warnings do not apply to them. The folder of
# the C library's headers must not be given with -isystem: C++ would not find them.
if(EXISTS "${CMAKE_INSTALL_FULL_INCLUDEDIR}/stdlib.h")
    set(COMMTASK_INCLUDE_FLAG "-I")
else()
    set(COMMTASK_INCLUDE_FLAG "-isystem ")
endif()
# The folders of MPI's libraries, if the loader does not search them by itself.
set(COMMTASK_MPI_RUN_PATH "")
foreach(library IN LISTS MPI_C_LIBRARIES)
    get_filename_component(file "${library}" REALPATH)
    get_filename_component(folder "${file}" DIRECTORY)
    if(IS_ABSOLUTE "${library}" AND NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
        list(APPEND COMMTASK_MPI_RUN_PATH "${folder}")
    endif()
endforeach()
list(REMOVE_DUPLICATES COMMTASK_MPI_RUN_PATH)
# The package requires MPI by pkg-config name and release if MPI has a pkg-config file of that
# version and folder. Otherwise it uses MPI's flags: pkg-config might find the file of another MPI.
find_package(PkgConfig REQUIRED)
set(commtask_pc_of_mpich mpich)
set(commtask_pc_of_openmpi ompi-c)
set(commtask_pc_of_intel impi)
set(commtask_mpi_pc ${commtask_pc_of_${COMMTASK_MPI}})
set(COMMTASK_PC_MPI_REQUIRES "")
execute_process(
    COMMAND "${PKG_CONFIG_EXECUTABLE}" --modversion ${commtask_mpi_pc}
    OUTPUT_VARIABLE commtask_pc_version
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
execute_process(
    COMMAND "${PKG_CONFIG_EXECUTABLE}" --variable=includedir ${commtask_mpi_pc}
    OUTPUT_VARIABLE commtask_pc_includedir
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(commtask_pc_version STREQUAL COMMTASK_MPI_VERSION AND commtask_pc_includedir IN_LIST MPI_C_INCLUDE_DIRS)
    string(REGEX REPLACE "^([0-9]+)\\..*" "\\1" commtask_mpi_major "${COMMTASK_MPI_VERSION}")
    math(EXPR commtask_mpi_next_major "${commtask_mpi_major} + 1")
    set(COMMTASK_PC_MPI_REQUIRES
        "${commtask_mpi_pc} >= ${COMMTASK_MPI_VERSION}, ${commtask_mpi_pc} < ${commtask_mpi_next_major}")
else()
    list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND "-isystem " OUTPUT_VARIABLE COMMTASK_PC_MPI_CFLAGS)
    list(JOIN COMMTASK_PC_MPI_CFLAGS " " COMMTASK_PC_MPI_CFLAGS)
    list(TRANSFORM COMMTASK_MPI_RUN_PATH PREPEND "-Wl,-rpath," OUTPUT_VARIABLE commtask_pc_mpi_rpath)
    list(JOIN MPI_C_LIBRARIES " " COMMTASK_PC_MPI_LIBS)
    list(JOIN commtask_pc_mpi_rpath " " COMMTASK_PC_MPI_RPATH)
    string(STRIP "${COMMTASK_PC_MPI_LIBS} ${COMMTASK_PC_MPI_RPATH}" COMMTASK_PC_MPI_LIBS)
endif()

# commtask_install_library(TARGET t COMPONENT core|omp EXPORT_NAME name MAP file
#                          PKGCONFIG name.pc.in HEADERS folder [folder of generated headers]
#                          [ALSO interface targets of the component])
# Gives the shared library t its SONAME, its version script, its headers, its pkg-config file and
# its CMake component. Users find the library as commtask::<EXPORT_NAME>.
function(commtask_install_library)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;COMPONENT;EXPORT_NAME;MAP;PKGCONFIG" "HEADERS;ALSO")
    get_filename_component(map "${arg_MAP}" ABSOLUTE)
    list(TRANSFORM arg_HEADERS REPLACE "^([^/].*)" "${CMAKE_CURRENT_SOURCE_DIR}/\\1")
    list(GET arg_HEADERS 0 headers)
    set_target_properties(
        ${arg_TARGET}
        PROPERTIES VERSION ${PROJECT_VERSION}
                   SOVERSION ${PROJECT_VERSION_MAJOR}
                   EXPORT_NAME ${arg_EXPORT_NAME}
                   COMMTASK_PUBLIC_INCLUDE_DIR "${headers}"
                   LINK_DEPENDS "${map}"
                   INSTALL_RPATH "$ORIGIN;${COMMTASK_MPI_RUN_PATH}")
    target_link_options(${arg_TARGET} PRIVATE "-Wl,--version-script=${map}")
    # Otherwise mpi.h declares the C++ bindings that MPI-3 removed, and these need a library that is
    # not linked.
    target_compile_definitions(${arg_TARGET} INTERFACE MPICH_SKIP_MPICXX=1 OMPI_SKIP_MPICXX=1)
    # For the C++ headers; a program in C alone has no such requirement.
    target_compile_features(${arg_TARGET} INTERFACE cxx_std_20)
    if(COMMTASK_PC_RPATH)
        # On installation, CMake removes its own run path from a program. CMake keeps a run path in
        # the options only if the two are spelled differently: hence the dot.
        target_link_options(${arg_TARGET} INTERFACE
                            "$<INSTALL_INTERFACE:LINKER:-rpath,$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/.>")
    endif()
    add_library(commtask::${arg_EXPORT_NAME} ALIAS ${arg_TARGET})

    install(TARGETS ${arg_TARGET} ${arg_ALSO} EXPORT commtask_${arg_COMPONENT} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    set_property(GLOBAL APPEND PROPERTY COMMTASK_PUBLIC_INCLUDE_DIRS ${arg_HEADERS})
    set_property(GLOBAL APPEND PROPERTY COMMTASK_PUBLIC_TARGETS ${arg_TARGET})
    list(TRANSFORM arg_HEADERS APPEND "/")
    install(DIRECTORY ${arg_HEADERS} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h"
            PATTERN "*.hpp")
    install(EXPORT commtask_${arg_COMPONENT} NAMESPACE commtask:: FILE commtask-${arg_COMPONENT}-targets.cmake
            DESTINATION "${COMMTASK_PACKAGE_DIR}")
    if(arg_PKGCONFIG)
        get_filename_component(pc_name "${arg_PKGCONFIG}" NAME_WLE)
        configure_file("${arg_PKGCONFIG}" "${PROJECT_BINARY_DIR}/${pc_name}" @ONLY)
        install(FILES "${PROJECT_BINARY_DIR}/${pc_name}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
    endif()
    set_property(GLOBAL APPEND PROPERTY COMMTASK_COMPONENTS ${arg_COMPONENT})
endfunction()

# Installs nothing unless a library asked for it.
function(commtask_install_package)
    get_property(COMMTASK_COMPONENTS GLOBAL PROPERTY COMMTASK_COMPONENTS)
    if(NOT COMMTASK_COMPONENTS)
        return()
    endif()
    configure_package_config_file(
        "${PROJECT_SOURCE_DIR}/cmake/commtaskConfig.cmake.in" "${PROJECT_BINARY_DIR}/commtaskConfig.cmake"
        INSTALL_DESTINATION "${COMMTASK_PACKAGE_DIR}" PATH_VARS COMMTASK_CLAUSE_INSTALL_DIR)
    write_basic_package_version_file("${PROJECT_BINARY_DIR}/commtaskConfigVersion.cmake"
                                     COMPATIBILITY SameMinorVersion)
    install(FILES "${PROJECT_BINARY_DIR}/commtaskConfig.cmake" "${PROJECT_BINARY_DIR}/commtaskConfigVersion.cmake"
                  "${PROJECT_SOURCE_DIR}/cmake/commtask_mpi_identity.cmake"
            DESTINATION "${COMMTASK_PACKAGE_DIR}")

    install(FILES LICENSE README.md CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
    install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}" PATTERN Doxyfile EXCLUDE PATTERN "*.py" EXCLUDE)
    # Not below doc/, which small systems leave out of packages: users build the examples.
    install(DIRECTORY examples DESTINATION "${CMAKE_INSTALL_DATADIR}/commtask")
endfunction()
