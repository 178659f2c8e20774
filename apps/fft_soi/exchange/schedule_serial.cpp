// SPDX-License-Identifier: Apache-2.0
// Mode serial: one thread; halo, produce, exchange block by block with MPI_Sendrecv, consume. Nothing overlaps and
// nothing is clever: too simple to be wrong, so the other modes' results are compared with it bit by bit.
#include "exchange/messages.hpp"
#include "exchange/recorder.hpp"

namespace tiled {

namespace {

class serial_schedule final : public schedule {
public:
    explicit serial_schedule(MPI_Comm comm) : comm_(comm) {}

    phase_times run(work& of) override {
        const layout& sizes = of.sizes();
        recorder record(of, 1, trace_ != nullptr);
        traffic sent;
        of.begin();
        const halo edge = of.neighbour();
        record.wait(-1, 0, [&] {
            if (sizes.n_ranks == 1) return copy_own_halo(edge);
            if (edge.size_bytes == 0) return;
            MPI_Sendrecv(edge.send, static_cast<int>(edge.size_bytes), MPI_BYTE, left_of(sizes), sizes.halo_tag(),
                         edge.receive, static_cast<int>(edge.size_bytes), MPI_BYTE, right_of(sizes), sizes.halo_tag(),
                         comm_, MPI_STATUS_IGNORE);
            sent.halo_bytes += static_cast<std::int64_t>(edge.size_bytes);
        });
        for (int piece = 0; piece < piece_count(of); ++piece) record.produce(piece, 0);
        for (int segment = 0; segment < sizes.n_segments; ++segment) {
            record.wait(segment, 0, [&] { exchange_segment(of, segment, sent); });
        }
        for (int segment = 0; segment < sizes.n_segments; ++segment) record.consume(segment, 0);
        return record.finish(sent, trace_);
    }

    void barrier() override { MPI_Barrier(comm_); }
    int compute_threads() const override { return 1; }

private:
    void exchange_segment(work& of, int segment, traffic& sent) {
        const layout& sizes = of.sizes();
        for (int o = 1; o < sizes.n_ranks; ++o) {
            for (int chunk = 0; chunk < sizes.n_chunks(); ++chunk) {
                const block out = sizes.outgoing(sizes.peer_to(o), segment, chunk);
                const block in = sizes.incoming(sizes.peer_from(o), segment, chunk);
                const int tag = sizes.tag(segment, chunk);
                MPI_Sendrecv(of.outgoing() + out.offset_bytes, static_cast<int>(out.size_bytes), MPI_BYTE,
                             sizes.peer_to(o), tag, of.incoming() + in.offset_bytes, static_cast<int>(in.size_bytes),
                             MPI_BYTE, sizes.peer_from(o), tag, comm_, MPI_STATUS_IGNORE);
                ++sent.messages;
                sent.bytes += static_cast<std::int64_t>(out.size_bytes);
            }
        }
    }

    MPI_Comm comm_;
};

} // namespace

std::unique_ptr<schedule> make_serial_schedule(const schedule_options& options) {
    return std::make_unique<serial_schedule>(options.comm);
}

} // namespace tiled
