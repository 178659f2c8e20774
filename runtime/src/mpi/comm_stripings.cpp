// SPDX-License-Identifier: Apache-2.0
//
// How a communicator gets several queues, and how they end with it. Queues for threads share its
// handle; the table of communicators has only the first of them. Queues for ranks and tags belong
// to duplicates, which are registered like any communicator. When the original communicator is
// freed, the library frees the duplicates: all ranks do so at the same point of their program.
#include "mpi/comms.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

namespace commtask::detail {

int mpi_comms::stripe_by_thread(comm_queue& home) noexcept {
    const errors_return scope;
    if (home.striping() != nullptr) return MPI_SUCCESS; // two threads have requested striping
    try {
        const std::size_t n_lanes = lanes_.n_at_work();
        std::vector<comm_queue*> over;
        over.reserve(n_lanes);
        for (std::size_t i = 0; i < n_lanes; ++i) start_lane_(i);
        try {
            for (std::size_t i = 0; i < n_lanes; ++i) {
                if (home.served_by->number() == i) {
                    over.push_back(&home);
                    continue;
                }
                std::string name = home.name;
                comm_queue* made = nullptr;
                {
                    const std::lock_guard guard{mutex_};
                    made = &closed_queue(i);
                }
                give_comm(*made, home.comm, home.n_peers, home.is_intercommunicator, std::move(name));
                made->trace_number = home.trace_number;
                made->open();
                over.push_back(made);
            }
            home.set_striping(std::make_shared<const comm_striping>(over));
        } catch (const std::exception&) {
            for (comm_queue* each : over) {
                if (each != &home) retire(*each);
            }
            throw;
        }
    } catch (const std::exception&) { // no memory, or no thread for a lane's worker
        return MPI_ERR_NO_MEM;
    }
    return MPI_SUCCESS;
}

int mpi_comms::stripe_by_message(comm_queue& home, const std::vector<MPI_Comm>& duplicates,
                                 message_promises promised) noexcept {
    const errors_return scope;
    int my_rank = 0;
    if (const int code = scope.code_of(MPI_Comm_rank(home.comm, &my_rank)); code != MPI_SUCCESS) return code;
    try {
        std::vector<comm_queue*> over;
        if (duplicates.empty()) over.push_back(&home);
        for (MPI_Comm each : duplicates) {
            comm_queue* const its = find(each);
            if (its == nullptr) return MPI_ERR_COMM;
            its->name = home.name; // texts for users name the program's communicator
            over.push_back(its);
        }
        auto striping = std::make_shared<const comm_striping>(std::move(over), my_rank, promised);
        const std::lock_guard guard{mutex_};
        duplicates_.insert(duplicates_.end(), duplicates.begin(), duplicates.end());
        home.set_striping(std::move(striping));
    } catch (const std::exception&) {
        return MPI_ERR_NO_MEM;
    }
    return MPI_SUCCESS;
}

void mpi_comms::forget_striping(comm_queue& home) noexcept {
    const comm_striping* const ended = home.striping();
    if (ended == nullptr) return;
    {
        const std::lock_guard guard{mutex_};
        for (const comm_queue* each : ended->over()) std::erase(duplicates_, each->comm);
    }
    home.set_striping(nullptr);
}

/// Called during MPI_Comm_free of the communicator.
void mpi_comms::end_striping(comm_queue& home) noexcept {
    const comm_striping* const ended = home.striping();
    if (ended == nullptr) return;
    home.set_striping(nullptr);
    const errors_return scope;
    for (comm_queue* each : ended->over()) {
        if (each == &home) continue;
        if (ended->is_by_thread()) {
            retire(*each);
            continue;
        }
        MPI_Comm freed = each->comm;
        {
            const std::lock_guard guard{mutex_};
            std::erase(duplicates_, freed);
        }
        MPI_Comm_free(&freed); // closes its queue
    }
}

} // namespace commtask::detail
