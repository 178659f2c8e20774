// SPDX-License-Identifier: Apache-2.0
//
// Striping: several lanes serve the messages of one communicator, and a key chooses a queue for
// each message. The key is the calling thread, or the pair of ranks and the tag. By thread, the
// queues share the communicator: MPI matches all messages, so wildcards work, and only the order
// among threads is lost. By ranks and tag, each queue has a duplicate communicator. Both ends of a
// message must compute the same queue, so wildcards are refused.
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

/// Assertions of the program about a communicator's messages; names as in MPI.
struct message_promises {
    bool no_any_source = false;    ///< mpi_assert_no_any_source
    bool no_any_tag = false;       ///< mpi_assert_no_any_tag
    bool allow_overtaking = false; ///< mpi_assert_allow_overtaking
};

/// The part of a message's envelope that both its sender and its receiver know. The pair of ranks
/// is sorted, so an exchange with one rank has one key.
struct message_key {
    int low_rank = 0;
    int high_rank = 0;
    int tag = 0;
    [[nodiscard]] bool operator==(const message_key&) const = default;
    /// Messages with successive tags use successive queues. So do messages to the two neighbors
    /// along a dimension of a grid. The ranks of these neighbors have the same distance, so the
    /// queue depends on how many such distances lie below the pair. The sum of the two ranks would
    /// be odd for all neighbors in a ring. tests/unit/comm_striping_test.cpp checks which pairs of
    /// a grid get different queues.
    [[nodiscard]] std::size_t stripe_over(std::size_t n_queues) const noexcept {
        if (n_queues == 1) return 0;
        const auto distance = static_cast<std::uint64_t>(high_rank) - static_cast<std::uint64_t>(low_rank);
        const auto low = static_cast<std::uint64_t>(low_rank);
        const std::uint64_t index = distance == 0 ? low : low / distance + (distance + 1) / 2;
        return static_cast<std::size_t>((index + static_cast<unsigned>(tag)) % n_queues);
    }
};

/// The number of the calling thread, from 0 in the order of first calls.
[[nodiscard]] inline std::size_t number_of_this_thread() noexcept {
    static std::atomic<std::size_t> n_threads{0};
    thread_local const std::size_t mine = n_threads.fetch_add(1, std::memory_order_relaxed);
    return mine;
}

class comm_striping {
public:
    /// Striping by the calling thread.
    /// @param over  the queues of one communicator, at least one
    explicit comm_striping(std::vector<comm_queue*> over) noexcept : over_(std::move(over)), is_by_thread_(true) {}
    /// Striping by the pair of ranks, the tag, or both: those that are never wildcards, at least
    /// one.
    /// @param over  the queues of the duplicates, at least one
    comm_striping(std::vector<comm_queue*> over, int my_rank, message_promises promised) noexcept
        : over_(std::move(over)), my_rank_(my_rank), has_ranks_(promised.no_any_source), has_tag_(promised.no_any_tag) {
    }

    [[nodiscard]] bool is_by_thread() const noexcept { return is_by_thread_; }
    [[nodiscard]] const std::vector<comm_queue*>& over() const noexcept { return over_; }

    /// The result of choose().
    enum class choice : std::uint8_t {
        ok, ///< The operation uses the chosen queue; null: the communicator's own queue.
        /// The operation uses MPI_ANY_SOURCE, although the program asserted otherwise.
        any_source,
        any_tag,      ///< The operation uses MPI_ANY_TAG, although the program asserted otherwise.
        several_keys, ///< The messages of the operation belong to several queues.
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
        // The checks of arguments report bad lists.
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
