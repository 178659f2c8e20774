// SPDX-License-Identifier: Apache-2.0
// Every schedule, for both methods and precisions, gives the bits of the serial one, sends exactly what the formula says
// (as MPI itself sees it), and stays right when its pieces take random times. Bits, not tolerances: a segment that was
// consumed before its last block came would differ in a few numbers only.
#include "common/runtime_session.hpp"
#include "counted_mpi.hpp"
#include "distributed_fft.hpp"
#include "exchange/urgent_sender.hpp"
#include "presets.hpp"
#include "reference.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>

using namespace soi;

namespace {

/// Of one rank; works on 1, 2, 3 and 4 ranks, and leaves each enough tiles for four chunks of two pieces.
constexpr index_type points_per_rank = 27 * (1 << 10);
constexpr int n_segments = 3;

int rank_of_world() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int size_of_world() {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

/// Ranks that outnumber the cores hand each message over by the scheduler's slices, seconds for one transform of many
/// blocks: there every case runs, but fewer times.
int times(int on_few_ranks, int on_many) { return size_of_world() <= 2 ? on_few_ranks : on_many; }

template <class Real>
struct transformer {
    using complex = std::complex<Real>;

    transformer(method by, int n_workers, int n_chunks, int n_pieces) {
        transform_options options;
        options.sizes = {points_per_rank * size_of_world(), size_of_world(), n_segments, n_chunks, n_pieces,
                         find_preset("full")->window};
        options.rank = rank_of_world();
        options.n_workers = n_workers;
        options.effort = rigor::estimate;
        fft = make_fft<Real>(by, options);
        for (index_type j = 0; j < points_per_rank; ++j) {
            x.push_back(std::complex<Real>(random_point(options.rank * points_per_rank + j)));
        }
        y.resize(x.size());
        fft->bind(x.data(), y.data());
    }

    tiled::phase_times run(tiled::schedule& under) {
        std::fill(y.begin(), y.end(), complex{});
        under.barrier();
        const tiled::phase_times took = fft->run(under);
        under.barrier();
        return took;
    }

    std::vector<complex> x;
    std::vector<complex> y;
    std::unique_ptr<distributed_fft<Real>> fft;
};

template <class Real>
bool same_bits(const std::vector<std::complex<Real>>& a, const std::vector<std::complex<Real>>& b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0;
}

struct setting {
    tiled::mode which;
    int n_cores;
    bool has_plan = false;
};

std::vector<setting> settings() {
    std::vector<setting> all;
    for (const tiled::mode_description& m : tiled::modes()) {
        all.push_back({m.which, 1});
        // One of the modes that share a shape is enough with several threads: on two cores they take turns.
        if (m.which == tiled::mode::p2p || m.has_worker) all.push_back({m.which, 3});
    }
    for (const tiled::mode which : {tiled::mode::offload, tiled::mode::omp}) all.push_back({which, 3, true});
    return all;
}

class Schedules : public testing::TestWithParam<setting> {
protected:
    tiled::mode which() const { return GetParam().which; }
    int n_threads() const { return tiled::compute_threads_of(which(), GetParam().n_cores); }
    std::unique_ptr<tiled::schedule> schedule(MPI_Comm comm = MPI_COMM_WORLD) const {
        return tiled::make_schedule(which(),
                                    {.comm = comm, .n_cores = GetParam().n_cores, .has_plan = GetParam().has_plan});
    }
};

template <class Real>
void compare_with_serial(method by, tiled::schedule& under, int n_threads) {
    transformer<Real> plain(by, 1, 1, 1);
    plain.run(*tiled::make_schedule(tiled::mode::serial, {.comm = MPI_COMM_WORLD}));
    for (const int chunks : {1, 2, 5}) {
        for (const int pieces : {1, 3}) {
            transformer<Real> other(by, n_threads, chunks, pieces);
            for (int round = 0; round < times(3, 1); ++round) {
                other.run(under);
                EXPECT_TRUE(same_bits(other.y, plain.y))
                    << chunks << " chunks, " << pieces << " pieces, round " << round;
            }
        }
    }
}

TEST_P(Schedules, GiveTheBitsOfTheSerialOne) {
    const miniapp::runtime_session runtime(tiled::describe(which()).has_worker);
    const auto under = schedule();
    compare_with_serial<double>(method::soi, *under, n_threads());
    compare_with_serial<float>(method::soi, *under, n_threads());
    compare_with_serial<double>(method::six_step, *under, n_threads());
}

TEST_P(Schedules, SendExactlyWhatTheFormulaSays) {
    const miniapp::runtime_session runtime(tiled::describe(which()).has_worker);
    const auto under = schedule();
    const int n_ranks = size_of_world();
    transformer<double> soi(method::soi, n_threads(), 4, 1);
    under->barrier();
    const test::counted before = test::counted_so_far();
    const tiled::traffic sent = soi.fft->run(*under).sent;
    const test::counted after = test::counted_so_far();
    under->barrier();
    // 16 mu (N / P) (1 - 1 / P) bytes in k C (P - 1) messages, and 16 B S bytes of halo.
    const index_type all_to_all = 16 * 5 * points_per_rank / 4 * (n_ranks - 1) / n_ranks;
    const index_type halo = n_ranks == 1 ? 0 : 16 * 36 * n_segments * n_ranks;
    EXPECT_EQ(sent.bytes, all_to_all);
    EXPECT_EQ(sent.messages, n_segments * 4 * (n_ranks - 1));
    EXPECT_EQ(sent.halo_bytes, halo);
    EXPECT_EQ(sent, soi.fft->expected_traffic());
    EXPECT_EQ(after.bytes - before.bytes, all_to_all + halo) << "as MPI sees it";
    const bool by_collective = which() == tiled::mode::baseline || which() == tiled::mode::seg;
    const index_type halo_messages = n_ranks == 1 ? 0 : 1;
    const index_type seen = which() == tiled::mode::partitioned ? sent.messages / 4 : by_collective ? 0 : sent.messages;
    EXPECT_EQ(after.messages - before.messages, seen + halo_messages) << "as MPI sees it";
    // Six-step: three exchanges of N.
    transformer<double> six(method::six_step, n_threads(), 4, 1);
    EXPECT_EQ(six.run(*under).sent.bytes, 3 * 16 * points_per_rank * (n_ranks - 1) / n_ranks);
}

TEST_P(Schedules, WorkOnTwoCommunicatorsInTurn) {
    const miniapp::runtime_session runtime(tiled::describe(which()).has_worker);
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    {
        const auto first = schedule();
        const auto second = schedule(other);
        transformer<double> a(method::soi, n_threads(), 2, 1);
        transformer<double> b(method::soi, n_threads(), 3, 2);
        for (int round = 0; round < times(5, 2); ++round) {
            a.run(*first);
            b.run(*second);
            EXPECT_TRUE(same_bits(a.y, b.y)) << "round " << round;
        }
    }
    MPI_Comm_free(&other);
}

TEST_P(Schedules, RefuseANullCommunicator) { EXPECT_THROW(schedule(MPI_COMM_NULL), std::invalid_argument); }

/// In the other modes MPI's own error handler ends the program.
class SchedulesOfTheRuntime : public Schedules {};

TEST_P(SchedulesOfTheRuntime, GiveTheSameBitsHoweverManyMessagesAreInFlight) {
    const miniapp::runtime_session runtime(true);
    transformer<double> plain(method::soi, 1, 1, 1);
    plain.run(*tiled::make_schedule(tiled::mode::serial, {.comm = MPI_COMM_WORLD}));
    for (const int at_once : {0, 1, 3}) {
        const auto under =
            tiled::make_schedule(which(), {.comm = MPI_COMM_WORLD, .n_cores = GetParam().n_cores, .at_once = at_once});
        transformer<double> other(method::soi, n_threads(), 4, 1);
        EXPECT_EQ(other.run(*under).sent.messages, 4 * n_segments * (size_of_world() - 1)) << at_once;
        EXPECT_TRUE(same_bits(other.y, plain.y)) << at_once << " at once";
    }
}

TEST_P(SchedulesOfTheRuntime, ThrowInMpisWordsWhenASendFails) {
    const miniapp::runtime_session runtime(true);
    if (size_of_world() == 1) return; // it has no messages
    const auto under = schedule();
    transformer<double> soi(method::soi, n_threads(), 4, 1);
    under->barrier();
    test::spoil_send(2); // the first is the halo's
    try {
        soi.fft->run(*under);
        ADD_FAILURE() << "no exception";
    } catch (const std::runtime_error& error) {
        char words[MPI_MAX_ERROR_STRING];
        int length = 0;
        MPI_Error_string(MPI_ERR_INTERN, words, &length);
        EXPECT_EQ(error.what(), "a message failed: " + std::string(words));
    }
    under->barrier();
    transformer<double> plain(method::soi, n_threads(), 1, 1);
    plain.run(*under);
    soi.run(*under);
    EXPECT_TRUE(same_bits(soi.y, plain.y));
}

TEST_P(SchedulesOfTheRuntime, ThrowWhenAMessageFailsAfterAllOthersHaveEnded) {
    const miniapp::runtime_session runtime(true);
    const auto under = schedule();
    transformer<double> soi(method::soi, n_threads(), 4, 1);
    under->barrier();
    if (size_of_world() > 1) { // one rank has no messages
        // By MPI's default a message that nobody looks at would end the job.
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        test::spoil_next_receive();
        EXPECT_THROW(soi.fft->run(*under), std::runtime_error);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    }
    // Nothing of that run is left that a message of the next could be taken for.
    under->barrier();
    const auto again = schedule();
    transformer<double> plain(method::soi, n_threads(), 1, 1);
    plain.run(*again);
    transformer<double> other(method::soi, n_threads(), 4, 1);
    other.run(*again);
    EXPECT_TRUE(same_bits(other.y, plain.y));
}

/// Computes nothing for a random time before each piece, so that pieces overtake each other.
class hesitating_work final : public tiled::work {
public:
    hesitating_work(tiled::work& of, unsigned seed) : of_(of), seed_(seed) {}

    const tiled::layout& sizes() const override { return of_.sizes(); }
    std::byte* outgoing() override { return of_.outgoing(); }
    std::byte* incoming() override { return of_.incoming(); }
    int pieces_per_chunk() const override { return of_.pieces_per_chunk(); }
    tiled::halo neighbour() override { return of_.neighbour(); }
    bool needs_halo(int piece) const override { return of_.needs_halo(piece); }
    void begin() override {
        hesitate(1);
        of_.begin();
    }
    void produce(int piece, int worker) override {
        hesitate(static_cast<unsigned>(2 * piece + 2));
        of_.produce(piece, worker);
    }
    void consume(int segment, int worker) override {
        hesitate(static_cast<unsigned>(2 * segment + 3));
        of_.consume(segment, worker);
    }

private:
    void hesitate(unsigned which) const {
        std::minstd_rand random(seed_ * 1000 + which);
        random.discard(3);
        // Up to some ten microseconds; the result is stored so that the loop is not removed.
        for (auto left = random() % 4 == 0 ? random() % 10000 : 0; left > 0; --left) random();
        sink_.store(static_cast<unsigned>(random()), std::memory_order_relaxed);
    }

    tiled::work& of_;
    unsigned seed_;
    mutable std::atomic<unsigned> sink_{0};
};

TEST_P(Schedules, StayRightWhenPiecesHesitate) {
    const miniapp::runtime_session runtime(tiled::describe(which()).has_worker);
    const auto under = schedule();
    transformer<double> plain(method::soi, 1, 1, 1);
    plain.run(*tiled::make_schedule(tiled::mode::serial, {.comm = MPI_COMM_WORLD}));
    transformer<double> other(method::soi, n_threads(), 4, 3);
    // Two hundred over all settings.
    const auto seeds = static_cast<unsigned>(times(200, 50)) / static_cast<unsigned>(settings().size());
    for (unsigned seed = 0; seed < seeds; ++seed) {
        std::fill(other.y.begin(), other.y.end(), std::complex<double>{});
        // Ranks hesitate at different pieces.
        hesitating_work work(*other.fft->exchanges()[0], 17 * seed + static_cast<unsigned>(rank_of_world()));
        static_cast<void>(under->run(work));
        under->barrier();
        ASSERT_TRUE(same_bits(other.y, plain.y)) << "seed " << seed;
    }
}

TEST_P(Schedules, TellWhatRanWhen) {
    const miniapp::runtime_session runtime(tiled::describe(which()).has_worker);
    const auto under = schedule();
    transformer<double> soi(method::soi, n_threads(), 2, 2);
    std::vector<tiled::span> trace;
    under->trace_to(&trace);
    const tiled::phase_times took = soi.run(*under);
    int n_produced = 0;
    int n_consumed = 0;
    for (const tiled::span& s : trace) {
        n_produced += s.what == tiled::span::kind::produce ? 1 : 0;
        n_consumed += s.what == tiled::span::kind::consume ? 1 : 0;
        EXPECT_LE(s.begin, s.end);
        EXPECT_LE(s.end, took.total);
        EXPECT_LT(s.worker, under->compute_threads());
    }
    EXPECT_EQ(n_produced, 4);
    EXPECT_EQ(n_consumed, n_segments);
    EXPECT_GT(took.internal, 0);
    EXPECT_LE(took.internal + took.external, took.total);
}

/// Large enough that no send ends before its receive is there: what is handed over meanwhile has to wait.
TEST(UrgentSender, PostsTheMostUrgentOfThoseThatWait) {
    if (size_of_world() == 1) return;
    const miniapp::runtime_session runtime(true);
    const std::vector<std::byte> content(4 << 20);
    struct place {
        int segment;
        int chunk;
    };
    const std::vector<place> handed_over = {{5, 0}, {3, 1}, {1, 2}, {3, 0}};
    const auto order_of_arrival = [&](int at_once) {
        std::vector<int> tags;
        if (rank_of_world() == 0) {
            tiled::urgent_sender sender({MPI_COMM_WORLD}, at_once);
            sender.begin(static_cast<int>(handed_over.size()));
            for (const place& one : handed_over) {
                sender.send({content.data(), static_cast<MPI_Count>(content.size()), 1, 10 * one.segment + one.chunk,
                             one.segment, one.chunk, 1});
            }
            commtask_t all_handed_over = COMMTASK_NULL;
            miniapp::require(
                commtask_post(commtask_op_send(nullptr, 0, MPI_BYTE, 1, 99, MPI_COMM_WORLD), nullptr, &all_handed_over),
                "commtask_post");
            miniapp::require(commtask_wait(&all_handed_over, nullptr), "commtask_wait");
            sender.finish();
            EXPECT_EQ(sender.failure(), "");
        } else if (rank_of_world() == 1) {
            std::vector<std::byte> into(content.size());
            MPI_Recv(nullptr, 0, MPI_BYTE, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (std::size_t k = 0; k < handed_over.size(); ++k) {
                MPI_Status status;
                MPI_Recv(into.data(), static_cast<int>(into.size()), MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
                tags.push_back(status.MPI_TAG);
            }
        }
        return tags;
    };
    for (const auto& [at_once, right] :
         {std::pair{1, std::vector{50, 12, 30, 31}}, std::pair{0, std::vector{50, 31, 12, 30}}}) {
        const std::vector<int> tags = order_of_arrival(at_once);
        EXPECT_EQ(tags, rank_of_world() == 1 ? right : std::vector<int>()) << at_once << " at once";
    }
}

std::string name_of_setting(const testing::TestParamInfo<setting>& instance) {
    return std::string(tiled::describe(instance.param.which).name) + "_" + std::to_string(instance.param.n_cores) +
           "_cores" + (instance.param.has_plan ? "_plan" : "");
}

/// What is spoilt there are MPI_Isend and MPI_Irecv, and a plan has persistent requests.
std::vector<setting> settings_of_the_runtime() {
    std::vector<setting> all = settings();
    std::erase_if(all, [](const setting& one) { return !tiled::describe(one.which).has_worker || one.has_plan; });
    return all;
}

INSTANTIATE_TEST_SUITE_P(All, Schedules, testing::ValuesIn(settings()), name_of_setting);
INSTANTIATE_TEST_SUITE_P(All, SchedulesOfTheRuntime, testing::ValuesIn(settings_of_the_runtime()), name_of_setting);

} // namespace
