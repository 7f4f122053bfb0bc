#include "tools/slipstream/verify/request_flags.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace slipstream::command::verify {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

std::string complaint(const SpeculationFlags& flags) {
  const auto checked = flags.check();
  return checked ? "" : checked.error().message;
}

TEST(RequestFlags, AreTheFieldsOfTheSameNames) {
  const RequestFlags flags{.top_p = 0.9,
                           .min_p = 0.1,
                           .repetition_penalty = 1.5,
                           .presence_penalty = -0.5,
                           .frequency_penalty = 2,
                           .top_k = 40,
                           .fields = R"({"bad_words": ["no"]})"};
  const auto json = flags.json();
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(Json::parse(*json), Json::parse(R"({"top_p": 0.9, "min_p": 0.1, "repetition_penalty": 1.5, "presence_penalty": -0.5,
      "frequency_penalty": 2.0, "top_k": 40, "bad_words": ["no"]})"));
  EXPECT_EQ(*RequestFlags{}.json(), "");
}

TEST(RequestFlags, LeaveAloneWhatTheCommandSetsItself) {
  for (const char* fields : {R"({"seed": 1})", R"({"speculation": {}})", R"({"stream": false})"}) {
    const auto json = RequestFlags{.fields = fields}.json();
    ASSERT_FALSE(json) << fields;
    EXPECT_THAT(json.error().message, HasSubstr("sets itself"));
  }
  EXPECT_THAT(RequestFlags{.fields = "[1]"}.json().error().message, HasSubstr("JSON object"));
  EXPECT_THAT(RequestFlags{.fields = "{"}.json().error().message, HasSubstr("JSON object"));
}

TEST(RequestFlags, AreGivenOnce) {
  const auto json = RequestFlags{.repetition_penalty = 1.5, .fields = R"({"repetition_penalty": 1.2})"}.json();
  ASSERT_FALSE(json);
  EXPECT_THAT(json.error().message, HasSubstr("in --fields and with --repetition-penalty"));
}

// A file that is gone with the test.
struct FormatFile {
  explicit FormatFile(std::string_view text) { std::ofstream(path) << text; }
  ~FormatFile() { std::filesystem::remove(path); }
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) /
                                     (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".json");
};

TEST(RequestFlags, TakeASchemaOrTheWholeResponseFormatFromAFile) {
  const auto format = [](std::string_view text) {
    const FormatFile file(text);
    return Json::parse(RequestFlags{.response_format = file.path.string()}.json().value())["response_format"];
  };
  EXPECT_EQ(format(R"({"type": "object"})"),
            Json::parse(R"({"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}})"));
  EXPECT_EQ(format(R"({"type": "json_object"})"), (Json{{"type", "json_object"}}));
  const std::string_view whole = R"({"type": "json_schema", "json_schema": {"name": "x", "schema": {}}})";
  EXPECT_EQ(format(whole), Json::parse(whole));
}

TEST(RequestFlags, NameAFileThatIsNoResponseFormat) {
  const FormatFile file("[1]");
  EXPECT_THAT(RequestFlags{.response_format = file.path.string()}.json().error().message, HasSubstr("no JSON object"));
  EXPECT_THAT(RequestFlags{.response_format = (file.path / "none").string()}.json().error().message, HasSubstr("cannot read"));
}

TEST(SpeculationFlags, AreTheFieldsOfTheSameNames) {
  const SpeculationFlags flags{.rule = "typical", .drafter = "ngram", .nodes = 4, .depth = 2, .epsilon = 0.3, .delta = 0.09};
  EXPECT_EQ(complaint(flags), "");
  EXPECT_EQ(Json::parse(flags.json()),
            Json::parse(R"({"drafter": "ngram", "nodes": 4, "depth": 2, "epsilon": 0.3, "delta": 0.09})"));
  EXPECT_EQ(Json::parse(SpeculationFlags{.rule = "batch", .siblings = 3}.json()), Json::parse(R"({"siblings": 3})"));
  EXPECT_EQ(SpeculationFlags{.rule = "block"}.json(), "");
}

TEST(SpeculationFlags, AskForWhatARuleMustBeToldAndForNothingElse) {
  EXPECT_THAT(complaint({.rule = "pareto"}), HasSubstr("needs --epsilon"));
  EXPECT_THAT(complaint({.rule = "uniform"}), HasSubstr("needs --epsilon"));
  EXPECT_THAT(complaint({.rule = "lenience"}), HasSubstr("needs --lenience"));
  EXPECT_THAT(complaint({.rule = "typical", .epsilon = 0.1}), HasSubstr("needs --delta"));
  EXPECT_THAT(complaint({.rule = "pareto", .epsilon = 0.1, .delta = 0.1}),
              HasSubstr("--delta does not go with the rule pareto"));
  EXPECT_THAT(complaint({.rule = "block", .siblings = 2}), HasSubstr("--siblings does not go with the rule block"));
  EXPECT_THAT(complaint({.siblings = 2}), HasSubstr("--siblings does not go with the rule coupled"));
  EXPECT_THAT(complaint({.rule = "best"}), HasSubstr("choose one of coupled, ratio"));
  EXPECT_EQ(complaint({}), "");
  EXPECT_EQ(complaint({.rule = "lenience", .lenience = 0.5}), "");
  EXPECT_EQ(complaint({.rule = "traversal"}), "");
}

TEST(SpeculationFlags, KnowWhatTheirRulePromises) {
  EXPECT_TRUE(SpeculationFlags{}.promises_bytes());
  EXPECT_TRUE(SpeculationFlags{.rule = "coupled"}.promises_bytes());
  EXPECT_FALSE(SpeculationFlags{.rule = "ratio"}.promises_bytes());
  EXPECT_FALSE(SpeculationFlags{.rule = "ratio"}.declares_bias());
  for (const char* rule : {"lenience", "pareto", "uniform", "typical"}) {
    EXPECT_TRUE(SpeculationFlags{.rule = rule}.declares_bias()) << rule;
  }
}

}  // namespace
}  // namespace slipstream::command::verify
