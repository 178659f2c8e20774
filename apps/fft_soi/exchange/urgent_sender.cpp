// SPDX-License-Identifier: Apache-2.0
// Every message signals one event when it has ended, however it ended, so finish() cannot wait for ever. Callbacks run
// on the worker and must not block, so there is no mutex: of all threads that call pump() at a time the first does the work
// of all, and the others only leave word that there is more. Callbacks post with COMMTASK_TRY; what a full queue refuses
// stays in the heap and is tried again when the next message has gone.
#include "exchange/urgent_sender.hpp"

#include "common/runtime_session.hpp"

#include <algorithm>
#include <stdexcept>

namespace tiled {

using miniapp::require;

namespace {

/// Of a heap whose first is the most urgent.
bool is_less_urgent(const outgoing_message& a, const outgoing_message& b) {
    return a.segment != b.segment ? a.segment > b.segment : a.chunk > b.chunk;
}

} // namespace

urgent_sender::~urgent_sender() {
    if (all_gone_ != COMMTASK_EVENT_NULL) commtask_event_release(&all_gone_);
}

void urgent_sender::begin(int n_messages) {
    // relaxed: no other thread is here, and those to come are told of this object by posting, which orders it.
    first_error_.store(COMMTASK_OK, std::memory_order_relaxed);
    mpis_words_[0] = '\0';
    n_handed_over_.store(0, std::memory_order_relaxed);
    gone_.store(0, std::memory_order_relaxed);
    posted_ = 0;
    handed_over_.resize(static_cast<std::size_t>(n_messages));
    waiting_.clear();
    waiting_.reserve(handed_over_.size()); // a callback must not allocate
    if (n_messages == 0) return;
    require(commtask_event_create(static_cast<unsigned>(n_messages), &all_gone_), "commtask_event_create");
}

void urgent_sender::send(const outgoing_message& one) {
    // relaxed: it only shares out the places.
    const int place = n_handed_over_.fetch_add(1, std::memory_order_relaxed);
    handed_over& mine = handed_over_.at(static_cast<std::size_t>(place));
    mine.message = one;
    mine.next = newest_.load(std::memory_order_relaxed);
    // release: partner of the acquire in take_handed_over(), which reads the message.
    while (!newest_.compare_exchange_weak(mine.next, &mine, std::memory_order_release, std::memory_order_relaxed)) {}
    pump(COMMTASK_NONE);
}

void urgent_sender::pump(std::uint32_t flags) {
    // acq_rel, here and below: what the last thread that pumped did to the heap is seen by the next.
    int seen = calls_.fetch_add(1, std::memory_order_acq_rel) + 1;
    if (seen != 1) return;
    do {
        take_handed_over();
        post_most_urgent(flags);
        // Those who called meanwhile have gone again: their messages and their room are found in the next round.
    } while (!calls_.compare_exchange_strong(seen, 0, std::memory_order_acq_rel));
}

void urgent_sender::take_handed_over() {
    // acquire: partner of the release in send().
    for (const handed_over* one = newest_.exchange(nullptr, std::memory_order_acquire); one != nullptr;
         one = one->next) {
        waiting_.push_back(one->message);
        std::ranges::push_heap(waiting_, is_less_urgent);
    }
}

void urgent_sender::post_most_urgent(std::uint32_t flags) {
    // relaxed: a message counted late is posted for by the pump() of its own callback.
    while (!waiting_.empty() && (at_once_ == 0 || posted_ - gone_.load(std::memory_order_relaxed) < at_once_)) {
        if (!post(waiting_.front(), flags)) return;
        ++posted_;
        std::ranges::pop_heap(waiting_, is_less_urgent);
        waiting_.pop_back();
    }
}

bool urgent_sender::post(const outgoing_message& one, std::uint32_t flags) {
    commtask_options options = COMMTASK_OPTIONS_INIT;
    options.flags = flags;
    options.callback = one_has_gone;
    options.callback_argument = this;
    const int code = commtask_post(comms_.operation(one), &options, nullptr);
    if (code == COMMTASK_AGAIN) return false;
    if (code != COMMTASK_OK) {
        note(code, MPI_SUCCESS);
        gone_.fetch_add(1, std::memory_order_relaxed);
        commtask_event_signal(all_gone_);
    }
    return true;
}

void urgent_sender::note(int code, int mpi_error) {
    int none = COMMTASK_OK;
    // relaxed: it is read after the event that every message signals.
    if (code == COMMTASK_OK || !first_error_.compare_exchange_strong(none, code, std::memory_order_relaxed)) return;
    int length = 0;
    if (mpi_error != MPI_SUCCESS) MPI_Error_string(mpi_error, mpis_words_, &length);
}

void urgent_sender::one_has_gone(const commtask_status* status, void* self) {
    auto& sender = *static_cast<urgent_sender*>(self);
    sender.note(status->state == COMMTASK_STATE_COMPLETED ? COMMTASK_OK : COMMTASK_FAILED, status->error);
    sender.gone_.fetch_add(1, std::memory_order_relaxed);
    sender.pump(COMMTASK_TRY);
    // Last: whoever waits for the event may end the run.
    commtask_event_signal(sender.all_gone_);
}

void urgent_sender::finish() {
    if (all_gone_ == COMMTASK_EVENT_NULL) return;
    pump(COMMTASK_NONE);
    for (auto n = static_cast<std::size_t>(n_handed_over_.load(std::memory_order_relaxed)); n < handed_over_.size();
         ++n) {
        require(commtask_event_signal(all_gone_), "commtask_event_signal"); // of a run that was broken off
    }
    commtask_options options = COMMTASK_OPTIONS_INIT;
    options.events = &all_gone_;
    options.n_events = 1;
    commtask_t gone = COMMTASK_NULL;
    require(commtask_post(commtask_op_noop(comms_.all), &options, &gone), "commtask_post");
    require(commtask_wait(&gone, nullptr), "commtask_wait");
    require(commtask_event_release(&all_gone_), "commtask_event_release");
}

std::string urgent_sender::failure() const {
    const int code = first_error_.load(std::memory_order_relaxed); // its writers have signalled the event
    if (code == COMMTASK_OK) return {};
    return mpis_words_[0] != '\0' ? mpis_words_ : commtask_error_string(code);
}

void urgent_sender::require_all_gone() const {
    if (const std::string why = failure(); !why.empty()) throw std::runtime_error("a message failed: " + why);
}

void urgent_sender::count_sent(traffic& into) const {
    const int n = n_handed_over_.load(std::memory_order_relaxed); // every send() has returned
    for (int k = 0; k < n; ++k) count(handed_over_[static_cast<std::size_t>(k)].message, into);
}

} // namespace tiled
