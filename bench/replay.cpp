// SPDX-License-Identifier: Apache-2.0
//
// Question: what does doing the same communication again cost, by a plan? The poster's side: starting plans of 1, 16 and 64 messages, eight
// in a row as `post` does it, against one post; goal: at most 1.2 of it, without a system call or an allocation. From the second start on the
// worker is at work on the first, and takes more of the poster's lines than it does waiting, whoever posts: so the same is asked beside a
// run that was started just before. Then a multicast, of which further destinations should cost the poster nothing; and what a compute
// thread pays to let a held member go, alone and beside another that does the same. And all of it, for 16 messages of 8 bytes to this
// rank: a plan, its posts one by one, and MPI's own persistent requests by the same thread.
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/alternate.h"
#include "harness/calls_made.h"
#include "harness/clock.h"
#include "harness/cores.h"
#include "harness/report.h"
#include "harness/session.h"

namespace {

using namespace commtask::bench;

constexpr int burst = 8;
constexpr int message_bytes = 8;

/// So many messages of this rank to itself; one alone goes to nobody.
class exchange {
public:
    exchange(int n_messages, int first_tag) : n_(n_messages), first_tag_(first_tag), memory_(2 * bytes(), 1) {}

    [[nodiscard]] int size() const { return n_; }
    [[nodiscard]] commtask_op operation(int i) {
        const int half = n_ / 2;
        char* const place = memory_.data() + (static_cast<std::size_t>(i) * message_bytes);
        if (n_ == 1) return commtask_op_send(place, message_bytes, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF);
        return i < half ? commtask_op_recv(place, message_bytes, MPI_BYTE, 0, first_tag_ + i, MPI_COMM_SELF)
                        : commtask_op_send(place, message_bytes, MPI_BYTE, 0, first_tag_ + i - half, MPI_COMM_SELF);
    }
    /// The same as MPI's persistent request.
    void make_request(int i, MPI_Request* request) {
        const commtask_op op = operation(i);
        if (i < n_ / 2) {
            MPI_Recv_init(const_cast<void*>(op.recv.buffer), message_bytes, MPI_BYTE, 0, op.recv_tag, MPI_COMM_SELF,
                          request);
        } else {
            MPI_Send_init(op.send.buffer, message_bytes, MPI_BYTE, op.peer, op.send_tag, MPI_COMM_SELF, request);
        }
    }

private:
    [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(n_) * message_bytes; }

    int n_;
    int first_tag_;
    std::vector<char> memory_;
};

/// A recorded exchange.
class recorded {
public:
    explicit recorded(exchange& what) {
        require(commtask_record_begin(), "commtask_record_begin");
        for (int i = 0; i < what.size(); ++i) {
            const commtask_op op = what.operation(i);
            require(commtask_post(&op, nullptr, nullptr), "commtask_post");
        }
        require(commtask_record_end(&plan_), "commtask_record_end");
    }
    ~recorded() { commtask_plan_release(&plan_); }
    recorded(const recorded&) = delete;
    recorded& operator=(const recorded&) = delete;
    [[nodiscard]] commtask_plan_t handle() const { return plan_; }
    int start(commtask_t* run) { return commtask_plan_start(plan_, nullptr, run); }

private:
    commtask_plan_t plan_ = COMMTASK_PLAN_NULL;
};

/// Gives the worker the time to finish what follows a completion and to be watching its queue again.
void pause_2_us() {
    const std::uint64_t begin = ticks();
    while (ns_between(begin, ticks()) < 2000) {}
}

/// One sample per burst of eight calls of `begin(i, task)`, beside a run of `busy` if there is one. The first two bursts of a round
/// wake the worker and are not counted.
template <typename Begin>
void sample_bursts(recorded* busy, round_samples& out, Begin&& begin) {
    constexpr int n_bursts = 100;
    for (int turn = -2; turn < n_bursts; ++turn) {
        std::array<commtask_t, burst + 1> tasks{};
        int worst = COMMTASK_OK;
        pause_2_us();
        if (busy != nullptr) require(busy->start(&tasks[burst]), "commtask_plan_start");
        const std::uint64_t first = ticks();
        for (int i = 0; i < burst; ++i) worst = std::min(worst, begin(i, &tasks[static_cast<std::size_t>(i)]));
        const std::uint64_t last = ticks();
        require(worst, "a start or a post");
        if (turn >= 0) out.push_back(ns_between(first, last) / burst);
        require(commtask_wait_all(tasks.size(), tasks.data(), -1, nullptr), "commtask_wait_all");
    }
}

/// Eight plans of a size.
class starting {
public:
    explicit starting(int n_messages) {
        for (int i = 0; i < burst; ++i) {
            exchanges_.push_back(std::make_unique<exchange>(n_messages, i * n_messages));
            plans_.push_back(std::make_unique<recorded>(*exchanges_.back()));
        }
    }
    void sample(recorded* busy, round_samples& out) {
        sample_bursts(busy, out,
                      [&](int i, commtask_t* run) { return plans_[static_cast<std::size_t>(i)]->start(run); });
    }

private:
    std::vector<std::unique_ptr<exchange>> exchanges_;
    std::vector<std::unique_ptr<recorded>> plans_;
};

constexpr std::array plan_sizes{1, 16, 64};

/// The poster's rows: alone, beside a run, and a multicast to ever more.
void ask_posters(report& out, std::size_t n_rounds) {
    exchange single(1, 0);
    exchange of_busy(64, 4096);
    recorded busy(of_busy);
    std::vector<std::unique_ptr<starting>> sizes;
    for (const int size : plan_sizes) sizes.push_back(std::make_unique<starting>(size));
    const std::vector<int> nobody(64, MPI_PROC_NULL);
    std::vector<side> sides;
    const auto add = [&](std::string name, auto&& measure) {
        sides.push_back({.name = std::move(name), .unit = "ns", .measure = measure});
    };
    for (recorded* const beside : {static_cast<recorded*>(nullptr), &busy}) {
        const std::string where = beside != nullptr ? " beside a run of 64" : "";
        add("one post" + where, [&single, beside](round_samples& samples) {
            sample_bursts(beside, samples, [&](int, commtask_t* task) {
                const commtask_op op = single.operation(0);
                return commtask_post(&op, nullptr, task);
            });
        });
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            add("start of a plan of " + std::to_string(plan_sizes.at(i)) + where,
                [&one = *sizes[i], beside](round_samples& samples) { one.sample(beside, samples); });
        }
    }
    for (const int n : plan_sizes) {
        add("one multicast to " + std::to_string(n), [&nobody, n](round_samples& samples) {
            static const int word = 1;
            sample_bursts(nullptr, samples, [&](int, commtask_t* task) {
                const commtask_op op = commtask_op_multicast(&word, 1, MPI_INT, nobody.data(), n, 0, MPI_COMM_SELF);
                return commtask_post(&op, nullptr, task);
            });
        });
    }
    const std::vector<series> all = alternate(sides, n_rounds);
    const auto at_most = [](double limit) {
        return std::vector<goal>{{.of = goal::field::ratio, .kind = goal::bound::at_most, .limit = limit}};
    };
    const std::size_t group = 1 + plan_sizes.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i % group != 0) {
            out.add(all[i], all[i - i % group], i < 2 * group ? at_most(1.2) : at_most(1.05));
        } else if (i == group) {
            out.add(all[i], all[0]);
        } else {
            out.add(all[i]);
        }
    }
}

/// A start of sixteen messages of which the last is held, and what lets it go.
void count_calls_of_starts(report& out, int core) {
    constexpr int n_messages = 16;
    exchange pattern(n_messages, 2000);
    recorded plan(pattern);
    require(commtask_plan_hold(plan.handle(), n_messages - 1), "commtask_plan_hold");
    commtask_t run = COMMTASK_NULL;
    const calls_made seen = count_calls(
        core, 100, 2000, pause_2_us,
        [&] {
            require(plan.start(&run), "commtask_plan_start");
            require(commtask_plan_ready(plan.handle(), n_messages - 1), "commtask_plan_ready");
        },
        [&] { require(commtask_wait(&run, nullptr), "commtask_wait"); });
    add_calls(out, seen, "in 2000 starts of plans of 16 and as many commtask_plan_ready; the first 100 not counted");
}

/// A plan of sixty-four members that are all held. One sample per run, of what this thread's calls take while the plan does not run yet,
/// so that none of them starts a message.
class releasing {
public:
    releasing() : pattern_(n_members, 3000), plan_(pattern_) {
        for (std::size_t i = 0; i < n_members; ++i)
            require(commtask_plan_hold(plan_.handle(), i), "commtask_plan_hold");
    }
    void by_one_thread(round_samples& out) {
        for (int turn = -2; turn < n_runs; ++turn) {
            const double each = release(0, n_members);
            if (turn >= 0) out.push_back(each);
            finish();
        }
    }
    /// The other thread has the other half, and a core of its own, if there are two: the worker's, which is paused meanwhile.
    void by_two_threads(int other_core, round_samples& out) {
        require(commtask_pause(), "commtask_pause");
        std::atomic<int> n_ready{0}; // of both threads, in all runs
        std::atomic<int> n_done{0};
        const auto meet = [&n_ready](int turn) {
            n_ready.fetch_add(1);
            while (n_ready.load() < 2 * (turn + 1)) std::this_thread::yield();
        };
        std::thread other{[&] {
            pin_this_thread(other_core);
            for (int turn = 0; turn < n_runs + 2; ++turn) {
                meet(turn);
                static_cast<void>(release(n_members / 2, n_members));
                n_done.store(turn + 1);
            }
        }};
        for (int turn = 0; turn < n_runs + 2; ++turn) {
            meet(turn);
            const double each = release(0, n_members / 2);
            while (n_done.load() <= turn) std::this_thread::yield();
            if (turn >= 2) out.push_back(each);
            finish();
        }
        other.join();
        require(commtask_resume(), "commtask_resume");
    }

private:
    static constexpr int n_members = 64;
    static constexpr int n_runs = 100;

    [[nodiscard]] double release(std::size_t first, std::size_t last) {
        int worst = COMMTASK_OK;
        const std::uint64_t begin = ticks();
        for (std::size_t i = first; i < last; ++i) worst = std::min(worst, commtask_plan_ready(plan_.handle(), i));
        const std::uint64_t end = ticks();
        require(worst, "commtask_plan_ready");
        return ns_between(begin, end) / static_cast<double>(last - first);
    }
    void finish() {
        commtask_t run = COMMTASK_NULL;
        require(plan_.start(&run), "commtask_plan_start");
        require(commtask_wait(&run, nullptr), "commtask_wait");
    }

    exchange pattern_;
    recorded plan_;
};

/// Beside a post.
void ask_releases(report& out, const session& here, std::size_t n_rounds) {
    exchange single(1, 0);
    releasing held;
    const std::array ways{side{.name = "one post again",
                               .unit = "ns",
                               .measure =
                                   [&](round_samples& out) {
                                       sample_bursts(nullptr, out, [&](int, commtask_t* task) {
                                           const commtask_op op = single.operation(0);
                                           return commtask_post(&op, nullptr, task);
                                       });
                                   }},
                          side{.name = "ready of a held member, one thread",
                               .unit = "ns",
                               .measure = [&](round_samples& out) { held.by_one_thread(out); }},
                          side{.name = "ready of a held member, beside another thread's",
                               .unit = "ns",
                               .measure = [&](round_samples& out) { held.by_two_threads(here.cores().worker, out); }}};
    const std::vector<series> all = alternate(ways, n_rounds);
    out.add(all[0]);
    out.add(all[1], all[0]);
    out.add(all[2], all[0]);
}

/// From the first call to the end of all sixteen.
template <typename Do>
void sample_whole(round_samples& out, Do&& once) {
    for (int turn = -2; turn < 100; ++turn) {
        pause_2_us();
        const std::uint64_t first = ticks();
        once();
        const std::uint64_t last = ticks();
        if (turn >= 0) out.push_back(ns_between(first, last));
    }
}

void ask(session& here, const options& given) {
    constexpr int n_messages = 16;
    report out("replay", "one rank", here.machine());
    ask_posters(out, given.rounds(60));
    ask_releases(out, here, given.rounds(60));

    exchange pattern(n_messages, 1000);
    recorded plan(pattern);
    std::array<commtask_t, n_messages> tasks{};
    std::array<MPI_Request, n_messages> requests{};
    // The worker sleeps or polls without work meanwhile: MPI is called by one thread at a time.
    for (int i = 0; i < n_messages; ++i) pattern.make_request(i, &requests[static_cast<std::size_t>(i)]);
    const std::array ways{
        side{.name = "16 messages by a plan",
             .unit = "ns",
             .measure =
                 [&](round_samples& out) {
                     sample_whole(out, [&] {
                         commtask_t run = COMMTASK_NULL;
                         require(plan.start(&run), "commtask_plan_start");
                         require(commtask_wait(&run, nullptr), "commtask_wait");
                     });
                 }},
        side{.name = "16 messages posted singly",
             .unit = "ns",
             .measure =
                 [&](round_samples& out) {
                     sample_whole(out, [&] {
                         for (int i = 0; i < n_messages; ++i) {
                             const commtask_op op = pattern.operation(i);
                             require(commtask_post(&op, nullptr, &tasks[static_cast<std::size_t>(i)]), "commtask_post");
                         }
                         require(commtask_wait_all(n_messages, tasks.data(), -1, nullptr), "commtask_wait_all");
                     });
                 }},
        side{.name = "16 messages by MPI_Startall", .unit = "ns", .measure = [&](round_samples& out) {
                 sample_whole(out, [&] {
                     MPI_Startall(n_messages, requests.data());
                     MPI_Waitall(n_messages, requests.data(), MPI_STATUSES_IGNORE);
                 });
             }}};
    const std::vector<series> whole = alternate(ways, given.rounds(60));
    for (MPI_Request& each : requests) MPI_Request_free(&each);

    out.add(whole[1]);
    out.add(whole[0], whole[1], {});
    out.add(whole[2], whole[1], {});
    count_calls_of_starts(out, here.cores().compute);
    out.publish(given.json_file);
}

} // namespace

int main(int argc, char** argv) {
    return run_benchmark(argc, argv, "What doing the same communication again costs, by a plan.", ask);
}
