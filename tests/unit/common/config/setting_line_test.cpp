#include "common/config/setting_line.h"

#include <sstream>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

constexpr const char* kFile =
    "# lease-ms = 1\n"
    "port = 8080\n"
    "router.trace-share = 0.5\n"
    "\n"
    "  [router]   # its own\n"
    "\tlease-ms = 5000 # = 1\n"
    "\"tune\" = \"on\"\r\n"
    "[ verifier ]\n"
    "lease-ms=7\n";

std::optional<int> line(std::string_view section, std::string_view name) {
  std::istringstream file(kFile);
  const auto found = line_of_setting(file, section, name);
  return found ? std::optional(found->number) : std::nullopt;
}

TEST(SettingLine, IsThatOfItsSection) {
  EXPECT_EQ(line("", "port"), 2);
  EXPECT_EQ(line("router", "trace-share"), 3);
  EXPECT_EQ(line("router", "lease-ms"), 6);
  EXPECT_EQ(line("router", "tune"), 7);
  EXPECT_EQ(line("verifier", "lease-ms"), 9);
}

TEST(SettingLine, IsNoneWhereTheFileHasNone) {
  EXPECT_FALSE(line("", "lease-ms")) << "a comment has no settings";
  EXPECT_FALSE(line("router", "port"));
  EXPECT_FALSE(line("drafter", "lease-ms"));
  EXPECT_FALSE(line("router", "lease"));
}

TEST(SettingLine, MayHaveNoValue) {
  const auto has_value = [](const std::string& line) {
    std::istringstream file(line);
    return line_of_setting(file, "", "port").value().has_value;
  };
  for (const char* line : {"port", "port =", " port # = 1", "port = # 1"}) EXPECT_FALSE(has_value(line)) << line;
  for (const char* line : {"port = 1", "port=\"\"", "port = \"#\"", "port = 1\nhosts = [\n\"port\"\n]"})
    EXPECT_TRUE(has_value(line)) << line;
}

}  // namespace
}  // namespace slipstream
