// SPDX-License-Identifier: Apache-2.0
//
// The lists exist as long as the process, since a task may outlive the thread that created it. A
// thread that reads all lists locks the mutex of all lists and one list's mutex at a time; it calls
// nothing that could return here.
#include "waiting.hpp"

#include <commtask/frontend.h>

#include <atomic>
#include <ctime>
#include <mutex>
#include <new>

namespace commtask::omp {

/// The link of a prepared task. Never freed: copies of the prepared task may use it later, when it
/// belongs to another task.
struct waiting_copy : waiting_task {
    commtask_op copied;
    commtask_retained_t kept;
    std::uint64_t number; ///< The number of its task; 0: none.
    waiting_copy* next_free;
};

class waiting_list {
public:
    waiting_list() = default;
    waiting_list(const waiting_list&) = delete;
    waiting_list& operator=(const waiting_list&) = delete;

    void add(waiting_task& made) noexcept {
        const std::scoped_lock guard(lock_);
        link(made);
    }

    void remove(const waiting_task& ended) noexcept {
        const std::scoped_lock guard(lock_);
        unlink(ended);
    }

    /// @return null if memory is exhausted
    [[nodiscard]] waiting_copy* add_copy(const commtask_op& operation, source_place where, std::uint64_t since_ns,
                                         commtask_retained_t kept) noexcept {
        const std::scoped_lock guard(lock_);
        waiting_copy* const made = first_free_ != nullptr ? first_free_ : new (std::nothrow) waiting_copy;
        if (made == nullptr) {
            return nullptr;
        }
        if (made == first_free_) {
            first_free_ = made->next_free;
        }
        made->copied = operation;
        made->operation = &made->copied;
        made->where = where;
        made->since_ns = since_ns;
        made->kept = kept;
        made->number = ++last_number_;
        link(*made);
        return made;
    }

    /// @return the kept data of its operation
    [[nodiscard]] commtask_retained_t remove_copy(waiting_copy& ended, std::uint64_t number) noexcept {
        const std::scoped_lock guard(lock_);
        if (ended.number != number) {
            return nullptr;
        }
        unlink(ended);
        ended.number = 0;
        ended.next_free = first_free_;
        first_free_ = &ended;
        return ended.kept;
    }

    std::size_t list(commtask_frontend_add tell, void* to) const noexcept {
        const std::scoped_lock guard(lock_);
        for (const waiting_task* each = first_; tell != nullptr && each != nullptr; each = each->next) {
            tell(to, each->operation, each->since_ns, each->where.file, each->where.line,
                 "for the dependences of its OpenMP task");
        }
        return size();
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

    waiting_list* next = nullptr; ///< In the list of all lists.

private:
    void link(waiting_task& made) noexcept {
        made.of = this;
        made.previous = nullptr;
        made.next = first_;
        if (first_ != nullptr) {
            first_->previous = &made;
        }
        first_ = &made;
        size_.store(size() + 1, std::memory_order_relaxed);
    }

    void unlink(const waiting_task& ended) noexcept {
        (ended.previous != nullptr ? ended.previous->next : first_) = ended.next;
        if (ended.next != nullptr) {
            ended.next->previous = ended.previous;
        }
        size_.store(size() - 1, std::memory_order_relaxed);
    }

    mutable std::mutex lock_;
    waiting_task* first_ = nullptr;
    /// Written with the mutex locked; approximate for other readers.
    std::atomic<std::size_t> size_{0};
    waiting_copy* first_free_ = nullptr;
    std::uint64_t last_number_ = 0;
};

namespace {

std::mutex lock_of_all;
waiting_list* first_of_all = nullptr;

std::size_t list_all(commtask_frontend_add add, void* to) {
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
            commtask_frontend_set_list(&list_all);
        }
        made->next = first_of_all;
        first_of_all = made;
        return made;
    }();
    return *mine;
}

std::uint64_t now_ns() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace

void begin_waiting(waiting_task& made, const commtask_op& operation, source_place where) noexcept {
    made.operation = &operation;
    made.where = where;
    made.since_ns = now_ns();
    my_list().add(made);
}

void end_waiting(waiting_task& ended) noexcept { ended.of->remove(ended); }

void begin_waiting(commtask_omp_task& prepared) noexcept {
    commtask_op kept_operation = prepared.operation;
    commtask_retained_t const kept = commtask_frontend_retain(&kept_operation);
    waiting_copy* const made = my_list().add_copy(kept_operation, {prepared.file, prepared.line}, now_ns(), kept);
    prepared.waiting = made;
    prepared.waiting_number = made != nullptr ? made->number : 0;
    if (made != nullptr) {
        prepared.operation = kept_operation;
    } else {
        commtask_frontend_release(kept);
    }
}

std::size_t approx_waiting_of_mine() noexcept { return my_list().size(); }

commtask_retained_t end_waiting(const commtask_omp_task& prepared) noexcept {
    auto* const ended = static_cast<waiting_copy*>(prepared.waiting);
    return ended != nullptr ? ended->of->remove_copy(*ended, prepared.waiting_number) : nullptr;
}

} // namespace commtask::omp
