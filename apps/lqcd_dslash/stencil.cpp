// SPDX-License-Identifier: Apache-2.0
// What does not depend on precision and width: buffers, filling, and the choice of the width.
// It is compiled once; the kernels, which take the compiler long, are in files of their own.
#include "stencil.hpp"

#include "common/peak.hpp"

#include <cstdlib>
#include <new>
#include <sys/mman.h>

namespace dslash {

namespace {

constexpr std::size_t huge_page_bytes = std::size_t{1} << 21;

std::size_t bytes_of(precision real) { return real == precision::double_ ? 8 : 4; }

} // namespace

aligned_bytes::aligned_bytes(std::size_t size_bytes) : size_(size_bytes) {
    if (size_bytes == 0) return;
    const bool large = size_bytes >= huge_page_bytes / 4;
    const std::size_t alignment = large ? huge_page_bytes : 64;
    const std::size_t rounded = (size_bytes + alignment - 1) / alignment * alignment;
    void* at = std::aligned_alloc(alignment, rounded);
    if (at == nullptr) throw std::bad_alloc();
    // A hint only: without huge pages the result is the same, some percent later.
    if (large) static_cast<void>(::madvise(at, rounded, MADV_HUGEPAGE));
    data_.reset(static_cast<std::byte*>(at));
}

void aligned_bytes::release::operator()(std::byte* at) const { std::free(at); }

stencil::stencil(layout shape, std::size_t real_bytes) : shape_(std::move(shape)), real_bytes_(real_bytes) {
    for (int parity = 0; parity < 2; ++parity) {
        for (int d = 0; d < n_directions; ++d) {
            const std::size_t size = face_bytes(d);
            if (size == 0) continue;
            send_[parity][d] = aligned_bytes(size);
            // Merged faces are read a whole vector at a time, also the last one.
            receive_[parity][d] = aligned_bytes(size + 64);
        }
    }
}

std::size_t stencil::face_bytes(int direction) const {
    const auto sites = shape_.parity[0].face[direction].size();
    return sites * 12 * static_cast<std::size_t>(shape_.face_lanes(direction)) * real_bytes_;
}

field stencil::make_field() const {
    const std::size_t size =
        static_cast<std::size_t>(shape_.n_sites) * 24 * static_cast<std::size_t>(shape_.n_lanes) * real_bytes_;
    return {{aligned_bytes(size), aligned_bytes(size)}};
}

void stencil::fill(field& to, const spinor_function& values) const {
#pragma omp parallel for collapse(2)
    for (int parity = 0; parity < 2; ++parity) {
        for (std::int32_t site = 0; site < shape_.n_sites; ++site) {
            for (int lane = 0; lane < shape_.n_lanes; ++lane) {
                const coordinates local = shape_.local_site(parity, site, lane);
                store(to, local, values(shape_.geom.to_global(local)));
            }
        }
    }
}

int widest_fit(const geometry& geom, precision real, int limit) {
    const int scalar = static_cast<int>(bytes_of(real));
    for (int width : {64, 32, 16}) {
        if (width <= limit && choose_lanes(geom, width / scalar)) return width;
    }
    return scalar;
}

std::string width_refusal(const geometry& geom, const stencil_options& options) {
    const int width = options.width_bytes;
    const int scalar = static_cast<int>(bytes_of(options.real));
    if (width == 0) return {};
    const std::string fits = std::to_string(widest_fit(geom, options.real, 64));
    if (width != 64 && width != 32 && width != 16 && width != scalar) {
        return "--width " + std::to_string(width) + " is not a SIMD width; choose 64, 32, 16 or " +
               std::to_string(scalar) + " (scalar).";
    }
    if (choose_lanes(geom, width / scalar)) return {};
    return "--width " + std::to_string(width) + ": local extents " + to_string(geom.local_extents()) +
           " cannot be split over " + std::to_string(width / scalar) + " lanes; the widest that fits is " + fits + ".";
}

std::unique_ptr<stencil> make_stencil(const geometry& geom, const stencil_options& options) {
    const int width = options.width_bytes != 0 ? options.width_bytes
                                               : widest_fit(geom, options.real, miniapp::vector_register_bytes());
    const int n_lanes = width / static_cast<int>(bytes_of(options.real));
    layout shape = make_layout(geom, n_lanes, options.tile_t, options.tile_z, options.n_threads);
    return options.real == precision::double_ ? make_double_stencil(std::move(shape), options.link_reals)
                                              : make_single_stencil(std::move(shape), options.link_reals);
}

} // namespace dslash
