// SPDX-License-Identifier: Apache-2.0
//
// commtask_comm_stripe, and the part of a post that chooses the lane. The size of a message does
// not affect the choice, since the receiver does not know the size. Long messages are therefore
// striped like short ones, and cannot use the lane that is best for them.
#include "api/striping.hpp"

#include "api/collective_lanes.hpp"
#include "api/context.hpp"
#include "api/posting.hpp"
#include "api/record.hpp"
#include "api/run_in_progress_call.hpp"
#include "base/last_error.hpp"

#include <new>
#include <vector>

namespace commtask::detail {
namespace {

[[nodiscard]] const char* name_of(int kind) noexcept { return operation_of(kind).name; }

/// @param ask  queries MPI, and returns MPI's error code
template <typename Ask>
[[nodiscard]] int ask_in_progress_call(Ask& ask, MPI_Comm comm, const char* what) noexcept {
    int error = MPI_SUCCESS;
    const int code = run_in_progress_call([&] { error = ask(); }, comm);
    return code == COMMTASK_OK && error != MPI_SUCCESS ? refuse_failed(error, what) : code;
}

[[nodiscard]] int stripe_by_thread(context& runtime, comm_queue& home) noexcept {
    if (const comm_striping* const known = home.striping()) {
        if (known->is_by_thread()) return COMMTASK_OK;
        return refuse(COMMTASK_ERR_ARGUMENT, "%s is striped by its messages already, until it is freed",
                      home.name.c_str());
    }
    if (runtime.lanes().size() == 1) return COMMTASK_OK;
    auto striping = [&] { return runtime.comms().stripe_by_thread(home); };
    return ask_in_progress_call(striping, home.comm, "stripe comm over the lanes");
}

/// Checks this rank's call.
[[nodiscard]] int check_by_message(context& runtime, const comm_queue& home,
                                   const message_promises& promised) noexcept {
    if (home.striping() != nullptr && home.striping()->is_by_thread()) {
        return refuse(COMMTASK_ERR_ARGUMENT, "%s is striped by threads already, until it is freed", home.name.c_str());
    }
    if (runtime.listeners().has_one_of(home)) {
        return refuse(COMMTASK_ERR_ARGUMENT,
                      "%s has a listener, whose receives would stay on one lane while messages use others: listen on a "
                      "duplicate of it",
                      home.name.c_str());
    }
    if (promised.no_any_source || promised.no_any_tag) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_ARGUMENT,
                  "the info of %s has neither mpi_assert_no_any_source nor mpi_assert_no_any_tag: set one of them, "
                  "since a wildcard receive does not know the lane of its message",
                  home.name.c_str());
}

[[nodiscard]] int collective_spread_by_message(context& runtime, comm_queue& home) {
    message_promises promised;
    auto read_info = [&] {
        promised = hints_of(home.comm).promises;
        return MPI_SUCCESS;
    };
    int code = ask_in_progress_call(read_info, home.comm, "read the info of comm");
    if (code == COMMTASK_OK) code = check_by_message(runtime, home, promised);
    const int as_number =
        (promised.no_any_source ? 1 : 0) + (promised.no_any_tag ? 2 : 0) + (home.striping() != nullptr ? 4 : 0);
    code = collective_agree(
        home.comm, as_number,
        "what is known of comm (1 for mpi_assert_no_any_source, 2 for mpi_assert_no_any_tag, 4 if it is "
        "striped already)",
        code);
    const auto n_lanes = static_cast<int>(runtime.lanes().size());
    if (code != COMMTASK_OK || home.striping() != nullptr) return code;
    // One lane needs no duplicates, but refuses the same operations as several lanes: a program's
    // wildcard receives should not begin to fail when it gets a second lane.
    std::vector<MPI_Comm> duplicates;
    if (n_lanes > 1) code = collective_duplicate(runtime, home.comm, n_lanes, duplicates);
    if (code == COMMTASK_OK) {
        auto striping = [&] { return runtime.comms().stripe_by_message(home, duplicates, promised); };
        code = ask_in_progress_call(striping, home.comm, "stripe comm over the lanes");
    }
    // All ranks or none: a message that one rank sends on a duplicate must be received on that
    // duplicate. Collectives stay on the communicator itself.
    const int agreed = collective_agree(home.comm, 0, "nothing", code);
    if (agreed != COMMTASK_OK && code == COMMTASK_OK) {
        auto undo = [&] {
            runtime.comms().forget_striping(home);
            return MPI_SUCCESS;
        };
        static_cast<void>(ask_in_progress_call(undo, home.comm, "undo the striping"));
    }
    return agreed;
}

} // namespace

comm_queue& queue_of_ticket(comm_queue& first, const commtask_ticket& ticket) noexcept {
    const comm_striping* const striping = first.striping();
    comm_queue* const its = striping == nullptr ? nullptr : striping->find(ticket.queue);
    return its == nullptr ? first : *its;
}

int find_way(const commtask_op& op, const commtask_ticket* ticket, comm_queue*& queue) noexcept {
    const comm_striping& striping = *queue->striping();
    // MPI calls that the interposer turned into tasks must match MPI calls that did not become
    // tasks, and the latter do not use the duplicates.
    const bool is_call = (static_cast<std::uint32_t>(op.reserved) & flag_is_call) != 0;
    if (is_call && !striping.is_by_thread()) return COMMTASK_OK;
    const bool uses_first_lane = (static_cast<std::uint32_t>(op.reserved) & flag_uses_first_lane) != 0;
    if (striping.is_by_thread() && uses_first_lane) return COMMTASK_OK;
    if (striping.is_by_thread() && ticket != nullptr) {
        queue = &queue_of_ticket(*queue, *ticket); // another thread may have taken the ticket
        return COMMTASK_OK;
    }
    comm_queue* chosen = nullptr;
    switch (striping.choose(op, chosen)) {
    case comm_striping::choice::any_source:
        return refuse(COMMTASK_ERR_ARGUMENT,
                      "source is MPI_ANY_SOURCE, and the info of %s has mpi_assert_no_any_source: it is striped over "
                      "lanes, and %s would not know the lane of its message",
                      queue->name.c_str(), name_of(op.kind));
    case comm_striping::choice::any_tag:
        return refuse(COMMTASK_ERR_ARGUMENT,
                      "tag is MPI_ANY_TAG, and the info of %s has mpi_assert_no_any_tag: it is striped over lanes, and "
                      "%s would not know the lane of its message",
                      queue->name.c_str(), name_of(op.kind));
    case comm_striping::choice::several_keys:
        return refuse(COMMTASK_ERR_ARGUMENT,
                      "the messages of %s may belong to several lanes, since %s is striped by rank and tag: post each "
                      "message separately, or all with one rank and one tag",
                      name_of(op.kind), queue->name.c_str());
    case comm_striping::choice::ok: break;
    }
    if (chosen != nullptr) queue = chosen;
    return COMMTASK_OK;
}

int post_striped(context& runtime, const commtask_op& op, const commtask_options* options, comm_queue& home,
                 commtask_t* task) noexcept {
    comm_queue* queue = &home;
    if (const int code = find_way(op, ticket_of(options), queue); code != COMMTASK_OK) return code;
    return post_on_queue(runtime, op, options, *queue, queue->comm, task);
}

} // namespace commtask::detail

using namespace commtask::detail;

int commtask_comm_stripe(MPI_Comm comm, int by) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (!may_wait()) {
        return refuse(COMMTASK_ERR_WORKER_THREAD, "commtask_comm_stripe waits, and must not be called in a callback");
    }
    if (by != COMMTASK_STRIPE_BY_THREAD && by != COMMTASK_STRIPE_BY_MESSAGE) {
        return refuse(COMMTASK_ERR_ARGUMENT,
                      "by is %d, and must be COMMTASK_STRIPE_BY_THREAD or COMMTASK_STRIPE_BY_MESSAGE", by);
    }
    const pause_recording scope;
    int code = COMMTASK_OK;
    comm_queue* const home = runtime->queue_of(comm, code);
    if (home == nullptr) return code;
    if (by == COMMTASK_STRIPE_BY_THREAD) return stripe_by_thread(*runtime, *home);
    if (home->is_intercommunicator) {
        return refuse(COMMTASK_ERR_COMM, "comm is an intercommunicator: it can be striped by threads only");
    }
    try {
        return collective_spread_by_message(*runtime, *home);
    } catch (const std::bad_alloc&) {
        return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for  a list of duplicates");
    }
}
