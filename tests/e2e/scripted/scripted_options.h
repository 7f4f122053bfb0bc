// The settings of scripted_drafter: the drafter's own flags, and which script it plays.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/drafter_config.h"

namespace slipstream {

struct ScriptedOptions {
  DrafterOptions drafter;
  std::string script = "random";
  std::string answers;       // oracle: a JSON file (oracle_method.h); empty: it knows what was said before
  uint64_t seed = 1;         // random, malformed
  uint32_t margin_us = 500;  // useless: so long before each deadline; late: so long after it
  std::string mischief;      // malformed: only this one (mischief.h); empty: all in turn

  std::vector<std::string> validate() const;
};

Parsed<ScriptedOptions> parse_scripted_options(int argc, const char* const* argv);

}  // namespace slipstream
