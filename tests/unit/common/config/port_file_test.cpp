#include "common/config/port_file.h"

#include <sys/resource.h>

#include <csignal>

#include <fmt/format.h>
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

TEST(PortFile, SaysWhyItCannotBeWritten) {
  const auto written = write_port_file("/nowhere/router.json", {});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "cannot write the port file /nowhere/router.json: No such file or directory");
}

// A limit on the size of files stands for a full disk: bytes that cannot be written.
TEST(PortFile, LeavesNothingBesideWhenItCannotBeWritten) {
  const ScopedFolder folder;
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit few{10, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &few);
  const auto written = write_port_file((folder.path() / "a.json").string(), {{"metrics", "127.0.0.1:1"}});
  ::setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("File too large"), std::string::npos) << written.error().message;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace slipstream
