/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into the ranks of tests that, with their workers, outnumber this machine's cores. A blocking call of MPICH looks
 * for messages without ever leaving the processor, so each hand-over between such ranks waits for the end of a scheduler's
 * slice: most of the time of such a test. Here who looks in vain for a while lets another thread run; nothing else changes.
 * Tests of one rank, those of the interposer, and all where there are cores enough have MPICH as it is.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

/* What MPICH calls in each look, of the library below it. */
typedef unsigned (*look)(void* worker);
__attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker);

unsigned ucp_worker_progress(void* worker) {
    enum { looks_before_yield = 30 };
    static look next; /* every thread finds the same */
    static __thread int looks_in_vain;
    look found = __atomic_load_n(&next, __ATOMIC_RELAXED);
    if (found == NULL) {
        *(void**)&found = dlsym(RTLD_NEXT, "ucp_worker_progress");
        __atomic_store_n(&next, found, __ATOMIC_RELAXED);
    }
    const unsigned moved = found(worker);
    looks_in_vain = moved > 0 ? 0 : looks_in_vain + 1;
    if (looks_in_vain >= looks_before_yield) {
        looks_in_vain = 0;
        sched_yield();
    }
    return moved;
}
