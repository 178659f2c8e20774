// SPDX-License-Identifier: Apache-2.0
//
// Frames on their way, in one contiguous ring: a frame takes just its own bytes, since most are acknowledgements of
// 66 bytes and some are 64 KiB. The ring starts again at its beginning whenever it runs empty, so that a calm wire
// stays in the cache and takes little of it from the ranks whose speed is being measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace commtask::bench {

class frame_queue {
public:
    struct entry {
        std::int64_t arrival_ns = 0;
        std::size_t offset = 0;
        std::size_t size_bytes = 0;
    };

    /// `capacity_bytes` for all frames together; `largest_bytes` is what a free place must offer.
    frame_queue(std::size_t capacity_bytes, std::size_t largest_bytes)
        : memory_(capacity_bytes), largest_bytes_(largest_bytes) {}

    [[nodiscard]] bool is_empty() const { return entries_.empty(); }
    [[nodiscard]] const entry& front() const { return entries_.front(); }
    [[nodiscard]] std::span<const std::byte> bytes_of(const entry& one) const {
        return {memory_.data() + one.offset, one.size_bytes};
    }

    /// A place for the next frame, `largest_bytes` long; empty when the queue is full. Valid until the next push.
    [[nodiscard]] std::span<std::byte> free_place() {
        if (entries_.empty()) {
            end_ = 0;
        }
        const std::size_t begin = entries_.empty() ? 0 : entries_.front().offset;
        const bool is_wrapped = !entries_.empty() && end_ <= begin;
        if (!is_wrapped && memory_.size() - end_ < largest_bytes_) {
            if (begin <= largest_bytes_) {
                return {};
            }
            end_ = 0;
        } else if (is_wrapped && begin - end_ <= largest_bytes_) {
            return {};
        }
        return {memory_.data() + end_, largest_bytes_};
    }

    /// Keeps the first `size_bytes` of the place that free_place() gave.
    void push(std::int64_t arrival_ns, std::size_t size_bytes) {
        entries_.push_back({.arrival_ns = arrival_ns, .offset = end_, .size_bytes = size_bytes});
        end_ += size_bytes;
    }

    void pop() { entries_.pop_front(); }

private:
    std::vector<std::byte> memory_;
    std::size_t largest_bytes_;
    std::deque<entry> entries_;
    std::size_t end_ = 0; ///< Where the next frame goes.
};

} // namespace commtask::bench
