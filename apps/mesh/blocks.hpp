// SPDX-License-Identifier: Apache-2.0
// Blocks of numbers to a list of ranks and from a list of ranks, as one operation or plan, or by plain messages. The ranks are
// neighbours in space, which no row or column of a communicator has. The block of a rank for itself stays where it arrives.
#pragma once

#include "common/report.hpp"
#include "common/runner.hpp"

#include <commtask/plan.hpp>

#include <vector>

namespace mesh {

struct transport {
    MPI_Comm comm;
    bool by_worker;
    bool has_plan; ///< With `by_worker`.
};

class blocks {
public:
    struct block {
        int rank;
        std::size_t size;
        std::size_t place = 0;
    };
    /// @param is_shared  one block goes to all ranks
    blocks(const transport& by, int tag, std::vector<block> to, std::vector<block> from, bool is_shared = false);
    blocks(const blocks&) = delete;
    blocks& operator=(const blocks&) = delete;

    [[nodiscard]] const std::vector<block>& to() const { return to_; }
    [[nodiscard]] const std::vector<block>& from() const { return from_; }
    [[nodiscard]] double* outgoing(const block& of) { return (of.rank == rank_ ? in_ : out_).data() + of.place; }
    [[nodiscard]] double* incoming(const block& of) { return in_.data() + of.place; }
    /// Adds the messages to this stage, and the names for items that write or read blocks.
    void add(miniapp::item_list& to);
    void written_by(miniapp::item_list& of, int id) const;
    void read_by(miniapp::item_list& of, int id) const;

private:
    enum : int { sent, received, stayed };
    [[nodiscard]] miniapp::item_list::name name(int what) const { return {-100, tag_, what}; }

    transport by_;
    int tag_;
    int rank_ = 0;
    std::vector<block> to_, from_;
    std::vector<double> out_, in_;
    struct lists {
        std::vector<int> ranks, sizes, places;
    };
    lists sends_, receives_;
    commtask::plan plan_;
};

/// The sum of the bits of some numbers.
std::uint64_t bits_of(std::span<const double> values);

} // namespace mesh
