// SPDX-License-Identifier: Apache-2.0
//
// bench_offload: one run of two ranks that answers one question and writes the samples of rank 0 as JSON. With
// --commself a thread of the program's own calls MPI without pause, as the miniapps' mode of that name does.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>

#include "common/self_progress.hpp"
#include "harness/report.h"
#include "offload/questions.h"

namespace {

using namespace commtask::bench::offload;

const std::map<std::string, std::function<void(const place&, int, answers&)>>& questions() {
    static const std::map<std::string, std::function<void(const place&, int, answers&)>> all{
        {"post", ask_post}, {"overlap", ask_overlap}, {"pingpong", ask_ping_pong}, {"threads", ask_threads}};
    return all;
}

} // namespace

int main(int argc, char** argv) {
    std::string question;
    std::string json_file;
    int most_samples = 200;
    bool with_commself = false;
    CLI::App app{
        "One question about offloading, answered by one run of two ranks; of one, which writes to itself, for post."};
    app.add_option("--question", question, "post, overlap, pingpong or threads")
        ->required()
        ->check(CLI::IsMember({"post", "overlap", "pingpong", "threads"}));
    app.add_option("--json", json_file, "where rank 0 writes the samples")->required();
    app.add_option("--samples", most_samples, "of a small message; large ones get fewer")
        ->check(CLI::Range(1, 1'000'000));
    app.add_flag("--commself", with_commself, "with a progress thread of the program's own");
    CLI11_PARSE(app, argc, argv);

    const int wanted = with_commself || question == "threads" ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
    int level = 0;
    int n_ranks = 0;
    place here;
    MPI_Init_thread(&argc, &argv, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &here.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    here.partner = n_ranks - 1 - here.rank;
    const bool is_alone = n_ranks == 1 && question == "post";
    if ((n_ranks != 2 && !is_alone) || level < wanted) {
        std::fprintf(stderr,
                     "bench_offload: needs two ranks (one will do for post) and the thread level that it asks for\n");
        MPI_Finalize();
        return 2;
    }
    answers out;
    {
        const auto progress = with_commself ? std::make_unique<miniapp::self_progress>() : nullptr;
        questions().at(question)(here, most_samples, out);
    }
    int failed = 0;
    if (here.rank == 0) {
        const std::string why = commtask::bench::write_document(out.document(), json_file);
        if (!why.empty()) std::fprintf(stderr, "bench_offload: cannot write %s: %s\n", json_file.c_str(), why.c_str());
        failed = why.empty() ? 0 : 1;
    }
    MPI_Finalize();
    return failed;
}
