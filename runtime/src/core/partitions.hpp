// SPDX-License-Identifier: Apache-2.0
//
// Divides a partitioned buffer into messages. Both sides divide the buffer into the same groups of
// elements, by a rule that needs only the total size. So the sides exchange no metadata, and may
// have different numbers of partitions. Each group is one message. A group is sent when all
// partitions that overlap it are filled. A partition has arrived when all groups that overlap it
// have arrived. Each group has its own tag, since groups are sent in any order. Pure functions,
// without MPI.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

namespace commtask::detail {

// Both sides of a partitioned message use these two constants, so all ranks must have the same
// values.

/// The target size of a group: small partitions are merged, and large ones are divided. Smaller
/// groups cost more messages. In larger groups, a partition that is filled early waits for
/// partitions that are filled late.
inline constexpr std::int64_t partition_group_bytes = 65536;

/// The largest number of groups of a buffer; larger buffers have larger groups. Each group uses a
/// tag, and the program needs the other tags.
inline constexpr std::int64_t most_partition_groups = 32;

/// Divides elements into groups of equal size; the first groups may have one element more.
class partition_groups {
public:
    partition_groups() noexcept = default;
    /// @param n_elements  the number of elements of all partitions
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
        std::uint32_t last; ///< Inclusive.
    };
    /// The groups that overlap the `count` elements from `first`; for no elements, the first group.
    [[nodiscard]] constexpr range groups_of(std::int64_t first, std::int64_t count) const noexcept {
        return count == 0 ? range{0, 0} : range{group_of(first), group_of(first + count - 1)};
    }

private:
    [[nodiscard]] constexpr std::int64_t shorter() const noexcept { return n_elements_ / n_groups_; }
    [[nodiscard]] constexpr std::int64_t n_longer() const noexcept { return n_elements_ % n_groups_; }

    std::int64_t n_elements_ = 0;
    std::uint32_t n_groups_ = 1;
};

/// Groups use the upper half of the tags, the program uses the lower half.
[[nodiscard]] constexpr int highest_partitioned_tag(int tag_upper_bound) noexcept {
    return tag_upper_bound / (2 * static_cast<int>(most_partition_groups)) - 1;
}
[[nodiscard]] constexpr int group_tag(int tag, std::uint32_t group, int tag_upper_bound) noexcept {
    return tag_upper_bound - tag * static_cast<int>(most_partition_groups) - static_cast<int>(group);
}

/// The state of a partitioned member of a plan. Its groups are members too, and come before it.
struct partition_set {
    partition_groups groups{};
    std::int64_t n_partitions = 0;
    std::int64_t per_partition = 0; ///< The number of elements in a partition.
    std::int64_t extent = 0;        ///< The extent of an element in bytes.
    std::uint32_t first_group = 0;  ///< The index of the first group among the members.
    bool sends = false;

    // Only for members that send.
    /// Indexed by partition: the last run for which the partition was filled.
    std::unique_ptr<std::atomic<std::uint64_t>[]> filled_for{};
    /// Indexed by group, and by the run's number modulo 2: the number of partitions that are not
    /// filled. Two counts, so that a late call for a canceled run does not change the count of the
    /// next run.
    std::unique_ptr<std::array<std::atomic<std::uint32_t>, 2>[]> n_unfilled{};

    [[nodiscard]] partition_groups::range groups_of(std::int64_t partition) const noexcept {
        return groups.groups_of(partition * per_partition, per_partition);
    }
};

} // namespace commtask::detail
