// SPDX-License-Identifier: Apache-2.0
//
// Question: is a task with eight bound messages cheaper than eight communication tasks? Measured are creating them (four receives
// and four sends to this rank), the whole burst with the wait for it, from MPI's message to the first instruction of the
// dependent task, and what a task with a dependence that starts nothing pays for being bound; all alternated in one run.
#include <commtask/omp.h>
#include <dlfcn.h>
#include <omp.h>

#include <random>

#include "harness/alternate.h"
#include "harness/clock.h"
#include "harness/report.h"
#include "harness/session.h"
#include "unblock/completion_trigger.h"

namespace {

using namespace commtask::bench;

constexpr int n_messages = 4;
constexpr int first_tag = 10;
constexpr int trigger_tag = 5;

struct messages {
    std::array<int, n_messages> sent{};
    std::array<int, n_messages> received{};
};

commtask_op receive(int* where, int tag) { return commtask_op_recv(where, 1, MPI_INT, 0, tag, MPI_COMM_SELF); }
commtask_op send(int* what, int tag) { return commtask_op_send(what, 1, MPI_INT, 0, tag, MPI_COMM_SELF); }

struct eight_tasks {
    static void create(messages& place) {
        for (std::size_t i = 0; i < n_messages; ++i) {
            COMM_TASK(recv(&place.received[i], 1, MPI_INT, 0, first_tag + static_cast<int>(i), MPI_COMM_SELF),
                      out(&place.received[i]));
        }
        for (std::size_t i = 0; i < n_messages; ++i) {
            COMM_TASK(send(&place.sent[i], 1, MPI_INT, 0, first_tag + static_cast<int>(i), MPI_COMM_SELF),
                      in(&place.sent[i]));
        }
    }
    static void create_one(int& received) {
        COMM_TASK(recv(&received, 1, MPI_INT, 0, trigger_tag, MPI_COMM_SELF), out(&received));
    }
};

struct one_held_task {
    static void create(messages& place) {
#pragma omp task depend(out : place.received) depend(in : place.sent) shared(place)
        {
            for (std::size_t i = 0; i < n_messages; ++i) {
                commtask_omp_bind(receive(&place.received[i], first_tag + static_cast<int>(i)));
            }
            for (std::size_t i = 0; i < n_messages; ++i) {
                commtask_omp_bind(send(&place.sent[i], first_tag + static_cast<int>(i)));
            }
        }
    }
    static void create_one(int& received) {
#pragma omp task depend(out : received) shared(received)
        commtask_omp_bind(receive(&received, trigger_tag));
    }
};

/// One sample per burst of eight messages, in nanoseconds per message.
template <typename Form>
void sample_burst(int n_threads, bool with_the_wait, round_samples& out) {
    messages place;
#pragma omp parallel num_threads(n_threads)
#pragma omp single
    for (int turn = -2; turn < 100; ++turn) {
        const std::uint64_t begin = ticks();
        Form::create(place);
        const std::uint64_t created = ticks();
#pragma omp taskwait
        const std::uint64_t end = with_the_wait ? ticks() : created;
        if (turn >= 0) out.push_back(ns_between(begin, end) / (2 * n_messages));
    }
}

/// One sample per message, in microseconds.
template <typename Form>
void sample_unblock(round_samples& out) {
    static std::mt19937 random(1);
    std::uniform_int_distribution<std::uint64_t> delay_ns(30'000, 80'000);
    int received = 0;
    std::uint64_t first_instruction = 0;
#pragma omp parallel num_threads(1)
    for (int turn = -2; turn < 50; ++turn) {
        Form::create_one(received);
#pragma omp task depend(in : received) shared(first_instruction)
        first_instruction = ticks();
        send_before_a_test(delay_ns(random), trigger_tag);
#pragma omp taskwait
        if (turn >= 0) out.push_back(ns_between(message_came_at(), first_instruction) * 1e-3);
    }
}

// What clang's code calls for a task; a task begins with five words, and these two functions are all of it that is asked here.
extern "C" {
using task_routine = std::int32_t (*)(std::int32_t thread, void* task);
std::int32_t __kmpc_global_thread_num(void* where);
void* __kmpc_omp_task_alloc(void* where, std::int32_t thread, std::int32_t flags, std::size_t size_bytes,
                            std::size_t shareds_bytes, task_routine routine);
struct dependence {
    const void* address;
    std::size_t size_bytes;
    std::uint8_t way;
};
std::int32_t __kmpc_omp_task_with_deps(void* where, std::int32_t thread, void* task, std::int32_t n, dependence* of,
                                       std::int32_t n_more, dependence* more);
}

/// libomp's own, past libcommtask-omp-bind.
decltype(&__kmpc_omp_task_alloc) of_libomp() {
    Dl_info libomp{};
    void* const loaded = dladdr(reinterpret_cast<const void*>(&omp_fulfill_event), &libomp) != 0
                             ? dlopen(libomp.dli_fname, RTLD_NOW | RTLD_NOLOAD)
                             : nullptr;
    if (loaded == nullptr) throw std::runtime_error("libomp was not found in the process");
    return reinterpret_cast<decltype(&__kmpc_omp_task_alloc)>(dlsym(loaded, "__kmpc_omp_task_alloc"));
}

/// Tasks that start nothing, in nanoseconds per task. Dependences are no matter of libcommtask-omp-bind: one function serves both.
void sample_empty(int n_threads, decltype(&__kmpc_omp_task_alloc) allocate, round_samples& out) {
    static std::array<char, 64> places;
    constexpr std::uint8_t inout = 3;
    constexpr int n_tasks = 500; // chains are slow in a team of 2
    static struct {
        std::int32_t numbers[4];
        const char* source;
    } here{{0, 2, 0, 0}, ";commtask;bench;0;0;;"};
    constexpr std::int32_t is_tied = 1;
    constexpr std::size_t size_bytes = 48;
#pragma omp parallel num_threads(n_threads)
#pragma omp single
    for (int turn = -2; turn < 20; ++turn) {
        const std::int32_t thread = __kmpc_global_thread_num(&here);
        const std::uint64_t begin = ticks();
        for (int i = 0; i < n_tasks; ++i) {
            void* const task =
                allocate(&here, thread, is_tied, size_bytes, 8, [](std::int32_t, void*) -> std::int32_t { return 0; });
            dependence one{&places.at(static_cast<std::size_t>(i) % places.size()), 1, inout};
            __kmpc_omp_task_with_deps(&here, thread, task, 1, &one, 0, nullptr);
        }
#pragma omp taskwait
        const std::uint64_t end = ticks();
        if (turn >= 0) out.push_back(ns_between(begin, end) / n_tasks);
    }
}

void ask(session& here, const options& given) {
    if (commtask_omp_bind_check() != COMMTASK_OK) throw std::runtime_error(commtask_omp_last_error());
    std::vector<side> sides;
    for (const int n : {1, 2}) {
        const std::string team = n == 1 ? ", team of 1" : ", team of 2";
        for (const bool is_whole : {false, true}) {
            const std::string what = (is_whole ? "burst" : "create") + team;
            sides.push_back({what + ": eight COMM_TASKs", "ns/message",
                             [=](auto& out) { sample_burst<eight_tasks>(n, is_whole, out); }});
            sides.push_back({what + ": one bound task", "ns/message",
                             [=](auto& out) { sample_burst<one_held_task>(n, is_whole, out); }});
        }
        const std::string empty = "empty task with a dependence" + team;
        sides.push_back({empty, "ns", [n, past = of_libomp()](auto& out) { sample_empty(n, past, out); }});
        sides.push_back({empty + ", bound", "ns", [n](auto& out) { sample_empty(n, &__kmpc_omp_task_alloc, out); }});
    }
    sides.push_back({"unblock: COMM_TASK", "us", [](auto& out) { sample_unblock<eight_tasks>(out); }});
    sides.push_back({"unblock: held task", "us", [](auto& out) { sample_unblock<one_held_task>(out); }});
    const std::vector<series> all = alternate(sides, given.rounds(100));
    if (tests_seen() == 0) {
        throw std::runtime_error("the runtime's tests bypass the trigger of this benchmark");
    }
    report out("bind", "one rank", here.machine());
    for (std::size_t i = 0; i < all.size(); i += 2) {
        out.add(all[i]);
        out.add(all[i + 1], all[i]);
    }
    out.publish(given.json_file);
}

} // namespace

int main(int argc, char** argv) {
    return run_benchmark(argc, argv, "One task with eight bound messages against eight communication tasks.", ask);
}
