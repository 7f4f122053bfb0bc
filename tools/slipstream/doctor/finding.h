// What one check of `slipstream doctor` has found. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/slipstream/terminal.h"

namespace slipstream::command::doctor {

enum class Level : uint8_t { ok, warn, fail };

struct Finding {
  Level level = Level::ok;
  std::string what;    // was checked: "memory"
  std::string found;   // "the model needs 0.2 GB, and 6.1 GB are free"
  std::string advice;  // what to do; "": nothing
};
using Findings = std::vector<Finding>;

Finding ok(std::string what, std::string found);
Finding warn(std::string what, std::string found, std::string advice);
Finding failed(std::string what, std::string found, std::string advice = {});

// A line, and one more for the advice; each ends in a line break.
std::string text_of(const Finding& finding, const Palette& palette);

// "nothing fails, 2 warnings", "3 of 12 checks fail"
std::string summary(const Findings& findings);
bool any_fails(const Findings& findings);

}  // namespace slipstream::command::doctor
