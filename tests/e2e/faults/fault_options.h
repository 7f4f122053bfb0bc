// The settings of fault_proxy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/settings.h"
#include "tests/e2e/faults/proxy.h"

namespace slipstream::faults {

struct FaultOptions {
  std::string listen = "tcp://127.0.0.1:0";
  std::string upstream;
  double loss = 0, duplicate = 0;  // shares of messages
  double reorder = 0;
  uint32_t reorder_ms = 20;
  double spike = 0;
  uint32_t spike_ms = 50;
  double cut_every_s = 0;
  uint64_t seed = 1;
  std::string log_level = "info";
  std::string port_file, tally_file;

  std::vector<std::string> validate() const;
  Result<ProxyPlan> plan() const;
};

Parsed<FaultOptions> parse_fault_options(int argc, const char* const* argv);

}  // namespace slipstream::faults
