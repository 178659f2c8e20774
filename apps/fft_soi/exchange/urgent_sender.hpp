// SPDX-License-Identifier: Apache-2.0
// Sends blocks in order of urgency instead of readiness: the lowest segment first, since it is consumed first. Only a few
// are in flight at a time, the rest wait here where they can still be overtaken; when one has gone, the worker's callback
// posts the next. In order of readiness the first segment would wait for all chunks of all segments.
#pragma once

#include "exchange/messages.hpp"

#include <commtask/commtask.h>

#include <mutex>
#include <queue>

namespace tiled {

class urgent_sender {
public:
    /// `at_once`: messages in flight; 0: all. More than one keeps the link busy while the next is posted.
    urgent_sender(MPI_Comm comm, int at_once) : comm_(comm), at_once_(at_once) {}
    ~urgent_sender();
    urgent_sender(const urgent_sender&) = delete;
    urgent_sender& operator=(const urgent_sender&) = delete;

    /// Begins a run that will send n_messages. Not while another is under way.
    void begin(int n_messages);
    /// Hands a message over. Any thread.
    void send(const outgoing_message& one);
    /// Waits until all messages have gone. Throws if one could not be sent.
    void finish();

private:
    struct less_urgent {
        bool operator()(const outgoing_message& a, const outgoing_message& b) const {
            return a.segment != b.segment ? a.segment > b.segment : a.chunk > b.chunk;
        }
    };

    static void one_has_gone(const commtask_status* status, void* self);
    /// Takes the next message if there is room for it in flight.
    bool take_next(outgoing_message& next);
    void post(const outgoing_message& one);
    void note(int code);

    MPI_Comm comm_;
    int at_once_;
    commtask_event_t all_gone_ = COMMTASK_EVENT_NULL;
    std::mutex guard_; ///< For what follows; never held while posting.
    std::priority_queue<outgoing_message, std::vector<outgoing_message>, less_urgent> waiting_;
    int in_flight_ = 0;
    int first_error_ = COMMTASK_OK;
};

} // namespace tiled
