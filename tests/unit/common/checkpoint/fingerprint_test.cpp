#include "common/checkpoint/fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/common/checkpoint/folder.h"

namespace slipstream {
namespace {

TEST(Fingerprint, IsXxh3OfTheBytes) {
  Folder folder;
  folder.write("tokenizer.json", "{}");
  EXPECT_EQ(hash_tokenizer(folder.path()).value(), 0x1349cde127705c16u);  // printf '{}' | xxhsum -H3
}

TEST(Fingerprint, ChangesWithTheBytes) {
  Folder folder;
  folder.write("model.safetensors", "weights");
  const uint64_t before = hash_weights(folder.path()).value();
  folder.write("model.safetensors", "weightz");
  EXPECT_NE(hash_weights(folder.path()).value(), before);
}

TEST(Fingerprint, OfShardsIsThatOfTheirBytesByName) {
  Folder folder;
  folder.write("b.safetensors", "two");
  folder.write("a.safetensors", "one");
  folder.write("model.safetensors.index.json", R"({"weight_map":{"x":"b.safetensors","y":"a.safetensors"}})");
  const uint64_t shards = hash_weights(folder.path()).value();
  folder.write("model.safetensors", "onetwo");
  EXPECT_EQ(hash_weights(folder.path()).value(), shards);
}

TEST(Fingerprint, NamesTheFileThatIsMissing) {
  Folder folder;
  EXPECT_THAT(hash_tokenizer(folder.path()).error().message, testing::HasSubstr("tokenizer.json"));
}

}  // namespace
}  // namespace slipstream
