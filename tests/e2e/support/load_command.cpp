#include "tests/e2e/support/load_command.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

namespace slipstream::e2e {
namespace {

std::string contents(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

Process start(const Cluster& cluster, std::vector<std::string> flags) {
  std::ofstream(cluster.folder() / "load.prompts") << "hello\nabc abc abc\n";
  flags.insert(flags.end(), {"--prompts", (cluster.folder() / "load.prompts").string()});
  flags.insert(flags.begin(), {"load", "--url", fmt::format("http://127.0.0.1:{}", cluster.http_port()), "--json",
                               (cluster.folder() / "load.json").string(), "--html", (cluster.folder() / "load.html").string()});
  const std::filesystem::path build = SLIPSTREAM_BUILD_FOLDER;
  auto process = Process::start({build / "tools/slipstream/slipstream", std::move(flags), {}, cluster.folder() / "load.said"});
  if (!process) throw std::runtime_error(process.error().message);
  return *std::move(process);
}

}  // namespace

LoadCommand::LoadCommand(const Cluster& cluster, std::vector<std::string> flags)
    : folder_(cluster.folder()), process_(start(cluster, std::move(flags))) {}

std::string LoadCommand::said() const { return contents(folder_ / "load.said"); }

int LoadCommand::wait() {
  const auto exit = process_.wait(kWaitMax);
  return exit ? exit->status : -1;
}

nlohmann::json LoadCommand::report() const { return nlohmann::json::parse(contents(folder_ / "load.json")); }
std::string LoadCommand::page() const { return contents(folder_ / "load.html"); }

}  // namespace slipstream::e2e
