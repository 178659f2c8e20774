// SPDX-License-Identifier: Apache-2.0
//
// The numbers that were found by measuring, in one place, each with what it trades. They decide when a thread looks, yields,
// sleeps or leaves something to another; none decides what is right. What a user may want to choose is a setting instead
// (config_table.def). Bounds begin with "At most", and say what would be without them. Each of the others was set so
// that it does nothing, in alternated runs of the setting that it is for, and made that worse; one that shows nothing there is removed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace commtask::detail::tuning {

// Whoever drives ------------------------------------------------------------------------------------------------------

/// At most so many tasks are taken in by one pass, or by a poster for itself and others: without it others who post could keep
/// either for ever. More: what is in flight is polled later. Less: a burst needs more passes, or a wake-up.
inline constexpr int tasks_per_pass = 64;

/// Looks, or passes, between two readings of the clock. More: a pause that should end by the clock lasts longer. Less: the
/// clock, at 20 to 40 ns, takes a share of every short wait.
inline constexpr unsigned looks_between_clocks = 64;

// Threads that want the progress lock ---------------------------------------------------------------------------------

/// A poster's looks at the progress lock before it hands over. More: it waits for one who has lost the processor. Less: two that post
/// at once wake the worker, which costs as much as some ten posts.
inline constexpr int looks_for_lock = 32;

/// Looks of an external caller, of a poster that waits for room, or of a call at MPI's own requests, before it yields. More: it keeps
/// the processor from the thread that has the progress lock. Less: it loses its turn to others for a wait that is over in a moment.
inline constexpr int looks_before_yield = 64;

// The inbox: inbox.hpp ------------------------------------------------------------------------------------------------

/// The driver gives cells back whenever this part of them is free. More: posters read its line more often. Less: a poster waits
/// for room sooner.
inline constexpr std::size_t parts_given_back = 4;

// Whoever waits -------------------------------------------------------------------------------------------------------

/// Who waits for several tasks looks at the one so many places after the first that has not ended. More: the last ones are looked
/// at when all have ended. Less: each task's line goes to and fro between who waits and the driver that is about to end it.
inline constexpr std::size_t tasks_looked_ahead = 31;

/// At most so long sleeps a waiting thread. It is woken when something ends: the tests of waiting pass without it. But a wake-up that
/// is lost would be lost for ever.
inline constexpr std::uint64_t longest_wait_ns = 10'000'000;

// A worker that shares its core: idle_strategy.hpp -----------------------------------------------------------------------

/// It yields between polls for so long after something has moved, while something is in flight. Without it large messages stand still
/// in waits.
inline constexpr std::uint64_t active_ns = 5'000'000;

/// A yield that took more found a thread that computes on this core.
inline constexpr std::uint64_t long_yield_ns = 50'000;

/// The worker does not yield for so long after such a yield. Without it four ranks on two cores expose 2 to 3 ms of a message.
inline constexpr std::uint64_t busy_core_ns = 2'000'000;

/// Its first wait, each further one being twice as long up to COMMTASK_NAP_MAX_US.
inline constexpr std::int64_t first_wait_ns = 5'000;

/// It waits so many times COMMTASK_NAP_MAX_US while another thread makes progress, and with nothing in flight.
inline constexpr std::int64_t waits_beside_others = 3;

/// So many such waits with nothing in flight, before it blocks: a post in between wakes nobody.
inline constexpr int idle_waits_before_block = 50;

/// The longest wait with something in flight for which other ranks ring. What no doorbell tells of is seen after it.
inline constexpr std::int64_t longest_rung_wait_ns = 4'000'000;

/// A worker that is paused looks so seldom at what is in flight or was posted. More: who waits for it without calling the library,
/// as an OpenMP barrier does, waits longer. Less: the core's time.
inline constexpr std::int64_t look_when_paused_ns = 10'000'000;

/// Tests of MPI in a row, before each pause of a worker that attends windows and shares its core. Some operations of other ranks
/// take a dozen steps here, each an answer away from the next: with one test a pause each step waited for the next pause. More:
/// the core's time while nobody wants anything of the windows. Less: long operations stand still.
inline constexpr int looks_when_attentive = 64;

// Partitions: partitions.hpp ------------------------------------------------------------------------------------------
// Both sides cut by these two, so all ranks must have the same.

/// The size of a message that partitions are put together to, or a large one is cut into. Smaller: more messages, each of which
/// costs what a message costs. Larger: what is filled first waits for what is filled later.
inline constexpr std::int64_t partition_group_bytes = 65536;

/// At most so many groups has a buffer; more bytes make them larger. Each has a tag: without it there are none for the program's
/// own. More: more tasks and requests for what a network sends in one piece.
inline constexpr std::int64_t most_partition_groups = 32;

// How many lanes serve a burst: lane_policy.cpp -----------------------------------------------------------------------

/// A further lane must bring the cost of a burst down to this share. Less: cores are left idle. More: a core for next to nothing.
inline constexpr double worth_a_lane = 0.97;

// Tasks that are used again: task_pool.cpp ----------------------------------------------------------------------------

/// Slots that a thread gets or gives back at once. More: a thread that posts once keeps slots from the others. Less: a lock more
/// often.
inline constexpr std::size_t slots_at_once = 32;

/// So many slots ahead are fetched. More: the lines are gone again, or the driver's, when they are used. Less: a post waits for them,
/// most where the driver has copied long messages and they have gone to memory.
inline constexpr std::size_t slots_fetched_ahead = 4;

/// The same for the cell of the inbox.
inline constexpr std::uint64_t cells_ahead_of_poster = 8;

// The end of the runtime: api/ending.cpp -----------------------------------------------------------------------------

/// At most so long it waits for a progress lock, or for tasks, before it looks whether anything is left to wait for: without it a task that
/// can never end would keep the program for ever.
inline constexpr std::uint64_t look_at_the_end_ns = 10'000'000;

/// At most so long it waits while nothing is at work: only a signal that is on its way could move something then, and without it a
/// program whose event nobody signals would never end.
inline constexpr std::uint64_t longest_idle_end_ns = 1'000'000'000;

/// At most so long a driver may be without a processor before it is taken for one that does not come back: without it a short limit of the
/// user's would call one stuck that only waits for its turn.
inline constexpr std::uint64_t longest_turn_of_others_ns = 2'000'000'000;

/// How long commtask_finalize, which leaves a worker behind, waits for those who made no pass of late and may only have waited for that one's
/// progress lock. More: such an end takes longer. Less: one that has lost its processor for a moment is called stuck.
inline constexpr std::uint64_t wait_for_others_at_the_end_ns = 500'000'000;

/// How long the job's end waits, after the sentence that says why, for its launcher to read that: MPICH's drops the last line of one
/// of 30 jobs otherwise. As long a thread waits first for the right to call MPI.
inline constexpr long wait_before_abort_ns = 200'000'000;

/// After so many seconds in MPI_Abort the process ends without it. Less: a launcher that answers late has not heard of the abort.
inline constexpr unsigned abort_patience_s = 3;

// Communicators: mpi/comms.cpp ----------------------------------------------------------------------------------------

/// At most so many queues of freed communicators are looked at for one that can be used again: those whose tickets were never used stay
/// busy, and without it would make each look longer.
inline constexpr int looks_for_closed_queue = 2;

// Files: mpi/transport.cpp --------------------------------------------------------------------------------------------

/// At most so many files are looked at in one pass: there is a place for each. More are looked at when one of these has ended.
inline constexpr std::size_t most_files_in_a_pass = 16;

// What MPI ends at once: early_ends.hpp -------------------------------------------------------------------------------

/// Operations of a size that are left out after one that had not ended at once, at most. More: a change of MPI's ways is seen
/// late. Less: a test for nothing with each.
inline constexpr int longest_pause_of_looks = 127;

// Threads that share a core: system.cpp -------------------------------------------------------------------------------

/// The scheduler's turn of a thread that asks for short ones. More: who was woken waits for it. Less: changes of threads.
inline constexpr std::uint64_t short_turn_ns = 100'000;

// A trace -------------------------------------------------------------------------------------------------------------

/// A post, or a look at what MPI has, that took less leaves no record of its end. Less: records of what nobody can see in a picture.
inline constexpr std::uint64_t shortest_in_trace_ns = 1'000;

/// Who drives in turns with something else, each for less than this, is drawn as driving all the time. Less: a record for each turn.
/// More: pauses that are long enough to be seen are not.
inline constexpr std::uint64_t shortest_turn_in_trace_ns = 20'000;

/// Between two samples of a worker's processor time. Less: a system call more often. More: its share of a core is seen coarsely.
inline constexpr std::uint64_t trace_sampling_ns = 1'000'000;

// The interposer's calls: plugins/mpi/src -----------------------------------------------------------------------------

/// Calls into MPI between two passes that their threads make. More: threads that call MPI in a loop keep tasks from ending.
/// Less: a call that has nothing to do with tasks pays for them.
inline constexpr unsigned calls_between_passes = 8;

/// Turns of a call that is looked at in passing, a yield before each but the first, until it becomes a task. More: the calling
/// thread waits for a slow answer. Less: a task for what is over in a moment.
inline constexpr unsigned turns_in_passing = 16;

/// Looks of such a turn between two passes of the lane. More: others' tasks wait. Less: the answer is seen later.
inline constexpr unsigned looks_between_passes = 64;

/// Messages up to this size are started by their caller while the worker sleeps: to wake it costs as much as so many bytes. Posters leave no
/// larger ones to its nap.
inline constexpr int woken_for_bytes = 8 << 10;

/// Looks of a blocking call before it yields, learned between these two (look_patience.hpp). More: ranks that share a core wait
/// for each other. Less: threads of two ranks that answer each other lose step.
inline constexpr unsigned least_patience = 64;
inline constexpr unsigned most_patience = 1024;

} // namespace commtask::detail::tuning
