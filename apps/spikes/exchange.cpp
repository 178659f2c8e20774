// SPDX-License-Identifier: Apache-2.0
// Arguments that are not known when a task is made are those of a function that the worker calls later: the counts of an allgather. The sum of
// a multicast is a generalized request, so that it can be repeated by callbacks, and no thread waits for it.
#include "exchange.hpp"

#include "common/runtime_session.hpp"

#include <string>

namespace spikes {

using miniapp::part, miniapp::require;

namespace {

constexpr int spike_bytes = sizeof(spike);
enum : int { fires, packs, counts, turn, arrives, state }; // names of what items read and write

/// In a callback nobody could catch an exception: without memory for the next operation the program ends.
void post(const commtask_op& operation, commtask_callback then, void* argument) noexcept {
    commtask_options options = COMMTASK_OPTIONS_INIT;
    options.callback = then;
    options.callback_argument = argument;
    require(commtask_post_operation(&operation, &options, nullptr), "commtask_post");
}

} // namespace

exchange::exchange(network& on, exchange_kind kind, MPI_Comm comm, bool by_worker)
    : on_(on), kind_(kind), by_worker_(by_worker) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &n_ranks_);
    MPI_Comm_dup(comm, &comm_);
    MPI_Type_contiguous(spike_bytes, MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
    counts_.resize(n_ranks_);
    places_.resize(n_ranks_);
    for (int k = 0; k < n_slots; ++k) {
        at(k).owner = this;
        at(k).number = k;
        at(k).fired.resize(on.blocks().size());
    }
    add_parts();
    if (by_worker) require(commtask_comm_register(comm_), "commtask_comm_register");
    if (gathers()) return;
    require(commtask_listen(comm_, MPI_ANY_TAG, spike_bytes, 64, take, this, &listener_), "commtask_listen");
}

void exchange::end() {
    if (by_worker_) require(commtask_unlisten(&listener_), "commtask_unlisten");
    MPI_Comm_free(&comm_);
    MPI_Type_free(&type_);
}

void exchange::reset() {
    for (block& each : on_.blocks()) each.reset();
    for (slot& each : slots_) {
        for (auto& of_block : each.fired) of_block.clear();
        each.ready.clear();
    }
    n_sent_ = n_sums_ = 0;
    left_of_messages_ = 0;
    // No rank begins while another one has the run before.
    by_worker_ ? miniapp::worker_barrier(comm_) : static_cast<void>(MPI_Barrier(comm_));
}

void exchange::advance(int part, std::size_t b) {
    block& cells = on_.blocks()[b];
    const slot& needed = at(part - parts_per_interval());
    cells.deliver(needed.ready);
    for (const auto& of_block : needed.fired) cells.deliver(of_block);
    std::vector<spike>& mine = at(part).fired[b];
    cells.advance(n_steps(), mine);
    for (const spike& each : mine)
        left_of_messages_ += print_of(each) * (gathers() ? n_ranks_ - 1 : on_.dests(each.cell).size());
    if (!gathers()) post_multicasts(at(part), b);
}

void exchange::post_multicasts(slot& of, std::size_t b) {
    commtask_options options = COMMTASK_OPTIONS_INIT;
    options.callback_argument = &of;
    options.callback = [](const commtask_status* status, void* argument) {
        slot& mine = *static_cast<slot*>(argument);
        ++(status->state == COMMTASK_STATE_COMPLETED ? mine.ended : mine.owner->n_failed_);
    };
    for (const spike& each : of.fired[b]) {
        const std::span<const int> to = on_.dests(each.cell);
        const auto n = static_cast<int>(to.size());
        if (n == 0) continue;
        of.sent += n;
        of.ended += n - 1; // a multicast has one end
        const commtask_op send = commtask_op_multicast(&each, 1, type_, to.data(), n, of.number, comm_);
        require(commtask_post_operation(&send, &options, nullptr), "commtask_post");
    }
}

int exchange::take(commtask_message* come, void* self) {
    auto& mine = *static_cast<exchange*>(self);
    slot& into = mine.at(come->tag);
    const bool is_good = come->error == MPI_SUCCESS && come->bytes == spike_bytes;
    if (is_good) into.come.push_back(*static_cast<const spike*>(come->data));
    ++(is_good ? into.received : mine.n_failed_);
    return COMMTASK_MESSAGE_DONE;
}

void exchange::pack(const slot& of) {
    packed_.clear();
    for (const auto& of_block : of.fired) packed_.insert(packed_.end(), of_block.begin(), of_block.end());
    n_packed_ = static_cast<int>(packed_.size());
}

int exchange::gather(MPI_Request* request, void* of) {
    exchange& self = *static_cast<exchange*>(of);
    int n = 0;
    for (int r = 0; r < self.n_ranks_; ++r) {
        int& count = self.counts_[r];
        // Where a rank cannot have so many, the run fails, and nothing is written beyond the memory.
        const bool is_good = count >= 0 && count <= self.on_.what().n_cells * self.n_steps();
        self.n_failed_ += is_good ? 0 : 1;
        count = is_good ? count : 0;
        self.places_[r] = n;
        n += count;
    }
    self.gathered_.resize(n);
    return MPI_Iallgatherv(self.packed_.data(), self.counts_[self.rank_], self.type_, self.gathered_.data(),
                           self.counts_.data(), self.places_.data(), self.type_, self.comm_, request);
}

/// What has come becomes what the blocks read.
void exchange::collect(slot& of) {
    if (gathers()) {
        const auto own = gathered_.begin() + places_[rank_];
        of.ready.assign(gathered_.begin(), own);
        of.ready.insert(of.ready.end(), own + counts_[rank_], gathered_.end());
    } else {
        of.ready.swap(of.come);
        of.come.clear();
        n_sent_ += of.sent.exchange(0);
        of.ended = of.received = 0;
    }
    for (const spike& each : of.ready) left_of_messages_ -= print_of(each);
}

int exchange::balance(MPI_Request* request, void* of_slot) {
    slot& of = *static_cast<slot*>(of_slot);
    const auto set_nothing = [](void*, MPI_Status* status) {
        MPI_Status_set_elements(status, MPI_BYTE, 0);
        return MPI_Status_set_cancelled(status, 0);
    };
    const int code = MPI_Grequest_start(
        set_nothing, [](void*) { return MPI_SUCCESS; }, [](void*, int) { return MPI_SUCCESS; }, nullptr, request);
    of.owner->request_ = *request;
    if (code == MPI_SUCCESS) of.owner->post_sum(of);
    return code;
}

void exchange::post_sum(slot& of) {
    mine_ = {of.sent, of.ended, of.received, n_failed_};
    ++n_sums_;
    const auto then = [](const commtask_status* status, void* of_slot) {
        slot& mine = *static_cast<slot*>(of_slot);
        exchange& self = *mine.owner;
        const auto [n_sent, n_ended, n_received, n_failed] = self.all_;
        if (status->state != COMMTASK_STATE_COMPLETED) ++self.n_failed_;
        const bool is_open = n_failed == 0 && (n_ended < n_sent || n_received < n_sent);
        if (is_open && status->state == COMMTASK_STATE_COMPLETED) return self.post_sum(mine);
        const auto end = [](void* request) { return MPI_Grequest_complete(*static_cast<MPI_Request*>(request)); };
        post(commtask_op_call(end, &self.request_, self.comm_), nullptr, nullptr);
    };
    post(commtask_op_allreduce(mine_.data(), all_.data(), std::ssize(all_), MPI_LONG, MPI_SUM, comm_), then, &of);
}

void exchange::add_parts() {
    const auto count = [this](MPI_Request* request) {
        MPI_Iallgather(&n_packed_, 1, MPI_INT, counts_.data(), 1, MPI_INT, comm_, request);
    };
    const auto gather_now = [this] {
        MPI_Request request = MPI_REQUEST_NULL;
        gather(&request, this);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    };
    const auto n_blocks = static_cast<int>(on_.blocks().size());
    for (int p = 0; p < 2 * n_slots; ++p) {
        slot& last = at(p - 1);
        const int packed = parts_.add(part::prepare, [this, &last] { pack(last); });
        for (int b = 0; b < n_blocks; ++b) parts_.reads(packed, {fires, last.number, b});
        parts_.writes(packed, {packs, 0, 0});
        int exchanged = 0;
        if (gathers()) {
            exchanged = parts_.add(
                part::send, {commtask_op_allgather(&n_packed_, 1, MPI_INT, counts_.data(), 1, MPI_INT, comm_), count});
            parts_.reads(exchanged, {packs, 0, 0});
            parts_.writes(exchanged, {counts, 0, 0});
            exchanged = parts_.add(part::send, {.operation = commtask_op_start(gather, this, comm_),
                                                .natively = [](MPI_Request*) {},
                                                .then = gather_now});
            parts_.reads(exchanged, {counts, 0, 0});
        } else {
            exchanged = parts_.add(part::send, {commtask_op_start(balance, &last, comm_)});
        }
        parts_.reads(exchanged, {packs, 0, 0});
        parts_.writes(exchanged, {turn, 0, 0});
        const int collected = parts_.add(part::edge, [this, &last] { collect(last); });
        for (const int what : {counts, turn})
            parts_.reads(collected, {what, 0, 0}); // which the next exchange waits for
        parts_.writes(collected, {arrives, last.number, 0});
        for (int b = 0; b < n_blocks; ++b) {
            const part when = kind_ == exchange_kind::allgather ? part::shell : part::core;
            const int id = parts_.add(when, [this, p, b] { advance(p, b); });
            parts_.reads(id, {arrives, at(p - parts_per_interval()).number, 0});
            parts_.writes(id, {state, 0, b});
            parts_.writes(id, {fires, at(p).number, b});
        }
        parts_.end_stage();
    }
    parts_.end(true);
}

void exchange::finish(int n_parts) {
    pack(at(n_parts - 1));
    const miniapp::item_list::group left = parts_.of(n_parts, part::send);
    if (by_worker_) {
        std::vector<commtask_t> tasks;
        miniapp::post(left, tasks);
        require(commtask_wait_all(tasks.size(), tasks.data(), nullptr), "commtask_wait_all");
    } else {
        miniapp::mpi_messages by;
        by.start(left);
        by.wait();
    }
    collect(at(n_parts - 1));
    if (n_failed_ > 0) throw std::runtime_error(std::to_string(n_failed_) + " messages of a run failed");
}

} // namespace spikes
