// SPDX-License-Identifier: Apache-2.0
// The inputs of each item are worked out once from the neighbour table: an item waits for exactly the tiles and halos that it reads.
// Halos are double-buffered by the parity of the hop: a receive waits for the readers of the hop before the last, a pack for its send.
// With plans the receives of a hop are one item and its sends another, each send held until its face is packed; or all messages are
// one, where the master waits for all of them anyway.
#include "exchange.hpp"

#include "common/runtime_session.hpp"

#include <commtask/omp.h>

#include <algorithm>
#include <stdexcept>

namespace dslash {

using miniapp::item_list;
using miniapp::message;
using miniapp::part;
using miniapp::require;

namespace {

constexpr int chunk_sites = 64; ///< Of a face: about a microsecond. Faces are cut so that every thread finds some.

bool is_graph(mode which) { return which == mode::omp || which == mode::tbb; }

std::unique_ptr<miniapp::runner> make_offload(const item_list& on, const exchange_options& o) {
    miniapp::part_order order = miniapp::usual_order;
    if (o.bad == bad_habit::late_pack) std::rotate(&order[1], &order[3], &order[4]);
    if (o.bad == bad_habit::late_receive) std::rotate(&order[0], &order[1], &order[4]);
    return miniapp::make_offload_in_order(on, o.n_cores, order);
}

template <miniapp::make_runner Make>
std::unique_ptr<miniapp::runner> make(const item_list& on, const exchange_options& o) {
    return Make(on, o.n_cores);
}

void insert(std::vector<int>& into, int value) {
    if (std::ranges::find(into, value) == into.end()) into.push_back(value);
}

/// The tile that each vector site belongs to.
std::vector<int> tile_of_site(const layout& shape, const parity_layout& table) {
    std::vector<int> owner(static_cast<std::size_t>(shape.n_sites), -1);
    for (std::size_t k = 0; k < table.tiles.size(); ++k) {
        for (const std::int32_t site : table.tiles[k].sites) owner[site] = static_cast<int>(k);
    }
    return owner;
}

} // namespace

const std::vector<mode_description>& modes() {
    static const std::vector<mode_description> table{
        {{"plain", MPI_THREAD_FUNNELED, false}, mode::plain, make<miniapp::make_plain>},
        {{"baseline", MPI_THREAD_FUNNELED, false}, mode::baseline, make<miniapp::make_baseline>},
        {{"iprobe", MPI_THREAD_FUNNELED, false},
         mode::iprobe,
         [](const item_list& on, const exchange_options& o) {
             return miniapp::make_iprobe(on, o.n_cores, o.comm, o.probe_every);
         }},
        {{"commself", MPI_THREAD_MULTIPLE, false}, mode::commself, make<miniapp::make_commself>},
        {{"offload", MPI_THREAD_SERIALIZED, true}, mode::offload, make_offload},
        {{"omp", MPI_THREAD_SERIALIZED, true}, mode::omp, make<miniapp::make_omp>},
#if MINIAPP_HAS_TBB
        {{"tbb", MPI_THREAD_SERIALIZED, true}, mode::tbb, make<miniapp::make_tbb>},
#endif
    };
    return table;
}

const mode_description& describe(mode which) {
    const auto found = std::ranges::find(modes(), which, &mode_description::which);
    if (found == modes().end()) throw std::logic_error("this build does not have that mode");
    return *found;
}

chain::chain(mode which, stencil& on, const exchange_options& options, const std::function<void(chain&)>& add_round)
    : on_(on), options_(options), how_(describe(which)) {
    if (how_.has_worker) require(commtask_comm_register(options.comm), "commtask_comm_register");
    options_.is_bound = options.is_bound && which == mode::omp;
    if (options_.is_bound && commtask_omp_bind_check() != COMMTASK_OK) {
        throw std::runtime_error(std::string("--bind: run lqcd_dslash_bind (") + commtask_omp_last_error() + ")");
    }
    add_round(*this);
    n_hops_ = 0;
    add_round(*this);
    items_.end(true);
    runner_ = how_.make(items_, options_);
}

void chain::barrier() {
    if (how_.has_worker) {
        miniapp::worker_barrier(options_.comm);
    } else {
        MPI_Barrier(options_.comm);
    }
}

int chain::cores() const {
    const bool has_thread = how_.has_worker || how_.which == mode::commself;
    return has_thread ? std::max(2, options_.n_cores) : compute_threads();
}

exchange::exchange(mode which, stencil& on, const exchange_options& options)
    : chain_(which, on, options, [this](chain& to) {
          for (const int parity : {0, 1}) {
              to.add({parity, 1 - parity, parity, [this, parity] { return hop_step{in_, out_, parity, scale_}; }});
              to.items().end_stage();
          }
      }) {}

phase_times exchange::run(const field& in, field& out, int n_hops, double scale) {
    in_ = &in;
    out_ = &out;
    scale_ = scale;
    return chain_.run(n_hops);
}

/// Each hop of a round has its tags, since messages of several hops are under way at once, and those of one tag keep their order
/// though they are started early by a plan.
std::vector<chain::face> chain::faces(int parity) const {
    std::vector<face> all;
    for (int d = 0; d < n_directions; ++d) {
        const auto size = static_cast<MPI_Count>(on_.face_bytes(d));
        if (size == 0) continue;
        const MPI_Comm comm = options_.lanes.empty() ? options_.comm : options_.lanes[all.size()];
        const geometry& geom = on_.shape().geom;
        const int tag = d + n_directions * static_cast<int>(n_hops_);
        all.push_back({d, miniapp::receive(on_.receive_buffer(parity, d), size, MPI_BYTE, geom.neighbour(d), tag, comm),
                       miniapp::send(on_.send_buffer(parity, d), size, MPI_BYTE, geom.neighbour(d ^ 1), tag, comm)});
    }
    return all;
}

/// A hop has its own plans in each round, though it shares the buffers with other hops.
chain::plans* chain::plans_of_next_hop(const std::vector<face>& all) {
    // Bad habits are about single messages.
    if (!how_.has_worker || !options_.has_plan || options_.bad != bad_habit::none || all.empty()) return nullptr;
    if (n_hops_ == plans_.size()) record(plans_.emplace_back(), all);
    return &plans_[n_hops_];
}

void chain::record(plans& made, const std::vector<face>& all) {
    const auto post = [](const commtask_op& each) {
        require(commtask_post_operation(&each, nullptr, nullptr), "commtask_post");
    };
    const auto post_receives = [&] {
        for (const face& each : all) post(each.receive.operation);
    };
    if (is_graph(how_.which)) {
        made.receives.record(post_receives);
    } else {
        made.first_send = all.size();
    }
    made.sends.record([&] {
        if (made.first_send != 0) post_receives();
        for (const face& each : all) post(each.send.operation);
    });
    for (std::size_t k = 0; k < all.size(); ++k) made.sends.defer(made.first_send + k);
}

std::vector<int> chain::add(const hop& of) {
    const int parity = of.parity;
    const layout& shape = on_.shape();
    const parity_layout& table = shape.parity[parity];
    const std::vector<int> owner = tile_of_site(shape, shape.parity[1 - parity]);
    const std::vector<face> all = faces(parity);
    plans* const planned = plans_of_next_hop(all);
    ++n_hops_;
    const bool is_one_plan = planned != nullptr && !is_graph(how_.which);
    const auto let_go = [planned](std::size_t k) { planned->sends.pready(planned->first_send + k); };
    int receives = -1; // with plans
    int sends = -1;
    if (planned != nullptr) {
        sends = items_.add(part::receive, miniapp::start(planned->sends));
        receives = is_one_plan ? sends : items_.add(part::receive, miniapp::start(planned->receives));
        items_.wait_for(sends, planned->senders);
        items_.wait_for(receives, planned->receivers);
        planned->senders = {sends};
        planned->receivers = {receives};
    }
    if (is_one_plan) {
        items_.add(part::send, message{.operation = {},
                                       .natively =
                                           [let_go, n = all.size()](MPI_Request*) {
                                               for (std::size_t k = 0; k < n; ++k) let_go(k);
                                           },
                                       .what = message::kind::let_go});
    }

    std::array<int, n_directions> halo{};
    for (std::size_t k = 0; k < all.size(); ++k) {
        const int d = all[k].direction;
        buffer_users& users = users_[parity][d];
        halo[d] = receives;
        if (planned == nullptr) halo[d] = items_.add(part::receive, all[k].receive);
        if (planned != nullptr && how_.which == mode::tbb) {
            message member{.operation = {}, .what = message::kind::member, .plan = &planned->receives, .member = k};
            halo[d] = items_.add(part::receive, std::move(member));
        }
        if (planned == nullptr || !is_one_plan) items_.wait_for(receives >= 0 ? receives : halo[d], users.readers);
        users.readers.clear();
        std::vector<int> read;
        for (const std::int32_t site : shape.parity[1 - parity].face[d]) insert(read, owner[site]);
        std::vector<int> packs;
        const int n_sites = on_.n_face_sites(parity, d);
        const int n_at_once = is_graph(how_.which) ? n_sites : chunk_sites;
        for (int first = 0; first < n_sites; first += n_at_once) {
            const int last = std::min(n_sites, first + n_at_once);
            const auto pack = [this, step = of.step, d, first, last] {
                if (const auto now = step()) on_.pack(*now, d, first, last);
            };
            if (planned != nullptr && !is_one_plan) {
                packs.push_back(items_.add(part::prepare, [pack, let_go, k] {
                    pack();
                    let_go(k);
                }));
            } else if (options_.is_bound) {
                // A refusal is counted among the errors, which end the run.
                packs.push_back(items_.add(part::prepare, [pack, send = all[k].send.operation] {
                    pack();
                    static_cast<void>(commtask_omp_bind(send));
                }));
            } else {
                packs.push_back(items_.add(part::prepare, pack));
            }
            for (const int tile : read) items_.reads(packs.back(), {of.from, tile, 0});
            items_.wait_for(packs.back(), users.senders);
        }
        if (planned == nullptr && !options_.is_bound) {
            users.senders = {items_.add(part::send, all[k].send)};
            items_.wait_for(users.senders.front(), packs);
        } else {
            users.senders = planned != nullptr ? std::vector{sends} : packs;
        }
    }

    std::vector<int> ids;
    for (std::size_t k = 0; k < table.tiles.size(); ++k) {
        const tile& which = table.tiles[k];
        std::vector<int> read;
        for (const std::int32_t site : which.sites) {
            for (int d = 0; d < n_directions; ++d) {
                const std::uint32_t entry = table.neighbours[static_cast<std::size_t>(site) * n_directions + d];
                if (static_cast<hop_kind>(entry & hop_entry::kind_mask) != hop_kind::halo)
                    insert(read, owner[entry >> hop_entry::site_shift]);
            }
        }
        const int id =
            items_.add(which.halos == 0 ? part::core : part::shell, [this, step = of.step, then = of.then, &which, k] {
                const auto now = step();
                if (!now) return;
                on_.compute(*now, which);
                if (then) then(static_cast<int>(k));
            });
        for (const int each : read) items_.reads(id, {of.from, each, 0});
        items_.writes(id, {of.to, static_cast<int>(k), 0});
        for (int d = 0; d < n_directions; ++d) {
            if ((which.halos >> d & 1) == 0) continue;
            items_.wait_for(id, {halo[d]});
            users_[parity][d].readers.push_back(id);
        }
        ids.push_back(id);
    }
    return ids;
}

} // namespace dslash
