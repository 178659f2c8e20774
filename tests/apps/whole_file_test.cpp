// SPDX-License-Identifier: Apache-2.0
// Each test has a folder of its own, which must hold nothing but what was meant to be written. A limit on the size of files
// stands for a disk that is full.
#include "common/whole_file.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

namespace fs = std::filesystem;
using namespace miniapp;

class WholeFile : public testing::Test {
protected:
    WholeFile() {
        std::string pattern = (fs::temp_directory_path() / "whole_file.XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    ~WholeFile() override { fs::remove_all(folder_); }

    std::string in_folder(const char* name) const { return (folder_ / name).string(); }
    std::size_t n_files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }
    static std::string text_of(const std::string& file) {
        std::ifstream in(file);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    fs::path folder_;
};

TEST_F(WholeFile, ReplacesWhatIsThereAndKeepsItsMode) {
    const std::string file = in_folder("report.json");
    EXPECT_EQ(write_whole(file, "old"), "");
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(write_whole(file, "new"), "");
    EXPECT_EQ(text_of(file), "new");
    EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(n_files(), 1U);
}

TEST_F(WholeFile, IsNotTouchedByTheQuestionWhetherItCanBeWritten) {
    const std::string file = in_folder("report.json");
    EXPECT_EQ(why_not_writable(file), "");
    EXPECT_EQ(n_files(), 0U);
    write_whole(file, "old");
    EXPECT_EQ(why_not_writable(file), "");
    EXPECT_EQ(text_of(file), "old");
    EXPECT_EQ(n_files(), 1U);
}

TEST_F(WholeFile, IsTheOldOneWhenWritingFailsHalfWay) {
    const std::string file = in_folder("report.json");
    write_whole(file, "old");
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        std::signal(SIGXFSZ, SIG_IGN); // writing beyond the limit fails instead
        const rlimit short_files{1000, 1000};
        ::setrlimit(RLIMIT_FSIZE, &short_files);
        ::_exit(write_whole(file, std::string(5000, 'x')).empty() ? 1 : 0);
    }
    int status = 1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "it must say that it failed";
    EXPECT_EQ(text_of(file), "old");
    EXPECT_EQ(n_files(), 1U);
}

TEST_F(WholeFile, IsTheOneThatALinkNames) {
    write_whole(in_folder("target"), "old");
    fs::create_symlink("target", in_folder("link"));
    EXPECT_EQ(write_whole(in_folder("link"), "new"), "");
    EXPECT_TRUE(fs::is_symlink(in_folder("link")));
    EXPECT_EQ(text_of(in_folder("target")), "new");
}

TEST_F(WholeFile, CannotBeAFolderNorBeInNone) {
    EXPECT_EQ(why_not_writable(folder_.string()), "it is a folder");
    EXPECT_NE(why_not_writable(in_folder("none/report.json")), "");
    EXPECT_NE(write_whole(in_folder("none/report.json"), "text"), "");
}

TEST_F(WholeFile, MayBeADevice) {
    EXPECT_EQ(why_not_writable("/dev/null"), "");
    EXPECT_EQ(write_whole("/dev/null", "text"), "");
    EXPECT_EQ(write_whole("/dev/full", "text"), "No space left on device");
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

} // namespace
