// SPDX-License-Identifier: Apache-2.0
// Sends blocks in order of urgency instead of readiness: the lowest segment first, since it is consumed first. Only a few
// are in flight at a time, the rest wait here where they can still be overtaken; when one has gone, the worker's callback
// posts the next. In order of readiness the first segment would wait for all chunks of all segments.
#pragma once

#include "exchange/messages.hpp"

#include <commtask/commtask.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tiled {

class urgent_sender {
public:
    /// `at_once`: messages in flight; 0: all. More than one keeps the link busy while the next is posted.
    urgent_sender(message_comms comms, int at_once) : comms_(std::move(comms)), at_once_(at_once) {}
    ~urgent_sender();
    urgent_sender(const urgent_sender&) = delete;
    urgent_sender& operator=(const urgent_sender&) = delete;

    /// Begins a run that will send n_messages. Not before the last one's finish().
    void begin(int n_messages);
    /// Hands a message over; blocks only while the communication worker's queue is full. Any thread but the worker.
    void send(const outgoing_message& one);
    /// Waits until all messages that were handed over have gone. Every send() must have returned. Messages that fail do not
    /// make it throw; a run that was broken off may end here too.
    void finish();
    /// After finish(): why the first message that failed did not go, in MPI's words; empty: all went.
    std::string failure() const;
    /// After finish(): throws std::runtime_error, with that reason, if a message failed.
    void require_all_gone() const;
    /// After finish(): counts what was handed over.
    void count_sent(traffic& into) const;

private:
    /// One message on its way from send() to the heap.
    struct handed_over {
        outgoing_message message;
        handed_over* next = nullptr;
    };

    static void one_has_gone(const commtask_status* status, void* self);
    /// Posts what there is room for, or leaves that to the thread that is at it just now. `flags` of the posts:
    /// COMMTASK_TRY on the worker.
    void pump(std::uint32_t flags);
    void take_handed_over();
    void post_most_urgent(std::uint32_t flags);
    /// False: the queue is full, try again later.
    bool post(const outgoing_message& one, std::uint32_t flags);
    void note(int code, int mpi_error);

    message_comms comms_;
    int at_once_;
    commtask_event_t all_gone_ = COMMTASK_EVENT_NULL;
    std::vector<handed_over> handed_over_; ///< Of one run; the first n_handed_over_ are used.
    std::atomic<int> n_handed_over_{0};
    std::atomic<handed_over*> newest_{nullptr};
    std::atomic<int> calls_{0}; ///< Of pump() that have not been answered; whoever makes it 1 answers them all.
    std::atomic<int> gone_{0};
    std::atomic<int> first_error_{COMMTASK_OK};
    char mpis_words_[MPI_MAX_ERROR_STRING] = {}; ///< Of who sets first_error_; a callback must not allocate.
    std::vector<outgoing_message> waiting_;      ///< A heap; of the thread that pumps, as is the next.
    int posted_ = 0;
};

} // namespace tiled
