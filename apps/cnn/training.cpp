// SPDX-License-Identifier: Apache-2.0
// Names of what items read and write have a kind, a layer or chunk, and a rank or bundle.
#include "training.hpp"

#include "common/runtime_session.hpp"

namespace cnn {

using miniapp::part;

namespace {

/// Of items: what other ranks wait for, and what the next forward pass needs first. The first items that a team gets have priority 0:
/// libomp gives a thread a queue with the first such task, and until then a completed message finds none.
enum : int { usual, urgent };
/// Kinds of names.
enum : int {
    images,
    outs,
    features,
    hidden,
    own_logits,
    logits,
    d_logits,
    d_hidden,
    own_d_features,
    d_features,
    gradients,
    arrived,
    weights
};

int ranks_of(MPI_Comm comm) {
    int n = 1;
    MPI_Comm_size(comm, &n);
    return n;
}

int rank_of(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

} // namespace

training::training(const problem& whole, MPI_Comm comm, bool has_plan)
    : net(whole, ranks_of(comm), rank_of(comm)), comm_(comm), has_plan_(has_plan) {
    for (int round = 0; round < 2; ++round) {
        for (int l = 0; l + 1 < n_layers; ++l) {
            for (int i = 0; i < net.n_bundles; ++i)
                add(part::core, usual, all(weights, l, l + 1, net.n_ranks),
                    {{images, l, i}, {outs, l, i}, {images, l + 1, i}}, [=, this] { net.forward(l, i); });
            items.end_stage();
        }
        add_pipeline();
        add_backward();
    }
    items.end(true);
}

training::names training::all(int kind, int first, int last, int n, names made) {
    for (int a = first; a < last; ++a)
        for (int b = 0; b < n; ++b) made.push_back({kind, a, b});
    return made;
}

void training::add(part when, int urgency, const names& reads, const names& writes, std::function<void()> work) {
    const int id = items.add(when, std::move(work));
    items.set_urgency(id, urgency);
    for (const name& each : reads) items.reads(id, each);
    for (const name& each : writes) items.writes(id, each);
}

void training::add_exchange(int tag, const std::function<parcel(int)>& with) {
    std::vector<parcel> parcels;
    std::vector<commtask_op> members;
    for (int q = 0; q < net.n_ranks; ++q) {
        if (q == net.rank) continue;
        const parcel& of = parcels.emplace_back(with(q));
        const auto receive = miniapp::receive(of.into, of.n_into, MPI_DOUBLE, q, tag, comm_);
        const auto send = miniapp::send(of.from, of.n_from, MPI_DOUBLE, q, tag, comm_);
        members.insert(members.end(), {receive.operation, send.operation});
        if (has_plan_) continue;
        items.writes(items.add(part::receive, receive), of.into_name);
        items.reads(items.add(part::send, send), of.from_name);
    }
    if (!has_plan_ || parcels.empty()) return;
    const auto post = [](const commtask_op& one) {
        miniapp::require(commtask_post_operation(&one, nullptr, nullptr), "commtask_post");
    };
    if (!plans_[tag]) plans_[tag].record([&] { std::ranges::for_each(members, post); });
    const int id = items.add(part::send, miniapp::start(plans_[tag]));
    for (const parcel& of : parcels) {
        items.reads(id, of.from_name);
        items.writes(id, of.into_name);
    }
}

// In a stage the chunks are at different places of their way: while one is computed, others are exchanged.
void training::add_pipeline() {
    constexpr int last = n_layers - 1, n_exchanges = 4;
    const names dense_weights{{weights, hidden_units, 0}, {weights, classes, 0}};
    // From the sender's own place to the same place at the receiver, or from the receiver's place to the sender's.
    const auto exchange = [&](int which, int k, auto& from, int from_kind, auto& into, int into_kind, int n) {
        add_exchange(n_exchanges * k + which, [&](int q) -> parcel {
            const int place = &from == &into ? net.rank : q;
            const long first = net.chunk(k).first, n_numbers = net.chunk(k).count() * n * n_lanes;
            return {&from[net.at(place, first, n)], n_numbers, {from_kind, k, place},
                    &into[net.at(q, first, n)],     n_numbers, {into_kind, k, q}};
        });
    };
    for (int stage = 0; stage < net.n_chunks + 5; ++stage) {
        for (int k = std::max(0, stage - 5); k <= std::min(stage, net.n_chunks - 1); ++k) {
            const int way = stage - k; // each chunk is a stage behind the one before
            if (way == 1) exchange(0, k, net.features, features, net.features, features, net.n_features);
            if (way == 2) exchange(1, k, net.logits[sent], own_logits, net.logits[received], logits, n_classes);
            if (way == 3) exchange(2, k, net.d_logits, d_logits, net.d_logits, d_logits, n_classes);
            if (way == 4)
                exchange(3, k, net.d_features[sent], own_d_features, net.d_features[received], d_features,
                         net.n_features);
            for (auto i = static_cast<int>(net.chunk(k).first); i < net.chunk(k).last; ++i) {
                if (way == 0)
                    add(part::core, usual, all(weights, last, last + 1, net.n_ranks, {{images, last, i}}),
                        {{outs, last, i}, {features, k, net.rank}}, [=, this] { net.forward(last, i); });
                if (way == 4)
                    add(part::shell, urgent, all(d_features, k, k + 1, net.n_ranks), {{outs, last, i}},
                        [=, this] { net.features_back(i); });
                if (way == 5)
                    add(part::core, usual, all(weights, last, last + 1, net.n_ranks, {{outs, last, i}}),
                        {{outs, last - 1, i}}, [=, this] { net.convolution_back(last, i); });
            }
            for (int q = 0; q < net.n_ranks; ++q) {
                if (way == 1)
                    add(part::shell, urgent, {dense_weights[0], dense_weights[1], {features, k, q}},
                        {{hidden, k, q}, {q == net.rank ? logits : own_logits, k, q}},
                        [=, this] { net.dense_forward(q, k); });
                if (way == 3)
                    add(part::shell, urgent, {dense_weights[0], dense_weights[1], {d_logits, k, q}, {hidden, k, q}},
                        {{d_hidden, k, q}, {q == net.rank ? d_features : own_d_features, k, q}},
                        [=, this] { net.dense_back(q, k); });
            }
            if (way == 2)
                add(part::shell, urgent, all(logits, k, k + 1, net.n_ranks), {{d_logits, k, net.rank}},
                    [=, this] { net.softmax(k); });
        }
        items.end_stage();
    }
}

// A convolution's gradient and weights are exchanged while other layers are computed.
void training::add_backward() {
    const int first_tag = 4 * net.n_chunks;
    const auto differentiate = [&](int l) {
        for (int o = 0; o < net.layers[l].n_out; o += together)
            add(part::core, l == 0 ? urgent : usual,
                all(outs, l, l + 1, net.n_bundles, all(images, l, l + 1, net.n_bundles)), {{gradients, l, 0}},
                [=, this] { net.differentiate(l, o); });
    };
    const auto update_dense = [&](int t, int n_rows, int rows, int columns) {
        const names reads = all(rows, 0, net.n_chunks, net.n_ranks, all(columns, 0, net.n_chunks, net.n_ranks));
        for (int row = 0; row < n_rows; row += rows_of_item)
            add(part::core, usual, reads, {{weights, t, 0}}, [=, this] { net.update_dense(t, row); });
    };
    differentiate(n_layers - 1);
    items.end_stage();
    for (int l = n_layers - 1; l >= 0; --l) {
        const range own = net.part_of(l, net.rank);
        add_exchange(first_tag + l, [&](int q) -> parcel {
            return {&net.gradient[l][net.part_of(l, q).first],
                    net.part_of(l, q).count(),
                    {gradients, l, 0},
                    &net.arrived[l][q * own.count()],
                    own.count(),
                    {arrived, l, q}};
        });
        add(part::unpack, urgent, all(arrived, l, l + 1, net.n_ranks, {{gradients, l, 0}}), {{weights, l, net.rank}},
            [=, this] { net.update_convolution(l); });
        for (int i = 0; i < net.n_bundles && l > 1; ++i)
            add(part::core, usual, all(weights, l - 1, l, net.n_ranks, {{outs, l - 1, i}}), {{outs, l - 2, i}},
                [=, this] { net.convolution_back(l - 1, i); });
        if (l == 1) differentiate(0);
        if (l == 0) update_dense(hidden_units, net.n_features, features, d_hidden);
        items.end_stage();

        add_exchange(first_tag + n_layers + l, [&](int q) -> parcel {
            return {&net.weights[l][own.first], own.count(),
                    {weights, l, net.rank},     &net.weights[l][net.part_of(l, q).first],
                    net.part_of(l, q).count(),  {weights, l, q}};
        });
        add(part::unpack, usual, all(weights, l, l + 1, net.n_ranks), {}, [=, this] { net.count_weights(l); });
        if (l > 1) differentiate(l - 1);
        if (l == 1) update_dense(classes, net.n_hidden, hidden, d_logits);
        items.end_stage();
    }
}

} // namespace cnn
