// The folder that a training writes:
//
//   checkpoint.safetensors  all that is needed to go on: weights, optimiser, steps done
//   reading.safetensors     of a draft head: head_reading.h
//   losses.tsv              a line for each step: step, loss, norm of the gradients, learning rate
//   model/                  the trained model, once all steps are done
//
// The lines of losses.tsv after the checkpoint's step are removed when a training goes on, so that
// an interrupted training leaves the same file as an unbroken one.
#pragma once

#include <filesystem>
#include <span>
#include <utility>

#include "common/base/result.h"
#include "tools/train/step_reports.h"

namespace slipstream::train {

class RunFolder {
 public:
  // Makes the folder if it is not there. An error if another training writes it now.
  static Result<RunFolder> open(const std::filesystem::path& folder);
  RunFolder(RunFolder&& other) noexcept : folder_(std::move(other.folder_)), lock_(std::exchange(other.lock_, -1)) {}
  RunFolder& operator=(RunFolder&&) = delete;
  ~RunFolder();

  std::filesystem::path checkpoint() const { return folder_ / "checkpoint.safetensors"; }
  std::filesystem::path model() const { return folder_ / "model"; }
  std::filesystem::path reading() const { return folder_ / "reading.safetensors"; }
  bool has_checkpoint() const;
  Result<void> keep_losses(int64_t steps) const;  // removes the lines of later steps
  Result<void> add_losses(std::span<const StepReport> reports) const;
  // The lines so far outlast a power cut. Before a checkpoint is written, which counts on them.
  Result<void> sync_losses() const;

 private:
  RunFolder(std::filesystem::path folder, int lock) : folder_(std::move(folder)), lock_(lock) {}
  std::filesystem::path losses() const { return folder_ / "losses.tsv"; }

  std::filesystem::path folder_;
  int lock_;  // descriptor of the folder, locked; -1: moved from
};

}  // namespace slipstream::train
