// SPDX-License-Identifier: Apache-2.0
//
// commtask_delayed: runs two ranks of an MPI program in two network namespaces with a wire of known delay and rate
// between them. This process is the wire: when it ends, in whatever way, namespaces and devices go with it. It needs
// root and /dev/net/tun and says so with exit status 77, which test drivers show as skipped.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "delayed/forwarder.h"
#include "delayed/tap.h"
#include "harness/report.h"

namespace {

using namespace commtask::bench;

constexpr int exit_skipped = 77;
constexpr int n_ends = 2;

struct command_line {
    wire_settings wire;
    std::string report_file;
    std::string mpiexec = COMMTASK_MPIEXEC;
    std::vector<std::string> program;
};

std::string folder_of_this_program() {
    std::string path(4096, '\0');
    const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
    path.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return path.substr(0, path.rfind('/'));
}

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    std::size_t begin = 0;
    while ((begin = text.find_first_not_of(' ', begin)) != std::string::npos) {
        const std::size_t end = text.find(' ', begin);
        words.push_back(text.substr(begin, end - begin));
        begin = end;
    }
    return words;
}

/// What makes MPICH use the wire alone: the ranks would find each other's shared memory otherwise.
void set_mpi_environment() {
    setenv("MPIR_CVAR_NOLOCAL", "1", 1);
    setenv("UCX_TLS", "tcp,self", 1);
    setenv("UCX_NET_DEVICES", device_name, 1);
}

/// Starts mpiexec in a process group of its own, so that one signal reaches all it started.
pid_t start_ranks(const command_line& given) {
    std::vector<std::string> words = words_of(given.mpiexec);
    words.insert(words.end(), {"-n", std::to_string(n_ends), folder_of_this_program() + "/commtask_delayed_enter"});
    words.insert(words.end(), given.program.begin(), given.program.end());
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, nullptr);
        execvp(arguments.front(), arguments.data());
        std::perror(arguments.front());
        _exit(127);
    }
    return child;
}

/// Waits for the ranks and hands SIGINT, SIGTERM and SIGHUP on to them; a second one kills them.
int wait_for_ranks(pid_t child, const sigset_t& watched) {
    int signalled = 0;
    for (;;) {
        int received = 0;
        sigwait(&watched, &received);
        if (received != SIGCHLD) {
            kill(-child, signalled != 0 ? SIGKILL : received);
            signalled = received;
            continue;
        }
        int status = 0;
        if (waitpid(child, &status, WNOHANG) == child) {
            if (signalled != 0) {
                return 128 + signalled;
            }
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
    }
}

nlohmann::ordered_json describe_forwarder(const forwarder::statistics& seen) {
    nlohmann::ordered_json out = describe(seen);
    out["forwarder_cpu_s"] = seen.busy_s;
    out["real_time_priority"] = seen.is_real_time;
    return out;
}

void report(const command_line& given, const forwarder& there, const forwarder& back) {
    nlohmann::ordered_json out;
    out["delay_us"] = given.wire.delay_us;
    out["rate_mb_per_s"] = given.wire.rate_mb_per_s;
    out["directions"] = {describe_forwarder(there.seen()), describe_forwarder(back.seen())};
    if (given.report_file.empty()) {
        for (auto& direction : out["directions"]) direction.erase("late_us"); // a page of numbers
        std::fprintf(stderr, "wire: %s\n", out.dump().c_str());
        return;
    }
    if (const std::string why = write_document(out, given.report_file); !why.empty()) {
        std::fprintf(stderr, "commtask_delayed: cannot write %s: %s\n", given.report_file.c_str(), why.c_str());
    }
}

int run(const command_line& given) {
#ifdef COMMTASK_DELAYED_REFUSAL
    std::fprintf(stderr, "commtask_delayed: %s\n", COMMTASK_DELAYED_REFUSAL);
    return exit_skipped;
#endif
    if (const std::string reason = why_no_wire(); !reason.empty()) {
        std::fprintf(stderr, "commtask_delayed: %s\n", reason.c_str());
        return exit_skipped;
    }
    sigset_t watched;
    sigemptyset(&watched);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) {
        sigaddset(&watched, signal);
    }
    // Blocked before the forwarders start, since threads inherit the mask: every signal then comes to sigwait.
    sigprocmask(SIG_BLOCK, &watched, nullptr);

    const wire_end first = make_wire_end(0);
    const wire_end second = make_wire_end(1);
    forwarder there(given.wire, first.tap.get(), second.tap.get());
    forwarder back(given.wire, second.tap.get(), first.tap.get());
    there.start();
    back.start();
    const std::string prefix = "/proc/" + std::to_string(getpid()) + "/fd/";
    setenv("COMMTASK_BENCH_NAMESPACE_0", (prefix + std::to_string(first.network_namespace.get())).c_str(), 1);
    setenv("COMMTASK_BENCH_NAMESPACE_1", (prefix + std::to_string(second.network_namespace.get())).c_str(), 1);
    set_mpi_environment();
    const pid_t child = start_ranks(given);
    if (child < 0) {
        std::perror("commtask_delayed: fork");
        return EXIT_FAILURE;
    }
    const int status = wait_for_ranks(child, watched);
    there.stop();
    back.stop();
    report(given, there, back);
    return status;
}

} // namespace

int main(int argc, char** argv) {
    command_line given;
    CLI::App app{"Runs PROGRAM as two MPI ranks with a wire of known delay and rate between them (needs root)."};
    app.add_option("--delay-us", given.wire.delay_us, "one-way delay")->check(CLI::Range(0.0, 1e6));
    app.add_option("--rate-mbs", given.wire.rate_mb_per_s, "rate of each direction in 10^6 bytes/s")
        ->check(CLI::Range(0.01, 1e5));
    app.add_option("--report", given.report_file, "write what the wire carried, and how late, to this JSON file");
    app.add_option("--mpiexec", given.mpiexec, "launcher with its own options")->capture_default_str();
    app.add_option("program", given.program, "program and its arguments, after --")->required();
    app.prefix_command(false);
    CLI11_PARSE(app, argc, argv);
    try {
        return run(given);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "commtask_delayed: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
