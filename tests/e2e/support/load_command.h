// Runs `slipstream load` as a process against a cluster, and reads its report.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/e2e/support/cluster.h"

namespace slipstream::e2e {

class LoadCommand {
 public:
  // Starts it. It asks the cluster's router two short prompts in turn, and writes its reports into
  // the cluster's folder.
  LoadCommand(const Cluster& cluster, std::vector<std::string> flags);

  void signal(int number) { process_.signal(number); }
  std::string said() const;       // so far, on stdout and stderr
  int wait();                     // for its end. Returns the exit status; -1: it did not end within kWaitMax
  nlohmann::json report() const;  // --json
  std::string page() const;       // --html

 private:
  std::filesystem::path folder_;
  Process process_;
};

}  // namespace slipstream::e2e
