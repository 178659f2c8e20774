// SPDX-License-Identifier: Apache-2.0
//
// The way of a plain MPI program, which runs natively, beside a progress thread and under commtask-run. Operations are
// request-based ones, which commtask-run makes tasks.
#include "rma/way.h"

#include <stdexcept>

namespace commtask::bench::rma {
namespace {

class by_mpi final : public way {
public:
    explicit by_mpi(const std::string& question) {
        int level = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        int n_ranks = 0;
        MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
        if (n_ranks != 2) throw std::runtime_error(question + " needs two ranks");
    }
    ~by_mpi() override { MPI_Finalize(); }

    [[nodiscard]] int rank() const override { return rank_; }
    void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }
    void share(double& value) override { MPI_Bcast(&value, 1, MPI_DOUBLE, origin, MPI_COMM_WORLD); }
    void open(MPI_Win window) override {
        window_ = window;
        MPI_Win_lock_all(0, window_);
    }
    void close() override { MPI_Win_unlock_all(window_); }

    void start(kind what, char* buffer, int bytes) override {
        const int n_words = bytes / 8;
        switch (what) {
        case kind::put: MPI_Rput(buffer, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, window_, &request_); return;
        case kind::get: MPI_Rget(buffer, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, window_, &request_); return;
        case kind::accumulate:
            MPI_Raccumulate(buffer, n_words, MPI_INT64_T, target, 0, n_words, MPI_INT64_T, MPI_SUM, window_, &request_);
            return;
        }
    }
    void finish(kind what) override {
        MPI_Wait(&request_, MPI_STATUS_IGNORE);
        if (what != kind::get) MPI_Win_flush(target, window_);
    }

private:
    int rank_ = 0;
    MPI_Win window_ = MPI_WIN_NULL;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

} // namespace

std::unique_ptr<way> make_way(const std::string& question) { return std::make_unique<by_mpi>(question); }
bool ask_more(way& /*by*/, const std::string& /*question*/, int /*n_samples*/, const std::string& /*json_file*/) {
    return false;
}

} // namespace commtask::bench::rma
