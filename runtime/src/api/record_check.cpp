// SPDX-License-Identifier: Apache-2.0
//
// COMMTASK_PLAN_CHECK=1: a program that starts a plan where it once posted records what it would post, and the two are compared.
// What is posted anew costs as much as without a plan: this is for finding out why results are wrong, not for every day.
#include "api/context.hpp"
#include "api/on_driver.hpp"
#include "api/record.hpp"
#include "base/last_error.hpp"
#include "base/speech.hpp"
#include "core/operation_traits.hpp"

#include <cstdio>
#include <new>
#include <string>
#include <utility>

namespace commtask::detail {
namespace {

/// What the two sides of a difference are called; empty if there is none.
using difference = std::string;

template <typename Value>
[[nodiscard]] difference compare(const char* what, const Value& planned, const Value& posted) {
    if (planned == posted) return {};
    if constexpr (std::is_integral_v<Value>) {
        return std::string(what) + " " + std::to_string(posted) + " where the plan has " + std::to_string(planned);
    } else {
        return "another " + std::string(what);
    }
}

template <typename... Differences>
[[nodiscard]] difference first_of(Differences&&... compare_next) {
    difference found;
    static_cast<void>(((found = compare_next(), found.empty()) && ...));
    return found;
}

[[nodiscard]] difference compare_sides(const char* name, const commtask_side& planned, const commtask_side& posted,
                                       bool has_arrays) {
    const std::string side = name;
    return first_of([&] { return compare((side + " buffer").c_str(), planned.buffer, posted.buffer); },
                    [&] {
                        return has_arrays ? compare((side + " counts").c_str(), planned.counts, posted.counts)
                                          : compare((side + " count").c_str(), planned.count, posted.count);
                    },
                    [&] { return compare((side + " displacements").c_str(), planned.displs, posted.displs); },
                    [&] { return compare((side + " datatype").c_str(), planned.type, posted.type); });
}

/// Their number is the count of the side that is not there.
[[nodiscard]] difference compare_partitions(const commtask_op& planned, const commtask_op& posted) {
    const operation_traits& kind = operation_of(planned.kind);
    if (!kind.has_partitions) return {};
    const auto number_of = [&](const commtask_op& op) { return kind.has_recv_side ? op.send.count : op.recv.count; };
    return compare("number of partitions", number_of(planned), number_of(posted));
}

[[nodiscard]] difference compare_members(const plan_member& planned, const plan_member& posted) {
    const commtask_op& one = planned.op;
    const commtask_op& other = posted.op;
    const operation_traits& kind = operation_of(one.kind);
    if (one.kind != other.kind) {
        return std::string(operation_of(other.kind).name) + " where the plan has " + kind.name;
    }
    return first_of(
        [&] { return compare("communicator", one.comm, other.comm); },
        [&] {
            return compare(kind.has_root ? "root" : kind.has_dests ? "number of dests" : "dest", one.peer, other.peer);
        },
        [&] { return compare("source", one.source, other.source); }, [&] { return compare_partitions(one, other); },
        [&] { return compare("send tag", one.send_tag, other.send_tag); },
        [&] { return compare("receive tag", one.recv_tag, other.recv_tag); },
        [&] { return compare_sides("send", one.send, other.send, kind.has_send_arrays()); },
        [&] { return compare_sides("receive", one.recv, other.recv, kind.has_recv_arrays()); },
        [&] { return compare("function or reduction", one.start, other.start); },
        [&] { return compare("argument", one.result, other.result); },
        [&] { return compare("order", planned.order, posted.order); },
        [&] { return compare("flags", planned.flags, posted.flags); },
        [&] { return planned.predecessors == posted.predecessors ? difference{} : "other predecessors"; });
}

[[nodiscard]] difference compare_plans(plan& planned, plan& posted) {
    for (std::size_t i = 0; i < planned.n_posted() && i < posted.n_posted(); ++i) {
        plan_member& one = planned.posted(i);
        plan_member& other = posted.posted(i);
        difference found = compare_members(one, other);
        // What one in partitions waits for is its groups; they wait for what the program said.
        if (found.empty() && one.partitions) {
            found = compare_members(planned[one.partitions->first_group], posted[other.partitions->first_group]);
        }
        if (!found.empty()) {
            return "member " + std::to_string(i) + " (" + operation_of(one.op.kind).name + "): " + found;
        }
    }
    return compare("number of members:", planned.n_posted(), posted.n_posted());
}

} // namespace
} // namespace commtask::detail

using namespace commtask::detail;

int commtask_plan_is_checked(void) noexcept {
    const context* const runtime = context::current();
    return runtime != nullptr && runtime->settings().plan_check != 0 ? 1 : 0;
}

int commtask_record_check(commtask_plan_t plan) noexcept {
    if (!is_recording()) {
        return refuse(COMMTASK_ERR_ARGUMENT, "this thread is not recording: commtask_record_begin comes first");
    }
    if (plan == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "plan is COMMTASK_PLAN_NULL");
    const context* const runtime = context::current();
    if (runtime == nullptr) return commtask_record_end(nullptr);
    difference found;
    try {
        found = compare_plans(*plan, *recorded_here);
    } catch (const std::bad_alloc&) { // not named, then
    }
    if (const int code = commtask_record_end(nullptr); code != COMMTASK_OK) return code;
    if (found.empty()) return COMMTASK_OK;
    if (runtime->settings().verbose >= 1) say("the program would post something else than its plan: %s", found.c_str());
    return refuse(COMMTASK_ERR_ARGUMENT, "the program would post something else than its plan: %s", found.c_str());
}
