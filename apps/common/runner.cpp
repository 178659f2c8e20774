// SPDX-License-Identifier: Apache-2.0
// The modes with a barrier after each stage. Items are handed out by counters, so a master that comes late, because it posts
// first, simply computes fewer. Baseline's master calls MPI; offload's leaves that to the worker, and there is a core less to
// compute with.
#include "common/runner.hpp"

#include "common/report.hpp"
#include "common/runtime_session.hpp"
#include "common/self_progress.hpp"

#include <atomic>
#include <limits>
#include <omp.h>
#include <utility>

namespace miniapp {

runner::runner(const item_list& on, int compute_threads, bool is_graph)
    : list_(on), n_threads_(compute_threads), is_graph_(is_graph), core_(compute_threads), other_(compute_threads) {}

phase_times runner::run(int n_stages) {
    core_ = other_ = work_times(n_threads_);
    phase_times times;
    times.total = seconds_of([&] { carry_out(n_stages, times); });
    times.internal = core_.sum() / n_threads_;
    times.external = other_.sum() / n_threads_;
    if (!is_graph_) return times;
    times.post /= n_threads_;
    times.wait = std::max(0.0, times.total - times.internal - times.external - times.post);
    return times;
}

namespace {

class task_messages {
public:
    void start(item_list::group some) { post(some, tasks_); }
    void wait() {
        require(commtask_wait_all(tasks_.size(), tasks_.data(), nullptr), "commtask_wait_all");
        tasks_.clear();
    }
    void after_core() {}

private:
    std::vector<commtask_t> tasks_;
};

class probing_messages : public mpi_messages {
public:
    probing_messages(MPI_Comm comm, int every) : comm_(comm), every_(every) {}
    void after_core() {
        if (++n_done_ % every_ != 0) return;
        int found = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE);
    }

private:
    MPI_Comm comm_;
    int every_;
    int n_done_ = 0;
};

class self_messages : public mpi_messages {
    self_progress progress_;
};

class plain final : public runner {
public:
    explicit plain(const item_list& on) : runner(on, 1, false) {}

private:
    void carry_out(int n_stages, phase_times& times) override {
        for (int stage = 0; stage < n_stages; ++stage) {
            bool is_waited_for = true;
            for (const item_list::group some : list().parts(stage)) {
                if (some.empty()) continue;
                if (some.front().is_message()) {
                    times.post += seconds_of([&] { messages_.start(some); });
                    continue;
                }
                if (some.front().when >= part::core && std::exchange(is_waited_for, false))
                    times.wait += seconds_of([this] { messages_.wait(); });
                for (const item& each : some) work(each, 0);
            }
        }
    }

    mpi_messages messages_;
};

template <class Messages>
class fork_join final : public runner {
public:
    template <class... Args>
    fork_join(const item_list& on, int compute_threads, const part_order& order, Args... of_messages)
        : runner(on, compute_threads, false), order_(order), messages_(of_messages...) {}

private:
    /// Of the parts of a stage.
    using counters = std::array<std::atomic<std::size_t>, n_parts>;

    void carry_out(int n_stages, phase_times& times) override {
        // The next stage's are reset while no thread may look: a barrier ends each stage.
        std::array<counters, 2> drawn{};
#pragma omp parallel num_threads(compute_threads())
        for (int stage = 0; stage < n_stages; ++stage) {
            const int thread = omp_get_thread_num();
            const auto wait = [&] { times.wait += seconds_of([this] { messages_.wait(); }); };
            if (thread == 0) std::ranges::fill(drawn[(stage + 1) % 2], 0);
            // What the master waits for does not keep the others from the core, nor from the end of it.
            bool is_waited_for = !list().of(stage, part::edge).empty();
            for (const part when : order_) {
                const item_list::group some = list().of(stage, when);
                if (some.empty()) continue;
                if (some.front().is_message()) {
                    if (thread == 0) times.post += seconds_of([&] { messages_.start(some); });
                    is_waited_for = true;
                    continue;
                }
                if (when == part::edge) {
                    if (thread == 0) wait();
                    for (std::size_t k = 0; k < some.size() && thread == 0; ++k) work(some[k], thread);
                } else {
                    if (when == part::unpack || (when == part::shell && is_waited_for)) {
                        if (thread == 0) wait();
                        is_waited_for = false;
#pragma omp barrier
                    }
                    // relaxed: the counter only shares out; the barriers order the data.
                    auto& next = drawn[stage % 2][static_cast<int>(when)];
                    for (std::size_t k = 0; (k = next.fetch_add(1, std::memory_order_relaxed)) < some.size();) {
                        work(some[k], thread);
                        if (thread == 0 && when == part::core) messages_.after_core();
                    }
                }
                if (when != part::core || !is_waited_for) {
#pragma omp barrier
                }
            }
        }
    }

    part_order order_;
    Messages messages_;
};

} // namespace

void mpi_messages::start(item_list::group some) {
    for (const item& each : some) {
        each.through->natively(&requests_.emplace_back(MPI_REQUEST_NULL));
        open_.push_back(&*each.through);
    }
}

void mpi_messages::wait() {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
    for (const message* each : open_) {
        if (each->then) each->then();
    }
    open_.clear();
}

void post(item_list::group messages, std::vector<commtask_t>& tasks) {
    for (const item& each : messages) {
        if (each.through->what == message::kind::let_go) {
            each.through->natively(nullptr);
            continue;
        }
        commtask_options options = COMMTASK_OPTIONS_INIT;
        // What it comes after among them is the one before it.
        if (&each != &messages.front() && std::ranges::count(each.after, (&each - 1)->id) > 0) {
            options.after = &tasks.back();
            options.n_after = 1;
        }
        commtask_t task = COMMTASK_NULL;
        require(commtask_post_operation(&each.through->operation, &options, &task), "commtask_post");
        tasks.push_back(task);
    }
}

std::unique_ptr<runner> make_plain(const item_list& on, int /*n_cores*/) { return std::make_unique<plain>(on); }

std::unique_ptr<runner> make_baseline(const item_list& on, int n_cores) {
    return std::make_unique<fork_join<mpi_messages>>(on, n_cores, usual_order);
}

std::unique_ptr<runner> make_iprobe(const item_list& on, int n_cores, MPI_Comm comm, int every) {
    return std::make_unique<fork_join<probing_messages>>(on, n_cores, usual_order, comm, every);
}

std::unique_ptr<runner> make_commself(const item_list& on, int n_cores) {
    return std::make_unique<fork_join<self_messages>>(on, beside_one(n_cores), usual_order);
}

std::unique_ptr<runner> make_offload(const item_list& on, int n_cores) {
    return make_offload_in_order(on, n_cores, usual_order);
}

std::unique_ptr<runner> make_offload_in_order(const item_list& on, int n_cores, const part_order& order) {
    return std::make_unique<fork_join<task_messages>>(on, beside_one(n_cores), order);
}

double message_seconds(const item_list& of, MPI_Comm comm) {
    constexpr int n_rounds = 10;
    mpi_messages messages;
    double best = std::numeric_limits<double>::max();
    for (int k = 0; k < n_rounds; ++k) {
        MPI_Barrier(comm);
        best = std::min(best, seconds_of([&] {
                            for (int stage = 0; stage < of.n_stages(); ++stage) {
                                for (const part when : {part::receive, part::send}) messages.start(of.of(stage, when));
                                messages.wait();
                            }
                        }));
    }
    return largest_of(best, comm) / of.n_stages();
}

std::span<const mode> modes() {
    static constexpr std::array table{
        mode{{"baseline", MPI_THREAD_FUNNELED, false}, make_baseline},
        mode{{"offload", MPI_THREAD_SERIALIZED, true}, make_offload},
        mode{{"omp", MPI_THREAD_SERIALIZED, true}, make_omp},
#if MINIAPP_HAS_TBB
        mode{{"tbb", MPI_THREAD_SERIALIZED, true}, make_tbb},
#endif
    };
    return table;
}

} // namespace miniapp
