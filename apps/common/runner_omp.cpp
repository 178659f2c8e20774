// SPDX-License-Identifier: Apache-2.0
// Mode omp: items as OpenMP tasks, messages as communication tasks, whatever they travel by. An item depends on those that it
// must wait for by address, so there is no barrier between stages: one thing is computed on while others still wait for
// messages. The price is a task for every item, which small items feel. Messages are comm clauses where the compiler has the plugin.
#include "common/runner.hpp"
#include "common/runtime_session.hpp"

#include <commtask/omp.h>

#include <algorithm>
#include <array>
#include <omp.h>

namespace miniapp {

namespace {

/// How many may be created before the oldest of them has its messages.
constexpr int rounds_ahead = 4;
constexpr part_order core_first{part::core, part::receive, part::shell, part::prepare,
                                part::send, part::edge,    part::unpack};
/// Where no edge waits for the messages.
constexpr part_order core_second{part::receive, part::core, part::shell, part::prepare,
                                 part::send,    part::edge, part::unpack};
enum : int { compute_priority, reading_priority, pack_priority, message_priority };

class omp_runner final : public runner {
public:
    omp_runner(const item_list& on, int compute_threads) : runner(on, compute_threads, true) {
        require(commtask_omp_check(), "commtask_omp_check");
        for (std::vector<char>& of_round : ended_) of_round.resize(on.items().size());
        // libomp runs what a task releases at once in a team of one, the last created first: messages, which others wait
        // for, must not come after all of a core that is ready. A larger team puts it on a stack.
        const part_order& early = on.of(0, part::edge).empty() ? core_second : core_first;
        if (compute_threads == 1 && is_possible(early)) order_ = early;
        for (const item& each : on.items()) first_priority_ = std::max(first_priority_, priority_of(each) + 1);
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
                const int round = stage / list().n_stages();
                for (const part when : order_) {
                    const item_list::group some = list().of(stage, when);
                    for (std::size_t k = 0; k < some.size() && code == COMMTASK_OK; ++k) {
                        set_from(some[k], round);
                        if (some[k].is_message()) {
                            times.post += seconds_of([&] { code = create_message(some[k], round); });
                        } else {
                            create(some[k], round);
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
        commtask_omp_clear_errors(); // of this run: the next one's are its own
        throw std::runtime_error(std::string("a message failed: ") + text.data());
    }

    /// Each item comes behind those of its stage that it waits for.
    bool is_possible(const part_order& order) const {
        const auto place = [&](const item& of) { return std::ranges::find(order, of.when); };
        return std::ranges::all_of(list().items(), [&](const item& each) {
            return std::ranges::all_of(each.after, [&](int other) {
                const item& first = list().items()[other];
                return first.stage != each.stage || first.when == each.when || place(first) < place(each);
            });
        });
    }

    int priority_of(const item& of) const {
        if (of.urgency >= 0) return of.urgency;
        if (of.when == part::prepare || of.when == part::edge) return pack_priority;
        const part reads_messages = list().of(of.stage, part::unpack).empty() ? part::shell : part::unpack;
        return of.when == reads_messages ? reading_priority : compute_priority;
    }

    const char* ended(int id, int round) const { return &ended_[round % 2][id]; }

    void set_from(const item& what, int round) {
        from_.clear();
        for (const int other : what.after) from_.push_back(ended(other, round));
        for (const int other : what.before) from_.push_back(ended(other, round + 1));
    }

    int create_message(const item& what, int round) {
        const char* const mine = ended(what.id, round);
        const commtask_op* const through = &what.through->operation;
#if COMMTASK_HAVE_CLAUSE
        const char* const* const from = from_.data();
        const int n_from = static_cast<int>(from_.size());
        if (what.through->what == message::kind::receive) {
#pragma omp task depend(iterator(k = 0 : n_from), in : *from[k]) depend(out : *mine) priority(first_priority_)         \
    comm(recv : const_cast<void*>(through -> recv.buffer), through->recv.count, through->recv.type, through->source,   \
             through->recv_tag, through->comm)
            return COMMTASK_OK;
        }
        if (what.through->what == message::kind::send) {
#pragma omp task depend(iterator(k = 0 : n_from), in : *from[k]) depend(out : *mine) priority(first_priority_)         \
    comm(send : through -> send.buffer, through->send.count, through->send.type, through->peer, through->send_tag,     \
             through->comm)
            return COMMTASK_OK;
        }
#endif
        commtask_omp_options options = COMMTASK_OMP_OPTIONS_INIT;
        options.priority = first_priority_;
        // What COMM_TASK(operation(...), in(...), out(...)) calls.
        const void* const place = mine;
        return commtask_omp_spawn(through, &options, from_.size(), reinterpret_cast<const void* const*>(from_.data()),
                                  1, &place, 0, nullptr);
    }

    void create(const item& of, int round) {
        const item* const what = &of;
        const char* const* const from = from_.data();
        const int n_from = static_cast<int>(from_.size());
        const char* const mine = ended(of.id, round);
        const int priority = priority_of(of);
#pragma omp task firstprivate(what) priority(priority) depend(iterator(k = 0 : n_from), in : *from[k])                 \
    depend(out : *mine)
        {
            work(*what, omp_get_thread_num());
            commtask_omp_progress(); // on a core that the worker shares messages move
        }
    }

    /// Addresses that stand for items, in even rounds and in odd ones.
    std::array<std::vector<char>, 2> ended_;
    std::vector<const char*> from_; ///< Of the thread that creates tasks.
    part_order order_ = usual_order;
    int first_priority_ = message_priority;
};

} // namespace

std::unique_ptr<runner> make_omp(const item_list& on, int n_cores) {
    return std::make_unique<omp_runner>(on, beside_one(n_cores));
}

} // namespace miniapp
