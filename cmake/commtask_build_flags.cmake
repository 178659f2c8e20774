# SPDX-License-Identifier: Apache-2.0
# commtask_build_flags: the compiler options of every target of this project, and of no other
# target. Link it PRIVATE. The target has the language level, the warnings, hidden visibility, the
# sanitizer and the assertions, so a project that adds this one with add_subdirectory keeps its own
# flags.

add_library(commtask_build_flags INTERFACE)
target_compile_features(commtask_build_flags INTERFACE c_std_11 cxx_std_20)
target_compile_options(
    commtask_build_flags
    INTERFACE -Wall
              -Wextra
              -Wpedantic
              -Wshadow
              -Wconversion
              -Wvla
              -Wcast-align
              $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
              $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
              $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
              -fvisibility=hidden
              $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>)
if(COMMTASK_WERROR)
    target_compile_options(commtask_build_flags INTERFACE -Werror)
endif()
target_compile_definitions(commtask_build_flags INTERFACE COMMTASK_ASSERTIONS=$<BOOL:${COMMTASK_ASSERTIONS}>)

if(COMMTASK_SANITIZE STREQUAL "address")
    set(commtask_sanitizer_flags -fsanitize=address,undefined -fno-sanitize-recover=undefined)
elseif(COMMTASK_SANITIZE STREQUAL "thread" OR COMMTASK_SANITIZE STREQUAL "thread-omp")
    set(commtask_sanitizer_flags -fsanitize=thread)
elseif(COMMTASK_SANITIZE STREQUAL "none")
    set(commtask_sanitizer_flags "")
else()
    message(FATAL_ERROR
                "COMMTASK_SANITIZE is '${COMMTASK_SANITIZE}'; it must be none, address, thread or thread-omp.")
endif()
if(commtask_sanitizer_flags)
    target_compile_options(commtask_build_flags INTERFACE ${commtask_sanitizer_flags} -fno-omit-frame-pointer)
    target_link_options(commtask_build_flags INTERFACE ${commtask_sanitizer_flags})
    if(COMMTASK_SANITIZE STREQUAL "address")
        # For a C program with the project's libraries: the sanitizer's checks of C++ objects are in
        # a part that C does not link.
        target_link_options(commtask_build_flags INTERFACE
                            "$<$<LINK_LANG_AND_ID:C,Clang>:-fsanitize-link-c++-runtime;-lstdc++>")
    endif()
endif()

# Options for code whose own speed is irrelevant: the tests and, with assertions, the benchmarks,
# the tools, and code that reads a command line or writes a report. Optimising it took a third of a
# whole build's time. With sanitizers this code is optimised, since it would be too slow otherwise.
set(commtask_built_quickly "")
if(COMMTASK_ASSERTIONS AND COMMTASK_SANITIZE STREQUAL "none")
    set(commtask_built_quickly -O0)
endif()
