// SPDX-License-Identifier: Apache-2.0
//
// Uses an anonymous file (memfd) instead of a file in /dev/shm, which a killed rank would leave
// there. The file's link in /proc, by which the other ranks open it, contains the job's key. So
// each rank can check that it opens the first rank's file, and not that of another process with the
// same number.
#include "doorbell/node_segment.hpp"

#include "base/system.hpp"
#include "node/node_map.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace commtask::detail {
namespace {

/// A descriptor that the destructor closes.
class open_file {
public:
    explicit open_file(int descriptor) noexcept : descriptor_(descriptor) {}
    open_file(const open_file&) = delete;
    open_file& operator=(const open_file&) = delete;
    ~open_file() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    [[nodiscard]] int get() const noexcept { return descriptor_; }

private:
    int descriptor_;
};

/// A communicator that the destructor frees.
class own_comm {
public:
    own_comm() noexcept = default;
    own_comm(const own_comm&) = delete;
    own_comm& operator=(const own_comm&) = delete;
    ~own_comm() {
        if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    }
    MPI_Comm comm = MPI_COMM_NULL;
};

[[nodiscard]] std::array<char, 64> name_of(std::uint64_t key) noexcept {
    std::array<char, 64> name{};
    std::snprintf(name.data(), name.size(), "commtask-node-%016llx", static_cast<unsigned long long>(key));
    return name;
}

[[nodiscard]] std::unique_ptr<node_segment> map(int file, std::size_t n_bytes) noexcept {
    if (file < 0) return nullptr;
    void* const mapped = mmap(nullptr, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) return nullptr;
    auto* const made = new (std::nothrow) node_segment{mapped, n_bytes};
    if (made == nullptr) {
        munmap(mapped, n_bytes);
        errno = ENOMEM;
    }
    return std::unique_ptr<node_segment>{made};
}

/// Creates a communicator of the ranks of this node, or of the ranks that count as a node.
/// @return an MPI error code
[[nodiscard]] int split(int n_ranks_per_node, MPI_Comm* node) noexcept {
    own_comm real;
    const int code = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &real.comm);
    if (code != MPI_SUCCESS || n_ranks_per_node == 0) {
        *node = std::exchange(real.comm, MPI_COMM_NULL);
        return code;
    }
    int world_rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    return MPI_Comm_split(real.comm, world_rank / n_ranks_per_node, 0, node);
}

[[nodiscard]] bool is_true_for_all(MPI_Comm comm, bool mine) noexcept {
    const int of_me = mine ? 1 : 0;
    int of_all = 0;
    return MPI_Allreduce(&of_me, &of_all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && of_all != 0;
}

} // namespace

int make_offered_file(std::uint64_t key, std::size_t n_bytes) noexcept {
    const int made = memfd_create(name_of(key).data(), MFD_CLOEXEC);
    if (made < 0) return -1;
    if (ftruncate(made, static_cast<off_t>(n_bytes)) == 0) return made;
    ::close(made);
    return -1;
}

int open_offered_file(const segment_offer& from) noexcept {
    std::array<char, 64> path{};
    std::array<char, 128> target{};
    std::snprintf(path.data(), path.size(), "/proc/%lld/fd/%lld", static_cast<long long>(from.process),
                  static_cast<long long>(from.descriptor));
    const ssize_t length = readlink(path.data(), target.data(), target.size() - 1);
    if (length <= 0) return -1;
    const std::string_view found{target.data(), static_cast<std::size_t>(length)};
    if (found.find(name_of(from.key).data()) == std::string_view::npos) {
        errno = ENOENT; // In this rank's /proc, another process has this number.
        return -1;
    }
    return open(path.data(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

node_segment::node_segment(void* mapped, std::size_t n_bytes) noexcept : mapped_(mapped), n_bytes_(n_bytes) {
    madvise(mapped, n_bytes, MADV_DONTFORK); // a child process must not ring doorbells
}
node_segment::~node_segment() { munmap(mapped_, n_bytes_); }

opened_segment collective_open_segment(const segment_request& mine, std::size_t page_bytes) noexcept {
    own_comm node;
    if (split(mine.n_ranks_per_node, &node.comm) != MPI_SUCCESS || node.comm == MPI_COMM_NULL) return {};
    int n_ranks = 1;
    int me = 0;
    int world_rank = 0;
    MPI_Comm_size(node.comm, &n_ranks);
    MPI_Comm_rank(node.comm, &me);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    if (n_ranks < 2 || is_true_for_all(node.comm, !mine.wants)) return {};

    const std::size_t n_bytes = static_cast<std::size_t>(n_ranks) * page_bytes;
    segment_offer made{getpid(), -1, now_ns() ^ static_cast<std::uint64_t>(getpid()) << 40U};
    int reason = 0;
    if (me == 0) {
        made.descriptor = make_offered_file(made.key, n_bytes);
        reason = made.descriptor < 0 ? errno : 0;
    }
    const open_file own{me == 0 ? static_cast<int>(made.descriptor) : -1};
    if (MPI_Bcast(&made, sizeof made, MPI_BYTE, 0, node.comm) != MPI_SUCCESS) return {};
    opened_segment result;
    std::unique_ptr<int[]> ranks{new (std::nothrow) int[2 * static_cast<std::size_t>(n_ranks)]};
    if (made.descriptor >= 0) {
        const open_file theirs{me == 0 ? -1 : open_offered_file(made)};
        result.segment = map(me == 0 ? own.get() : theirs.get(), n_bytes);
        if (!result.segment) reason = errno;
    }
    try {
        if (result.segment && ranks) result.segment->world_ranks.resize(static_cast<std::size_t>(n_ranks));
    } catch (const std::bad_alloc&) {
        ranks.reset();
    }
    if (!ranks && reason == 0) reason = ENOMEM;
    int worst = 0;
    MPI_Allreduce(&reason, &worst, 1, MPI_INT, MPI_MAX, node.comm);
    // After all ranks have mapped the file, the first rank closes it, and only the mappings remain.
    if (!is_true_for_all(node.comm, result.segment != nullptr && ranks != nullptr)) {
        result.segment.reset();
        try {
            if (me == 0)
                result.failure = std::string{"the ranks of this node cannot share memory: "} + std::strerror(worst);
        } catch (const std::bad_alloc&) { // No memory: no failure is reported.
        }
        return result;
    }
    const std::array<int, 2> told{world_rank, mine.has_core ? 1 : 0};
    if (MPI_Allgather(told.data(), 2, MPI_INT, ranks.get(), 2, MPI_INT, node.comm) != MPI_SUCCESS) return {};
    node_segment& found = *result.segment;
    found.me = static_cast<std::size_t>(me);
    for (std::size_t node_rank = found.world_ranks.size(); node_rank-- > 0;) {
        found.world_ranks[node_rank] = ranks[2 * node_rank];
        if (ranks[2 * node_rank + 1] != 0) found.leader = node_rank;
    }
    return result;
}

std::unique_ptr<node_segment> make_own_segment(int world_rank, std::size_t page_bytes) {
    void* const mapped = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc{};
    auto made = std::unique_ptr<node_segment>{new (std::nothrow) node_segment{mapped, page_bytes}};
    if (!made) {
        munmap(mapped, page_bytes);
        throw std::bad_alloc{};
    }
    made->world_ranks = {world_rank};
    made->leader = SIZE_MAX; // No rank sends announcements here.
    return made;
}

} // namespace commtask::detail
