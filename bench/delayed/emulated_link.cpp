// SPDX-License-Identifier: Apache-2.0
//
// A library to preload under an MPI program: its ranks then send as if each had a network adapter and a link of given
// rate. What it delays is made by MPI's own functions when the bytes would have passed, so the link takes no processor
// time, unlike TCP; copying between processes and what it takes to find out that a message came stay the program's. Each
// mode of a miniapp runs over the same links, at the price that only the functions below are delayed.
#include <mpi.h>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
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
#include <thread>
#include <utility>
#include <vector>

#include "delayed/direction_seen.h"
#include "delayed/link_model.h"
#include "harness/clock.h"

//   EMULATED_LINK_RATE_MBS   10^6 bytes per second that one rank can send (required)
//   EMULATED_LINK_DELAY_US   added to each transfer (0)
//   EMULATED_LINK_REPORT     rank 0 writes there in MPI_Finalize, as JSON, what the links carried and how late
//
// Delayed, in the order of the calls: MPI_Send, MPI_Isend, MPI_Alltoallv, MPI_Ialltoallv. All else passes at MPI's own
// speed, and overtakes what is still on the link: a program must not rely on the order of a delayed call and one that is
// not, on one communicator, nor free a datatype or communicator before its operations have ended, nor loop on
// MPI_Request_get_status, which in MPICH 4.0 does not poll. Collectives of intercommunicators and in place, and calls
// whose arguments are wrong, go straight to MPI. MPICH only: the program gets its extended generalized requests.
namespace {

using namespace commtask::bench;

void sleep_until(std::int64_t moment_ns) {
    const timespec moment{.tv_sec = moment_ns / ns_per_s, .tv_nsec = moment_ns % ns_per_s};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nullptr) == EINTR) {}
}

/// Something on its way: what hands it to MPI, and the request that MPI then gives. Owned by the link until it is started
/// and by the program's request until that is freed.
struct transfer {
    enum class state {
        waiting,   ///< On the link -> its thread (started), or the program (abandoned).
        started,   ///< `inner` is valid; the link's thread does not touch this any more. Whoever tests ends it.
        abandoned, ///< The program has freed its request -> the link's thread starts it and frees `inner`.
    };
    std::function<int(MPI_Request*)> start;
    std::int64_t due_ns = 0;              ///< 0: it does not pass the link, it is only to be started.
    MPI_Request outer = MPI_REQUEST_NULL; ///< The generalized request that the program holds.
    MPI_Request inner = MPI_REQUEST_NULL;
    std::atomic<state> now{state::waiting};
    bool has_ended = false;
    int result = MPI_SUCCESS; ///< Of starting it, then of all of it.
};

class link {
public:
    link(double rate_mb_per_s, double delay_us) : model_(static_cast<std::int64_t>(delay_us * 1e3), rate_mb_per_s) {
        seen_.late_us.reserve(direction_seen::most_late_samples);
        thread_ = std::thread([this] { run(); });
    }
    link(const link&) = delete;
    link& operator=(const link&) = delete;

    /// Occupies the link and sleeps until the last byte has passed.
    void pass(std::size_t size_bytes) {
        std::unique_lock hold(guard_);
        const std::int64_t due_ns = arrival(size_bytes);
        hold.unlock();
        sleep_until(due_ns);
        hold.lock();
        seen_.note(due_ns, now_ns());
    }

    /// Occupies the link; `one` is started when the last byte has passed.
    void send(std::size_t size_bytes, std::shared_ptr<transfer> one) {
        const std::lock_guard hold(guard_);
        one->due_ns = arrival(size_bytes);
        waiting_.push_back(std::move(one));
        changed_.notify_one();
    }

    /// Frees a request that MPI has under way. MPI calls free functions of requests where it must not be called.
    void discard(MPI_Request request) {
        auto one = std::make_shared<transfer>();
        one->start = [request](MPI_Request* inner) {
            *inner = request;
            return MPI_SUCCESS;
        };
        one->now = transfer::state::abandoned;
        const std::lock_guard hold(guard_);
        waiting_.push_back(std::move(one));
        changed_.notify_one();
    }

    /// Ends the thread after it has started what was sent. Once; must be called before the end.
    void stop() {
        {
            const std::lock_guard hold(guard_);
            is_stopping_ = true;
        }
        changed_.notify_one();
        thread_.join();
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
            const std::shared_ptr<transfer> one = std::move(waiting_.front());
            waiting_.pop_front();
            hold.unlock();
            sleep_until(one->due_ns);
            if (one->due_ns != 0) {
                hold.lock();
                seen_.note(one->due_ns, now_ns());
                hold.unlock();
            }
            start(*one);
            hold.lock();
        }
    }

    static void start(transfer& one) {
        one.result = one.start(&one.inner);
        auto expected = transfer::state::waiting;
        // acq_rel: with the acquire in poll_transfer, which reads `inner` and `result`; and with free_transfer.
        if (!one.now.compare_exchange_strong(expected, transfer::state::started, std::memory_order_acq_rel) &&
            one.inner != MPI_REQUEST_NULL) {
            PMPI_Request_free(&one.inner);
        }
    }

    std::mutex guard_;
    std::condition_variable changed_;
    link_model model_;
    std::deque<std::shared_ptr<transfer>> waiting_;
    bool is_stopping_ = false;
    direction_seen seen_;
    std::thread thread_;
};

/// From MPI_Init to MPI_Finalize; a preloaded library has no other place to keep it. A program that ends without
/// MPI_Finalize leaves it: its destructor would wait for a thread that may be inside MPI.
link* the_link = nullptr;
MPIX_Grequest_class transfer_class = 0;

/// What MPICH keeps with the request.
using request_state = std::shared_ptr<transfer>;

int query_transfer(void* state, MPI_Status* status) {
    PMPI_Status_set_elements_x(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return (*static_cast<request_state*>(state))->result; // MPICH makes it the request's error
}

int free_transfer(void* state) {
    const std::unique_ptr<request_state> own(static_cast<request_state*>(state));
    transfer& one = **own;
    auto expected = transfer::state::waiting;
    // acq_rel: with the link's thread, which starts it or has started it.
    if (!one.has_ended &&
        !one.now.compare_exchange_strong(expected, transfer::state::abandoned, std::memory_order_acq_rel) &&
        one.inner != MPI_REQUEST_NULL) {
        the_link->discard(one.inner);
    }
    return MPI_SUCCESS;
}

int cancel_transfer(void* /*state*/, int /*is_complete*/) { return MPI_SUCCESS; }

int poll_transfer(void* state, MPI_Status* /*status*/) {
    transfer& one = **static_cast<request_state*>(state);
    if (one.has_ended) {
        return MPI_SUCCESS;
    }
    int has_ended = 0;
    if (one.now.load(std::memory_order_acquire) == transfer::state::waiting) { // with link::start
        // MPICH polls without making progress; what else the program has under way must go on.
        return PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &has_ended, MPI_STATUS_IGNORE);
    }
    const int result = one.result != MPI_SUCCESS ? one.result : PMPI_Test(&one.inner, &has_ended, MPI_STATUS_IGNORE);
    if (has_ended != 0 || result != MPI_SUCCESS) {
        one.result = result;
        one.has_ended = true;
        PMPI_Grequest_complete(one.outer);
    }
    return MPI_SUCCESS; // the error is the completed request's: what a poll function gives, MPI_Waitall ignores
}

/// What MPI_Waitall calls.
int wait_for_transfers(int count, void** states, double /*limit_s*/, MPI_Status* status) {
    for (void* const state : std::span(states, static_cast<std::size_t>(count))) {
        while (!(*static_cast<request_state*>(state))->has_ended) {
            if (const int result = poll_transfer(state, status); result != MPI_SUCCESS) {
                return result;
            }
        }
    }
    return MPI_SUCCESS;
}

/// A request that ends when `start`, called by the link's thread once the bytes have passed, gave one that has ended.
int send_later(std::size_t size_bytes, std::function<int(MPI_Request*)> start, MPI_Request* request) {
    auto own = std::make_unique<request_state>(std::make_shared<transfer>());
    const request_state one = *own;
    one->start = std::move(start);
    const int result = PMPIX_Grequest_class_allocate(transfer_class, own.get(), request);
    if (result != MPI_SUCCESS) {
        return result;
    }
    static_cast<void>(own.release()); // free_transfer's
    one->outer = *request;
    the_link->send(size_bytes, one);
    return MPI_SUCCESS;
}

std::size_t size_of(int count, MPI_Datatype type) {
    MPI_Count size_bytes = 0;
    PMPI_Type_size_x(type, &size_bytes);
    return static_cast<std::size_t>(count) * static_cast<std::size_t>(size_bytes);
}

bool is_intercommunicator(MPI_Comm comm) {
    int is_inter = 0;
    PMPI_Comm_test_inter(comm, &is_inter);
    return is_inter != 0;
}

/// Whether the message goes to another process and has a size. Handles that are wrong end in MPI's own error here, as in
/// the call itself.
bool passes_the_link(int count, int to, MPI_Comm comm) {
    int own = 0;
    PMPI_Comm_rank(comm, &own);
    return count >= 0 && to >= 0 && (to != own || is_intercommunicator(comm));
}

/// Whether one rank's share of a collective is known here.
bool passes_the_link(const void* from, MPI_Comm comm) { return from != MPI_IN_PLACE && !is_intercommunicator(comm); }

/// What leaves this rank: what it keeps for itself does not pass the link.
std::size_t bytes_to_others(const int* counts, MPI_Datatype type, MPI_Comm comm) {
    int own = 0;
    int n_ranks = 0;
    PMPI_Comm_rank(comm, &own);
    PMPI_Comm_size(comm, &n_ranks);
    std::size_t sum = 0;
    for (int rank = 0; rank < n_ranks; ++rank) {
        sum += rank == own ? 0 : size_of(std::max(counts[rank], 0), type);
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
    PMPIX_Grequest_class_create(query_transfer, free_transfer, cancel_transfer, poll_transfer, wait_for_transfers,
                                &transfer_class);
    the_link = new link(rate, number_in("EMULATED_LINK_DELAY_US", 0)); // deleted in MPI_Finalize
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
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
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
    delete std::exchange(the_link, nullptr);
    return PMPI_Finalize();
}

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
    if (!passes_the_link(count, to, comm)) {
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
    if (passes_the_link(from, comm)) {
        the_link->pass(bytes_to_others(send_counts, send_type, comm));
    }
    return PMPI_Alltoallv(from, send_counts, send_offsets, send_type, into, receive_counts, receive_offsets,
                          receive_type, comm);
}

int MPI_Ialltoallv(const void* from, const int* send_counts, const int* send_offsets, MPI_Datatype send_type,
                   void* into, const int* receive_counts, const int* receive_offsets, MPI_Datatype receive_type,
                   MPI_Comm comm, MPI_Request* request) {
    if (!passes_the_link(from, comm)) {
        return PMPI_Ialltoallv(from, send_counts, send_offsets, send_type, into, receive_counts, receive_offsets,
                               receive_type, comm, request);
    }
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
