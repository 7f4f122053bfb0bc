#include "common/grammar/grammar.h"

#include <functional>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/limits.h"
#include "tests/data/grammars.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kPerson =
    R"({"type":"object","properties":{"name":{"type":"string"},"old":{"type":"boolean"}},"required":["name","old"],"additionalProperties":false})";

// All texts that the masks let a model write, by following every allowed token.
std::set<std::string> language(Grammar& grammar) {
  std::set<std::string> texts;
  std::vector<TokenId> path;
  const std::function<void()> follow = [&] {
    for (const TokenId token : grammar.allowed_after(path).value().tokens()) {
      if (token == kSmallEnd) {
        texts.insert(small_text(path));
        continue;
      }
      path.push_back(token);
      follow();
      path.pop_back();
    }
  };
  follow();
  return texts;
}

TEST(GrammarTest, LetsAModelWriteEachTextOfTheGrammarAndNoOther) {
  Grammar grammar = grammar_of(GrammarForm::regex, "[ab]{1,3}|the|th(is|at)");
  std::set<std::string> expected{"the", "this", "that"};
  for (const std::string_view one : {"a", "b"}) {
    expected.emplace(one);
    for (const std::string_view two : {"a", "b"}) {
      expected.insert(fmt::format("{}{}", one, two));
      for (const std::string_view three : {"a", "b"}) expected.insert(fmt::format("{}{}{}", one, two, three));
    }
  }
  EXPECT_EQ(language(grammar), expected);
}

TEST(GrammarTest, AllowsTheEndWhereTheGrammarIsCompleteAndNowhereElse) {
  Grammar grammar = grammar_of(GrammarForm::regex, "[0-9]{2,3}");
  ASSERT_TRUE(grammar.advance(small_ids("1")));
  EXPECT_FALSE(grammar.allowed_after({})->allows(kSmallEnd));
  ASSERT_TRUE(grammar.advance(small_ids("2")));
  EXPECT_TRUE(grammar.allowed_after({})->allows(kSmallEnd));
  ASSERT_TRUE(grammar.advance(small_ids("3")));
  EXPECT_THAT(grammar.allowed_after({})->tokens(), ElementsAre(kSmallEnd)) << "nothing may follow the third digit";
}

// Of the many ways to write a text, the tokenizer's own: it is the one that models have seen.
TEST(GrammarTest, LeavesOneTokenWhereOneTextIsLeft) {
  Grammar grammar = grammar_of(GrammarForm::json_schema, kPerson);
  const std::vector<TokenId> written = small_ids(R"({"name": ")");
  std::vector<TokenId> path;
  // The last pieces of a forced text may be the beginnings of longer tokens.
  while (path.size() + 3 < written.size()) {
    EXPECT_THAT(grammar.allowed_after(path)->tokens(), ElementsAre(written[path.size()]));
    path.push_back(written[path.size()]);
  }
}

TEST(GrammarTest, AllowsNoSpecialTokenInATextAndNoRowBeyondTheTokenizer) {
  Grammar grammar = grammar_of(GrammarForm::regex, "(?s:.*)");
  const TokenMask mask = grammar.allowed_after({}).value();
  const Tokenizer& tokenizer = small_tokenizer();
  for (TokenId id = 0; id < small_vocabulary(); ++id) {
    const bool is_text = id < tokenizer.vocabulary() && !tokenizer.is_special(id);
    EXPECT_TRUE(is_text || id == kSmallEnd || !mask.allows(id)) << id;
  }
  EXPECT_GT(mask.count(), tokenizer.vocabulary() / 2);
}

// The promise behind drafts: what is allowed depends on the tokens alone, not on what was asked
// about before.
TEST(GrammarTest, AllowsBehindAPathWhatANewTextOfThoseTokensAllows) {
  std::mt19937 random(1);
  const std::vector<GrammarText> texts{{GrammarForm::json_schema, std::string(kPerson)},
                                       {GrammarForm::json_schema, R"({"type":"object"})"},
                                       {GrammarForm::json_schema, R"({"enum":["a","ab",1,null,{"a":[1,2]}]})"},
                                       {GrammarForm::regex, "(the|then|there)( [a-z]+){0,4}\\."},
                                       {GrammarForm::lark, "start: a | a start\na: \"x\" | \"(\" start \")\""}};
  for (const GrammarText& text : texts) {
    Grammar walked = *small_grammars().compile(text);
    std::vector<TokenId> output;
    for (int step = 0; step < 12; ++step) {
      std::vector<TokenId> path;  // at random, as a draft would go
      for (int depth = 0; depth < 6; ++depth) {
        const TokenMask mask = walked.allowed_after(path).value();
        Grammar fresh = walked.begun();
        ASSERT_TRUE(fresh.advance(output));
        ASSERT_TRUE(fresh.advance(path));
        ASSERT_EQ(mask.tokens(), fresh.allowed_after({})->tokens())
            << text.text << " after " << small_text(output) << " and " << small_text(path);
        const std::vector<TokenId> allowed = mask.tokens();
        const TokenId next = allowed[random() % allowed.size()];
        if (next == kSmallEnd) break;
        path.push_back(next);
      }
      if (path.empty()) break;
      path.resize(1 + random() % path.size());
      ASSERT_TRUE(walked.advance(path));
      output.insert(output.end(), path.begin(), path.end());
    }
  }
}

// With drafts an output grows by several tokens at once, and masks are asked for behind paths;
// without, by one token after each mask. The masks must be the same.
TEST(GrammarTest, AllowsTheSameHoweverTheOutputGrew) {
  std::mt19937 random(2);
  const std::vector<GrammarText> texts{
      {GrammarForm::json_schema, R"({"type":"object"})"},
      {GrammarForm::json_schema,
       R"({"type":"object","properties":{"tags":{"type":"array","items":{"enum":["a","b","c"]},"maxItems":3}},"required":["tags"]})"},
      {GrammarForm::json_schema, R"({"type":"object","properties":{"header":{"type":"integer"},"he":{"type":"string"}}})"}};
  for (int walk = 0; walk < 60; ++walk) {
    const GrammarText& text = texts[static_cast<size_t>(walk) % texts.size()];
    Grammar by_one = *small_grammars().compile(text), by_several = by_one.begun();
    std::vector<TokenId> output, waiting;
    for (int step = 0; step < 60; ++step) {
      const std::vector<TokenId> allowed = by_one.allowed_after({})->tokens();
      ASSERT_EQ(allowed, by_several.allowed_after(waiting)->tokens()) << text.text << " after " << small_text(output);
      const TokenId next = allowed[random() % allowed.size()];
      if (next == kSmallEnd) break;
      ASSERT_TRUE(by_one.advance(std::vector{next}));
      output.push_back(next);
      waiting.push_back(next);
      if (random() % 4 != 0) continue;
      ASSERT_TRUE(by_several.advance(waiting));
      waiting.clear();
    }
  }
}

TEST(GrammarTest, FailsBehindAForbiddenPathAndGoesOnElsewhere) {
  Grammar grammar = grammar_of(GrammarForm::regex, "a[bc]+");
  ASSERT_TRUE(grammar.advance(small_ids("a")));
  const std::vector<TokenId> before = grammar.allowed_after({})->tokens();
  EXPECT_FALSE(grammar.allowed_after(small_ids("x")));
  EXPECT_FALSE(grammar.allowed_after(small_ids("bx")));
  EXPECT_EQ(grammar.allowed_after({})->tokens(), before);
  EXPECT_TRUE(grammar.allowed_after(small_ids("b")));
  EXPECT_THAT(grammar.advance(small_ids("x")).error().message, HasSubstr("it forbids a token here, or needs too many states"));
  EXPECT_FALSE(grammar.allowed_after({})) << "the text itself no longer follows the grammar";
}

TEST(GrammarTest, SaysWhatIsWrongWithAGrammarInOneSentence) {
  const auto why = [](GrammarForm form, std::string text) {
    const auto grammar = small_grammars().compile({form, std::move(text)});
    return grammar ? std::string() : grammar.error().message;
  };
  EXPECT_THAT(why(GrammarForm::json_schema, R"({"type":"foo"})"), HasSubstr("foo"));
  EXPECT_THAT(why(GrammarForm::json_schema, R"({"type":)"), HasSubstr("EOF"));
  EXPECT_THAT(why(GrammarForm::json_schema, R"({"$ref":"http://example.com/a"})"), HasSubstr("example.com"));
  EXPECT_THAT(why(GrammarForm::regex, "(a"), HasSubstr("unclosed group"));
  EXPECT_THAT(why(GrammarForm::regex, "(?=a)b"), HasSubstr("look-ahead"));
  EXPECT_THAT(why(GrammarForm::json_schema, R"({"type":"string","pattern":"(?=a)b"})"), HasSubstr("look-ahead"));
  EXPECT_THAT(why(GrammarForm::lark, "start: b"), HasSubstr("b"));
  EXPECT_EQ(why(GrammarForm::json_schema, R"({"$ref":"#"})"), "no text matches it");
  for (const GrammarForm form : {GrammarForm::json_schema, GrammarForm::regex, GrammarForm::lark}) {
    const std::string sentence = why(form, std::string(5000, '('));
    EXPECT_FALSE(sentence.contains('\n')) << sentence;
    EXPECT_LT(sentence.size(), 300U) << sentence;
  }
}

TEST(GrammarTest, SaysWhatToDoAboutOneThatIsTooLarge) {
  const auto words = [](const std::string& message) {
    EXPECT_THAT(message, HasSubstr("it needs too many states: write smaller counts ({1,50} for {1,5000})"));
    EXPECT_THAT(message, HasSubstr("("));
    return message;
  };
  const auto too_many = small_grammars().compile({GrammarForm::regex, "a{1000}{1000}"});
  ASSERT_FALSE(too_many);
  EXPECT_THAT(words(too_many.error().message), HasSubstr("too many expressions"));
  std::string classes;
  for (char letter = 'a'; letter <= 'z'; ++letter) classes += fmt::format("[\\p{{L}}&&[^{}]]", letter);
  const auto at_once = small_grammars().compile({GrammarForm::regex, classes});
  ASSERT_FALSE(at_once);
  EXPECT_THAT(words(at_once.error().message), HasSubstr("too big"));
  Grammar later = grammar_of(GrammarForm::regex, "(\\p{L}{1,200}){1,50}");
  Result<void> followed;
  for (int letter = 0; followed && letter < 200; ++letter) {
    followed = later.advance(small_ids("a"));
    if (const auto mask = later.allowed_after({}); followed && !mask) followed = std::unexpected(mask.error());
  }
  ASSERT_FALSE(followed);
  EXPECT_THAT(words(followed.error().message), HasSubstr("too many expressions"));
}

TEST(GrammarTest, SaysWhatOfTheRulesCannotBeRead) {
  const auto why = [](std::string text) {
    const auto grammar = small_grammars().compile({GrammarForm::lark, std::move(text)});
    return grammar ? std::string() : grammar.error().message;
  };
  const std::string rule = R"(; a rule looks like `start: "a" other*`)";
  EXPECT_EQ(why("root ::= \"a\""), R"(line 1, column 7: Expected token '_', found '=', in `root ::= "a"`)" + rule);
  EXPECT_EQ(why("start: \"a\"\nb: 'c'"), "line 2, column 4: nothing that rules are made of, in `b: 'c'`" + rule);
  EXPECT_EQ(why("hello"), "line 1, column 6: Expected token ':', found the end of the line, in `hello`" + rule);
  EXPECT_EQ(why("start: a b"), R"(line 1, column 8: unknown name: "a", in `start: a b`)");
  EXPECT_EQ(why("foo: \"a\""), "no rule is called `start`, with which every text begins" + rule);
  EXPECT_THAT(why("start: /(/"), HasSubstr("unclosed group"));
  const std::string far = why("start: " + std::string(5000, 'a') + "'");
  EXPECT_THAT(far, HasSubstr(std::string(19, 'a') + "'`")) << far;
}

// Each is as large as a request may send. It is refused or compiled; it ends, and nothing dies.
TEST(GrammarTest, SurvivesHostileGrammars) {
  const auto repeated = [](std::string_view what) {
    std::string text;
    while (text.size() + what.size() + 10 < kGrammarRulesBytesMax) text += what;
    return text;
  };
  const auto lark = [&](std::string_view text) { return GrammarText{GrammarForm::lark, "start: " + std::string(text)}; };
  const std::vector<GrammarText> hostile{
      {GrammarForm::regex, repeated("(")},
      {GrammarForm::regex, repeated("(a|")},
      {GrammarForm::regex, "((((a{1,1000}){1,1000}){1,1000}){1,1000}){1,1000}"},
      {GrammarForm::regex, repeated("(a|aa)*")},
      {GrammarForm::regex, "(.*a.{40}|.*b.{40}|.*c.{39})*"},
      {GrammarForm::regex, repeated("\\p{L}")},
      {GrammarForm::json_schema, repeated(R"({"items":)")},
      {GrammarForm::json_schema, fmt::format(R"({{"enum":[{}"b"]}})", repeated("\"a\","))},
      {GrammarForm::json_schema, R"({"$ref":"#"})"},
      {GrammarForm::json_schema, R"({"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"})"},
      {GrammarForm::json_schema, R"({"type":"array","minItems":100000000,"items":{"type":"integer"}})"},
      {GrammarForm::json_schema, R"({"type":"string","minLength":1000000,"maxLength":100000000})"},
      {GrammarForm::json_schema, R"({"type":"integer","multipleOf":99999989,"minimum":-1e300,"maximum":1e300})"},
      lark(repeated("(")),
      lark(repeated("[")),
      lark("a{1,1000000000}\na: \"b\"{1,1000000000}"),
      lark("start start | \"a\" | \"\""),
      lark(repeated("\"a\"? ")),
  };
  for (const GrammarText& text : hostile) {
    auto grammar = small_grammars().compile(text);
    for (int token = 0; grammar && token < 30; ++token) {
      const auto mask = grammar->allowed_after({});
      if (!mask || mask->tokens().front() == kSmallEnd) break;
      if (!grammar->advance(std::vector{mask->tokens().front()})) break;
    }
  }
}

// Each state behind counts of counts is work; a client could take a thread for seconds by a few
// bytes.
TEST(GrammarTest, RefusesCountsOfCountsWhereTheyAreMuchWork) {
  const auto goes = [](std::string_view regex) {
    auto grammar = small_grammars().compile({GrammarForm::regex, std::string(regex)});
    return grammar && grammar->advance(small_ids("a")) && grammar->allowed_after({});
  };
  EXPECT_TRUE(goes("a{100}{100}"));
  EXPECT_FALSE(goes("a{300}{300}"));
  EXPECT_FALSE(goes("a{1000}{1000}"));
}

// A client that is told so behind its first token has begun to show an answer.
TEST(GrammarTest, RefusesWhatIsTooComplexSoonBehindItsBeginning) {
  for (const std::string_view regex : {"a{300}{300}", "a{250}{250}", "a{250}{250}b"}) {
    const auto grammar = small_grammars().compile({GrammarForm::regex, std::string(regex)});
    ASSERT_FALSE(grammar) << regex;
    EXPECT_THAT(grammar.error().message, HasSubstr("too many expressions"));
  }
}

// A divisor of seven digits took the grammar thread for minutes, and gigabytes.
TEST(GrammarTest, RefusesDivisorsWithMoreStatesThanAModelCanFollow) {
  const auto goes = [](GrammarForm form, std::string_view text) {
    const auto grammar = small_grammars().compile({form, std::string(text)});
    if (grammar) return true;
    EXPECT_THAT(grammar.error().message, HasSubstr("`multipleOf` need more than 30000 states"));
    return false;
  };
  const auto schema = [&](std::string_view text) { return goes(GrammarForm::json_schema, text); };
  EXPECT_TRUE(schema(R"({"type": "integer", "multipleOf": 9973})"));
  EXPECT_TRUE(schema(R"({"type": "number", "multipleOf": 0.01})"));
  EXPECT_TRUE(schema(R"({"properties": {"multipleOf": {"type": "string"}}})"));
  EXPECT_FALSE(schema(R"({"type": "integer", "multipleOf": 99991})"));
  EXPECT_FALSE(schema(R"({"type": "integer", "multiple\u004ff": 99991})"));
  EXPECT_FALSE(schema(R"({"type": "number", "multipleOf": 1e300})"));
  EXPECT_FALSE(schema(R"({"type": "number", "multipleOf": 1e-10})"));
  EXPECT_FALSE(schema(R"({"allOf": [{"type": "integer", "multipleOf": 311}, {"multipleOf": 307}]})"));
  EXPECT_FALSE(schema(R"({"allOf": [{"type": "number", "multipleOf": 0.001}, {"multipleOf": 100}]})"));
  EXPECT_FALSE(goes(GrammarForm::lark, "start: %json {\"type\": \"integer\", \"multipleOf\": 99991}"));
}

TEST(GrammarTest, RefusesAModelThatNothingEnds) {
  EXPECT_FALSE(Grammars::make(small_tokenizer(), {}, small_vocabulary()));
  EXPECT_FALSE(Grammars::make(small_tokenizer(), std::vector{small_vocabulary()}, small_vocabulary()));
}

}  // namespace
}  // namespace slipstream
