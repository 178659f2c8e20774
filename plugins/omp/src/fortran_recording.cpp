// SPDX-License-Identifier: Apache-2.0
//
// The recording of a thread, from commtask_record_begin to commtask_record_end of the Fortran
// module. Addresses are searched linearly: a plan is recorded once, and has tens of members.
#include "fortran_recording.hpp"

#include "errors.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

namespace commtask::omp {
namespace {

thread_local std::unique_ptr<fortran_recording> recorded_here;

/// If the recording could not be ended on this thread, it continues.
int end_unless_refused(int code) noexcept {
    if (code != COMMTASK_ERR_WORKER_THREAD) recorded_here.reset();
    return commtask_omp_fortran_note(code);
}

std::span<const void* const> written(const commtask_omp_fortran_clauses& clauses) noexcept {
    return {clauses.out, clauses.n_out};
}
std::span<const void* const> updated(const commtask_omp_fortran_clauses& clauses) noexcept {
    return {clauses.inout, clauses.n_inout};
}
std::span<const void* const> read(const commtask_omp_fortran_clauses& clauses) noexcept {
    return {clauses.in, clauses.n_in};
}

} // namespace

fortran_recording* fortran_recording::of_this_thread() noexcept { return recorded_here.get(); }

fortran_recording::~fortran_recording() {
    for (commtask_t& member : members_) (void)commtask_release(&member);
}

fortran_recording::place& fortran_recording::at(const void* address) {
    const auto found = std::ranges::find(places_, address, &place::address);
    return found != places_.end() ? *found : places_.emplace_back(place{address});
}

void fortran_recording::read_by(commtask_t member, std::span<const void* const> addresses) {
    for (const void* const address : addresses) at(address).readers.push_back(member);
}

void fortran_recording::written_by(commtask_t member, std::span<const void* const> addresses) {
    for (const void* const address : addresses) {
        place& here = at(address);
        here.writer = member;
        here.readers.clear();
    }
}

std::vector<commtask_t> fortran_recording::predecessors_of(const commtask_omp_fortran_clauses& clauses) {
    std::vector<commtask_t> found;
    const auto add = [&](commtask_t member) {
        if (member != COMMTASK_NULL && std::ranges::find(found, member) == found.end()) found.push_back(member);
    };
    for (const void* const address : read(clauses)) add(at(address).writer);
    for (const auto& addresses : {written(clauses), updated(clauses)}) {
        for (const void* const address : addresses) {
            const place& here = at(address);
            add(here.writer);
            std::ranges::for_each(here.readers, add);
        }
    }
    return found;
}

int fortran_recording::record(const commtask_op& operation, const commtask_omp_options& given,
                              const commtask_omp_fortran_clauses& clauses) noexcept {
    const auto refuse = [&](int code, const char* why) { return report_refusal(code, &operation, given, why); };
    if (clauses.bind != 0) {
        return refuse(COMMTASK_ERR_ARGUMENT,
                      "bind=.true. is for what starts now, and a member of a plan starts with each run");
    }
    try {
        const std::vector<commtask_t> predecessors = predecessors_of(clauses);
        members_.reserve(members_.size() + 1);
        commtask_options options = COMMTASK_OPTIONS_INIT;
        options.flags = clauses.flags;
        options.status = clauses.status;
        options.after = predecessors.data();
        options.n_after = predecessors.size();
        commtask_t member = COMMTASK_NULL;
        const int code = commtask_post_operation(&operation, &options, &member);
        if (code != COMMTASK_OK) return refuse(code, nullptr);
        members_.push_back(member);
        read_by(member, read(clauses));
        written_by(member, written(clauses));
        written_by(member, updated(clauses));
    } catch (const std::bad_alloc&) {
        return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for  a member of a plan");
    }
    return COMMTASK_OK;
}

} // namespace commtask::omp

using namespace commtask::omp;

extern "C" {

int commtask_omp_fortran_note(int code) noexcept {
    return code < COMMTASK_OK ? set_last_error(code, commtask_last_error()) : code;
}

int commtask_omp_fortran_record_begin(void) noexcept {
    std::unique_ptr<fortran_recording> begun{new (std::nothrow) fortran_recording};
    if (!begun) return set_last_error(COMMTASK_ERR_NO_MEMORY, "no memory for  a plan");
    const int code = commtask_record_begin();
    if (code == COMMTASK_OK) recorded_here = std::move(begun);
    return commtask_omp_fortran_note(code);
}

int commtask_omp_fortran_record_end(commtask_plan_t* plan) noexcept {
    return end_unless_refused(commtask_record_end(plan));
}

int commtask_omp_fortran_record_check(commtask_plan_t plan) noexcept {
    const int code = commtask_record_check(plan);
    return plan != COMMTASK_PLAN_NULL ? end_unless_refused(code) : commtask_omp_fortran_note(code);
}
}
