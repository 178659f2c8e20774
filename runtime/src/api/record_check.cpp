// SPDX-License-Identifier: Apache-2.0
//
// COMMTASK_PLAN_CHECK=1: where a program starts a plan, it also records the operations that it
// would post, and this file compares the recording with the plan. Recording costs as much as
// posting without a plan, so the check is for debugging only.
#include "api/context.hpp"
#include "api/list_snapshots.hpp"
#include "api/record.hpp"
#include "api/run_in_progress_call.hpp"
#include "base/last_error.hpp"
#include "base/log.hpp"
#include "core/operation_traits.hpp"
#include "mpi/plan_types.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace commtask::detail {
namespace {

/// A difference with the texts of both sides; empty if there is none.
using difference = std::string;

/// For values whose text does not help a reader: addresses, and MPI handles, which are integers in
/// some MPIs.
template <typename Value>
[[nodiscard]] difference compare_handles(const char* what, const Value& planned, const Value& posted) {
    return planned == posted ? difference{} : "another " + std::string(what);
}

template <typename Value>
[[nodiscard]] difference compare(const char* what, const Value& planned, const Value& posted) {
    if constexpr (std::is_integral_v<Value>) {
        if (planned == posted) return {};
        return std::string(what) + " " + std::to_string(posted) + " where the plan has " + std::to_string(planned);
    } else {
        return compare_handles(what, planned, posted);
    }
}

template <typename... Differences>
[[nodiscard]] difference first_of(Differences&&... compare_next) {
    difference found;
    static_cast<void>(((found = compare_next(), found.empty()) && ...));
    return found;
}

[[nodiscard]] difference compare_sides(const char* name, const commtask_side& planned, const commtask_side& posted,
                                       bool has_arrays, bool has_types) {
    const std::string side = name;
    return first_of(
        [&] { return compare((side + " buffer").c_str(), planned.buffer, posted.buffer); },
        [&] { return has_arrays ? "" : compare((side + " count").c_str(), planned.count, posted.count); },
        [&] { return has_arrays ? "" : compare((side + " displacement").c_str(), planned.displs, posted.displs); },
        [&] { return has_types || are_same_types(planned.type, posted.type) ? "" : "another " + side + " datatype"; });
}

/// Compares the contents of the lists and arrays of two operations of a kind, wherever these are
/// stored.
[[nodiscard]] difference compare_lists(const std::vector<list_snapshot>& planned,
                                       const std::vector<list_snapshot>& posted) {
    for (std::size_t i = 0; i < planned.size() && i < posted.size(); ++i) {
        const std::vector<std::int64_t>& one = planned[i].entries;
        const std::vector<std::int64_t>& other = posted[i].entries;
        const std::string name = planned[i].name;
        if (one.size() != other.size()) return "another number of " + name;
        const auto is_same = [&](std::int64_t from_plan, std::int64_t from_post) {
            if (!planned[i].are_handles) return from_plan == from_post;
            std::array<MPI_Datatype, 2> types{};
            std::memcpy(&types[0], &from_plan, sizeof types[0]);
            std::memcpy(&types[1], &from_post, sizeof types[1]);
            return are_same_types(types[0], types[1]);
        };
        const std::ptrdiff_t at = std::ranges::mismatch(one, other, is_same).in1 - one.begin();
        if (static_cast<std::size_t>(at) == one.size()) continue;
        const std::string entry = name + "[" + std::to_string(at) + "]";
        const auto which = static_cast<std::size_t>(at);
        return planned[i].are_handles ? "another " + entry : compare(entry.c_str(), one[which], other[which]);
    }
    return {};
}

/// The number of partitions is stored as the count of the operation's unused side.
[[nodiscard]] difference compare_partitions(const commtask_op& planned, const commtask_op& posted) {
    const operation_traits& kind = operation_of(planned.kind);
    if (!kind.has_partitions) return {};
    const auto number_of = [&](const commtask_op& op) { return kind.has_recv_side ? op.send.count : op.recv.count; };
    return compare("number of partitions", number_of(planned), number_of(posted));
}

[[nodiscard]] std::uint32_t order_of(std::uint32_t flags) noexcept {
    return flags & std::uint32_t{COMMTASK_ORDERED | COMMTASK_UNORDERED};
}

[[nodiscard]] difference compare_members(const plan_member& planned, const plan_member& posted) {
    const commtask_op& one = planned.op;
    const commtask_op& other = posted.op;
    const operation_traits& kind = operation_of(one.kind);
    if (one.kind != other.kind) { // lint-allow(kind): whether two operations are of one kind, whatever it is
        return std::string(operation_of(other.kind).name) + " where the plan has " + kind.name;
    }
    const bool has_types = kind.counts == count_shape::typed_arrays;
    return first_of(
        [&] { return compare_handles("communicator", one.comm, other.comm); },
        [&] {
            return compare(kind.has_root ? "root" : kind.has_dests ? "number of dests" : "dest", one.peer, other.peer);
        },
        [&] { return compare(kind.has_sources ? "number of sources" : "source", one.source, other.source); },
        [&] { return compare_partitions(one, other); },
        [&] { return compare("send tag", one.send_tag, other.send_tag); },
        [&] { return compare("receive tag", one.recv_tag, other.recv_tag); },
        [&] { return compare_sides("send", one.send, other.send, kind.has_send_arrays(), has_types); },
        [&] { return compare_sides("receive", one.recv, other.recv, kind.has_recv_arrays(), has_types); },
        [&] { return kind.has_sources ? "" : compare("function or reduction", one.start, other.start); },
        [&] { return kind.has_dests ? "" : compare("argument", one.result, other.result); },
        [&] { return compare("order", order_of(planned.flags), order_of(posted.flags)); },
        [&] { return compare("flags", planned.flags, posted.flags); },
        [&] { return planned.predecessors == posted.predecessors ? difference{} : "other predecessors"; });
}

[[nodiscard]] difference compare_plans(commtask_plan_s& planned, commtask_plan_s& posted) {
    for (std::size_t i = 0; i < planned.n_posted() && i < posted.n_posted(); ++i) {
        plan_member& one = planned.posted(i);
        plan_member& other = posted.posted(i);
        difference found = compare_members(one, other);
        if (found.empty() && i < planned.lists.size() && i < posted.lists.size()) {
            found = compare_lists(planned.lists[i], posted.lists[i]);
        }
        // The predecessors of a partitioned member are its groups; the groups have the predecessors
        // that the program gave.
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
        return refuse(COMMTASK_ERR_ARGUMENT, "this thread is not recording: call commtask_record_begin first");
    }
    if (plan == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "plan is COMMTASK_PLAN_NULL");
    // No comparison is possible. The recording ends, as after any difference.
    if (plan->has_outlived_runtime()) {
        static_cast<void>(commtask_record_end(nullptr));
        return refuse_running(*plan);
    }
    const context* const runtime = context::current();
    commtask_plan_s& posted = *recorded_here;
    if (runtime == nullptr || posted.session != runtime->session_number()) return commtask_record_end(nullptr);
    difference found;
    // callbacks may run concurrently with the progress thread of another lane
    static std::mutex noting;
    const int noted = run_in_progress_call([&] {
        const std::lock_guard guard{noting};
        snapshot_lists(posted);
        // With their present contents, since the plan was recorded without COMMTASK_PLAN_CHECK.
        if (plan->lists.empty()) snapshot_lists(*plan);
        try {
            found = compare_plans(*plan, posted);
        } catch (const std::bad_alloc&) { // then the difference is not printed
        }
    });
    if (noted != COMMTASK_OK) return noted; // the recording continues
    if (const int code = commtask_record_end(nullptr); code != COMMTASK_OK) return code;
    if (found.empty()) return COMMTASK_OK;
    if (runtime->settings().verbose >= 1) say("the program's posts differ from the plan: %s", found.c_str());
    return refuse(COMMTASK_ERR_ARGUMENT, "the program's posts differ from the plan: %s", found.c_str());
}
