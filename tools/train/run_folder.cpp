#include "tools/train/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

#include "common/base/write_whole.h"
#include "tools/train/sync_path.h"

namespace slipstream::train {
namespace {

constexpr const char* kColumns = "step\tloss\tgradient_norm\tlearning_rate\n";

}  // namespace

Result<RunFolder> RunFolder::open(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const int lock = error ? -1 : ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0) {
    return fail("cannot use the folder {}: {}", folder.string(), error ? error.message() : std::strerror(errno));
  }
  RunFolder opened(folder, lock);
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    return fail("another training writes to {} now: wait for it, or name another folder with --out", folder.string());
  }
  return opened;
}

RunFolder::~RunFolder() {
  if (lock_ >= 0) ::close(lock_);
}

bool RunFolder::has_checkpoint() const {
  std::error_code ignored;
  return std::filesystem::exists(checkpoint(), ignored);
}

Result<void> RunFolder::keep_losses(int64_t steps) const {
  std::string kept = kColumns, line;
  std::ifstream file(losses());
  std::getline(file, line);  // the columns
  for (int64_t step = 0; step < steps && std::getline(file, line); ++step) kept += line + '\n';
  return replace_whole(losses().string(), kept, "the losses");
}

Result<void> RunFolder::add_losses(std::span<const StepReport> reports) const {
  std::string lines;
  for (const StepReport& report : reports) {
    lines += fmt::format("{}\t{:.6f}\t{:.6f}\t{:.6g}\n", report.step, report.loss, report.gradient_norm, report.learning_rate);
  }
  const int error = write_whole(losses().string(), O_APPEND | O_CREAT, lines);
  if (error != 0) return fail("cannot write {}: {}", losses().string(), std::strerror(error));
  return {};
}

Result<void> RunFolder::sync_losses() const {
  const int error = sync_path(losses());
  if (error != 0) return fail("cannot write {}: {}", losses().string(), std::strerror(error));
  return {};
}

}  // namespace slipstream::train
