// SPDX-License-Identifier: Apache-2.0
// Every message signals one event when it has ended, however it ended, so finish() cannot wait for ever. Callbacks run
// on the worker: they must not block, so they ask for COMMTASK_TRY, which a queue with this few messages never refuses.
#include "exchange/urgent_sender.hpp"

#include "common/runtime_session.hpp"

namespace tiled {

using miniapp::require;

urgent_sender::~urgent_sender() {
    if (all_gone_ != COMMTASK_EVENT_NULL) commtask_event_release(&all_gone_);
}

void urgent_sender::begin(int n_messages) {
    first_error_ = COMMTASK_OK;
    if (n_messages == 0) return;
    require(commtask_event_create(static_cast<unsigned>(n_messages), &all_gone_), "commtask_event_create");
}

void urgent_sender::send(const outgoing_message& one) {
    {
        const std::scoped_lock hold(guard_);
        waiting_.push(one);
    }
    outgoing_message next;
    while (take_next(next)) post(next);
}

bool urgent_sender::take_next(outgoing_message& next) {
    const std::scoped_lock hold(guard_);
    if (waiting_.empty() || (at_once_ > 0 && in_flight_ >= at_once_)) return false;
    next = waiting_.top();
    waiting_.pop();
    ++in_flight_;
    return true;
}

void urgent_sender::post(const outgoing_message& one) {
    commtask_options options = COMMTASK_OPTIONS_INIT;
    options.flags = COMMTASK_TRY;
    options.callback = one_has_gone;
    options.callback_argument = this;
    const int code = commtask_submit(commtask_op_send(one.data, one.size_bytes, MPI_BYTE, one.peer, one.tag, comm_),
                                     &options, nullptr);
    if (code == COMMTASK_OK) return;
    note(code);
    commtask_event_signal(all_gone_);
}

void urgent_sender::note(int code) {
    const std::scoped_lock hold(guard_);
    --in_flight_;
    if (first_error_ == COMMTASK_OK) first_error_ = code;
}

void urgent_sender::one_has_gone(const commtask_status* status, void* self) {
    auto& sender = *static_cast<urgent_sender*>(self);
    sender.note(status->state == COMMTASK_STATE_COMPLETED ? COMMTASK_OK : COMMTASK_FAILED);
    outgoing_message next;
    while (sender.take_next(next)) sender.post(next);
    // Last: whoever waits for the event may end the run.
    commtask_event_signal(sender.all_gone_);
}

void urgent_sender::finish() {
    if (all_gone_ == COMMTASK_EVENT_NULL) return;
    commtask_options options = COMMTASK_OPTIONS_INIT;
    options.events = &all_gone_;
    options.n_events = 1;
    commtask_t gone = COMMTASK_NULL;
    require(commtask_submit(commtask_op_noop(comm_), &options, &gone), "commtask_post");
    require(commtask_wait(&gone, nullptr), "commtask_wait");
    require(commtask_event_release(&all_gone_), "commtask_event_release");
    require(first_error_, "a message");
}

} // namespace tiled
