// SPDX-License-Identifier: Apache-2.0
//
// Writing to a page for which the disk has no space would end the process, so disk space is
// reserved in steps before its use. It is reserved by writing zeros, since the kernel then uses
// large pages: after fallocate every page of 4 KiB would cause a fault of 2 us, a third of a
// trace's cost with small tasks. Files of an earlier run in the same folder are replaced; a reader
// tells runs apart by their number. A file that a running process writes is locked, and is not
// replaced.
#include "report/trace_file.hpp"

#include "base/system.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace commtask::detail {
namespace {

template <std::size_t Size>
void copy_text(char (&into)[Size], std::string_view text) noexcept {
    const std::size_t count = std::min(text.size(), Size - 1);
    std::memcpy(into, text.data(), count);
    into[count] = '\0';
}

[[nodiscard]] std::string contents_of(const char* path) {
    std::string text;
    if (std::FILE* const file = std::fopen(path, "r")) {
        std::array<char, 512> part;
        text.assign(part.data(), std::fread(part.data(), 1, part.size(), file));
        std::fclose(file);
    }
    return text;
}

/// Each machine has its own clock, which restarts at each boot; a time namespace may shift the
/// clock.
[[nodiscard]] std::uint64_t clock_domain() {
    std::string text = contents_of("/proc/sys/kernel/random/boot_id");
    if (text.empty()) return 0;
    std::array<char, 64> space{};
    if (const ssize_t length = readlink("/proc/self/ns/time", space.data(), space.size()); length > 0) {
        text.append(space.data(), static_cast<std::size_t>(length));
    }
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3U;
    return hash;
}

[[nodiscard]] std::uint64_t time_of_day_ns() noexcept {
    std::timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

[[nodiscard]] std::string name_of(const trace_plan& plan) {
    const std::string again = plan.session > 1 ? "." + std::to_string(plan.session) : "";
    return plan.folder + "/rank-" + std::to_string(plan.rank) + again + ".cttrace";
}

[[nodiscard]] std::string refusal(const trace_plan& plan, const std::string& what, int error) {
    return "COMMTASK_TRACE=" + plan.folder + " is not valid: " + what + " (" + std::generic_category().message(error) +
           "); it must be a folder that this process can write to or create";
}

/// A lock ends with its process, and a child process does not inherit it. On a file system without
/// locks no file counts as locked. A read lock on a file that is not writable excludes a process
/// that writes it, but not another process that replaces it; flock() excludes the latter.
[[nodiscard]] bool is_locked_by_another(int descriptor, bool is_writable) noexcept {
    struct flock lock{};
    lock.l_type = is_writable ? F_WRLCK : F_RDLCK;
    lock.l_whence = SEEK_SET;
    if (::fcntl(descriptor, F_SETLK, &lock) != 0 && (errno == EAGAIN || errno == EACCES)) return true;
    return !is_writable && ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/// Opens the file for this process. Only a process that has locked the file of this name unlinks
/// it, so concurrent processes never lose a file that one of them has begun. A file that is not
/// writable is replaced if its folder is writable.
/// @return an empty file, locked by this process; below 0: errno has the reason, EBUSY if a running
/// process writes the file
[[nodiscard]] int take_over(const std::string& path) noexcept {
    for (;;) {
        int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        const bool is_writable = descriptor >= 0;
        if (!is_writable) {
            const int code = errno;
            if (code == EACCES) descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
            errno = code; // if there is no file, the second open fails with another code
            if (descriptor < 0) return -1;
        }
        struct stat mine{};
        struct stat named{};
        int code = is_locked_by_another(descriptor, is_writable) ? EBUSY : 0;
        if (code == 0 && ::fstat(descriptor, &mine) == 0 && ::stat(path.c_str(), &named) == 0 &&
            mine.st_ino == named.st_ino && mine.st_dev == named.st_dev) {
            if (is_writable && mine.st_size == 0) return descriptor;
            // A process that reads the old file can continue. The folder, or the folder's sticky
            // bit, may forbid the removal.
            if (::unlink(path.c_str()) != 0 && errno != ENOENT) code = errno;
        }
        ::close(descriptor);
        if (code != 0) {
            errno = code;
            return -1;
        }
    }
}

} // namespace

trace_file* trace_file::latest_ = nullptr;

trace_file* trace_file::open(const trace_plan& plan, std::string& why) {
    constexpr std::size_t chunks_per_mib = (std::size_t{1} << 20) / trace::chunk_bytes;
    std::error_code error;
    std::filesystem::create_directories(plan.folder, error);
    if (error) {
        why = refusal(plan, "the folder cannot be created", error.value());
        return nullptr;
    }
    std::string path = name_of(plan);
    const int descriptor = take_over(path);
    if (descriptor < 0) {
        const int code = errno;
        const char* const what =
            code == EBUSY ? " is the trace of a running process, for example of this one's parent or of another job"
                          : " cannot be written";
        why = refusal(plan, path + what, code);
        return nullptr;
    }
    const std::size_t n_chunks = plan.most_mib * chunks_per_mib;
    const std::size_t n_bytes = n_chunks * trace::chunk_bytes;
    void* memory = MAP_FAILED;
    if (::ftruncate(descriptor, static_cast<off_t>(n_bytes)) == 0) {
        memory = ::mmap(nullptr, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    }
    if (memory == MAP_FAILED) {
        why = refusal(plan, path + " cannot become " + std::to_string(plan.most_mib) + " MiB long", errno);
        // Before the lock is released: afterwards another process may own the file.
        ::unlink(path.c_str());
        ::close(descriptor);
        return nullptr;
    }
    auto* const made = new trace_file{std::move(path), descriptor, static_cast<trace::chunk*>(memory), n_chunks};
    if (!made->reserve(0, 1)) {
        why = refusal(plan, made->path_ + " cannot be written", ENOSPC);
        made->remove(false);
        return nullptr;
    }
    made->introduce(plan);
    made->tracer_ = std::make_unique<tracer>(std::span{made->chunks_, n_chunks}, static_cast<trace_room&>(*made),
                                             plan.keeps_newest);
    return made;
}

void trace_file::introduce(const trace_plan& plan) {
    trace::file_header& mine = header();
    mine.version = trace::version;
    mine.header_bytes = trace::chunk_bytes;
    mine.record_bytes = sizeof(trace::record);
    mine.n_chunks = static_cast<std::uint32_t>(n_chunks_);
    mine.run = plan.run;
    mine.rank = static_cast<std::uint32_t>(plan.rank);
    mine.n_ranks = static_cast<std::uint32_t>(plan.n_ranks);
    mine.session = static_cast<std::uint32_t>(plan.session);
    mine.pid = static_cast<std::uint32_t>(getpid());
    mine.begin_ns = now_ns();
    mine.begin_realtime_ns = time_of_day_ns();
    mine.clock_domain = clock_domain();
    mine.keep = plan.keeps_newest ? 1 : 0;
    gethostname(mine.host, sizeof mine.host - 1);
    copy_text(mine.mpi, plan.mpi.substr(0, plan.mpi.find('\n')));
    std::string command = contents_of("/proc/self/cmdline");
    std::replace(command.begin(), command.end(), '\0', ' ');
    copy_text(mine.program, command);
    mine.n_lanes = plan.n_lanes;
    mine.worker_is_reserved = plan.worker_is_reserved ? 1 : 0;
    mine.worker_cpu = plan.worker_cpu;
    // from here on the file is a valid trace
    std::memcpy(mine.magic, trace::magic, sizeof mine.magic);
}

bool trace_file::reserve(std::size_t first_chunk, std::size_t count) noexcept {
    static const trace::chunk nothing{};
    constexpr std::size_t most_at_once = 64;
    const std::size_t end = std::min(first_chunk + count, n_chunks_);
    const std::lock_guard guard{descriptor_lock_}; // locked once per many chunks
    if (descriptor_ < 0) return false;
    while (first_chunk < end) {
        std::array<iovec, most_at_once> parts;
        parts.fill({const_cast<trace::chunk*>(&nothing), sizeof nothing}); // pwritev only reads it
        const auto n_parts = static_cast<int>(std::min(end - first_chunk, most_at_once));
        const ssize_t written =
            ::pwritev(descriptor_, parts.data(), n_parts, static_cast<off_t>(first_chunk * trace::chunk_bytes));
        if (written < 0 && errno == EINTR) continue;
        const std::size_t n_whole = written < 0 ? 0 : static_cast<std::size_t>(written) / trace::chunk_bytes;
        if (n_whole == 0) {
            is_disk_full_.store(true, std::memory_order_relaxed);
            return false;
        }
        first_chunk += n_whole; // a partly written chunk is written again
    }
    return true;
}

void trace_file::close(trace::file_state state) noexcept {
    const std::size_t n_used = tracer_->close();
    header().end_ns = now_ns();
    header().state = static_cast<std::uint32_t>(state);
    const std::lock_guard guard{descriptor_lock_};
    static_cast<void>(::ftruncate(descriptor_, static_cast<off_t>(n_used * trace::chunk_bytes)));
    ::munmap(chunks_ + n_used, (n_chunks_ - n_used) * trace::chunk_bytes);
    ::close(std::exchange(descriptor_, -1));
}

void trace_file::remove(bool will_be_closed) noexcept {
    const std::lock_guard guard{descriptor_lock_};
    // Before the lock is released: afterwards another process may own the file.
    ::unlink(path_.c_str());
    if (!will_be_closed) ::close(std::exchange(descriptor_, -1));
}

} // namespace commtask::detail
