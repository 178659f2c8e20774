/* SPDX-License-Identifier: Apache-2.0
 *
 * A tool that does nothing but say that libomp took it: to see that this library, which can be a tool itself, leaves
 * the place to others. */
#include <omp-tools.h>
#include <stddef.h>
#include <stdio.h>

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t* tool) {
    (void)lookup;
    (void)device;
    (void)tool;
    fprintf(stderr, "another tool was taken\n");
    return 1;
}

static void finalize(ompt_data_t* tool) { (void)tool; }

__attribute__((visibility("default"))) ompt_start_tool_result_t* ompt_start_tool(unsigned version,
                                                                                 const char* runtime) {
    static ompt_start_tool_result_t result = {&initialize, &finalize, {0}};
    (void)version;
    (void)runtime;
    return &result;
}
