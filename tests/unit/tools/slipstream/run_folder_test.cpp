#include "tools/slipstream/run_folder.h"

#include <unistd.h>

#include <gtest/gtest.h>

#include "common/config/port_file.h"

namespace slipstream::command {
namespace {

TEST(Ports, ReadsWhatAServiceWrote) {
  const auto file = std::filesystem::temp_directory_path() / ("slipstream-ports-" + std::to_string(getpid()));
  EXPECT_FALSE(read_ports(file));
  ASSERT_TRUE(write_port_file(file.string(), {{"http", "127.0.0.1:8081"}, {"bind", "tcp://127.0.0.1:7301"}}));
  const auto ports = read_ports(file);
  std::filesystem::remove(file);
  ASSERT_TRUE(ports);
  EXPECT_EQ(ports->pid, getpid());
  EXPECT_EQ(ports->http, 8081);
  EXPECT_EQ(ports->bind, "tcp://127.0.0.1:7301");
  EXPECT_EQ(ports->metrics, 0);
}

}  // namespace
}  // namespace slipstream::command
