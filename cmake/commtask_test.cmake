# SPDX-License-Identifier: Apache-2.0
# How a test is added. One executable is one ctest test per rank count, named after the folder of
# the tested code (unit.graph, mpi.send.n4), so that `ctest -L ranks-2` or `-R mpi.send` selects
# tests. Every test has a time limit. MPI tests also declare the cores that they use, so that ctest
# -j does not put two four-rank jobs on two cores. Exit status 77 means "cannot run here" and is
# shown as skipped.
#
# The label `again` is for a test that repeats another one with a different compiler, build system,
# or number of ranks or threads: more than two, if two are tested as well. scripts/test without
# options leaves such tests out.

set(COMMTASK_TEST_TIMEOUT_FACTOR 1)
set(commtask_test_environment "")
set(commtask_whole_stacks "")
if(COMMTASK_SANITIZE STREQUAL "address")
    set(COMMTASK_TEST_TIMEOUT_FACTOR 3)
    # hwloc's PCI component leaks memory inside libpciaccess.
    list(APPEND commtask_test_environment "HWLOC_COMPONENTS=-pci"
         "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/lsan.supp:print_suppressions=0"
         "UBSAN_OPTIONS=print_stacktrace=1")
    # For tests of libomp's places: libomp loses a team when it makes another, and only full stacks
    # name its allocator.
    set(commtask_whole_stacks "ASAN_OPTIONS=fast_unwind_on_malloc=0")
elseif(COMMTASK_SANITIZE MATCHES "^thread")
    set(COMMTASK_TEST_TIMEOUT_FACTOR 5)
    set(commtask_tsan_options "suppressions=${PROJECT_SOURCE_DIR}/tests/support/tsan.supp:second_deadlock_stack=1")
    if(COMMTASK_SANITIZE STREQUAL "thread-omp")
        # libomp itself is not instrumented: Archer reports its synchronization, and its own memory
        # accesses are ignored.
        string(APPEND commtask_tsan_options ":ignore_noninstrumented_modules=1")
        list(APPEND commtask_test_environment "OMP_TOOL_LIBRARIES=${COMMTASK_LIBARCHER}")
    endif()
    list(APPEND commtask_test_environment "TSAN_OPTIONS=${commtask_tsan_options}" "HWLOC_COMPONENTS=-pci")
endif()
if(COMMTASK_MPI STREQUAL "mpich" AND NOT COMMTASK_SANITIZE STREQUAL "none")
    # UCX patches the memory functions that the sanitizers intercept; calls would then jump to
    # invalid addresses.
    list(APPEND commtask_test_environment "UCX_MEM_MMAP_HOOK_MODE=none")
endif()
if(COMMTASK_MPI STREQUAL "openmpi")
    # Containers often forbid the ptrace-like copy between processes; the copy through shared memory
    # always works.
    list(APPEND commtask_test_environment "OMPI_MCA_btl_vader_single_copy_mechanism=none"
         "OMPI_MCA_btl_base_warn_component_unused=0")
endif()

# For tests of lanes: each lane has a network context of its own if this MPI has several. MPICH 4.0
# aborts if asked for a second one.
set(commtask_contexts "")
if(COMMTASK_MPI STREQUAL "mpich" AND COMMTASK_MPI_VERSION VERSION_GREATER_EQUAL 4.1)
    set(commtask_contexts MPIR_CVAR_CH4_NUM_VCIS=4)
endif()

# Options of the launcher for a number of ranks. If ranks and workers outnumber the cores, MPICH's
# ranks do not yield to each other (tests/support/yielding_waits.c); Open MPI's do. Not with
# sanitizers, whose library must be the first of a process.
set(commtask_ranks_yield OFF)
if(COMMTASK_MPI STREQUAL "mpich" AND COMMTASK_SANITIZE STREQUAL "none")
    set(commtask_ranks_yield ON)
endif()
cmake_host_system_information(RESULT commtask_n_cores QUERY NUMBER_OF_LOGICAL_CORES)
function(commtask_launch_words result n_ranks)
    set(words ${COMMTASK_MPIEXEC_FLAGS})
    math(EXPR n_threads "2 * ${n_ranks}")
    if(commtask_ranks_yield AND n_ranks GREATER 1 AND n_threads GREATER commtask_n_cores)
        list(APPEND words -genv LD_PRELOAD $<TARGET_FILE:commtask_test_yielding_waits>)
    endif()
    set(${result} "${words};${MPIEXEC_NUMPROC_FLAG};${n_ranks}" PARENT_SCOPE)
endfunction()

# The one place that sets the properties of all tests.
function(commtask_finish_test test timeout processors labels environment)
    math(EXPR limit "${timeout} * ${COMMTASK_TEST_TIMEOUT_FACTOR}")
    set_tests_properties(
        ${test}
        PROPERTIES TIMEOUT ${limit}
                   PROCESSORS ${processors}
                   SKIP_RETURN_CODE 77
                   LABELS "${labels}"
                   ENVIRONMENT "${commtask_test_environment};${environment}")
endfunction()

# Builds the executable of a test; its file has the name of the ctest test, dots included.
function(commtask_add_test_program name sources libraries)
    add_executable(${name} ${sources})
    target_compile_options(${name} PRIVATE ${commtask_built_quickly})
    target_link_libraries(${name} PRIVATE commtask_build_flags ${libraries})
    if("${libraries}" MATCHES "_parts|miniapp_") # whose compiler options come with the miniapp
        return()
    endif()
    if(CMAKE_CURRENT_SOURCE_DIR MATCHES "/tests/unit$")
        commtask_reuse_precompiled(${name} commtask_unit_precompiled)
    elseif("commtask_omp" IN_LIST libraries OR "commtask_openmp" IN_LIST libraries)
        commtask_reuse_precompiled(${name} commtask_omp_test_precompiled)
    else()
        commtask_reuse_precompiled(${name} commtask_test_precompiled)
    endif()
endfunction()

# commtask_add_unit_test(NAME unit.x SOURCES … LIBRARIES … [LABELS …] [ENVIRONMENT K=V …]
#                        [TIMEOUT s])
function(commtask_add_unit_test)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TIMEOUT" "SOURCES;LIBRARIES;LABELS;ENVIRONMENT")
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 60)
    endif()
    commtask_add_test_program(${arg_NAME} "${arg_SOURCES}" "${arg_LIBRARIES};GTest::gmock;GTest::gtest_main")
    add_test(NAME ${arg_NAME} COMMAND ${arg_NAME})
    commtask_finish_test(${arg_NAME} ${arg_TIMEOUT} 1 "unit;${arg_LABELS}" "${arg_ENVIRONMENT}")
endfunction()

# Sets `result` to "again" if a test with this number of ranks (or threads) only repeats the test
# with two, else to nothing. The remaining arguments are numbers with which the test shows more.
function(commtask_again result number numbers)
    set(again "")
    if(number GREATER 2 AND 2 IN_LIST numbers AND NOT number IN_LIST ARGN)
        set(again again)
    endif()
    set(${result} "${again}" PARENT_SCOPE)
endfunction()

# The label of a number of ranks. The preset tsan leaves out ranks-3, but not ranks-3-tsan.
function(commtask_label_of_ranks result n_ranks three_under_tsan)
    set(label ranks-${n_ranks})
    if(three_under_tsan AND n_ranks EQUAL 3)
        string(APPEND label -tsan)
    endif()
    set(${result} ${label} PARENT_SCOPE)
endfunction()

# commtask_add_run_test(NAME mpi.x TARGET exe RANKS 1 2 4 [SHOW_MORE 4] [THREE_UNDER_TSAN] [ARGS …]
#                       [ENVIRONMENT K=V …] [LABELS …] [TIMEOUT s])
# Adds mpi.x.n1, mpi.x.n2, … for an executable that exists already. SHOW_MORE: numbers of ranks with
# which the test shows more than with two. THREE_UNDER_TSAN: under TSan, three ranks show more than
# two.
function(commtask_add_run_test)
    cmake_parse_arguments(PARSE_ARGV 0 arg "THREE_UNDER_TSAN" "NAME;TARGET;TIMEOUT" "RANKS;SHOW_MORE;ARGS;LABELS;ENVIRONMENT")
    if(NOT arg_RANKS)
        message(FATAL_ERROR "${arg_NAME}: every MPI test says its rank counts (RANKS 1 2 4).")
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 60)
    endif()
    foreach(n_ranks IN LISTS arg_RANKS)
        set(test ${arg_NAME}.n${n_ranks})
        commtask_launch_words(words ${n_ranks})
        add_test(NAME ${test} COMMAND ${MPIEXEC_EXECUTABLE} ${words} $<TARGET_FILE:${arg_TARGET}> ${arg_ARGS})
        commtask_again(again ${n_ranks} "${arg_RANKS}" ${arg_SHOW_MORE})
        commtask_label_of_ranks(of_ranks ${n_ranks} ${arg_THREE_UNDER_TSAN})
        commtask_finish_test(${test} ${arg_TIMEOUT} ${n_ranks} "mpi;${of_ranks};${arg_LABELS};${again}"
                             "${arg_ENVIRONMENT}")
    endforeach()
endfunction()

# commtask_add_mpi_test(NAME mpi.x SOURCES … LIBRARIES … RANKS 1 2 4 [SHOW_MORE 4]
#                       [THREE_UNDER_TSAN] [ARGS …] [ENVIRONMENT K=V …] [LABELS …] [TIMEOUT s])
# A GoogleTest program under mpiexec; its main() is tests/support/mpi_main.cpp.
function(commtask_add_mpi_test)
    cmake_parse_arguments(PARSE_ARGV 0 arg "THREE_UNDER_TSAN" "NAME;TIMEOUT"
                          "SOURCES;LIBRARIES;RANKS;SHOW_MORE;ARGS;LABELS;ENVIRONMENT")
    commtask_add_test_program(${arg_NAME} "${arg_SOURCES}" "${arg_LIBRARIES};commtask_test_mpi_main")
    set(three_under_tsan "")
    if(arg_THREE_UNDER_TSAN)
        set(three_under_tsan THREE_UNDER_TSAN)
    endif()
    commtask_add_run_test(NAME ${arg_NAME} ${three_under_tsan} TARGET ${arg_NAME} RANKS ${arg_RANKS} SHOW_MORE ${arg_SHOW_MORE} ARGS ${arg_ARGS}
                          LABELS ${arg_LABELS} ENVIRONMENT ${arg_ENVIRONMENT} TIMEOUT ${arg_TIMEOUT})
endfunction()

# commtask_add_refusal(miniapp folder x says …): folder.refuses.x.n2 runs the miniapp with the remaining
# arguments on two ranks; it must refuse them with a message that matches `says`.
function(commtask_add_refusal target folder name says)
    commtask_add_run_test(NAME ${folder}.refuses.${name} TARGET ${target} RANKS 2 ARGS ${ARGN} LABELS ${folder} TIMEOUT 20)
    set_tests_properties(${folder}.refuses.${name}.n2 PROPERTIES PASS_REGULAR_EXPRESSION "${target}: .*${says}")
endfunction()
