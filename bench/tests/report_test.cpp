// SPDX-License-Identifier: Apache-2.0
//
// The samples that bench/figures.py sums up, and the fairness of the alternation: what a reader of a stored result relies on
// without being able to check it.
#include "harness/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "harness/machine.h"

namespace commtask::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const series yard{.name = "ping-pong", .unit = "ns", .rounds = {{100, 101}, {200}}};
const series post{.name = "post", .unit = "ns", .rounds = {{20, 21}, {40}}};

report example() {
    report out("post", "one rank", {{"cpu", "some"}});
    out.add(yard);
    out.add(post, yard);
    return out;
}

TEST(Report, HasEverySampleByRowAndRound) {
    const nlohmann::ordered_json json = example().to_json();
    EXPECT_EQ(json["benchmark"], "post");
    EXPECT_EQ(json["setting"], "one rank");
    EXPECT_EQ(json["machine"]["cpu"], "some");
    ASSERT_EQ(json["samples"].size(), 2U);
    EXPECT_EQ(json["samples"][0].dump(), R"({"name":"ping-pong","unit":"ns","rounds":[[100.0,101.0],[200.0]]})");
    EXPECT_EQ(json["samples"][1].dump(),
              R"({"name":"post","unit":"ns","ratio_to":"ping-pong","rounds":[[20.0,21.0],[40.0]]})");
}

TEST(Report, RefusesARowThatIsComparedWithNone) {
    report out("x", "y", {});
    out.add(post, yard);
    EXPECT_THROW(out.publish("/dev/null"), std::logic_error);
}

TEST(Report, WritesWhatItSays) {
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("report_test." + std::to_string(getpid()) + ".json");
    example().publish(file.string());
    std::ifstream stream(file);
    EXPECT_EQ(nlohmann::ordered_json::parse(stream), example().to_json());
    std::filesystem::remove(file);
}

/// Where a document that cannot be written is to go.
std::filesystem::path a_folder() {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("report_test.folder." + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    return folder;
}

TEST(Report, LeavesTheOldFileAndNothingElseWhereItCannotBeWritten) {
    const std::filesystem::path folder = a_folder();
    const std::filesystem::path file = folder / "report.json";
    std::ofstream(file) << "old";
    const rlimit no_room{3, RLIM_INFINITY};
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &no_room);
    EXPECT_THAT(write_document(example().to_json(), file.string()), HasSubstr("too large"));
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    std::string text;
    std::ifstream(file) >> text;
    EXPECT_EQ(text, "old");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
    std::filesystem::remove_all(folder);
}

TEST(Report, RefusesAFileThatCannotBeWritten) {
    EXPECT_THROW(example().publish("/nonexistent/folder/file.json"), std::runtime_error);
    EXPECT_NE(write_document(example().to_json(), "/dev/full"), "");
}

TEST(Alternation, LetsEachSideBeginInTurnAndThrowsTheWarmUpAway) {
    std::string order;
    const std::vector<side> sides{{.name = "a",
                                   .unit = "ns",
                                   .measure =
                                       [&](round_samples& out) {
                                           order += 'a';
                                           out.push_back(1);
                                       }},
                                  {.name = "b", .unit = "ns", .measure = [&](round_samples& out) {
                                       order += 'b';
                                       out.push_back(2);
                                   }}};
    const std::vector<series> all = alternate(sides, 3, 1);
    EXPECT_EQ(order, "abbaabba");
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].rounds.size(), 3U);
    EXPECT_THAT(all[1].rounds[2], ElementsAre(2));
}

TEST(Machine, IsDescribedWithoutPathsOrNames) {
    const nlohmann::ordered_json machine = describe_machine("MPICH Version:\t4.0.2\nMPICH Release date:\tx");
    EXPECT_EQ(machine["mpi"], "MPICH Version: 4.0.2");
    for (const char* key : {"cpu", "cores", "kernel", "compiler", "openmp"}) {
        EXPECT_TRUE(machine.contains(key)) << key;
    }
}

} // namespace
} // namespace commtask::bench
