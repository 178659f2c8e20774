// SPDX-License-Identifier: Apache-2.0
//
// Question: what does an exchange cost that comes again and again, and who pays? Two to eight ranks: the exchange of lattice QCD
// with 2^4, 4^4 and 8^4 sites per rank in eight directions, alone and behind a timed sleep; 16 bytes to 1, 4 and 16 destinations;
// an alltoallv in which each rank has something for one other, of 8 bytes to 64 KiB. Four ways: MPI as a program without this library
// writes it, MPI's persistent requests, a post for each message, and a plan. For each the time until the poster can go on, and the time
// to the last arrival. And of a buffer that is filled part by part: into how many messages should it be cut (tuning.hpp has the size)?
// Goals: a plan of the smallest lattice costs at most 1/1.9 of posting each, and 1.05 of MPI_Startall.
#include "harness/alternate.h"
#include "harness/clock.h"
#include "harness/report.h"
#include "harness/session.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace commtask::bench;

struct place {
    int rank = 0;
    int n_ranks = 1;
    /// Another rank, if there is one.
    [[nodiscard]] int at(int step) const {
        const int other = ((rank + step) % n_ranks + n_ranks) % n_ranks;
        return other == rank && n_ranks > 1 ? ((rank + (step > 0 ? 1 : -1)) % n_ranks + n_ranks) % n_ranks : other;
    }
};

enum class way : std::uint8_t { mpi, startall, posts, plan };
constexpr std::array names_of_ways{"MPI", "MPI_Startall", "posts", "plan"};

struct message {
    bool is_received;
    int peer;
    int tag;
    int bytes;
};

/// The same messages in four ways.
class pattern {
public:
    pattern(std::string its_name, place here, std::vector<message> messages, std::int64_t sleep_ns = 0)
        : name_(std::move(its_name)), here_(here), messages_(std::move(messages)), sleep_ns_(sleep_ns) {
        for (const message& each : messages_) buffers_.emplace_back(static_cast<std::size_t>(each.bytes), 'x');
        requests_.resize(messages_.size());
        persistent_.resize(messages_.size());
        tasks_.resize(messages_.size());
        require(commtask_record_begin(), "commtask_record_begin");
        for (std::size_t i = 0; i < messages_.size(); ++i) {
            const commtask_op op = operation(i);
            require(commtask_post(&op, nullptr, nullptr), "commtask_post");
        }
        require(commtask_record_end(&plan_), "commtask_record_end");
        for (std::size_t i = 0; i < messages_.size(); ++i) make_persistent(i);
    }
    pattern(const pattern&) = delete;
    pattern& operator=(const pattern&) = delete;
    ~pattern() {
        for (MPI_Request& each : persistent_) MPI_Request_free(&each);
        commtask_plan_release(&plan_);
    }

    [[nodiscard]] const std::string& name() const { return name_; }
    /// MPI's way is one collective: a block for each rank, most of them empty.
    void use_alltoallv(int bytes) {
        const auto n = static_cast<std::size_t>(here_.n_ranks);
        send_counts_.assign(n, 0);
        recv_counts_.assign(n, 0);
        displs_.assign(n, 0);
        send_counts_[static_cast<std::size_t>(here_.at(1))] = bytes;
        recv_counts_[static_cast<std::size_t>(here_.at(-1))] = bytes;
    }

    /// Once; the poster's microseconds, and all.
    std::pair<double, double> run(way by) {
        MPI_Barrier(MPI_COMM_WORLD);
        const std::uint64_t begin = ticks();
        start(by);
        const std::uint64_t posted = ticks();
        if (sleep_ns_ > 0) {
            timespec left{0, sleep_ns_};
            while (nanosleep(&left, &left) != 0) {}
        }
        wait(by);
        return {ns_between(begin, posted) / 1e3, ns_between(begin, ticks()) / 1e3};
    }

private:
    [[nodiscard]] commtask_op operation(std::size_t i) {
        const message& one = messages_[i];
        return one.is_received
                   ? commtask_op_recv(buffers_[i].data(), one.bytes, MPI_BYTE, one.peer, one.tag, MPI_COMM_WORLD)
                   : commtask_op_send(buffers_[i].data(), one.bytes, MPI_BYTE, one.peer, one.tag, MPI_COMM_WORLD);
    }
    void make_persistent(std::size_t i) {
        const message& one = messages_[i];
        if (one.is_received) {
            MPI_Recv_init(buffers_[i].data(), one.bytes, MPI_BYTE, one.peer, one.tag, MPI_COMM_WORLD, &persistent_[i]);
        } else {
            MPI_Send_init(buffers_[i].data(), one.bytes, MPI_BYTE, one.peer, one.tag, MPI_COMM_WORLD, &persistent_[i]);
        }
    }
    void start_by_mpi() {
        if (!send_counts_.empty()) {
            MPI_Alltoallv(buffers_[1].data(), send_counts_.data(), displs_.data(), MPI_BYTE, buffers_[0].data(),
                          recv_counts_.data(), displs_.data(), MPI_BYTE, MPI_COMM_WORLD);
            std::ranges::fill(requests_, MPI_REQUEST_NULL);
            return;
        }
        for (std::size_t i = 0; i < messages_.size(); ++i) {
            const message& one = messages_[i];
            if (one.is_received) {
                MPI_Irecv(buffers_[i].data(), one.bytes, MPI_BYTE, one.peer, one.tag, MPI_COMM_WORLD, &requests_[i]);
            } else {
                MPI_Isend(buffers_[i].data(), one.bytes, MPI_BYTE, one.peer, one.tag, MPI_COMM_WORLD, &requests_[i]);
            }
        }
    }
    void start(way by) {
        switch (by) {
        case way::mpi: return start_by_mpi();
        case way::startall: MPI_Startall(count(), persistent_.data()); return;
        case way::plan: require(commtask_plan_start(plan_, nullptr, &run_), "commtask_plan_start"); return;
        case way::posts:
            for (std::size_t i = 0; i < messages_.size(); ++i) {
                const commtask_op op = operation(i);
                require(commtask_post(&op, nullptr, &tasks_[i]), "commtask_post");
            }
        }
    }
    void wait(way by) {
        switch (by) {
        case way::mpi: MPI_Waitall(count(), requests_.data(), MPI_STATUSES_IGNORE); return;
        case way::startall: MPI_Waitall(count(), persistent_.data(), MPI_STATUSES_IGNORE); return;
        case way::plan: require(commtask_wait(&run_, nullptr), "commtask_wait"); return;
        case way::posts: require(commtask_wait_all(tasks_.size(), tasks_.data(), -1, nullptr), "commtask_wait_all");
        }
    }
    [[nodiscard]] int count() const { return static_cast<int>(messages_.size()); }

    std::string name_;
    place here_;
    std::vector<message> messages_;
    std::int64_t sleep_ns_;
    std::vector<std::vector<char>> buffers_;
    std::vector<MPI_Request> requests_;
    std::vector<MPI_Request> persistent_;
    std::vector<commtask_t> tasks_;
    commtask_plan_t plan_ = COMMTASK_PLAN_NULL;
    commtask_t run_ = COMMTASK_NULL;
    std::vector<int> send_counts_; ///< Empty: MPI's way are messages.
    std::vector<int> recv_counts_;
    std::vector<int> displs_;
};

/// Faces of half spinors in double precision to both neighbours of four dimensions.
std::vector<message> faces(place here, int sites) {
    constexpr int bytes_per_site = 96;
    const int bytes = sites * sites * sites * bytes_per_site;
    std::vector<message> all;
    for (const bool is_received : {true, false}) {
        for (int d = 0; d < 8; ++d) {
            const int step = (d % 2 == 0 ? 1 : -1) * (1 << (d / 2 % 3));
            all.push_back({is_received, here.at(is_received ? -step : step), d, bytes});
        }
    }
    return all;
}

/// From rank 0 to ever more others, in turn.
std::vector<message> scattered(place here, int n_destinations) {
    std::vector<message> all;
    for (int i = 0; i < n_destinations; ++i) {
        const int to = here.n_ranks == 1 ? 0 : 1 + i % (here.n_ranks - 1);
        if (here.rank == to) all.push_back({true, 0, 100 + i, 16});
        if (here.rank == 0) all.push_back({false, to, 100 + i, 16});
    }
    return all;
}

std::string bytes_text(int bytes) {
    return bytes < 1024 ? std::to_string(bytes) + " B" : std::to_string(bytes >> 10) + " KiB";
}

/// A buffer of which a 64th is filled every 20 us, by somebody who is not on this core, and that leaves in messages of a size: what
/// a psend does. Each rank sends one and receives one.
class in_parts {
public:
    in_parts(place here, int whole_bytes, int group_bytes) : n_groups_(whole_bytes / group_bytes) {
        out_.assign(static_cast<std::size_t>(whole_bytes), 'x');
        in_.assign(static_cast<std::size_t>(whole_bytes), 'x');
        require(commtask_record_begin(), "commtask_record_begin");
        for (const bool is_received : {true, false}) {
            for (int i = 0; i < n_groups_; ++i) {
                const std::size_t at = static_cast<std::size_t>(i) * static_cast<std::size_t>(group_bytes);
                const commtask_op op =
                    is_received ? commtask_op_recv(&in_[at], group_bytes, MPI_BYTE, here.at(-1), i, MPI_COMM_WORLD)
                                : commtask_op_send(&out_[at], group_bytes, MPI_BYTE, here.at(1), i, MPI_COMM_WORLD);
                require(commtask_post(&op, nullptr, nullptr), "commtask_post");
            }
        }
        require(commtask_record_end(&plan_), "commtask_record_end");
        for (int i = 0; i < n_groups_; ++i) require(commtask_plan_hold(plan_, member(i)), "commtask_plan_hold");
    }
    in_parts(const in_parts&) = delete;
    in_parts& operator=(const in_parts&) = delete;
    ~in_parts() { commtask_plan_release(&plan_); }

    /// Once; microseconds.
    double run() {
        MPI_Barrier(MPI_COMM_WORLD);
        const std::uint64_t begin = ticks();
        commtask_t run = COMMTASK_NULL;
        require(commtask_plan_start(plan_, nullptr, &run), "commtask_plan_start");
        int n_gone = 0;
        for (int part = 1; part <= n_parts; ++part) {
            timespec left{0, 20'000};
            while (nanosleep(&left, &left) != 0) {}
            for (; n_gone < part * n_groups_ / n_parts; ++n_gone) {
                require(commtask_plan_ready(plan_, member(n_gone)), "commtask_plan_ready");
            }
        }
        require(commtask_wait(&run, nullptr), "commtask_wait");
        return ns_between(begin, ticks()) / 1e3;
    }

private:
    static constexpr int n_parts = 64;
    [[nodiscard]] std::size_t member(int group) const { return static_cast<std::size_t>(n_groups_ + group); }

    int n_groups_;
    std::vector<char> out_;
    std::vector<char> in_;
    commtask_plan_t plan_ = COMMTASK_PLAN_NULL;
};

/// What came out for one pattern and way.
struct figures {
    series poster;
    series whole;
};

/// All ways in turn; who begins moves on from round to round.
std::vector<figures> measure(pattern& what, std::size_t n_rounds, int n_samples) {
    std::vector<figures> all;
    for (const char* const by : names_of_ways) {
        all.push_back(
            {{what.name() + ", " + by + ", poster", "us", {}}, {what.name() + ", " + by + ", all", "us", {}}});
    }
    for (std::size_t round = 0; round <= n_rounds; ++round) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::size_t which = (round + i) % all.size();
            round_samples poster;
            round_samples whole;
            for (int k = -2; k < n_samples; ++k) {
                const auto [its_poster, its_whole] = what.run(static_cast<way>(which));
                if (k < 0) continue;
                poster.push_back(its_poster);
                whole.push_back(its_whole);
            }
            if (round == 0) continue; // to warm up
            all[which].poster.rounds.push_back(std::move(poster));
            all[which].whole.rounds.push_back(std::move(whole));
        }
    }
    return all;
}

/// The rows of one pattern: the only place where samples are summed up.
void add_rows(report& out, const std::vector<figures>& all, bool has_goals) {
    const auto at_most = [&](double limit) {
        return has_goals ? std::vector<goal>{{.of = goal::field::ratio, .kind = goal::bound::at_most, .limit = limit}}
                         : std::vector<goal>{};
    };
    const figures& posts = all[static_cast<std::size_t>(way::posts)];
    const figures& startall = all[static_cast<std::size_t>(way::startall)];
    out.add(posts.poster);
    out.add(posts.whole);
    for (const way by : {way::mpi, way::startall, way::plan}) {
        const figures& one = all[static_cast<std::size_t>(by)];
        out.add(one.poster, posts.poster);
        out.add(one.whole, posts.whole, by == way::plan ? at_most(1 / 1.9) : std::vector<goal>{});
    }
    series again = all[static_cast<std::size_t>(way::plan)].whole;
    again.name += ", beside MPI_Startall";
    out.add(again, startall.whole, at_most(1.05));
}

/// Sizes of messages in turn, beside the buffer as one.
void measure_parts(report& out, place here, int whole_bytes, std::size_t n_rounds) {
    std::vector<std::unique_ptr<in_parts>> sizes;
    std::vector<side> sides;
    for (int bytes = whole_bytes; bytes >= 8 << 10; bytes /= 4) {
        in_parts& made = *sizes.emplace_back(std::make_unique<in_parts>(here, whole_bytes, bytes));
        sides.push_back({.name = bytes_text(whole_bytes) + " filled in 64 parts, messages of " + bytes_text(bytes),
                         .unit = "us",
                         .measure = [&made](round_samples& samples) {
                             for (int i = 0; i < 3; ++i) samples.push_back(made.run());
                         }});
    }
    const std::vector<series> all = alternate(sides, n_rounds);
    out.add(all[0]);
    for (std::size_t i = 1; i < all.size(); ++i) out.add(all[i], all[0]);
}

void ask(session& here, const options& given) {
    constexpr std::int64_t sleep_ns = 200'000;
    place at{here.rank(), 1};
    MPI_Comm_size(MPI_COMM_WORLD, &at.n_ranks);
    report out("patterns", "crowded", here.machine());
    const auto sample = [&](pattern&& what, bool has_goals) {
        add_rows(out, measure(what, given.rounds(30), 10), has_goals);
    };
    for (const int sites : {2, 4, 8}) {
        const std::string name = "QCD " + std::to_string(sites) + "^4";
        sample({name, at, faces(at, sites)}, sites == 2);
        sample({name + " behind 200 us", at, faces(at, sites), sleep_ns}, false);
    }
    for (const int n_destinations : {1, 4, 16}) {
        sample({"16 B to " + std::to_string(n_destinations), at, scattered(at, n_destinations)}, false);
    }
    for (const int bytes : {8, 512, 4096, 64 << 10}) {
        pattern sparse{
            "alltoallv of " + bytes_text(bytes), at, {{true, at.at(-1), 200, bytes}, {false, at.at(1), 200, bytes}}};
        sparse.use_alltoallv(bytes);
        add_rows(out, measure(sparse, given.rounds(30), 10), false);
    }
    for (const int whole : {512 << 10, 4 << 20}) measure_parts(out, at, whole, given.rounds(30));
    if (here.rank() == 0) out.publish(given.json_file);
}

} // namespace

int main(int argc, char** argv) {
    return run_benchmark(argc, argv, "What an exchange costs that comes again and again, and who pays.", ask);
}
