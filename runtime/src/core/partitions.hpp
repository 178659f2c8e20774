// SPDX-License-Identifier: Apache-2.0
//
// How a partitioned buffer is sent as messages. Both sides cut the buffer into the same groups of
// elements, by a rule that needs only the whole size: so they exchange no metadata, and may have
// different numbers of partitions. Each group is one message. A group is sent when the last
// partition that overlaps it is filled, and a partition has arrived with the last group that
// overlaps it. Each group has a tag of its own, since groups are sent in any order. Pure functions,
// without MPI.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

namespace commtask::detail {

// Both sides of a partitioned message cut it by these two constants, so all ranks must have the
// same values.

/// The target size of a group, into which small partitions are merged and large ones are cut.
/// Smaller groups: more messages, each with the cost of a message. Larger groups: a partition that
/// is filled first waits for partitions that are filled later.
inline constexpr std::int64_t partition_group_bytes = 65536;

/// A buffer has at most so many groups; with more bytes, groups are larger. Each group has a tag,
/// and the program needs the other tags.
inline constexpr std::int64_t most_partition_groups = 32;

/// An even cut: the first groups have one element more than the remaining groups.
class partition_groups {
public:
    partition_groups() noexcept = default;
    /// @param n_elements  the elements of all partitions together
    /// @param element_bytes  the payload of one element
    constexpr partition_groups(std::int64_t n_elements, std::int64_t element_bytes) noexcept : n_elements_(n_elements) {
        const std::int64_t most = std::clamp<std::int64_t>(n_elements, 1, most_partition_groups);
        const std::int64_t per_group =
            std::max<std::int64_t>(partition_group_bytes / std::max<std::int64_t>(element_bytes, 1), 1);
        n_groups_ = static_cast<std::uint32_t>(std::clamp<std::int64_t>(n_elements / per_group, 1, most));
    }

    [[nodiscard]] constexpr std::uint32_t count() const noexcept { return n_groups_; }
    /// The first element of a group; for `group` == count(), the number of elements.
    [[nodiscard]] constexpr std::int64_t begin_of(std::uint32_t group) const noexcept {
        return group * shorter() + std::min<std::int64_t>(group, n_longer());
    }
    [[nodiscard]] constexpr std::uint32_t group_of(std::int64_t element) const noexcept {
        const std::int64_t in_longer = (shorter() + 1) * n_longer();
        if (element < in_longer) return static_cast<std::uint32_t>(element / (shorter() + 1));
        return static_cast<std::uint32_t>(n_longer() + (element - in_longer) / std::max<std::int64_t>(shorter(), 1));
    }

    struct range {
        std::uint32_t first;
        std::uint32_t last; ///< Included.
    };
    /// The groups that `count` elements from `first` on overlap; for no elements, the first group.
    [[nodiscard]] constexpr range groups_of(std::int64_t first, std::int64_t count) const noexcept {
        return count == 0 ? range{0, 0} : range{group_of(first), group_of(first + count - 1)};
    }

private:
    [[nodiscard]] constexpr std::int64_t shorter() const noexcept { return n_elements_ / n_groups_; }
    [[nodiscard]] constexpr std::int64_t n_longer() const noexcept { return n_elements_ % n_groups_; }

    std::int64_t n_elements_ = 0;
    std::uint32_t n_groups_ = 1;
};

/// Groups use tags from the upper end, the program uses tags from the lower end: each has half of
/// them.
[[nodiscard]] constexpr int highest_partitioned_tag(int tag_upper_bound) noexcept {
    return tag_upper_bound / (2 * static_cast<int>(most_partition_groups)) - 1;
}
[[nodiscard]] constexpr int group_tag(int tag, std::uint32_t group, int tag_upper_bound) noexcept {
    return tag_upper_bound - tag * static_cast<int>(most_partition_groups) - static_cast<int>(group);
}

/// The state of a partitioned member of a plan. Its groups are members too, which come before it.
struct partition_set {
    partition_groups groups{};
    std::int64_t n_partitions = 0;
    std::int64_t per_partition = 0; ///< Elements in a partition.
    std::int64_t extent = 0;        ///< The distance from one element to the next, in bytes.
    std::uint32_t first_group = 0;  ///< The index of its first group among the members.
    bool sends = false;

    // Only for members that send.
    /// Indexed by partition: the last run for which the partition was filled.
    std::unique_ptr<std::atomic<std::uint64_t>[]> filled_for{};
    /// Indexed by group, and by the run's number modulo 2: the number of partitions that are not
    /// filled. There are two, so that a call which comes too late for a canceled run finds the
    /// counters of that run.
    std::unique_ptr<std::array<std::atomic<std::uint32_t>, 2>[]> n_unfilled{};

    [[nodiscard]] partition_groups::range groups_of(std::int64_t partition) const noexcept {
        return groups.groups_of(partition * per_partition, per_partition);
    }
};

} // namespace commtask::detail
