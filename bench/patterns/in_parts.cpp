// SPDX-License-Identifier: Apache-2.0
//
// Parts are filled by somebody who is not on this core: by a timed sleep.
// So nothing but the messages takes processor time, and what is late is late because of them.
#include "patterns/in_parts.h"

#include "harness/clock.h"
#include "harness/session.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace commtask::bench {
namespace {

constexpr int n_parts = 64;

void record(const commtask_op& op) { require(commtask_post(&op, nullptr, nullptr), "commtask_post"); }

/// A buffer of which a 64th is filled every 20 us, by somebody who is not on this core. Each rank sends one and receives one.
class filled_in_parts {
public:
    filled_in_parts(const filled_in_parts&) = delete;
    filled_in_parts& operator=(const filled_in_parts&) = delete;
    virtual ~filled_in_parts() { commtask_plan_release(&plan_); }

    /// Once: microseconds until the last byte has come on every rank.
    double run() {
        MPI_Barrier(MPI_COMM_WORLD);
        const std::uint64_t begin = ticks();
        commtask_t run = COMMTASK_NULL;
        require(commtask_plan_start(plan_, nullptr, &run), "commtask_plan_start");
        for (int part = 0; part < n_parts; ++part) {
            sleep_for(20'000);
            is_filled(part);
        }
        require(commtask_wait(&run, nullptr), "commtask_wait");
        return latest_of_all(ns_between(begin, ticks()) / 1e3);
    }

protected:
    explicit filled_in_parts(int whole_bytes)
        : out_(static_cast<std::size_t>(whole_bytes), 'x'), in_(static_cast<std::size_t>(whole_bytes), 'x') {}
    virtual void is_filled(int part) = 0;

    std::vector<char> out_;
    std::vector<char> in_;
    commtask_plan_t plan_ = COMMTASK_PLAN_NULL;
};

/// It leaves in messages of a size.
class in_groups final : public filled_in_parts {
public:
    in_groups(place here, int whole_bytes, int group_bytes)
        : filled_in_parts(whole_bytes), n_groups_(whole_bytes / group_bytes) {
        require(commtask_record_begin(), "commtask_record_begin");
        for (const bool is_received : {true, false}) {
            for (int i = 0; i < n_groups_; ++i) {
                const std::size_t at = static_cast<std::size_t>(i) * static_cast<std::size_t>(group_bytes);
                record(is_received ? commtask_op_recv(&in_[at], group_bytes, MPI_BYTE, here.at(-1), i, MPI_COMM_WORLD)
                                   : commtask_op_send(&out_[at], group_bytes, MPI_BYTE, here.at(1), i, MPI_COMM_WORLD));
            }
        }
        require(commtask_record_end(&plan_), "commtask_record_end");
        for (int i = 0; i < n_groups_; ++i) require(commtask_plan_hold(plan_, member(i)), "commtask_plan_hold");
    }

private:
    void is_filled(int part) override {
        for (int i = part * n_groups_ / n_parts; i < (part + 1) * n_groups_ / n_parts; ++i) {
            require(commtask_plan_ready(plan_, member(i)), "commtask_plan_ready");
        }
    }
    [[nodiscard]] std::size_t member(int group) const { return static_cast<std::size_t>(n_groups_ + group); }

    int n_groups_;
};

/// It leaves as a psend has it leave.
class by_psend final : public filled_in_parts {
public:
    by_psend(place here, int whole_bytes) : filled_in_parts(whole_bytes) {
        const int part_bytes = whole_bytes / n_parts;
        require(commtask_record_begin(), "commtask_record_begin");
        record(commtask_op_precv(in_.data(), n_parts, part_bytes, MPI_BYTE, here.at(-1), 0, MPI_COMM_WORLD));
        record(commtask_op_psend(out_.data(), n_parts, part_bytes, MPI_BYTE, here.at(1), 0, MPI_COMM_WORLD));
        require(commtask_record_end(&plan_), "commtask_record_end");
    }

private:
    void is_filled(int part) override {
        require(commtask_plan_partitions_ready(plan_, 1, part, 1), "commtask_plan_partitions_ready");
    }
};

} // namespace

std::string bytes_text(int bytes) {
    return bytes < 1024 ? std::to_string(bytes) + " B" : std::to_string(bytes >> 10) + " KiB";
}

void ask_parts(report& out, place here, int whole_bytes, std::size_t n_rounds) {
    std::vector<std::unique_ptr<filled_in_parts>> ways;
    std::vector<side> sides;
    const auto add = [&](std::unique_ptr<filled_in_parts> made, const std::string& how) {
        filled_in_parts& mine = *ways.emplace_back(std::move(made));
        sides.push_back({.name = bytes_text(whole_bytes) + " filled in 64 parts, " + how,
                         .unit = "us",
                         .measure = [&mine](round_samples& samples) {
                             for (int i = 0; i < 3; ++i) samples.push_back(mine.run());
                         }});
    };
    for (int bytes = whole_bytes; bytes >= std::max(8 << 10, whole_bytes / 128); bytes /= 2) {
        add(std::make_unique<in_groups>(here, whole_bytes, bytes), "messages of " + bytes_text(bytes));
    }
    add(std::make_unique<by_psend>(here, whole_bytes), "by a psend");
    const std::vector<series> all = alternate(sides, n_rounds);
    out.add(all[0]);
    for (std::size_t i = 1; i < all.size(); ++i) out.add(all[i], all[0]);
}

} // namespace commtask::bench
