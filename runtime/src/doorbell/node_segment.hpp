// SPDX-License-Identifier: Apache-2.0
//
// Memory that the ranks of a node share, for their doorbells. It has no name in any folder, so that nothing is left behind whatever
// becomes of the ranks: the first makes it, and the others open it by way of that one's entry in /proc. Where they cannot
// (another name space of processes, another user), the ranks hear so, all of them, and do without.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace commtask::detail {

class node_segment {
public:
    /// Mapped already. Ends with the object; a child of the process never has it.
    node_segment(void* mapped, std::size_t n_bytes) noexcept;
    node_segment(const node_segment&) = delete;
    node_segment& operator=(const node_segment&) = delete;
    ~node_segment();

    [[nodiscard]] void* begin() const noexcept { return mapped_; }

    std::vector<int> world_ranks{}; ///< Of the node, ascending.
    std::size_t me = 0;             ///< This rank's place among them.
    std::size_t leader =
        0; ///< The place of the rank that hears of messages from other nodes: the first whose worker has a core
           ///< of its own, or the first.

private:
    void* mapped_;
    std::size_t n_bytes_;
};

/// What a node's ranks came to.
struct opened_segment {
    std::unique_ptr<node_segment> segment{}; ///< Null: nobody wants it, or one cannot have it.
    std::optional<std::string> failure{};    ///< Why one cannot have it, on the first rank of the node.
};

/// What a rank says of itself.
struct segment_request {
    bool wants = false;       ///< It has a use for the memory: one such rank suffices for all of the node.
    bool has_core = false;    ///< Its worker has a core of its own.
    int n_ranks_per_node = 0; ///< So many in a row count as a node of their own; 0: the nodes are those that there are.
};

/// What the first rank of a node tells the others: plain numbers, as they are.
struct segment_offer {
    std::int64_t process;
    std::int64_t descriptor; ///< Negative: there is none.
    std::uint64_t key;
};
/// @return a descriptor of a file that the offer names; negative, and errno: there is none
[[nodiscard]] int make_offered_file(std::uint64_t key, std::size_t n_bytes) noexcept;
[[nodiscard]] int open_offered_file(const segment_offer& from) noexcept;

/// Called by every rank of MPI_COMM_WORLD, while errors come back.
/// @param page_bytes  for each rank
[[nodiscard]] opened_segment collective_open_segment(const segment_request& mine, std::size_t page_bytes) noexcept;

/// A page of this rank's alone, which nobody else has and no leader hears for: it announces its messages to other nodes all the same.
/// @throws std::bad_alloc
[[nodiscard]] std::unique_ptr<node_segment> make_own_segment(int world_rank, std::size_t page_bytes);

} // namespace commtask::detail
