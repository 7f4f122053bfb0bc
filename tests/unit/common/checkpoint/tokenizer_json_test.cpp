#include "common/checkpoint/tokenizer_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/checkpoint/fingerprint.h"
#include "tests/unit/common/checkpoint/folder.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

TEST(TokenizerJson, IsInTheFolderWhetherItIsThereOrNot) {
  Folder folder;
  EXPECT_EQ(tokenizer_json(folder.path()).value(), folder.path() / "tokenizer.json");
  folder.write("tokenizer.model", "");
  folder.write("tokenizer.json", "{}");
  EXPECT_EQ(tokenizer_json(folder.path()).value(), folder.path() / "tokenizer.json");
}

TEST(TokenizerJson, IsToBeMadeOfATokenizerModel) {
  Folder folder;
  folder.write("tokenizer.model", "");
  const std::string refusal = tokenizer_json(folder.path()).error().message;
  EXPECT_THAT(refusal, HasSubstr(folder.path().string() + " holds a tokenizer.model (SentencePiece) and no tokenizer.json"));
  EXPECT_THAT(refusal, HasSubstr("save_pretrained('" + folder.path().string() + "')"));
  EXPECT_EQ(hash_tokenizer(folder.path()).error().message, refusal);
}

}  // namespace
}  // namespace slipstream
