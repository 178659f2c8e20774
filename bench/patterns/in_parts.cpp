// SPDX-License-Identifier: Apache-2.0
//
// Parts are filled by somebody who is not on this core: by a timed sleep.
// So nothing but the messages takes processor time, and what is late is late because of them.
#include "patterns/in_parts.h"

#include "harness/clock.h"
#include "harness/session.h"

#include <time.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace commtask::bench {
namespace {

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

} // namespace

std::string bytes_text(int bytes) {
    return bytes < 1024 ? std::to_string(bytes) + " B" : std::to_string(bytes >> 10) + " KiB";
}

void ask_parts(report& out, place here, int whole_bytes, std::size_t n_rounds) {
    std::vector<std::unique_ptr<in_parts>> sizes;
    std::vector<side> sides;
    for (int bytes = whole_bytes; bytes >= std::max(8 << 10, whole_bytes / 128); bytes /= 2) {
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

} // namespace commtask::bench
