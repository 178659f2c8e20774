// SPDX-License-Identifier: Apache-2.0
//
// A thread's buffer is a chain of chunks; the thread writes to the newest. If a trace keeps the
// newest records, a thread that gets no more chunks reuses its oldest chunk. An eighth of the
// memory is reserved for the first two chunks of threads that start late.
#include "core/tracer.hpp"

#include "base/assert.hpp"
#include "base/system.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace commtask::detail {

using trace::chunk;
using trace::record;
using trace::record_type;

struct tracer::thread_buffer {
    std::uint64_t epoch = 0;
    record* next = nullptr;
    record* end = nullptr;
    /// The last record, if it says that the thread has left a lane; removed if the thread returns
    /// soon.
    record* left = nullptr;
    chunk* newest = nullptr;
    chunk* oldest = nullptr;
    std::uint64_t n_ids = 0;
    std::uint64_t n_dropped_here = 0;
    std::uint64_t compute = 0;
    std::uint32_t thread = 0;
    std::uint32_t n_chunks = 0;    ///< The number of chunks taken so far, including reused ones.
    std::uint16_t state = 0;       ///< The lane and thread_state of the last state record.
    std::uint16_t before_left = 0; ///< The lane and thread_state of the state record before `left`.
    bool is_worker = false;
    /// The time when a thread of the program last recorded progress for a lane.
    std::uint64_t progress_ns = 0;
    std::uint64_t sampled_ns = 0; ///< The time of a worker's last sample of its processor time.
    std::uint64_t ended = 0;      ///< The last task whose end this thread has observed.
};

namespace {

std::atomic<std::uint64_t> epochs{0};

constexpr std::size_t chunks_per_reservation = 64;
/// The number of chunks that each thread may take from the reserved eighth.
constexpr std::uint32_t early_chunks = 2;
constexpr std::uint32_t most_threads = 0xffff;
constexpr unsigned id_bits = 48; ///< The thread's number is in the bits above.

/// The texts of the process. Front ends keep their numbers across traces. Never destroyed, since
/// threads may use it late.
struct text_table {
    std::mutex lock;
    std::deque<std::string> texts;
    std::unordered_map<std::string_view, std::uint32_t> numbers;
};
text_table& the_texts() {
    static text_table* const instance = new text_table;
    return *instance;
}

/// Atomic access to a counter in the header.
template <typename Number>
[[nodiscard]] std::atomic_ref<Number> shared(Number& field) noexcept {
    return std::atomic_ref<Number>{field};
}

/// The link to the thread's next newer chunk.
[[nodiscard]] std::uint64_t& link_of(chunk& of) noexcept { return of.records[0].value; }

} // namespace

std::atomic<tracer*> tracer::current_{nullptr};

tracer::thread_buffer& tracer::mine() noexcept {
    static thread_local constinit thread_buffer its;
    return its;
}

tracer::tracer(std::span<chunk> chunks, trace_room& room, bool keeps_newest)
    : epoch_(epochs.fetch_add(1) + 1), chunks_(chunks), room_(room), keeps_newest_(keeps_newest),
      n_chunks_(chunks.size()), common_buffer_(std::make_unique<thread_buffer>()) {
    COMMTASK_ASSERT(chunks.size() >= 2);
    common_buffer_->epoch = epoch_;
    header().n_chunks_used = 1;
    make_room(1);
}

tracer::~tracer() = default;

void tracer::begin() noexcept {
    text_table& known = the_texts();
    const std::lock_guard guard{known.lock}; // No text is added in between.
    for (std::size_t i = 0; i < known.texts.size(); ++i) write_text(static_cast<std::uint32_t>(i + 1), known.texts[i]);
    current_.store(this, std::memory_order_release);
}

void tracer::put(record& slot, const record& made) noexcept {
    slot.time_ns = made.time_ns;
    slot.id = made.id;
    slot.value = made.value;
    // release: if the process ends here, a reader that finds the type in the file also finds the
    // other fields.
    std::atomic_ref<std::uint64_t>{reinterpret_cast<std::uint64_t&>(slot.tail)}.store(
        std::bit_cast<std::uint64_t>(made.tail), std::memory_order_release);
}

record* tracer::take_slot() noexcept {
    thread_buffer& of = mine();
    if (of.epoch == epoch_ && of.next != of.end) [[likely]] {
        of.left = nullptr;
        return of.next++;
    }
    if (of.epoch != epoch_) begin_thread(-1);
    return take_slow(of);
}

record* tracer::take_slow(thread_buffer& of) noexcept {
    of.left = nullptr;
    if (of.next != of.end) return of.next++;
    if (record* const slot = next_chunk(of)) return slot;
    // relaxed: used for statistics only.
    shared(header().n_dropped).fetch_add(1, std::memory_order_relaxed);
    ++of.n_dropped_here;
    if (of.newest != nullptr) of.newest->records[0].id = of.n_dropped_here;
    return nullptr;
}

/// Takes a new chunk for the thread.
/// @return the chunk's first free record; null if there is no chunk
record* tracer::next_chunk(thread_buffer& of) noexcept {
    if (of.thread == most_threads) return nullptr;
    chunk* fresh = take_chunk(of.n_chunks < early_chunks || &of == common_buffer_.get());
    if (fresh == nullptr) {
        if (!keeps_newest_ || of.oldest == nullptr || &of == common_buffer_.get()) return nullptr;
        fresh = of.oldest;
        of.oldest = fresh == of.newest ? nullptr : &chunks_[link_of(*fresh)];
        if (of.oldest == nullptr) of.newest = nullptr;
        of.n_dropped_here += trace::records_per_chunk - 1;
        shared(header().n_dropped).fetch_add(trace::records_per_chunk - 1, std::memory_order_relaxed);
        std::memset(static_cast<void*>(fresh), 0, sizeof *fresh);
    }
    const auto number = static_cast<std::uint64_t>(fresh - chunks_.data());
    if (of.newest != nullptr) link_of(*of.newest) = number;
    if (of.oldest == nullptr) of.oldest = fresh;
    of.newest = fresh;
    put(fresh->records[0], {of.n_chunks++, of.n_dropped_here, 0, {of.thread, record_type::chunk}});
    of.next = &fresh->records[1];
    of.end = &fresh->records[trace::records_per_chunk];
    return of.next++;
}

chunk* tracer::take_chunk(bool is_early) noexcept {
    const auto used = shared(header().n_chunks_used);
    const std::size_t room = n_chunks_.load(std::memory_order_seq_cst);
    const std::size_t limit = is_early ? room : room - room / 8;
    if (used.load(std::memory_order_relaxed) >= limit) return nullptr;
    // seq_cst, as the load below: partner of close(). Either close() counts this chunk, or this
    // thread sees that the trace is closed.
    const std::size_t number = used.fetch_add(1, std::memory_order_seq_cst);
    if (number >= n_chunks_.load(std::memory_order_seq_cst)) return nullptr;
    // acquire: partner of the release in make_room().
    if (number + chunks_per_reservation >= n_ready_.load(std::memory_order_acquire)) make_room(number);
    return number < n_ready_.load(std::memory_order_acquire) ? &chunks_[number] : nullptr;
}

/// Allocates memory ahead of the threads that write: a write to a chunk without memory would end
/// the program. A thread that needs a chunk without memory waits for the thread that is allocating
/// it.
void tracer::make_room(std::size_t needed) noexcept {
    std::unique_lock guard{room_lock_, std::try_to_lock};
    if (!guard && needed < n_ready_.load(std::memory_order_acquire)) return;
    if (!guard) guard.lock();
    while (true) {
        // relaxed: written with this lock.
        const std::size_t ready = n_ready_.load(std::memory_order_relaxed);
        if (needed + chunks_per_reservation < ready || ready >= n_chunks_.load()) return;
        const std::size_t count = std::min(chunks_.size() - ready, chunks_per_reservation);
        if (!room_.reserve(ready, count)) {
            // seq_cst: partner of close(), whose value stays.
            for (std::size_t now = n_chunks_.load(); now > ready && !n_chunks_.compare_exchange_weak(now, ready);) {}
            return;
        }
        n_ready_.store(ready + count, std::memory_order_release);
    }
}

std::size_t tracer::close() noexcept {
    const std::size_t room = n_chunks_.exchange(0, std::memory_order_seq_cst);
    const auto used = shared(header().n_chunks_used);
    const std::size_t count =
        std::min<std::size_t>(used.load(std::memory_order_seq_cst), std::max<std::size_t>(room, 1));
    // A late thread may add one more; that chunk is not used.
    used.store(static_cast<std::uint32_t>(count), std::memory_order_relaxed);
    return count;
}

void tracer::begin_thread(int lane) noexcept {
    thread_buffer& of = mine();
    of = {};
    of.epoch = epoch_;
    of.is_worker = lane >= 0;
    of.thread = std::min(shared(header().n_threads).fetch_add(1, std::memory_order_relaxed) + 1, most_threads);
    std::array<char, 32> name{};
    pthread_getname_np(pthread_self(), name.data(), name.size());
    const std::uint32_t text = number_of(name.data());
    const auto kernels_id = static_cast<std::uint64_t>(syscall(SYS_gettid));
    write_common(
        {now_ns(), kernels_id, trace::halves(lane, static_cast<std::int32_t>(text)), {of.thread, record_type::thread}});
}

std::uint64_t tracer::last_time_ns() noexcept {
    const thread_buffer& of = mine();
    if (of.epoch != epoch_ || of.newest == nullptr) return now_ns();
    const record& last = *(of.next - 1);
    return last.tail.type == record_type::chunk ? now_ns() : last.time_ns;
}

void tracer::thread_does(std::uint8_t lane, activity state) noexcept {
    thread_buffer& of = mine();
    if (of.epoch != epoch_) begin_thread(-1);
    const bool makes_progress = !of.is_worker && state != trace::thread_state::none;
    if (makes_progress) state = trace::thread_state::poll;
    const auto packed_for = [state](std::uint8_t which) {
        return static_cast<std::uint16_t>((static_cast<unsigned>(which) << 8U) | static_cast<unsigned>(state));
    };
    const auto is_recorded = [&](std::uint16_t recorded) {
        return recorded == packed_for(lane) || (makes_progress && recorded == packed_for(trace::every_lane));
    };
    if (is_recorded(of.state) || (state == trace::thread_state::none && (of.state & 0xffU) == 0)) return;
    const std::uint64_t now = now_ns();
    // A thread may alternate between progress and a check of its own task, or between lanes.
    // Records of each change would fill the trace.
    const bool takes_turns = makes_progress && now - of.progress_ns < trace::shortest_turn_ns;
    const bool has_just_left = of.left != nullptr && now - of.left->time_ns < trace::shortest_turn_ns;
    if (has_just_left && (takes_turns || is_recorded(of.before_left))) {
        of.left->tail = {};
        of.next = of.left;
        of.left = nullptr;
        of.state = of.before_left;
        if (is_recorded(of.state)) return;
    }
    if (takes_turns && (of.state & 0xffU) != 0) lane = trace::every_lane;
    if (makes_progress) of.progress_ns = now;
    if (of.is_worker && now - of.sampled_ns >= trace::sampling_ns) {
        of.sampled_ns = now;
        write({now, processor_time_ns(), trace::halves(sched_getcpu(), 0), {0, record_type::processor, lane}});
    }
    record* const slot = take_slot();
    const std::uint16_t before = std::exchange(of.state, packed_for(lane));
    if (slot == nullptr) return;
    put(*slot, {now, 0, 0, {0, record_type::state, lane, static_cast<std::uint8_t>(state)}});
    if (state != trace::thread_state::none) return;
    of.left = slot;
    of.before_left = before;
}

std::uint64_t tracer::new_id() noexcept {
    thread_buffer& of = mine();
    if (of.epoch != epoch_) begin_thread(-1);
    return (static_cast<std::uint64_t>(of.thread) << id_bits) | ++of.n_ids;
}

std::uint64_t tracer::running_compute() noexcept {
    const thread_buffer& of = mine();
    return of.epoch == epoch_ ? of.compute : 0;
}

void tracer::set_running_compute(std::uint64_t id) noexcept {
    thread_buffer& of = mine();
    if (of.epoch != epoch_) begin_thread(-1);
    of.compute = id;
}

std::uint64_t tracer::last_ended() noexcept {
    const thread_buffer& of = mine();
    return of.epoch == epoch_ ? of.ended : 0;
}

void tracer::set_last_ended(std::uint64_t id) noexcept { mine().ended = id; }

void tracer::write_common(const record& made) noexcept {
    const std::lock_guard guard{common_};
    if (record* const slot = take_slow(*common_buffer_)) put(*slot, made);
}

void tracer::write_text(std::uint32_t number, std::string_view text) noexcept {
    const std::lock_guard guard{common_}; // The parts stay together.
    do {
        const std::string_view part = text.substr(0, trace::text_bytes_per_record);
        text.remove_prefix(part.size());
        record made{0, 0, 0, {number, record_type::text_part}};
        std::memcpy(&made, part.data(), part.size());
        made.tail.sub = static_cast<std::uint8_t>(part.size());
        made.tail.flags = text.empty() ? 1 : 0;
        if (record* const slot = take_slow(*common_buffer_)) put(*slot, made);
    } while (!text.empty());
}

std::uint32_t tracer::number_of(std::string_view text) noexcept {
    text_table& known = the_texts();
    const std::lock_guard guard{known.lock};
    if (const auto found = known.numbers.find(text); found != known.numbers.end()) return found->second;
    try {
        const std::string& kept = known.texts.emplace_back(text);
        const auto number = static_cast<std::uint32_t>(known.texts.size());
        known.numbers.emplace(kept, number);
        if (tracer* const now = current()) now->write_text(number, kept);
        return number;
    } catch (const std::bad_alloc&) {
        return 0;
    }
}

} // namespace commtask::detail
