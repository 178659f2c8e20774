// SPDX-License-Identifier: Apache-2.0
// A handle is given back once. Two owners of one would give it back twice, and the second would hit another task that
// uses the slot by then; so a task is moved and never copied.
// expect: deleted
#include <commtask/commtask.hpp>

#include <utility>

#ifdef WRONG
commtask::task second_owner(commtask::task& first) { return first; }
#else
commtask::task next_owner(commtask::task& first) { return std::move(first); }
#endif
