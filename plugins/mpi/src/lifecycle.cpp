// SPDX-License-Identifier: Apache-2.0
//
// From MPI_Init to MPI_Finalize. MPI is initialised with MPI_THREAD_MULTIPLE only if the program
// asks for it or needs_multiple() is true: with that level each MPI call costs more, and much more
// on an oversubscribed core. Otherwise MPI gets MPI_THREAD_SERIALIZED, which the worker needs. If a
// program ends without MPI_Finalize, its worker must not be inside MPI while the libraries are
// unloaded.
#include "attributes.hpp"
#include "errors.hpp"
#include "handles.hpp"
#include "lookups.hpp"
#include "order_check.hpp"
#include "own.hpp"
#include "polled.hpp"
#include "resolve.hpp"
#include "sections.hpp"
#include "sharing.hpp"

#include "api/context.hpp"
#include "base/log.hpp"
#include "config/config.hpp"
#include "mpi/identity.hpp"

#include <commtask/commtask.h>

#include <cstdlib>
#include <string_view>

#include <pthread.h>
#include <unistd.h>

namespace commtask::interposer {
namespace {

/// Runs before main(). A constructor of one of the program's libraries may run even earlier and
/// call MPI_Init, which therefore resolves the functions too.
[[gnu::constructor]] void resolve_early() {
    static const bool is_resolved = (resolve_all(), true);
    static_cast<void>(is_resolved);
}

[[nodiscard]] bool is_verbose() noexcept {
    // Called once, in MPI_Init, before the program may have threads that set the environment.
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    const char* const text = std::getenv("COMMTASK_RUN_VERBOSE");
    return text != nullptr && std::string_view{text} == "1";
}

/// Threads call MPI concurrently in three cases: with several lanes, the workers; with
/// announcements, a node leader and its program; and a library whose calls bypass the wrappers. An
/// invalid setting is rejected when the runtime starts.
[[nodiscard]] bool needs_multiple() {
    detail::config settings;
    static_cast<void>(detail::apply_environment(settings, environ));
    return settings.lanes > 1 || settings.node_announce_bytes > 0 || lookups::are_bypassed();
}

thread_local bool ends_the_program = false;

/// The workers must be out of MPI when the program's libraries end. A worker may be in a call that
/// never returns, so this function has a time limit.
void park_workers() {
    detail::lane_set* const lanes = current.lanes.exchange(nullptr);
    if (lanes == nullptr || lanes->has_lock() || detail::in_progress_call()) return;
    ends_the_program = true;
    // release: partner of the acquire in active_lanes().
    current.parked_lanes.store(lanes, std::memory_order_release);
    constexpr std::uint64_t patience_ns = 500'000'000;
    const std::uint64_t deadline_ns = detail::now_ns() + patience_ns;
    for (detail::lane& each : *lanes) static_cast<void>(each.engine.lock.try_acquire_first(deadline_ns));
}

void forget_workers_in_child() {
    current.state.store(workers::none);
    current.lanes.store(nullptr);
    current.parked_lanes.store(nullptr);
}

void hook_ends() {
    static bool is_hooked = false;
    if (is_hooked) return;
    is_hooked = true;
    std::atexit(&park_workers);
    pthread_atfork(nullptr, nullptr, &forget_workers_in_child);
}

/// The runtime's advice is off here. The launcher of another MPI is still reported, since under it
/// each rank is alone.
void warn_of_launcher() {
    if (detail::context::running()->settings().verbose >= 1) return; // the runtime has warned
    if (const auto trouble = detail::foreign_launcher()) detail::say("warning: %s", trouble->c_str());
}

void say_what_is_done(int asked, int given) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0 || !is_verbose()) return;
    const detail::context& runtime = *detail::context::running();
    detail::say("MPI calls become tasks; the program asked for thread level %d and gets %d", asked, given);
    detail::say("%s", runtime.placement().reason.c_str());
}

/// Determines how this MPI fills statuses where the standard leaves a choice, since programs rely
/// on its choice.
void learn_statuses() {
    MPI_Request request = MPI_REQUEST_NULL;
    commtask_real_MPI_Wait(&request, &current.empty_status);
    current.empty_status.MPI_ERROR = MPI_SUCCESS;
    request = polled::start_generalized();
    commtask_real_MPI_Grequest_complete(request);
    MPI_Status status = current.empty_status;
    status.MPI_ERROR = MPI_ERR_OTHER;
    commtask_real_MPI_Waitall(1, &request, &status);
    current.waitall_writes_success = status.MPI_ERROR == MPI_SUCCESS;
}

/// MPI is initialised: starts the worker. Without a worker, calls go directly to MPI.
void start(int asked, int given) {
    ++mine.depth;
    current.has_thread_multiple = given == MPI_THREAD_MULTIPLE;
    learn_statuses();
    // Output belongs to the program: the runtime's advice is printed only in verbose mode.
    const int code = start_runtime(!is_verbose());
    if (code == COMMTASK_OK) {
        handles::reserve();
        intercept_fatal_errors();
        detail::context& runtime = *detail::context::running();
        current.waiting = runtime.waiting();
        // Without commtask, a thread that waits in MPI copies its messages itself.
        current.waiting.takes_over = true;
        hook_ends();
        warn_of_launcher();
        order_check::initialize();
        say_what_is_done(asked, given);
        // release: partner of the acquire in active_lanes().
        current.lanes.store(&runtime.lanes(), std::memory_order_release);
        current.state.store(workers::there);
    }
    --mine.depth;
}

[[nodiscard]] int initialize(int* argc, char*** argv, int asked, int* provided) {
    const bool is_multiple = asked == MPI_THREAD_MULTIPLE || needs_multiple();
    const int wanted = is_multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED;
    int given = MPI_THREAD_SINGLE;
    ++mine.depth;
    const int code = commtask_real_MPI_Init_thread(argc, argv, wanted, &given);
    --mine.depth;
    if (code != MPI_SUCCESS) return code;
    if (active_lanes() == nullptr) start(asked, given);
    if (provided != nullptr) *provided = given;
    return code;
}

} // namespace

detail::lane_set* unpark() noexcept {
    if (!ends_the_program) return nullptr;
    detail::lane_set* const lanes = current.parked_lanes.exchange(nullptr);
    if (lanes == nullptr) return nullptr;
    for (detail::lane& each : *lanes) {
        if (each.engine.lock.is_mine()) each.engine.lock.release();
        each.wake_up.wake_unconditionally();
    }
    // release: partner of the acquire in active_lanes().
    current.lanes.store(lanes, std::memory_order_release);
    std::atexit(&park_workers);
    return lanes;
}

int own_MPI_Init(int* argc, char*** argv) {
    resolve_early();
    if (mine.depth > 0) return commtask_real_MPI_Init(argc, argv);
    return initialize(argc, argv, MPI_THREAD_SINGLE, nullptr);
}

int own_MPI_Init_thread(int* argc, char*** argv, int asked, int* provided) {
    resolve_early();
    if (mine.depth > 0 || provided == nullptr) return commtask_real_MPI_Init_thread(argc, argv, asked, provided);
    return initialize(argc, argv, asked, provided);
}

int own_MPI_Finalize() {
    if (current.state.load() != workers::none && mine.depth == 0) {
        const bool is_served = workers_respond();
        // All ranks synchronize here, also those whose worker was abandoned.
        delete_attributes_of_self();
        order_check::compare(MPI_COMM_WORLD);
        if (is_served) {
            {
                const progress_section issues_posted;
            }
            // release: partner of the acquire in active_lanes().
            current.lanes.store(nullptr, std::memory_order_release);
            ++mine.depth;
            end_runtime();
            --mine.depth;
        }
    }
    ++mine.depth;
    polled::finalize();
    const int code = commtask_real_MPI_Finalize();
    --mine.depth;
    current.state.store(workers::none);
    return code;
}

int own_MPI_Abort(MPI_Comm comm, int code) {
    // A worker may be inside MPI: a program that aborts does not wait for it.
    current.state.store(workers::none);
    current.lanes.store(nullptr);
    current.parked_lanes.store(nullptr);
    return commtask_real_MPI_Abort(comm, code);
}

} // namespace commtask::interposer
