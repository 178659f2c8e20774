// SPDX-License-Identifier: Apache-2.0
//
// The way of tasks: everything of an access is posted when it starts, and its end is waited for. Measured where MPI is quicker, with
// one thread at a time in it.
#include "harness/answers.h"
#include "harness/clock.h"
#include "harness/report.h"
#include "rma/way.h"

#include <commtask/commtask.h>

#include <array>
#include <stdexcept>
#include <vector>

namespace commtask::bench::rma {
namespace {

void require(int code, const char* what) {
    if (code < 0) throw std::runtime_error(std::string(what) + ": " + commtask_last_error());
}

[[nodiscard]] commtask_t post(const commtask_op& op, commtask_t after = COMMTASK_NULL) {
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.after = &after;
    how.n_after = 1;
    commtask_t task = COMMTASK_NULL;
    require(commtask_post_operation(&op, after == COMMTASK_NULL ? nullptr : &how, &task), "commtask_post");
    return task;
}
void let_go(commtask_t task) { require(commtask_release(&task), "commtask_release"); }
void wait(commtask_t& task) { require(commtask_wait(&task, nullptr), "commtask_wait"); }
void run(const commtask_op& op) {
    commtask_t task = post(op);
    wait(task);
}

class by_tasks final : public way {
public:
    explicit by_tasks(const std::string& question) {
        int level = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        int n_ranks = 0;
        MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
        if (n_ranks != 2 || level < MPI_THREAD_SERIALIZED)
            throw std::runtime_error(question + " needs two ranks and its thread level");
        require(commtask_init(nullptr), "commtask_init");
    }
    ~by_tasks() override {
        static_cast<void>(commtask_finalize());
        MPI_Finalize();
    }

    [[nodiscard]] int rank() const override { return rank_; }
    void barrier() override { run(commtask_op_barrier(MPI_COMM_WORLD)); }
    void share(double& value) override { run(commtask_op_bcast(&value, 1, MPI_DOUBLE, origin, MPI_COMM_WORLD)); }
    void open(MPI_Win window) override {
        window_ = window;
        require(commtask_win_register(window, MPI_COMM_WORLD), "commtask_win_register");
    }
    void close() override { require(commtask_win_unregister(window_), "commtask_win_unregister"); }

    void start(kind what, char* buffer, int bytes) override {
        const commtask_op put = commtask_op_put(buffer, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, window_);
        switch (what) {
        case kind::put: return start_and_flush(put);
        case kind::get:
            last_ = post(commtask_op_get(buffer, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, window_));
            return;
        case kind::accumulate:
            return start_and_flush(commtask_op_accumulate(buffer, bytes / 8, MPI_INT64_T, target, 0, bytes / 8,
                                                          MPI_INT64_T, MPI_SUM, window_));
        }
    }
    void finish(kind /*what*/) override { wait(last_); }
    /// From one rank to the other and back, in halves.
    template <typename Send, typename Receive>
    [[nodiscard]] std::vector<double> hops(Send send, Receive receive, int n_samples) {
        std::vector<double> us;
        barrier();
        for (int i = -n_samples; i < n_samples; ++i) { // as many to warm up
            const std::uint64_t begin = ticks();
            if (rank_ == origin) run(send(target));
            run(receive(1 - rank_));
            if (rank_ == target) run(send(origin));
            if (i >= 0) us.push_back(ns_between(begin, ticks()) / 2e3);
        }
        return us;
    }

private:
    void start_and_flush(const commtask_op& op) {
        const commtask_t started = post(op);
        last_ = post(commtask_op_flush(target, window_), started);
        let_go(started);
    }

    int rank_ = 0;
    MPI_Win window_ = MPI_WIN_NULL;
    commtask_t last_ = COMMTASK_NULL;
};

} // namespace

std::unique_ptr<way> make_way(const std::string& question) { return std::make_unique<by_tasks>(question); }

/// "hops": a put with its notification, and a message of the same size. They take no time, so there are many.
bool ask_more(way& by, const std::string& question, int n_samples, const std::string& json_file) {
    if (question != "hops") return false;
    auto& tasks = dynamic_cast<by_tasks&>(by);
    constexpr int most_bytes = 64 << 10;
    const int n_hops = 10 * n_samples;
    std::vector<char> buffer(most_bytes);
    MPI_Win window = MPI_WIN_NULL;
    char* exposed = nullptr;
    MPI_Win_allocate(most_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&exposed), &window);
    answers out;
    for (const int bytes : {8, most_bytes}) {
        const std::string of = " of " + std::to_string(bytes) + " B";
        out.add(
            "message" + of, "us",
            tasks.hops([&](int to) { return commtask_op_send(buffer.data(), bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD); },
                       [&](int from) { return commtask_op_recv(exposed, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD); },
                       n_hops));
        tasks.open(window);
        const auto put = [&](int to) {
            return commtask_op_put_notify(buffer.data(), bytes, MPI_BYTE, to, 0, bytes, MPI_BYTE, 1, window);
        };
        const auto await = [&](int from) { return commtask_op_await_notify(1, 1, from, window); };
        out.add("put_notify" + of, "us", tasks.hops(put, await, n_hops));
        tasks.close();
    }
    MPI_Win_free(&window);
    if (by.rank() != origin) return true;
    if (const std::string why = write_document(out.document(), json_file); !why.empty())
        throw std::runtime_error("cannot write " + json_file + ": " + why);
    return true;
}

} // namespace commtask::bench::rma
