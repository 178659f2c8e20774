// SPDX-License-Identifier: Apache-2.0
//
// The ways, and what each needs ready: buffers, requests, a plan.
// OpenMP's ways run in a team of one thread, so that what is compared is what tasks cost and not how they are shared out.
#include "patterns/exchange.h"

#include "harness/clock.h"
#include "harness/session.h"

#include <commtask/omp.h>

#include <algorithm>

namespace commtask::bench {

exchange::exchange(std::string its_name, place here, std::vector<message> messages)
    : name_(std::move(its_name)), here_(here), messages_(std::move(messages)) {
    for (const message& each : messages_) {
        const char* const place_of_it = buffers_.emplace_back(static_cast<std::size_t>(each.bytes), 'x').data();
        (each.is_received ? filled_ : used_).push_back(place_of_it);
    }
    requests_.resize(messages_.size());
    persistent_.resize(messages_.size());
    tasks_.resize(messages_.size());
    require(commtask_record_begin(), "commtask_record_begin");
    for (std::size_t i = 0; i < messages_.size(); ++i) {
        const commtask_op op = operation(i);
        require(commtask_post_operation(&op, nullptr, nullptr), "commtask_post");
    }
    require(commtask_record_end(&plan_), "commtask_record_end");
    for (std::size_t i = 0; i < messages_.size(); ++i) make_persistent(i);
}

exchange::~exchange() {
    for (MPI_Request& each : persistent_) MPI_Request_free(&each);
    commtask_plan_release(&plan_);
}

void exchange::use_alltoallv(int bytes) {
    const auto n = static_cast<std::size_t>(here_.n_ranks);
    send_counts_.assign(n, 0);
    recv_counts_.assign(n, 0);
    displs_.assign(n, 0);
    block_bytes_ = bytes;
    block_dest_ = here_.at(1);
    block_source_ = here_.at(-1);
    send_counts_[static_cast<std::size_t>(here_.at(1))] = bytes;
    recv_counts_[static_cast<std::size_t>(here_.at(-1))] = bytes;
}

double latest_of_all(double us) {
    double latest = 0;
    MPI_Allreduce(&us, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return latest;
}

exchange::times exchange::run(way by) {
    MPI_Barrier(MPI_COMM_WORLD);
    times took{};
    if (by != way::omp_tasks && by != way::omp_plan) {
        took = run_here(by);
    } else {
#pragma omp parallel num_threads(1)
        took = run_here(by);
    }
    took.whole = latest_of_all(took.whole);
    return took;
}

exchange::times exchange::run_here(way by) {
    const std::uint64_t begin = ticks();
    start(by);
    const std::uint64_t posted = ticks();
    wait(by);
    return {ns_between(begin, posted) / 1e3, ns_between(begin, ticks()) / 1e3};
}

commtask_op exchange::operation(std::size_t i) {
    const message& one = messages_[i];
    return one.is_received
               ? commtask_op_recv(buffers_[i].data(), one.bytes, MPI_BYTE, one.peer, one.tag, MPI_COMM_WORLD)
               : commtask_op_send(buffers_[i].data(), one.bytes, MPI_BYTE, one.peer, one.tag, MPI_COMM_WORLD);
}

void exchange::make_persistent(std::size_t i) {
    const message& one = messages_[i];
    if (one.is_received) {
        MPI_Recv_init(buffers_[i].data(), one.bytes, MPI_BYTE, one.peer, one.tag, MPI_COMM_WORLD, &persistent_[i]);
    } else {
        MPI_Send_init(buffers_[i].data(), one.bytes, MPI_BYTE, one.peer, one.tag, MPI_COMM_WORLD, &persistent_[i]);
    }
}

void exchange::start_by_mpi() {
    if (!send_counts_.empty()) {
        MPI_Alltoallv(buffers_[1].data(), send_counts_.data(), displs_.data(), MPI_BYTE, buffers_[0].data(),
                      recv_counts_.data(), displs_.data(), MPI_BYTE, MPI_COMM_WORLD);
        std::ranges::fill(requests_, MPI_REQUEST_NULL);
        return;
    }
    for (std::size_t i = 0; i < messages_.size(); ++i) {
        const message& one = messages_[i];
        if (one.is_received) {
            MPI_Irecv(buffers_[i].data(), one.bytes, MPI_BYTE, one.peer, one.tag, MPI_COMM_WORLD, &requests_[i]);
        } else {
            MPI_Isend(buffers_[i].data(), one.bytes, MPI_BYTE, one.peer, one.tag, MPI_COMM_WORLD, &requests_[i]);
        }
    }
}

void exchange::start_by_tasks() {
    for (std::size_t i = 0; i < messages_.size(); ++i) {
        const message& one = messages_[i];
        char* const buffer = buffers_[i].data();
        if (one.is_received) {
            COMM_TASK(recv(buffer, one.bytes, MPI_BYTE, one.peer, one.tag, MPI_COMM_WORLD), out(buffer));
        } else {
            COMM_TASK(send(buffer, one.bytes, MPI_BYTE, one.peer, one.tag, MPI_COMM_WORLD), in(buffer));
        }
    }
}

void exchange::start(way by) {
    switch (by) {
    case way::mpi: return start_by_mpi();
    case way::startall: MPI_Startall(count(), persistent_.data()); return;
    case way::plan: require(commtask_plan_start(plan_, nullptr, &run_), "commtask_plan_start"); return;
    case way::posts:
        for (std::size_t i = 0; i < messages_.size(); ++i) {
            const commtask_op op = operation(i);
            require(commtask_post_operation(&op, nullptr, &tasks_[i]), "commtask_post");
        }
        return;
    case way::many_to_many: {
        const commtask_op op = commtask_op_many_to_many_int(
            buffers_[1].data(), &block_bytes_, displs_.data(), MPI_BYTE, &block_dest_, 1, buffers_[0].data(),
            &block_bytes_, displs_.data(), MPI_BYTE, &block_source_, 1, 300, MPI_COMM_WORLD);
        require(commtask_post_operation(&op, nullptr, &run_), "commtask_post");
        return;
    }
    case way::omp_tasks: return start_by_tasks();
    case way::omp_plan: COMM_PLAN(plan_, in_each(used_.size(), used_.data()), out_each(filled_.size(), filled_.data()));
    }
}

void exchange::wait(way by) {
    switch (by) {
    case way::mpi: MPI_Waitall(count(), requests_.data(), MPI_STATUSES_IGNORE); return;
    case way::startall: MPI_Waitall(count(), persistent_.data(), MPI_STATUSES_IGNORE); return;
    case way::plan:
    case way::many_to_many: require(commtask_wait(&run_, nullptr), "commtask_wait"); return;
    case way::posts: require(commtask_wait_all(tasks_.size(), tasks_.data(), nullptr), "commtask_wait_all"); return;
    case way::omp_tasks:
    case way::omp_plan: require(commtask_omp_wait_all(), "commtask_omp_wait_all");
    }
}

} // namespace commtask::bench
