// SPDX-License-Identifier: Apache-2.0
//
// A library to preload under an MPI program: its ranks then send as if each had a network adapter and a link of given
// rate. A send, or one rank's share of a collective, occupies the rank's link for its bytes over the rate, in the order of
// the calls, and is handed to MPI when it has passed, by a thread that sleeps until then. From there on it goes on as
// everything does in this MPI: when somebody calls it. So the link takes no processor time, as a network with hardware of
// its own, and whether communication goes on while a program computes is up to the program. What MPI does with the bytes,
// copies between processes included, comes on top: the link is never faster than it is set.
//
//   EMULATED_LINK_RATE_MBS   10^6 bytes per second that one rank can send (required)
//   EMULATED_LINK_DELAY_US   added to each transfer (0)
//   EMULATED_LINK_REPORT     rank 0 writes there in MPI_Finalize, as JSON, what the links carried and how late
//
// Delayed: MPI_Send, MPI_Isend, MPI_Alltoallv, MPI_Ialltoallv. Everything else passes at MPI's own speed. A nonblocking
// collective must have ended before a collective of another kind begins on its communicator. MPICH only: the requests
// that the program gets are its extended generalized requests.
#include <mpi.h>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "delayed/direction_seen.h"
#include "delayed/link_model.h"

namespace {

using namespace commtask::bench;

constexpr std::int64_t ns_per_s = 1'000'000'000;

std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (static_cast<std::int64_t>(now.tv_sec) * ns_per_s) + now.tv_nsec;
}

void sleep_until(std::int64_t moment_ns) {
    const timespec moment{.tv_sec = moment_ns / ns_per_s, .tv_nsec = moment_ns % ns_per_s};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nullptr) == EINTR) {}
}

/// Something on its way: what hands it to MPI, and the request that MPI then gives.
struct transfer {
    std::function<int(MPI_Request*)> start;
    std::int64_t due_ns = 0;
    MPI_Request outer = MPI_REQUEST_NULL; ///< The generalized request that the program holds.
    MPI_Request inner = MPI_REQUEST_NULL; ///< Valid once has_started.
    std::atomic<bool> has_started{false}; ///< Stored by the link's thread, which does not touch this any more then.
    bool has_ended = false;
};

class link {
public:
    link(double rate_mb_per_s, double delay_us)
        : model_(static_cast<std::int64_t>(delay_us * 1e3), rate_mb_per_s), thread_([this] { run(); }) {}
    ~link() { stop(); }
    link(const link&) = delete;
    link& operator=(const link&) = delete;

    /// Occupies the link; gives the moment at which the last byte has passed.
    std::int64_t occupy(std::size_t size_bytes) {
        const std::lock_guard hold(guard_);
        return arrival(size_bytes);
    }

    /// The same; `one` is started at that moment and must live until has_started.
    void send(std::size_t size_bytes, transfer* one) {
        {
            const std::lock_guard hold(guard_);
            one->due_ns = arrival(size_bytes);
            waiting_.push_back(one);
        }
        changed_.notify_one();
    }

    /// Ends the thread after it has started what was sent.
    void stop() {
        {
            const std::lock_guard hold(guard_);
            is_stopping_ = true;
        }
        changed_.notify_one();
        if (thread_.joinable()) {
            thread_.join();
        }
    }

    /// Valid after stop().
    [[nodiscard]] const direction_seen& seen() const { return seen_; }

private:
    std::int64_t arrival(std::size_t size_bytes) {
        seen_.n_bytes += size_bytes;
        return model_.arrival_ns(now_ns(), size_bytes);
    }

    void run() {
        // If it had to wait for its turn among the threads that compute, the link would be slower than it is set.
        setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), -20);
        prctl(PR_SET_TIMERSLACK, 1UL); // ns; by default a sleep takes 50 us longer
        std::unique_lock hold(guard_);
        for (;;) {
            changed_.wait(hold, [&] { return is_stopping_ || !waiting_.empty(); });
            if (waiting_.empty()) {
                return;
            }
            transfer* const one = waiting_.front();
            waiting_.pop_front();
            hold.unlock();
            sleep_until(one->due_ns);
            const std::int64_t late_ns = now_ns() - one->due_ns;
            one->start(&one->inner);
            one->has_started.store(true, std::memory_order_release); // with the acquire in poll_transfer
            hold.lock();
            ++seen_.n_frames;
            seen_.late_us.push_back(static_cast<double>(late_ns) * 1e-3);
        }
    }

    std::mutex guard_;
    std::condition_variable changed_;
    link_model model_;
    std::deque<transfer*> waiting_;
    bool is_stopping_ = false;
    direction_seen seen_;
    std::thread thread_; ///< Last, since it uses the others.
};

/// From MPI_Init to MPI_Finalize. A preloaded library has no other place to keep it.
std::unique_ptr<link> the_link;
MPIX_Grequest_class transfer_class = 0;

int query_transfer(void* /*state*/, MPI_Status* status) {
    MPI_Status_set_elements_x(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int free_transfer(void* state) {
    delete static_cast<transfer*>(state);
    return MPI_SUCCESS;
}

int cancel_transfer(void* /*state*/, int /*is_complete*/) { return MPI_SUCCESS; }

int poll_transfer(void* state, MPI_Status* /*status*/) {
    auto* const one = static_cast<transfer*>(state);
    if (one->has_ended || !one->has_started.load(std::memory_order_acquire)) { // with the store in link::run
        return MPI_SUCCESS;
    }
    int has_ended = 0;
    const int result = PMPI_Test(&one->inner, &has_ended, MPI_STATUS_IGNORE);
    if (has_ended != 0) {
        one->has_ended = true;
        MPI_Grequest_complete(one->outer);
    }
    return result;
}

/// What MPI_Waitall calls.
int wait_for_transfers(int count, void** states, double /*limit_s*/, MPI_Status* status) {
    for (void* const state : std::span(states, static_cast<std::size_t>(count))) {
        while (!static_cast<transfer*>(state)->has_ended) {
            // What else the program has under way must go on meanwhile.
            int found = 0;
            PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
            if (const int result = poll_transfer(state, status); result != MPI_SUCCESS) {
                return result;
            }
        }
    }
    return MPI_SUCCESS;
}

/// A request that ends when `start`, called by the link's thread once the bytes have passed, gave one that has ended.
int send_later(std::size_t size_bytes, std::function<int(MPI_Request*)> start, MPI_Request* request) {
    auto one = std::make_unique<transfer>();
    one->start = std::move(start);
    const int result = MPIX_Grequest_class_allocate(transfer_class, one.get(), request);
    if (result != MPI_SUCCESS) {
        return result;
    }
    one->outer = *request;
    the_link->send(size_bytes, one.release());
    return MPI_SUCCESS;
}

std::size_t size_of(int count, MPI_Datatype type) {
    int size_bytes = 0;
    MPI_Type_size(type, &size_bytes);
    return static_cast<std::size_t>(count) * static_cast<std::size_t>(size_bytes);
}

bool is_this_process(MPI_Comm comm, int rank) {
    int own = 0;
    MPI_Comm_rank(comm, &own);
    return rank == own;
}

/// What leaves this rank: what it keeps for itself does not pass the link.
std::size_t bytes_to_others(const int* counts, MPI_Datatype type, MPI_Comm comm) {
    int n_ranks = 0;
    MPI_Comm_size(comm, &n_ranks);
    std::size_t sum = 0;
    for (int rank = 0; rank < n_ranks; ++rank) {
        sum += is_this_process(comm, rank) ? 0 : size_of(counts[rank], type);
    }
    return sum;
}

double number_in(const char* name, double otherwise) {
    const char* const text = std::getenv(name);
    if (text == nullptr) {
        return otherwise;
    }
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= 0)) {
        std::fprintf(stderr, "emulated link: %s=%s: a number is meant\n", name, text);
        std::exit(2);
    }
    return value;
}

void begin() {
    const double rate = number_in("EMULATED_LINK_RATE_MBS", 0);
    if (!(rate > 0)) {
        std::fprintf(stderr, "emulated link: EMULATED_LINK_RATE_MBS must say 10^6 bytes per second, more than 0\n");
        std::exit(2);
    }
    MPIX_Grequest_class_create(query_transfer, free_transfer, cancel_transfer, poll_transfer, wait_for_transfers,
                               &transfer_class);
    the_link = std::make_unique<link>(rate, number_in("EMULATED_LINK_DELAY_US", 0));
}

/// Rank 0 writes what all links carried.
void report() {
    const char* const file = std::getenv("EMULATED_LINK_REPORT");
    if (file == nullptr) {
        return;
    }
    constexpr int longest = 1024;
    const std::string text = describe(the_link->seen()).dump();
    std::array<char, longest> own{};
    text.copy(own.data(), own.size() - 1);
    int rank = 0;
    int n_ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    std::vector<char> all(static_cast<std::size_t>(longest) * static_cast<std::size_t>(n_ranks));
    PMPI_Gather(own.data(), longest, MPI_CHAR, all.data(), longest, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank != 0) {
        return;
    }
    nlohmann::ordered_json out;
    for (int from = 0; from < n_ranks; ++from) {
        out["directions"].push_back(
            nlohmann::ordered_json::parse(all.data() + (static_cast<std::size_t>(from) * longest)));
    }
    std::ofstream(file) << out.dump(2) << "\n";
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    // The link's thread calls MPI beside the program's.
    const int result = PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, provided);
    if (result != MPI_SUCCESS) {
        return result;
    }
    if (*provided != MPI_THREAD_MULTIPLE) {
        std::fprintf(stderr, "emulated link: needs an MPI with MPI_THREAD_MULTIPLE\n");
        std::exit(2);
    }
    *provided = required; // what the program may do is as without this library
    begin();
    return result;
}

int MPI_Init(int* argc, char*** argv) {
    int provided = 0;
    return MPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

int MPI_Finalize() {
    the_link->stop();
    report();
    the_link.reset();
    return PMPI_Finalize();
}

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
    if (to == MPI_PROC_NULL || is_this_process(comm, to)) {
        return PMPI_Isend(buffer, count, type, to, tag, comm, request);
    }
    return send_later(
        size_of(count, type), [=](MPI_Request* inner) { return PMPI_Isend(buffer, count, type, to, tag, comm, inner); },
        request);
}

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int result = MPI_Isend(buffer, count, type, to, tag, comm, &request);
    return result == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : result;
}

int MPI_Alltoallv(const void* from, const int* send_counts, const int* send_offsets, MPI_Datatype send_type, void* into,
                  const int* receive_counts, const int* receive_offsets, MPI_Datatype receive_type, MPI_Comm comm) {
    sleep_until(the_link->occupy(bytes_to_others(send_counts, send_type, comm)));
    return PMPI_Alltoallv(from, send_counts, send_offsets, send_type, into, receive_counts, receive_offsets,
                          receive_type, comm);
}

int MPI_Ialltoallv(const void* from, const int* send_counts, const int* send_offsets, MPI_Datatype send_type,
                   void* into, const int* receive_counts, const int* receive_offsets, MPI_Datatype receive_type,
                   MPI_Comm comm, MPI_Request* request) {
    return send_later(
        bytes_to_others(send_counts, send_type, comm),
        [=](MPI_Request* inner) {
            return PMPI_Ialltoallv(from, send_counts, send_offsets, send_type, into, receive_counts, receive_offsets,
                                   receive_type, comm, inner);
        },
        request);
}

} // extern "C"
#pragma GCC visibility pop
