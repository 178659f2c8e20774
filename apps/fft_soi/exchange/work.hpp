// SPDX-License-Identifier: Apache-2.0
// What computes before and after a tiled exchange, as pieces that a schedule may run in any order and on any thread
// that the dependences allow: all pieces of a chunk before its messages, all blocks of a segment before its consumer.
// Schedules know this interface and nothing of Fourier transforms; the transforms know nothing of MPI.
#pragma once

#include "exchange/layout.hpp"

#include <algorithm>
#include <list>
#include <memory>
#include <utility>

namespace tiled {

/// A message to the left neighbour, from the right one, that some pieces wait for. Both sides have `size_bytes`; with
/// one rank a copy does.
struct halo {
    const std::byte* send = nullptr;
    std::byte* receive = nullptr;
    std::size_t size_bytes = 0; ///< 0: there is none.
};

/// Calls for different pieces may run at the same time on different workers; `worker` is below n_workers.
class work {
public:
    virtual ~work() = default;
    /// Another for every work, also when a work lies where an earlier one lay. Its buffers never move.
    const std::shared_ptr<const void>& identity() const { return identity_; }
    virtual const layout& sizes() const = 0;
    virtual std::byte* outgoing() = 0;
    virtual std::byte* incoming() = 0;

    /// Of every chunk; piece number chunk * pieces_per_chunk() + i.
    virtual int pieces_per_chunk() const { return 1; }
    virtual halo neighbour() { return {}; }
    virtual bool needs_halo(int /*piece*/) const { return false; }

    /// Before anything else of a run, on one thread: after it the halo may be sent.
    virtual void begin() {}
    /// Writes the rows of one piece for all segments of all ranks.
    virtual void produce(int piece, int worker) = 0;
    /// Everything after the exchange for one segment.
    virtual void consume(int segment, int worker) = 0;

private:
    std::shared_ptr<const void> identity_ = std::make_shared<char>();
};

/// Keeps the objects made for the works that ran last: six-step has three works, the other places are for transforms in turn. A work is known by identity, not by
/// addresses that an earlier one may have had, so that all ranks find the same answer to "is it known?".
template <class Made>
class kept_for_works {
public:
    /// Made(which, arguments...) if it is not known.
    template <class... Arguments>
    Made& of(work& which, Arguments&&... arguments) {
        const auto found = std::ranges::find(known_, which.identity(), &known::of);
        if (found != known_.end()) return found->made;
        if (known_.size() == most) known_.pop_front();
        return known_.emplace_back(which, std::forward<Arguments>(arguments)...).made;
    }

private:
    static constexpr std::size_t most = 8;
    struct known {
        template <class... Arguments>
        explicit known(work& which, Arguments&&... arguments)
            : of(which.identity()), made(which, std::forward<Arguments>(arguments)...) {}
        std::shared_ptr<const void> of; ///< Kept, so that no later work can be taken for this one.
        Made made;
    };
    std::list<known> known_; ///< Oldest first.
};

} // namespace tiled
