// SPDX-License-Identifier: Apache-2.0
//
// The end of plans: the program releases a plan, or commtask_finalize releases the remaining ones.
// The plans' requests are freed first, so that MPI_Finalize finds none.
#include "api/plan_registry.hpp"

#include "core/lane.hpp"
#include "mpi/plan_types.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

namespace commtask::detail {
namespace {

/// A linked list of plans that outlived their context, so that adding one needs no memory.
std::mutex left_mutex;
commtask_plan_s* first_left = nullptr;

/// Open recordings of any context: a thread may drop its recording when there is no context.
std::mutex open_mutex;
commtask_plan_s* first_open = nullptr;

/// @param next  the link of the list that begins with `first`
/// @return the pointer to `which` in the list; null if it is not in the list
[[nodiscard]] commtask_plan_s** find_link(commtask_plan_s*& first, commtask_plan_s* commtask_plan_s::* next,
                                          const commtask_plan_s* which) noexcept {
    for (commtask_plan_s** link = &first; *link != nullptr; link = &((*link)->*next)) {
        if (*link == which) return link;
    }
    return nullptr;
}

/// Frees the plan's requests and datatypes in MPI, and completes the tasks that wait for its next
/// run.
void end(commtask_plan_s& released) noexcept {
    for (plan_member& member : released) member.queue->served_by->engine.below().forget(member);
    free_types(released.types);
    released.cancel_instantiated(release_to_its_lane);
}

/// From here on only free_rest() accepts the program's handle.
void leave(commtask_plan_s& left) noexcept {
    left.outlive_runtime();
    const std::lock_guard guard{left_mutex};
    left.next_left = first_left;
    first_left = &left;
}

} // namespace

bool plan_registry::add(commtask_plan_s& made) noexcept {
    try {
        const std::lock_guard guard{mutex_};
        plans_.push_back(&made);
    } catch (const std::bad_alloc&) {
        return false;
    }
    return true;
}

void plan_registry::remove(const commtask_plan_s& released) noexcept {
    const std::lock_guard guard{mutex_};
    std::erase(plans_, &released);
}

void plan_registry::begin_recording(commtask_plan_s& begun) noexcept {
    const std::lock_guard guard{open_mutex};
    begun.next_open = std::exchange(first_open, &begun);
}

void plan_registry::end_recording(const commtask_plan_s& ended) noexcept {
    const std::lock_guard guard{open_mutex};
    if (commtask_plan_s** const link = find_link(first_open, &commtask_plan_s::next_open, &ended))
        *link = ended.next_open;
}

void plan_registry::destroy(commtask_plan_s& released) noexcept {
    end(released);
    delete &released;
}

template <typename Is>
void plan_registry::forget_if(Is&& is_such) noexcept {
    const std::lock_guard guard{mutex_};
    std::erase_if(plans_, [&](commtask_plan_s* left) {
        if (!is_such(*left)) return false;
        if (left->try_change()) end(*left);
        left->release_members();
        leave(*left);
        return true;
    });
    const std::lock_guard open_guard{open_mutex};
    for (commtask_plan_s* open = std::exchange(first_open, nullptr); open != nullptr; open = open->next_open) {
        free_types(open->types);
        // the recording thread drops it; under commtask-run the session continues
        open->session = 0;
    }
}

void plan_registry::forget_all() noexcept {
    forget_if([](commtask_plan_s&) { return true; });
}

void plan_registry::forget_programs() noexcept {
    forget_if([](commtask_plan_s& each) { return each.size() == 0 || (each[0].flags & flag_is_call) == 0; });
}

void plan_registry::abandon_all() noexcept {
    const std::lock_guard guard{mutex_};
    for (commtask_plan_s* const left : plans_) {
        left->is_in_use_for_good = true;
        leave(*left);
    }
    plans_.clear();
}

bool plan_registry::free_rest(const commtask_plan_s* left) noexcept {
    const std::lock_guard guard{left_mutex};
    commtask_plan_s** const link = find_link(first_left, &commtask_plan_s::next_left, left);
    if (link == nullptr) return false;
    if (left->is_in_use_for_good) return true; // not freed, but still reachable for a leak checker
    *link = left->next_left;
    delete left;
    return true;
}

} // namespace commtask::detail
