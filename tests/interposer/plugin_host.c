// SPDX-License-Identifier: Apache-2.0
//
// A program that does not link MPI and loads a plugin that does (argv[1]), as an interpreter loads its MPI module:
// privately, with symbols bound late, and unloaded before the program ends.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
    void* plugin = argc > 1 ? dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL) : NULL;
    if (!plugin) {
        printf("FAULT: %s\n", argc > 1 ? dlerror() : "no plugin named");
        return 1;
    }
    int (*run)(void) = NULL;
    *(void**)&run = dlsym(plugin, "probe_plugin_run");
    const int result = run ? run() : 1;
    dlclose(plugin);
    return result;
}
