# SPDX-License-Identifier: Apache-2.0
# Precompiled headers, which save half of a build's processor time: most of what a source of this
# project costs is the headers of others (the C++ library, GoogleTest, nlohmann-json, CLI11). Only
# clang uses them, and only in this project's own builds: gcc's builds show that each source
# includes what it needs. CMAKE_DISABLE_PRECOMPILE_HEADERS=ON switches them off.

# commtask_precompile(target <header>…): compiles the headers once, for all C++ sources of the target.
function(commtask_precompile target)
    if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        return()
    endif()
    list(TRANSFORM ARGN REPLACE "^(.+)$" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>" OUTPUT_VARIABLE headers)
    target_precompile_headers(${target} PRIVATE ${headers})
    # Without the time of writing, ccache knows the precompiled header of another build again.
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()

# commtask_reuse_precompiled(target from): uses the headers precompiled for `from`, which is compiled
# with the same options.
function(commtask_reuse_precompiled target from)
    if(NOT TARGET ${from}) # of a folder that is added later
        return()
    endif()
    get_target_property(headers ${from} PRECOMPILE_HEADERS)
    get_target_property(sources ${target} SOURCES)
    if(headers AND sources MATCHES "\\.cpp")
        target_precompile_headers(${target} REUSE_FROM ${from})
        target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
    endif()
endfunction()
