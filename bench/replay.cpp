// SPDX-License-Identifier: Apache-2.0
//
// Question: what does doing the same communication again cost, by a plan? The poster's side: starting plans of 1, 16 and 64
// messages, eight in a row as `post` does it, against one post. Goal: at most 1.2 of it, whatever the plan's size. And all of
// it, for 16 messages of 8 bytes to this rank: a plan, its posts one by one, and MPI's own persistent requests by the same
// thread without commtask's worker in between.
#include <algorithm>
#include <memory>

#include "harness/alternate.h"
#include "harness/clock.h"
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
    int start(commtask_t* run) { return commtask_plan_start(plan_, nullptr, run); }

private:
    commtask_plan_t plan_ = COMMTASK_PLAN_NULL;
};

/// Gives the worker the time to finish what follows a completion and to be watching its queue again.
void pause_2_us() {
    const std::uint64_t begin = ticks();
    while (ns_between(begin, ticks()) < 2000) {}
}

/// One sample per burst of eight calls of `begin(i, task)`. The first two bursts of a round wake the worker and are not counted.
template <typename Begin>
void sample_bursts(int n_bursts, round_samples& out, Begin&& begin) {
    for (int turn = -2; turn < n_bursts; ++turn) {
        std::array<commtask_t, burst> tasks{};
        int worst = COMMTASK_OK;
        pause_2_us();
        const std::uint64_t first = ticks();
        for (int i = 0; i < burst; ++i) worst = std::min(worst, begin(i, &tasks[static_cast<std::size_t>(i)]));
        const std::uint64_t last = ticks();
        require(worst, "a start or a post");
        if (turn >= 0) out.push_back(ns_between(first, last) / burst);
        require(commtask_wait_all(burst, tasks.data(), -1, nullptr), "commtask_wait_all");
    }
}

/// Eight plans of a size, and one round of starting them.
class starting {
public:
    explicit starting(int n_messages) {
        for (int i = 0; i < burst; ++i) {
            exchanges_.push_back(std::make_unique<exchange>(n_messages, i * n_messages));
            plans_.push_back(std::make_unique<recorded>(*exchanges_.back()));
        }
    }
    void operator()(round_samples& out) {
        sample_bursts(100, out,
                      [&](int i, commtask_t* run) { return plans_[static_cast<std::size_t>(i)]->start(run); });
    }

private:
    std::vector<std::unique_ptr<exchange>> exchanges_;
    std::vector<std::unique_ptr<recorded>> plans_;
};

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
    exchange single(1, 0);
    starting of_1(1);
    starting of_16(n_messages);
    starting of_64(64);
    const std::array posters{
        side{.name = "one post",
             .unit = "ns",
             .measure =
                 [&](round_samples& out) {
                     sample_bursts(100, out, [&](int, commtask_t* task) {
                         const commtask_op op = single.operation(0);
                         return commtask_post(&op, nullptr, task);
                     });
                 }},
        side{.name = "start of a plan of 1", .unit = "ns", .measure = [&](round_samples& out) { of_1(out); }},
        side{.name = "start of a plan of 16", .unit = "ns", .measure = [&](round_samples& out) { of_16(out); }},
        side{.name = "start of a plan of 64", .unit = "ns", .measure = [&](round_samples& out) { of_64(out); }}};
    const std::vector<series> calls = alternate(posters, given.rounds(60));

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

    report out("replay", "one rank", here.machine());
    const goal as_one_post{.of = goal::field::ratio, .kind = goal::bound::at_most, .limit = 1.2};
    out.add(calls[0]);
    for (std::size_t i = 1; i < calls.size(); ++i) out.add(calls[i], calls[0], {as_one_post});
    out.add(whole[1]);
    out.add(whole[0], whole[1], {});
    out.add(whole[2], whole[1], {});
    out.publish(given.json_file);
}

} // namespace

int main(int argc, char** argv) {
    return run_benchmark(argc, argv, "What doing the same communication again costs, by a plan.", ask);
}
