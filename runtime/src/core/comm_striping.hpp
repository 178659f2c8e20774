// SPDX-License-Identifier: Apache-2.0
//
// Striping: several lanes serve the messages of one communicator, and a key chooses one of several
// queues for each message. The key is one of two. First, the calling thread: the queues share the
// communicator, and MPI still matches all its messages, so wildcards work, and only the order among
// threads is lost. Second, the pair of ranks and the tag: each queue has a duplicate communicator.
// Both ends of a message must compute the same queue, so a wildcard has none.
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

/// Assertions of the program about a communicator's messages, named as in MPI.
struct message_promises {
    bool no_any_source = false;    ///< mpi_assert_no_any_source
    bool no_any_tag = false;       ///< mpi_assert_no_any_tag
    bool allow_overtaking = false; ///< mpi_assert_allow_overtaking
};

/// The part of a message's envelope that both its sender and its receiver know. The pair of ranks
/// has no order, so an exchange with one rank has one key.
struct message_key {
    int low_rank = 0;
    int high_rank = 0;
    int tag = 0;
    [[nodiscard]] bool operator==(const message_key&) const = default;
    /// Messages with successive tags go to successive queues. So do the messages to the two
    /// neighbours that a rank of a grid has along a dimension: their ranks are at the same
    /// distance, so the queue depends on how many such distances lie below the pair. The sum of two
    /// ranks would be odd for all neighbours in a ring. tests/unit/comm_striping_test.cpp checks on
    /// grids which pairs get different queues.
    [[nodiscard]] std::size_t stripe_over(std::size_t n_queues) const noexcept {
        if (n_queues == 1) return 0;
        const auto distance = static_cast<std::uint64_t>(high_rank) - static_cast<std::uint64_t>(low_rank);
        const auto low = static_cast<std::uint64_t>(low_rank);
        const std::uint64_t index = distance == 0 ? low : low / distance + (distance + 1) / 2;
        return static_cast<std::size_t>((index + static_cast<unsigned>(tag)) % n_queues);
    }
};

/// The number of the calling thread, counted from 0 in the order of first calls.
[[nodiscard]] inline std::size_t number_of_this_thread() noexcept {
    static std::atomic<std::size_t> n_threads{0};
    thread_local const std::size_t mine = n_threads.fetch_add(1, std::memory_order_relaxed);
    return mine;
}

class comm_striping {
public:
    /// The key is the calling thread.
    /// @param over  queues of one communicator, at least one
    explicit comm_striping(std::vector<comm_queue*> over) noexcept : over_(std::move(over)), is_by_thread_(true) {}
    /// The key is the pair of ranks and the tag, at least one of which is never a wildcard.
    /// @param over  queues of its duplicates, at least one
    comm_striping(std::vector<comm_queue*> over, int my_rank, message_promises promised) noexcept
        : over_(std::move(over)), my_rank_(my_rank), has_ranks_(promised.no_any_source), has_tag_(promised.no_any_tag) {
    }

    [[nodiscard]] bool is_by_thread() const noexcept { return is_by_thread_; }
    [[nodiscard]] const std::vector<comm_queue*>& over() const noexcept { return over_; }

    /// Whether an operation has a queue, and why not.
    enum class choice : std::uint8_t {
        ok, ///< It uses the chosen queue; null: it stays in the communicator's own queue.
        /// It uses MPI_ANY_SOURCE, although the program promised not to.
        any_source,
        any_tag,      ///< It uses MPI_ANY_TAG, although the program promised not to.
        several_keys, ///< Its messages belong to several queues.
    };

    /// Any thread.
    /// @param chosen  the operation's queue
    [[nodiscard]] choice choose(const commtask_op& op, comm_queue*& chosen) const noexcept {
        const operation_traits& kind = operation_of(op.kind);
        chosen = nullptr;
        if (kind.ordered_in != order_class::messages || kind.takes_window || kind.takes_file) {
            return choice::ok;
        }
        if (is_by_thread_) {
            chosen = over_[number_of_this_thread() % over_.size()];
            return choice::ok;
        }
        collected keys;
        const choice why = collect(op, kind, keys);
        if (why == choice::ok && keys.has_one) chosen = over_[keys.first.stripe_over(over_.size())];
        return why;
    }

    /// @return null if no queue of the striping has this number
    [[nodiscard]] comm_queue* find(std::uint32_t queue_number) const noexcept {
        const auto found = std::ranges::find(over_, queue_number, &comm_queue::number);
        return found == over_.end() ? nullptr : *found;
    }

private:
    struct collected {
        message_key first;
        bool has_one = false;
    };

    [[nodiscard]] choice collect(const commtask_op& op, const operation_traits& kind, collected& keys) const noexcept {
        choice why = choice::ok;
        const auto add = [&](int peer, int tag) {
            if (why == choice::ok) why = add_key(peer, tag, keys);
        };
        if (kind.has_dest) add(op.peer, op.send_tag);
        if (kind.has_source) add(op.source, op.recv_tag);
        // Bad lists are reported by the checks of arguments.
        if (kind.has_dests && op.dests != nullptr)
            std::for_each_n(op.dests, op.peer, [&](int peer) { add(peer, op.send_tag); });
        if (kind.has_sources && op.sources != nullptr) {
            std::for_each_n(op.sources, op.source, [&](int peer) { add(peer, op.send_tag); });
        }
        return why;
    }

    [[nodiscard]] choice add_key(int peer, int tag, collected& keys) const noexcept {
        if (peer == MPI_PROC_NULL) return choice::ok; // no message
        if (has_ranks_ && peer == MPI_ANY_SOURCE) return choice::any_source;
        if (has_tag_ && tag == MPI_ANY_TAG) return choice::any_tag;
        message_key key;
        if (has_ranks_) std::tie(key.low_rank, key.high_rank) = std::minmax(my_rank_, peer);
        if (has_tag_) key.tag = tag;
        if (keys.has_one && keys.first != key) return choice::several_keys;
        keys = {key, true};
        return choice::ok;
    }

    const std::vector<comm_queue*> over_;
    const int my_rank_ = 0;
    const bool is_by_thread_ = false;
    const bool has_ranks_ = false;
    const bool has_tag_ = false;
};

} // namespace commtask::detail
