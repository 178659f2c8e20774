// SPDX-License-Identifier: Apache-2.0
// A 3-D FFT of pencils: each rank has whole lines along one axis, and a row or a column of ranks exchanges blocks before the lines
// of the next axis are transformed. There are five ways to exchange. The price of pencils is a second exchange; a cut into slabs
// needs one, but has work for at most as many ranks as there are planes.
#pragma once

#include "common/report.hpp"
#include "common/runner.hpp"
#include "fft_soi/aligned.hpp"
#include "fft_soi/local_fft.hpp"

#include <commtask/plan.hpp>

#include <complex>
#include <deque>
#include <string>

namespace fft3d {

using complex = std::complex<double>;
using extents = std::array<int, 3>; ///< Along x, y and z.

enum class schedule : std::uint8_t {
    alltoallv,    ///< On all ranks, with counts of 0 for ranks of other rows or columns.
    alltoall,     ///< On a communicator for each row and column.
    many_to_many, ///< Blocks to and from the lists of a row or column.
    plan,         ///< The same, recorded once; only by communication tasks.
    pipeline,     ///< Like many_to_many, in batches: one is computed while another is exchanged.
};

struct shape {
    extents points{};
    std::array<int, 2> grid{}; ///< Ranks of a row and ranks of a column.
    schedule by = schedule::alltoall;
    int n_batches = 1;
    int n_pieces = 1; ///< Items of each batch and step.
    /// Of a rank.
    [[nodiscard]] double n_points() const;
    /// Of a rank, in all arrays and buffers.
    [[nodiscard]] double bytes() const { return 7 * sizeof(complex) * n_points(); }
};

/// Chooses a grid where none is given. @return the refusal where ranks would have unequal parts of the points, else empty
std::string settle_grid(shape& of, int n_ranks);

/// Points of the whole that a rank has.
struct box {
    extents first;
    extents count;
};

/// A line along z of the spectrum, before its inverse transform.
struct spectrum_line {
    int turn; ///< Inverse transforms before this one, since restart().
    int x;
    int y;
    const complex* from;
    complex* to;
};
using filter = std::function<void(const spectrum_line&)>;

class transform {
public:
    /// Collective. With `by_worker` the messages are communication tasks.
    transform(const shape& of, MPI_Comm comm, bool by_worker);
    transform(const transform&) = delete;
    transform& operator=(const transform&) = delete;
    /// Collective. Not a destructor's work: a rank that fails alone must not wait for the others.
    void end();

    /// Adds stages that compute the spectrum of the points. Nothing is scaled.
    void add_forward(miniapp::item_list& to) { add(to, true, {}); }
    /// Adds stages that compute the points from `change` of the spectrum. The spectrum stays as it is.
    void add_inverse(miniapp::item_list& to, const filter& change) { add(to, false, change); }
    /// For other items of the list that read or write points. Their names begin with a negative number.
    void reads_points(miniapp::item_list& of, int id) const {
        for (int batch = 0; batch < shape_.n_batches; ++batch) of.reads(id, {points, batch, 0});
    }
    void writes_points(miniapp::item_list& of, int id) const {
        for (int batch = 0; batch < shape_.n_batches; ++batch) of.writes(id, {points, batch, 0});
    }

    [[nodiscard]] box points_box() const;
    [[nodiscard]] box spectrum_box() const;
    /// Lines along x and along z, by places in the box.
    [[nodiscard]] complex* points_line(int y, int z) { return line(phases_[0].inner, z, y); }
    [[nodiscard]] complex* z_line(int x, int y) { return line(phases_[1].outer, x, y); }
    void restart() { std::ranges::fill(turns_, 0); }
    /// The bits packed less the bits unpacked since the last call; the sum over all ranks is 0 unless a message was changed.
    std::uint64_t left_of_messages();

private:
    /// The lines on one side of an exchange: `n` for each kept index, each of `length` points. Strides are in lines.
    struct lines {
        complex* data;
        int n;
        int length;
        int kept_stride;
        int stride;
    };
    /// An exchange: a block of (kept index, line, part of the line) goes to each rank, which makes lines of these parts.
    struct phase {
        int mine; ///< The place of this rank in `ranks`.
        int n_kept;
        lines inner; ///< Nearer to the points.
        lines outer; ///< Nearer to the spectrum.
        std::vector<int> ranks{};
        MPI_Comm comm = MPI_COMM_NULL;
        soi::aligned_array<complex> outgoing{};
        soi::aligned_array<complex> incoming{};
        [[nodiscard]] int n_ranks() const { return static_cast<int>(ranks.size()); }
    };
    /// The lists of one batch of one exchange.
    struct messages {
        std::vector<int> peers, counts, places;
        commtask::plan plan;
    };
    struct range {
        int first;
        int count;
    };
    /// A step of one batch, by one item.
    struct work {
        phase& on;
        bool is_forward;
        range kept;
        range own; ///< Lines of the batch.
        miniapp::message_sums* sums;
        int* turn; ///< Null: not back from the spectrum.
    };
    struct alignas(64) padded_sums : miniapp::message_sums {};
    enum : int { points, middle_by_z, middle_by_x, spectrum, sent, received, stayed }; ///< Names of what items use.

    static complex* line(const lines& of, int kept, int k) {
        return of.data + static_cast<std::size_t>(kept * of.kept_stride + k * of.stride) * of.length;
    }
    static range share(int n, int n_parts, int k);
    static int block_size(const phase& on, range kept) { return kept.count * on.inner.n * on.outer.n; }
    static int block_place(const phase& on, range kept, int rank) {
        return kept.first * on.inner.n * on.outer.n * on.n_ranks() + rank * block_size(on, kept);
    }
    void add(miniapp::item_list& to, bool is_forward, const filter& change);
    void add_work(miniapp::item_list& to, miniapp::part when, bool is_forward, int which, int batch,
                  const filter& change);
    void add_exchange(miniapp::item_list& to, bool is_forward, int which, int batch);
    std::vector<int> add_messages(miniapp::item_list& to, phase& on, range kept, int tag);
    miniapp::message collective(phase& on, range kept, const messages& all) const;
    void pack(const work& what, const filter& change);
    void unpack(const work& what);
    [[nodiscard]] const soi::local_fft<double>& fft(bool is_forward, int length) const;

    shape shape_;
    MPI_Comm comm_;
    bool by_worker_;
    std::array<std::vector<std::unique_ptr<soi::local_fft<double>>>, 2> ffts_; ///< Inverse and forward, of each axis.
    std::array<soi::aligned_array<complex>, 3> arrays_;
    std::array<phase, 2> phases_;
    std::vector<messages> messages_; ///< By their tags.
    std::deque<padded_sums> sums_;   ///< Of each item.
    std::deque<int> turns_;
};

} // namespace fft3d
