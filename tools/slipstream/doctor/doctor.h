// slipstream doctor: whether `slipstream serve` with the same flags would work on this machine, and
// what to do if it would not.
#pragma once

#include <string>

#include "tools/slipstream/fleet_plan.h"

namespace slipstream::command::doctor {

struct DoctorOptions {
  FleetOptions fleet;
  std::string url;      // a running server to look at; empty: none
  std::string ca_file;  // https: certificates of the authorities that are trusted; empty: the system's
  std::string api_key;  // for that server; "": none
  bool plain = false;   // without colours
};

// Prints a line for each check, as it ends. It starts no server and changes nothing. Returns
// whether nothing fails.
bool examine(const DoctorOptions& options);

}  // namespace slipstream::command::doctor
