# SPDX-License-Identifier: Apache-2.0
# Communication that holds tasks (docs/bind.md): programs with libcommtask-omp-bind in front of libomp. A file of its own, since
# they need other libraries and teams than the rest of the OpenMP tests.

set(bind_environment OMP_CANCELLATION=true OMP_MAX_TASK_PRIORITY=20)

# clang counts the iterations of a taskloop with conversions that it then warns of.
set_source_files_properties(bind_taskloop_test.cpp PROPERTIES COMPILE_OPTIONS "-Wno-conversion;-Wno-sign-compare")
foreach(program IN ITEMS bind bind_errors bind_many bind_taskloop)
    commtask_build_omp_test(omp.${program} ${program}_test.cpp)
    target_link_libraries(omp.${program} PRIVATE commtask_omp_bind)
endforeach()
target_sources(omp.bind PRIVATE bind_schedule_test.cpp bind_freed_test.cpp)

foreach(threads IN LISTS team_sizes)
    foreach(program IN ITEMS bind bind_errors bind_taskloop)
        commtask_run_omp_test(omp.${program} t${threads} RANKS 1 2
                              ENVIRONMENT OMP_NUM_THREADS=${threads} ${bind_environment})
    endforeach()
    if(NOT COMMTASK_SANITIZE STREQUAL "thread-omp")
        commtask_run_omp_test(omp.bind checked.t${threads} RANKS 2
                              ENVIRONMENT OMP_NUM_THREADS=${threads} COMMTASK_OMP_CHECK=1 ${bind_environment})
    endif()
endforeach()
if(NOT COMMTASK_SANITIZE STREQUAL "thread-omp")
    commtask_run_omp_test(omp.bind shared.t2 RANKS 2
                          ENVIRONMENT OMP_NUM_THREADS=2 COMMTASK_IDLE=shared ${bind_environment})
    commtask_run_omp_test(omp.bind passive RANKS 2
                          ENVIRONMENT OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive ${bind_environment})
endif()
if(COMMTASK_SANITIZE STREQUAL "thread-omp")
    # Two threads of one team on held tasks, which Archer bears; the rest has teams of one there (CMakeLists.txt).
    commtask_run_omp_test(omp.bind t2 RANKS 1 2 ENVIRONMENT OMP_NUM_THREADS=2 ${bind_environment})
endif()
foreach(threads IN LISTS few_team_sizes)
    commtask_run_omp_test(omp.bind_many t${threads} RANKS 1 2 LABELS stress TIMEOUT 120
                          ENVIRONMENT OMP_NUM_THREADS=${threads} COMMTASK_TEST_TASKS=${n_tasks})
endforeach()

# What the dynamic linker is told; a sanitizer wants to be the first in that list itself.
if(COMMTASK_SANITIZE STREQUAL "none")
    commtask_build_omp_test(omp.bind_check bind_check_test.cpp)
    set(bind_library "$<TARGET_FILE:commtask_omp_bind>")
    commtask_run_omp_test(omp.bind_check nowhere RANKS 1
                          ENVIRONMENT OMP_NUM_THREADS=2 "BIND_TEST_EXPECTS=are not bound")
    commtask_run_omp_test(omp.bind_check in_front RANKS 1
                          ENVIRONMENT OMP_NUM_THREADS=2 BIND_TEST_EXPECTS=bound LD_PRELOAD=${bind_library})
    commtask_run_omp_test(omp.bind_check behind RANKS 1 ENVIRONMENT OMP_NUM_THREADS=2 "BIND_TEST_EXPECTS=comes after"
                          LD_PRELOAD=${COMMTASK_LIBOMP}:${bind_library})
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    set(older "${CMAKE_CURRENT_BINARY_DIR}/older/libomp.so.5")
    add_test(NAME omp.bind_check.older.build COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/older_libomp.py"
                                                     "${COMMTASK_LIBOMP}" "${older}")
    commtask_finish_test(omp.bind_check.older.build 20 1 "omp" "")
    set_tests_properties(omp.bind_check.older.build PROPERTIES FIXTURES_SETUP omp.bind_check.older)
    commtask_run_omp_test(omp.bind_check older RANKS 1 ENVIRONMENT OMP_NUM_THREADS=2 "BIND_TEST_EXPECTS=older than LLVM 19"
                          LD_PRELOAD=${bind_library}:${older})
    set_tests_properties(omp.bind_check.older.n1 PROPERTIES FIXTURES_REQUIRED omp.bind_check.older)

    # The same program from the clangs of docs/bind.md's table, linked with this libomp.
    foreach(version IN ITEMS 14 15 16 19 22)
        set(test omp.bind.clang-${version}.n2)
        add_test(
            NAME ${test}
            COMMAND
                Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/bind_compilers.py" --clang
                clang-${version} --source "${CMAKE_CURRENT_SOURCE_DIR}/bind_compilers.c" --work
                "${CMAKE_CURRENT_BINARY_DIR}/bind_compilers-${version}" "--include=${COMMTASK_OMP_H_DIR}"
                "--flags=-I${PROJECT_SOURCE_DIR}/runtime/include -I${PROJECT_BINARY_DIR}/runtime/include \
-I${PROJECT_SOURCE_DIR}/plugins/omp/include ${mpi_flags}" "--libraries=$<TARGET_FILE:commtask_omp_bind> $<TARGET_FILE:commtask_omp> \
$<TARGET_FILE:commtask> ${COMMTASK_LIBOMP} ${mpi_libraries} ${mpi_run_path} \
-Wl,-rpath,$<TARGET_FILE_DIR:commtask_omp_bind>:$<TARGET_FILE_DIR:commtask_omp>:$<TARGET_FILE_DIR:commtask>:${COMMTASK_LIBOMP_DIR}" --
                ${MPIEXEC_EXECUTABLE} ${COMMTASK_MPIEXEC_FLAGS} ${MPIEXEC_NUMPROC_FLAG} 2)
        set(again "")
        if(NOT version EQUAL 19)
            set(again again)
        endif()
        commtask_finish_test(${test} 60 2 "omp;mpi;ranks-2;${again}" "")
    endforeach()
endif()

commtask_add_test_program(omp.docs.bind_halo "${PROJECT_SOURCE_DIR}/docs/snippets/bind_halo.c" commtask_omp_bind)
commtask_add_run_test(NAME omp.docs.bind_halo TARGET omp.docs.bind_halo RANKS 1 2 3 LABELS "omp;docs" TIMEOUT 60)
