#include "common/config/port_file.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/common/config/surroundings.h"

namespace slipstream {
namespace {

TEST(PortFile, TellsEveryAddressAndTheProcess) {
  const ScopedFolder folder;
  const std::string path = (folder.path() / "router.json").string();
  ASSERT_TRUE(write_port_file(path, {{"http", "127.0.0.1:8080"}, {"bind", "tcp://127.0.0.1:7300"}}));
  std::ifstream file(path);
  const auto page = nlohmann::json::parse(file);
  EXPECT_EQ(page["http"], "127.0.0.1:8080");
  EXPECT_EQ(page["bind"], "tcp://127.0.0.1:7300");
  EXPECT_EQ(page["pid"], ::getpid());
}

TEST(PortFile, LeavesNothingBeside) {
  const ScopedFolder folder;
  ASSERT_TRUE(write_port_file((folder.path() / "a.json").string(), {}));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(PortFile, IsOptional) { EXPECT_TRUE(write_port_file("", {{"http", "127.0.0.1:8080"}})); }

TEST(PortFile, SaysWhereItCannotBeWritten) {
  const auto written = write_port_file("/nowhere/router.json", {});
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("/nowhere/router.json"), std::string::npos);
}

}  // namespace
}  // namespace slipstream
