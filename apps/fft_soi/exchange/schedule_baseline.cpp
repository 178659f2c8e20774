// SPDX-License-Identifier: Apache-2.0
// Mode baseline: compute everything, one blocking MPI_Alltoallv of everything, compute the rest. What most distributed
// FFTs do; all cores compute, none while messages fly.
#include "exchange/fork_join.hpp"
#include "exchange/recorder.hpp"

namespace tiled {

namespace {

class blocking_transport final : public message_transport {
public:
    using message_transport::message_transport;
    ~blocking_transport() override { free_types(); }

    void begin(work& of) override {
        begin_halo(of);
        is_there_ = false;
    }

    void send_chunk(int /*chunk*/) override {}

    void wait_segment(int /*segment*/) override {
        if (is_there_) return;
        const layout& sizes = of_->sizes();
        make_types(sizes);
        const auto n_ranks = static_cast<std::size_t>(sizes.n_ranks);
        std::vector<int> send_counts(n_ranks, 0);
        std::vector<int> send_offsets(n_ranks, 0);
        std::vector<int> receive_counts(n_ranks, 0);
        std::vector<int> receive_offsets(n_ranks, 0);
        int offset = 0;
        for (std::size_t rank = 0; rank < n_ranks; ++rank) {
            receive_offsets[rank] = static_cast<int>(rank);
            if (static_cast<int>(rank) == sizes.rank) continue;
            send_counts[rank] = sizes.n_segments;
            send_offsets[rank] = offset;
            receive_counts[rank] = 1;
            offset += sizes.n_segments;
        }
        MPI_Alltoallv(of_->outgoing(), send_counts.data(), send_offsets.data(), rows_, of_->incoming(),
                      receive_counts.data(), receive_offsets.data(), column_, comm_);
        sent_.messages += sizes.n_messages();
        sent_.bytes += static_cast<std::int64_t>(offset) * sizes.rows() * static_cast<std::int64_t>(sizes.cell_bytes);
        is_there_ = true;
    }

private:
    /// rows_: what one rank sends for one segment. column_: what all segments get from one rank, repeated from rank to
    /// rank; this rank's own rows are in place already.
    void make_types(const layout& sizes) {
        const std::size_t bytes = static_cast<std::size_t>(sizes.rows()) * sizes.cell_bytes;
        if (bytes == row_bytes_ && sizes.segment_bytes() == segment_bytes_) return;
        free_types();
        MPI_Datatype cell = MPI_DATATYPE_NULL;
        MPI_Datatype strided = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(static_cast<int>(sizes.cell_bytes), MPI_BYTE, &cell);
        MPI_Type_contiguous(static_cast<int>(sizes.rows()), cell, &rows_);
        MPI_Type_create_hvector(sizes.n_segments, 1, static_cast<MPI_Aint>(sizes.segment_bytes()), rows_, &strided);
        MPI_Type_create_resized(strided, 0, static_cast<MPI_Aint>(bytes), &column_);
        MPI_Type_commit(&rows_);
        MPI_Type_commit(&column_);
        MPI_Type_free(&strided);
        MPI_Type_free(&cell);
        row_bytes_ = bytes;
        segment_bytes_ = sizes.segment_bytes();
    }

    void free_types() {
        if (rows_ != MPI_DATATYPE_NULL) MPI_Type_free(&rows_);
        if (column_ != MPI_DATATYPE_NULL) MPI_Type_free(&column_);
    }

    MPI_Datatype rows_ = MPI_DATATYPE_NULL;
    MPI_Datatype column_ = MPI_DATATYPE_NULL;
    std::size_t row_bytes_ = 0;
    std::size_t segment_bytes_ = 0;
    bool is_there_ = false;
};

} // namespace

std::unique_ptr<schedule> make_baseline_schedule(const schedule_options& options) {
    return std::make_unique<fork_join_schedule>(std::make_unique<blocking_transport>(options.comm), options.n_cores,
                                                options.n_cores);
}

} // namespace tiled
