# SPDX-License-Identifier: Apache-2.0
# `cpack -G DEB` in the build folder: one Debian package with libraries, headers and programs. The
# package is named after its MPI, since it serves programs of that MPI only, and the packages of two
# MPIs would share file names. dpkg-shlibdeps finds the packages that its libraries load; the
# packages that users' builds need are listed here. Other generators of cpack have their defaults.

if(NOT PROJECT_IS_TOP_LEVEL)
    return()
endif()

set(CPACK_PACKAGE_NAME "commtask-${COMMTASK_MPI}")
set(CPACK_PACKAGE_VENDOR "commtask")
set(CPACK_PACKAGE_CONTACT "commtask developers <commtask@localhost>")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX "/usr")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION "libdevel")
set(CPACK_DEBIAN_PACKAGE_PROVIDES "commtask")
set(CPACK_DEBIAN_PACKAGE_CONFLICTS "commtask")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The project's libraries need each other.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/runtime" "${PROJECT_BINARY_DIR}/plugins/omp")
set(needed_by_programs libhwloc-dev)
if(COMMTASK_MPI STREQUAL "openmpi")
    list(APPEND needed_by_programs libopenmpi-dev openmpi-bin)
else()
    list(APPEND needed_by_programs libmpich-dev mpich)
endif()
if(COMMTASK_LIBOMP_DIR MATCHES "/llvm-([0-9]+)/")
    list(APPEND needed_by_programs "libomp-${CMAKE_MATCH_1}-dev")
endif()
if(COMMTASK_BUILD_TBB)
    list(APPEND needed_by_programs "libtbb-dev (>= 2021.5)")
endif()
list(JOIN needed_by_programs ", " CPACK_DEBIAN_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "pkg-config, python3")

include(CPack)
