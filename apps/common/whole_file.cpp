// SPDX-License-Identifier: Apache-2.0
// A symbolic link is followed, so that the file it names is replaced, not the link. The other name has the process in it:
// two runs with one report file do not write into each other's.
#include "common/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace miniapp {

namespace {

struct target {
    std::string path; ///< Without links.
    std::string why_not;
    bool is_special = false; ///< A device or a pipe.
    mode_t mode = 0;         ///< Of the file that is there; 0: none.
};

std::string last_error() { return std::strerror(errno); }

target find(const std::string& file) {
    target found{file, {}, false, 0};
    struct stat now{};
    if (::stat(file.c_str(), &now) != 0) {
        if (errno != ENOENT) found.why_not = last_error();
        return found;
    }
    if (S_ISDIR(now.st_mode)) {
        found.why_not = "it is a folder";
    } else if (!S_ISREG(now.st_mode)) {
        found.is_special = true;
    } else if (const std::unique_ptr<char, decltype(&std::free)> path{::realpath(file.c_str(), nullptr), &std::free}) {
        found.path = path.get();
        found.mode = now.st_mode & 07777;
    } else {
        found.why_not = last_error();
    }
    if (found.why_not.empty() && ::access(file.c_str(), W_OK) != 0) found.why_not = last_error();
    return found;
}

std::string aside_name(const target& of) { return of.path + ".part" + std::to_string(::getpid()); }

int open_aside(const std::string& name) {
    ::unlink(name.c_str());
    return ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/// Writes and closes; the reason when something was lost.
std::string fill(int descriptor, std::string_view text) {
    std::string why;
    while (!text.empty() && why.empty()) {
        const ssize_t n = ::write(descriptor, text.data(), text.size());
        if (n >= 0) {
            text.remove_prefix(static_cast<std::size_t>(n));
        } else if (errno != EINTR) {
            why = last_error();
        }
    }
    if (::close(descriptor) != 0 && why.empty()) why = last_error();
    return why;
}

} // namespace

std::string why_not_writable(const std::string& file) {
    const target to = find(file);
    if (!to.why_not.empty() || to.is_special) return to.why_not;
    const std::string aside = aside_name(to);
    const int descriptor = open_aside(aside);
    if (descriptor < 0) return last_error();
    ::close(descriptor);
    ::unlink(aside.c_str());
    return {};
}

std::string write_whole(const std::string& file, std::string_view text) {
    const target to = find(file);
    if (!to.why_not.empty()) return to.why_not;
    const std::string aside = aside_name(to);
    const int descriptor = to.is_special ? ::open(file.c_str(), O_WRONLY | O_CLOEXEC) : open_aside(aside);
    if (descriptor < 0) return last_error();
    if (to.mode != 0 && ::fchmod(descriptor, to.mode) != 0) errno = 0; // the new file keeps the usual mode
    std::string why = fill(descriptor, text);
    if (to.is_special) return why;
    if (why.empty() && std::rename(aside.c_str(), to.path.c_str()) != 0) why = last_error();
    if (!why.empty()) ::unlink(aside.c_str());
    return why;
}

} // namespace miniapp
