# SPDX-License-Identifier: Apache-2.0
# commtask_enable_clause(target [OPTIONAL]): lets the sources of a target write communication as a
# clause of `#pragma omp task`. The function gives the compiler the plugin for its release, and
# defines COMMTASK_HAVE_CLAUSE=1. With OPTIONAL, a compiler without a plugin is no error; the
# sources then use COMM_TASK. This project and the installed package use the same file; the plugins
# are in COMMTASK_CLAUSE_DIR.

function(commtask_enable_clause target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIONAL" "" "")
    foreach(language IN ITEMS C CXX)
        if(NOT CMAKE_${language}_COMPILER_LOADED)
            continue()
        endif()
        string(REGEX MATCH "^[0-9]+" version "${CMAKE_${language}_COMPILER_VERSION}")
        set(plugin "${COMMTASK_CLAUSE_DIR}/clang-${version}/libcommtask_clause.so")
        if(CMAKE_${language}_COMPILER_ID STREQUAL "Clang"
           AND (TARGET commtask_clause_${version} OR EXISTS "${plugin}"))
            target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:${language}>:-fplugin=${plugin}>")
            target_compile_definitions(${target} PRIVATE "$<$<COMPILE_LANGUAGE:${language}>:COMMTASK_HAVE_CLAUSE=1>")
            if(TARGET commtask_clause_${version})
                # Ninja compiles a target before the libraries that it depends on are linked, but
                # not before the custom targets that it depends on are built.
                if(NOT TARGET commtask_clause_${version}_is_built)
                    add_custom_target(commtask_clause_${version}_is_built)
                    add_dependencies(commtask_clause_${version}_is_built commtask_clause_${version})
                endif()
                add_dependencies(${target} commtask_clause_${version}_is_built)
            endif()
        elseif(NOT arg_OPTIONAL)
            file(GLOB there RELATIVE "${COMMTASK_CLAUSE_DIR}" "${COMMTASK_CLAUSE_DIR}/clang-*")
            if(NOT there)
                set(there "none, since commtask was built without -DCOMMTASK_BUILD_CLAUSE=ON")
            endif()
            message(FATAL_ERROR
                        "commtask_enable_clause(${target}): there is no plugin for the ${language} compiler "
                        "${CMAKE_${language}_COMPILER_ID} ${CMAKE_${language}_COMPILER_VERSION}. "
                        "There are plugins for: ${there} (in ${COMMTASK_CLAUSE_DIR}). Use one of these compilers, or "
                        "commtask_enable_clause(${target} OPTIONAL) and the macro COMM_TASK.")
        endif()
    endforeach()
endfunction()
