// SPDX-License-Identifier: Apache-2.0
// Dependences are found as a tasking runtime finds them: who writes waits for those who have read or written before, who reads
// for those who have written. All items of one stage that write a box write different cells of it and do not wait for each other.
#include "cycle.hpp"

#include <algorithm>

namespace multigrid {

namespace {

constexpr int n_half_sweeps = 4; ///< Before and after the coarser level.
constexpr int smallest_distributed_box = 4;
constexpr int least_bottom_sweeps = 16;
// An item for every box of a few cells would be all overhead; one for all boxes would leave nothing to share out.
constexpr long least_cells = 32768;
constexpr int groups_per_thread = 4;

/// A thing that items read and write.
struct token {
    int stage = -1; ///< Of the writers.
    std::vector<int> before, writers, readers;
};

/// Of one level, whose boxes are taken in groups when they are small.
struct level_tokens {
    level_tokens(const level& of, int n_threads)
        : boxes_each(std::clamp(static_cast<int>(least_cells / volume(of.n)), 1,
                                std::max(1, of.n_boxes() / (groups_per_thread * n_threads)))),
          groups((static_cast<std::size_t>(of.n_boxes()) + boxes_each - 1) / boxes_each), ghosts(groups.size()),
          sent(of.links.size()), received(sent.size()), unpacked(sent.size()) {}
    token& of_box(int box) { return groups[box / boxes_each]; }
    int boxes_each;
    std::vector<token> groups, ghosts, sent, received, unpacked;
};

/// What a kernel is called for.
struct piece_of_box {
    int box;
    range cells;
    int number; ///< In the stage.
};

} // namespace

class cycle::builder {
public:
    builder(cycle& of, int n_threads) : of_(of) {
        for (const level& each : of.levels_) tokens_.emplace_back(each, n_threads);
    }

    /// A kernel on all cells of a level, which reads x there and its ghost cells, and writes level `written`; -1: none. Gives
    /// the number of pieces that it is called for.
    template <class Kernel>
    int stage(int number, int written, Kernel kernel) {
        level& on = of_.levels_[number];
        level_tokens& t = tokens_[number];
        for (std::size_t l = 0; l < on.links.size(); ++l) {
            link& from = on.links[l];
            write(t.received[l], add(part::receive, {message::kind::receive, nullptr, from.received.data(),
                                                     static_cast<int>(from.received.size()), from.peer, from.recv_tag,
                                                     from.recv_lane}));
        }
        each_group(number, [&](int first, int last) {
            const int id = add(part::prepare, [&on, first, last] {
                for (int box = first; box < last; ++box) on.fill_ghosts(box);
            });
            for (int box = first; box < last; ++box) {
                read(t.of_box(box), id);
                for (int side = 0; side < n_sides; ++side) {
                    if (const auto other = on.box_beyond(box, side)) read(t.of_box(*other), id);
                }
            }
            write(t.ghosts[first / t.boxes_each], id);
        });
        for (std::size_t l = 0; l < on.links.size(); ++l) {
            const int id = add(part::prepare, [&on, &to = on.links[l]] { on.pack(to); });
            for (const int box : on.links[l].boxes) read(t.of_box(box), id);
            write(t.sent[l], id);
        }
        for (std::size_t l = 0; l < on.links.size(); ++l) {
            const link& to = on.links[l];
            read(t.sent[l], add(part::send, {message::kind::send, to.sent.data(), nullptr,
                                             static_cast<int>(to.sent.size()), to.peer, to.send_tag, to.send_lane}));
        }
        int n_pieces = 0;
        const auto compute = [&](part when, const std::vector<piece_of_box>& pieces) {
            const int id = add(when, [kernel, pieces] {
                for (const piece_of_box& each : pieces) kernel(each.box, each.cells, each.number);
            });
            for (const piece_of_box& each : pieces) {
                read(t.ghosts[each.box / t.boxes_each], id);
                if (written != number) read(t.of_box(each.box), id);
                if (written >= 0) write(tokens_[written].of_box(each.box), id);
                for (std::size_t l = 0; l < on.links.size() && when == part::shell; ++l) {
                    if (std::ranges::count(on.links[l].boxes, each.box) > 0) read(t.unpacked[l], id);
                }
            }
        };
        each_group(number, [&](int first, int last) {
            std::vector<piece_of_box> pieces;
            for (int box = first; box < last; ++box) {
                for (const range& cells : on.cut(box).core) pieces.push_back({box, cells, n_pieces++});
            }
            if (last - first > 1 && !pieces.empty()) {
                compute(part::core, pieces);
            } else {
                for (const piece_of_box& each : pieces) compute(part::core, {each});
            }
        });
        for (std::size_t l = 0; l < on.links.size(); ++l) {
            const int id = add(part::unpack, [&on, &from = on.links[l]] { on.unpack(from); });
            read(t.received[l], id);
            write(t.unpacked[l], id);
        }
        each_group(number, [&](int first, int last) {
            std::vector<piece_of_box> pieces;
            for (int box = first; box < last; ++box) {
                for (const range& cells : on.cut(box).shell) pieces.push_back({box, cells, n_pieces++});
            }
            if (!pieces.empty()) compute(part::shell, pieces);
        });
        ++stage_;
        return n_pieces;
    }

    /// All half sweeps but those that have been done.
    void sweeps(int number, int done) {
        level& on = of_.levels_[number];
        for (int s = done; s < n_half_sweeps; ++s) {
            const colour which = s % 2 == 0 ? colour::red : colour::black;
            stage(number, number, [&on, which](int box, const range& cells, int) { smooth(on, box, cells, which); });
        }
    }

    /// The coarsest level: one item, or the whole domain's on every rank.
    void bottom() {
        cycle* const of = &of_;
        level& on = of->levels_.back();
        level_tokens& t = tokens_.back();
        if (of->bottom_ == nullptr) {
            write(t.groups[0], add(part::core, [of] { of->solve_bottom(); }));
            ++stage_;
            return;
        }
        token packed, summed, solved;
        const int pack = add(part::prepare, [of] { of->gather(); });
        for (token& each : t.groups) read(each, pack);
        write(packed, pack);
        const int sum = add(part::send, {message::kind::sum, of->mine_.data(), of->bottom_->finest().b.data(),
                                         static_cast<int>(of->mine_.size())});
        read(packed, sum);
        write(summed, sum);
        const int solve = add(part::unpack, [of] { of->solve_gathered(); });
        read(summed, solve);
        write(solved, solve);
        // With the ghost cells, so that no exchange is needed.
        each_group(static_cast<int>(tokens_.size()) - 1, [&](int first, int last) {
            const int id = add(part::shell, [of, first, last, &on, &fine = *(&on - 1)] {
                for (int box = first; box < last; ++box) {
                    of->scatter(box);
                    prolong(on, fine, box, on.whole_box());
                }
            });
            read(solved, id);
            for (int box = first; box < last; ++box) {
                write(t.of_box(box), id);
                write(tokens_[tokens_.size() - 2].of_box(box), id);
            }
        });
        ++stage_;
    }

private:
    /// Calls visit(first box, box after the last).
    template <class Visit>
    void each_group(int number, Visit&& visit) {
        const int n_boxes = of_.levels_[number].n_boxes();
        const int step = tokens_[number].boxes_each;
        for (int first = 0; first < n_boxes; first += step) visit(first, std::min(first + step, n_boxes));
    }

    int add(part when, std::function<void()> work) { return add({stage_, when, {}, std::move(work), {}}); }
    int add(part when, const message& what) { return add({stage_, when, what, {}, {}}); }
    int add(item what) {
        of_.items_.push_back(std::move(what));
        return static_cast<int>(of_.items_.size()) - 1;
    }
    void wait_for(int id, const std::vector<int>& others) {
        std::vector<int>& after = of_.items_[id].after;
        after.insert(after.end(), others.begin(), others.end());
        std::ranges::sort(after);
        after.erase(std::ranges::unique(after).begin(), after.end());
    }
    void read(token& what, int id) {
        if (!what.readers.empty() && what.readers.back() == id) return;
        wait_for(id, what.writers);
        what.readers.push_back(id);
    }
    void write(token& what, int id) {
        if (what.readers.empty() && !what.writers.empty() && what.writers.back() == id) return;
        if (what.stage != stage_ || !what.readers.empty()) {
            what.before = what.readers.empty() ? what.writers : what.readers;
            what.writers.clear();
            what.readers.clear();
            what.stage = stage_;
        }
        wait_for(id, what.before);
        what.writers.push_back(id);
    }

    cycle& of_;
    std::vector<level_tokens> tokens_;
    int stage_ = 0;
};

cycle::cycle(const domain& whole, bool is_aggregated, const lane_policy& lanes, int n_threads)
    : cycle(whole, is_aggregated, lanes, n_threads, false) {}

cycle::cycle(const domain& whole, bool is_aggregated, const lane_policy& lanes, int n_threads, bool is_bottom)
    : whole_(whole) {
    const bool is_one_box = whole.box == whole.cells;
    const auto is_halved = [&](int n) { return is_one_box ? n % 2 == 0 && n > 2 : n >= smallest_distributed_box; };
    int last = 0;
    for (extents n = whole.box; std::ranges::all_of(n, is_halved); ++last) n = {n[0] / 2, n[1] / 2, n[2] / 2};
    for (int depth = 0; depth <= last; ++depth) levels_.emplace_back(whole, depth, is_aggregated, lanes);
    if (!is_one_box) {
        const extents cells{whole.cells[0] >> last, whole.cells[1] >> last, whole.cells[2] >> last};
        bottom_.reset(new cycle({.cells = cells, .grid = {1, 1, 1}, .position = {}, .box = cells}, true, {}, 1, true));
        mine_.resize(bottom_->finest().b.size());
    }
    builder make{*this, n_threads};
    for (int k = 0; k < last; ++k) {
        make.sweeps(k, k > 0 || is_bottom ? 1 : 0);
        make.stage(k, k + 1, [&fine = levels_[k], &coarse = levels_[k + 1]](int box, const range& cells, int) {
            restrict_residual(fine, coarse, box, cells);
        });
    }
    make.bottom();
    for (int k = last - 1; k >= 0; --k) {
        if (k < last - 1 || is_one_box) {
            make.stage(k + 1, k, [&fine = levels_[k], &coarse = levels_[k + 1]](int box, const range& cells, int) {
                prolong(coarse, fine, box, cells);
            });
        }
        make.sweeps(k, 0);
    }
    residuals_.resize(make.stage(0, -1, [this](int box, const range& cells, int piece) {
        residuals_[piece] = multigrid::largest_residual(finest(), box, cells);
    }));
}

double cycle::largest_residual() const { return std::ranges::max(residuals_); }

void cycle::run_serially() const {
    for (const item& each : items_) each.work();
}

void cycle::solve_bottom() {
    level& on = levels_.back();
    const int widest = std::ranges::max(on.n);
    for (int s = 1; s < 2 * std::max(least_bottom_sweeps, widest * widest); ++s) {
        on.fill_ghosts(0);
        smooth(on, 0, on.whole_box(), s % 2 == 0 ? colour::red : colour::black);
    }
}

void cycle::gather() {
    const level& on = levels_.back();
    for (int box = 0; box < on.n_boxes(); ++box) {
        const extents cell = on.origin(box);
        for (int row = 0; row < on.n[1] * on.n[2]; ++row) {
            const int j = row % on.n[1];
            const int k = row / on.n[1];
            std::copy_n(&on.b[on.at(box, 0, j, k)], on.n[0],
                        &mine_[bottom_->finest().at(0, cell[0], cell[1] + j, cell[2] + k)]);
        }
    }
}

void cycle::solve_gathered() {
    start_from_zero(bottom_->finest(), 0, bottom_->finest().whole_box());
    bottom_->run_serially();
    bottom_->finest().fill_ghosts(0);
}

void cycle::scatter(int box) {
    level& on = levels_.back();
    const level& all = bottom_->finest();
    const extents cell = on.origin(box);
    for (int k = -1; k <= on.n[2]; ++k) {
        for (int j = -1; j <= on.n[1]; ++j) {
            std::copy_n(&all.x[all.at(0, cell[0] - 1, cell[1] + j, cell[2] + k)], on.n[0] + 2,
                        &on.x[on.at(box, -1, j, k)]);
        }
    }
}

} // namespace multigrid
