// SPDX-License-Identifier: Apache-2.0
//
// What the workers of a node show each other in memory that they share, so that one which has to wait for a message sleeps until
// the message has been sent, instead of looking again and again. Each rank has a page, cut into a line per lane: whether its
// worker sleeps in sight, and what it awaits. Who has issued a message looks at the receiver's line, which is one load unless a
// worker sleeps there. A line is only a hint: what is wrong with it costs a wake-up or a nap, never a message (docs/node.md).
#pragma once

#include "core/bell.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace commtask::detail {

/// A communicator as the ranks of a node know it.
struct node_peers {
    std::uint32_t context = 0; ///< Made of the group's ranks alone, so that all ranks come to the same without a word.
    std::int32_t me = 0;       ///< This process's rank in it, as messages name their source.
    bool are_all = false;      ///< Every rank that a message can come from is of this node.
    /// Its other ranks on this node: rank in the communicator, place on the node. By rank.
    struct neighbor {
        std::int32_t rank;
        std::uint32_t place;
    };
    std::vector<neighbor> neighbors;
    /// By rank: of one on another node its rank in MPI_COMM_WORLD; negative: it is on this node, or not in there. Empty unless
    /// messages to other nodes are announced.
    std::vector<std::int32_t> far_ranks{};
    bool is_each_far_known = false; ///< All that are not on this node have one.

    [[nodiscard]] std::int32_t far_rank_of(std::int32_t rank) const noexcept {
        const bool is_known = rank >= 0 && static_cast<std::size_t>(rank) < far_ranks.size();
        return is_known ? far_ranks[static_cast<std::size_t>(rank)] : -1;
    }

    /// @return null if that rank is on another node, or this one
    [[nodiscard]] const neighbor* find(std::int32_t rank) const noexcept {
        const auto found = std::ranges::lower_bound(neighbors, rank, {}, &neighbor::rank);
        return found == neighbors.end() || found->rank != rank ? nullptr : &*found;
    }
};

/// What a step of a message is to who waits for it.
enum class news : std::uint32_t {
    message, ///< A receive awaits it: a message was sent, or its sender has gone on with it.
    receipt, ///< A send awaits it: its receiver has come, or has taken the message.
    turn,    ///< A collective awaits it: another rank has ended the same.
    access,  ///< Who attends windows awaits it: another rank accesses one of them.
    sleeper, ///< The watcher awaits it: a rank of the node sleeps until it hears of a message of another node.
};

/// An entry of a line, and also what a ringer holds against it.
struct awaited_news {
    static constexpr std::int32_t any = -1;

    std::uint32_t context = 0;
    news what = news::message;
    std::int32_t peer = any; ///< In an entry: from whom. In a ringer's hand: who it is.
    std::int32_t tag = any;

    bool operator==(const awaited_news&) const = default;
};

/// Whether what has happened is what was awaited.
[[nodiscard]] constexpr bool is_news_for(const awaited_news& happened, const awaited_news& awaited) noexcept {
    constexpr std::int32_t any = awaited_news::any;
    return happened.context == awaited.context && happened.what == awaited.what &&
           (awaited.peer == any || awaited.peer == happened.peer) &&
           (awaited.tag == any || happened.tag == any || awaited.tag == happened.tag);
}

/// A lane's line. Written by who has the lane's baton; read by neighbours at any time.
class node_line {
public:
    /// `cells`: two words for each entry, after the first, of memory that was zero at the beginning.
    explicit node_line(std::span<std::atomic<std::uint64_t>> cells) noexcept : cells_(cells) {}

    /// The word that a worker sleeps on.
    [[nodiscard]] std::atomic<std::uint32_t>& word() const noexcept {
        return *reinterpret_cast<std::atomic<std::uint32_t>*>(cells_.data());
    }
    [[nodiscard]] std::size_t capacity() const noexcept { return (cells_.size() - 1) / 2; }

    // Who has the lane's baton. Also while the worker sleeps, so that the number of entries is stored after them; begin() then only
    // if nothing is awaited.
    void begin() const noexcept { set_count(0); }
    /// One too many: from then on anything is awaited.
    void add(const awaited_news& entry) const noexcept {
        const std::size_t n = count().load(std::memory_order_relaxed);
        if (n < capacity()) {
            const auto [first, second] = packed(entry);
            cells_[1 + 2 * n].store(first, std::memory_order_relaxed);
            cells_[2 + 2 * n].store(second, std::memory_order_relaxed);
        }
        set_count(std::min(n, capacity()) + 1);
    }

    /// Any process. Whether a worker sleeps here that awaits this. Who writes the line meanwhile looks itself after that.
    [[nodiscard]] bool awaits(const awaited_news& happened) const noexcept {
        if (!is_asleep()) return false;
        // acquire: partner of the release in set_count(); the entries are there.
        const std::size_t n = count().load(std::memory_order_acquire);
        if (n > capacity()) return true;
        for (std::size_t i = 0; i < n; ++i) {
            const awaited_news entry = unpacked(cells_[1 + 2 * i].load(std::memory_order_relaxed),
                                                cells_[2 + 2 * i].load(std::memory_order_relaxed));
            if (is_news_for(happened, entry)) return true;
        }
        return false;
    }

    /// Any process. Whether a worker sleeps here.
    [[nodiscard]] bool is_asleep() const noexcept {
        return word().load(std::memory_order_seq_cst) == bell::asleep_in_sight;
    }

    /// Any process. @return whether this call has woken the worker
    bool wake() const noexcept { // NOLINT(modernize-use-nodiscard)
        // Not one that has been hidden meanwhile: its word would say that it is awake.
        std::uint32_t expected = bell::asleep_in_sight;
        if (!word().compare_exchange_strong(expected, 0, std::memory_order_seq_cst)) return false;
        wake_sleepers_shared(word());
        return true;
    }

private:
    [[nodiscard]] std::atomic<std::uint32_t>& count() const noexcept { return *(&word() + 1); }
    void set_count(std::size_t n) const noexcept {
        // release: partner of the acquire in awaits().
        count().store(static_cast<std::uint32_t>(n), std::memory_order_release);
    }
    [[nodiscard]] static std::pair<std::uint64_t, std::uint64_t> packed(const awaited_news& entry) noexcept {
        return {std::uint64_t{entry.context} << 32U | static_cast<std::uint32_t>(entry.peer),
                std::uint64_t{static_cast<std::uint32_t>(entry.what)} << 32U | static_cast<std::uint32_t>(entry.tag)};
    }
    [[nodiscard]] static awaited_news unpacked(std::uint64_t first, std::uint64_t second) noexcept {
        return {static_cast<std::uint32_t>(first >> 32U), static_cast<news>(second >> 32U),
                static_cast<std::int32_t>(first), static_cast<std::int32_t>(second)};
    }

    std::span<std::atomic<std::uint64_t>> cells_;
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && sizeof(std::atomic<std::uint64_t>) == 8);

/// The lines of a node as one of its processes sees them. The memory outlasts it.
class node_bells {
public:
    static constexpr std::size_t page_bytes = 4096;
    /// What `n_ranks` need together.
    [[nodiscard]] static constexpr std::size_t bytes_for(std::size_t n_ranks) noexcept { return n_ranks * page_bytes; }

    /// @param pages  bytes_for() so many ranks, aligned to pages, zero at the beginning
    /// @param world_ranks  of the node's processes, ascending
    /// @param me  this process's place among them
    /// @param watcher  the place of the rank that hears for this one of messages of other nodes; nobody: none does
    /// @param heard_for  by place the processes of the ranks that this one hears for; 0: of another
    /// @throws std::bad_alloc
    node_bells(void* pages, std::vector<int> world_ranks, std::size_t me, std::size_t n_lanes,
               std::size_t watcher = nobody, std::vector<int> heard_for = {})
        : pages_(static_cast<std::atomic<std::uint64_t>*>(pages)), world_ranks_(std::move(world_ranks)), me_(me),
          n_lanes_(n_lanes), watcher_(watcher), heard_for_(std::move(heard_for)) {}
    static constexpr std::size_t nobody = SIZE_MAX;

    [[nodiscard]] std::span<const int> world_ranks() const noexcept { return world_ranks_; }
    [[nodiscard]] std::size_t n_lanes() const noexcept { return n_lanes_; }

    [[nodiscard]] node_line line(std::size_t place, std::size_t lane) const noexcept {
        const std::size_t cells = cells_of_line();
        return node_line{{pages_ + place * page_cells + lane * cells, cells}};
    }

    // With a watcher --------------------------------------------------------------------------------------------------

    [[nodiscard]] bool has_watcher() const noexcept { return watcher_ != nobody; }
    [[nodiscard]] bool am_watcher() const noexcept { return watcher_ == me_; }

    /// Large messages of other nodes that the watcher has heard of, less those that have ended at the rank in this place. Not zero:
    /// some are under way, or were never announced; then its workers nap as without a watcher.
    [[nodiscard]] std::atomic<std::int32_t>& announced(std::size_t place) const noexcept { return spare_of(place)[0]; }
    [[nodiscard]] std::atomic<std::int32_t>& announced_to_me() const noexcept { return announced(me_); }

    /// Workers that sleep until the same watcher hears something: in its page. And of them those of the rank in this place, in that one's.
    [[nodiscard]] std::atomic<std::int32_t>& n_sleepers() const noexcept { return spare_of(watcher_)[1]; }
    [[nodiscard]] std::atomic<std::int32_t>& n_asked(std::size_t place) const noexcept { return spare_of(place)[1]; }

    /// A worker that is about to sleep until the watcher hears something: it must be awake meanwhile. @return whether it was woken
    unsigned ask_watcher() const noexcept { // NOLINT(modernize-use-nodiscard)
        // Before the look: partner of the watcher's, before its sleep.
        n_sleepers().fetch_add(1, std::memory_order_seq_cst);
        n_asked(me_).fetch_add(1, std::memory_order_seq_cst);
        return ring(static_cast<std::uint32_t>(watcher_), {0, news::sleeper});
    }
    /// In this order, and that of asking, whoever is killed in between keeps the watcher awake, and takes no other's asking back.
    void release_watcher() const noexcept {
        n_asked(me_).fetch_sub(1, std::memory_order_seq_cst);
        n_sleepers().fetch_sub(1, std::memory_order_seq_cst);
    }
    /// The watcher: takes back what those had asked for who have ended without a word.
    void forget_ended() const noexcept {
        for (std::size_t place = 0; place < heard_for_.size(); ++place) {
            if (heard_for_[place] == 0 || n_asked(place).load(std::memory_order_relaxed) == 0) continue;
            if (has_ended(heard_for_[place]))
                n_sleepers().fetch_sub(n_asked(place).exchange(0), std::memory_order_relaxed);
        }
    }
    [[nodiscard]] node_line my_line(std::size_t lane) const noexcept { return line(me_, lane); }

    /// Any thread of this process, after it has stored what the neighbour would find. @return how many workers it has woken
    unsigned ring(std::uint32_t place, const awaited_news& happened) const noexcept {
        // A communicator may be on another lane there.
        unsigned n_woken = 0;
        for (std::size_t lane = 0; lane < n_lanes_; ++lane) {
            const node_line its = line(place, lane);
            if (its.awaits(happened) && its.wake()) ++n_woken;
        }
        return n_woken;
    }

    /// Any thread of this process: wakes whoever sleeps there. @return how many
    unsigned ring_for_anything(std::uint32_t place) const noexcept { // NOLINT(modernize-use-nodiscard)
        unsigned n_woken = 0;
        for (std::size_t lane = 0; lane < n_lanes_; ++lane) {
            const node_line its = line(place, lane);
            if (its.is_asleep() && its.wake()) ++n_woken;
        }
        return n_woken;
    }

private:
    static constexpr std::size_t page_cells = page_bytes / sizeof(std::uint64_t);

    [[nodiscard]] std::size_t cells_of_line() const noexcept {
        constexpr std::size_t line_cells = cache_line_bytes / sizeof(std::uint64_t);
        return page_cells / n_lanes_ / line_cells * line_cells;
    }
    /// The last cell of a rank's first line: entries come in pairs after the first cell, so that one of an even number is left.
    [[nodiscard]] std::atomic<std::int32_t>* spare_of(std::size_t place) const noexcept {
        return reinterpret_cast<std::atomic<std::int32_t>*>(pages_ + place * page_cells + cells_of_line() - 1);
    }

    std::atomic<std::uint64_t>* pages_;
    std::vector<int> world_ranks_;
    std::size_t me_;
    std::size_t n_lanes_;
    std::size_t watcher_;
    std::vector<int> heard_for_;
};

} // namespace commtask::detail
