// SPDX-License-Identifier: Apache-2.0
// The stencil for one precision, width and link storage. Included only by stencil_double.cpp and stencil_single.cpp.
// A header, so that each precision is compiled by itself and the two can be compiled side by side.
#pragma once

#include "vectors.hpp"

namespace dslash {

template <class Real, int N, bool TwoRows>
class lane_stencil final : public stencil {
public:
    explicit lane_stencil(layout shape) : stencil(std::move(shape), sizeof(Real)) {
        const auto reals = static_cast<std::size_t>(shape_.n_sites) * site_link_reals;
        for (auto& links : links_) links = aligned_bytes(reals * sizeof(Real));
        for (int d = 0; d < n_directions; ++d) fill_lane_moves(d);
    }

    void set_links(const link_function& links) override {
        const coordinates& lattice = shape_.geom.lattice;
#pragma omp parallel for collapse(2)
        for (int parity = 0; parity < 2; ++parity) {
            for (std::int32_t site = 0; site < shape_.n_sites; ++site) {
                Real* to = reals(links_[parity]) + static_cast<std::size_t>(site) * site_link_reals;
                for (int lane = 0; lane < N; ++lane) {
                    const coordinates here = shape_.geom.to_global(shape_.local_site(parity, site, lane));
                    for (int mu = 0; mu < n_dimensions; ++mu) {
                        store_link(to + 2 * mu * link_reals * N + lane, links(here, mu),
                                   boundary_sign(here, mu, lattice));
                        coordinates behind = here;
                        behind[mu] = (here[mu] + lattice[mu] - 1) % lattice[mu];
                        store_link(to + (2 * mu + 1) * link_reals * N + lane, dagger(links(behind, mu)),
                                   boundary_sign(behind, mu, lattice));
                    }
                }
            }
        }
    }

    void store(field& to, const coordinates& local, const spinor& value) const override {
        const site_place place = shape_.place(local);
        Real* at = reals(to.parity[place.parity]) + static_cast<std::size_t>(place.vector_site) * spinor_reals * N +
                   place.lane;
        for (const auto& colours : value) {
            for (const complex c : colours) {
                at[0] = static_cast<Real>(c.real());
                at[N] = static_cast<Real>(c.imag());
                at += 2 * N;
            }
        }
    }

    spinor load(const field& from, const coordinates& local) const override {
        const site_place place = shape_.place(local);
        const Real* at = reals(from.parity[place.parity]) +
                         static_cast<std::size_t>(place.vector_site) * spinor_reals * N + place.lane;
        spinor value;
        for (auto& colours : value) {
            for (complex& c : colours) {
                c = {static_cast<double>(at[0]), static_cast<double>(at[N])};
                at += 2 * N;
            }
        }
        return value;
    }

    std::uint64_t local_fingerprint(const field& of) const override {
        std::uint64_t sum = 0;
        for (int parity = 0; parity < 2; ++parity) {
            for (std::int32_t site = 0; site < shape_.n_sites; ++site) {
                const Real* at = reals(of.parity[parity]) + static_cast<std::size_t>(site) * spinor_reals * N;
                for (int lane = 0; lane < N; ++lane) {
                    const coordinates here = shape_.geom.to_global(shape_.local_site(parity, site, lane));
                    auto hash = static_cast<std::uint64_t>(miniapp::index_of(here, shape_.geom.lattice));
                    for (int k = 0; k < spinor_reals; ++k) {
                        std::uint64_t bits = 0;
                        std::memcpy(&bits, at + k * N + lane, sizeof(Real));
                        hash = (hash ^ bits) * 0x9E3779B97F4A7C15ULL;
                        hash ^= hash >> 29;
                    }
                    sum += hash;
                }
            }
        }
        return sum;
    }

    void pack(const hop_step& step, int direction, int first, int last) override {
        switch (direction) {
        case 0: return pack_direction<0>(step, first, last);
        case 1: return pack_direction<1>(step, first, last);
        case 2: return pack_direction<2>(step, first, last);
        case 3: return pack_direction<3>(step, first, last);
        case 4: return pack_direction<4>(step, first, last);
        case 5: return pack_direction<5>(step, first, last);
        case 6: return pack_direction<6>(step, first, last);
        default: return pack_direction<7>(step, first, last);
        }
    }

    void compute(const hop_step& step, const tile& which) override {
        const parity_layout& table = shape_.parity[step.parity];
        kernel_arguments<Real, N> a;
        a.in = reals(step.in->parity[1 - step.parity]);
        a.out = reals(step.out->parity[step.parity]);
        a.links = reals(links_[step.parity]);
        a.neighbours = table.neighbours.data();
        a.halo_index = table.halo_index.data();
        for (int d = 0; d < n_directions; ++d) {
            a.halo[d] = reinterpret_cast<const Real*>(receive_buffer(step.parity, d));
            a.face_lanes[d] = shape_.face_lanes(d);
        }
        a.moves = moves_.data();
        a.scale = static_cast<Real>(step.scale);
        if (links_[0].size() + links_[1].size() > cache_bytes) {
            hopping_term<Real, N, TwoRows, true>(a, which.sites);
        } else {
            hopping_term<Real, N, TwoRows, false>(a, which.sites);
        }
    }

    void combine(field& out, int parity, const tile& on, std::initializer_list<term> terms,
                 bool has_gamma5) const override {
        switch (terms.size()) {
        case 0: return combine_terms<0>(out, parity, on, terms, has_gamma5);
        case 1: return combine_terms<1>(out, parity, on, terms, has_gamma5);
        case 2: return combine_terms<2>(out, parity, on, terms, has_gamma5);
        case 3: return combine_terms<3>(out, parity, on, terms, has_gamma5);
        default: return combine_terms<4>(out, parity, on, terms, has_gamma5);
        }
    }

    void multiply(const tile& on, std::span<const product> of, exact_product* sums) const override {
        for (const product& each : of) {
            const auto add = each.left == each.right ? add_products<Real, N, true> : add_products<Real, N, false>;
            add(reals(each.left->parity[0]), reals(each.right->parity[0]), on.sites, each.scale, (sums++)->data());
        }
    }

    void take(field& to, const field& from_double, const tile& on) const override {
        each_number<N>(reals(to.parity[0]), doubles(from_double), on.sites,
                       [](Real& here, double there) { here = static_cast<Real>(there); });
    }

    void give(field& to_double, const field& from, const tile& on) const override {
        each_number<N>(doubles(to_double), reals(from.parity[0]), on.sites,
                       [](double& there, Real here) { there += static_cast<double>(here); });
    }

private:
    static constexpr int link_reals = TwoRows ? 12 : 18;
    static constexpr std::size_t site_link_reals = std::size_t{n_directions} * link_reals * N;

    /// A core's share of the last cache, roughly; beyond it the links come from memory in every hop.
    static constexpr std::size_t cache_bytes = std::size_t{12} << 20;

    static Real* reals(const aligned_bytes& bytes) { return reinterpret_cast<Real*>(bytes.data()); }
    static double* doubles(const field& of) { return reinterpret_cast<double*>(of.parity[0].data()); }

    template <std::size_t K>
    static void combine_terms(field& out, int parity, const tile& on, std::initializer_list<term> terms,
                              bool has_gamma5) {
        std::array<const Real*, K> in;
        std::array<std::complex<Real>, K> factors;
        for (std::size_t k = 0; k < K; ++k) {
            const term& each = terms.begin()[k];
            in[k] = reals(each.of->parity[parity]);
            factors[k] = std::complex<Real>(each.factor);
        }
        combine_sites<Real, N>(reals(out.parity[parity]), in, factors, on.sites, has_gamma5 ? Real(-1) : Real(1));
    }

    static void store_link(Real* to, const link& u, double sign) {
        for (int k = 0; k < link_reals / 2; ++k) {
            const complex c = sign * u[k / 3][k % 3];
            to[2 * k * N] = static_cast<Real>(c.real());
            to[(2 * k + 1) * N] = static_cast<Real>(c.imag());
        }
    }

    template <int D>
    void pack_direction(const hop_step& step, int first, int last) {
        const int in = 1 - step.parity;
        const std::size_t site_reals = std::size_t{half_spinor_reals} * static_cast<std::size_t>(shape_.face_lanes(D));
        const std::span sites(shape_.parity[in].face[D]);
        pack_face<Real, N, D>(reals(step.in->parity[in]),
                              sites.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)),
                              moves_[D].compact, shape_.face_lanes(D),
                              reinterpret_cast<Real*>(send_buffer(step.parity, D)) +
                                  static_cast<std::size_t>(first) * site_reals);
    }

    /// Lane tables of one direction. The lanes of a face are numbered in ascending lane order on both sides.
    void fill_lane_moves(int d) {
        const int mu = d / 2;
        const int n = shape_.lanes[mu];
        // A forward hop is served by the neighbour's first lanes and lands in our last ones; a backward hop reversed.
        const int sent_from = d % 2 == 0 ? 0 : n - 1;
        const int lands_in = n - 1 - sent_from;
        lane_moves<Real, N>& move = moves_[d];
        move = lane_moves<Real, N>();
        int n_sent = 0;
        int n_landed = 0;
        for (int lane = 0; lane < N; ++lane) {
            coordinates position = shape_.lane_position(lane);
            if (position[mu] == sent_from) move.compact[n_sent++] = lane;
            if (position[mu] == lands_in) {
                move.expand[lane] = n_landed++;
                move.from_halo[lane] = -1;
            }
            position[mu] = (position[mu] + (d % 2 == 0 ? 1 : n - 1)) % n;
            move.wrap[lane] = shape_.lane_of(position);
        }
    }

    std::array<aligned_bytes, 2> links_;
    std::array<lane_moves<Real, N>, n_directions> moves_;
};

template <class Real, int N>
std::unique_ptr<stencil> make_lane_stencil(layout shape, int link_reals) {
    if (link_reals == 12) return std::make_unique<lane_stencil<Real, N, true>>(std::move(shape));
    return std::make_unique<lane_stencil<Real, N, false>>(std::move(shape));
}

} // namespace dslash
