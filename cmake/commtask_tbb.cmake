# SPDX-License-Identifier: Apache-2.0
# Chooses the oneTBB with which tests, miniapps and benchmarks are compiled: the system's, or the
# one below COMMTASK_TBB_ROOT (a folder with lib/cmake, such as a virtual environment with PyPI's
# tbb-devel). libcommtask-tbb itself does not depend on oneTBB, so this choice does not affect the
# installation. Gives TBB::tbb.

set(COMMTASK_TBB_ROOT "" CACHE PATH "Where to look for oneTBB; empty: where the system has it")
if(NOT COMMTASK_BUILD_TBB)
    return()
endif()

# find_package caches its result; without this code, a build folder would keep its first oneTBB.
if(DEFINED COMMTASK_TBB_FOUND_FOR AND NOT COMMTASK_TBB_FOUND_FOR STREQUAL COMMTASK_TBB_ROOT)
    unset(TBB_DIR CACHE)
endif()
set(COMMTASK_TBB_FOUND_FOR "${COMMTASK_TBB_ROOT}" CACHE INTERNAL "The COMMTASK_TBB_ROOT that TBB_DIR belongs to")

# ThreadSanitizer sees the synchronization of oneTBB only if oneTBB is instrumented, too: otherwise
# it would report every task.
if(COMMTASK_SANITIZE MATCHES "^thread" AND NOT COMMTASK_TBB_ROOT)
    message(FATAL_ERROR "COMMTASK_SANITIZE=${COMMTASK_SANITIZE} needs a oneTBB that was compiled with it: run scripts/onetbb "
                        "tsan and pass -DCOMMTASK_TBB_ROOT, as the presets do, or -DCOMMTASK_BUILD_TBB=OFF.")
endif()
if(COMMTASK_TBB_ROOT)
    set(commtask_tbb_where " in ${COMMTASK_TBB_ROOT}")
    find_package(TBB CONFIG COMPONENTS tbb PATHS "${COMMTASK_TBB_ROOT}" NO_DEFAULT_PATH)
else()
    find_package(TBB CONFIG COMPONENTS tbb)
endif()
if(NOT TBB_FOUND)
    message(FATAL_ERROR "oneTBB was not found${commtask_tbb_where}. On Debian install libtbb-dev; for the presets that "
                        "need another oneTBB run scripts/onetbb; elsewhere pass -DCOMMTASK_TBB_ROOT=/path, or "
                        "-DCOMMTASK_BUILD_TBB=OFF to build without the oneTBB face.")
endif()
if(TBB_VERSION VERSION_LESS 2021.5)
    message(FATAL_ERROR "oneTBB ${TBB_VERSION} (${TBB_DIR}) is too old; 2021.5 or newer is needed.")
endif()
message(STATUS "commtask: oneTBB ${TBB_VERSION} (${TBB_DIR})")
