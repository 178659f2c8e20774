// SPDX-License-Identifier: Apache-2.0
// Runs pieces of work and notes where the time went, per worker: sums always, single spans where a trace is wanted.
// Each worker writes its own line; the sums are read when all have stopped.
#pragma once

#include "common/clock.hpp"
#include "exchange/schedule.hpp"

#include <algorithm>
#include <cstring>

namespace tiled {

class recorder {
public:
    recorder(work& of, int n_workers, bool keeps_spans)
        : of_(of), keeps_spans_(keeps_spans), workers_(static_cast<std::size_t>(n_workers)),
          start_(miniapp::seconds()) {}

    void produce(int piece, int worker) {
        const double begin = miniapp::seconds();
        of_.produce(piece, worker);
        note(span::kind::produce, worker, piece, begin);
    }
    void consume(int segment, int worker) {
        const double begin = miniapp::seconds();
        of_.consume(segment, worker);
        note(span::kind::consume, worker, segment, begin);
    }
    /// `wait` ends when something has arrived for `segment`.
    template <class Wait>
    void wait(int segment, int worker, Wait&& until_there) {
        const double begin = miniapp::seconds();
        until_there();
        note(span::kind::wait, worker, segment, begin);
    }
    template <class Post>
    void post(int worker, Post&& hand_over) {
        workers_[static_cast<std::size_t>(worker)].post += miniapp::seconds_of(hand_over);
    }

    /// `wait` as the first worker saw it, `post` as the sum of all, the rest as means over the workers.
    phase_times finish(const traffic& sent, std::vector<span>* trace) const {
        phase_times times;
        times.total = miniapp::seconds() - start_;
        times.wait = workers_[0].sums[static_cast<std::size_t>(span::kind::wait)];
        times.sent = sent;
        for (const own& w : workers_) {
            const auto n = static_cast<double>(workers_.size());
            times.internal += w.sums[static_cast<std::size_t>(span::kind::produce)] / n;
            times.external += w.sums[static_cast<std::size_t>(span::kind::consume)] / n;
            times.post += w.post;
            if (trace != nullptr) trace->insert(trace->end(), w.spans.begin(), w.spans.end());
        }
        return times;
    }
    /// Of a graph of tasks that took `posting` seconds to post its messages: what is neither work nor creation is waiting, for messages or for pieces of other threads.
    phase_times finish_tasks(const traffic& sent, std::vector<span>* trace, double posting) const {
        phase_times times = finish(sent, trace);
        times.post = times.post / static_cast<double>(workers_.size()) + posting;
        times.wait = std::max(0.0, times.total - times.internal - times.external - times.post);
        return times;
    }

private:
    struct alignas(64) own {
        double sums[3] = {};
        double post = 0;
        std::vector<span> spans;
    };

    void note(span::kind what, int worker, int number, double begin) {
        const double end = miniapp::seconds();
        own& mine = workers_[static_cast<std::size_t>(worker)];
        mine.sums[static_cast<std::size_t>(what)] += end - begin;
        if (keeps_spans_) mine.spans.push_back({what, worker, number, begin - start_, end - start_});
    }

    work& of_;
    bool keeps_spans_;
    std::vector<own> workers_;
    double start_;
};

/// With one rank the right neighbour is the rank itself.
inline void copy_own_halo(const halo& of) {
    if (of.size_bytes > 0) std::memcpy(of.receive, of.send, of.size_bytes);
}

/// Number of pieces of all chunks, and the first that needs the halo (the number of pieces if none does).
inline int piece_count(const work& of) { return of.sizes().n_chunks() * of.pieces_per_chunk(); }
inline int first_halo_piece(const work& of) {
    int piece = piece_count(of);
    while (piece > 0 && of.needs_halo(piece - 1)) --piece;
    return piece;
}

} // namespace tiled
