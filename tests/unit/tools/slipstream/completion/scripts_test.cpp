#include "tools/slipstream/completion/scripts.h"

#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "tests/unit/common/config/surroundings.h"
#include "tools/slipstream/fleet_options.h"

namespace slipstream::command::completion {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

CommandWords words() {
  CLI::App app("", "slipstream");
  CLI::App* ask = app.add_subcommand("ask", "Ask one question: it's quick [really]");
  static std::string url, how, shell;
  static bool plain = false;
  ask->add_option("--url", url, "The server");
  ask->add_option("--how", how, "In which way")->check(CLI::IsMember({"fast", "slow"}));
  ask->add_flag("--plain", plain, "No colours");
  app.add_subcommand("keys", "Keys")->add_subcommand("new", "Make some");
  completion_flags(app, shell);
  return words_of(app);
}

// What bash offers for the last of these words.
std::string offered(const std::string& typed) {
  const ScopedFolder folder;
  const std::string file = folder.write("completion.bash", script(words(), "bash"));
  const std::string line = "bash -c 'source " + file + "; COMP_WORDS=(" + typed +
                           "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _slipstream; echo \"${COMPREPLY[@]}\"'";
  std::FILE* shell = popen(line.c_str(), "r");
  char text[4096] = "";
  const size_t size = fread(text, 1, sizeof text, shell);
  EXPECT_EQ(pclose(shell), 0);
  return std::string(text, size);
}

TEST(CompletionWords, ComeFromTheTableThatParses) {
  const CommandWords root = words();
  ASSERT_EQ(root.commands.size(), 3U);
  EXPECT_EQ(root.commands[0].name, "ask");
  EXPECT_THAT(root.commands[0].flags, Contains(testing::Field(&FlagWords::name, "--plain")));
  EXPECT_THAT(root.commands[0].flags, Contains(testing::Field(&FlagWords::choices, ElementsAre("fast", "slow"))));
  EXPECT_EQ(root.commands[1].commands.at(0).name, "new");
  EXPECT_THAT(root.commands[2].arguments, ElementsAre("bash", "zsh", "fish"));
}

TEST(CompletionWords, HaveTheFlagsOfServeAndTheirValues) {
  for (const CommandWords& command : fleet_command_words()) {
    EXPECT_THAT(command.flags, Contains(testing::AllOf(testing::Field(&FlagWords::name, "--drafter"),
                                                       testing::Field(&FlagWords::choices, Contains("ngram")))))
        << command.name;
  }
}

TEST(BashCompletion, OffersCommandsFlagsAndValues) {
  EXPECT_EQ(offered("slipstream a"), "ask\n");
  EXPECT_EQ(offered("slipstream ask --p"), "--plain\n");
  EXPECT_EQ(offered("slipstream ask --how s"), "slow\n");
  EXPECT_EQ(offered("slipstream keys n"), "new\n");
  EXPECT_EQ(offered("slipstream completion z"), "zsh\n");
}

TEST(ZshCompletion, QuotesHelpTexts) {
  const std::string text = script(words(), "zsh");
  EXPECT_THAT(text, testing::StartsWith("#compdef slipstream\n"));
  EXPECT_THAT(text, HasSubstr(R"('ask:Ask one question\: it'\''s quick \[really\]')"));
  EXPECT_THAT(text, HasSubstr("'--how[In which way]:value:(fast slow)'"));
}

TEST(FishCompletion, OffersFlagsBehindTheirCommandOnly) {
  const std::string text = script(words(), "fish");
  EXPECT_THAT(text, HasSubstr(R"(-n '__fish_use_subcommand' -a ask -d 'Ask one question: it\'s quick [really]')"));
  EXPECT_THAT(text, HasSubstr("-n '__fish_seen_subcommand_from ask' -l how -x -a 'fast slow' -d 'In which way'"));
  EXPECT_THAT(text, HasSubstr("-n '__fish_seen_subcommand_from ask' -l url -r -F -d 'The server'"));
  EXPECT_THAT(text, HasSubstr("-n '__fish_seen_subcommand_from keys' -a new -d 'Make some'"));
}

}  // namespace
}  // namespace slipstream::command::completion
