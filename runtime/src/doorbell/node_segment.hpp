// SPDX-License-Identifier: Apache-2.0
//
// Memory that the ranks of a node share for their doorbells. It has no name in any folder, so
// nothing is left behind, whatever happens to the ranks. The first rank makes the memory, and the
// other ranks open it through the first rank's entry in /proc. If a rank cannot open it (another
// process namespace, another user), all ranks of the node learn so, and do without.
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
    /// Takes over mapped memory, and unmaps it at its end. A child process never has the memory.
    node_segment(void* mapped, std::size_t n_bytes) noexcept;
    node_segment(const node_segment&) = delete;
    node_segment& operator=(const node_segment&) = delete;
    ~node_segment();

    [[nodiscard]] void* begin() const noexcept { return mapped_; }

    std::vector<int> world_ranks{}; ///< The node's ranks in MPI_COMM_WORLD, ascending.
    std::size_t me = 0;             ///< This rank's place among them.
    /// The place of the rank that receives announcements of messages from other nodes: the first
    /// rank whose worker has a core of its own, or else the first rank.
    std::size_t leader = 0;

private:
    void* mapped_;
    std::size_t n_bytes_;
};

/// The result for a rank of the node.
struct opened_segment {
    /// Null if no rank wants the memory, or a rank cannot have it.
    std::unique_ptr<node_segment> segment{};
    /// Why a rank cannot have the memory; set on the first rank of the node.
    std::optional<std::string> failure{};
};

/// A rank's request.
struct segment_request {
    /// The rank has a use for the memory; one such rank suffices for the node.
    bool wants = false;
    bool has_core = false; ///< The rank's worker has a core of its own.
    /// So many consecutive ranks count as a node of their own; 0: the real nodes.
    int n_ranks_per_node = 0;
};

/// Numbers that the first rank of a node sends to the other ranks as they are.
struct segment_offer {
    std::int64_t process;
    std::int64_t descriptor; ///< Negative if there is no file.
    std::uint64_t key;
};
/// @return a descriptor of the file that the offer names; if there is none, a negative number, and
/// errno
[[nodiscard]] int make_offered_file(std::uint64_t key, std::size_t n_bytes) noexcept;
[[nodiscard]] int open_offered_file(const segment_offer& from) noexcept;

/// Called by every rank of MPI_COMM_WORLD, while MPI errors are returned as codes.
/// @param page_bytes  the size of each rank's page
[[nodiscard]] opened_segment collective_open_segment(const segment_request& mine, std::size_t page_bytes) noexcept;

/// A page that only this rank has, for a rank that has no leader but announces its messages to
/// other nodes all the same.
/// @throws std::bad_alloc
[[nodiscard]] std::unique_ptr<node_segment> make_own_segment(int world_rank, std::size_t page_bytes);

} // namespace commtask::detail
