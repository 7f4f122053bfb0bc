#include "tools/train/token_shard.h"

#include <gmock/gmock.h>

#include "tests/unit/tools/train/folder.h"

namespace slipstream::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::filesystem::path& path, uint64_t tokenizer = kTokenizer, int32_t vocabulary = kVocabulary) {
  const auto shard = TokenShard::open(path, tokenizer, vocabulary);
  return shard ? "opened" : shard.error().message;
}

TEST(TokenShard, ReadsBackWhatWasWritten) {
  const TestFolder folder;
  EXPECT_THAT(folder.shard("a", {3, 1, 2}).tokens(), ElementsAre(3, 1, 2));
}

TEST(TokenShard, RefusesAFileThatIsNone) {
  const TestFolder folder;
  folder.write("a", "some text that is no shard, and longer than the header of one");
  EXPECT_THAT(refusal(folder / "a"), HasSubstr("is no shard (one begins with SLIPTOKS): make it with"));
  EXPECT_THAT(refusal(folder / "b"), HasSubstr("No such file"));
}

TEST(TokenShard, RefusesTokensOfAnotherTokenizer) {
  const TestFolder folder;
  folder.shard("a", {1, 2});
  EXPECT_THAT(refusal(folder / "a", 8), HasSubstr("so its tokens would mean other words"));
}

TEST(TokenShard, RefusesTokensThatTheModelHasNot) {
  const TestFolder folder;
  folder.shard("a", {1, 63, 2});
  EXPECT_THAT(refusal(folder / "a", kTokenizer, 63), HasSubstr("has the token 63, and the model's vocabulary ends before 63"));
  ASSERT_TRUE(write_shard(folder / "b", kTokenizer, std::vector<TokenId>{1, -1}).has_value());
  EXPECT_THAT(refusal(folder / "b"), HasSubstr("has the token -1"));
}

TEST(TokenShard, RefusesAFileThatWasCutShortOrChanged) {
  const TestFolder folder;
  folder.shard("a", {1, 2, 3});
  const std::string whole = folder.read("a");
  folder.write("a", whole.substr(0, whole.size() - 1));
  EXPECT_THAT(refusal(folder / "a"), HasSubstr("cut short"));
  folder.write("a", whole.substr(0, whole.size() - 1) + "\1");
  EXPECT_THAT(refusal(folder / "a"), HasSubstr("damaged"));
}

TEST(TokenShard, IsNotMadeOfNothing) {
  const TestFolder folder;
  EXPECT_THAT(write_shard(folder / "a", kTokenizer, {}).error().message, HasSubstr("there is no text for the shard"));
}

}  // namespace
}  // namespace slipstream::train
