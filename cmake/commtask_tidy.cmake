# SPDX-License-Identifier: Apache-2.0
# The target `tidy`: clang-tidy 19 on the runtime and the plugins. The target uses the compile
# commands of this build and exists for clang builds only, since gcc's options mean other things to
# clang-tidy. Tests, apps and benchmarks only have the compilers' warnings: the checks cost more
# time there than they are worth.
find_program(COMMTASK_RUN_CLANG_TIDY run-clang-tidy-19 DOC "Runs clang-tidy 19 in parallel")
if(COMMTASK_RUN_CLANG_TIDY AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    cmake_host_system_information(RESULT n_processors QUERY NUMBER_OF_LOGICAL_CORES)
    add_custom_target(
        tidy
        COMMAND "${COMMTASK_RUN_CLANG_TIDY}" -quiet -j ${n_processors} -p "${PROJECT_BINARY_DIR}"
                "^${PROJECT_SOURCE_DIR}/(runtime|plugins)/.*\\.(c|cpp)$$"
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
        USES_TERMINAL VERBATIM)
endif()
