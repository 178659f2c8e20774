// SPDX-License-Identifier: Apache-2.0
//
// The lists live as long as the process, since a task may outlive the thread that made it. Who lists them holds one lock at a
// time, and calls nothing that could come back here.
#include "waiting.hpp"

#include <commtask/unfinished.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>

namespace commtask::omp {

class waiting_list {
public:
    waiting_list() = default;
    waiting_list(const waiting_list&) = delete;
    waiting_list& operator=(const waiting_list&) = delete;

    void add(waiting_task& made) noexcept {
        const std::scoped_lock guard(lock_);
        made.of = this;
        made.previous = nullptr;
        made.next = first_;
        if (first_ != nullptr) {
            first_->previous = &made;
        }
        first_ = &made;
        ++size_;
    }

    void remove(const waiting_task& ended) noexcept {
        const std::scoped_lock guard(lock_);
        (ended.previous != nullptr ? ended.previous->next : first_) = ended.next;
        if (ended.next != nullptr) {
            ended.next->previous = ended.previous;
        }
        --size_;
    }

    std::size_t list(commtask_unfinished_add add, void* to) const noexcept {
        const std::scoped_lock guard(lock_);
        for (const waiting_task* each = first_; add != nullptr && each != nullptr; each = each->next) {
            add(to, each->operation, each->since_ns, where(*each).text);
        }
        return size_;
    }

    waiting_list* next = nullptr; ///< In the list of all.

private:
    struct sentence {
        char text[256];
    };

    static sentence where(const waiting_task& which) noexcept {
        sentence made{};
        if (which.where.file == nullptr) {
            std::snprintf(made.text, sizeof made.text, "for the dependences of its OpenMP task");
        } else {
            const char* const slash = std::strrchr(which.where.file, '/');
            std::snprintf(made.text, sizeof made.text, "for the dependences of its OpenMP task, made at %s:%d",
                          slash != nullptr ? slash + 1 : which.where.file, which.where.line);
        }
        return made;
    }

    mutable std::mutex lock_;
    waiting_task* first_ = nullptr;
    std::size_t size_ = 0;
};

namespace {

std::mutex lock_of_all;
waiting_list* first_of_all = nullptr;

std::size_t list_all(commtask_unfinished_add add, void* to) {
    const std::scoped_lock guard(lock_of_all);
    std::size_t count = 0;
    for (const waiting_list* each = first_of_all; each != nullptr; each = each->next) {
        count += each->list(add, to);
    }
    return count;
}

waiting_list& my_list() {
    thread_local waiting_list* const mine = [] {
        auto* const made = new waiting_list;
        const std::scoped_lock guard(lock_of_all);
        if (first_of_all == nullptr) {
            commtask_unfinished_from(&list_all);
        }
        made->next = first_of_all;
        first_of_all = made;
        return made;
    }();
    return *mine;
}

} // namespace

void begin_waiting(waiting_task& made, const commtask_op& operation, source_place where) noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    made.operation = &operation;
    made.where = where;
    made.since_ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
    my_list().add(made);
}

void end_waiting(waiting_task& ended) noexcept { ended.of->remove(ended); }

} // namespace commtask::omp
