// SPDX-License-Identifier: Apache-2.0
// Krylov solvers for the even-odd preconditioned Wilson operator Mhat = 1 - kappa^2 D_eo D_oe, as lists of items: hops, updates of
// vectors on tiles, and global sums, which are messages like the halos. The iterations are in the precision of a stencil; now and then
// the residual is computed again in double precision, and the iterations go on from there with the directions that they have. All sums
// are exact, so steps and solution are the same bit by bit in every mode and on every grid.
#pragma once

#include "exchange.hpp"

#include <atomic>
#include <string>

namespace dslash {

enum class method {
    none,
    cg,           ///< Conjugate gradients on the normal equations, two sums in an iteration.
    pipelined_cg, ///< The same steps by one sum, which overlaps the operator (Ghysels and Vanroose).
    bicgstab,
};
inline const std::vector<std::string> method_names{"none", "cg", "pipelined-cg", "bicgstab"};

/// Of a solve.
struct solved {
    bool is_converged = false;
    int iterations = 0;
    int updates = 0;           ///< How often the residual was computed in double precision.
    std::uint64_t history = 0; ///< A fingerprint of all global sums; the same on all ranks.
    phase_times times;
};

class solver {
public:
    /// @param on  for the iterations
    /// @param in_double  in double precision, with the lanes of `on`; may be `on` itself
    solver(method how, mode which, stencil& on, stencil& in_double, const exchange_options& options, double kappa);

    /// Solves Mhat x = b on even sites until |b - Mhat x|^2 <= `goal`, by the solver's own operator. Collective.
    /// @param b2  |b|^2
    solved run(const field& b, double b2, double goal);
    /// Of the last run.
    const field& solution() const { return arrays_[y]; }
    const chain& iterations() const { return *iterations_; }
    void barrier() { iterations_->barrier(); }

    /// Fields that the solver has in the precision of the iterations, and in double.
    static constexpr int n_fields = 8, n_double_fields = 5;

private:
    /// Fields of the iterations, then those in double precision.
    enum array : int { x, r, p, q, w, s, z, n, v = q, r0 = z, t = n, y = n_fields, c, e, f, g, n_arrays };
    /// Names of items that are no array: scalars and sums.
    enum name : int { alpha_name = 2 * n_arrays, beta_name, buffer_name, products_name };
    /// The work of an item beside its main work, and the arrays and scalars that it needs there.
    struct effect {
        std::vector<array> reads, writes;
        std::vector<name> scalars;
        std::function<void(const tile&, int)> work;
        bool has_products = false;
    };
    static constexpr std::size_t most_products = 5;
    using products = std::vector<std::array<exact_product, most_products>>; ///< Of each tile.

    field& at(array which) { return arrays_[which]; }
    void add_cg(chain& to);
    void add_pipelined_cg(chain& to);
    void add_bicgstab(chain& to);
    void add_update(chain& to);
    /// Two stages: `to` = G `from`, where G is Mhat, and gamma_5 Mhat for the normal equations, which is hermitian.
    void add_operator(chain& into, stencil& on, array from, array to, effect with);
    void add_tiles(chain& to, miniapp::part when, const effect& with);
    void depend(chain& in, int id, int number, const effect& on);
    /// To this stage: adds up the first `n_sums` products of all tiles and ranks, then does `then` with `sums_`.
    void add_sum(chain& to, products& of, std::size_t n_sums, name result, std::function<void()> then);
    void set_products(products& of, int number, const stencil& by, const tile& on, std::initializer_list<product> list,
                      std::size_t first = 0);
    void end_update();
    void judge();
    void set_direction(const tile& on);

    method how_;
    stencil& on_;
    stencil& double_;
    MPI_Comm comm_;
    double kappa_;
    std::array<field, n_arrays> arrays_;
    products products_, of_update_;
    std::array<double, 4 * most_products> mine_{}, all_{}; ///< Parts of sums: of this rank, of all.
    std::array<complex, most_products> sums_{};

    const field* b_ =
        nullptr; ///< Of the run, as is all that follows. Scalars are written by the item that has the sum.
    solved state_;
    double goal_ = 0;
    double e2_ = 0;       ///< |b - Mhat x|^2 at the last update.
    double r2_ = 0;       ///< |r|^2 of the residual that is iterated, that of the normal equations with CG.
    double r02_ = 0;      ///< The same at first.
    double last_r2_ = 0;  ///< One iteration before; 0: none was.
    double start_r2_ = 0; ///< At the last update.
    double pause_r2_ = 0; ///< Below it the next update comes.
    complex alpha_, beta_, omega_, rho_, last_rho_;
    bool is_void_ = false; ///< This round does nothing: an earlier one found that the update is due.
    /// Rounds that follow do nothing. Atomic, since hops of a pipelined round ask while it is set, and either answer does.
    std::atomic<bool> is_paused_{false};
    std::unique_ptr<chain> iterations_, update_;
};

} // namespace dslash
