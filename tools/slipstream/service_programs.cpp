#include "tools/slipstream/service_programs.h"

#include <array>
#include <string>
#include <system_error>

namespace slipstream::command {
namespace {

Result<std::filesystem::path> find_one(const std::string& service) {
  const std::filesystem::path here = this_program().parent_path();
  const std::string name = "slipstream-" + service;
  for (const auto& folder : {here, here / ".." / ".." / "services" / service}) {
    std::error_code ignored;
    if (std::filesystem::exists(folder / name, ignored)) return std::filesystem::weakly_canonical(folder / name);
  }
  return fail("{} is not beside {}; build it: make build", name, this_program().string());
}

}  // namespace

std::filesystem::path this_program() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored);
}

Result<ServicePrograms> ServicePrograms::find() {
  ServicePrograms programs;
  TRY(programs.router, find_one("router"));
  TRY(programs.verifier, find_one("verifier"));
  TRY(programs.drafter, find_one("drafter"));
  return programs;
}

}  // namespace slipstream::command
