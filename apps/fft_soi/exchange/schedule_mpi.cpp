// SPDX-License-Identifier: Apache-2.0
// The modes in which the master calls MPI itself. baseline: compute everything, one blocking MPI_Alltoallv of everything, compute the
// rest; what most distributed FFTs do, and no core computes while messages fly. seg: the published pipeline; everything is produced, then
// one MPI_Ialltoallv per segment is posted, and segment s + 1 travels while segment s is consumed, as far as MPI makes progress by itself.
// p2p, iprobe and commself: a message per (chunk, segment, peer) as soon as its chunk is made. They differ in who makes progress
// meanwhile: nobody, the master between pieces, or a thread inside MPI.
#include "common/self_progress.hpp"
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

class probing_transport final : public message_transport {
public:
    explicit probing_transport(const schedule_options& options)
        : message_transport(options), every_(options.probe_every) {}

    void after_piece() override {
        if (++pieces_ % every_ != 0) return;
        int found = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE);
    }

private:
    int every_;
    int pieces_ = 0;
};

class commself_transport final : public message_transport {
public:
    using message_transport::message_transport;

private:
    miniapp::self_progress progress_;
};

} // namespace

std::unique_ptr<schedule> make_baseline_schedule(const schedule_options& options) {
    return make_fork_join<blocking_transport>(mode::baseline, options);
}

std::unique_ptr<schedule> make_seg_schedule(const schedule_options& options) {
    return make_fork_join<segment_transport>(mode::seg, options);
}

std::unique_ptr<schedule> make_p2p_schedule(const schedule_options& options) {
    return make_fork_join<message_transport>(mode::p2p, options);
}

std::unique_ptr<schedule> make_iprobe_schedule(const schedule_options& options) {
    return make_fork_join<probing_transport>(mode::iprobe, options);
}

std::unique_ptr<schedule> make_commself_schedule(const schedule_options& options) {
    return make_fork_join<commself_transport>(mode::commself, options);
}

} // namespace tiled
