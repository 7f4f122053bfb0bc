// Where the three services' programs are: beside this one (an installation's bin/), or in the build tree that made it.
#pragma once

#include <filesystem>

#include "common/base/result.h"

namespace slipstream::command {

struct ServicePrograms {
  std::filesystem::path router, verifier, drafter;

  // Error: names the one that is missing and how to build it.
  static Result<ServicePrograms> find();
};

std::filesystem::path this_program();

}  // namespace slipstream::command
