#include "common/config/byte_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::HasSubstr;

std::string refusal(std::string_view text) {
  const auto size = byte_size(text);
  return size ? "accepted" : size.error().message;
}

TEST(ByteSize, ReadsPowersOfBothKinds) {
  EXPECT_EQ(byte_size("2GiB"), uint64_t{2} << 30);
  EXPECT_EQ(byte_size("512MiB"), uint64_t{512} << 20);
  EXPECT_EQ(byte_size("64KiB"), uint64_t{64} << 10);
  EXPECT_EQ(byte_size("1TiB"), uint64_t{1} << 40);
  EXPECT_EQ(byte_size("3GB"), 3'000'000'000U);
  EXPECT_EQ(byte_size("7MB"), 7'000'000U);
}

TEST(ByteSize, SaysWhatToWriteInstead) {
  EXPECT_THAT(refusal("2"), HasSubstr("\"2\" has no unit; write 2GiB or 2MiB"));
  EXPECT_THAT(refusal("two"), HasSubstr("\"two\" is no size; write a whole number and a unit"));
  EXPECT_THAT(refusal(""), HasSubstr("\"\" is no size"));
  EXPECT_THAT(refusal("-1GiB"), HasSubstr("\"-1GiB\" is no size"));
  EXPECT_THAT(refusal("1.5GiB"), HasSubstr("\"1.5GiB\" is no whole number; write it in a smaller unit"));
  EXPECT_THAT(refusal("2gib"), HasSubstr("\"2gib\" is no size"));
  EXPECT_THAT(refusal("2 GiB"), HasSubstr("\"2 GiB\" is no size"));
  EXPECT_THAT(refusal("0GiB"), HasSubstr("\"0GiB\" is out of range; write a size above 0"));
  EXPECT_THAT(refusal("99999999TiB"), HasSubstr("is out of range"));
  EXPECT_THAT(refusal("99999999999999999999GiB"), HasSubstr("is no size"));
}

TEST(ByteSize, IsWrittenInTheLargestUnitThatItFills) {
  EXPECT_EQ(byte_size_words(uint64_t{2} << 30), "2.0 GiB");
  EXPECT_EQ(byte_size_words((uint64_t{1} << 20) * 3 / 2), "1.5 MiB");
  EXPECT_EQ(byte_size_words(1023 << 10), "1023.0 KiB");
  EXPECT_EQ(byte_size_words(100), "0.0 KiB");
}

}  // namespace
}  // namespace slipstream
