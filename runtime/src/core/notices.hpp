// SPDX-License-Identifier: Apache-2.0
//
// What the ranks of one node tell another node: that a large message is on its way to one of its ranks. A notice goes to that
// node's watcher, a rank whose worker stays awake while others sleep, and which rings the one that awaits the message. A notice is
// only a hint: one that is lost makes its receiver nap as without a watcher, and loses no message (docs/node.md).
#pragma once

#include "core/node_bell.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace commtask::detail {

/// As it is sent.
struct notice {
    std::uint32_t place = 0;      ///< Of the receiver on its node.
    std::uint32_t n_messages = 1; ///< Several have been put together: what they are is not said.
    std::uint32_t context = 0;    ///< Of the communicator, as node_peers has it.
    std::int32_t source = 0;      ///< Rank in it.
    std::int32_t tag = 0;
};

/// Where a rank of MPI_COMM_WORLD is to be told of a message.
struct far_place {
    static constexpr std::int32_t nobody = -1;
    std::int32_t watcher = nobody; ///< Rank in MPI_COMM_WORLD of its node's; nobody: the node has none.
    std::uint32_t place = 0;       ///< On its node.
};

/// Carries notices from node to node. Who drives the lane that has it calls it.
class notice_carrier {
public:
    /// @return false if there is no room: nothing was sent, and somebody asks again
    [[nodiscard]] virtual bool try_send(std::int32_t watcher, std::span<const notice> batch) noexcept = 0;

protected:
    ~notice_carrier() = default;
};

/// Notices that no carrier has taken yet, in order. Its memory is of one size: without room, notices for one rank are put together,
/// and where that is not possible either one is lost.
class notice_queue {
public:
    static constexpr std::size_t capacity = 192;
    static constexpr std::size_t most_in_batch = 32;

    void add(std::int32_t watcher, const notice& told) noexcept {
        if (n_ < capacity) {
            entries_[n_++] = {watcher, told};
            return;
        }
        for (entry& each : entries_) {
            if (each.watcher != watcher || each.told.place != told.place) continue;
            ++each.told.n_messages;
            return;
        }
        ++n_lost_;
    }

    /// Gives the carrier what it takes, a batch for each watcher. @return how many batches
    unsigned flush(notice_carrier& carrier) noexcept {
        unsigned n_batches = 0;
        while (n_ > 0) {
            std::array<notice, most_in_batch> batch;
            const std::int32_t watcher = entries_.front().watcher;
            std::size_t n_taken = 0;
            for (std::size_t i = 0; i < n_ && n_taken < most_in_batch; ++i) {
                if (entries_[i].watcher == watcher) batch[n_taken++] = entries_[i].told;
            }
            if (!carrier.try_send(watcher, std::span{batch}.first(n_taken))) break;
            std::size_t n_kept = 0;
            for (std::size_t i = 0, n_gone = 0; i < n_; ++i) {
                if (entries_[i].watcher == watcher && n_gone < n_taken) {
                    ++n_gone;
                } else {
                    entries_[n_kept++] = entries_[i];
                }
            }
            n_ = n_kept;
            ++n_batches;
        }
        return n_batches;
    }

    [[nodiscard]] bool is_empty() const noexcept { return n_ == 0; }
    [[nodiscard]] std::uint64_t n_lost() const noexcept { return n_lost_; }

private:
    struct entry {
        std::int32_t watcher;
        notice told;
    };
    std::array<entry, capacity> entries_{};
    std::size_t n_ = 0;
    std::uint64_t n_lost_ = 0;
};

/// What a lane needs to announce its messages to other nodes.
struct announcing {
    std::int64_t more_than_bytes = 0; ///< Messages of more are announced, by who sends, and counted, by who receives.
    std::vector<far_place> world{};   ///< By rank in MPI_COMM_WORLD.
    [[nodiscard]] const far_place* find(std::int32_t world_rank) const noexcept {
        if (world_rank < 0 || static_cast<std::size_t>(world_rank) >= world.size()) return nullptr;
        const far_place& found = world[static_cast<std::size_t>(world_rank)];
        return found.watcher == far_place::nobody ? nullptr : &found;
    }
};

/// The watcher, who has been told: whoever awaits it is rung. @return how many workers it has woken
inline unsigned ring_for_notice(const notice& told, const node_bells& bells) noexcept {
    if (told.place >= bells.world_ranks().size()) return 0;
    // Before the look: who falls asleep stores that first, and then looks at this.
    bells.announced(told.place).fetch_add(static_cast<std::int32_t>(told.n_messages), std::memory_order_seq_cst);
    if (told.n_messages > 1) return bells.ring_for_anything(told.place);
    return bells.ring(told.place, {told.context, news::message, told.source, told.tag});
}

} // namespace commtask::detail
