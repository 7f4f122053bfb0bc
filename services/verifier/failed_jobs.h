// When a verifier gives up its device. One that fails job after job, as a GPU does that was lost,
// would fail every request until somebody noticed; a process that ends is started anew by what
// supervises it. A request that fails wherever it runs is tried on two verifiers, so it alone does
// not end one. Pure.
#pragma once

#include <string>

#include "common/base/result.h"

namespace slipstream {

inline constexpr int kFailedJobsMost = 4;  // steps and drafts, one after the other

class FailedJobs {
 public:
  // A job has ended. Returns whether it is one failure too many.
  template <class Output>
  bool one_too_many(const Result<Output>& job) {
    in_a_row_ = job ? 0 : in_a_row_ + 1;
    if (!job) newest_ = job.error().message;
    return given_up();
  }
  bool given_up() const { return in_a_row_ >= kFailedJobsMost; }
  const std::string& newest() const { return newest_; }  // what the last one said

 private:
  int in_a_row_ = 0;
  std::string newest_;
};

}  // namespace slipstream
