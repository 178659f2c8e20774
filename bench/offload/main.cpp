// SPDX-License-Identifier: Apache-2.0
//
// bench_offload: one run of two ranks that answers one question and writes the samples of rank 0 as JSON.
// Which questions there are is in questions.h.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "harness/report.h"
#include "offload/questions.h"

namespace {

using namespace commtask::bench::offload;

const std::map<std::string, std::function<void(const place&, int, answers&)>>& questions() {
    static const std::map<std::string, std::function<void(const place&, int, answers&)>> all{
        {"post", ask_post}, {"overlap", ask_overlap}, {"pingpong", ask_ping_pong}, {"harmless", ask_harmless}};
    return all;
}

} // namespace

int main(int argc, char** argv) {
    std::string question;
    std::string json_file;
    int most_samples = 200;
    CLI::App app{"One benchmark of commtask-run: two ranks, or for post also one rank that sends to itself."};
    app.add_option("--question", question, "post, overlap, pingpong or harmless")
        ->required()
        ->check(CLI::IsMember({"post", "overlap", "pingpong", "harmless"}));
    app.add_option("--json", json_file, "the file for the samples")->required();
    app.add_option("--samples", most_samples, "samples per small message; large messages get fewer")
        ->check(CLI::Range(1, 1'000'000));
    CLI11_PARSE(app, argc, argv);

    int level = 0;
    int n_ranks = 0;
    place here;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &here.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    here.partner = n_ranks - 1 - here.rank;
    const bool is_alone = n_ranks == 1 && question == "post";
    if (n_ranks != 2 && !is_alone) {
        std::fprintf(stderr, "bench_offload: needs two ranks (one will do for post)\n");
        MPI_Finalize();
        return 2;
    }
    answers out;
    questions().at(question)(here, most_samples, out);
    int failed = 0;
    if (here.rank == 0) {
        const std::string why = commtask::bench::write_document(out.document(), json_file);
        if (!why.empty()) std::fprintf(stderr, "bench_offload: cannot write %s: %s\n", json_file.c_str(), why.c_str());
        failed = why.empty() ? 0 : 1;
    }
    MPI_Finalize();
    return failed;
}
