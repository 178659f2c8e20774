// SPDX-License-Identifier: Apache-2.0
//
// The recording of a thread that uses the Fortran module. A member of a plan is written as a task
// with dependences by address. This class computes the order in which OpenMP would run the members.
// A dependence on a compute task matches no member and orders nothing; it belongs to the task that
// starts the plan.
#pragma once

#include <commtask/omp.h>
#include <commtask/omp_fortran.h>

#include <span>
#include <vector>

namespace commtask::omp {

class fortran_recording {
public:
    /// Null: this thread does not record.
    [[nodiscard]] static fortran_recording* of_this_thread() noexcept;

    fortran_recording() = default;
    fortran_recording(const fortran_recording&) = delete;
    fortran_recording& operator=(const fortran_recording&) = delete;
    ~fortran_recording();

    /// Posts a member. @param given  for the report of a refusal @return as commtask_post
    int record(const commtask_op& operation, const commtask_omp_options& given,
               const commtask_omp_fortran_clauses& clauses) noexcept;

private:
    /// The members that access an address.
    struct place {
        const void* address;
        commtask_t writer = COMMTASK_NULL; ///< The last writer; null: none.
        std::vector<commtask_t> readers{}; ///< Readers since the last writer.
    };
    [[nodiscard]] place& at(const void* address);
    void read_by(commtask_t member, std::span<const void* const> addresses);
    void written_by(commtask_t member, std::span<const void* const> addresses);
    [[nodiscard]] std::vector<commtask_t> predecessors_of(const commtask_omp_fortran_clauses& clauses);

    std::vector<commtask_t> members_; ///< Handles of the members, released when the recording ends.
    std::vector<place> places_;
};

} // namespace commtask::omp
