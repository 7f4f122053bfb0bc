#include "tools/train/documents.h"

#include <gmock/gmock.h>

#include "tests/unit/tools/train/folder.h"

namespace slipstream::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> texts_of(const std::filesystem::path& file) {
  std::vector<std::string> texts;
  EXPECT_TRUE(each_document(file, [&](std::string_view text) -> Result<void> {
                texts.emplace_back(text);
                return {};
              }).has_value());
  return texts;
}

TEST(Documents, AreWholeFilesOrLinesOfJson) {
  const TestFolder folder;
  folder.write("a.txt", "one\ntwo\n");
  folder.write("b.jsonl", "{\"text\": \"one\\ntwo\"}\n\n{\"id\": 7, \"text\": \"three\"}\n");
  EXPECT_THAT(texts_of(folder / "a.txt"), ElementsAre("one\ntwo\n"));
  EXPECT_THAT(texts_of(folder / "b.jsonl"), ElementsAre("one\ntwo", "three"));
}

TEST(Documents, NameTheLineThatIsNone) {
  const TestFolder folder;
  folder.write("b.jsonl", "{\"text\": \"one\"}\n{\"txt\": \"two\"}\n");
  const auto taken = each_document(folder / "b.jsonl", [](std::string_view) { return Result<void>{}; });
  EXPECT_THAT(taken.error().message, HasSubstr("b.jsonl: line 2 is no JSON object with a string \"text\""));
}

TEST(FirstPiece, EndsWhereALineEndsAndNoOtherWhiteSpaceIsNear) {
  EXPECT_EQ(first_piece("ab\ncd\nef", 7), "ab\ncd\n");
  EXPECT_EQ(first_piece("ab\ncd\n ef", 8), "ab\n");
  EXPECT_EQ(first_piece("ab\n\ncd", 6), "ab\n\ncd");
}

TEST(FirstPiece, KeepsCharactersWholeWhereThereIsNoSuchPlace) {
  EXPECT_EQ(first_piece("abcdef", 4), "abcd");
  EXPECT_EQ(first_piece("abc\u00e4def", 4), "abc");
}

}  // namespace
}  // namespace slipstream::train
