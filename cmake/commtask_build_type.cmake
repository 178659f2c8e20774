# SPDX-License-Identifier: Apache-2.0
# Checks where and how this project is built. Included before project(), so that a wrong build fails
# at once. A build in the source tree is an error: git would show its files, and the next build
# folder would find them. A misspelt build type is one, too: CMake accepts it silently and builds
# without optimisation. A project that adds this one as a subdirectory decides both itself.

if(NOT CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    return()
endif()

get_filename_component(commtask_real_source "${CMAKE_SOURCE_DIR}" REALPATH)
get_filename_component(commtask_real_build "${CMAKE_BINARY_DIR}" REALPATH)
if(commtask_real_source STREQUAL commtask_real_build)
    message(FATAL_ERROR "commtask is not built in its source folder: remove CMakeCache.txt and CMakeFiles from "
                        "${CMAKE_SOURCE_DIR}, then write cmake -B build and cmake --build build.")
endif()

if(DEFINED CMAKE_BUILD_TYPE AND CMAKE_BUILD_TYPE STREQUAL "")
    unset(CMAKE_BUILD_TYPE CACHE)
endif()
if(NOT DEFINED CMAKE_BUILD_TYPE AND NOT DEFINED CMAKE_CONFIGURATION_TYPES AND NOT CMAKE_GENERATOR MATCHES "Multi-Config")
    set(CMAKE_BUILD_TYPE "Release" CACHE STRING "Release, RelWithDebInfo, MinSizeRel, Debug, or None (only the given flags)")
    message(STATUS "commtask: build type Release, since none was asked for (CMAKE_BUILD_TYPE)")
endif()
# None is for packagers, who give all flags themselves.
set(commtask_build_types Release RelWithDebInfo MinSizeRel Debug None)
if(DEFINED CMAKE_BUILD_TYPE)
    set_property(CACHE CMAKE_BUILD_TYPE PROPERTY STRINGS ${commtask_build_types})
    # CMake itself ignores the case.
    list(TRANSFORM commtask_build_types TOUPPER OUTPUT_VARIABLE commtask_upper_types)
    string(TOUPPER "${CMAKE_BUILD_TYPE}" commtask_upper_type)
    if(NOT commtask_upper_type IN_LIST commtask_upper_types AND NOT DEFINED CMAKE_CXX_FLAGS_${commtask_upper_type})
        list(JOIN commtask_build_types ", " commtask_build_types)
        message(FATAL_ERROR "CMAKE_BUILD_TYPE is '${CMAKE_BUILD_TYPE}'; it must be one of ${commtask_build_types}, or one of "
                            "your own with CMAKE_C_FLAGS_${commtask_upper_type} and CMAKE_CXX_FLAGS_${commtask_upper_type}.")
    endif()
endif()
