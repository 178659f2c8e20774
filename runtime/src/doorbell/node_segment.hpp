// SPDX-License-Identifier: Apache-2.0
//
// Memory that the ranks of a node share for their doorbells. The memory has no name in any folder,
// so nothing remains after the job, however the ranks end. The first rank creates the memory, and
// the others open it through the first rank's entry in /proc. If one rank cannot open it (another
// process namespace, another user), the node has no doorbells.
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
    /// Takes over mapped memory, and unmaps it in the destructor. A child process does not inherit
    /// the memory.
    node_segment(void* mapped, std::size_t n_bytes) noexcept;
    node_segment(const node_segment&) = delete;
    node_segment& operator=(const node_segment&) = delete;
    ~node_segment();

    [[nodiscard]] void* begin() const noexcept { return mapped_; }

    std::vector<int> world_ranks{}; ///< The ranks of the node in MPI_COMM_WORLD, ascending.
    std::size_t me = 0;             ///< The index of this rank in `world_ranks`.
    /// The index of the rank that receives announcements from other nodes: the first rank with a
    /// reserved worker, or else the first rank.
    std::size_t leader = 0;

private:
    void* mapped_;
    std::size_t n_bytes_;
};

/// The result of collective_open_segment().
struct opened_segment {
    /// Null if no rank wants the memory, or one rank cannot open it.
    std::unique_ptr<node_segment> segment{};
    /// Why a rank cannot open the memory; set on the first rank of the node.
    std::optional<std::string> failure{};
};

/// The request of a rank.
struct segment_request {
    /// Whether the rank wants the memory; one such rank is enough for the node.
    bool wants = false;
    bool has_core = false; ///< Whether the rank's worker has a core of its own.
    /// The number of consecutive ranks that count as a node; 0: the real nodes.
    int n_ranks_per_node = 0;
};

/// The data by which the ranks of a node find the first rank's file. The ranks exchange this struct
/// as bytes.
struct segment_offer {
    std::int64_t process;
    std::int64_t descriptor; ///< Negative: there is no file.
    std::uint64_t key;
};
/// @return a descriptor of the file; negative on failure, with errno
[[nodiscard]] int make_offered_file(std::uint64_t key, std::size_t n_bytes) noexcept;
[[nodiscard]] int open_offered_file(const segment_offer& from) noexcept;

/// Collective over MPI_COMM_WORLD. Called while MPI errors are returned as codes.
/// @param page_bytes  the size of each rank's page
[[nodiscard]] opened_segment collective_open_segment(const segment_request& mine, std::size_t page_bytes) noexcept;

/// A page of this rank alone, for a rank that shares no memory but announces its messages to other
/// nodes.
/// @throws std::bad_alloc
[[nodiscard]] std::unique_ptr<node_segment> make_own_segment(int world_rank, std::size_t page_bytes);

} // namespace commtask::detail
