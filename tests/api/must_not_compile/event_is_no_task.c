// SPDX-License-Identifier: Apache-2.0
// Tasks and events are different handles: waiting for an event as if it were a task would read one struct as the
// other. The two opaque types let the compiler find it.
// expect: incompatible.pointer|incompatible pointer
#include <commtask/commtask.h>

#ifdef WRONG
int wait_for_it(commtask_event_t* event) { return commtask_wait(event, NULL); }
#else
int wait_for_it(commtask_t* task) { return commtask_wait(task, NULL); }
#endif
