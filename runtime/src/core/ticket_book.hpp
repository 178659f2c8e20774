// SPDX-License-Identifier: Apache-2.0
//
// Which of the places that were taken by hand are still to be used, so that none is used twice: the worker would wait for
// the one and trip over the other. A bit for each place between the oldest open one and the newest, behind a lock that
// only users of tickets take; memory grows with that span and is kept, so steady use allocates nothing.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

namespace commtask::detail {

/// What became of a ticket that somebody wanted to use.
enum class ticket_use : std::uint8_t {
    done,    ///< It is used up.
    unknown, ///< Nobody took it, or it was used before.
    refused, ///< The use did not come about; the ticket is still good.
};

class ticket_book {
public:
    /// Any thread. Takes the next number of `next`. @return 0, and nothing taken, without memory
    [[nodiscard]] std::uint64_t take(std::atomic<std::uint64_t>& next) noexcept {
        const std::lock_guard guard{mutex_};
        // relaxed: a number orders nothing; posts without a ticket take some meanwhile.
        std::uint64_t number = next.load(std::memory_order_relaxed);
        do {
            if (!make_room(number / word_bits)) return 0;
        } while (!next.compare_exchange_weak(number, number + 1, std::memory_order_relaxed));
        word_of(number) |= bit_of(number);
        ++n_open_;
        return number;
    }

    /// Any thread. Uses a number up if it is open and `use()`, which must not wait, is true.
    template <typename Use>
    [[nodiscard]] ticket_use try_use(std::uint64_t number, Use&& use) noexcept {
        const std::lock_guard guard{mutex_};
        const std::uint64_t word = number / word_bits;
        const bool is_here = word >= first_word_ && word - first_word_ < words_.size();
        if (!is_here || (word_of(number) & bit_of(number)) == 0) return ticket_use::unknown;
        if (!use()) return ticket_use::refused;
        word_of(number) &= ~bit_of(number);
        --n_open_;
        return ticket_use::done;
    }

private:
    static constexpr std::uint64_t word_bits = 64;

    [[nodiscard]] static std::uint64_t bit_of(std::uint64_t number) noexcept {
        return std::uint64_t{1} << (number % word_bits);
    }
    [[nodiscard]] std::uint64_t& word_of(std::uint64_t number) noexcept {
        return words_[(number / word_bits) % words_.size()];
    }

    /// Moves the window on so that it has `word`, past what is used up; enlarges it if need be.
    [[nodiscard]] bool make_room(std::uint64_t word) noexcept {
        if (n_open_ == 0) first_word_ = word;
        while (word - first_word_ >= words_.size()) {
            if (!words_.empty() && words_[first_word_ % words_.size()] == 0) {
                ++first_word_;
            } else if (!enlarge()) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] bool enlarge() noexcept {
        try {
            std::vector<std::uint64_t> larger(std::max<std::size_t>(2 * words_.size(), 8));
            for (std::uint64_t word = first_word_; word < first_word_ + words_.size(); ++word) {
                larger[word % larger.size()] = words_[word % words_.size()];
            }
            words_.swap(larger);
        } catch (const std::bad_alloc&) {
            return false;
        }
        return true;
    }

    std::mutex mutex_;
    std::vector<std::uint64_t> words_; ///< A ring; outside the window all bits are 0.
    std::uint64_t first_word_ = 0;     ///< Of the window.
    std::uint64_t n_open_ = 0;
};

} // namespace commtask::detail
