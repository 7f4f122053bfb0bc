#include "common/config/subcommands.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/config/settings.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

struct Parsed {
  std::optional<int> exit;
  std::string err;
  double share = -1;
};

Parsed parse(std::vector<std::string> words) {
  CLI::App app;
  Parsed parsed;
  CLI::App* run = app.add_subcommand("run");
  run->add_option("--share", parsed.share)->check(number_between(0, 1));
  words.insert(words.begin(), "program");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  testing::internal::CaptureStderr();
  parsed.exit = parse_subcommand(app, static_cast<int>(argv.size()), argv.data(), "program");
  parsed.err = testing::internal::GetCapturedStderr();
  return parsed;
}

TEST(Subcommands, LetACommandRunThatIsGivenWell) {
  const Parsed parsed = parse({"run", "--share", "0.5"});
  EXPECT_EQ(parsed.exit, std::nullopt);
  EXPECT_EQ(parsed.share, 0.5);
}

TEST(Subcommands, ExplainWhatNothingAccepts) {
  const Parsed command = parse({"rum"}), flag = parse({"run", "--shore", "1"});
  EXPECT_EQ(command.exit, kExitUsage);
  EXPECT_THAT(command.err, HasSubstr("program: "));
  EXPECT_THAT(command.err, HasSubstr("run"));
  EXPECT_EQ(flag.exit, kExitUsage);
  EXPECT_THAT(flag.err, HasSubstr("did you mean --share?"));
}

TEST(Subcommands, TakeNumbersOfTheirRangeOnly) {
  for (const char* wrong : {"nan", "-1", "1.5", "x"}) EXPECT_EQ(parse({"run", "--share", wrong}).exit, kExitUsage) << wrong;
}

}  // namespace
}  // namespace slipstream
