#include "common/checkpoint/head_config.h"

#include <gtest/gtest.h>

#include "common/base/names.h"

namespace slipstream {
namespace {

TEST(HeadFolder, IsTheChosenOneOrTheOneBesideTheModel) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "head_folder_test";
  std::filesystem::create_directories(folder / "a.gguf-head");
  const std::string with_head = (folder / "a.gguf").string(), without = (folder / "b.gguf").string();
  EXPECT_EQ(head_folder(with_head, ""), folder / "a.gguf-head");
  EXPECT_EQ(head_folder(without, ""), "");
  EXPECT_EQ(head_folder(with_head, "other"), "other");
  EXPECT_EQ(head_folder(with_head, std::string(kNoMethod)), "");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace slipstream
