// SPDX-License-Identifier: Apache-2.0
// Mode seg: the published pipeline. Everything is produced, then one MPI_Ialltoallv per segment is posted; segment s + 1
// travels while segment s is consumed, as far as MPI makes progress by itself. Producing overlaps with nothing.
#include "exchange/fork_join.hpp"
#include "exchange/recorder.hpp"

namespace tiled {

namespace {

class segment_transport final : public message_transport {
public:
    using message_transport::message_transport;
    ~segment_transport() override {
        if (cell_ != MPI_DATATYPE_NULL) MPI_Type_free(&cell_);
    }

    void begin(work& of) override { begin_halo(of); }
    void send_chunk(int /*chunk*/) override {}

    void produced() override {
        const layout& sizes = of_->sizes();
        if (sizes.cell_bytes != cell_bytes_) {
            if (cell_ != MPI_DATATYPE_NULL) MPI_Type_free(&cell_);
            MPI_Type_contiguous(static_cast<int>(sizes.cell_bytes), MPI_BYTE, &cell_);
            MPI_Type_commit(&cell_);
            cell_bytes_ = sizes.cell_bytes;
        }
        const auto n_ranks = static_cast<std::size_t>(sizes.n_ranks);
        const auto rows = static_cast<int>(sizes.rows());
        // The arrays must live until the collective is complete.
        counts_.assign(n_ranks, rows);
        counts_[static_cast<std::size_t>(sizes.rank)] = 0;
        send_offsets_.assign(n_ranks * static_cast<std::size_t>(sizes.n_segments), 0);
        receive_offsets_.resize(n_ranks);
        receives_.clear();
        for (std::size_t rank = 0; rank < n_ranks; ++rank) receive_offsets_[rank] = static_cast<int>(rank) * rows;
        for (int segment = 0; segment < sizes.n_segments; ++segment) {
            int* const offsets = send_offsets_.data() + static_cast<std::size_t>(segment) * n_ranks;
            for (int rank = 0; rank < sizes.n_ranks; ++rank) {
                if (rank == sizes.rank) continue;
                offsets[rank] = static_cast<int>(sizes.outgoing(rank, segment, 0).offset_bytes / sizes.cell_bytes);
            }
            MPI_Ialltoallv(of_->outgoing(), counts_.data(), offsets, cell_,
                           of_->incoming() + sizes.incoming(0, segment, 0).offset_bytes, counts_.data(),
                           receive_offsets_.data(), cell_, comm_, &receives_.emplace_back());
            sent_.bytes +=
                static_cast<std::int64_t>(sizes.n_peers()) * rows * static_cast<std::int64_t>(sizes.cell_bytes);
        }
        sent_.messages += sizes.n_messages();
    }

    void wait_segment(int segment) override {
        MPI_Wait(&receives_[static_cast<std::size_t>(segment)], MPI_STATUS_IGNORE);
    }

private:
    MPI_Datatype cell_ = MPI_DATATYPE_NULL;
    std::size_t cell_bytes_ = 0;
    std::vector<int> counts_;
    std::vector<int> send_offsets_;
    std::vector<int> receive_offsets_;
};

} // namespace

std::unique_ptr<schedule> make_seg_schedule(const schedule_options& options) {
    return std::make_unique<fork_join_schedule>(std::make_unique<segment_transport>(options.comm), options.n_cores,
                                                options.n_cores);
}

} // namespace tiled
