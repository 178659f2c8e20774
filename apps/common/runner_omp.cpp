// SPDX-License-Identifier: Apache-2.0
// Mode omp: items as OpenMP tasks, messages as communication tasks, whatever they travel by. An item depends on those that it
// must wait for by address, so there is no barrier between stages: one thing is computed on while others still wait for
// messages. The price is a task for every item, which small items feel.
#include "common/runner.hpp"
#include "common/runtime_session.hpp"

#include <commtask/omp.h>

#include <array>
#include <omp.h>

namespace miniapp {

namespace {

/// How many may be created before the oldest of them has its messages.
constexpr int rounds_ahead = 4;
enum : int { compute_priority, unpack_priority, pack_priority, message_priority };

class omp_runner final : public runner {
public:
    omp_runner(const item_list& on, int compute_threads)
        : runner(on, compute_threads, true), ended_(on.items().size()) {
        require(commtask_omp_check(), "commtask_omp_check");
    }

private:
    void carry_out(int n_stages, phase_times& times) override {
        int code = COMMTASK_OK;
        const int n_messages = list().n_messages();
#pragma omp parallel num_threads(compute_threads())
#pragma omp single
#pragma omp taskgroup
        {
            for (int stage = 0; stage < n_stages && code == COMMTASK_OK; ++stage) {
                auto parts = list().parts(stage);
                // libomp runs what a task releases at once in a team of one, the last created first: messages, which others
                // wait for, must not come after all of a core that is ready.
                if (compute_threads() == 1 && !list().of(stage, part::edge).empty())
                    std::rotate(&parts[0], &parts[static_cast<int>(part::core)], &parts[static_cast<int>(part::edge)]);
                for (const item_list::group some : parts) {
                    for (std::size_t k = 0; k < some.size() && code == COMMTASK_OK; ++k) {
                        if (some[k].is_message()) {
                            times.post += seconds_of([&] { code = create_message(some[k]); });
                        } else {
                            create(some[k]);
                        }
                    }
                }
                if ((stage + 1) % list().n_stages() != 0 || code != COMMTASK_OK) continue;
                code = commtask_omp_wait_some(static_cast<std::size_t>(rounds_ahead * n_messages));
                // Without messages that says nothing: a rank alone must not have the tasks of all rounds in memory.
                if (n_messages == 0 && (stage + 1) % (rounds_ahead * list().n_stages()) == 0) {
#pragma omp taskwait
                }
            }
            // A rank that has one core for everything drives MPI itself, instead of waiting for the worker's turn.
            if (code == COMMTASK_OK) code = commtask_omp_wait_all();
        }
        require(code, "OpenMP tasks");
        if (commtask_omp_error_count() == 0) return;
        std::array<char, 512> text{};
        commtask_omp_first_error(text.data(), text.size());
        throw std::runtime_error(std::string("a message failed: ") + text.data());
    }

    void set_from(const item& what) {
        from_.clear();
        for (const int other : what.after) from_.push_back(&ended_[other]);
    }

    int create_message(const item& what) {
        set_from(what);
        const void* const mine = &ended_[what.id];
        commtask_omp_options options = COMMTASK_OMP_OPTIONS_INIT;
        options.priority = message_priority;
        // What COMM_TASK(operation(...), in(...), out(...)) calls.
        return commtask_omp_spawn(&what.through->operation, &options, from_.size(),
                                  reinterpret_cast<const void* const*>(from_.data()), 1, &mine, 0, nullptr);
    }

    void create(const item& of) {
        set_from(of);
        const item* const what = &of;
        const char* const* const from = from_.data();
        const int n_from = static_cast<int>(from_.size());
        const char* const mine = &ended_[of.id];
        const bool feeds_messages = of.when == part::prepare || of.when == part::edge;
        const int priority = feeds_messages            ? pack_priority
                             : of.when == part::unpack ? unpack_priority
                                                       : compute_priority;
#pragma omp task firstprivate(what) priority(priority) depend(iterator(k = 0 : n_from), in : *from[k])                 \
    depend(out : *mine)
        {
            work(*what, omp_get_thread_num());
            commtask_omp_progress(); // on a core that the worker shares messages move
        }
    }

    std::vector<char> ended_;       ///< Addresses that stand for items.
    std::vector<const char*> from_; ///< Of the thread that creates tasks.
};

} // namespace

std::unique_ptr<runner> make_omp(const item_list& on, int n_cores) {
    return std::make_unique<omp_runner>(on, beside_one(n_cores));
}

} // namespace miniapp
