// SPDX-License-Identifier: Apache-2.0
// The hopping term of one rank, cut into the pieces that a mode arranges: pack a face, compute a tile. The modes see
// only this interface, so precision, SIMD width and link storage are chosen at run time and every mode runs the same
// kernel. Pieces of one hop may run in any order and on any thread once their inputs are there.
#pragma once

#include "fields.hpp"
#include "layout.hpp"

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

namespace dslash {

/// Memory aligned to huge pages where it is large; not initialised, so that the first touch places it.
class aligned_bytes {
public:
    explicit aligned_bytes(std::size_t size_bytes = 0);
    std::byte* data() const { return data_.get(); }
    std::size_t size() const { return size_; }

private:
    struct release {
        void operator()(std::byte* at) const;
    };
    std::unique_ptr<std::byte, release> data_;
    std::size_t size_;
};

/// A spinor field of one rank: both parities.
struct field {
    std::array<aligned_bytes, 2> parity;
};

/// One application of D from one parity to the other.
struct hop_step {
    const field* in; ///< Its parity 1 - `parity` is read.
    field* out;      ///< Its parity `parity` is written.
    int parity;      ///< Output parity. Also the halo buffer that this hop uses, so two successive hops use two.
    double scale;    ///< Factor on the result.
};

enum class precision { double_, single };

struct stencil_options {
    precision real = precision::double_;
    int width_bytes = 0; ///< SIMD vector; 0: as wide as the target's registers, if the local extents hold that.
    int link_reals = 18; ///< 18, or 12: two rows, the third is rebuilt.
    int tile_t = 0;      ///< Extents of a tile's block; 0: chosen.
    int tile_z = 0;
    int n_threads = 1; ///< What the chosen tiles are meant for.
};

/// A sum whose parts add up without rounding, in any order, while it is below the scale that its terms were added with.
struct exact_sum {
    /// The unit of `low`, over that of `high`: 2^24 terms fit.
    static constexpr double lower_share = 0x1p-30;
    double high = 0, low = 0;
    void add(const exact_sum& other) {
        high += other.high;
        low += other.low;
    }
    double value() const { return high + low; }
};

struct term {
    complex factor;
    const field* of;
};

/// <left, right> = the sum of conj(left) right.
struct product {
    const field* left;
    const field* right;
    double scale; ///< A power of two. Above it, sums depend on their order.
};
using exact_product = std::array<exact_sum, 2>; ///< Real and imaginary part.

class stencil {
public:
    virtual ~stencil() = default;

    const layout& shape() const { return shape_; }
    int width_bytes() const { return static_cast<int>(real_bytes_) * shape_.n_lanes; }
    std::size_t real_bytes() const { return real_bytes_; }

    field make_field() const;
    /// Bytes of one face message; 0 where the direction is not communicated.
    std::size_t face_bytes(int direction) const;
    std::byte* send_buffer(int parity, int direction) const { return send_[parity][direction].data(); }
    std::byte* receive_buffer(int parity, int direction) const { return receive_[parity][direction].data(); }
    /// Face sites of hop `parity` in `direction`: the range that pack() may be given parts of.
    int n_face_sites(int parity, int direction) const {
        return static_cast<int>(shape_.parity[1 - parity].face[direction].size());
    }

    virtual void set_links(const link_function& links) = 0;
    virtual void store(field& to, const coordinates& local, const spinor& value) const = 0;
    virtual spinor load(const field& from, const coordinates& local) const = 0;
    /// Wrapping sum of a hash of every site's bits and global number: equal fields have equal fingerprints however the
    /// lattice is cut, once summed over the ranks.
    /// By the calling thread alone: threads of OpenMP's that wait for more would spin where a timed run computes next.
    virtual std::uint64_t local_fingerprint(const field& of) const = 0;

    /// Packs face sites [first, last) for `direction` into the send buffer. The message belongs to the rank that
    /// hops in `direction` to reach this one: the neighbour in the opposite direction.
    virtual void pack(const hop_step& step, int direction, int first, int last) = 0;
    virtual void compute(const hop_step& step, const tile& which) = 0;

    /// On a tile of `parity`: the sum of at most 4 terms, which `out` may be one of; `has_gamma5`: times gamma_5.
    virtual void combine(field& out, int parity, const tile& on, std::initializer_list<term> terms,
                         bool has_gamma5 = false) const = 0;
    /// On a tile of even sites: each product to its sum.
    virtual void multiply(const tile& on, std::span<const product> of, exact_product* sums) const = 0;
    /// On a tile of even sites, of a field in double precision and one of this stencil's: to = from, and to += from.
    virtual void take(field& to, const field& from_double, const tile& on) const = 0;
    virtual void give(field& to_double, const field& from, const tile& on) const = 0;

    /// Sets every site of `to` from a function of the global site.
    void fill(field& to, const spinor_function& values) const;

protected:
    stencil(layout shape, std::size_t real_bytes);
    layout shape_;
    std::size_t real_bytes_;

private:
    std::array<std::array<aligned_bytes, n_directions>, 2> send_;
    std::array<std::array<aligned_bytes, n_directions>, 2> receive_;
};

/// The widest SIMD width in bytes, at most `limit`, that the local extents can hold.
int widest_fit(const geometry& geom, precision real, int limit);

/// Empty, or why `options.width_bytes` does not fit the lattice and what does.
std::string width_refusal(const geometry& geom, const stencil_options& options);

std::unique_ptr<stencil> make_stencil(const geometry& geom, const stencil_options& options);

/// One per translation unit, so that they compile side by side.
std::unique_ptr<stencil> make_double_stencil(layout shape, int link_reals);
std::unique_ptr<stencil> make_single_stencil(layout shape, int link_reals);

} // namespace dslash
