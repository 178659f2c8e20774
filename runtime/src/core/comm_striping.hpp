// SPDX-License-Identifier: Apache-2.0
//
// A communicator whose messages several lanes serve: for each message a key chooses one of several queues. Either the key is the
// calling thread, and the queues share the communicator: MPI still matches all messages of it, so wildcards are fine and only
// the order among threads is gone. Or the key is the pair of ranks and the tag, and each queue has a duplicate of its own: both
// ends of a message must find the same one from what they know, so a wildcard has no way to go.
#pragma once

#include "core/comm_queue.hpp"
#include "core/operation_traits.hpp"

#include <commtask/lanes.h>
#include <commtask/operation.h>

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace commtask::detail {

/// What the program has promised of a communicator's messages, by the names that MPI has for it.
struct message_promises {
    bool no_any_source = false;    ///< mpi_assert_no_any_source
    bool no_any_tag = false;       ///< mpi_assert_no_any_tag
    bool allow_overtaking = false; ///< mpi_assert_allow_overtaking
};

/// What a sender and a receiver of a message both know of it. Without order: an exchange with one rank has one key.
struct message_key {
    int low_rank = 0;
    int high_rank = 0;
    int tag = 0;
    [[nodiscard]] bool operator==(const message_key&) const = default;
    /// Messages of successive tags take turns, and so do the two neighbours that a rank of a grid has along a dimension, whose
    /// ranks are the same distance apart: what counts is how many such distances lie below the pair. The sum of two ranks would
    /// be odd for all neighbours in a ring. Which distances make pairs of one place differ was tried on grids
    /// (tests/unit/comm_striping_test.cpp).
    [[nodiscard]] std::size_t stripe_over(std::size_t n_queues) const noexcept {
        if (n_queues == 1) return 0;
        const auto distance = static_cast<std::uint64_t>(high_rank) - static_cast<std::uint64_t>(low_rank);
        const auto low = static_cast<std::uint64_t>(low_rank);
        const std::uint64_t place = distance == 0 ? low : low / distance + (distance + 1) / 2;
        return static_cast<std::size_t>((place + static_cast<unsigned>(tag)) % n_queues);
    }
};

/// Counts the threads that ask, from 0.
[[nodiscard]] inline std::size_t number_of_this_thread() noexcept {
    static std::atomic<std::size_t> n_threads{0};
    thread_local const std::size_t mine = n_threads.fetch_add(1, std::memory_order_relaxed);
    return mine;
}

class comm_striping {
public:
    /// By the calling thread. @param over  queues of one communicator, at least one
    explicit comm_striping(std::vector<comm_queue*> over) noexcept : over_(std::move(over)), is_by_thread_(true) {}
    /// By rank and tag, of which at least one is never a wildcard. @param over  queues of its duplicates, at least one
    comm_striping(std::vector<comm_queue*> over, int my_rank, message_promises promised) noexcept
        : over_(std::move(over)), my_rank_(my_rank), has_ranks_(promised.no_any_source), has_tag_(promised.no_any_tag) {
    }

    [[nodiscard]] bool is_by_thread() const noexcept { return is_by_thread_; }
    [[nodiscard]] const std::vector<comm_queue*>& over() const noexcept { return over_; }

    /// Why an operation has no way to go.
    enum class answer : std::uint8_t {
        goes,         ///< To the queue; null: it stays where it is.
        any_source,   ///< It names no rank, as it was promised that none would.
        any_tag,      ///< The same of the tag.
        several_keys, ///< Its messages belong to several queues.
    };

    /// Any thread. @param chosen  where it goes
    [[nodiscard]] answer choose(const commtask_op& op, comm_queue*& chosen) const noexcept {
        const operation_traits& kind = operation_of(op.kind);
        chosen = nullptr;
        if (kind.ordered_in != order_class::messages || kind.takes_window || kind.takes_file) {
            return answer::goes;
        }
        if (is_by_thread_) {
            chosen = over_[number_of_this_thread() % over_.size()];
            return answer::goes;
        }
        collected keys;
        const answer why = collect(op, kind, keys);
        if (why == answer::goes && keys.has_one) chosen = over_[keys.first.stripe_over(over_.size())];
        return why;
    }

    /// Null: none of them has this number.
    [[nodiscard]] comm_queue* find(std::uint32_t queue_number) const noexcept {
        const auto found = std::ranges::find(over_, queue_number, &comm_queue::number);
        return found == over_.end() ? nullptr : *found;
    }

private:
    struct collected {
        message_key first;
        bool has_one = false;
    };

    [[nodiscard]] answer collect(const commtask_op& op, const operation_traits& kind, collected& keys) const noexcept {
        answer why = answer::goes;
        const auto add = [&](int peer, int tag) {
            if (why == answer::goes) why = add_key(peer, tag, keys);
        };
        if (kind.has_dest) add(op.peer, op.send_tag);
        if (kind.has_source) add(op.source, op.recv_tag);
        // What is wrong with the lists the checks of arguments say.
        if (kind.has_dests && op.dests != nullptr)
            std::for_each_n(op.dests, op.peer, [&](int peer) { add(peer, op.send_tag); });
        if (kind.has_sources && op.sources != nullptr) {
            std::for_each_n(op.sources, op.source, [&](int peer) { add(peer, op.send_tag); });
        }
        return why;
    }

    [[nodiscard]] answer add_key(int peer, int tag, collected& keys) const noexcept {
        if (peer == MPI_PROC_NULL) return answer::goes; // no message
        if (has_ranks_ && peer == MPI_ANY_SOURCE) return answer::any_source;
        if (has_tag_ && tag == MPI_ANY_TAG) return answer::any_tag;
        message_key key;
        if (has_ranks_) std::tie(key.low_rank, key.high_rank) = std::minmax(my_rank_, peer);
        if (has_tag_) key.tag = tag;
        if (keys.has_one && keys.first != key) return answer::several_keys;
        keys = {key, true};
        return answer::goes;
    }

    const std::vector<comm_queue*> over_;
    const int my_rank_ = 0;
    const bool is_by_thread_ = false;
    const bool has_ranks_ = false;
    const bool has_tag_ = false;
};

} // namespace commtask::detail
