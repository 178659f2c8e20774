// SPDX-License-Identifier: Apache-2.0
// Each method is a round of stages, written as the textbook has its lines; which tile waits for which other, and what a sum can overlap,
// follows from the names of what is read and written. A round ends too late to be asked whether it was the last, so some rounds are
// started together and those behind the last one do nothing.
#include "solver.hpp"

#include "common/report.hpp"

#include <algorithm>
#include <cmath>

namespace dslash {

using miniapp::part;

namespace {

constexpr int most_iterations = 10'000;
constexpr int rounds_at_once = 8; ///< Fewer end tasks more often, more do nothing at the end.
/// In single precision the residual is computed anew when it has fallen by this factor: later, and rounding of x slows the rest.
constexpr double single_reduction = 1e-2;
/// An update often finds a residual a little above the goal that rounding or the normal equations promised.
constexpr double margin = 0.5;

/// For a sum that is expected to be about `value`, and has grown by less than 2^20.
double scale_of(double value) { return std::ldexp(1.0, std::ilogb(std::max(value, 1e-280)) + 20); }

int even(int array) { return 2 * array; }
int odd(int array) { return 2 * array + 1; }

} // namespace

solver::solver(method how, mode which, stencil& on, stencil& in_double, const exchange_options& options, double kappa)
    : how_(how), on_(on), double_(in_double), comm_(options.comm), kappa_(kappa) {
    for (int k = 0; k < n_arrays; ++k) arrays_[k] = (k < y ? on : in_double).make_field();
    products_.resize(on.shape().parity[0].tiles.size());
    of_update_.resize(products_.size());
    iterations_ = std::make_unique<chain>(which, on, options, [&](chain& to) {
        if (how == method::cg) add_cg(to);
        if (how == method::pipelined_cg) add_pipelined_cg(to);
        if (how == method::bicgstab) add_bicgstab(to);
    });
    update_ = std::make_unique<chain>(which, in_double, options, [&](chain& to) { add_update(to); });
}

solved solver::run(const field& b, double b2, double goal) {
    b_ = &b;
    goal_ = goal;
    state_ = {};
    // The residual of the normal equations is at most a few times as large as b.
    e2_ = r2_ = start_r2_ = b2;
    last_r2_ = 0;
    alpha_ = omega_ = last_rho_ = 1;
    for (;;) {
        state_.times += update_->run(update_->items().n_stages());
        if (state_.is_converged || !std::isfinite(r2_) || state_.iterations >= most_iterations) return state_;
        while (!is_paused_) state_.times += iterations_->run(rounds_at_once * iterations_->items().n_stages());
    }
}

void solver::add_cg(chain& to) {
    add_operator(
        to, on_, p, q,
        {{},
         {},
         {},
         [this](const tile& on, int k) { set_products(products_, k, on_, on, {{&at(q), &at(q), scale_of(r2_)}}); },
         true});
    add_sum(to, products_, 1, alpha_name, [this] {
        is_void_ = is_paused_;
        if (!is_void_) alpha_ = r2_ / sums_[0].real();
    });
    add_operator(to, on_, q, w,
                 {{},
                  {r},
                  {alpha_name},
                  [this](const tile& on, int k) {
                      on_.combine(at(r), 0, on, {{1, &at(r)}, {-alpha_, &at(w)}});
                      set_products(products_, k, on_, on, {{&at(r), &at(r), scale_of(r2_)}});
                  },
                  true});
    add_sum(to, products_, 1, beta_name, [this] {
        if (is_void_) return;
        last_r2_ = r2_;
        r2_ = sums_[0].real();
        beta_ = r2_ / last_r2_;
        ++state_.iterations;
        judge();
    });
    add_tiles(to, part::core, {{p}, {x}, {alpha_name}, [this](const tile& on, int) {
                                   if (!is_void_) on_.combine(at(x), 0, on, {{1, &at(x)}, {alpha_, &at(p)}});
                               }});
    add_tiles(to, part::shell, {{r}, {p}, {beta_name}, [this](const tile& on, int) {
                                    if (!is_paused_) set_direction(on);
                                }});
    to.items().end_stage();
}

void solver::add_pipelined_cg(chain& to) {
    add_sum(to, products_, 2, alpha_name, [this] {
        if (is_paused_) return;
        r2_ = sums_[0].real();
        judge();
        if (is_paused_) return;
        const bool is_first = last_r2_ == 0;
        beta_ = is_first ? 0 : r2_ / last_r2_;
        alpha_ = r2_ / (sums_[1].real() - (is_first ? 0 : r2_ * (beta_ / alpha_)));
        last_r2_ = r2_;
        ++state_.iterations;
    });
    add_operator(to, on_, w, q, {});
    add_operator(to, on_, q, n,
                 {{},
                  {z, s, p, x, r, w},
                  {alpha_name},
                  [this](const tile& on, int k) {
                      if (is_paused_) return;
                      on_.combine(at(z), 0, on, {{1, &at(n)}, {beta_, &at(z)}});
                      on_.combine(at(s), 0, on, {{1, &at(w)}, {beta_, &at(s)}});
                      on_.combine(at(p), 0, on, {{1, &at(r)}, {beta_, &at(p)}});
                      on_.combine(at(x), 0, on, {{1, &at(x)}, {alpha_, &at(p)}});
                      on_.combine(at(r), 0, on, {{1, &at(r)}, {-alpha_, &at(s)}});
                      on_.combine(at(w), 0, on, {{1, &at(w)}, {-alpha_, &at(z)}});
                      const double scale = scale_of(r2_);
                      set_products(products_, k, on_, on, {{&at(r), &at(r), scale}, {&at(w), &at(r), scale}});
                  },
                  true});
}

void solver::add_bicgstab(chain& to) {
    add_operator(to, on_, p, v,
                 {{r0},
                  {},
                  {},
                  [this](const tile& on, int k) {
                      const double scale = scale_of(std::sqrt(r2_ * r02_));
                      set_products(products_, k, on_, on, {{&at(r0), &at(v), scale}});
                  },
                  true});
    add_sum(to, products_, 1, alpha_name, [this] {
        is_void_ = is_paused_;
        if (!is_void_) alpha_ = rho_ / sums_[0];
    });
    add_tiles(to, part::shell, {{r, v}, {s}, {alpha_name}, [this](const tile& on, int) {
                                    if (!is_void_) on_.combine(at(s), 0, on, {{1, &at(r)}, {-alpha_, &at(v)}});
                                }});
    to.items().end_stage();
    add_operator(to, on_, s, t,
                 {{r0},
                  {},
                  {},
                  [this](const tile& on, int k) {
                      const double scale = scale_of(r2_);
                      const double scale0 = scale_of(std::sqrt(r2_ * r02_));
                      set_products(products_, k, on_, on,
                                   {{&at(t), &at(s), scale},
                                    {&at(t), &at(t), scale},
                                    {&at(s), &at(s), scale},
                                    {&at(r0), &at(s), scale0},
                                    {&at(r0), &at(t), scale0}});
                  },
                  true});
    // r = s - omega t, whose products follow from those of s and t.
    add_sum(to, products_, 5, beta_name, [this] {
        if (is_void_) return;
        omega_ = sums_[0] / sums_[1].real();
        r2_ = sums_[2].real() - std::norm(sums_[0]) / sums_[1].real();
        last_rho_ = rho_;
        rho_ = sums_[3] - omega_ * sums_[4];
        beta_ = rho_ / last_rho_ * (alpha_ / omega_);
        ++state_.iterations;
        judge();
    });
    add_tiles(to, part::shell, {{s, t, v}, {x, r, p}, {alpha_name, beta_name}, [this](const tile& on, int) {
                                    if (is_void_) return;
                                    on_.combine(at(x), 0, on, {{1, &at(x)}, {alpha_, &at(p)}, {omega_, &at(s)}});
                                    on_.combine(at(r), 0, on, {{1, &at(s)}, {-omega_, &at(t)}});
                                    if (!is_paused_) set_direction(on);
                                }});
    to.items().end_stage();
}

void solver::add_update(chain& to) {
    add_tiles(to, part::core, {{}, {x, y, c}, {}, [this](const tile& on, int) {
                                   if (state_.updates == 0) {
                                       double_.combine(at(c), 0, on, {{1, b_}}, how_ != method::bicgstab);
                                       double_.combine(at(y), 0, on, {});
                                       for (const array each : {p, s, z, v}) on_.combine(at(each), 0, on, {});
                                   } else {
                                       on_.give(at(y), at(x), on);
                                   }
                                   on_.combine(at(x), 0, on, {});
                               }});
    to.items().end_stage();
    add_operator(to, double_, y, e,
                 {{c},
                  {r},
                  {},
                  [this](const tile& on, int k) {
                      double_.combine(at(e), 0, on, {{1, &at(c)}, {-1, &at(e)}});
                      const double e2 = e2_ * (r2_ / start_r2_);
                      set_products(of_update_, k, double_, on, {{&at(e), &at(e), scale_of(e2)}});
                      if (how_ != method::bicgstab) return;
                      on_.take(at(r), at(e), on);
                      if (state_.updates == 0) on_.combine(at(r0), 0, on, {{1, &at(r)}});
                      const double scale = scale_of(std::sqrt(r2_ * (state_.updates == 0 ? r2_ : r02_)));
                      set_products(of_update_, k, on_, on, {{&at(r0), &at(r), scale}}, 1);
                  },
                  true});
    if (how_ != method::bicgstab) {
        add_operator(to, double_, e, f,
                     {{},
                      {r},
                      {},
                      [this](const tile& on, int k) {
                          on_.take(at(r), at(f), on);
                          set_products(of_update_, k, double_, on, {{&at(f), &at(f), scale_of(r2_)}}, 1);
                      },
                      true});
    }
    if (how_ == method::pipelined_cg) {
        // w = A r, s = A p and z = A s, which the iterations only update, are made anew too.
        add_operator(to, double_, f, g, {});
        add_operator(to, double_, g, e,
                     {{p},
                      {w, f},
                      {},
                      [this](const tile& on, int k) {
                          on_.take(at(w), at(e), on);
                          const double scale = scale_of(r2_);
                          set_products(products_, k, on_, on, {{&at(r), &at(r), scale}, {&at(w), &at(r), scale}});
                          double_.combine(at(f), 0, on, {});
                          on_.give(at(f), at(p), on);
                      },
                      true});
        add_operator(to, double_, f, g, {});
        add_operator(to, double_, g, e, {{}, {s}, {}, [this](const tile& on, int) { on_.take(at(s), at(e), on); }});
        add_operator(to, double_, e, f, {});
        add_operator(to, double_, f, g, {{}, {z}, {}, [this](const tile& on, int) { on_.take(at(z), at(g), on); }});
    }
    add_sum(to, of_update_, 2, beta_name, [this] { end_update(); });
    add_tiles(to, part::shell, {{r}, {p}, {beta_name}, [this](const tile& on, int) {
                                    if (how_ != method::pipelined_cg) set_direction(on);
                                }});
    to.items().end_stage();
}

void solver::end_update() {
    e2_ = sums_[0].real();
    if (how_ == method::bicgstab) {
        r2_ = e2_;
        rho_ = sums_[1];
        beta_ = state_.updates == 0 ? 0 : rho_ / last_rho_ * (alpha_ / omega_);
    } else {
        r2_ = sums_[1].real();
        beta_ = state_.updates == 0 ? 0 : r2_ / last_r2_;
    }
    if (state_.updates == 0) r02_ = r2_;
    start_r2_ = r2_;
    const double reduction = on_.real_bytes() == sizeof(float) ? single_reduction : 0;
    pause_r2_ = r2_ * std::max(margin * margin * goal_ / e2_, reduction * reduction);
    state_.is_converged = e2_ <= goal_;
    is_paused_ = false;
    ++state_.updates;
}

void solver::judge() {
    is_paused_ = !(r2_ > pause_r2_) || state_.iterations >= most_iterations; // NaN pauses
}

void solver::set_direction(const tile& on) {
    if (how_ == method::bicgstab) {
        on_.combine(at(p), 0, on, {{1, &at(r)}, {beta_, &at(p)}, {-beta_ * omega_, &at(v)}});
    } else {
        on_.combine(at(p), 0, on, {{1, &at(r)}, {beta_, &at(p)}});
    }
}

void solver::add_operator(chain& into, stencil& on, array from, array to, effect with) {
    // The iterations have their stencil in a chain of their own; the update is never paused.
    const auto step = [this, &into](const field& in, field& out, int parity, double scale) {
        return &into != update_.get() && is_paused_ ? std::nullopt : std::optional(hop_step{&in, &out, parity, scale});
    };
    into.add({1, even(from), odd(to), [=, this] { return step(at(from), at(to), 1, 1); }});
    into.items().end_stage();
    const auto then = [=, this, &on, work = with.work](int k) {
        const tile& which = on.shape().parity[0].tiles[static_cast<std::size_t>(k)];
        on.combine(at(to), 0, which, {{1, &at(from)}, {1, &at(to)}}, how_ != method::bicgstab);
        if (work) work(which, k);
    };
    const double scale = -kappa_ * kappa_;
    const std::vector<int> tiles =
        into.add({0, odd(to), even(to), [=, this] { return step(at(to), at(to), 0, scale); }, then});
    with.reads.push_back(from);
    for (std::size_t k = 0; k < tiles.size(); ++k) depend(into, tiles[k], static_cast<int>(k), with);
    into.items().end_stage();
}

void solver::add_tiles(chain& to, part when, const effect& with) {
    const std::vector<tile>& tiles = on_.shape().parity[0].tiles;
    for (std::size_t k = 0; k < tiles.size(); ++k) {
        const auto number = static_cast<int>(k);
        const int id = to.items().add(when, [&which = tiles[k], number, work = with.work] { work(which, number); });
        depend(to, id, number, with);
    }
}

void solver::depend(chain& in, int id, int number, const effect& on) {
    for (const array each : on.reads) {
        if (std::ranges::find(on.writes, each) == on.writes.end()) in.items().reads(id, {even(each), number, 0});
    }
    for (const name each : on.scalars) in.items().reads(id, {each, 0, 0});
    for (const array each : on.writes) in.items().writes(id, {even(each), number, 0});
    if (on.has_products) in.items().writes(id, {products_name, number, 0});
}

void solver::add_sum(chain& to, products& of, std::size_t n_sums, name result, std::function<void()> then) {
    miniapp::item_list& items = to.items();
    const int collect = items.add(part::prepare, [this, &of, n_sums] {
        for (std::size_t k = 0; k < n_sums; ++k) {
            exact_product sum{};
            for (const auto& each : of) {
                sum[0].add(each[k][0]);
                sum[1].add(each[k][1]);
            }
            std::ranges::copy(std::array{sum[0].high, sum[0].low, sum[1].high, sum[1].low}, &mine_[4 * k]);
        }
    });
    for (std::size_t k = 0; k < of.size(); ++k) items.reads(collect, {products_name, static_cast<int>(k), 0});
    items.writes(collect, {buffer_name, 0, 0});
    const auto n_numbers = static_cast<int>(4 * n_sums);
    const int message = items.add(
        part::send, {commtask_op_allreduce(mine_.data(), all_.data(), n_numbers, MPI_DOUBLE, MPI_SUM, comm_),
                     [this, n_numbers](MPI_Request* request) {
                         MPI_Iallreduce(mine_.data(), all_.data(), n_numbers, MPI_DOUBLE, MPI_SUM, comm_, request);
                     }});
    items.wait_for(message, {collect});
    const int end = items.add(part::edge, [this, n_sums, then = std::move(then)] {
        for (std::size_t k = 0; k < n_sums; ++k) {
            const double* const part_of = &all_[4 * k];
            sums_[k] = {part_of[0] + part_of[1], part_of[2] + part_of[3]};
        }
        for (std::size_t k = 0; k < 4 * n_sums; ++k) state_.history = miniapp::print_of(all_[k], state_.history);
        then();
    });
    items.wait_for(end, {message});
    items.reads(end, {buffer_name, 0, 0});
    items.writes(end, {result, 0, 0});
}

void solver::set_products(products& of, int number, const stencil& by, const tile& on,
                          std::initializer_list<product> list, std::size_t first) {
    exact_product* const to = &of[static_cast<std::size_t>(number)][first];
    std::fill_n(to, list.size(), exact_product{});
    by.multiply(on, {list.begin(), list.size()}, to);
}

} // namespace dslash
