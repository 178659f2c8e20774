// SPDX-License-Identifier: Apache-2.0
//
// Active-message handlers (commtask_listen). Each slot has a receive, which is a task. The callback
// of the receive passes the message to the handler and posts the slot again. These receives are
// ordinary tasks, except that no thread waits for them.
#include "api/listener.hpp"
#include "api/context.hpp"
#include "api/posting.hpp"
#include "api/record.hpp"
#include "base/last_error.hpp"
#include "base/log.hpp"
#include "core/task.hpp"
#include "mpi/arguments.hpp"

#include <commtask/commtask.h>
#include <commtask/frontend.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <new>
#include <utility>

namespace commtask::detail {
namespace {

constexpr std::size_t alignment = 64;

/// Calls a member function on a progress thread of the listener's lane, in the callback of a
/// control task. The listener's communicator may have been freed.
/// @param flags  COMMTASK_TRY, or none
[[nodiscard]] int call_on_lane(const commtask_listener_s& whose, commtask_callback callback, void* argument,
                               std::uint32_t flags, commtask_t* task) noexcept {
    commtask_options options = COMMTASK_OPTIONS_INIT;
    options.callback = callback;
    options.callback_argument = argument;
    options.flags = flags | COMMTASK_CALLBACK_RELAYS;
    return post_nothing(whose.home(), whose.comm(), &options, task);
}

/// Like call_on_lane(), and waits for the control task.
[[nodiscard]] int wait_on_lane(const commtask_listener_s& whose, commtask_callback callback, void* argument) noexcept {
    const pause_recording scope;
    commtask_t task = COMMTASK_NULL;
    const int code = call_on_lane(whose, callback, argument, COMMTASK_NONE, &task);
    return code == COMMTASK_OK ? commtask_wait(&task, nullptr) : code;
}

[[nodiscard]] int refuse_to_wait() noexcept {
    return refuse(COMMTASK_ERR_WORKER_THREAD, "a callback or a function that MPI calls must not wait for the worker");
}

} // namespace

bool listener_registry::add(commtask_listener_s& made) noexcept {
    try {
        const std::lock_guard guard{mutex_};
        listeners_.push_back(&made);
    } catch (const std::bad_alloc&) {
        return false;
    }
    return true;
}

bool listener_registry::remove(const commtask_listener_s& ended) noexcept {
    const std::lock_guard guard{mutex_};
    return std::erase(listeners_, &ended) > 0;
}

bool listener_registry::has_one_of(const comm_queue& queue) noexcept {
    const std::lock_guard guard{mutex_};
    return std::ranges::any_of(listeners_, [&](const commtask_listener_s* each) {
        return &each->home() == &queue && each->has_communicator();
    });
}

void listener_registry::close_all() noexcept {
    const std::lock_guard guard{mutex_};
    const auto close = [](const commtask_status*, void* self) { static_cast<commtask_listener_s*>(self)->close(); };
    // A listener whose control task finds the queue full is abandoned with the other incomplete
    // tasks.
    for (commtask_listener_s* const left : listeners_) {
        static_cast<void>(call_on_lane(*left, +close, left, COMMTASK_TRY, nullptr));
    }
}

void listener_registry::forget_all(bool has_abandoned_receives) noexcept {
    // Called without the lock: a front end is notified of the end, and may run tasks.
    std::vector<commtask_listener_s*> all;
    {
        const std::lock_guard guard{mutex_};
        all.swap(listeners_);
    }
    for (commtask_listener_s* const left : all) {
        // MPI may still write to the memory of abandoned receives, so the listener is not freed.
        if (left->has_ended() && !has_abandoned_receives) {
            commtask_listener_s::let_go(left);
        } else {
            left->abandon();
        }
    }
}

} // namespace commtask::detail

using namespace commtask::detail;

commtask_listener_s::commtask_listener_s(comm_queue& home, MPI_Comm comm, int tag, std::size_t max_bytes,
                                         std::size_t n_slots, commtask_message_handler handler, void* argument)
    : home_(home), home_life_(home.life()), comm_(comm), tag_(tag), max_bytes_(max_bytes), handler_(handler),
      argument_(argument), slots_(n_slots) {
    const std::size_t stride = (max_bytes + alignment - 1) / alignment * alignment;
    if (stride < max_bytes || stride > (std::numeric_limits<std::size_t>::max() - alignment) / n_slots)
        throw std::bad_alloc{};
    memory_ = std::make_unique_for_overwrite<std::byte[]>(stride * n_slots + alignment);
    void* begin = memory_.get();
    std::size_t space = stride * n_slots + alignment;
    auto* const aligned = static_cast<std::byte*>(std::align(alignment, stride * n_slots, begin, space));
    for (std::size_t i = 0; i < n_slots; ++i) {
        slots_[i].of = this;
        slots_[i].memory = aligned + i * stride;
    }
}

commtask_listener_s::~commtask_listener_s() = default;

bool commtask_listener_s::has_communicator() const noexcept { return home_.life() == home_life_; }

void commtask_listener_s::drop(commtask_listener_s* which) noexcept {
    // acq_rel: the last owner of a reference sees the stores of the others; partner of itself.
    if (which->n_holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete which;
}

void commtask_listener_s::let_go(commtask_listener_s* ended) noexcept {
    ended->repost_returned(); // messages that no control task has fetched
    drop(ended);
}

int commtask_listener_s::open() noexcept {
    const pause_recording scope; // the progress thread may be recording a plan
    for (slot& each : slots_) {
        if (const int code = post(each); code != COMMTASK_OK) return code;
    }
    return COMMTASK_OK;
}

/// Posts the slot's receive behind all receives of this listener, in matching order.
int commtask_listener_s::post(slot& free) noexcept {
    // The handle may belong to another communicator now.
    if (!has_communicator()) return COMMTASK_ERR_COMM;
    free.is_over = free.is_withdrawn = false;
    free.next = nullptr;
    commtask_options options = COMMTASK_OPTIONS_INIT;
    options.callback = &on_end;
    options.callback_argument = &free;
    commtask_op receive =
        commtask_op_recv(free.memory, static_cast<MPI_Count>(max_bytes_), MPI_BYTE, MPI_ANY_SOURCE, tag_, comm_);
    receive.reserved = static_cast<int>(flag_has_handler | flag_uses_first_lane);
    if (const int code = commtask_post_operation(&receive, &options, &free.receive); code != COMMTASK_OK) return code;
    (last_ == nullptr ? first_ : last_->next) = &free;
    last_ = &free;
    return COMMTASK_OK;
}

void commtask_listener_s::close() noexcept {
    is_closed_ = true;
    repost_returned();
    for (slot* each = first_; each != nullptr; each = each->next) {
        if (!each->is_over) static_cast<void>(commtask_cancel(each->receive));
    }
    end_if_idle();
}

void commtask_listener_s::end_if_idle() noexcept {
    if (is_closed_ && first_ == nullptr) end();
}

/// May run several times, as messages are released.
void commtask_listener_s::end() noexcept {
    if (auto* const tell = std::exchange(on_ended_, nullptr)) tell(on_ended_argument_);
    // release: partner of the acquire in has_ended(). This is the last access: the thread that ends
    // the listener may free it afterwards.
    has_ended_.store(true, std::memory_order_release);
}

void commtask_listener_s::on_end(const commtask_status* status, void* ended) noexcept {
    slot& mine = *static_cast<slot*>(ended);
    static_cast<void>(commtask_release(&mine.receive));
    mine.is_over = true;
    mine.is_withdrawn = status->state == COMMTASK_STATE_CANCELED;
    mine.message = {sizeof mine.message, mine.memory,   status->bytes,      status->source,
                    status->tag,         status->error, status->error_class};
    mine.of->deliver_in_order();
}

/// Passes all complete messages to the handler, up to the first receive that is not complete.
void commtask_listener_s::deliver_in_order() noexcept {
    const pause_recording scope;
    repost_returned();
    while (first_ != nullptr && first_->is_over) {
        slot& next = *first_;
        first_ = next.next;
        if (first_ == nullptr) last_ = nullptr;
        if (!next.is_withdrawn) hand_over(next);
    }
    end_if_idle();
}

void commtask_listener_s::hand_over(slot& taken) noexcept {
    // relaxed: the caller has a reference already. Incremented before the handler is called, since
    // another thread may release the message during the call.
    n_holders_.fetch_add(1, std::memory_order_relaxed);
    if (handler_(&taken.message, argument_) != COMMTASK_MESSAGE_KEPT) take_back(taken);
}

/// On a progress thread: posts the slots again that other threads have released.
void commtask_listener_s::repost_returned() noexcept {
    // acquire: partner of the release in push_returned(). The program no longer uses the message.
    slot* next = returned_.exchange(nullptr, std::memory_order_acquire);
    while (next != nullptr) take_back(*std::exchange(next, next->next));
}

/// On a progress thread. If memory is exhausted, or the communicator was freed, the slot goes into
/// the list of returned slots. It is tried again when the next message arrives or is released.
void commtask_listener_s::take_back(slot& free) noexcept {
    const int code = is_closed_ ? COMMTASK_OK : post(free);
    if (code == COMMTASK_OK) {
        // The program or the context has another reference.
        n_holders_.fetch_sub(1, std::memory_order_relaxed);
        return;
    }
    push_returned(free);
    if (code != COMMTASK_ERR_NO_MEMORY || std::exchange(has_warned_, true)) return;
    say("no memory for the listener's next receive with tag %d: its slot is posted again when another message arrives "
        "or is released; if it was the only slot, never",
        tag_);
}

/// Any thread that is in a visit and has entered `returning_`. The thread that ends the listener
/// may be waiting for this thread.
void commtask_listener_s::leave() noexcept {
    returning_.release(); // the listener may be freed from here on
    if (context* const runtime = context::current()) runtime->lanes().waiters.notify_all();
}

/// Any thread.
void commtask_listener_s::push_returned(slot& free) noexcept {
    slot* first = returned_.load(std::memory_order_relaxed);
    do {
        free.next = first;
        // release: partner of the acquire in repost_returned().
    } while (!returned_.compare_exchange_weak(first, &free, std::memory_order_release, std::memory_order_relaxed));
}

void commtask_listener_s::on_returned(const commtask_status* /*status*/, void* self) noexcept {
    auto* const mine = static_cast<commtask_listener_s*>(self);
    // acq_rel: a thread that found has_control_task_ set has pushed its slot before; partner of the
    // exchange in give_back().
    mine->has_control_task_.exchange(false, std::memory_order_acq_rel);
    mine->deliver_in_order();
    mine->returning_.release();
    drop(mine);
}

int commtask_listener_s::give_back(slot& released) noexcept {
    const context::visit late;
    // A thread that has entered the gate, and its control task, keep the listener alive:
    // commtask_unlisten waits for both.
    const bool has_entered = returning_.try_acquire();
    if (!has_entered || !late.is_open() || has_ended()) {
        if (has_entered) leave();
        drop(this);
        return COMMTASK_OK;
    }
    push_returned(released);
    // acq_rel: partner of the exchange in on_returned().
    if (has_control_task_.exchange(true, std::memory_order_acq_rel)) {
        leave();
        return COMMTASK_OK;
    }
    // The control task's reference; on_returned() drops it.
    n_holders_.fetch_add(1, std::memory_order_relaxed);
    const int code = call_on_lane(*this, &on_returned, this, COMMTASK_NONE, nullptr);
    if (code == COMMTASK_OK) return code;
    // The next thread that releases a message posts another control task.
    has_control_task_.store(false, std::memory_order_relaxed);
    // Never the last reference: the listener is not freed while a thread is in the gate.
    n_holders_.fetch_sub(1, std::memory_order_relaxed);
    leave();
    return code == COMMTASK_ERR_NOT_INITIALIZED ? COMMTASK_OK : code; // the library is finalizing
}

int commtask_listen(MPI_Comm comm, int tag, size_t max_bytes, size_t n_slots, commtask_message_handler handler,
                    void* argument, commtask_listener_t* listener) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (handler == nullptr || listener == nullptr) {
        return refuse(COMMTASK_ERR_ARGUMENT, "%s is null", handler == nullptr ? "handler" : "listener");
    }
    if (n_slots == 0) return refuse(COMMTASK_ERR_ARGUMENT, "n_slots is 0, and must be at least 1");
    if (max_bytes > static_cast<std::size_t>(std::numeric_limits<MPI_Count>::max())) {
        return refuse(COMMTASK_ERR_COUNT, "max_bytes is %zu, and must fit into MPI_Count", max_bytes);
    }
    if (!may_wait()) return refuse_to_wait();
    const pause_recording scope;
    int code = COMMTASK_OK;
    comm_queue* const queue = runtime->queue_of(comm, code);
    if (queue == nullptr) return code;
    if (queue->striping() != nullptr && !queue->striping()->is_by_thread()) {
        return refuse(COMMTASK_ERR_ARGUMENT, "%s is striped over lanes by rank and tag: listen on a duplicate of it",
                      queue->name.c_str());
    }
    char nothing = 0;
    const commtask_op receive =
        commtask_op_recv(&nothing, static_cast<MPI_Count>(max_bytes), MPI_BYTE, MPI_ANY_SOURCE, tag, comm);
    code = check_arguments(receive, *queue, runtime->comms().tag_upper_bound());
    if (code != COMMTASK_OK) return code;
    std::unique_ptr<commtask_listener_s> made;
    try {
        made = std::make_unique<commtask_listener_s>(*queue, comm, tag, max_bytes, n_slots, handler, argument);
        // Refused below: memory is exhausted, or the size is too large.
    } catch (const std::exception&) {}
    if (made == nullptr || !runtime->listeners().add(*made)) {
        return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for  %zu messages of %zu bytes", n_slots, max_bytes);
    }
    *listener = made.get(); // the handler may read it
    struct control_task {
        commtask_listener_s* what;
        int code;
    } mine{made.get(), COMMTASK_OK};
    const auto open = [](const commtask_status*, void* argument_of_control_task) {
        auto& sent = *static_cast<control_task*>(argument_of_control_task);
        sent.code = sent.what->open();
    };
    code = wait_on_lane(*made, +open, &mine);
    if (code == COMMTASK_OK) code = mine.code;
    // This task follows the receives in the lane's order: when it ends, MPI has all receives.
    if (code == COMMTASK_OK) code = wait_on_lane(*made, nullptr, nullptr);
    commtask_listener_t opened = made.release();
    if (code == COMMTASK_OK) return COMMTASK_OK;
    *listener = COMMTASK_LISTENER_NULL;
    static_cast<void>(commtask_unlisten(&opened));
    return code;
}

void commtask_frontend_on_listener_end(commtask_listener_t listener, void (*end)(void*), void* argument) noexcept {
    listener->set_on_end(end, argument);
}

int commtask_message_release(commtask_message* message) noexcept {
    if (message == nullptr) return COMMTASK_OK;
    auto* const released = reinterpret_cast<message_slot*>(message);
    return released->of->give_back(*released);
}

int commtask_unlisten(commtask_listener_t* listener) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (listener == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "listener is null");
    if (*listener == COMMTASK_LISTENER_NULL) return COMMTASK_OK;
    if (!may_wait()) return refuse_to_wait();
    commtask_listener_s& ended = **listener;
    if (!runtime->listeners().remove(ended)) {
        return refuse(COMMTASK_ERR_ARGUMENT, "listener ended in commtask_finalize, or another thread is ending it");
    }
    const auto close = [](const commtask_status*, void* self) { static_cast<commtask_listener_s*>(self)->close(); };
    if (const int code = wait_on_lane(ended, +close, &ended); code != COMMTASK_OK) {
        static_cast<void>(runtime->listeners().add(ended));
        return code;
    }
    const auto try_close_returns = [&] { return ended.has_ended() && ended.try_close_returns(); };
    while (!wait_in_library(runtime->lanes(), runtime->waiting(), -1, try_close_returns)) {}
    *listener = COMMTASK_LISTENER_NULL;
    commtask_listener_s::let_go(&ended);
    return COMMTASK_OK;
}
