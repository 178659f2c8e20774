// SPDX-License-Identifier: Apache-2.0
//
// The configuration: precedence, the wording of every kind of refusal (a user sees nothing else), and the promise that
// docs/configuration.md says what the code does.
#include "base/nearest.hpp"
#include "config/config.hpp"
#include "report/config_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iterator>
#include <string>

namespace commtask::detail {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<config_problem> read(config& target, std::vector<const char*> entries) {
    entries.push_back(nullptr);
    return apply_environment(target, entries.data());
}

std::string refusal(const char* entry) {
    config target;
    const auto problems = read(target, {entry});
    if (problems.size() != 1) return "expected one problem";
    EXPECT_FALSE(problems[0].is_warning);
    EXPECT_EQ(target.sources, config{}.sources) << "a refused value must not change anything";
    return problems[0].message;
}

TEST(Config, HasItsDefaultsWithoutAnEnvironment) {
    config target;
    EXPECT_THAT(apply_environment(target, nullptr), IsEmpty());
    EXPECT_THAT(read(target, {"HOME=/", "PATH=/bin", "XCOMMTASK_LANES=9"}), IsEmpty());
    EXPECT_EQ(target.lanes, 1);
    EXPECT_EQ(target.core, "auto");
    EXPECT_EQ(target.idle, idle_policy::automatic);
    EXPECT_EQ(target.stall_s, 0.0);
    EXPECT_EQ(target.stats, 0);
}

TEST(Config, DefaultsAreThemselvesAccepted) {
    const config defaults;
    for (const config_field& field : config_fields()) {
        config target;
        EXPECT_FALSE(apply(target, field, value_text(defaults, field), config_source::program)) << field.variable;
        EXPECT_EQ(value_text(target, field), value_text(defaults, field));
    }
}

TEST(Config, TakesEveryKindOfValueFromTheEnvironment) {
    config target;
    EXPECT_THAT(read(target, {"COMMTASK_CORE=3,7-9", "COMMTASK_IDLE=shared", "COMMTASK_STALL_S=0.25",
                              "COMMTASK_QUEUE_CAPACITY=128", "COMMTASK_STATS=1"}),
                IsEmpty());
    EXPECT_EQ(target.core, "3,7-9");
    EXPECT_EQ(target.idle, idle_policy::shared);
    EXPECT_EQ(target.stall_s, 0.25);
    EXPECT_EQ(target.queue_capacity, 128);
    EXPECT_EQ(target.stats, 1);
    EXPECT_EQ(value_text(target, *find_config_field("COMMTASK_IDLE")), "shared");
    EXPECT_EQ(value_text(target, *find_config_field("COMMTASK_STALL_S")), "0.25");
}

TEST(Config, EnvironmentOverridesTheProgramAndTheSourceIsKnown) {
    config target;
    const config_field& verbose = *find_config_field("COMMTASK_VERBOSE");
    const config_field& spin = *find_config_field("COMMTASK_SPIN_US");
    EXPECT_FALSE(apply(target, verbose, "0", config_source::program));
    EXPECT_FALSE(apply(target, spin, "7", config_source::program));
    EXPECT_THAT(read(target, {"COMMTASK_VERBOSE=2", "COMMTASK_SPIN_US="}), IsEmpty());
    EXPECT_EQ(target.verbose, 2);
    EXPECT_EQ(target.spin_us, 7) << "an empty value counts as not set";
    const auto source_of = [&](const config_field& field) {
        return target.sources[static_cast<std::size_t>(&field - config_fields().data())];
    };
    EXPECT_EQ(source_of(verbose), config_source::environment);
    EXPECT_EQ(source_of(spin), config_source::program);
    EXPECT_EQ(source_of(*find_config_field("COMMTASK_LANES")), config_source::built_in);
}

TEST(Config, RefusesAValueWithTheRuleAndTheNearestValidOne) {
    EXPECT_EQ(refusal("COMMTASK_LANES=40"),
              "COMMTASK_LANES=40 is not valid: it must be a whole number from 1 to 16; the nearest valid value is 16.");
    EXPECT_EQ(refusal("COMMTASK_VERBOSE=3"),
              "COMMTASK_VERBOSE=3 is not valid: it must be a whole number from 0 to 2; the nearest valid value is 2.");
    EXPECT_EQ(refusal("COMMTASK_QUEUE_CAPACITY=1000"), "COMMTASK_QUEUE_CAPACITY=1000 is not valid: it must be a power "
                                                       "of two from 64 to 1048576; the nearest valid value is 1024.");
    EXPECT_EQ(refusal("COMMTASK_IDLE=resreved"), "COMMTASK_IDLE=resreved is not valid: it must be auto, reserved or "
                                                 "shared; the nearest valid value is reserved.");
    EXPECT_THAT(refusal("COMMTASK_STALL_S=-1"), HasSubstr("a number of seconds from 0 to 86400; the nearest valid "
                                                          "value is 0."));
}

TEST(Config, RefusesWhatOnlyBeginsLikeANumber) {
    EXPECT_THAT(refusal("COMMTASK_SPIN_US=50us"), HasSubstr("nearest valid value is 50."));
    EXPECT_THAT(refusal("COMMTASK_SPIN_US= 50"), HasSubstr("nearest valid value is 200."));
    EXPECT_THAT(refusal("COMMTASK_SPIN_US=1e999999"), HasSubstr("nearest valid value is 10000000."));
    EXPECT_THAT(refusal("COMMTASK_SPIN_US=99999999999999999999"), HasSubstr("nearest valid value is 10000000."));
    EXPECT_THAT(refusal("COMMTASK_STALL_S=nan"), HasSubstr("nearest valid value is 0."));
    EXPECT_THAT(refusal("COMMTASK_STATS=yes"), HasSubstr("it must be 0 or 1; the nearest valid value is 1."));
    EXPECT_THAT(refusal("COMMTASK_STATS=Off"), HasSubstr("nearest valid value is 0."));
    EXPECT_THAT(refusal("COMMTASK_QUEUE_CAPACITY=-8"), HasSubstr("nearest valid value is 64."));
}

TEST(Config, TakesSizesAsOpenMPDoes) {
    const auto kib_of = [](const char* entry) {
        config target;
        EXPECT_THAT(read(target, {entry}), IsEmpty()) << entry;
        return target.stack_kib;
    };
    EXPECT_EQ(kib_of("COMMTASK_STACK_SIZE=65536"), 65536);
    EXPECT_EQ(kib_of("COMMTASK_STACK_SIZE=64M"), 65536);
    EXPECT_EQ(kib_of("COMMTASK_STACK_SIZE=64 m"), 65536);
    EXPECT_EQ(kib_of("COMMTASK_STACK_SIZE=1g"), 1048576);
    EXPECT_EQ(kib_of("COMMTASK_STACK_SIZE=20k"), 20);
    EXPECT_EQ(kib_of("COMMTASK_STACK_SIZE=1025B"), 2);
    for (const char* const entry :
         {"COMMTASK_STACK_SIZE=-1", "COMMTASK_STACK_SIZE=M", "COMMTASK_STACK_SIZE=64MB", "COMMTASK_STACK_SIZE=1.5G",
          "COMMTASK_STACK_SIZE=9223372036854775807G", "COMMTASK_STACK_SIZE=2048G"}) {
        EXPECT_THAT(refusal(entry), HasSubstr("a whole number of KiB from 0 to 1073741824, or one with B, K, M or G"));
    }
}

TEST(Config, RefusesASpoiltCpuListWithWhatCanBeReadOfIt) {
    EXPECT_THAT(refusal("COMMTASK_CORE=3,,7"), HasSubstr("auto, none or a list of different CPU numbers such as 3,7-9; "
                                                         "the nearest valid value is 3,7."));
    EXPECT_THAT(refusal("COMMTASK_CORE=3,3"), HasSubstr("nearest valid value is 3."));
    EXPECT_THAT(refusal("COMMTASK_CORE=9-7"), HasSubstr("nearest valid value is auto."));
    EXPECT_THAT(refusal("COMMTASK_CORE=nome"), HasSubstr("nearest valid value is none."));
    EXPECT_THAT(refusal("COMMTASK_CORE=3-"), HasSubstr("nearest valid value is"));
}

TEST(Config, TakesAnOldNameAndWarnsWithTheNewOne) {
    config target;
    const auto problems = read(target, {"COMMTASK_NAP_MAX_US=70"});
    EXPECT_EQ(target.wait_max_us, 70);
    ASSERT_THAT(problems, SizeIs(1));
    EXPECT_TRUE(problems[0].is_warning);
    EXPECT_EQ(problems[0].message,
              "COMMTASK_NAP_MAX_US is called COMMTASK_WAIT_MAX_US now; the next version will not accept the old name.");
}

TEST(Config, TakesTheNewNameWhereBothAreSet) {
    for (const auto& both : {std::vector<const char*>{"COMMTASK_NAP_MAX_US=70", "COMMTASK_WAIT_MAX_US=80"},
                             std::vector<const char*>{"COMMTASK_WAIT_MAX_US=80", "COMMTASK_NAP_MAX_US=70"}}) {
        config target;
        EXPECT_THAT(read(target, both), SizeIs(0));
        EXPECT_EQ(target.wait_max_us, 80);
    }
    config target;
    EXPECT_THAT(read(target, {"COMMTASK_NODE_BELL="}), SizeIs(0));
    EXPECT_THAT(read(target, {"COMMTASK_NODE_BELL=on"}), SizeIs(1));
    EXPECT_EQ(target.node_doorbells, doorbell_use::on);
}

TEST(Config, WarnsOfAnUnknownNameWithTheNearestOne) {
    config target;
    const auto problems = read(target, {"COMMTASK_LANSE=1", "COMMTASK_VERBOSE=2"});
    ASSERT_THAT(problems, SizeIs(1));
    EXPECT_TRUE(problems[0].is_warning);
    EXPECT_EQ(problems[0].message,
              "COMMTASK_LANSE is no setting of commtask and has no effect; the nearest name is COMMTASK_LANES.");
    EXPECT_EQ(target.verbose, 2) << "the other settings are still taken";
}

TEST(Config, AcceptsTheNamesThatTheProjectsScriptsRead) {
    config target;
    EXPECT_THAT(read(target, {"COMMTASK_MPI=openmpi", "COMMTASK_COMPILER=gcc"}), IsEmpty());
}

TEST(Config, PageInTheDocumentationIsUpToDate) {
    std::ifstream file{COMMTASK_CONFIGURATION_PAGE};
    const std::string page{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
    EXPECT_EQ(page, config_markdown()) << "run: commtask-info --config-markdown > docs/configuration.md";
}

TEST(EditDistance, CountsEachSlipOnce) {
    EXPECT_EQ(edit_distance("lanes", "lanes"), 0U);
    EXPECT_EQ(edit_distance("lanes", "LANES"), 0U);
    EXPECT_EQ(edit_distance("lanse", "lanes"), 1U);
    EXPECT_EQ(edit_distance("lane", "lanes"), 1U);
    EXPECT_EQ(edit_distance("lames", "lanes"), 1U);
    EXPECT_EQ(edit_distance("", "abc"), 3U);
}

} // namespace
} // namespace commtask::detail
